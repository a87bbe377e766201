/*
 * fuzz_text.c - any bytes as an importable file: no crash, and what was understood stays what it is
 * when it is written as text and read again. Every export format gets to see the result.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/nsc-fuzz-XXXXXX";

static void remove_folder(void)
{
    rmdir(folder);
}

static void path_of(char out[64], const char *name)
{
    snprintf(out, 64, "%s/%s", folder, name);
}

static void setup(void)
{
    static int done;

    if (done++)
        return;
    if (access("/dev/shm", W_OK) == 0) {
        strcpy(folder, "/dev/shm/fuzzXXXXXX"); /* shorter than the other, and no disk is worn */
        setenv("TMPDIR", "/dev/shm", 1);
    }
    if (mkdtemp(folder) == NULL)
        abort();
    atexit(remove_folder);
}

static char *take_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *text;
    long size;

    if (f == NULL)
        abort();
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = malloc((size_t)size + 1);
    if (text == NULL || fread(text, 1, (size_t)size, f) != (size_t)size)
        abort();
    fclose(f);
    unlink(path);
    *bytes = (size_t)size;
    return text;
}

/* Import @path and write it in @format; returns what was written, or NULL if it is no trace. */
static char *through(const char *path, const char *format, size_t *bytes)
{
    char out[64], beside[70];
    struct nsc_export_result result;
    struct nsc_trace *t;
    struct nsc_diag diag;

    if (nsc_formats_open(path, 0, &t, &diag) != 0) {
        if (diag.message[0] == '\0')
            abort(); /* refused without a word */
        return NULL;
    }
    path_of(out, "out");
    if (nsc_formats_export(t, format, out, NULL, &result, &diag) != 0) {
        fprintf(stderr, "%s: %s\n", format, diag.message);
        abort();
    }
    nsc_trace_close(t);
    snprintf(beside, sizeof beside, "%s.timer", out);
    unlink(beside);
    snprintf(beside, sizeof beside, "%s.state", out);
    unlink(beside);
    return take_file(out, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const others[] = {"perfetto", "chrome", "folded"};
    char in[64];
    char *first, *second;
    size_t first_bytes, second_bytes;
    FILE *f;

    setup();
    path_of(in, "in");
    f = fopen(in, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
    if (size >= 8 && memcmp(data, "\x89NST", 4) == 0) {
        unlink(in); /* the reader of .nst has a target of its own */
        return 0;
    }
    first = through(in, "nanoscope", &first_bytes);
    if (first != NULL && first_bytes > 0) {
        free(through(in, others[size % 3], &second_bytes));
        f = fopen(in, "wb");
        if (f == NULL || fwrite(first, 1, first_bytes, f) != first_bytes || fclose(f) != 0)
            abort();
        second = through(in, "nanoscope", &second_bytes);
        if (second == NULL || second_bytes != first_bytes ||
            memcmp(first, second, first_bytes) != 0)
            abort();
        free(second);
    }
    free(first);
    unlink(in);
    return 0;
}
