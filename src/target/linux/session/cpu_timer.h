/*
 * cpu_timer.h - samples that a thread takes of itself after each interval of its CPU time. Internal
 * to runtime/; the rules of current_session.h hold.
 *
 * Only in a session whose header asks for it (nsc_live_header.sample_ns): it is the one thing that
 * puts a signal handler and timers into the program.
 */
#ifndef NSC_LINUX_SESSION_CPU_TIMER_H
#define NSC_LINUX_SESSION_CPU_TIMER_H

#include "linux/session/current_session.h"

/** nsc_cpu_timer_prepare - take the signal, if the session wants samples. Sets sample_ns of @s,
 * which is not yet the current session. */
void nsc_cpu_timer_prepare(struct nsc_target_session *s, uint64_t sample_ns);

/** nsc_cpu_timer_arm - the calling thread has thread slot @thread of @s from now on. */
void nsc_cpu_timer_arm(struct nsc_target_session *s, uint32_t thread);

/** nsc_cpu_timer_disarm - @s is over, or another session follows: no timer of it is left. */
void nsc_cpu_timer_disarm(struct nsc_target_session *s);

#endif
