/*
 * instrument.c - see instrument.h.
 *
 * One pass over the input's entries: each is copied, replaced or dropped; new entries follow. All
 * dex files are written at the position of the first one, in the order in which Android loads them,
 * so that only one is in memory at a time.
 */
#include "android/instrument/instrument.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "android/apk/apk_build.h"
#include "android/apk/apk_verify.h"
#include "android/apk/signing_key.h"
#include "android/instrument/app_input.h"
#include "android/instrument/app_manifest.h"
#include "android/instrument/call_sites.h"
#include "android/instrument/dex_hooks.h"
#include "android/instrument/hook_class.h"
#include "android/names/r8_mapping.h"
#include "util/now.h"
#include "util/os/atomic_file.h"
#include "util/os/whole_file.h"
#include "util/os/write_all.h"
#include "util/privileges/input_rights.h"

#define LIBRARY_FILE "lib" NSC_INSTRUMENT_LIBRARY ".so"
#define LIBRARY_MOST (64u << 20) /* bytes */

struct work {
    const struct nsc_instrument_options *options;
    struct nsc_instrument_report *report;
    struct nsc_diag *diag;
    struct nsc_instrument_input in;
    struct nsc_instrument_manifest manifest;
    struct nsc_buffer mapping_text; /* borrowed by the mapping: */
    struct nsc_r8_mapping *mapping;
    struct nsc_instrument_calls *calls;
    struct nsc_methods_writer methods;
    struct nsc_apk_build *out;
    uint64_t dex_done; /* bytes */
};

_Static_assert(sizeof((struct nsc_instrument_report *)0)->fingerprint > NSC_METHODS_BUILD_BYTES,
               "a report has room for the fingerprint");

static int no_memory(const struct work *w)
{
    return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* Prefix an error message with the name of the part of the input. */
static int within(const struct work *w, const char *name, int error)
{
    struct nsc_diag was;

    if (error == 0 || error == -ENOMEM || w->diag == NULL)
        return error;
    was = *w->diag;
    if (was.offset != NSC_DIAG_NO_OFFSET)
        return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error,
                            "cannot rewrite %s: %s: %.300s (at offset %llu)", w->options->input,
                            name, was.message, (unsigned long long)was.offset);
    return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error, "cannot rewrite %s: %s: %.300s",
                        w->options->input, name, was.message);
}

/* ---- Code -------------------------------------------------------------------------------------
 */

/* Register the classes of all dex files, before calls are selected. */
static int survey_calls(struct work *w)
{
    int error = 0;

    if (w->options->calls.count == 0)
        return 0;
    w->calls = nsc_instrument_calls_new(&w->options->calls);
    if (w->calls == NULL)
        return no_memory(w);
    for (uint32_t i = 0; i < w->in.dex_count && error == 0; i++) {
        struct nsc_dex *dex = NULL;
        uint8_t *data = NULL;
        size_t bytes;

        error = nsc_zip_read(w->in.zip, w->in.dex[i], UINT32_MAX, &data, &bytes, w->diag);
        if (error == 0)
            error = within(w, w->in.dex[i]->name, nsc_dex_read(data, bytes, &dex, w->diag));
        if (error == 0 && nsc_instrument_calls_own(w->calls, dex) != 0)
            error = no_memory(w);
        nsc_dex_free(dex);
        free(data);
    }
    return error;
}

static int put_dex(struct work *w, const struct nsc_zip_entry *e)
{
    const struct nsc_instrument_rewrite r = {.options = w->options,
                                             .mapping = w->mapping,
                                             .calls = w->calls,
                                             .methods = &w->methods,
                                             .report = w->report,
                                             .diag = w->diag};
    struct nsc_buffer made = {0};
    uint8_t *data = NULL;
    size_t bytes;
    int error = nsc_zip_read(w->in.zip, e, UINT32_MAX, &data, &bytes, w->diag);

    if (error == 0)
        error = within(w, e->name, nsc_instrument_dex(&r, e->name, data, bytes, &made));
    free(data);
    if (error == 0 && made.used == 0)
        error = nsc_apk_build_copy(w->out, w->in.zip, e, w->diag);
    else if (error == 0)
        error = nsc_apk_build_add(w->out, e->name, (enum nsc_zip_method)e->method, made.data,
                                  made.used, w->diag);
    nsc_buffer_free(&made);
    w->dex_done += e->bytes;
    if (w->options->progress != NULL)
        w->options->progress(w->options->context, w->dex_done, w->in.dex_bytes);
    return error;
}

static int put_all_dex(struct work *w)
{
    int error = 0;

    for (uint32_t i = 0; i < w->in.dex_count && error == 0; i++)
        error = put_dex(w, w->in.dex[i]);
    return error;
}

static bool is_dex(const struct work *w, const struct nsc_zip_entry *e)
{
    for (uint32_t i = 0; i < w->in.dex_count; i++)
        if (w->in.dex[i] == e)
            return true;
    return false;
}

/* ---- Names ------------------------------------------------------------------------------------
 */

