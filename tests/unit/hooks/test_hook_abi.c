/*
 * test_hook_abi.c - the header hook may include nothing, so it repeats what it shares with the
 * runtime; here the two are compared.
 */
#include <stddef.h>

#include "abi/hook.h"
#include "hooks/nanoscope_hook.h"
#include "tap.h"

/* What clang's copies of the hooks refer to. */
__thread struct nsc_runtime_thread nsc_runtime_tls;
uint32_t nsc_runtime_off;
void nanoscope_hook_slow(void);
void nanoscope_hook_slow(void) {}

#define SAME_PLACE(theirs, ours)                                                                   \
    do {                                                                                           \
        CHECK_U64(offsetof(struct __nanoscope_thread_head, theirs),                                \
                  offsetof(struct nsc_runtime_thread, ours));                                      \
        CHECK_U64(sizeof((struct __nanoscope_thread_head *)0)->theirs,                             \
                  sizeof((struct nsc_runtime_thread *)0)->ours);                                   \
    } while (0)

int main(void)
{
    SAME_PLACE(__pos, pos);
    SAME_PLACE(__endp, endp);
    SAME_PLACE(__anchor_low, anchor_low);
    CHECK_U64(sizeof(__nanoscope_off), sizeof(nsc_runtime_off));
    CHECK_U64(__NANOSCOPE_REACH_BYTES, 2 * NSC_LIVE_ANCHOR_REACH);
    CHECK_U64(__NANOSCOPE_POSITION_SHIFT, NSC_LIVE_POSITION_SHIFT);
    CHECK_U64(__NANOSCOPE_EVENT_BYTES, sizeof(uint64_t[2]));
    CHECK(__builtin_strstr(__NANOSCOPE_SITE, ".long 2\n") != NULL);
    CHECK_U64(NSC_LIVE_SITE_HOOK, 2);
    return t_done();
}
