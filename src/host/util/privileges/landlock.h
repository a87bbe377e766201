/*
 * landlock.h - restrict file changes of this process and its later children to some folders.
 *
 * Called by confine_reader.c. Needs Linux 5.13. Restrictions that an older version of Landlock does
 * not support are left out. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_LANDLOCK_H
#define NSC_UTIL_PRIVILEGES_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct nsc_landlock_folder {
    const char *path;   /* ignored if it does not exist */
    bool holds_outputs; /* files and folders below it may be created, renamed and removed; else
                         * existing files may only be written, and temporary files created */
};

/**
 * nsc_landlock_restrict - allow file changes only below @folders.
 *
 * Also refuses execve, TCP connections, and signals to processes other than this one and its
 * children. Open descriptors stay usable. Applies to the calling thread and threads that it starts
 * later, permanently. Needs no_new_privs.
 * Returns 0 or -errno: the kernel has no Landlock, or it is disabled.
 */
int nsc_landlock_restrict(const struct nsc_landlock_folder *folders, size_t count);

#endif
