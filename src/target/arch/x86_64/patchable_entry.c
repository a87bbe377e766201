/*
 * patchable_entry.c (x86-64) - see arch/patchable_entry.h. The runtime calls it when it enables
 * functions; pure.
 *
 *            gcc              clang
 *   nops     90 90 90 90 90   0f 1f 44 00 xx
 *   claimed  a9 90 90 90 90   a9 1f 44 00 xx   test $imm32,%eax: the rest is its operand
 *   off      a9 90 90 90 xx
 *   on       e9 90 90 90 xx                    jmp rel32
 *
 * gcc's nops are five instructions. A thread that was interrupted between them may resume at any
 * time, even hours later. So each byte after the first must remain an instruction without effect:
 * three bytes of rel32 are still nops, and xx is one of the harmless bytes below. The price is that
 * only a few distances to the landing are possible. With clang's nop, and in code that has not yet
 * run, rel32 can have any value.
 */
#include "arch/patchable_entry.h"

enum {
    OP_NOP = 0x90,
    OP_TEST_EAX = 0xa9,
    OP_JMP = 0xe9,
    ENTRY = NSC_ARCH_PATCHABLE_ENTRY_BYTES,
};

/*
 * Last bytes of rel32 that are instructions without effect. First those with landings below the
 * entry: cld, stc, clc, cmc, nop, wait and sahf. They may change flags, which are dead at an entry,
 * and clear the direction flag, which is already clear. Then prefixes without effect, es, cs, ss
 * and ds, with landings above.
 */
static const uint8_t harmless[] = {0xfc, 0xf9, 0xf8, 0xf5, 0x90, 0x9b,
                                   0x9e, 0x26, 0x2e, 0x36, 0x3e};

/* nopl disp8(%rax,%rax), with any displacement: clang 14 uses 8. */
static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00};

static int64_t distance_of(uint8_t last)
{
    return ENTRY + (int64_t)(int32_t)((uint32_t)last << 24 | 0x909090u);
}

/* Return byte @i of an entry whose jump covers @distance. */
static uint8_t operand_byte(int64_t distance, unsigned i)
{
    return (uint8_t)((uint64_t)(distance - ENTRY) >> (8 * (i - 1)));
}

int64_t nsc_arch_patchable_distance(unsigned number)
{
    return number < sizeof(harmless) ? distance_of(harmless[number]) : 0;
}

/* Return 1 if the bytes after the first are the operand for @distance. */
static int is_operand(const uint8_t *entry, int64_t distance)
{
    unsigned i;

    for (i = 1; i < ENTRY; i++)
        if (entry[i] != operand_byte(distance, i))
            return 0;
    return 1;
}

static int is_rest_of_nop(const uint8_t *entry)
{
    return entry[1] == nop[1] && entry[2] == nop[2] && entry[3] == nop[3];
}

static int is_rest_of_nops(const uint8_t *entry)
{
    unsigned i;

    for (i = 1; i < ENTRY; i++)
        if (entry[i] != OP_NOP)
            return 0;
    return 1;
}

enum nsc_arch_patchable_state nsc_arch_patchable_state(const uint8_t *entry, int64_t distance)
{
    if (entry[0] == nop[0] && is_rest_of_nop(entry))
        return NSC_ARCH_PATCHABLE_NOP;
    if (entry[0] == OP_NOP && is_rest_of_nops(entry))
        return NSC_ARCH_PATCHABLE_NOPS;
    if (distance != 0 && is_operand(entry, distance)) {
        if (entry[0] == OP_JMP)
            return NSC_ARCH_PATCHABLE_ON;
        return entry[0] == OP_TEST_EAX ? NSC_ARCH_PATCHABLE_OFF : NSC_ARCH_PATCHABLE_NONE;
    }
    if (entry[0] == OP_TEST_EAX && (is_rest_of_nop(entry) || is_rest_of_nops(entry)))
        return NSC_ARCH_PATCHABLE_CLAIMED;
    return NSC_ARCH_PATCHABLE_NONE;
}

void nsc_arch_patchable_entry(uint8_t *entry, enum nsc_arch_patchable_state state, int64_t distance)
{
    unsigned i;

    entry[0] = state == NSC_ARCH_PATCHABLE_ON ? OP_JMP : OP_TEST_EAX;
    if (state == NSC_ARCH_PATCHABLE_CLAIMED)
        return;
    for (i = 1; i < ENTRY; i++)
        entry[i] = operand_byte(distance, i);
}

/* Write @value as four bytes. Returns 0, or -1 if it is not a signed 32-bit number. */
static int put32(uint8_t *to, int64_t value)
{
    unsigned i;

    if (value != (int32_t)value)
        return -1;
    for (i = 0; i < 4; i++)
        to[i] = (uint8_t)((uint64_t)value >> (8 * i));
    return 0;
}

int nsc_arch_patchable_landing(uint8_t *to, uint64_t at, uint64_t stub)
{
    to[0] = OP_JMP;
    return put32(to + 1, (int64_t)(stub - (at + 5)));
}

int nsc_arch_patchable_stub(uint8_t *to, uint64_t at, uint64_t body, uint64_t hook)
{
    /* mov %r11,-8(%rsp); lea body(%rip),%r11; jmp hook. The rest never runs: int3. */
    static const uint8_t begin[] = {0x4c, 0x89, 0x5c, 0x24, 0xf8, 0x4c, 0x8d, 0x1d};
    unsigned i;

    for (i = 0; i < NSC_ARCH_PATCHABLE_STUB_BYTES; i++)
        to[i] = i < sizeof(begin) ? begin[i] : 0xcc;
    to[12] = OP_JMP;
    if (put32(to + 8, (int64_t)(body - (at + 12))) < 0)
        return -1;
    return put32(to + 13, (int64_t)(hook - (at + 17)));
}
