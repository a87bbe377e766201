/*
 * sled.c (AArch64) - encoders of clang's sleds. Called by the runtime at load. Must stay pure: it
 * reads and writes only the buffer that it is given.
 *
 * Entry, exit and tail-call sleds are alike: 32 bytes, a branch over seven nops. The return or tail
 * jump follows the sled. The disabled (off) and enabled (on) forms differ in the first word only:
 *
 *        off               on
 *    0   b   sled + 32     nop
 *    4   str x30, [sp, #-16]!
 *    8   bl  hook
 *   12   ldr x30, [sp], #16
 *   16   b   sled + 32
 *
 * B and NOP are among the few instructions that may be replaced by one another while another
 * processor executes them (Arm ARM DDI 0487, B2.2.5). The words after them are written once, while
 * the first word still branches over them.
 */
#include "arch/arch.h"

enum {
    SLED_BYTES = 32,
    WRITTEN_BYTES = 20,
    CALL_AT = 8,
};

static const uint32_t op_b_over = 0x14000000u | SLED_BYTES / 4;
static const uint32_t op_b_rest = 0x14000000u | (SLED_BYTES - 16) / 4;
static const uint32_t op_nop = 0xd503201fu;
static const uint32_t op_push_x30 = 0xf81f0ffeu; /* str x30, [sp, #-16]! */
static const uint32_t op_pop_x30 = 0xf84107feu;  /* ldr x30, [sp], #16 */
static const uint32_t op_bl = 0x94000000u;

static uint32_t get(const uint8_t *code)
{
    return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
           (uint32_t)code[3] << 24;
}

/* One aligned store: other threads may execute this word. */
static void put(uint8_t *code, uint32_t word)
{
    __atomic_store_n((uint32_t *)__builtin_assume_aligned(code, 4), word, __ATOMIC_RELEASE);
}

static int is_xray(enum nsc_arch_sled sled)
{
    return sled == NSC_ARCH_SLED_XRAY || sled == NSC_ARCH_SLED_XRAY_EXIT;
}

unsigned nsc_arch_sled_bytes(enum nsc_arch_sled sled)
{
    return is_xray(sled) ? WRITTEN_BYTES : 0;
}

int nsc_arch_sled_known(const uint8_t *code, enum nsc_arch_sled sled)
{
    if (!is_xray(sled))
        return 0;
    /* As compiled, or as the runtime wrote it. */
    if (get(code) == op_b_over)
        return get(code + 4) == op_nop || get(code + 4) == op_push_x30;
    return get(code) == op_nop && get(code + 4) == op_push_x30;
}

int nsc_arch_entry_known(const uint8_t *code)
{
    (void)code; /* XRay emits both sleds or neither */
    return 1;
}

int nsc_arch_xray_slow(void)
{
    return 0; /* the sled as compiled is also the disabled form */
}

enum nsc_arch_hook nsc_arch_sled_hook(const uint8_t *code, enum nsc_arch_sled sled, int is_entry)
{
    (void)code;
    if (is_entry)
        return NSC_ARCH_HOOK_ENTRY;
    return sled == NSC_ARCH_SLED_XRAY_EXIT ? NSC_ARCH_HOOK_RETURN : NSC_ARCH_HOOK_TAIL;
}

/* Write the words after the first. Returns -1 if @distance, to the hook, is out of reach. */
static int put_rest(uint8_t *code, enum nsc_arch_sled sled, int64_t distance)
{
    int64_t words = (distance - CALL_AT) / 4;

    if (!is_xray(sled) || distance % 4 != 0 || words < -(1 << 25) || words >= 1 << 25)
        return -1;
    put(code + 4, op_push_x30);
    put(code + CALL_AT, op_bl | ((uint32_t)(uint64_t)words & 0x03ffffffu));
    put(code + 12, op_pop_x30);
    put(code + 16, op_b_rest);
    return 0;
}

int nsc_arch_sled_write(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on)
{
    if (put_rest(code, sled, distance) < 0)
        return -1;
    put(code, on ? op_nop : op_b_over);
    return 0;
}

int nsc_arch_sled_ready(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, unsigned step)
{
    /* Disable a sled that was left enabled first: threads may be executing its other words. */
    if (step == 0 && get(code) != op_b_over) {
        put(code, op_b_over);
        return 0;
    }
    return put_rest(code, sled, distance);
}

int nsc_arch_sled_turn(uint8_t *code, enum nsc_arch_sled sled, int64_t distance, int on)
{
    uint32_t call = op_bl | ((uint32_t)(uint64_t)((distance - CALL_AT) / 4) & 0x03ffffffu);

    if (!is_xray(sled) || get(code + 4) != op_push_x30 || get(code + CALL_AT) != call)
        return -1;
    put(code, on ? op_nop : op_b_over);
    return 0;
}
