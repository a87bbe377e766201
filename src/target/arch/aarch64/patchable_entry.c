/*
 * patchable_entry.c (AArch64) - see arch/patchable_entry.h. The runtime calls it when it enables
 * functions; pure.
 *
 *   nop       nop            as compiled; nops that follow it belong to the body
 *   off       b   entry + 4  (claimed is the same)
 *   on        b   landing
 *
 * NOP and B are among the few instructions that may be replaced by one another while another
 * processor executes them (Arm ARM DDI 0487, B2.2.5). So every distance is valid at any time.
 */
#include "arch/patchable_entry.h"

static const uint32_t op_nop = 0xd503201fu;
static const uint32_t op_b = 0x14000000u;
static const uint32_t op_b_next = 0x14000001u;
static const uint32_t op_ldr_x16_16 = 0x58000090u; /* ldr x16, stub + 16 */
static const uint32_t op_adr_x17_8 = 0x10000051u;  /* adr x17, stub + 12 */
static const uint32_t op_brk = 0xd4200000u;

static uint32_t get(const uint8_t *code)
{
    return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
           (uint32_t)code[3] << 24;
}

static void put(uint8_t *code, uint64_t value, unsigned bytes)
{
    unsigned i;

    for (i = 0; i < bytes; i++)
        code[i] = (uint8_t)(value >> (8 * i));
}

/* Write a branch by @distance bytes. Returns 0, or -1 if it is out of reach or not a multiple of
 * 4. */
static int put_branch(uint8_t *code, int64_t distance)
{
    if (distance % 4 != 0 || distance < -0x8000000 || distance >= 0x8000000)
        return -1;
    put(code, op_b | ((uint64_t)distance >> 2 & 0x3ffffffu), 4);
    return 0;
}

int64_t nsc_arch_patchable_distance(unsigned number)
{
    (void)number;
    return 0; /* no preferred distances */
}

enum nsc_arch_patchable_state nsc_arch_patchable_state(const uint8_t *entry, int64_t distance)
{
    uint8_t on[NSC_ARCH_PATCHABLE_ENTRY_BYTES];

    if (get(entry) == op_nop)
        return NSC_ARCH_PATCHABLE_NOP;
    if (get(entry) == op_b_next)
        return NSC_ARCH_PATCHABLE_OFF;
    if (distance != 0 && put_branch(on, distance) == 0 && get(entry) == get(on))
        return NSC_ARCH_PATCHABLE_ON;
    return NSC_ARCH_PATCHABLE_NONE;
}

void nsc_arch_patchable_entry(uint8_t *entry, enum nsc_arch_patchable_state state, int64_t distance)
{
    if (state != NSC_ARCH_PATCHABLE_ON || put_branch(entry, distance) < 0)
        put(entry, op_b_next, 4);
}

int nsc_arch_patchable_landing(uint8_t *to, uint64_t at, uint64_t stub)
{
    return put_branch(to, (int64_t)(stub - at));
}

/*
 *    0   ldr x16, 16      body's address, which identifies the function in events
 *    4   adr x17, 12      address that the hook calls for the body
 *    8   b   hook
 *   12   b   body
 *   16   address of the body
 *
 * The hook calls the branch at 12, not the body: with BTI, the body accepts direct branches only.
 */
int nsc_arch_patchable_stub(uint8_t *to, uint64_t at, uint64_t body, uint64_t hook)
{
    if (put_branch(to + 8, (int64_t)(hook - (at + 8))) < 0 ||
        put_branch(to + 12, (int64_t)(body - (at + 12))) < 0)
        return -1;
    put(to, op_ldr_x16_16, 4);
    put(to + 4, op_adr_x17_8, 4);
    put(to + 16, body, 8);
    put(to + 24, op_brk, 4);
    put(to + 28, op_brk, 4);
    return 0;
}
