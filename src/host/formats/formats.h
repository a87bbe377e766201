/*
 * formats.h - foreign trace formats: read any of them as a trace, write a trace as any of them.
 *
 * Called by every command that takes a trace (nsc_formats_open) and by `import` and `export`. What
 * each format can and cannot hold is in docs/formats.md. Must not print: what a user should know
 * comes back as notes, one line each.
 */
#ifndef NSC_FORMATS_FORMATS_H
#define NSC_FORMATS_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/export_options.h"
#include "trace/read/reader.h"
#include "util/diag.h"
#include "util/job.h"

/**
 * nsc_formats_open - open a trace of any readable format.
 * @path: a .nst file, a file of an importable format (gzip or plain), or "-" for standard input
 *        (importable formats only: a .nst file is read by position).
 * @flags: enum nsc_trace_open_flags, for .nst files.
 * @out: receives the trace; nsc_trace_close() also frees what an import needed.
 * @diag: on failure the error; on success a warning to show, or an empty message.
 *
 * An import goes into a temporary file in $TMPDIR (or /tmp) that has no name any more when this
 * returns. Returns 0 or -errno: those of nsc_trace_open(), -EPROTO when no format fits (the message
 * says what the file looks like and what is accepted), -EBADMSG (damaged from the first line on).
 */
int nsc_formats_open(const char *path, unsigned flags, struct nsc_trace **out,
                     struct nsc_diag *diag);

/**
 * nsc_formats_file - a trace of any readable format as a .nst file, for whoever opens it several
 * times.
 * @path: as for nsc_formats_open().
 * @progress: of an import; may be NULL.
 * @out: receives a descriptor: of the file itself, or of a temporary file that has no name any
 * more.
 * @diag: on failure the error; on success a remark to show, or an empty message.
 * Returns 0 or -errno, as nsc_formats_open(); a .nst file is not looked into.
 */
int nsc_formats_file(const char *path, const struct nsc_formats_progress *progress, int *out,
                     struct nsc_diag *diag);

struct nsc_import_options {
    size_t size;         /* sizeof(struct nsc_import_options) */
    const char *name;    /* of processes that the input has no name for; NULL = the file's name */
    const char *format;  /* read it as that, whatever it looks like; NULL = find out */
    const char *methods; /* of recordings of apps: the table of methods, or an APK that holds it */
    bool overwrite;      /* replace an existing trace */
    bool compress;       /* zstd blocks */
    struct nsc_formats_progress progress; /* tick may be NULL */
};

struct nsc_import_result {
    const char *format; /* static: "nanoscope" */
    uint64_t calls;
    uint64_t bytes; /* of the trace written */
    uint32_t threads;
    struct nsc_notes notes;
};

/**
 * nsc_formats_import - turn a file of another format into a .nst file.
 * @path: the input, or "-".
 * @out_path: the .nst file to make; see nsc_writer_create() for what is refused.
 * @options: may be NULL.
 * @result: filled on success.
 * Returns 0 or -errno with @diag filled; -EINVAL when @path already is a .nst file.
 */
int nsc_formats_import(const char *path, const char *out_path,
                       const struct nsc_import_options *options, struct nsc_import_result *result,
                       struct nsc_diag *diag);

/* Importers by number; NULL after the last. */
const char *nsc_formats_import_name(unsigned index);

/* Exporters by number; NULL after the last. */
const char *nsc_formats_export_name(unsigned index);

/**
 * nsc_formats_guess - the export format that a file name asks for.
 * @path: a file name; a trailing ".gz" is looked through.
 * Returns a static name, or NULL when the suffix says nothing.
 */
const char *nsc_formats_guess(const char *path);

/* Whether the file at @path, plain or gzip, begins as one of that export format does, or is empty.
 * Reads 4 KiB of it. */
bool nsc_formats_is_of(const char *path, const char *format);
/* Whether a format is nothing for a terminal. */
bool nsc_formats_export_is_binary(const char *format);

/* The suffix that a format's files have, ".txt"; NULL for an unknown format. */
const char *nsc_formats_export_suffix(const char *format);

/* Whether a format can be written to @path, "-" for standard output, and compressed if @gzip or by
 * its name: a folder of files can be neither. Returns 0 or -EINVAL with @diag. */
int nsc_formats_export_check(const char *format, const char *path, bool gzip,
                             struct nsc_diag *diag);

/**
 * nsc_formats_output_name - what to call a file made of another when nobody says.
 * Returns the last part of @path with @suffix for its own (".nst" and importable suffixes, ".gz"
 * too), for free(); NULL when out of memory. "out.txt.gz" and ".nst" give "out.nst".
 */
char *nsc_formats_output_name(const char *path, const char *suffix);

/**
 * nsc_formats_export - write a trace in another format.
 * @t: the trace.
 * @format: name, as nsc_formats_export_name() gives.
 * @path: output file or "-". Written under a temporary name beside it and renamed when whole; an
 *        existing regular file is replaced, anything else (link, folder, device) refused.
 * @options: may be NULL.
 * @result: filled on success.
 *
 * Memory does not grow with the number of calls (formats of sums: with the number of distinct
 * stacks). Returns 0 or -errno with @diag filled: -EINVAL unknown format or a set of files to "-".
 */
int nsc_formats_export(struct nsc_trace *t, const char *format, const char *path,
                       const struct nsc_export_options *options, struct nsc_export_result *result,
                       struct nsc_diag *diag);

#endif
