/* metrics_rounds.c - see metrics_rounds.h. */
#include "record/recorder/metrics_rounds.h"

#include <stdio.h>
#include <sys/resource.h>

#include "metrics/malloc_samples.h"
#include "record/session/clock_reading.h"
#include "trace/write/writer.h"

/* Raise the limit on descriptors: each thread needs some. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void nsc_metrics_rounds_begin(struct nsc_recorder *r)
{
    const struct nsc_metrics_options options = {
        .interval_ns = r->options->sample_ns,
        .by_program = r->options->cpu_timer,
        .heap = r->heap,
    };
    struct nsc_clock_point now = nsc_clock_reading_read();

    if (r->options->sample_ns == 0)
        return;
    raise_limit();
    if (nsc_metrics_open(r->writer, &options, &now, &r->metrics) == 0)
        r->tracees.metrics = r->metrics;
}

uint64_t nsc_metrics_rounds_round(struct nsc_recorder *r)
{
    struct nsc_clock_point now;

    if (r->metrics == NULL)
        return UINT64_MAX;
    now = nsc_clock_reading_read();
    nsc_metrics_poll(r->metrics, &now);
    return nsc_metrics_pause_ns(r->metrics);
}

static void write_number(struct nsc_recorder *r, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    nsc_writer_meta(r->writer, key, text);
}

void nsc_metrics_rounds_end(struct nsc_recorder *r, struct nsc_record_result *result)
{
    static const char *const sources[] = {
        [NSC_METRICS_PERF] = "perf_event_open",
        [NSC_METRICS_PERF_USER] = "perf_event_open, user mode only",
        [NSC_METRICS_PROC] = "/proc",
    };
    const char *source;
    char text[80];

    if (r->metrics == NULL)
        return;
    nsc_metrics_summary(r->metrics, &result->metrics);
    result->measured = true;
    source = sources[result->metrics.source];
    if (result->metrics.by_program)
        snprintf(text, sizeof text, "timer_create; states by %s", source);
    nsc_writer_meta(r->writer, NSC_META_METRICS, result->metrics.by_program ? text : source);
    write_number(r, NSC_META_METRICS_INTERVAL, result->metrics.interval_ns);
    write_number(r, NSC_META_SAMPLES_DUE, result->metrics.due);
    write_number(r, NSC_META_SAMPLES_TAKEN, result->metrics.taken);
    if (!result->metrics.by_program)
        nsc_writer_meta(r->writer, "memory", r->heap != NULL ? "malloc" : "resident");
    if (r->heap != NULL)
        result->heap_uncounted = nsc_malloc_samples_uncounted(r->heap);
    nsc_metrics_close(r->metrics);
    r->metrics = r->tracees.metrics = NULL;
}
