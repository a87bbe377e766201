/*
 * cpu_sampler.h - the sample that a thread takes of itself when its timer fires. Internal to
 * runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_EVENTS_CPU_SAMPLER_H
#define NSC_LINUX_EVENTS_CPU_SAMPLER_H

#include <stdint.h>

/** nsc_cpu_sampler_tick - what nsc_cpu_timer_prepare() wants to be called by the signal. */
void nsc_cpu_sampler_tick(uint64_t value, int timer);

#endif
