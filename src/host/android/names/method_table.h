/*
 * method_table.h - the table of methods of a rewritten app: from the ids that its hooks pass to
 * names.
 *
 * Written by inject/ (into the APK as assets/nanoscope/methods.txt, and beside it), read by the
 * importer of app recordings. docs/app.md has the format:
 *
 *   nanoscope methods 1
 *   build FINGERPRINT
 *   1 TAB void pkg.Class.method(int) TAB Class.java TAB 12
 *   2 TAB ...
 *
 * Ids count from 1 without holes. The fingerprint is made of the lines below it, so that tables
 * with the same fingerprint say the same.
 */
#ifndef NSC_ANDROID_NAMES_METHOD_TABLE_H
#define NSC_ANDROID_NAMES_METHOD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

#define NSC_METHODS_MAGIC       "nanoscope methods 1"
#define NSC_METHODS_ASSET       "assets/nanoscope/methods.txt" /* its place in an APK */
#define NSC_METHODS_FILE        "methods.txt"                  /* its name beside a recording */
#define NSC_METHODS_BUILD_BYTES 32          /* hexadecimal digits of a fingerprint */
#define NSC_METHODS_MAX         0x7ffeffffu /* the largest id that an event holds, see app_recording.h */
#define NSC_METHODS_BYTES_MAX   (UINT32_MAX / 2) /* of a table */

/* ---- Writing ------------------------------------------------------------------------------ */

struct nsc_methods_writer {
    struct nsc_buffer text; /* after nsc_methods_writer_end() the whole table */
    uint32_t count;         /* methods so far */
    char build[NSC_METHODS_BUILD_BYTES + 1];
};

/* Begin a table. @w: any content; nsc_methods_writer_free() releases it. */
void nsc_methods_writer_begin(struct nsc_methods_writer *w);

/**
 * nsc_methods_writer_add - the next method.
 * @signature: ART's pretty form, "ret pkg.Class.method(args)"; borrowed, not empty. Control
 *             characters become question marks, here and in @file.
 * @file: source file without folder; NULL or "" = unknown.
 * @line: of the method's first instruction; 0 = unknown.
 * Returns its id (from 1), or 0 when memory or ids are short: the end says so, too.
 */
uint32_t nsc_methods_writer_add(struct nsc_methods_writer *w, const char *signature,
                                const char *file, uint32_t line);

/* Put in the fingerprint: @w->build and @w->text are complete. Returns 0, -ENOMEM or -E2BIG (more
 * than NSC_METHODS_BYTES_MAX or NSC_METHODS_MAX). */
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
 * nsc_methods_read - take a table that is in memory.
 * @text: @bytes of it, copied; lines may end in CR LF, the last one in nothing.
 * @name: of the input, for messages.
 * @out: receives the table; release with nsc_methods_free().
 * Returns 0, -EBADMSG (a line is not of the form, or an id is not the next one), -EFBIG or -ENOMEM
 * with @diag.
 */
int nsc_methods_read(const char *text, size_t bytes, const char *name, struct nsc_methods **out,
                     struct nsc_diag *diag);
/* The same from a file; further errors are those of open(2) and read(2). */
int nsc_methods_open(const char *path, struct nsc_methods **out, struct nsc_diag *diag);
void nsc_methods_free(struct nsc_methods *m);

/* The methods have the ids 1 to count. */
uint32_t nsc_methods_count(const struct nsc_methods *m);
/* The fingerprint; owned by @m. */
const char *nsc_methods_build(const struct nsc_methods *m);
/* Of an id. Returns 0, or -ENOENT when there is none with that id. @out's texts belong to @m. */
int nsc_methods_get(const struct nsc_methods *m, uint32_t id, struct nsc_method *out);

#endif
