/*
 * session_processes.h - find the processes that map the session's memory, and wait until their
 * threads have left the hooks. Used when a recording ends and the programs go on.
 *
 * Reads /proc only. Called by hook_switch.c and attach.c.
 */
#ifndef NSC_RECORD_SESSION_SESSION_PROCESSES_H
#define NSC_RECORD_SESSION_SESSION_PROCESSES_H

#include <sys/types.h>

#include "record/session/session.h"

/* Zero-initialize before use. */
struct nsc_session_processes {
    pid_t *pids;
    uint32_t count, capacity;
};

/* Add the processes that map the session's memory and are not in the list yet. @matters: which
 * processes are examined at all; NULL: all. Returns false if the list may be incomplete: the search
 * failed or was ended after five seconds, or a process did not reply. */
bool nsc_session_processes_find(const struct nsc_record_session *session,
                                bool (*matters)(pid_t pid), struct nsc_session_processes *members);
/* True if any process maps the session's memory, or if the search was incomplete. The only way to
 * tell where the kernel does not count the processes that have it open. Context: searches /proc. */
bool nsc_session_processes_exist(const struct nsc_record_session *session);
void nsc_session_processes_free(struct nsc_session_processes *members);

/**
 * nsc_session_processes_settle - wait until each thread of the processes was seen asleep, or has
 * run for a while.
 * By then it has left any hook that it was executing. Returns false after @patience_ns.
 */
bool nsc_session_processes_settle(const struct nsc_session_processes *members,
                                  uint64_t patience_ns);

#endif
