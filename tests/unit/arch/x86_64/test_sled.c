/* test_sled.c - the bytes of x86-64 sleds, checked on every machine: the encoder is pure. */
#include "arch/x86_64/sled.c"
#include "tap.h"

static const uint8_t clang_entry[11] = {0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const uint8_t clang_exit[11] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const uint8_t clang_nop[5] = {0x0f, 0x1f, 0x44, 0, 8};
static const uint8_t macro_site[5] = {0xa9, 0, 0, 0, 0};

/* Writes a sled over a copy of @from; checks the result and that nothing behind it has changed. */
static void expect(const uint8_t *from, size_t bytes, enum nsc_arch_sled sled, int64_t distance,
                   int on, const char *wanted)
{
    uint8_t code[24], same[24];
    char got[64] = "";
    unsigned n = nsc_arch_sled_bytes(sled);

    memset(code, 0xcc, sizeof(code));
    memcpy(code, from, bytes);
    memcpy(same, code, sizeof(code));
    CHECK(nsc_arch_sled_known(code, sled));
    CHECK(nsc_arch_sled_write(code, sled, distance, on) == 0);
    for (unsigned i = 0; i < n; i++)
        snprintf(got + 2 * i, 3, "%02x", code[i]);
    CHECK_STR(got, wanted);
    CHECK(memcmp(code + n, same + n, sizeof(code) - n) == 0);
    CHECK(nsc_arch_sled_known(code, sled));
    /* On and off differ in the first byte only: other threads may run through while it flips. */
    memcpy(same, code, sizeof(code));
    CHECK(nsc_arch_sled_write(code, sled, distance, !on) == 0);
    CHECK(code[0] != same[0] && memcmp(code + 1, same + 1, sizeof(code) - 1) == 0);
}

static void test_forms(void)
{
    expect(macro_site, 5, NSC_ARCH_SLED_SITE, 0x1005, 1, "e800100000");
    expect(macro_site, 5, NSC_ARCH_SLED_SITE, 0x1005, 0, "a900100000");
    expect(macro_site, 5, NSC_ARCH_SLED_SITE, -0x0ffb, 1, "e800f0ffff");
    expect(clang_nop, 5, NSC_ARCH_SLED_NOP, 0x1005, 1, "e800100000");
    expect(clang_nop, 5, NSC_ARCH_SLED_NOP, 0x1005, 0, "a900100000");
    expect(clang_entry, 11, NSC_ARCH_SLED_XRAY, 0x1005, 1, "e800100000660f1f440000");
    expect(clang_entry, 11, NSC_ARCH_SLED_XRAY, 0x1005, 0, "a900100000660f1f440000");
    expect(clang_exit, 11, NSC_ARCH_SLED_XRAY_EXIT, 0x1005, 1, "e800100000c3");
    expect(clang_exit, 11, NSC_ARCH_SLED_XRAY_EXIT, 0x1005, 0, "c300100000c3");
}

/* Every step of bringing a sled to its off form while threads execute it, and then its switching.
 */
static void expect_steps(const uint8_t *from, size_t bytes, enum nsc_arch_sled sled,
                         const char *const wanted[NSC_ARCH_READY_STEPS])
{
    const int64_t distance = 0x332211 + 5;
    uint8_t code[24], before[24];
    unsigned n = nsc_arch_sled_bytes(sled);
    char got[64];

    memset(code, 0xcc, sizeof(code));
    memcpy(code, from, bytes);
    for (unsigned step = 0; step < NSC_ARCH_READY_STEPS; step++) {
        CHECK(nsc_arch_sled_known(code, sled));
        CHECK(nsc_arch_sled_ready(code, sled, distance, step) == 0);
        for (unsigned i = 0; i < n; i++)
            snprintf(got + 2 * i, 3, "%02x", code[i]);
        CHECK_STR(got, wanted[step]);
    }
    memcpy(before, code, sizeof(code));
    for (unsigned step = 0; step < NSC_ARCH_READY_STEPS; step++)
        CHECK(nsc_arch_sled_ready(code, sled, distance, step) == 0);
    CHECK(memcmp(code, before, sizeof(code)) == 0); /* once is enough */
    CHECK(nsc_arch_sled_turn(code, sled, distance, 1) == 0 && code[0] == 0xe8);
    CHECK(memcmp(code + 1, before + 1, sizeof(code) - 1) == 0);
    CHECK(nsc_arch_sled_ready(code, sled, distance, 0) == 0); /* left on: turned off */
    CHECK(memcmp(code, before, sizeof(code)) == 0);
    CHECK(nsc_arch_sled_turn(code, sled, distance, 0) == 0);
    CHECK(memcmp(code, before, sizeof(code)) == 0);
    CHECK(nsc_arch_sled_turn(code, sled, distance + 1, 1) < 0);
    CHECK(nsc_arch_sled_ready(code, sled, INT64_MAX, 0) < 0);
    CHECK(memcmp(code, before, sizeof(code)) == 0);
    memcpy(code, from, bytes);
    CHECK(nsc_arch_sled_turn(code, sled, distance, 1) < 0); /* as compiled: not ready */
    CHECK(memcmp(code, from, bytes) == 0);
}

static void test_steps(void)
{
    static const char *const site[] = {"a911223300", "a911223300", "a911223300"};
    static const char *const nop[] = {"a91f440008", "a911223300", "a911223300"};
    static const char *const entry[] = {"eb09660f1f660f1f440000", "a909660f1f660f1f440000",
                                        "a911223300660f1f440000"};
    static const char *const exit[] = {"c311223300c3", "c311223300c3", "c311223300c3"};

    expect_steps(macro_site, sizeof(macro_site), NSC_ARCH_SLED_SITE, site);
    expect_steps(clang_nop, sizeof(clang_nop), NSC_ARCH_SLED_NOP, nop);
    expect_steps(clang_entry, sizeof(clang_entry), NSC_ARCH_SLED_XRAY, entry);
    expect_steps(clang_exit, sizeof(clang_exit), NSC_ARCH_SLED_XRAY_EXIT, exit);
}

static void test_reach(void)
{
    static const struct {
        int64_t distance;
        int result;
    } cases[] = {
        {INT32_MAX + 5ll, 0},  {INT32_MAX + 6ll, -1}, {INT32_MIN + 5ll, 0},
        {INT32_MIN + 4ll, -1}, {INT64_MAX, -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t code[5];

        memcpy(code, macro_site, sizeof(code));
        CHECK(nsc_arch_sled_write(code, NSC_ARCH_SLED_SITE, cases[i].distance, 1) ==
              cases[i].result);
        CHECK(cases[i].result == 0 || memcmp(code, macro_site, sizeof(code)) == 0);
    }
}

static void test_unknown(void)
{
    uint8_t code[11];

    memcpy(code, clang_entry, sizeof(code));
    code[1] = 7; /* a shorter jump: another compiler's sled */
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_XRAY));
    memcpy(code, clang_exit, sizeof(code));
    code[1] = 0x90; /* a plain return */
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_XRAY_EXIT));
    memset(code, 0x90, sizeof(code));
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_SITE));
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_NOP)); /* gcc's -fpatchable-function-entry=5 */
    memcpy(code, clang_nop, sizeof(clang_nop));
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_SITE));
    code[2] = 0x84; /* the first bytes of a longer nop */
    CHECK(!nsc_arch_sled_known(code, NSC_ARCH_SLED_NOP));
}

