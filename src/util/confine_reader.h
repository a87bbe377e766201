/*
 * confine_reader.h - what a command gives up that reads files which others have made.
 *
 * Called by cli/ before anything is read. Where a parser has a hole, the file's author gets a
 * process that can read what its user can, and show it to that user: it executes nothing, connects
 * to nothing, changes no file and no other process.
 */
#ifndef NSC_UTIL_CONFINE_READER_H
#define NSC_UTIL_CONFINE_READER_H

enum nsc_confine_reader_needs {
    NSC_CONFINE_WRITES = 1, /* it makes files, with names */
    NSC_CONFINE_SERVES = 2, /* sockets that it accepts connections on; files of its own may go */
};

/**
 * nsc_confine_reader - for the whole process, all its threads, and for good.
 * @needs: a set of enum nsc_confine_reader_needs.
 *
 * No new privileges; of root's capabilities only those for files; a filter that refuses system
 * calls (EPERM). Where the kernel has no seccomp, under an emulator and in builds for sanitizers
 * there is no filter. Cost: 0.1 ms, and some ten nanoseconds a system call.
 */
void nsc_confine_reader(unsigned needs);

#endif
