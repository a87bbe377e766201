/*
 * options.c - parses a command line by the option table generated from the command's manual source.
 *
 * Called by main.c before a command runs, so that all commands parse options in the same way.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

static const struct nsc_cli_option *find_long(const struct nsc_cli_option *o, const char *name,
                                              size_t bytes)
{
    for (; o->id != 0; o++)
        if (o->name != NULL && strlen(o->name) == bytes && memcmp(o->name, name, bytes) == 0)
            return o;
    return NULL;
}

static const struct nsc_cli_option *find_letter(const struct nsc_cli_option *o, char letter)
{
    for (; o->id != 0; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static void give(struct nsc_cli_args *args, const struct nsc_cli_option *o, const char *value)
{
    args->options[args->option_count++] =
        (struct nsc_cli_given){.id = o->id, .value = value, .name = o->name};
}

/*
 * Parse the long option at argv[0]. Returns the number of words consumed, 0 if the option is
 * unknown, or -1 after a message.
 */
static int take_long(struct nsc_cli_args *args, char **argv)
{
    const char *name = argv[0] + 2;
    size_t bytes = strcspn(name, "=");
    const struct nsc_cli_option *o = find_long(args->command->options, name, bytes);

    if (o == NULL)
        return 0;
    if (o->argument == NULL) {
        if (name[bytes] == '=') {
            nsc_cli_usage(args, "option --%s takes no value", o->name);
            return -1;
        }
        give(args, o, NULL);
        return 1;
    }
    if (name[bytes] == '=') {
        give(args, o, name + bytes + 1);
        return 1;
    }
    if (argv[1] == NULL) {
        nsc_cli_usage(args, "option --%s needs %s", o->name, o->argument);
        return -1;
    }
    give(args, o, argv[1]);
    return 2;
}

/* As take_long(), for a word of short options: -j, -jo FILE, -oFILE. */
static int take_letters(struct nsc_cli_args *args, char **argv)
{
    const char *at = argv[0] + 1;

    for (; *at != '\0'; at++) {
        const struct nsc_cli_option *o = find_letter(args->command->options, *at);

        if (o == NULL) {
            if (at == argv[0] + 1)
                return 0;
            nsc_cli_usage(args, "unknown option -%c", *at);
            return -1;
        }
        if (o->argument == NULL) {
            give(args, o, NULL);
            continue;
        }
        if (at[1] != '\0') {
            give(args, o, at + 1);
            return 1;
        }
        if (argv[1] == NULL) {
            nsc_cli_usage(args, "option -%c needs %s", o->letter, o->argument);
            return -1;
        }
        give(args, o, argv[1]);
        return 2;
    }
    return 1;
}

/* Report an unknown option. Returns NSC_CLI_USAGE. */
static int unknown(struct nsc_cli_args *args, const char *word)
{
    if (strncmp(word, "--", 2) == 0)
        return nsc_cli_usage(args, "unknown option %.*s", (int)strcspn(word, "="), word);
    return nsc_cli_usage(args, "unknown option %.2s", word);
}

static bool is_help(const struct nsc_cli_args *args, const char *word)
{
    return strcmp(word, "--help") == 0 ||
           (strcmp(word, "-h") == 0 && (args->command->flags & NSC_CLI_PASS_UNKNOWN) == 0 &&
            find_letter(args->command->options, 'h') == NULL);
}

int nsc_cli_parse(const struct nsc_cli_command *command, int argc, char **argv,
                  struct nsc_cli_args *args, bool *help)
{
    bool only_operands = false;

    *help = false;
    /* A word of n letters gives at most n options. */
    size_t most = 1;
    for (int i = 0; i < argc; i++)
        most += strlen(argv[i]);
    *args = (struct nsc_cli_args){
        .command = command,
        .options = calloc(most, sizeof *args->options),
        .operands = calloc((size_t)argc + 1, sizeof *args->operands),
    };
    if (args->options == NULL || args->operands == NULL)
        return nsc_cli_error("out of memory");
    while (*argv != NULL) {
        char *word = *argv;
        int taken = 0;

        if (only_operands || word[0] != '-' || word[1] == '\0') {
            args->operands[args->operand_count++] = word;
            only_operands |= (command->flags & NSC_CLI_STOP_AT_OPERAND) != 0;
            argv++;
            continue;
        }
        if (strcmp(word, "--") == 0 && (command->flags & NSC_CLI_PASS_UNKNOWN) == 0) {
            only_operands = true;
            argv++;
            continue;
        }
        if (is_help(args, word)) {
            *help = true;
            return 0;
        }
        taken = word[1] == '-' ? take_long(args, argv) : take_letters(args, argv);
        if (taken < 0)
            return NSC_CLI_USAGE;
        if (taken == 0) {
            if ((command->flags & NSC_CLI_PASS_UNKNOWN) == 0)
                return unknown(args, word);
            args->operands[args->operand_count++] = word;
            only_operands |= (command->flags & NSC_CLI_STOP_AT_OPERAND) != 0;
            taken = 1;
        }
        argv += taken;
    }
    return 0;
}

void nsc_cli_parse_free(struct nsc_cli_args *args)
{
    free(args->options);
    free(args->operands);
    args->options = NULL;
    args->operands = NULL;
}
