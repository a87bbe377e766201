/*
 * job.h - what a long job tells while it works: notes for the user, and its progress.
 *
 * Used by importers, exporters and the commands that run them. Must not print.
 */
#ifndef NSC_UTIL_JOB_H
#define NSC_UTIL_JOB_H

#include <stdint.h>

#define NSC_NOTES_MAX 12

/* What went not quite as asked: losses of a format, damaged input, clipped calls. */
struct nsc_notes {
    uint32_t count;   /* lines below */
    uint32_t dropped; /* further ones that found no room */
    char line[NSC_NOTES_MAX][320];
};

void nsc_job_notes_add(struct nsc_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Called now and then with work done of the total (same unit, any unit; total 0 = unknown). */
struct nsc_formats_progress {
    void (*tick)(void *context, uint64_t done, uint64_t total);
    void *context;
};

#endif
