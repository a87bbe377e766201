/*
 * export.h - what an exporter is: inside formats/ only. A new format is one file and one line in
 * the table of exporters.c.
 */
#ifndef NSC_FORMATS_EXPORT_EXPORT_H
#define NSC_FORMATS_EXPORT_EXPORT_H

#include "formats/export/balanced_walk.h"
#include "formats/export/export_options.h"
#include "util/os/gzip_output.h"

/* A name as a format wants it; memory belongs to the export. */
struct nsc_cooked {
    char *text; /* NULL until asked for */
    size_t bytes;
    uint32_t number; /* names count from 0 in the order in which they were first asked for */
};

struct nsc_exporter;

enum nsc_export_form {
    NSC_FORM_TEXT,
    NSC_FORM_BINARY,
    NSC_FORM_PACKED, /* binary, and by its definition compressed */
    NSC_FORM_FOLDER, /* a folder of files: neither standard output nor compressed */
};

struct nsc_export {
    struct nsc_trace *trace;
    const struct nsc_trace_info *info;
    const struct nsc_clock *clock;
    const struct nsc_exporter *exporter;
    const char *path;
    bool gzip;
    struct nsc_export_options options; /* to_ticks is never 0, max_depth neither */
    struct nsc_export_result *result;
    struct nsc_cooked *cooked; /* by function id */
    uint32_t *used;            /* by number: the functions whose names were asked for */
    uint32_t used_count;
    uint64_t events_done; /* of the threads finished, for progress */
    uint32_t last_thread; /* the thread that result->threads counted last */
};

struct nsc_exporter {
    const char *name;
    const char *const *suffixes; /* ends with NULL */
    /* Whether the first bytes (at most 4 KiB, at least one) are of a file in this format; NULL for
     * folders, which are never replaced. */
    bool (*sniff)(const uint8_t *bytes, size_t count);
    enum nsc_export_form form;
    /* @name the way the format needs it, in memory of its own; NULL when out of memory. */
    char *(*cook)(const char *name, size_t *bytes);
    int (*run)(struct nsc_export *job, struct nsc_diag *diag);
};

extern const struct nsc_exporter nsc_nanoscope_exporter;
extern const struct nsc_exporter nsc_perfetto_exporter;
extern const struct nsc_exporter nsc_chrome_exporter;
extern const struct nsc_exporter nsc_firefox_exporter;
extern const struct nsc_exporter nsc_folded_exporter;
extern const struct nsc_exporter nsc_pprof_exporter;
extern const struct nsc_exporter nsc_callgrind_exporter;
extern const struct nsc_exporter nsc_speedscope_exporter;
extern const struct nsc_exporter nsc_ctf_exporter;
extern const struct nsc_exporter nsc_uftrace_exporter;
extern const struct nsc_exporter nsc_tau_exporter;
extern const struct nsc_exporter nsc_parquet_exporter;
extern const struct nsc_exporter nsc_pdf_exporter;

/* Whether the thread is wanted and has events. */
bool nsc_export_wants(const struct nsc_export *job, uint32_t thread);

/* Whether the thread is wanted and has notes (samples, states, marks, counters). */
bool nsc_export_wants_notes(const struct nsc_export *job, uint32_t thread);

/* Whether a thread of the process is wanted. */
bool nsc_export_wants_process(const struct nsc_export *job, uint32_t process);

/**
 * nsc_export_notes - call @put for each note of one kind and owner that lies in the window.
 * An error of @put ends it and is returned as it is. Returns 0 or -errno with @diag.
 */
int nsc_export_notes(struct nsc_export *job, enum nsc_note_kind kind, uint32_t owner,
                     bool of_process, int (*put)(void *context, const struct nsc_note *note),
                     void *context, struct nsc_diag *diag);

/* Note, if there are any, the kinds of notes in the trace that @format has no place for: bits
 * 1 << enum nsc_note_kind. */
void nsc_export_note_left_out(struct nsc_export *job, const char *format, uint32_t kinds);

/* A function's name, cooked once. Returns NULL when out of memory. */
const struct nsc_cooked *nsc_export_name(struct nsc_export *job, uint32_t function);

/* nsc_walk_open() with the export's window and filter. */
int nsc_export_walk(struct nsc_export *job, uint32_t thread, bool raw_late, struct nsc_walk **out,
                    struct nsc_diag *diag);

/* nsc_walk_next(), counting what goes out and telling the progress. */
int nsc_export_next(struct nsc_export *job, uint32_t thread, struct nsc_walk *walk,
                    struct nsc_walk_event *event, struct nsc_diag *diag);

/* Close the walk of a finished thread. */
void nsc_export_walked(struct nsc_export *job, struct nsc_walk *walk);

/* Note, if there are any, the bounds and losses that @format has no mark for. */
void nsc_export_note_unmarked(struct nsc_export *job, const char *format);

/* The same for bounds alone: @format marks losses. */
void nsc_export_note_bounds(struct nsc_export *job, const char *format);

/* And for losses alone: @format marks bounds. */
void nsc_export_note_losses(struct nsc_export *job, const char *format);

/* Finish and publish the only file of a format, or on @error abandon it and return @error. */
int nsc_export_publish(struct nsc_export *job, struct nsc_output *out, int error,
                       struct nsc_diag *diag);

#endif