static int open_mapping(struct work *w)
{
    const char *path = w->options->mapping;
    struct nsc_diag was = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    if (path == NULL)
        return 0;
    error = nsc_whole_file_read(path, UINT32_MAX, &w->mapping_text, w->diag);
    if (error != 0)
        return error;
    error = nsc_mapping_read((const char *)w->mapping_text.data, w->mapping_text.used, &w->mapping,
                             &was);
    if (error != 0)
        return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error, "cannot read %s: %.300s", path,
                            was.message);
    return 0;
}

/* ---- New entries ------------------------------------------------------------------------------
 */

/* Add the hooks' dex file. The method table must be complete: the file contains its fingerprint. */
static int put_hooks(struct work *w)
{
    struct nsc_buffer dex = {0};
    int error = nsc_methods_writer_end(&w->methods);

    if (error != 0)
        return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error,
                            error == -E2BIG ? "cannot rewrite %s: it has too many methods"
                                            : "out of memory",
                            w->options->input);
    snprintf(w->report->fingerprint, sizeof w->report->fingerprint, "%s", w->methods.build);
    w->report->ids = w->methods.count;
    if (w->calls != NULL)
        w->report->called = nsc_instrument_calls_count(w->calls);
    if (asprintf(&w->report->hook_name, "classes%u.dex", w->in.dex_count + 1) < 0) {
        w->report->hook_name = NULL;
        return no_memory(w);
    }
    error = nsc_instrument_hooks(w->methods.build, &dex, w->diag);
    w->report->hook_bytes = dex.used;
    if (error == 0)
        error = nsc_apk_build_add(w->out, w->report->hook_name,
                                  (enum nsc_zip_method)w->in.dex[0]->method, dex.data, dex.used,
                                  w->diag); /* stored for android:useEmbeddedDex */
    if (error == 0)
        error = nsc_apk_build_add(w->out, NSC_METHODS_ASSET, NSC_ZIP_DEFLATED, w->methods.text.data,
                                  w->methods.text.used, w->diag);
    nsc_buffer_free(&dex);
    return error;
}

static int read_library(const struct work *w, const char *path, struct nsc_buffer *to)
{
    int error = nsc_whole_file_read(path, LIBRARY_MOST, to, NULL);

    if (error == 0 && to->used == 0)
        error = -ENODATA;
    if (error != 0)
        return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error,
                            "cannot read %s: %s; it belongs to nanoscope, where it was built with "
                            "clang and lld",
                            path, strerror(-error));
    return 0;
}

static int put_library(struct work *w, const struct nsc_instrument_abi *abi)
{
    bool stored = w->manifest.keeps_libraries || w->in.stored_libraries;
    struct nsc_buffer library = {0};
    char *path = NULL, *name = NULL;
    int error = 0;

    if (asprintf(&path, "%s/%s/" LIBRARY_FILE, w->options->libraries, abi->ours) < 0)
        path = NULL;
    if (asprintf(&name, "lib/%s/" LIBRARY_FILE, abi->name) < 0)
        name = NULL;
    if (path == NULL || name == NULL)
        error = no_memory(w);
    if (error == 0)
        error = read_library(w, path, &library);
    if (error == 0)
        error = nsc_apk_build_add(w->out, name, stored ? NSC_ZIP_STORED : NSC_ZIP_DEFLATED,
                                  library.data, library.used, w->diag);
    if (error == 0 && nsc_instrument_report_library(w->report, name, library.used, stored) != 0)
        error = no_memory(w);
    nsc_buffer_free(&library);
    free(path);
    free(name);
    return error;
}

/* ---- The archive ------------------------------------------------------------------------------
 */

static int put_entry(struct work *w, const struct nsc_zip_entry *e, bool *dex_written)
{
    if (is_dex(w, e)) {
        if (*dex_written)
            return 0;
        *dex_written = true;
        return put_all_dex(w);
    }
    if (w->manifest.bytes.used > 0 && strcmp(e->name, NSC_INSTRUMENT_MANIFEST) == 0)
        return nsc_apk_build_add(w->out, e->name, (enum nsc_zip_method)e->method,
                                 w->manifest.bytes.data, w->manifest.bytes.used, w->diag);
    return nsc_apk_build_copy(w->out, w->in.zip, e, w->diag);
}

static int put_all(struct work *w)
{
    bool dex_written = false;
    int error = 0;

    for (uint32_t i = 0; i < nsc_zip_count(w->in.zip) && error == 0; i++)
        error = put_entry(w, nsc_zip_at(w->in.zip, i), &dex_written);
    if (error == 0)
        error = put_hooks(w);
    for (uint32_t i = 0; i < w->in.abi_count && error == 0; i++)
        error = put_library(w, w->in.abis[i]);
    if (error == 0)
        error = nsc_apk_build_comment(w->out, w->in.zip, w->diag);
    return error;
}

/* ---- Outputs ----------------------------------------------------------------------------------
 */

/* Write the method table next to the app, not yet published under its name. */
static int begin_side_file(const struct work *w, struct nsc_atomic_file *side)
{
    int error = nsc_atomic_file_create(w->options->side_file, side, w->diag);

    if (error != 0)
        return error;
    error = nsc_write_all(side->fd, w->methods.text.data, w->methods.text.used);
    if (error != 0)
        return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s",
                            w->options->side_file, strerror(-error));
    return 0;
}

