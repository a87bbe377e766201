/* completion.h - shell completion scripts, generated from docs/man: lines that end with NULL. */
#ifndef NSC_CLI_COMPLETION_H
#define NSC_CLI_COMPLETION_H

extern const char *const nsc_cli_completion_bash[];
extern const char *const nsc_cli_completion_zsh[];

#endif
