/*
 * session_processes.h - who has the session's memory, as the kernel sees it, and whether their
 * threads have run on: at the end of a recording in programs that go on.
 *
 * Looks at /proc only. Called by hook_switch.c.
 */
#ifndef NSC_RECORD_SESSION_SESSION_PROCESSES_H
#define NSC_RECORD_SESSION_SESSION_PROCESSES_H

#include <sys/types.h>

#include "record/session/session.h"

/* Zeroed at first. */
struct nsc_session_processes {
    pid_t *pids;
    uint32_t count, capacity;
};

/* Add the processes that map the session's memory and are not in the list yet. */
void nsc_session_processes_find(const struct nsc_record_session *session,
                                struct nsc_session_processes *members);
/* Does any process map the session's memory? Where the kernel does not count who has it open, this
 * is the only way to tell. Context: looks through /proc. */
bool nsc_session_processes_exist(const struct nsc_record_session *session);
void nsc_session_processes_free(struct nsc_session_processes *members);

/**
 * nsc_session_processes_settle - wait until each thread of the processes has been seen to sleep, or
 * to run a while: what it was in the middle of, in its own code, is done then. Returns false when
 * @patience_ns have gone by.
 */
bool nsc_session_processes_settle(const struct nsc_session_processes *members,
                                  uint64_t patience_ns);

#endif
