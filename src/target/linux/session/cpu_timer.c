/*
 * cpu_timer.c - see cpu_timer.h. Called when a thread or a session begins or ends.
 *
 * Timers belong to the process: a timer remains when its thread has ended. So its number is kept in
 * private memory beside the thread's end word, and the next owner of the thread slot deletes it. A
 * forked child has no timers; that memory reads zero there.
 */
#include "linux/session/cpu_timer.h"

#include "linux/sys/sys.h"

#define INTERVAL_MIN_NS 100000u
#define INTERVAL_MAX_NS 1000000000u

/* Timer number + 1 of the thread that has this slot, or had it last; 0: none. */
static uint64_t *timer_word(const struct nsc_target_session *s, uint32_t thread)
{
    return nsc_session_end_word(s, thread) + NSC_RUNTIME_END_TIMER / 8;
}

void nsc_cpu_timer_prepare(struct nsc_target_session *s, uint64_t sample_ns,
                           void (*tick)(uint64_t value, int timer))
{
    if (sample_ns < INTERVAL_MIN_NS || sample_ns > INTERVAL_MAX_NS)
        return;
    if (nsc_sys_take_ticks(tick) != 0) {
        __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_TIMER,
                          __ATOMIC_RELAXED);
        return;
    }
    s->sample_ns = sample_ns;
}

static void stop(uint64_t *word)
{
    uint64_t timer = NSC_LOAD(word);

    if (timer != 0 && nsc_session_cas64(word, timer, 0))
        nsc_sys_tick_stop((int)(timer - 1));
}

void nsc_cpu_timer_arm(struct nsc_target_session *s, uint32_t thread)
{
    uint64_t *word = timer_word(s, thread);
    int timer;

    if (s->sample_ns == 0)
        return;
    stop(word);
    timer = nsc_sys_tick_start(s->sample_ns, NSC_CPU_TIMER_TICK | s->serial);
    if (timer >= 0)
        NSC_STORE(word, (uint64_t)timer + 1);
    else
        __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_TIMER,
                          __ATOMIC_RELAXED);
}

void nsc_cpu_timer_disarm(struct nsc_target_session *s)
{
    uint32_t i;

    for (i = 0; i < s->threads_max && s->sample_ns != 0; i++)
        stop(timer_word(s, i));
}
