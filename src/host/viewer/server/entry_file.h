/*
 * entry_file.h - the file that a browser is started with, and that leads it to the server.
 *
 * Called by cli/export/browser_launch.c. Every user of the machine can read a process's arguments,
 * but not this file: the address with the token is in it.
 */
#ifndef NSC_VIEWER_SERVER_ENTRY_FILE_H
#define NSC_VIEWER_SERVER_ENTRY_FILE_H

#include "util/diag.h"

struct nsc_entry {
    char *url;    /* file:///..., without any secret; NULL: there is no file */
    char *path;   /* of the file */
    char *folder; /* made for it; NULL: it is in the user's runtime folder */
};

/**
 * nsc_entry_create - write a page that leads to an address.
 * @address: of a URL's characters only.
 * @entry: receives the file, of mode 0600, which nsc_entry_remove() removes.
 *
 * It is in $XDG_RUNTIME_DIR, if that is a folder of this user's alone, else in a new folder of mode
 * 0700 in $TMPDIR or /tmp. Returns 0 or -errno with @diag.
 */
int nsc_entry_create(const char *address, struct nsc_entry *entry, struct nsc_diag *diag);

/* Remove the file, if there is one. */
void nsc_entry_remove(struct nsc_entry *entry);

#endif
