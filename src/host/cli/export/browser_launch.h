/*
 * browser_launch.h - start the browser from a process that must not start programs.
 *
 * Called by cmd_open.c, which gives up the right to start programs before it reads a trace. A
 * helper process, forked before that, receives the server's address. It writes the file that
 * redirects the browser there (viewer/server/entry_file.h), and starts the browser. It removes the
 * file when the server no longer needs it or has ended, even by SIGKILL.
 */
#ifndef NSC_CLI_EXPORT_BROWSER_LAUNCH_H
#define NSC_CLI_EXPORT_BROWSER_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct nsc_launch {
    int socket; /* to the helper; -1: no helper */
    pid_t helper;
};

/* Fork the helper if there is a desktop. Call it before threads start. */
void nsc_launch_prepare(struct nsc_launch *launch);
/* Start the browser with @address, a URL on 127.0.0.0/8. Returns whether it started; a failure to
 * write the file is reported to the user. */
bool nsc_launch_browser(struct nsc_launch *launch, const char *address);
/* Make the helper remove the file. May be called repeatedly; reaps the helper if it has exited. */
void nsc_launch_forget(struct nsc_launch *launch);
/* As nsc_launch_forget(), and wait for the helper to exit. */
void nsc_launch_end(struct nsc_launch *launch);

#endif
