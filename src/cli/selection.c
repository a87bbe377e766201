/*
 * selection.c - what the commands that read a trace have in common; see selection.h.
 */
#include "cli/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "util/units.h"

int nsc_cli_open_trace(const struct nsc_cli_args *args, size_t operand, struct nsc_trace **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (operand >= args->operand_count)
        return nsc_cli_usage(args, "a trace is needed");
    if (nsc_formats_open(args->operands[operand], 0, out, &diag) < 0)
        return nsc_cli_fail_in(args->operands[operand], &diag);
    if (diag.message[0])
        nsc_cli_warn("%s", diag.message);
    return 0;
}

int nsc_cli_count(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                  uint64_t *count)
{
    if (nsc_units_parse_count(given->value, count) == 0)
        return 0;
    return nsc_cli_usage(args, "--%s wants a number such as 20 or 10k, not '%s'", given->name,
                         given->value);
}

static int parse_time(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                      uint64_t *ns)
{
    if (nsc_units_parse_ns(given->value, ns) == 0)
        return 0;
    return nsc_cli_usage(args,
                         "--%s wants a time since the trace's start such as 250ms or 1.5s, "
                         "not '%s'",
                         given->name, given->value);
}

static int select_window(const struct nsc_cli_args *args, const struct nsc_cli_selection_ids *ids,
                         const struct nsc_trace *t, struct nsc_selection *selection)
{
    uint64_t from_ns = 0, to_ns = UINT64_MAX;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++) {
        const struct nsc_cli_given *given = &args->options[i];

        if (given->id == ids->from)
            status = parse_time(args, given, &from_ns);
        else if (given->id == ids->to)
            status = parse_time(args, given, &to_ns);
    }
    if (status)
        return status;
    if (from_ns >= to_ns)
        return nsc_cli_usage(args, "--from must be before --to");
    nsc_selection_window(selection, t, from_ns, to_ns);
    return 0;
}

static int select_threads(const struct nsc_cli_args *args, const struct nsc_cli_selection_ids *ids,
                          const struct nsc_trace *t, struct nsc_selection *selection)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const struct nsc_cli_given *given = &args->options[i];
        bool process = ids->process && given->id == ids->process;
        int found;

        if (!process && (!ids->thread || given->id != ids->thread))
            continue;
        found = process ? nsc_selection_process(selection, t, given->value)
                        : nsc_selection_thread(selection, t, given->value);
        if (found < 0)
            return nsc_cli_error("out of memory");
        if (found == 0)
            return nsc_cli_error("no %s '%s' in %s (see nanoscope info --threads)",
                                 process ? "process" : "thread", given->value, nsc_trace_name(t));
    }
    return 0;
}

static int compile(const char *pattern, struct nsc_match **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (nsc_match_compile(pattern, out, &diag) == 0)
        return 0;
    nsc_cli_fail(&diag);
    return NSC_CLI_USAGE;
}

/* Patterns of -F and -N, compiled; both arrays have room for all options. */
struct patterns {
    struct nsc_match **only, **except;
    size_t only_count, except_count;
};

static int compile_patterns(const struct nsc_cli_args *args,
                            const struct nsc_cli_selection_ids *ids, struct patterns *p)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const struct nsc_cli_given *given = &args->options[i];
        int status = 0;

        if (ids->only && given->id == ids->only)
            status = compile(given->value, &p->only[p->only_count++]);
        else if (ids->except && given->id == ids->except)
            status = compile(given->value, &p->except[p->except_count++]);
        if (status)
            return status;
    }
    return 0;
}

static void free_patterns(struct patterns *p)
{
    for (size_t i = 0; p->only && i < p->only_count; i++)
        nsc_match_free(p->only[i]);
    for (size_t i = 0; p->except && i < p->except_count; i++)
        nsc_match_free(p->except[i]);
    free(p->only);
    free(p->except);
}

static bool hides_all(const struct nsc_selection *selection, const struct nsc_trace *t)
{
    uint32_t count = nsc_trace_info(t)->function_count;

    return count > 0 && selection->hidden && !memchr(selection->hidden, 0, count);
}

static int select_functions(const struct nsc_cli_args *args,
                            const struct nsc_cli_selection_ids *ids, const struct nsc_trace *t,
                            struct nsc_selection *selection)
{
    struct patterns p = {
        .only = calloc(args->option_count + 1, sizeof(*p.only)),
        .except = calloc(args->option_count + 1, sizeof(*p.except)),
    };
    int status;

    if (!p.only || !p.except)
        status = nsc_cli_error("out of memory");
    else
        status = compile_patterns(args, ids, &p);
    if (status == 0 &&
        nsc_selection_filter(selection, t, p.only, p.only_count, p.except, p.except_count) < 0)
        status = nsc_cli_error("out of memory");
    if (status == 0 && hides_all(selection, t))
        status = nsc_cli_error("-F and -N leave no function of %s", nsc_trace_name(t));
    free_patterns(&p);
    return status;
}

int nsc_cli_select(const struct nsc_cli_args *args, const struct nsc_cli_selection_ids *ids,
                   const struct nsc_trace *t, struct nsc_selection *selection)
{
    int status;

    nsc_selection_init(selection);
    status = select_window(args, ids, t, selection);
    if (status == 0)
        status = select_threads(args, ids, t, selection);
    if (status == 0)
        status = select_functions(args, ids, t, selection);
    return status;
}

int nsc_cli_functions(const struct nsc_trace *t, const char *pattern, uint8_t **functions)
{
    struct nsc_match *match = NULL;
    uint8_t *fits;
    size_t found;
    int status = compile(pattern, &match);

    if (status)
        return status;
    fits = nsc_select_functions(t, match, &found);
    nsc_match_free(match);
    if (!fits)
        return nsc_cli_error("out of memory");
    if (found == 0) {
        free(fits);
        return nsc_cli_error("no function fits '%s' in %s", pattern, nsc_trace_name(t));
    }
    *functions = fits;
    return 0;
}

void nsc_cli_footnotes(FILE *out, const char *prefix, uint64_t bounds, uint64_t lost)
{
    char count[NSC_UNITS_MAX];

    if (bounds == 1)
        fprintf(out, "%s1 call has no seen start or end: its duration is an estimate\n", prefix);
    else if (bounds > 0)
        fprintf(out, "%s%s calls have no seen start or end: their durations are estimates\n",
                prefix, nsc_units_format_count(count, bounds));
    if (lost > 0)
        fprintf(out, "%s%s %s lost: calls are missing here\n", prefix,
                nsc_units_format_count(count, lost), lost == 1 ? "event was" : "events were");
}

const char *nsc_cli_thread_label(const struct nsc_trace *t, uint32_t thread, char *text,
                                 size_t bytes)
{
    const struct nsc_thread *info = nsc_trace_thread(t, thread);

    if (info->stack > 0)
        snprintf(text, bytes, "%u/%u%s%s", info->tid, info->stack, info->name[0] ? " " : "",
                 info->name);
    else
        snprintf(text, bytes, "%u%s%s", info->tid, info->name[0] ? " " : "", info->name);
    return text;
}

const char *nsc_cli_process_label(const struct nsc_trace *t, uint32_t process, char *text,
                                  size_t bytes)
{
    const struct nsc_process *info = nsc_trace_process(t, process);
    const char *base = strrchr(info->name, '/');

    snprintf(text, bytes, "%s (%u)", base && base[1] ? base + 1 : info->name, info->pid);
    return text;
}

int nsc_cli_table_status(int table_error)
{
    return table_error == -ENOMEM ? nsc_cli_error("out of memory") : NSC_CLI_OK;
}
