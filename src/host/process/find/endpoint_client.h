/*
 * endpoint_client.h - client of a program's endpoint (src/shared/abi/control.h).
 *
 * Uses one connection per call, so that no client blocks the endpoint for others. Checks that the
 * peer is the intended process, and limits every wait by a deadline. Called by control_call.c,
 * process_find.c and the commands.
 */
#ifndef NSC_PROCESS_FIND_ENDPOINT_CLIENT_H
#define NSC_PROCESS_FIND_ENDPOINT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/call_limit.h"
#include "util/diag.h"

/* Time limit to connect, while others wait for the endpoint. */
#define NSC_ENDPOINT_CONNECT_NS 2000000000ull

/* Return true if the process accepts connections until @deadline_ns (nsc_now_ns()); tries at least
 * once. Only connects: does not wait for the program. */
bool nsc_endpoint_listens(pid_t pid, uid_t uid, uint64_t deadline_ns);

struct nsc_endpoint_target {
    pid_t pid;
    uid_t uid;                    /* of the process: real */
    uid_t effective;              /* as whom, or as root, it must have begun to listen */
    struct nsc_call_limit *limit; /* begun by the caller */
};

/**
 * nsc_endpoint_call - make the endpoint thread of a process call the control function.
 * @fd: descriptor to send along, or -1.
 * @result: receives the control function's result.
 * Returns 0 or -errno with @diag: -ECONNREFUSED or -ENOENT (the process has no endpoint), -EACCES
 * (it refused the request: another user, or another version), -ETIMEDOUT (no reply in time),
 * -EPROTO (invalid reply), -ESRCH (another process listens there, or as another user).
 */
int nsc_endpoint_call(const struct nsc_endpoint_target *target, uint64_t verb, uint64_t argument,
                      int fd, int64_t *result, struct nsc_diag *diag);

/* Return true if no process listens at the socket @path: its program was killed. Connects to find
 * out, as the program may be in another pid namespace. A socket that is bound but not yet listened
 * at looks the same. */
bool nsc_endpoint_is_left(const char *path);

/* Remove the sockets that killed programs of this user left: no process listens there, and they are
 * older than a starting program needs to begin listening. */
void nsc_endpoint_sweep(void);

#endif
