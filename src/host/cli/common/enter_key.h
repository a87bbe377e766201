/*
 * enter_key.h - "Press ENTER to stop": has a line come on standard input?
 *
 * Used by commands that go on until they are told to end.
 */
#ifndef NSC_CLI_COMMON_ENTER_KEY_H
#define NSC_CLI_COMMON_ENTER_KEY_H

#include <stdbool.h>

/**
 * nsc_cli_enter_pressed - look, without waiting.
 * @watches: whether standard input is looked at; cleared at its end. A terminal is not looked at
 * while another job has it; Ctrl-D counts as ENTER there.
 */
bool nsc_cli_enter_pressed(bool *watches);

#endif