/* Publish both files after both have been written. */
static int publish(struct work *w)
{
    struct nsc_apk_build_result result = {0};
    struct nsc_atomic_file side = {.fd = -1};
    int error = w->options->side_file != NULL ? begin_side_file(w, &side) : 0;

    if (error == 0) {
        error = nsc_apk_build_finish(w->out, &side, &result, w->diag);
        w->out = NULL;
        w->report->bytes_after = result.bytes;
    }
    nsc_atomic_file_abandon(&side);
    return error;
}

/* Refuse an output path that would replace the input. */
static int check_output(const struct work *w, const char *path)
{
    struct stat in, out;

    if (path == NULL || stat(path, &out) != 0 || stat(w->options->input, &in) != 0 ||
        in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return 0;
    return nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, EINVAL,
                        "%s is the input: choose another name for the output", path);
}

/* ---- Signers ----------------------------------------------------------------------------------
 */

static char *hex(const struct nsc_crypto_certificate *certificate)
{
    char *text = malloc(2 * sizeof certificate->sha256 + 1);

    for (size_t i = 0; text != NULL && i < sizeof certificate->sha256; i++)
        snprintf(text + 2 * i, 3, "%02x", certificate->sha256[i]);
    return text;
}

/* Report the old signer, by the newest valid scheme, and the new one. */
static int tell_signers(struct work *w)
{
    struct nsc_crypto_certificate ours;
    struct nsc_apk_signatures were = {0};
    int error = nsc_crypto_load(w->diag);

    if (error == 0)
        error = nsc_apk_verify(w->in.zip, &were, w->diag);
    if (error != 0)
        return error;
    if (were.count > 0)
        w->report->signer_before = hex(&were.signers[were.count - 1].certificate);
    if (nsc_apk_key_certificate(w->options->key, &ours) != 0)
        error = nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                             "the key's own certificate cannot be read");
    else
        w->report->signer = hex(&ours);
    if (error == 0 &&
        (w->report->signer == NULL || (were.count > 0 && w->report->signer_before == NULL)))
        error = no_memory(w);
    nsc_apk_signatures_free(&were);
    return error;
}

/* Warn if nothing is recorded, e.g. because of a typo in a pattern. */
static int tell_nothing(struct work *w)
{
    const struct nsc_instrument_options *o = w->options;
    uint64_t calls = 0, recorded = 0;
    int error = 0;

    for (size_t i = 0; i < w->report->dex_count; i++) {
        calls += w->report->dex[i].calls;
        recorded += w->report->dex[i].methods[NSC_INSTRUMENT_RECORDED];
    }
    if (o->calls.count > 0 && calls == 0)
        error = nsc_instrument_warn(w->report, "the app calls no method that --calls means");
    if (recorded == 0 && error == 0)
        error = nsc_instrument_warn(w->report, "no method is recorded: %s",
                                    o->only.count > 0 || o->except.count > 0 || o->min_units > 0 ||
                                            o->skip != 0
                                        ? "-F, -N, --min-size and --skip leave none"
                                        : "none can be");
    return error != 0 ? no_memory(w) : 0;
}

static int run(struct work *w)
{
    int error = nsc_instrument_open(w->options->input, &w->in, w->report, w->diag);

    if (error == 0) {
        nsc_input_rights_allow(nsc_zip_fd(w->in.zip), w->options->output);
        w->report->bytes_before = nsc_zip_layout(w->in.zip)->file_bytes;
        error = check_output(w, w->options->output);
    }
    if (error == 0)
        error = check_output(w, w->options->side_file);
    if (error == 0)
        error = tell_signers(w);
    if (error == 0)
        error = within(
            w, NSC_INSTRUMENT_MANIFEST,
            nsc_instrument_manifest(w->options, w->in.zip, &w->manifest, w->report, w->diag));
    if (error == 0)
        error = open_mapping(w);
    if (error == 0)
        error = survey_calls(w);
    if (error == 0)
        error = nsc_apk_build_create(w->options->output, w->options->key, &w->out, w->diag);
    if (error == 0)
        error = put_all(w);
    if (error == 0)
        error = tell_nothing(w);
    if (error == 0)
        error = publish(w);
    return error;
}

int nsc_instrument_app(const struct nsc_instrument_options *options,
                       struct nsc_instrument_report *report, struct nsc_diag *diag)
{
    struct work w = {.options = options, .report = report, .diag = diag};
    uint64_t begun_ns = nsc_now_ns();
    int error;

    memset(report, 0, sizeof *report);
    nsc_methods_writer_begin(&w.methods);
    error = run(&w);
    nsc_instrument_report_sum(report);
    report->ns = nsc_now_ns() - begun_ns;
    nsc_apk_build_abandon(w.out);
    nsc_methods_writer_free(&w.methods);
    nsc_instrument_calls_free(w.calls);
    nsc_mapping_free(w.mapping);
    nsc_buffer_free(&w.mapping_text);
    nsc_buffer_free(&w.manifest.bytes);
    nsc_instrument_close(&w.in);
    return error;
}
