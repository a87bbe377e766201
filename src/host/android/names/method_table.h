/*
 * method_table.h - the method table of an instrumented app: maps the ids that its hooks pass to
 * method names.
 *
 * Written by instrument/ (into the APK as assets/nanoscope/methods.txt, and next to it), read by
 * the importer of app recordings. Format (see docs/app.md):
 *
 *   nanoscope methods 1
 *   build FINGERPRINT
 *   1 TAB void pkg.Class.method(int) TAB Class.java TAB 12
 *   2 TAB ...
 *
 * Ids ascend from 1 without holes. The fingerprint is a hash of the lines after it: tables with
 * equal fingerprints have equal contents.
 */
#ifndef NSC_ANDROID_NAMES_METHOD_TABLE_H
#define NSC_ANDROID_NAMES_METHOD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

#define NSC_METHODS_MAGIC       "nanoscope methods 1"
#define NSC_METHODS_ASSET       "assets/nanoscope/methods.txt" /* path in an APK */
#define NSC_METHODS_FILE        "methods.txt"                  /* file name next to a recording */
#define NSC_METHODS_BUILD_BYTES 32          /* hexadecimal digits of a fingerprint */
#define NSC_METHODS_MAX         0x7ffeffffu /* largest id that fits an event, see app_recording.h */
#define NSC_METHODS_BYTES_MAX   (UINT32_MAX / 2) /* size limit of a table */

/* ---- Writing ------------------------------------------------------------------------------ */

struct nsc_methods_writer {
    struct nsc_buffer text; /* after nsc_methods_writer_end() the complete table */
    uint32_t count;         /* methods so far */
    char build[NSC_METHODS_BUILD_BYTES + 1];
};

/* Begin a table. @w: may be uninitialized; nsc_methods_writer_free() releases it. */
void nsc_methods_writer_begin(struct nsc_methods_writer *w);

/**
 * nsc_methods_writer_add - add the next method.
 * @signature: ART's pretty form, "ret pkg.Class.method(args)"; borrowed, not empty. Control
 *             characters become question marks, here and in @file.
 * @file: source file without folder; NULL or "" = unknown.
 * @line: of the method's first instruction; 0 = unknown.
 * Returns its id (from 1), or 0 if out of memory or ids; nsc_methods_writer_end() then fails, too.
 */
uint32_t nsc_methods_writer_add(struct nsc_methods_writer *w, const char *signature,
                                const char *file, uint32_t line);

/* Insert the fingerprint; @w->build and @w->text are then complete. Returns 0, -ENOMEM or -E2BIG
 * (more than NSC_METHODS_BYTES_MAX or NSC_METHODS_MAX). */
int nsc_methods_writer_end(struct nsc_methods_writer *w);
void nsc_methods_writer_free(struct nsc_methods_writer *w);

/* ---- Reading ------------------------------------------------------------------------------ */

struct nsc_method {
    const char *signature; /* not empty */
    const char *file;      /* "" = unknown */
    uint32_t line;         /* 0 = unknown */
};

struct nsc_methods;

/**
 * nsc_methods_read - parse a table in memory.
 * @text: @bytes of it, copied; lines may end in CR LF, the last one without a line end.
 * @name: of the input, for messages.
 * @out: receives the table; release with nsc_methods_free().
 * Returns 0, -EBADMSG (a line is malformed, or an id is out of sequence), -EFBIG or -ENOMEM with
 * @diag.
 */
int nsc_methods_read(const char *text, size_t bytes, const char *name, struct nsc_methods **out,
                     struct nsc_diag *diag);
/* The same from a file, whose descriptor is closed; further errors are those of read(2). @path: for
 * messages. */
int nsc_methods_open(int fd, const char *path, struct nsc_methods **out, struct nsc_diag *diag);
void nsc_methods_free(struct nsc_methods *m);

/* Number of methods; their ids are 1 to count. */
uint32_t nsc_methods_count(const struct nsc_methods *m);
/* The fingerprint; owned by @m. */
const char *nsc_methods_build(const struct nsc_methods *m);
/* Get the method of an id. Returns 0, or -ENOENT if there is none. @out's texts belong to @m. */
int nsc_methods_get(const struct nsc_methods *m, uint32_t id, struct nsc_method *out);

#endif
