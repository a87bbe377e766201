/* cpu_sampler.c - see cpu_sampler.h. Called by the signal handler of linux/session/cpu_timer.h. */
#include "linux/events/cpu_sampler.h"

#include "arch/arch.h"
#include "linux/events/thread.h"
#include "linux/session/cpu_timer.h"
#include "linux/session/current_session.h"
#include "linux/sys/sys.h"

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

void nsc_cpu_sampler_tick(uint64_t value, int timer)
{
    struct nsc_target_session *s = NSC_LOAD(&nsc_session_current);

    if (value >> 32 != NSC_CPU_TIMER_TICK >> 32)
        return; /* from a timer of the program, which also uses this signal */
    if (s == NULL || s->serial != (uint32_t)value)
        nsc_sys_tick_stop(timer); /* started while its session ended */
    else if (NSC_LOAD(&s->off) || NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
        nsc_cpu_timer_disarm(s); /* also those of ended threads, which get no tick */
        /* A handler of the program that interrupted cpu_timer.c and never returned may have left
         * the timer without a word that holds its number. The kernel does not reuse numbers for a
         * long time. */
        nsc_sys_tick_stop(timer);
    } else
        take_sample();
}
