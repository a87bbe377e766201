/*
 * current_session.h - the sessions that this process takes part in, one after the other: their
 * shared memory (abi/live.h), its process slot, and what a forked child has to do over. Internal to
 * runtime/.
 *
 * Rules for all of runtime/: no libc, no lock, no allocation, no vector register, nothing printed;
 * only what a signal handler may do, because a handler may interrupt it anywhere, run hooks of its
 * own, and leave by siglongjmp. Shared memory is written by a recorder that may die or lie: indices
 * read from it are checked before use.
 */
#ifndef NSC_LINUX_SESSION_CURRENT_SESSION_H
#define NSC_LINUX_SESSION_CURRENT_SESSION_H

#include "linux/session/session_state.h"

/* The session that began last; NULL: none has. */
extern struct nsc_target_session *nsc_session_current __attribute__((visibility("hidden")));

/**
 * nsc_session_open - take part in the session that a memory file holds: check it, map it, register
 * the process. The session is not yet the current one.
 * @fd: of the memory file; remains open.
 * @tick: takes the samples of the session's timers: nsc_cpu_sampler_tick().
 * @to: receives the session.
 * Returns 0; -EINVAL if that is no session, or one of another version; -EBADF and other errors of
 * the kernel's; -ENOSPC if the session has no room for a process. Context: any; makes system calls.
 */
int nsc_session_open(int fd, void (*tick)(uint64_t value, int timer),
                     struct nsc_target_session **to);

/** nsc_session_abandon - undo nsc_session_open() for a session that did not become the current one.
 */
void nsc_session_abandon(struct nsc_target_session *s);

/**
 * nsc_session_begin - make @s the current session, unless another than @before is by now.
 * Every thread comes to the slow path with its next event. Returns 0 or -EBUSY.
 */
int nsc_session_begin(struct nsc_target_session *s, struct nsc_target_session *before);

/** nsc_session_is_open - whether @s, which may be NULL, has a recorder that is at work, for all
 * that can be known. Waits a tenth of a second if it seems dead. */
int nsc_session_is_open(const struct nsc_target_session *s);

/**
 * nsc_session_present - the session that this process records in, or NULL; a forked child becomes a
 * process of its own. Context: any; every slow path starts here.
 */
struct nsc_target_session *nsc_session_present(void);

/** nsc_session_gone - stop recording if the recorder has closed or has stopped working. Returns
 * whether it is so. */
int nsc_session_gone(struct nsc_target_session *s);

/** nsc_session_hooks_follow - switch inlined hooks as @s says, or off if it is NULL or over. */
void nsc_session_hooks_follow(struct nsc_target_session *s);

#endif
