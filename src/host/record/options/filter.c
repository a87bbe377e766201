/* filter.c - see filter.h. */
#include "record/options/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/units.h"

enum { OPTION_MAX = 32 }; /* bytes of an option's name, with its NUL */

/* ---- Options --------------------------------------------------------------------------------- */

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static int compile(const char *option, const char *pattern, struct nsc_pattern **out,
                   struct nsc_diag *diag)
{
    struct nsc_diag fault;
    int error = nsc_pattern_compile(pattern, out, &fault);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "--%s: %s", option, fault.message);
    return 0;
}

static int add_pattern(struct nsc_pattern ***list, const char *option, const char *pattern,
                       struct nsc_diag *diag)
{
    struct nsc_pattern **longer, *match;
    size_t count = 0;
    int error = compile(option, pattern, &match, diag);

    if (error != 0)
        return error;
    while (*list != NULL && (*list)[count] != NULL)
        count++;
    longer = realloc(*list, (count + 2) * sizeof(struct nsc_pattern *));
    if (longer == NULL) {
        nsc_pattern_free(match);
        return no_memory(diag);
    }
    longer[count] = match;
    longer[count + 1] = NULL;
    *list = longer;
    return 0;
}

/* Parses a number from 1 to UINT32_MAX; nothing may follow it. */
static bool read_number(const char *text, uint32_t *out)
{
    char *end;
    unsigned long long value;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != 0 || value < 1 || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* Parses "F" or "F@nth". An @ without a number after it belongs to the name. */
static int set_trigger(struct nsc_filter *filter, const char *value, struct nsc_diag *diag)
{
    const char *at = strrchr(value, '@');
    uint32_t nth = 0;
    char *pattern;
    int error;

    if (filter->trigger != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "--trigger can be given once; a pattern may fit several functions");
    if (at != NULL && strspn(at + 1, "0123456789") == strlen(at + 1) && !read_number(at + 1, &nth))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "--trigger: a number of a call, from 1, is needed behind the @ of "
                            "\"%s\"",
                            value);
    pattern = nth != 0 ? strndup(value, (size_t)(at - value)) : strdup(value);
    if (pattern == NULL)
        return no_memory(diag);
    error = compile("trigger", pattern, &filter->trigger, diag);
    free(pattern);
    if (error == 0)
        filter->trigger_nth = nth;
    return error;
}

static int set_depth(struct nsc_filter *filter, const char *value, struct nsc_diag *diag)
{
    if (read_number(value, &filter->depth))
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                        "--depth: a whole number from 1 is needed, not \"%s\"", value);
}

static int set_min_duration(struct nsc_filter *filter, const char *value, struct nsc_diag *diag)
{
    if (nsc_units_parse_ns(value, &filter->min_duration_ns) == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                        "--min-duration: a time such as 10us or 1.5ms is needed, not \"%s\"",
                        value);
}

/* The list to which an option adds a pattern, or NULL. */
static struct nsc_pattern ***list_of(struct nsc_filter *filter, const char *option)
{
    const struct {
        const char *option;
        struct nsc_pattern ***list;
    } lists[] = {
        {"only", &filter->names.include},     {"except", &filter->names.exclude},
        {"file", &filter->files.include},     {"no-file", &filter->files.exclude},
        {"module", &filter->modules.include}, {"no-module", &filter->modules.exclude},
        {"stopper", &filter->stoppers},       {"under", &filter->under},
        {"thread", &filter->threads},
    };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(option, lists[i].option) == 0)
            return lists[i].list;
    return NULL;
}

int nsc_filter_add(struct nsc_filter *filter, const char *option, const char *value,
                   struct nsc_diag *diag)
{
    struct nsc_pattern ***list = list_of(filter, option);

    if (list != NULL)
        return add_pattern(list, option, value, diag);
    if (strcmp(option, "trigger") == 0)
        return set_trigger(filter, value, diag);
    if (strcmp(option, "depth") == 0)
        return set_depth(filter, value, diag);
    if (strcmp(option, "min-duration") == 0)
        return set_min_duration(filter, value, diag);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "a filter has no option --%s", option);
}

int nsc_filter_check(const struct nsc_filter *filter, struct nsc_diag *diag)
{
    if (filter->stoppers != NULL && filter->trigger == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "--stopper ends what a --trigger begins: one is needed");
    return 0;
}

static void free_patterns(struct nsc_pattern **list)
{
    size_t i;

    for (i = 0; list != NULL && list[i] != NULL; i++)
        nsc_pattern_free(list[i]);
    free(list);
}

void nsc_filter_free(struct nsc_filter *filter)
{
    free_patterns(filter->names.include);
    free_patterns(filter->names.exclude);
    free_patterns(filter->files.include);
    free_patterns(filter->files.exclude);
    free_patterns(filter->modules.include);
    free_patterns(filter->modules.exclude);
    free_patterns(filter->stoppers);
    free_patterns(filter->under);
    free_patterns(filter->threads);
    nsc_pattern_free(filter->trigger);
    *filter = (struct nsc_filter){0};
}

/* ---- Text ------------------------------------------------------------------------------------ */

int nsc_filter_read(const char *text, size_t bytes, struct nsc_filter *filter,
                    struct nsc_diag *diag)
{
    const char *at = text, *end = text + bytes;
    struct nsc_filter read = {0};
    char option[OPTION_MAX];
    int error = 0;

