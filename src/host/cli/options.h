/*
 * options.h - split a command line; between main.c and options.c only.
 */
#ifndef NSC_CLI_OPTIONS_H
#define NSC_CLI_OPTIONS_H

#include "cli/command.h"

/**
 * nsc_cli_parse - fill @args from the words after the verb.
 * @argv: ends with NULL; the words stay where they are, @args points to them.
 * @help: set if --help is among the options; the rest is then not looked at.
 * Returns 0, or an exit status after a message. Free with nsc_cli_parse_free() in any case.
 */
int nsc_cli_parse(const struct nsc_cli_command *command, int argc, char **argv,
                  struct nsc_cli_args *args, bool *help);
void nsc_cli_parse_free(struct nsc_cli_args *args);

#endif
