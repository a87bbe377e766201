/*
 * selection.c - the part of a trace to analyse; see selection.h.
 *
 * Called by cli/. Must not read events.
 */
#include "analyze/calls/selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void nsc_selection_init(struct nsc_selection *s)
{
    *s = (struct nsc_selection){.to_ticks = UINT64_MAX};
}

/* Parse a decimal number of ticks into 1/256 ticks; 0 if it is invalid. */
static uint32_t read_cost(const char *text)
{
    double ticks = text ? strtod(text, NULL) : 0;

    return ticks > 0 && ticks < 1 << 20 ? (uint32_t)(ticks * 256) : 0;
}

int nsc_selection_compensate(struct nsc_selection *s, const struct nsc_trace *t)
{
    uint32_t call = read_cost(nsc_trace_meta(t, NSC_META_HOOK_TICKS));
    uint32_t inner = read_cost(nsc_trace_meta(t, NSC_META_HOOK_INNER_TICKS));

    if (nsc_trace_info(t)->exits_bound)
        return -EOPNOTSUPP;
    if (call == 0 || inner == 0 || inner > call)
        return -ENOENT;
    s->cost = (struct nsc_hook_cost){.inner = inner, .outer = call - inner};
    return 0;
}

void nsc_selection_free(struct nsc_selection *s)
{
    free(s->threads);
    free(s->hidden);
    nsc_selection_init(s);
}

void nsc_selection_window(struct nsc_selection *s, const struct nsc_trace *t, uint64_t from_ns,
                          uint64_t to_ns)
{
    const struct nsc_clock *clock = nsc_trace_clock(t);

    /* Keep 0: events before the origin (first events of other threads) belong to the beginning. */
    s->from_ticks = from_ns > 0 ? nsc_clock_ticks(clock, from_ns) : 0;
    s->to_ticks = to_ns != UINT64_MAX ? nsc_clock_ticks(clock, to_ns) : UINT64_MAX;
}

/* Parse a decimal number; false if it is not one. */
static bool is_number(const char *text, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int want_threads(struct nsc_selection *s, const struct nsc_trace *t)
{
    if (!s->threads)
        s->threads = calloc(nsc_trace_info(t)->thread_count + 1u, 1);
    return s->threads ? 0 : -ENOMEM;
}

int nsc_selection_thread(struct nsc_selection *s, const struct nsc_trace *t, const char *which)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    uint64_t number = 0;
    bool by_index = which[0] == '#' && is_number(which + 1, &number);
    bool by_tid = !by_index && is_number(which, &number);
    int found = 0;

    if (want_threads(s, t) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_thread *thread = nsc_trace_thread(t, i);
        bool fits = by_index ? i == number
                    : by_tid ? thread->tid == number
                             : fnmatch(which, thread->name, 0) == 0;

        if (fits) {
            s->threads[i] = 1;
            found++;
        }
    }
    return found;
}

/* A process is named by the path of its program; users often give only the last component. */
static bool process_fits(const char *which, const char *name)
{
    const char *slash = strrchr(name, '/');

    return fnmatch(which, name, 0) == 0 || (slash && fnmatch(which, slash + 1, 0) == 0);
}

int nsc_selection_process(struct nsc_selection *s, const struct nsc_trace *t, const char *which)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    uint64_t number = 0;
    bool by_pid = is_number(which, &number);
    int found = 0;

    if (want_threads(s, t) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_process *process = nsc_trace_process(t, nsc_trace_thread(t, i)->process);

        if (by_pid ? process->pid == number : process_fits(which, process->name)) {
            s->threads[i] = 1;
            found++;
        }
    }
    return found;
}

static bool fits_any(struct nsc_pattern *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (nsc_pattern_test(patterns[i], name))
            return true;
    return false;
}

int nsc_selection_filter(struct nsc_selection *s, const struct nsc_trace *t,
                         struct nsc_pattern *const *only, size_t only_count,
                         struct nsc_pattern *const *except, size_t except_count)
{
    uint32_t count = nsc_trace_info(t)->function_count;

    if (only_count == 0 && except_count == 0)
        return 0;
    if (!s->hidden)
        s->hidden = calloc(count + 1u, 1);
    if (!s->hidden)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = nsc_trace_function(t, i)->name;

        if ((only_count > 0 && !fits_any(only, only_count, name)) ||
            fits_any(except, except_count, name))
            s->hidden[i] = 1;
    }
    return 0;
}

uint8_t *nsc_selection_functions(const struct nsc_trace *t, const struct nsc_pattern *pattern,
                                 size_t *found)
{
    uint32_t count = nsc_trace_info(t)->function_count;
    uint8_t *fits = calloc(count + 1u, 1);

    *found = 0;
    for (uint32_t i = 0; fits && i < count; i++) {
        fits[i] = nsc_pattern_test(pattern, nsc_trace_function(t, i)->name);
        *found += fits[i];
    }
    return fits;
}
