/*
 * session_state.h - a session, as this process knows it. Internal to runtime/; the rules of
 * current_session.h hold.
 */
#ifndef NSC_LINUX_SESSION_SESSION_STATE_H
#define NSC_LINUX_SESSION_SESSION_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hook.h"
#include "abi/live.h"

#define NSC_LOAD(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define NSC_STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define NSC_ADD(p, v)   __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)

/* For words of the shared memory and, though less would do there, for those of the thread. */
static inline int nsc_session_cas64(uint64_t *at, uint64_t old, uint64_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline int nsc_session_cas32(uint32_t *at, uint32_t old, uint32_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Values of a session's first private word, which a forked child finds at zero. */
enum nsc_session_presence {
    NSC_PRESENCE_FORKED = 0,
    NSC_PRESENCE_JOINING = 1, /* a thread is registering the process */
    NSC_PRESENCE_JOINED = 2,
};

/*
 * A session, as this process knows it. What is above the line never changes once the session is the
 * current one, so that whoever has looked it up can go on with it at any time later: a slow path
 * that a signal handler interrupted, while another session began, finds memory that is still
 * mapped, and reads zeros there, which mean closed and free.
 */
struct nsc_target_session {
    struct nsc_live_header *header;
    struct nsc_live_process *processes;
    struct nsc_live_module *modules;
    struct nsc_live_thread *threads;
    struct nsc_live_chunk *chunks;
    struct nsc_live_overwritten *overwritten; /* NULL: full chunks are the recorder's */
    uint8_t *filter;
    uint8_t *data;
    size_t bytes; /* of the mapping, which begins at the header */
    /* Copies, checked once, of what the header says. */
    uint32_t processes_max, modules_max, threads_max, chunks_max;
    uint32_t chunk_bytes, filter_bytes;
    uint32_t flags, recorder_pid;
    uint32_t pool_max;               /* chunks of the pool lie below */
    uint32_t home_first, home_count; /* chunks that belong to thread slots; count 0: none */
    uint32_t serial;                 /* sessions of this process are numbered from 1 */
    uint64_t sample_ns;              /* linux/session/cpu_timer.h; 0: threads take no samples */
    /* Private memory that reads zero in a forked child. Word 0: enum nsc_session_presence. Word
     * NSC_END_STRIDE * (1 + thread slot): what that thread's `endp` points at, and behind it
     * NSC_RUNTIME_END_*. */
    uint64_t *wiped;
    /* -------------------------------------------------------------------------------------- */
    uint32_t process;    /* index of this process's slot */
    uint32_t pid;        /* as the recorder sees it */
    uint32_t generation; /* no two sessions, and no two processes of one session, have the same */
    uint32_t off;        /* there is no session for this process, or no longer */
    uint32_t hooks_off;  /* what nsc_runtime_off is to be while this session is the current one */
    uint32_t abroad;     /* in a pid namespace that is not the recorder's */
    /* How long the recorder has not been seen at work; only while chunks are lacking. */
    uint64_t seen_heartbeat, seen_ticks;
    uint32_t strikes;
    /* The recorder's heartbeat, plus 1, when none of the chunks that are mapped was free, though
     * there are others. */
    uint64_t none_mapped;
};

#define NSC_END_STRIDE 8 /* words; one cache line a thread */

static inline uint64_t *nsc_session_end_word(const struct nsc_target_session *s, uint32_t thread)
{
    return s->wiped + NSC_END_STRIDE * (1 + (size_t)thread);
}

#endif
