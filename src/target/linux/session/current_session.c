/*
 * current_session.c - which session is the current one: begins and replaces sessions, registers
 * forked children, and detects that the recorder is gone. Called from constructors, from the
 * control function and from the slow path; the rules of current_session.h apply.
 */
#include "linux/session/current_session.h"

#include <errno.h>

#include "arch/arch.h"
#include "linux/session/cpu_timer.h"
#include "linux/session/module_table.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

/*
 * Release of a session's memory after other sessions have replaced it. A thread may be stopped
 * between two instructions, with an address of that memory in a register, while it is preempted or
 * a signal handler runs. So the memory file stays mapped for KEEP_MAPPED more sessions. Then its
 * addresses read zero and remain writable. Much later they are unmapped.
 */
#define KEEP_MAPPED    16u
#define KEEP_ADDRESSES 1024u /* maximum number of sessions */
#define KEEP_BYTES     (64ull << 30)

/* Checks, at least a second apart, that find the heartbeat unchanged, after which the recorder
 * counts as dead. The limit is high because a recorder that is stopped, or that waits for a disk,
 * may return, and the losses must be counted. It counts checks, not time: the time of a suspended
 * machine does not count. */
#define STRIKES_MAX 120

/* Time to wait for the heartbeat of a recorder whose process is not visible: many times its
 * interval. */
#define PATIENCE_STEPS   10
#define PATIENCE_STEP_NS 10000000u

struct nsc_target_session *nsc_session_current;

/* Inlined hooks check this first. */
uint32_t nsc_runtime_off = 1;

static struct nsc_target_session sessions[KEEP_ADDRESSES];
static uint32_t newest; /* serial of the newest session */
/* Process whose thread is preparing a session; a forked child ignores its parent's. */
static uint32_t preparing;

static struct nsc_target_session *session_of(uint32_t serial)
{
    return &sessions[serial % KEEP_ADDRESSES];
}

/* Release all memory of a session. */
static void release(struct nsc_target_session *s)
{
    if (s->header != NULL)
        nsc_sys_unmap(s->header, s->bytes);
    if (s->wiped != NULL)
        nsc_sys_unmap(s->wiped, nsc_session_wiped_bytes(s));
    s->header = NULL;
    s->wiped = NULL;
}

/*
 * Release memory of older sessions, now that @s has begun. Addresses are always released from the
 * oldest session on, so the sessions that keep theirs are the most recent ones.
 */
static void retire(const struct nsc_target_session *s)
{
    int limited = nsc_sys_address_space_limited(); /* then address space is scarce */
    uint64_t bytes = s->bytes;
    uint32_t back;

    for (back = 1; back < KEEP_ADDRESSES && back < s->serial; back++) {
        struct nsc_target_session *old = session_of(s->serial - back);

        if (old->header == NULL)
            return;
        bytes += old->bytes;
        if (limited ? back > 1 : back > KEEP_MAPPED && bytes > KEEP_BYTES)
            release(old);
        else if (back == KEEP_MAPPED)
            nsc_sys_map_zeros_over(old->header, old->bytes);
    }
}

/* Acquire the right to prepare a session, and an entry for it; NULL: another thread has it. */
static struct nsc_target_session *prepare(void)
{
    uint32_t own = nsc_sys_pid(), holder = NSC_LOAD(&preparing);
    struct nsc_target_session *s;
    uint8_t *byte;
    size_t i;

    if (holder == own || !nsc_session_cas32(&preparing, holder, own))
        return NULL;
    s = session_of(newest + 1);
    release(s);
    byte = (uint8_t *)s;
    for (i = 0; i < sizeof(*s); i++)
        byte[i] = 0;
    s->serial = newest + 1;
    return s;
}

int nsc_session_open(int fd, void (*tick)(uint64_t value, int timer),
                     struct nsc_target_session **to)
{
    const struct nsc_target_session *before = NSC_LOAD(&nsc_session_current);
    struct nsc_target_session *s = prepare();
    int result;

    if (s == NULL)
        return -EAGAIN;
    /* Forked children use up generations, too, so these differ from serials. */
    s->generation = before != NULL ? before->generation + 1 : 1;
    result = nsc_session_join(s, fd, before != NULL ? before->header : NULL, tick);
    if (result < 0) {
        NSC_STORE(&preparing, 0);
        return result;
    }
    *to = s;
    return 0;
}

void nsc_session_abandon(struct nsc_target_session *s)
{
    nsc_session_cas32(&s->processes[s->process].state, NSC_LIVE_LIVE, NSC_LIVE_DEAD);
    release(s);
    NSC_STORE(&preparing, 0);
}