static void test_hooks(void)
{
    static const uint8_t nested[] = {0x41, 0x52, 0xa9, 0, 0, 0, 0, 0x41, 0x5a};
    static const uint8_t plain[] = {0x90, 0x90, 0xa9, 0, 0, 0, 0, 0x41, 0x5a};
    static const uint8_t before_ret[] = {0xa9, 0, 0, 0, 0, 0xc3};
    static const uint8_t before_jump[] = {0xa9, 0, 0, 0, 0, 0xff, 0xe0};

    CHECK(nsc_arch_sled_hook(nested + 2, NSC_ARCH_SLED_SITE, 1) == NSC_ARCH_HOOK_ENTRY_PUSHED);
    CHECK(nsc_arch_sled_hook(plain + 2, NSC_ARCH_SLED_SITE, 1) == NSC_ARCH_HOOK_ENTRY);
    CHECK(nsc_arch_sled_hook(before_ret, NSC_ARCH_SLED_SITE, 0) == NSC_ARCH_HOOK_RETURN);
    CHECK(nsc_arch_sled_hook(before_jump, NSC_ARCH_SLED_SITE, 0) == NSC_ARCH_HOOK_TAIL);
    CHECK(nsc_arch_sled_hook(clang_exit, NSC_ARCH_SLED_XRAY_EXIT, 0) == NSC_ARCH_HOOK_RETURN);
    CHECK(nsc_arch_sled_hook(clang_entry, NSC_ARCH_SLED_XRAY, 0) == NSC_ARCH_HOOK_TAIL);
    CHECK(nsc_arch_sled_hook(clang_nop, NSC_ARCH_SLED_NOP, 1) == NSC_ARCH_HOOK_ENTRY);
}

static void test_entries(void)
{
    uint8_t code[NSC_ARCH_ENTRY_BYTES] = {0x55}; /* push %rbp */
    static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};

    CHECK(!nsc_arch_entry_known(code));
    memcpy(code, clang_nop, sizeof clang_nop);
    CHECK(nsc_arch_entry_known(code));
    memcpy(code, clang_entry, sizeof clang_entry);
    CHECK(nsc_arch_entry_known(code));
    memcpy(code, endbr64, sizeof endbr64);
    CHECK(!nsc_arch_entry_known(code));
    memcpy(code + 4, clang_nop, sizeof clang_nop);
    CHECK(nsc_arch_entry_known(code));
    CHECK(nsc_arch_sled_write(code + 4, NSC_ARCH_SLED_NOP, 0x1005, 1) == 0);
    CHECK(nsc_arch_entry_known(code));
}

int main(void)
{
    test_forms();
    test_steps();
    test_reach();
    test_unknown();
    test_hooks();
    test_entries();
    return t_done();
}
