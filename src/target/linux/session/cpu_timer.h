/*
 * cpu_timer.h - a signal to each thread after each interval of its CPU time, for it to take a
 * sample of itself (linux/events/cpu_sampler.h). Internal to runtime/; the rules of
 * current_session.h hold.
 *
 * Only in a session whose header asks for it (nsc_live_header.sample_ns): it is the one thing that
 * puts a signal handler and timers into the program.
 */
#ifndef NSC_LINUX_SESSION_CPU_TIMER_H
#define NSC_LINUX_SESSION_CPU_TIMER_H

#include "linux/session/session_state.h"

/* In the upper half of what a signal brings along, so that it is known as ours; the lower half is
 * the session's serial number. */
#define NSC_CPU_TIMER_TICK 0x4e53430000000000ull

/** nsc_cpu_timer_prepare - have @tick called by the signal, if the session wants samples. Sets
 * sample_ns of @s, which is not yet the current session. */
void nsc_cpu_timer_prepare(struct nsc_target_session *s, uint64_t sample_ns,
                           void (*tick)(uint64_t value, int timer));

/** nsc_cpu_timer_arm - the calling thread has thread slot @thread of @s from now on. */
void nsc_cpu_timer_arm(struct nsc_target_session *s, uint32_t thread);

/** nsc_cpu_timer_disarm - @s is over, or another session follows: no timer of it is left. */
void nsc_cpu_timer_disarm(struct nsc_target_session *s);

#endif
