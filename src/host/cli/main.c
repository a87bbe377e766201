/*
 * main.c - nanoscope's command line: finds the command, parses its options, runs it.
 *
 * tools/gendoc generates the table of commands from docs/man.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"

/* Where programs are found if a set-user-ID program has started nanoscope. Other variables that
 * name files or programs are read by secure_getenv(). */
#define SAFE_PATH "/usr/local/bin:/usr/bin:/bin"

static void print_lines(const char *const *lines)
{
    for (; *lines != NULL; lines++)
        puts(*lines);
}

/* Report a failed write to stdout, e.g. on a full disk. EPIPE is no error: the reader needs no more
 * output. Returns the exit status. */
static int close_stdout(int status)
{
    int broken = ferror(stdout);
    int error = 0;

    if (fflush(stdout) != 0)
        error = errno;
    if (error == EPIPE || (broken == 0 && error == 0))
        return status;
    nsc_cli_error("cannot write standard output: %s", error != 0 ? strerror(error) : "write error");
    return status != 0 ? status : NSC_CLI_FAILED;
}

static int run(const struct nsc_cli_command *command, int argc, char **argv)
{
    struct nsc_cli_args args;
    bool help;
    int status = nsc_cli_parse(command, argc, argv, &args, &help);

    if (status == 0 && help)
        print_lines(command->help);
    else if (status == 0)
        status = command->run(&args);
    nsc_cli_parse_free(&args);
    return status;
}

static const struct nsc_cli_command *find(const char *name)
{
    for (const struct nsc_cli_command *c = nsc_cli_commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown(const char *word)
{
    fprintf(stderr, "nanoscope: unknown %s %s (see nanoscope --help)\n",
            word[0] == '-' ? "option" : "command", word);
    return NSC_CLI_USAGE;
}

/* nanoscope help [COMMAND] */
static int help(int argc, char **argv)
{
    const struct nsc_cli_command *command = argc > 0 ? find(argv[0]) : NULL;

    if (argc > 0 && command == NULL)
        return unknown(argv[0]);
    print_lines(command != NULL ? command->help : nsc_cli_overview);
    return NSC_CLI_OK;
}

static void on_file_too_large(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    /* A write beyond RLIMIT_FSIZE raises SIGXFSZ besides the error that we report. The signal is
     * caught, not ignored, so that exec resets it to the default in programs that we start. */
    const struct sigaction file_too_large = {.sa_handler = on_file_too_large};
    const struct nsc_cli_command *command;

    sigaction(SIGXFSZ, &file_too_large, NULL);
    /* Not if only its file has capabilities: recorded programs get this PATH, but not those. */
    if ((getuid() != geteuid() || getgid() != getegid()) && setenv("PATH", SAFE_PATH, 1) != 0)
        return nsc_cli_error("out of memory");
    if (argc < 2) {
        fputs("nanoscope: a command is needed (see nanoscope --help)\n", stderr);
        return NSC_CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("nanoscope " NSC_VERSION);
        return close_stdout(NSC_CLI_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_lines(nsc_cli_overview);
        return close_stdout(NSC_CLI_OK);
    }
    if (strcmp(argv[1], "help") == 0)
        return close_stdout(help(argc - 2, argv + 2));
    command = find(argv[1]);
    if (command == NULL)
        return unknown(argv[1]);
    return close_stdout(run(command, argc - 2, argv + 2));
}
