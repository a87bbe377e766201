/*
 * current_session.c - which session is the current one: beginning and replacing them, forked
 * children, and noticing that the recorder is gone. Called from constructors, from the control
 * function and from the slow path; see current_session.h for the rules that hold here.
 */
#include "linux/session/current_session.h"

#include <errno.h>

#include "arch/arch.h"
#include "linux/session/cpu_timer.h"
#include "linux/session/module_table.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

/*
 * What becomes of a session's memory when others have followed it. A thread may be held up between
 * two instructions, with an address in it at hand, for as long as its processor is taken away from
 * it, or as a signal handler runs. So the memory file stays mapped for a while, then its addresses
 * read zero and may still be written, and only much later somebody else gets them.
 */
#define KEEP_MAPPED    16u
#define KEEP_ADDRESSES 1024u /* sessions at most */
#define KEEP_BYTES     (64ull << 30)

/* Looks, a second apart at least, at a heartbeat that stands still, after which the recorder counts
 * as dead. So many because a recorder that is stopped, or that waits for a disk, comes back and
 * wants the losses counted. Counting looks keeps a suspended machine from looking like one long
 * silence. */
#define STRIKES_MAX 120

/* For the heartbeat of a recorder that cannot be seen otherwise: many times what it takes. */
#define PATIENCE_STEPS   10
#define PATIENCE_STEP_NS 10000000u

struct nsc_target_session *nsc_session_current;

/* Hooks that are compiled into the program look here first. */
uint32_t nsc_runtime_off = 1;

static struct nsc_target_session sessions[KEEP_ADDRESSES];
static uint32_t newest; /* serial of the last session that began */
/* Process whose thread prepares a session; a forked child is not bound by its parent's. */
static uint32_t preparing;

static struct nsc_target_session *session_of(uint32_t serial)
{
    return &sessions[serial % KEEP_ADDRESSES];
}

/* Gives back all that a session still has. */
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
 * Which of the sessions before lose something now that @s has begun. Whose addresses are given back
 * are always the oldest, so that those that have theirs are the ones just before.
 */
static void retire(const struct nsc_target_session *s)
{
    int limited = nsc_sys_address_space_limited(); /* then addresses are the program's */
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

/* Takes the right to prepare a session, and the place for it; NULL: somebody else does just now. */
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
    /* Generations may be used up by children, too, so they do not go with serials. */
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
 * Shuts the fast path of every thread that is in @s. A thread that opens it at this very moment
 * looks afterwards whether its session is the current one still (nsc_thread_chunk_ready()).
 */
static void shut(struct nsc_target_session *s)
{
    uint32_t i;

    nsc_sys_discard(s->wiped, nsc_session_wiped_bytes(s));
    if (NSC_LOAD(&s->wiped[0]) == 0)
        return;
    /* The kernel does not discard memory that is locked. */
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

/* A forked child's first event: it takes part as a process of its own. */
static int join_as_child(struct nsc_target_session *s)
{
    if (!nsc_session_cas64(&s->wiped[0], NSC_PRESENCE_FORKED, NSC_PRESENCE_JOINING)) {
        NSC_ADD(&s->header->lost_unattributed, 1); /* another thread, or we ourselves, just join */
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
    /* It is dead, or outside this pid namespace. */
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
    /* Threads race for these words; the worst that comes of it is a strike too many or too few. */
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
