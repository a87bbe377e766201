/*
 * command.h - what a command of the command line gets and may use. One file per command:
 * cmd_<verb>.c, with the function nsc_cmd_<verb>() and its text in docs/man/nanoscope-<verb>.md.
 *
 * cli/ is the only room that prints and exits; a command returns its exit status.
 *
 *     int nsc_cmd_report(const struct nsc_cli_args *args)
 *     {
 *         for (size_t i = 0; i < args->option_count; i++) {
 *             const char *value = args->options[i].value;
 *
 *             switch ((enum nsc_report_option)args->options[i].id) {   (cli/report_options.h)
 *             case NSC_REPORT_OPT_SORT:
 *                 ...
 *             }
 *         }
 *         if (args->operand_count != 1)
 *             return nsc_cli_usage(args, "one trace is needed");
 *         ...
 *     }
 *
 * By then, unknown options, missing arguments and --help have been dealt with. The manual source
 * gives the ids, the help text, the manual page, the completion and the
 * declaration of nsc_cmd_report(); see tools/gendoc/doc.h for its form.
 */
#ifndef NSC_CLI_COMMAND_H
#define NSC_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

enum nsc_cli_exit {
    NSC_CLI_OK = 0,
    NSC_CLI_FAILED = 1,   /* the work failed */
    NSC_CLI_USAGE = 2,    /* the command line is wrong */
    NSC_CLI_RECORD = 125, /* `record` or `run` itself failed; other values are the program's own */
    /* As shells say it. */
    NSC_CLI_NOT_EXECUTABLE = 126, /* the program to start cannot be executed */
    NSC_CLI_NOT_FOUND = 127,      /* there is no such program */
};

enum nsc_cli_flags {
    NSC_CLI_STOP_AT_OPERAND = 1, /* what follows the first operand belongs to it */
    NSC_CLI_PASS_UNKNOWN = 2,    /* options that are not ours are operands, in order */
};

struct nsc_cli_option {
    int id; /* from 1; 0 ends a table */
    char letter;
    const char *name;
    const char *argument; /* its name in the manual; NULL = takes none */
};

struct nsc_cli_given {
    int id;            /* enum nsc_<verb>_option */
    const char *value; /* NULL if the option takes none */
    const char *name;  /* the long one, "sort"; NULL if the option has none */
};

struct nsc_cli_command;

struct nsc_cli_args {
    const struct nsc_cli_command *command;
    struct nsc_cli_given *options; /* in the order given */
    size_t option_count;
    char **operands; /* ends with NULL, as execvp() likes it */
    size_t operand_count;
};

struct nsc_cli_command {
    const char *name;
    const char *const *help; /* lines; ends with NULL */
    const struct nsc_cli_option *options;
    unsigned flags; /* enum nsc_cli_flags */
    int (*run)(const struct nsc_cli_args *args);
};

/* Made from docs/man; the commands end with one whose name is NULL, the lines with NULL. */
extern const struct nsc_cli_command nsc_cli_commands[];
extern const char *const nsc_cli_overview[];

/* ---- Messages: one line on stderr, "nanoscope: ..."; each returns the exit status to pass on ---
 */

/* The work failed, as a parser's diagnostic says. NSC_CLI_FAILED. */
int nsc_cli_fail(const struct nsc_diag *diag);
/* The same while @input was read: messages with an offset do not name the file themselves. */
int nsc_cli_fail_in(const char *input, const struct nsc_diag *diag);
/* The work failed. NSC_CLI_FAILED. */
int nsc_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What was done. */
void nsc_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something to know; the work goes on. */
void nsc_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The command line is wrong; the message goes on to name --help. NSC_CLI_USAGE. */
int nsc_cli_usage(const struct nsc_cli_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * nsc_cli_format - find a format's own name.
 * @value: what was given; NULL when nothing was, which is wrong too.
 * @name_of: the names by number; NULL after the last.
 * @out: receives the name.
 * Returns 0, or NSC_CLI_USAGE after a message that lists them.
 */
int nsc_cli_format(const struct nsc_cli_args *args, const char *value,
                   const char *(*name_of)(unsigned index), const char **out);

#ifdef __clang_analyzer__
/* Static analysis of one file cannot know that the results are never 0. */
/* NOLINTBEGIN(readability-identifier-naming) */
#define nsc_cli_fail(diag)           (nsc_cli_fail(diag), 1)
#define nsc_cli_fail_in(input, diag) (nsc_cli_fail_in(input, diag), 1)
#define nsc_cli_error(...)           (nsc_cli_error(__VA_ARGS__), 1)
#define nsc_cli_usage(args, ...)     (nsc_cli_usage(args, __VA_ARGS__), 2)
/* NOLINTEND(readability-identifier-naming) */
#endif

/* ---- Values -----------------------------------------------------------------------------------
 */

/**
 * nsc_cli_number - an option's value as a whole number in decimal.
 * @min, @max: allowed range, inclusive.
 * @out: untouched on failure.
 * Returns 0, or NSC_CLI_USAGE after a message that says what was expected.
 */
int nsc_cli_number(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t min,
                   uint64_t max, uint64_t *out);

/* A time for an option, in ns: seconds, or a number with a unit (500ms, 2m). Returns 0 or an exit
 * status after a message. */
int nsc_cli_time(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *ns);

/**
 * nsc_cli_choice - an option's value as one of @words (NULL ends them).
 * @out: index of the word; untouched on failure.
 * Returns 0, or NSC_CLI_USAGE after a message that lists the words.
 */
int nsc_cli_choice(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                   const char *const *words, unsigned *out);

/* ---- Surroundings -----------------------------------------------------------------------------
 */

/**
 * nsc_cli_libdir - the folder of libnanoscope.so and its companions: ../lib of the running
 * program's own file, in the build tree as when installed.
 * @path: receives the folder, NUL terminated.
 * Returns 0, or -errno (-ENAMETOOLONG, or what reading /proc/self/exe gave).
 */
int nsc_cli_libdir(char *path, size_t bytes);
/* The folder that holds abi/live.h and the other public headers: ../include when installed,
 * else the source tree's. Returns 0 or -errno. */
int nsc_cli_includedir(char *path, size_t bytes);

/* Whether binary output may go to @fd: not to a terminal. */
bool nsc_cli_binary_allowed(int fd);

#endif
