/*
 * entry_file.h - a private HTML file that redirects the browser to the server.
 *
 * Called by cli/export/browser_launch.c. The address contains the token. Every user of the machine
 * can read a process's arguments, so the browser gets the path of this file instead of the address.
 */
#ifndef NSC_VIEWER_SERVER_ENTRY_FILE_H
#define NSC_VIEWER_SERVER_ENTRY_FILE_H

#include "util/diag.h"

struct nsc_entry {
    char *url;    /* file:///..., without any secret; NULL: there is no file */
    char *path;   /* of the file */
    char *folder; /* created for the file; NULL: it is in the user's runtime folder */
};

/**
 * nsc_entry_create - write an HTML page that redirects to an address.
 * @address: only characters that are valid in a URL; not escaped.
 * @entry: receives the file, of mode 0600; remove it with nsc_entry_remove().
 *
 * The file is in $XDG_RUNTIME_DIR, if that folder is private to this user, else in a new folder of
 * mode 0700 in $TMPDIR or /tmp. Returns 0 or -errno with @diag.
 */
int nsc_entry_create(const char *address, struct nsc_entry *entry, struct nsc_diag *diag);

/* Remove the file, if there is one, and free the members of @entry. */
void nsc_entry_remove(struct nsc_entry *entry);

#endif
