/*
 * session_state.h - a session, as this process sees it. Internal to target/linux; the rules of
 * current_session.h apply.
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

/* For words of the shared memory. Also used for the thread's own words, which need weaker ordering
 * only. */
static inline int nsc_session_cas64(uint64_t *at, uint64_t old, uint64_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline int nsc_session_cas32(uint32_t *at, uint32_t old, uint32_t value)
{
    return __atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Values of a session's first private word. It reads zero in a forked child. */
enum nsc_session_presence {
    NSC_PRESENCE_FORKED = 0,
    NSC_PRESENCE_JOINING = 1, /* a thread is registering the process */
    NSC_PRESENCE_JOINED = 2,
};

/*
 * A session, as this process sees it. The fields above the line do not change after the session has
 * become the current one. So code that has looked it up can use it at any later time. A slow path
 * that a signal handler interrupted, while another session began, finds memory that is still
 * mapped. It reads zeros there, which mean closed and free.
 */
struct nsc_target_session {
    struct nsc_live_header *header;
    struct nsc_live_process *processes;
    struct nsc_live_module *modules;
    struct nsc_live_thread *threads;
    struct nsc_live_chunk *chunks;
    struct nsc_live_overwritten *overwritten; /* NULL: only the recorder may take full chunks */
    uint8_t *filter;
    uint8_t *data;
    size_t bytes; /* of the mapping, which starts at the header */
    /* Checked copies of the header's fields. */
    uint32_t processes_max, modules_max, threads_max, chunks_max;
    uint32_t chunk_bytes, filter_bytes;
    uint32_t flags, recorder_pid;
    uint32_t pool_max;               /* chunks of the pool have lower indices */
    uint32_t home_first, home_count; /* home chunks of thread slots; count 0: none */
    uint32_t serial;                 /* number of the session in this process, from 1 */
    uint64_t sample_ns;              /* linux/session/cpu_timer.h; 0: threads take no samples */
    /* Private memory that reads zero in a forked child. Word 0: enum nsc_session_presence. Word
     * NSC_END_STRIDE * (1 + thread slot): target of that thread's `endp`, followed by the words
     * NSC_RUNTIME_END_*. */
    uint64_t *wiped;
    /* -------------------------------------------------------------------------------------- */
    uint32_t process;    /* index of this process's slot */
    uint32_t pid;        /* in the recorder's pid namespace */
    uint32_t generation; /* different for every session, and for every process of one session */
    uint32_t off;        /* 1: this process does not record, or no longer */
    uint32_t hooks_off;  /* value of nsc_runtime_off while this session is the current one */
    uint32_t abroad;     /* in a pid namespace other than the recorder's */
    /* Detection of a recorder that has stopped working; used only while no chunk is free. */
    uint64_t seen_heartbeat, seen_ticks;
    uint32_t strikes;
    /* The recorder's heartbeat, plus 1, at the time when no mapped chunk was free although unmapped
     * chunks existed. */
    uint64_t none_mapped;
};

#define NSC_END_STRIDE 8 /* words; one cache line per thread */

static inline uint64_t *nsc_session_end_word(const struct nsc_target_session *s, uint32_t thread)
{
    return s->wiped + NSC_END_STRIDE * (1 + (size_t)thread);
}

#endif
