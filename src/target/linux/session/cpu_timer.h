/*
 * cpu_timer.h - sends each thread a signal after each interval of its CPU time; the thread then
 * takes a sample of itself (linux/events/cpu_sampler.h). Internal to target/linux; the rules of
 * current_session.h apply.
 *
 * Used only in a session whose header asks for it (nsc_live_header.sample_ns). Nothing else
 * installs a signal handler or timers in the program.
 */
#ifndef NSC_LINUX_SESSION_CPU_TIMER_H
#define NSC_LINUX_SESSION_CPU_TIMER_H

#include "linux/session/session_state.h"

/* Upper half of a timer signal's value, which identifies nanoscope's timers. The lower half is the
 * session's serial number. */
#define NSC_CPU_TIMER_TICK 0x4e53430000000000ull

/** nsc_cpu_timer_prepare - install @tick as the function that the signal calls, if @sample_ns is a
 * valid interval. Sets sample_ns of @s, which is not yet the current session. */
void nsc_cpu_timer_prepare(struct nsc_target_session *s, uint64_t sample_ns,
                           void (*tick)(uint64_t value, int timer));

/** nsc_cpu_timer_arm - start the timer of the calling thread, which has got thread slot @thread of
 * @s. */
void nsc_cpu_timer_arm(struct nsc_target_session *s, uint32_t thread);

/** nsc_cpu_timer_disarm - stop all timers of @s, because it is over or another session follows. */
void nsc_cpu_timer_disarm(struct nsc_target_session *s);

#endif
