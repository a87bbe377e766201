/*
 * confine_reader.h - drop the rights that a command does not need for reading untrusted files:
 * traces, files to import, packages.
 *
 * Called by cli/ once, before the file is opened and before a thread starts. An attacker who
 * controls a parser through a hostile file then cannot start programs, change files, or reach other
 * processes, the network or the kernel's settings, also when root runs the command. Reading files
 * works as before: traces of other users, shared libraries that are loaded later, sources. Must not
 * print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CONFINE_READER_H
#define NSC_UTIL_PRIVILEGES_CONFINE_READER_H

#include <stdbool.h>

struct nsc_confine_reader {
    /* Folder of temporary files. They are created without a name (O_TMPFILE). */
    const char *scratch;
    /* The file or folder that the command will create. With NULL, no file can be created, opened
     * for writing, renamed or removed. Otherwise this holds outside the folder of @output, if the
     * kernel has Landlock. */
    const char *output;
    /* The command listens on a TCP port, which may be below 1024. */
    bool serves;
};

/**
 * nsc_confine_reader - drop the rights, permanently.
 *
 * Drops all capabilities except those for reading any file and, with @output, for writing any file.
 * Sets no_new_privs, restricts file changes by Landlock and installs a system call filter. A
 * refused call fails with EPERM, EACCES, ENOTTY or ENOSYS, which libraries handle. In builds with
 * sanitizers, there is only no_new_privs, and no capabilities.
 * Returns 0, or -errno if there is no filter. The other restrictions that the kernel supports are
 * in force then, and the caller continues.
 */
int nsc_confine_reader(const struct nsc_confine_reader *reader);

#endif
