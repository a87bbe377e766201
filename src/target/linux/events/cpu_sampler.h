/*
 * cpu_sampler.h - takes a sample of the calling thread when its timer fires. Internal to
 * target/linux; the rules of current_session.h apply.
 */
#ifndef NSC_LINUX_EVENTS_CPU_SAMPLER_H
#define NSC_LINUX_EVENTS_CPU_SAMPLER_H

#include <stdint.h>

/** nsc_cpu_sampler_tick - the callback for nsc_cpu_timer_prepare(); takes one sample. */
void nsc_cpu_sampler_tick(uint64_t value, int timer);

#endif
