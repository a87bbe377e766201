/*
 * export_options.h - how a trace is to be exported, and what came of it.
 *
 * Filled by the commands that export, read by the exporters.
 */
#ifndef NSC_FORMATS_EXPORT_EXPORT_OPTIONS_H
#define NSC_FORMATS_EXPORT_EXPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/model.h"
#include "util/job.h"

enum nsc_export_weight {
    NSC_WEIGHT_SELF,  /* folded: time outside of callees, in ns */
    NSC_WEIGHT_CALLS, /* folded: number of calls */
};

struct nsc_export_options {
    size_t size;                   /* sizeof(struct nsc_export_options) */
    uint64_t from_ticks, to_ticks; /* window; calls that overlap it are clipped. to 0 = no end */
    const uint8_t *threads;        /* a byte per thread id, nonzero = wanted; NULL = all */
    const uint8_t *hidden;         /* a byte per function id, nonzero = left out; NULL = none */
    bool gzip;                     /* also when the output's name ends in .gz */
    bool per_thread;               /* folded, pprof: threads are kept apart */
    enum nsc_export_weight weight; /* folded */
    uint32_t max_depth; /* formats of sums: deeper frames count for the frame here; 0 = 1024 */
    struct nsc_formats_progress progress; /* tick may be NULL */
};

struct nsc_export_result {
    const char *format;              /* static */
    uint64_t calls;                  /* calls written */
    uint64_t bounds;                 /* of these, calls whose start or end is a bound */
    uint64_t clipped;                /* of these, calls cut at the window */
    uint64_t lost;                   /* events that the recording lost in the window, where known */
    uint64_t others[NSC_NOTE_KINDS]; /* samples, states, marks, counter values written */
    uint64_t bytes;                  /* written, all files together, after compression */
    uint32_t threads;                /* with at least one call; their further stacks do not count */
    uint32_t files;
    struct nsc_notes notes;
};

#endif
