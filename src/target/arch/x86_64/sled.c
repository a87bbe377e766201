/*
 * sled.c (x86-64) - encoders of sleds. Called by the runtime at load. Must stay pure: it reads and
 * writes only the buffer that it is given.
 *
 *             on                      off                compiled as
 *   site      e8 rel32                a9 imm32           a9 00 00 00 00
 *   nop       e8 rel32                a9 imm32           5-byte nop
 *   xray      e8 rel32, 6-byte nop    a9 imm32, nop      jmp +9, 9-byte nop
 *   exit      e8 rel32, c3            c3 ...             ret, 10-byte nop
 *
 * e8 is call rel32, a9 test $imm32,%eax. rel32 is the same in both forms. So one byte store enables
 * or disables a sled, also while other threads execute it. `test` only changes flags, which are
 * dead at entry and at exit. A sled, as compiled, is brought to one of the two forms before the
 * code runs. While threads run it, this takes steps. After each step the bytes have no effect, both
 * for threads that have seen the previous steps and for threads that have not:
 *
 *             as compiled      step 0                 step 1               step 2
 *   site      a9 00000000      a9 imm32
 *   nop       0f 1f 44 00 00   a9 1f 44 00 00         a9 imm32
 *   xray      eb 09 ...        eb 09 ..., 6-byte nop  a9 09 ..., nop       a9 imm32, nop
 *   exit      c3 2e ...        c3 imm32, c3
 *
 * Step 0 disables a sled that was left enabled. An operand may be written byte by byte, because any
 * value is valid for test.
 */
#include "arch/arch.h"

enum {
    OP_CALL = 0xe8,
    OP_TEST_EAX = 0xa9,
    OP_RET = 0xc3,
    OP_JMP_SHORT = 0xeb,
    OP_CS_PREFIX = 0x2e,
    OP_TWO_BYTES = 0x0f,
    OP2_NOP = 0x1f,
    MODRM_SIB_DISP8 = 0x44,
    SITE_BYTES = 5,
    XRAY_BYTES = 11,
};

/* nopw 0(%rax,%rax), six bytes: fills the rest of clang's eleven. */
static const uint8_t nop6[6] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00};

unsigned nsc_arch_sled_bytes(enum nsc_arch_sled sled)
{
    switch (sled) {
    case NSC_ARCH_SLED_SITE:
    case NSC_ARCH_SLED_NOP:
        return SITE_BYTES;
    case NSC_ARCH_SLED_XRAY:
        return XRAY_BYTES;
    case NSC_ARCH_SLED_XRAY_EXIT:
        return SITE_BYTES + 1;
    }
    return 0;
}

int nsc_arch_sled_known(const uint8_t *code, enum nsc_arch_sled sled)
{
    switch (sled) {
    case NSC_ARCH_SLED_SITE:
        return code[0] == OP_TEST_EAX || code[0] == OP_CALL;
    case NSC_ARCH_SLED_XRAY:
        return (code[0] == OP_JMP_SHORT && code[1] == XRAY_BYTES - 2) || code[0] == OP_TEST_EAX ||
               code[0] == OP_CALL;
    case NSC_ARCH_SLED_XRAY_EXIT:
        return (code[0] == OP_RET && (code[1] == OP_CS_PREFIX || code[5] == OP_RET)) ||
               (code[0] == OP_CALL && code[5] == OP_RET);
    case NSC_ARCH_SLED_NOP:
        return (code[0] == OP_TWO_BYTES && code[1] == OP2_NOP && code[2] == MODRM_SIB_DISP8) ||
               code[0] == OP_TEST_EAX || code[0] == OP_CALL;
    }
    return 0;
}

int nsc_arch_entry_known(const uint8_t *code)
{
    /* endbr64, with -fcf-protection */
    if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
        code += 4;
    return nsc_arch_sled_known(code, NSC_ARCH_SLED_NOP) ||
           nsc_arch_sled_known(code, NSC_ARCH_SLED_XRAY);
}

