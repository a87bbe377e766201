/* cmd_completion.c - nanoscope completion: print the completion script of a shell. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/completion_options.h"

int nsc_cmd_completion(const struct nsc_cli_args *args)
{
    static const struct {
        const char *shell;
        const char *const *lines;
    } scripts[] = {
        {"bash", nsc_cli_completion_bash},
        {"zsh", nsc_cli_completion_zsh},
    };

    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one shell is needed: bash or zsh");
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        if (strcmp(args->operands[0], scripts[i].shell) != 0)
            continue;
        for (const char *const *line = scripts[i].lines; *line != NULL; line++)
            puts(*line);
        return NSC_CLI_OK;
    }
    return nsc_cli_usage(args, "no completion for %s: bash or zsh", args->operands[0]);
}
