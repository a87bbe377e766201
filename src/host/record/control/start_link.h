/*
 * start_link.h - wait for a program that has not started yet. Creates the symbolic link by which
 * the program's runtime finds the session's memory (NSC_CONTROL_START in src/shared/abi/control.h).
 *
 * Called by attach.c.
 */
#ifndef NSC_RECORD_CONTROL_START_LINK_H
#define NSC_RECORD_CONTROL_START_LINK_H

#include <sys/types.h>

#include "record/session/session.h"

/* Without a link: all zero, except that directory is -1. */
struct nsc_start_link {
    int directory; /* directory of the link; -1: there is no link */
    char name[256];
};

/**
 * nsc_start_link_begin - create the link, for the next program of that name.
 * @name: of the program's file, without directories.
 * @await: receives it; release with nsc_start_link_end(). Left without a link on failure.
 * Returns 0 or -errno with @diag: -EBUSY (another recorder waits for the name), -ENAMETOOLONG,
 * -EINVAL, or a system error.
 */
int nsc_start_link_begin(const struct nsc_record_session *session, const char *name,
                         struct nsc_start_link *await, struct nsc_diag *diag);
/* Returns the pid of the program that has joined the session; 0: none yet. */
pid_t nsc_start_link_look(const struct nsc_record_session *session);
/* Remove the link, if there is one. */
void nsc_start_link_end(struct nsc_start_link *await);

#endif