/*
 * Close the fast path of every thread in @s. A thread that opens it at the same time checks
 * afterwards that its session is still the current one (nsc_thread_chunk_ready()).
 */
static void shut(struct nsc_target_session *s)
{
    uint32_t i;

    nsc_sys_discard(s->wiped, nsc_session_wiped_bytes(s));
    if (NSC_LOAD(&s->wiped[0]) == 0)
        return;
    /* The kernel does not discard locked memory. */
    for (i = 0; i < s->threads_max; i++) {
        NSC_STORE(nsc_session_end_word(s, i), 0);
        NSC_STORE(nsc_session_end_word(s, i) + NSC_RUNTIME_END_FREE / 8, 0);
    }
}

int nsc_session_begin(struct nsc_target_session *s, struct nsc_target_session *before)
{
    struct nsc_target_session *expected = before;

    if (!__atomic_compare_exchange_n(&nsc_session_current, &expected, s, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        return -EBUSY;
    newest = s->serial;
    if (before != NULL) {
        nsc_cpu_timer_disarm(before);
        shut(before);
    }
    retire(s);
    NSC_STORE(&preparing, 0);
    return 0;
}

/* At the first event of a forked child: register it as a process of its own. */
static int join_as_child(struct nsc_target_session *s)
{
    if (!nsc_session_cas64(&s->wiped[0], NSC_PRESENCE_FORKED, NSC_PRESENCE_JOINING)) {
        NSC_ADD(&s->header->lost_unattributed, 1); /* another thread, or this one when interrupted,
                                                    * is registering the child */
        return 0;
    }
    if (NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN ||
        !nsc_session_register(s, s->pid)) {
        NSC_ADD(&s->header->lost_unattributed, 1);
        NSC_STORE(&s->off, 1);
        return 0;
    }
    s->generation++;
    nsc_modules_publish_again(s);
    NSC_STORE(&s->wiped[0], (uint64_t)NSC_PRESENCE_JOINED);
    return 1;
}

struct nsc_target_session *nsc_session_present(void)
{
    struct nsc_target_session *s;

    do {
        s = NSC_LOAD(&nsc_session_current);
        if (s == NULL || NSC_LOAD(&s->off))
            return NULL;
        if (NSC_LOAD(&s->wiped[0]) == NSC_PRESENCE_JOINED)
            return s;
        /* The word is zero in a forked child, and when another session has just begun. */
    } while (NSC_LOAD(&nsc_session_current) != s);
    return join_as_child(s) ? s : NULL;
}

void nsc_session_hooks_follow(struct nsc_target_session *s)
{
    struct nsc_target_session *now = s;

    do {
        s = now;
        NSC_STORE(&nsc_runtime_off,
                  (uint32_t)(s == NULL || NSC_LOAD(&s->off) || NSC_LOAD(&s->hooks_off)));
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        now = NSC_LOAD(&nsc_session_current);
    } while (now != s);
}

int nsc_session_is_open(const struct nsc_target_session *s)
{
    uint64_t heartbeat;
    int i;

    if (s == NULL || NSC_LOAD(&s->off) ||
        NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN)
        return 0;
    if (nsc_sys_process_lives(s->recorder_pid))
        return 1;
    /* The recorder is dead, or not visible in this pid namespace. */
    heartbeat = NSC_LOAD(&s->header->heartbeat);
    for (i = 0; i < PATIENCE_STEPS; i++) {
        nsc_sys_sleep_ns(PATIENCE_STEP_NS);
        if (NSC_LOAD(&s->header->heartbeat) != heartbeat)
            return 1;
    }
    return 0;
}

int nsc_session_gone(struct nsc_target_session *s)
{
    uint64_t heartbeat = NSC_LOAD(&s->header->heartbeat);
    uint64_t now = nsc_arch_ticks();

    if (NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
        NSC_STORE(&s->off, 1);
        return 1;
    }
    /* Threads race for these words; the worst result is one strike too many or too few. */
    if (heartbeat != s->seen_heartbeat || s->seen_ticks == 0) {
        s->seen_heartbeat = heartbeat;
        s->seen_ticks = now;
        s->strikes = 0;
    } else if (now - s->seen_ticks > NSC_ARCH_STALE_TICKS) {
        s->seen_ticks = now;
        if (++s->strikes >= STRIKES_MAX) {
            __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_STALLED,
                              __ATOMIC_RELAXED);
            NSC_STORE(&s->off, 1);
            return 1;
        }
    }
    return 0;
}
