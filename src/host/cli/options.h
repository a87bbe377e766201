/*
 * options.h - parse the options and operands of a command. Used by main.c only.
 */
#ifndef NSC_CLI_OPTIONS_H
#define NSC_CLI_OPTIONS_H

#include "cli/command.h"

/**
 * nsc_cli_parse - parse the words after the verb into @args.
 * @argv: ends with NULL; the words stay where they are, @args points to them.
 * @help: set to whether --help is among the options, where parsing then stops.
 * Returns 0, or an exit status after a message. Free @args with nsc_cli_parse_free() in both cases.
 */
int nsc_cli_parse(const struct nsc_cli_command *command, int argc, char **argv,
                  struct nsc_cli_args *args, bool *help);
void nsc_cli_parse_free(struct nsc_cli_args *args);

#endif
