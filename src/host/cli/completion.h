/* completion.h - the completion scripts as lines (NULL ends them), made from docs/man. */
#ifndef NSC_CLI_COMPLETION_H
#define NSC_CLI_COMPLETION_H

extern const char *const nsc_cli_completion_bash[];
extern const char *const nsc_cli_completion_zsh[];

#endif
