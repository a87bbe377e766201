/* command.c - messages, option values and installed files; see command.h. */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/made_output.h"
#include "util/privileges/own_path.h"
#include "util/text/escape.h"
#include "util/text/units.h"

int(nsc_cli_fail)(const struct nsc_diag *diag)
{
    return nsc_cli_error("%s", diag->message);
}

int(nsc_cli_fail_in)(const char *input, const struct nsc_diag *diag)
{
    if (diag->offset == NSC_DIAG_NO_OFFSET)
        return nsc_cli_fail(diag);
    return nsc_cli_error("%s: %s (at offset %" PRIu64 ")", input, diag->message, diag->offset);
}

/* Print one line on stderr. Names in it may come from an attacker: nsc_text_put() escapes control
 * characters. */
__attribute__((format(printf, 2, 0))) static void say(const char *kind, const char *format,
                                                      va_list ap)
{
    char *line;

    if (vasprintf(&line, format, ap) < 0)
        line = NULL;
    fflush(stdout);
    fprintf(stderr, "nanoscope: %s", kind);
    nsc_text_put(stderr, line != NULL ? line : "out of memory");
    fputc('\n', stderr);
    free(line);
}

void nsc_cli_say(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say("", format, ap);
    va_end(ap);
}

int(nsc_cli_error)(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say("", format, ap);
    va_end(ap);
    return NSC_CLI_FAILED;
}

void nsc_cli_warn(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say("warning: ", format, ap);
    va_end(ap);
}

int(nsc_cli_usage)(const struct nsc_cli_args *args, const char *format, ...)
{
    char *text;
    va_list ap;

    va_start(ap, format);
    if (vasprintf(&text, format, ap) < 0)
        text = NULL;
    va_end(ap);
    fflush(stdout);
    fprintf(stderr, "nanoscope %s: ", args->command->name);
    nsc_text_put(stderr, text != NULL ? text : "out of memory");
    fprintf(stderr, " (see nanoscope %s --help)\n", args->command->name);
    free(text);
    return NSC_CLI_USAGE;
}

int nsc_cli_number(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t min,
                   uint64_t max, uint64_t *out)
{
    const char *text = given->value;
    char *end = NULL;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < min || value > max)
        return nsc_cli_usage(args,
                             "--%s is a whole number from %" PRIu64 " to %" PRIu64 ", not \"%s\"",
                             given->name, min, max, text);
    *out = value;
    return 0;
}

int nsc_cli_time(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *ns)
{
    bool bare = given->value[strspn(given->value, "0123456789.")] == 0;
    char seconds[32];
    uint64_t value;

    if (snprintf(seconds, sizeof seconds, "%s%s", given->value, bare ? "s" : "") >=
            (int)sizeof seconds ||
        nsc_units_parse_ns(seconds, &value) != 0)
        return nsc_cli_usage(args, "--%s: a time is needed (10, 500ms, 2m), not \"%s\"",
                             given->name, given->value);
    *ns = value;
    return 0;
}

int nsc_cli_choice(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                   const char *const *words, unsigned *out)
{
    char list[256] = "";

    for (unsigned i = 0; words[i] != NULL; i++) {
        size_t used = strlen(list);

        if (strcmp(given->value, words[i]) == 0) {
            *out = i;
            return 0;
        }
        snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : "", words[i]);
    }
    return nsc_cli_usage(args, "--%s is one of %s, not \"%s\"", given->name, list, given->value);
}

/* The parent of the executable's folder: PREFIX if installed, build/ in the build tree. */
static int own_prefix(char *path, size_t bytes)
{
    ssize_t n = readlink("/proc/self/exe", path, bytes);

    if (n < 0)
        return -errno;
    if ((size_t)n >= bytes)
        return -ENAMETOOLONG;
    path[n] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');

        if (slash == NULL)
            return -ENOENT;
        *slash = '\0';
    }
    return 0;
}

static int under_prefix(const char *name, char *path, size_t bytes)
{
    char prefix[4096];
    int error = own_prefix(prefix, sizeof prefix);

    if (error != 0)
        return error;
    if ((size_t)snprintf(path, bytes, "%s/%s", prefix, name) >= bytes)
        return -ENAMETOOLONG;
    return 0;
}

int nsc_cli_libdir(char *path, size_t bytes)
{
    return under_prefix("lib", path, bytes);
}

int nsc_cli_includedir(char *path, size_t bytes)
{
    return under_prefix("include", path, bytes);
}

/* Return true if the input, or the link to it, is another user's, who has chosen its name. */
static bool is_foreign(const char *input)
{
    struct stat st;

    return lstat(input, &st) == 0 && st.st_uid != geteuid() && st.st_uid != 0;
}

int nsc_cli_begin_made_output(const char *input, const char *output, enum nsc_cli_replace replace)
{
    bool replaces = replace == NSC_CLI_REPLACE_INPUT ||
                    (replace == NSC_CLI_REPLACE_OUTPUT && !is_foreign(input) &&
                     !nsc_own_path_is_shared(output)),
         exists, stays = replace != NSC_CLI_REPLACE_INPUT && strchr(output, '/') == NULL;
    struct stat st;

    if (!stays && !nsc_own_path_is_own(output))
        return nsc_cli_error("cannot write %s: another user can exchange a folder on the way to "
                             "it; name the output with -o",
                             output);
    exists = lstat(output, &st) == 0;
    if (exists && st.st_uid != geteuid())
        return nsc_cli_error("cannot write %s: it is another user's; name the output with -o",
                             output);
    if (exists && !replaces)
        return nsc_cli_error("cannot write %s: it exists; name the output with -o", output);
    nsc_made_output_begin(replaces);
    return 0;
}

bool nsc_cli_binary_allowed(int fd)
{
    return isatty(fd) == 0;
}

int nsc_cli_format(const struct nsc_cli_args *args, const char *value,
                   const char *(*name_of)(unsigned index), const char **out)
{
    char list[256] = "";
    const char *name;

    for (unsigned i = 0; (name = name_of(i)) != NULL; i++) {
        size_t used = strlen(list);

        if (value != NULL && strcmp(name, value) == 0) {
            *out = name;
            return 0;
        }
        snprintf(list + used, sizeof list - used, "%s%s",
                 i == 0                   ? ""
                 : name_of(i + 1) != NULL ? ", "
                                          : " or ",
                 name);
    }
    if (value != NULL)
        return nsc_cli_usage(args, "unknown format '%s': %s", value, list);
    return nsc_cli_usage(args, "which format? --format %s", list);
}
