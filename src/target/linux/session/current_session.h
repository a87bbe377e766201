/*
 * current_session.h - the sessions that this process joins, one after the other: their shared
 * memory (abi/live.h), their process slots, and what a forked child must do again. Internal to
 * target/linux.
 *
 * Rules for all of target/linux: no libc, no lock, no allocation, no vector register, no output;
 * only async-signal-safe operations. A signal handler may interrupt this code anywhere, run hooks
 * of its own, and leave by siglongjmp. The recorder that writes the shared memory may die or be
 * malicious: indices that are read from it are checked before use.
 */
#ifndef NSC_LINUX_SESSION_CURRENT_SESSION_H
#define NSC_LINUX_SESSION_CURRENT_SESSION_H

#include "linux/session/session_state.h"

/* The current session: the one that began last; NULL: none. */
extern struct nsc_target_session *nsc_session_current __attribute__((visibility("hidden")));

/**
 * nsc_session_open - join the session in a memory file: check it, map it, register the process. It
 * does not make the session the current one.
 * @fd: of the memory file; remains open.
 * @tick: takes the samples of the session's timers: nsc_cpu_sampler_tick().
 * @to: receives the session.
 * Returns 0; -EINVAL if it is not a session, or one of another version; -ENOSPC if the session has
 * no free process slot; -EAGAIN if another thread opens a session; -EBADF and other errors of the
 * kernel.
 * Context: any; makes system calls.
 */
int nsc_session_open(int fd, void (*tick)(uint64_t value, int timer),
                     struct nsc_target_session **to);

/** nsc_session_abandon - undo nsc_session_open() for a session that did not become the current
 * one. */
void nsc_session_abandon(struct nsc_target_session *s);

/**
 * nsc_session_begin - make @s the current session, if @before still is. Every thread enters the
 * slow path with its next event.
 * Returns 0, or -EBUSY if another session than @before is the current one.
 */
int nsc_session_begin(struct nsc_target_session *s, struct nsc_target_session *before);

/** nsc_session_is_open - return 1 if the recorder of @s works, as far as can be known. @s may be
 * NULL. Waits a tenth of a second if the recorder seems dead. */
int nsc_session_is_open(const struct nsc_target_session *s);

/**
 * nsc_session_present - return the session that this process records into, or NULL. A forked child
 * is registered as a process of its own. Context: any; every slow path starts here.
 */
struct nsc_target_session *nsc_session_present(void);

/** nsc_session_gone - stop recording if the recorder has closed the session or has stopped working.
 * Returns 1 if so. */
int nsc_session_gone(struct nsc_target_session *s);

/** nsc_session_hooks_follow - enable or disable inlined hooks as @s demands. Disables them if @s is
 * NULL or over. */
void nsc_session_hooks_follow(struct nsc_target_session *s);

#endif
