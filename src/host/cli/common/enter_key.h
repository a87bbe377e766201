/*
 * enter_key.h - "Press ENTER to stop": check for a line on standard input.
 *
 * Used by commands that run until the user stops them.
 */
#ifndef NSC_CLI_COMMON_ENTER_KEY_H
#define NSC_CLI_COMMON_ENTER_KEY_H

#include <stdbool.h>

/**
 * nsc_cli_enter_pressed - check without blocking whether the user pressed ENTER.
 * @watches: false: do not read standard input. Set to false at end of file or on a read error.
 *
 * A terminal is read only while this process is in its foreground; Ctrl-D there counts as ENTER.
 */
bool nsc_cli_enter_pressed(bool *watches);

#endif
