/*
 * import_input.h - for the fuzz targets of importers: any bytes as a file of one format. No crash,
 * a refusal has words, what is accepted is a sound trace, and with @again what comes of it in that
 * format, read once more, has as many calls.
 */
#ifndef NSC_TESTS_FUZZ_RIGS_IMPORT_INPUT_H
#define NSC_TESTS_FUZZ_RIGS_IMPORT_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fz_folder[] = "/tmp/nsc-fuzz-XXXXXX";

static void fz_end(void)
{
    rmdir(fz_folder);
}

static const char *fz_path(char out[64], const char *name)
{
    static int begun;

    if (!begun++) {
        if (access("/dev/shm", W_OK) == 0) { /* no disk is worn */
            strcpy(fz_folder, "/dev/shm/fuzzXXXXXX");
            setenv("TMPDIR", "/dev/shm", 1);
        }
        if (mkdtemp(fz_folder) == NULL)
            abort();
        atexit(fz_end);
    }
    snprintf(out, 64, "%s/%s", fz_folder, name);
    return out;
}

static void fz_problem(void *context, const struct nsc_diag *diag)
{
    (void)context;
    fprintf(stderr, "unsound: %s\n", diag->message);
    abort();
}

/* Import @in as @format into @out and check that. Returns its calls, or UINT64_MAX. */
static uint64_t fz_import(const char *in, const char *out, const char *format)
{
    struct nsc_import_options options = {
        .size = sizeof options, .format = format, .overwrite = true};
    struct nsc_import_result result;
    struct nsc_diag diag = {0};

    if (nsc_formats_import(in, out, &options, &result, &diag) != 0) {
        if (diag.message[0] == '\0')
            abort(); /* refused without a word */
        return UINT64_MAX;
    }
    if (nsc_trace_verify(out, fz_problem, NULL, &diag) != 0)
        abort();
    return result.calls;
}

static void fz_export(const char *in, const char *out, const char *format)
{
    struct nsc_export_result result;
    struct nsc_trace *t = NULL;
    struct nsc_diag diag;

    if (nsc_trace_open(in, 0, &t, &diag) != 0 ||
        nsc_formats_export(t, format, out, NULL, &result, &diag) != 0) {
        fprintf(stderr, "%s\n", diag.message);
        abort();
    }
    nsc_trace_close(t);
}

static void fz_run(const uint8_t *data, size_t size, const char *format, int again)
{
    char in[64], nst[64], other[64];
    FILE *f = fopen(fz_path(in, "in"), "wb");
    uint64_t calls;

    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
    calls = fz_import(in, fz_path(nst, "nst"), format);
    if (calls != UINT64_MAX) {
        fz_export(nst, fz_path(other, "other"), format);
        if (again && fz_import(other, nst, format) != calls)
            abort();
        unlink(other);
        unlink(nst);
    }
    unlink(in);
}

#endif