    while (at < end && error == 0) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        const char *equals = stop != NULL ? memchr(at, '=', (size_t)(stop - at)) : NULL;

        if (equals == NULL || equals - at >= OPTION_MAX) {
            error = nsc_diag_set(diag, (uint64_t)(at - text), EINVAL,
                                 "name=value and a NUL was expected in a filter");
            break;
        }
        memcpy(option, at, (size_t)(equals - at));
        option[equals - at] = 0;
        error = nsc_filter_add(&read, option, equals + 1, diag);
        at = stop + 1;
    }
    if (error == 0)
        error = nsc_filter_check(&read, diag);
    if (error != 0)
        nsc_filter_free(&read);
    else
        *filter = read;
    return error;
}

/* Writes an option and its value, quoted if a shell requires it. */
static void put_option(FILE *out, const char *option, const char *value)
{
    bool quote = value[0] == 0 || strpbrk(value, " \t\n\"'\\$&;|<>()*?[]#~`!{}") != NULL;

    fprintf(out, "%s%s ", ftell(out) > 0 ? " " : "", option);
    if (quote)
        fputc('\'', out);
    for (; *value != 0; value++) {
        if (*value == '\'')
            fputs("'\\'", out);
        fputc(*value, out);
    }
    if (quote)
        fputc('\'', out);
}

static void put_list(FILE *out, const char *option, struct nsc_pattern *const *list)
{
    for (; list != NULL && *list != NULL; list++)
        put_option(out, option, nsc_pattern_text(*list));
}

/* Writes the duration in the largest unit without a fraction. */
static void put_min_duration(FILE *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    char text[32];
    size_t unit = 0;

    for (; unit < 3 && ns % 1000 == 0; unit++)
        ns /= 1000;
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)ns, units[unit]);
    put_option(out, "--min-duration", text);
}

static void put_depth(FILE *out, uint32_t depth)
{
    char text[16];

    snprintf(text, sizeof text, "%u", depth);
    put_option(out, "--depth", text);
}

static void put_trigger(FILE *out, const struct nsc_filter *filter)
{
    const char *pattern = nsc_pattern_text(filter->trigger);
    char *value;

    if (filter->trigger_nth == 0) {
        put_option(out, "--trigger", pattern);
    } else if (asprintf(&value, "%s@%u", pattern, filter->trigger_nth) >= 0) {
        put_option(out, "--trigger", value);
        free(value);
    }
}

char *nsc_filter_text(const struct nsc_filter *filter)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        return NULL;
    put_list(out, "-F", filter->names.include);
    put_list(out, "-N", filter->names.exclude);
    put_list(out, "--file", filter->files.include);
    put_list(out, "--no-file", filter->files.exclude);
    put_list(out, "--module", filter->modules.include);
    put_list(out, "--no-module", filter->modules.exclude);
    if (filter->trigger != NULL)
        put_trigger(out, filter);
    put_list(out, "--stopper", filter->stoppers);
    put_list(out, "--under", filter->under);
    put_list(out, "--thread", filter->threads);
    if (filter->depth != 0)
        put_depth(out, filter->depth);
    if (filter->min_duration_ns != 0)
        put_min_duration(out, filter->min_duration_ns);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

typedef bool fits_function(const struct nsc_pattern *pattern, const char *text);

static bool any_fits(struct nsc_pattern *const *patterns, const char *text, fits_function *fits)
{
    if (patterns == NULL || text == NULL)
        return false;
    for (; *patterns != NULL; patterns++)
        if (fits(*patterns, text))
            return true;
    return false;
}

static bool passes(const struct nsc_filter_test *test, const char *text, fits_function *fits)
{
    if (test->include != NULL && !any_fits(test->include, text, fits))
        return false;
    return !any_fits(test->exclude, text, fits);
}

bool nsc_filter_keeps_name(const struct nsc_filter *filter, const char *name)
{
    return passes(&filter->names, name, nsc_pattern_test);
}

bool nsc_filter_keeps_file(const struct nsc_filter *filter, const char *path)
{
    return passes(&filter->files, path, nsc_pattern_test_path);
}

bool nsc_filter_keeps_module(const struct nsc_filter *filter, const char *path)
{
    return passes(&filter->modules, path, nsc_pattern_test_path);
}

bool nsc_filter_keeps_thread(const struct nsc_filter *filter, const char *name, uint32_t tid)
{
    struct nsc_pattern *const *pattern = filter->threads;
    uint32_t number;

    for (; pattern != NULL && *pattern != NULL; pattern++)
        if (read_number(nsc_pattern_text(*pattern), &number)
                ? number == tid
                : nsc_pattern_test_text(*pattern, name))
            return true;
    return filter->threads == NULL;
}

uint8_t nsc_filter_roles(const struct nsc_filter *filter, const char *name)
{
    unsigned roles = 0;

    if (name == NULL)
        return 0;
    if (filter->trigger != NULL && nsc_pattern_test(filter->trigger, name))
        roles |= NSC_FILTER_TRIGGER;
    if (any_fits(filter->stoppers, name, nsc_pattern_test))
        roles |= NSC_FILTER_STOPPER;
    if (any_fits(filter->under, name, nsc_pattern_test))
        roles |= NSC_FILTER_CALLER;
    return (uint8_t)roles;
}
