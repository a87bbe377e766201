/*
 * command.h - the interface of a command: its parsed arguments, messages and option values.
 *
 * cmd_<verb>.c contains nsc_cmd_<verb>(); docs/man/nanoscope-<verb>.md is its manual source.
 * Only code in cli/ prints and exits; a command returns its exit status.
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
 * The option parser handles --help and rejects unknown options and missing arguments beforehand.
 * tools/gendoc generates the option ids, the help text, the manual page, the completion and the
 * declaration of nsc_cmd_report() from the manual source; tools/gendoc/doc.h describes its format.
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
    NSC_CLI_RECORD = 125, /* `record` or `run` itself failed; else the program's own status */
    /* The same values as in shells. */
    NSC_CLI_NOT_EXECUTABLE = 126, /* the program to start cannot be executed */
    NSC_CLI_NOT_FOUND = 127,      /* there is no such program */
};

enum nsc_cli_flags {
    NSC_CLI_STOP_AT_OPERAND = 1, /* all words after the first operand are operands too */
    NSC_CLI_PASS_UNKNOWN = 2,    /* unknown options become operands, in their order */
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
    const char *name;  /* long name, e.g. "sort"; NULL if the option has none */
};

struct nsc_cli_command;

struct nsc_cli_args {
    const struct nsc_cli_command *command;
    struct nsc_cli_given *options; /* in the order given */
    size_t option_count;
    char **operands; /* ends with NULL, as execvp() requires */
    size_t operand_count;
};

struct nsc_cli_command {
    const char *name;
    const char *const *help; /* lines; ends with NULL */
    const struct nsc_cli_option *options;
    unsigned flags; /* enum nsc_cli_flags */
    int (*run)(const struct nsc_cli_args *args);
};

/* Generated from docs/man. The commands end with an entry without a name, the lines with NULL. */
extern const struct nsc_cli_command nsc_cli_commands[];
extern const char *const nsc_cli_overview[];

/* ---- Messages: one line on stderr, "nanoscope: ..."; an int result is the exit status ----------
 */

/* Print the message of @diag as an error. Returns NSC_CLI_FAILED. */
int nsc_cli_fail(const struct nsc_diag *diag);
/* As nsc_cli_fail(), for an error while reading @input. Adds @input and the offset to a message
 * with an offset, as such a message does not name the file. */
int nsc_cli_fail_in(const char *input, const struct nsc_diag *diag);
/* Print an error. Returns NSC_CLI_FAILED. */
int nsc_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print what the command did. */
void nsc_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a warning; the command continues. */
void nsc_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print what is wrong with the command line, and refer to --help. Returns NSC_CLI_USAGE. */
int nsc_cli_usage(const struct nsc_cli_args *args, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * nsc_cli_format - look up a format by name.
 * @value: the name that the user gave; NULL: none, which is an error too.
 * @name_of: returns the name with an index from 0; NULL after the last.
 * @out: receives the name as @name_of returns it; untouched on failure.
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
 * nsc_cli_number - parse an option's value as a whole decimal number.
 * @min, @max: allowed range, inclusive.
 * @out: untouched on failure.
 * Returns 0, or NSC_CLI_USAGE after a message that says what was expected.
 */
int nsc_cli_number(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t min,
                   uint64_t max, uint64_t *out);

/* Parse an option's value as a time: seconds, or a number with a unit (500ms, 2m). @ns: receives
 * nanoseconds. Returns 0 or an exit status after a message. */
int nsc_cli_time(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *ns);

/**
 * nsc_cli_choice - look up an option's value in @words, which end with NULL.
 * @out: index of the word; untouched on failure.
 * Returns 0, or NSC_CLI_USAGE after a message that lists the words.
 */
int nsc_cli_choice(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                   const char *const *words, unsigned *out);

/* ---- Installed files and output ---------------------------------------------------------------
 */

/**
 * nsc_cli_libdir - get the folder of libnanoscope.so and the other runtime files.
 * @path: receives the folder, NUL terminated.
 * @bytes: size of @path.
 *
 * It is ../lib from the folder of the running executable, both installed and in the build tree.
 * Returns 0, or -errno (-ENAMETOOLONG, -ENOENT, or that of reading /proc/self/exe).
 */
int nsc_cli_libdir(char *path, size_t bytes);
/* Get the folder of nanoscope/nanoscope.h and the other public headers: ../include from the folder
 * of the running executable. Arguments and result as for nsc_cli_libdir(). */
int nsc_cli_includedir(char *path, size_t bytes);

/* What an output with a made name may replace, if it is this user's. */
enum nsc_cli_replace {
    NSC_CLI_REPLACE_NOTHING,
    NSC_CLI_REPLACE_OUTPUT, /* an earlier output, unless other users can create files beside it, or
                             * the input's name, of which its own is made, is another user's */
    NSC_CLI_REPLACE_INPUT,  /* the output is the input itself */
};

/**
 * nsc_cli_begin_made_output - check an output's name that the user did not give.
 * @input: of whose name it is made; NULL if @replace is NSC_CLI_REPLACE_NOTHING.
 *
 * Another user who can exchange a folder on the way would choose what is written where, and a file
 * there may be another user's. A new file in the current folder stays there. Outputs get no more
 * rights than the input from now on: call nsc_input_rights_allow() when it is open. Returns 0 or an
 * exit status after a message.
 */
int nsc_cli_begin_made_output(const char *input, const char *output, enum nsc_cli_replace replace);

/* Whether binary output may go to @fd, i.e. @fd is not a terminal. */
bool nsc_cli_binary_allowed(int fd);

#endif
