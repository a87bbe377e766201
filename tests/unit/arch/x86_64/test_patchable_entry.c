/* test_patchable_entry.c - entries, landings and stubs of x86-64, checked on every machine: the
 * encoders are pure. */
#define NSC_ARCH_PATCHABLE_X86_64
#include "arch/x86_64/patchable_entry.c"
#include "tap.h"

static const uint8_t nops[5] = {0x90, 0x90, 0x90, 0x90, 0x90};
static const uint8_t clang_nop[5] = {0x0f, 0x1f, 0x44, 0, 8};

/* Bytes that do nothing when they are run from any of them on: what a thread may come back to. */
static int harmless_from(const uint8_t *entry, unsigned i)
{
    for (; i < 5; i++)
        if (entry[i] != 0x90 && memchr(harmless, entry[i], sizeof(harmless)) == NULL)
            return 0;
    return 1;
}

/* From what a compiler made to ready, on and off; one step at a time. */
static void walk(const uint8_t *from, enum nsc_arch_patchable_state first, int64_t distance,
                 int stragglers)
{
    static const enum nsc_arch_patchable_state steps[] = {
        NSC_ARCH_PATCHABLE_CLAIMED, NSC_ARCH_PATCHABLE_OFF, NSC_ARCH_PATCHABLE_ON,
        NSC_ARCH_PATCHABLE_OFF};
    uint8_t entry[5], before[5];

    memcpy(entry, from, sizeof(entry));
    CHECK(nsc_arch_patchable_state(entry, distance) == first);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        unsigned changed = 0;

        memcpy(before, entry, sizeof(before));
        nsc_arch_patchable_entry(entry, steps[i], distance);
        for (unsigned k = 0; k < sizeof(entry); k++)
            changed += entry[k] != before[k];
        CHECK(nsc_arch_patchable_state(entry, distance) == steps[i] ||
              (steps[i] == NSC_ARCH_PATCHABLE_CLAIMED &&
               nsc_arch_patchable_state(entry, distance) == NSC_ARCH_PATCHABLE_OFF));
        if (steps[i] != NSC_ARCH_PATCHABLE_OFF || i > 1) {
            CHECK(changed == 1 && entry[0] != before[0]); /* the switch is one byte */
        } else {
            CHECK(entry[0] == before[0]); /* operands are filled in behind an instruction that has
                                           * them */
        }
        for (unsigned k = 1; stragglers && k < 5; k++)
            CHECK(harmless_from(entry, k));
    }
}

static void test_entries(void)
{
    int64_t distance;
    unsigned n;

    for (n = 0; (distance = nsc_arch_patchable_distance(n)) != 0; n++) {
        CHECK(distance == (int32_t)distance);
        walk(nops, NSC_ARCH_PATCHABLE_NOPS, distance, 1);
        walk(clang_nop, NSC_ARCH_PATCHABLE_NOP, distance, 0);
    }
    CHECK(n == sizeof(harmless));
    walk(nops, NSC_ARCH_PATCHABLE_NOPS, 0x12345678, 0);
    walk(clang_nop, NSC_ARCH_PATCHABLE_NOP, -NSC_ARCH_PATCHABLE_REACH, 0);
}

static void test_strangers(void)
{
    static const uint8_t codes[][5] = {
        {0x90, 0x90, 0x90, 0x90, 0xc3}, /* too few nops */
        {0xe9, 0x00, 0x10, 0x00, 0x00}, /* somebody else's jump */
        {0xa9, 0x00, 0x10, 0x00, 0x00}, {0xe8, 0x90, 0x90, 0x90, 0xfc},
        {0xcc, 0x90, 0x90, 0x90, 0x90}, /* a breakpoint */
        {0x55, 0x48, 0x89, 0xe5, 0xc3},
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        CHECK(nsc_arch_patchable_state(codes[i], 0) == NSC_ARCH_PATCHABLE_NONE);
        CHECK(nsc_arch_patchable_state(codes[i], nsc_arch_patchable_distance(0)) ==
              NSC_ARCH_PATCHABLE_NONE);
    }
}

static void test_code(void)
{
    static const uint8_t wanted[] = {
        0x4c, 0x89, 0x5c, 0x24, 0xf8,             /* mov %r11,-8(%rsp) */
        0x4c, 0x8d, 0x1d, 0xf9, 0xff, 0x0f, 0x00, /* lea 0xffff9(%rip),%r11 */
        0xe9, 0xef, 0xff, 0xff, 0xff,             /* jmp to the stub itself */
    };
    uint8_t stub[NSC_ARCH_PATCHABLE_STUB_BYTES], landing[NSC_ARCH_PATCHABLE_LANDING_BYTES];

    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x500005, 0x400000) == 0);
    CHECK(memcmp(stub, wanted, sizeof(wanted)) == 0);
    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x90000000, 0x400000) == -1);
    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x500000, 0x7f0000000000) == -1);
    CHECK(nsc_arch_patchable_landing(landing, 0x1000, 0x2000) == 0);
    CHECK(memcmp(landing, "\xe9\xfb\x0f\0\0", 5) == 0);
    CHECK(nsc_arch_patchable_landing(landing, 0x1000, 0x90001000) == -1);
}

int main(void)
{
    test_entries();
    test_strangers();
    test_code();
    return t_done();
}
