/*
 * cpu_timer.c - see cpu_timer.h. Called when a thread or a session begins, and by the signal.
 *
 * Timers are the process's, not the thread's: that of a thread that has ended stays. So its number
 * stands in private memory beside the thread's end word, and who gets the thread slot next deletes
 * it. A forked child has no timers, and finds that memory empty.
 */
#include "linux/session/cpu_timer.h"

#include "arch/arch.h"
#include "linux/events/thread.h"
#include "linux/sys/sys.h"

#define INTERVAL_MIN_NS 100000u
#define INTERVAL_MAX_NS 1000000000u

/* In the upper half of what a signal brings along, so that it is known as ours; the lower half is
 * the session's serial number. */
#define TICK 0x4e53430000000000ull

/* Number + 1 of the timer of the thread that has this slot, or had it last; 0: none. */
static uint64_t *timer_word(const struct nsc_target_session *s, uint32_t thread)
{
    return nsc_session_end_word(s, thread) + NSC_RUNTIME_END_TIMER / 8;
}

static void take_sample(void)
{
    struct nsc_slot slots[] = {
        {NSC_RECORD(NSC_LIVE_ESC_SAMPLE, 4), nsc_arch_ticks()}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    struct nsc_sys_usage usage;

    nsc_sys_usage(&usage);
    slots[1].word1 = usage.cpu_ns;
    slots[2].word1 = usage.faults_major;
    slots[3].word1 = usage.faults_minor;
    slots[4].word1 = usage.switches;
    nsc_runtime_record(slots, sizeof(slots) / sizeof(slots[0]), 0);
}

static void on_tick(uint64_t value, int timer)
{
    struct nsc_target_session *s = NSC_LOAD(&nsc_session_current);

    if (value >> 32 != TICK >> 32)
        return; /* of a timer of the program's, which happens to use this signal */
    if (s == NULL || s->serial != (uint32_t)value)
        nsc_sys_tick_stop(timer); /* one that was started while its session ended */
    else if (NSC_LOAD(&s->off) || NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
        nsc_cpu_timer_disarm(s); /* of the threads that have ended, too, which get no tick */
        /* A handler of the program's that interrupted this and never came back may have left the
         * timer without a word that knows it. Numbers are not given again for a long time. */
        nsc_sys_tick_stop(timer);
    } else
        take_sample();
}

void nsc_cpu_timer_prepare(struct nsc_target_session *s, uint64_t sample_ns)
{
    if (sample_ns < INTERVAL_MIN_NS || sample_ns > INTERVAL_MAX_NS)
        return;
    if (nsc_sys_take_ticks(on_tick) != 0) {
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
    timer = nsc_sys_tick_start(s->sample_ns, TICK | s->serial);
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
