/*
 * start_link.h - wait for a program that is yet to start: the link by which its runtime finds the
 * session's memory (NSC_CONTROL_START in src/shared/abi/control.h).
 *
 * Called by attach.c.
 */
#ifndef NSC_RECORD_CONTROL_START_LINK_H
#define NSC_RECORD_CONTROL_START_LINK_H

#include <sys/types.h>

#include "record/session/session.h"

/* Zeroed but for the directory: there is no link. */
struct nsc_start_link {
    int directory; /* of the link; -1: there is none */
    char name[256];
};

/**
 * nsc_start_link_begin - make the link, for the next program of that name.
 * @name: of the program's file, without folders.
 * @await: receives it; release with nsc_start_link_end(). Left without a link on failure.
 * Returns 0 or -errno with @diag: -EBUSY (another recorder waits for the name), -ENAMETOOLONG,
 * -EINVAL, or what the system says.
 */
int nsc_start_link_begin(const struct nsc_record_session *session, const char *name,
                         struct nsc_start_link *await, struct nsc_diag *diag);
/* The program that has joined; 0 while there is none. */
pid_t nsc_start_link_look(const struct nsc_record_session *session);
/* Remove the link, if there is one. */
void nsc_start_link_end(struct nsc_start_link *await);

#endif
