/* test_patchable_entry.c - entries, landings and stubs of AArch64, checked on every machine: the
 * encoders are pure. */
#define NSC_ARCH_PATCHABLE_AARCH64
#include "arch/aarch64/patchable_entry.c"
#include "tap.h"

static uint32_t word(const uint8_t *code)
{
    return get(code);
}

static void test_entries(void)
{
    static const int64_t distances[] = {4 << 20, -(8 << 20), NSC_ARCH_PATCHABLE_REACH,
                                        -NSC_ARCH_PATCHABLE_REACH};

    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        uint8_t entry[4] = {0x1f, 0x20, 0x03, 0xd5};

        CHECK(nsc_arch_patchable_state(entry, distances[i]) == NSC_ARCH_PATCHABLE_NOP);
        nsc_arch_patchable_entry(entry, NSC_ARCH_PATCHABLE_CLAIMED, distances[i]);
        CHECK(nsc_arch_patchable_state(entry, distances[i]) == NSC_ARCH_PATCHABLE_OFF);
        CHECK(word(entry) == 0x14000001);
        nsc_arch_patchable_entry(entry, NSC_ARCH_PATCHABLE_ON, distances[i]);
        CHECK(nsc_arch_patchable_state(entry, distances[i]) == NSC_ARCH_PATCHABLE_ON);
        CHECK((int32_t)(word(entry) << 6) >> 4 == distances[i]);
        CHECK(nsc_arch_patchable_state(entry, distances[i] + 8) == NSC_ARCH_PATCHABLE_NONE);
        nsc_arch_patchable_entry(entry, NSC_ARCH_PATCHABLE_OFF, distances[i]);
        CHECK(word(entry) == 0x14000001);
    }
    CHECK(nsc_arch_patchable_distance(0) == 0);
}

static void test_code(void)
{
    static const uint32_t wanted[] = {0x58000090, 0x10000051, 0x14000ffe, 0x17fffffd,
                                      0x00400000, 0x00000000, 0xd4200000, 0xd4200000};
    uint8_t stub[NSC_ARCH_PATCHABLE_STUB_BYTES], landing[NSC_ARCH_PATCHABLE_LANDING_BYTES];

    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x400000, 0x404000) == 0);
    for (unsigned i = 0; i < 8; i++)
        CHECK(word(stub + 4 * i) == wanted[i]);
    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x8400010, 0x400000) == -1);
    CHECK(nsc_arch_patchable_stub(stub, 0x400000, 0x400000, 0x8400010) == -1);
    CHECK(nsc_arch_patchable_landing(landing, 0x8000, 0x4000) == 0);
    CHECK(word(landing) == 0x17fff000);
    CHECK(nsc_arch_patchable_landing(landing, 0, 0x8000000) == -1);
    CHECK(nsc_arch_patchable_landing(landing, 0, 0x4002) == -1);
}

int main(void)
{
    test_entries();
    test_code();
    return t_done();
}