int nsc_arch_xray_slow(void)
{
    return 1; /* each entry takes a jump, which costs 1 to 5 % of a program's time */
}

enum nsc_arch_hook nsc_arch_sled_hook(const uint8_t *code, enum nsc_arch_sled sled, int is_entry)
{
    if (is_entry) {
        /* gcc's nested functions: push %r10, sled, pop %r10 */
        if (sled == NSC_ARCH_SLED_SITE && code[-2] == 0x41 && code[-1] == 0x52 &&
            code[SITE_BYTES] == 0x41 && code[SITE_BYTES + 1] == 0x5a)
            return NSC_ARCH_HOOK_ENTRY_PUSHED;
        return NSC_ARCH_HOOK_ENTRY;
    }
    if (sled == NSC_ARCH_SLED_XRAY_EXIT)
        return NSC_ARCH_HOOK_RETURN;
    return sled == NSC_ARCH_SLED_SITE && code[SITE_BYTES] == OP_RET ? NSC_ARCH_HOOK_RETURN
                                                                    : NSC_ARCH_HOOK_TAIL;
}

/* Returns 0 and the operand, or -1 if @distance is out of reach. */
static int operand_for(int64_t distance, uint32_t *operand)
{
    int64_t relative = distance - SITE_BYTES;

    if (relative != (int32_t)relative)
        return -1;
    *operand = (uint32_t)(uint64_t)relative;
    return 0;
}

static void put_operand(uint8_t *code, uint32_t operand)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        code[1 + i] = (uint8_t)(operand >> (8 * i));
}

static int has_operand(const uint8_t *code, uint32_t operand)
{
    unsigned i;

    for (i = 0; i < 4; i++)
        if (code[1 + i] != (uint8_t)(operand >> (8 * i)))
            return 0;
    return 1;
}

static void put_nop6(uint8_t *code)
{
    unsigned i;

    for (i = 0; i < sizeof(nop6); i++)
        code[SITE_BYTES + i] = nop6[i];
}

static uint8_t first_byte(enum nsc_arch_sled sled, int on)
{
    if (on)
        return OP_CALL;
    return sled == NSC_ARCH_SLED_XRAY_EXIT ? OP_RET : OP_TEST_EAX;
}

int nsc_arch_sled_write(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on)
{
    uint32_t operand;

    if (operand_for(distance, &operand) < 0)
        return -1;
    put_operand(code, operand);
    if (sled == NSC_ARCH_SLED_XRAY)
        put_nop6(code);
    if (sled == NSC_ARCH_SLED_XRAY_EXIT)
        code[SITE_BYTES] = OP_RET;
    code[0] = first_byte(sled, on);
    return 0;
}

int nsc_arch_sled_ready(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, unsigned step)
{
    uint8_t first = code[0];
    uint32_t operand;

    if (operand_for(distance, &operand) < 0)
        return -1;
    if (first == OP_CALL) {
        code[0] = first_byte(sled, 0);
        return 0;
    }
    if (has_operand(code, operand) && first == OP_TEST_EAX)
        return 0;
    switch (sled) {
    case NSC_ARCH_SLED_XRAY_EXIT:
        code[SITE_BYTES] = OP_RET;
        put_operand(code, operand);
        break;
    case NSC_ARCH_SLED_SITE:
        put_operand(code, operand);
        break;
    case NSC_ARCH_SLED_NOP:
        if (step == 0)
            code[0] = OP_TEST_EAX;
        else
            put_operand(code, operand);
        break;
    case NSC_ARCH_SLED_XRAY:
        if (step == 0)
            put_nop6(code);
        else if (step == 1)
            code[0] = OP_TEST_EAX;
        else
            put_operand(code, operand);
        break;
    }
    return 0;
}

int nsc_arch_sled_turn(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on)
{
    uint32_t operand;

    if (operand_for(distance, &operand) < 0 || !has_operand(code, operand) ||
        (code[0] != OP_CALL && code[0] != first_byte(sled, 0)))
        return -1;
    code[0] = first_byte(sled, on);
    return 0;
}
