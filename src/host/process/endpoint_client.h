/*
 * endpoint_client.h - client of a program's endpoint (src/shared/abi/control.h).
 *
 * One connection a call, so that nobody keeps the endpoint from others. The other side is checked
 * to be the process that is meant, and never waited for longer than a deadline. Called by
 * control_call.c, process_find.c and the commands.
 */
#ifndef NSC_PROCESS_ENDPOINT_CLIENT_H
#define NSC_PROCESS_ENDPOINT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"

/* Does the process take connections? Asks the kernel only; the program does nothing. */
bool nsc_endpoint_listens(pid_t pid, uid_t uid);

/**
 * nsc_endpoint_call - have the endpoint's thread call the control function.
 * @pid, @uid: the process and its user.
 * @fd: descriptor to send along, or -1.
 * @result: what the control function returned.
 * Returns 0 or -errno with @diag: -ECONNREFUSED or -ENOENT (nobody listens), -EACCES (not the
 * program's user), -ETIMEDOUT (no reply in time), -EPROTO (a reply that is none), -ESRCH (somebody
 * else listens there).
 */
int nsc_endpoint_call(pid_t pid, uid_t uid, uint64_t verb, uint64_t argument, int fd,
                      int64_t *result, struct nsc_diag *diag);

/* Has whoever listened at the socket gone without removing it? The kernel is asked: a process that
 * may be in another namespace tells nothing. One that is not listened at yet looks the same. */
bool nsc_endpoint_is_left(const char *path);

/* Removes the sockets of this user's programs that were killed: such as nobody listens at, for
 * longer than it takes a program to begin to. */
void nsc_endpoint_sweep(void);

#endif
