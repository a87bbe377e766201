/* test_sled.c - the bytes of AArch64 sleds, checked on every machine: the encoder is pure.
 */
#include "arch/aarch64/sled.c"
#include "tap.h"

/* What clang emits: a branch over seven nops. */
static void fresh(uint32_t *words)
{
    words[0] = 0x14000008;
    for (int i = 1; i < 8; i++)
        words[i] = 0xd503201f;
}

static uint32_t call_of(int64_t distance)
{
    uint32_t words[8];

    fresh(words);
    CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_XRAY, distance, 1) == 0);
    return words[2];
}

static void test_forms(void)
{
    uint32_t words[8], off[8];

    fresh(words);
    CHECK(nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY));
    CHECK(nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY_EXIT));
    CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_XRAY, 0x1008, 0) == 0);
    CHECK_U64(words[0], 0x14000008); /* b +32 */
    CHECK_U64(words[1], 0xf81f0ffe); /* str x30, [sp, #-16]! */
    CHECK_U64(words[2], 0x94000400); /* bl +0x1000 */
    CHECK_U64(words[3], 0xf84107fe); /* ldr x30, [sp], #16 */
    CHECK_U64(words[4], 0x14000004); /* b +16 */
    CHECK_U64(words[5], 0xd503201f); /* as clang left them */
    CHECK_U64(words[7], 0xd503201f);
    CHECK(nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY));
    memcpy(off, words, sizeof off);
    CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_XRAY, 0x1008, 1) == 0);
    CHECK_U64(words[0], 0xd503201f); /* nop */
    CHECK(memcmp(words + 1, off + 1, sizeof off - 4) == 0);
    CHECK(nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY));
    CHECK_U64(nsc_arch_sled_bytes(NSC_ARCH_SLED_XRAY), 20);
    CHECK_U64(nsc_arch_sled_bytes(NSC_ARCH_SLED_NOP), 0);
    CHECK(!nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_NOP));
    CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_NOP, 0x1008, 1) == -1);
}

static void test_reach(void)
{
    uint32_t words[8], before[8];
    const int64_t far[] = {(1 << 27) + 8, -(1 << 27) + 4, 0x1009, INT64_MIN + 8, INT64_MAX - 7};

    CHECK_U64(call_of(8), 0x94000000);              /* bl . */
    CHECK_U64(call_of(4), 0x97ffffff);              /* bl .-4 */
    CHECK_U64(call_of((1 << 27) + 4), 0x95ffffff);  /* furthest forwards */
    CHECK_U64(call_of(-(1 << 27) + 8), 0x96000000); /* furthest backwards */
    fresh(words);
    memcpy(before, words, sizeof before);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_XRAY, far[i], 1) == -1);
    CHECK(memcmp(words, before, sizeof before) == 0);
}

static void test_strangers(void)
{
    uint32_t words[8];

    fresh(words);
    words[0] = 0x14000009; /* a sled of another length */
    CHECK(!nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY));
    words[0] = 0xd503201f; /* nops only */
    CHECK(!nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_XRAY));
    fresh(words);
    CHECK(!nsc_arch_sled_known((uint8_t *)words, NSC_ARCH_SLED_SITE));
    CHECK(nsc_arch_sled_write((uint8_t *)words, NSC_ARCH_SLED_SITE, 8, 1) == -1);
    CHECK_U64(nsc_arch_sled_bytes(NSC_ARCH_SLED_SITE), 0);
    CHECK(nsc_arch_sled_hook((uint8_t *)words, NSC_ARCH_SLED_XRAY, 1) == NSC_ARCH_HOOK_ENTRY);
}

/* Under running threads: what is branched over is written first, then only the first word changes.
 */
static void test_steps(void)
{
    uint32_t words[8], off[8];
    uint8_t *code = (uint8_t *)words;

    fresh(words);
    memcpy(off, words, sizeof off);
    CHECK(nsc_arch_sled_turn(code, NSC_ARCH_SLED_XRAY, 0x1008, 1) == -1); /* not ready */
    CHECK(nsc_arch_sled_ready(code, NSC_ARCH_SLED_XRAY, 0x1009, 0) == -1);
    CHECK(memcmp(words, off, sizeof off) == 0);
    CHECK(nsc_arch_sled_write((uint8_t *)off, NSC_ARCH_SLED_XRAY, 0x1008, 0) == 0);
    for (unsigned step = 0; step < NSC_ARCH_READY_STEPS; step++) {
        CHECK(nsc_arch_sled_ready(code, NSC_ARCH_SLED_XRAY, 0x1008, step) == 0);
        CHECK(memcmp(words, off, sizeof off) == 0);
    }
    CHECK(nsc_arch_sled_turn(code, NSC_ARCH_SLED_XRAY, 0x100c, 1) == -1);
    CHECK(nsc_arch_sled_turn(code, NSC_ARCH_SLED_XRAY, 0x1008, 1) == 0);
    CHECK_U64(words[0], 0xd503201f); /* nop */
    CHECK(memcmp(words + 1, off + 1, sizeof off - 4) == 0);
    CHECK(nsc_arch_sled_ready(code, NSC_ARCH_SLED_XRAY, 0x1008, 0) == 0); /* left on: turned off */
    CHECK(memcmp(words, off, sizeof off) == 0);
}

int main(void)
{
    test_forms();
    test_steps();
    test_reach();
    test_strangers();
    return t_done();
}
