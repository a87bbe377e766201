/*
 * fuzz_text.c - any bytes as an importable file: no crash, and what was understood stays what it is
 * when it is written as text and read again. Every export format gets to see the result.
 *
 * A form feed parts the text from the samples that lie beside it, another one these from the
 * states.
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

/* The content of a file behind what is in *@text already. The file is removed. */
static void take_file(const char *path, char **text, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    long size;

    if (f == NULL)
        abort();
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    *text = realloc(*text, *bytes + (size_t)size + 2);
    if (*text == NULL || fread(*text + *bytes, 1, (size_t)size, f) != (size_t)size)
        abort();
    fclose(f);
    unlink(path);
    *bytes += (size_t)size;
}

static const char *const suffixes[] = {"", ".timer", ".state"};

/* The set that @data describes. */
static void write_set(const char *path, const void *data, size_t bytes)
{
    const char *at = data, *end = at + bytes;

    for (int i = 0; i < 3; i++) {
        const char *part = i < 2 && at < end ? memchr(at, '\f', (size_t)(end - at)) : NULL;
        size_t n = (size_t)((part != NULL ? part : end) - at);
        char name[72];
        FILE *f;

        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        f = fopen(name, "wb");
        if (f == NULL || (n > 0 && fwrite(at, 1, n, f) != n) || fclose(f) != 0)
            abort();
        at = part != NULL ? part + 1 : end;
    }
}

/* The set as write_set() takes it; the files are removed. */
static char *take_set(const char *path, size_t *bytes)
{
    char name[72], *text = NULL;

    *bytes = 0;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        if (i > 0)
            text[(*bytes)++] = '\f';
        take_file(name, &text, bytes);
    }
    return text;
}

/* Import @path and write it in @format; returns what was written, or NULL if it is no trace. */
static char *through(const char *path, const char *format, size_t *bytes)
{
    char out[64], *text = NULL;
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
    if (strcmp(format, "nanoscope") == 0)
        return take_set(out, bytes);
    *bytes = 0;
    take_file(out, &text, bytes);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const others[] = {"perfetto", "chrome", "folded"};
    char in[64];
    char *first, *second;
    size_t first_bytes, second_bytes;

    setup();
    if (size >= 8 && memcmp(data, "\x89NST", 4) == 0)
        return 0; /* the reader of .nst has a target of its own */
    path_of(in, "in");
    write_set(in, data, size);
    first = through(in, "nanoscope", &first_bytes);
    if (first != NULL && first[0] != '\f') { /* an empty text would be no trace */
        free(through(in, others[size % 3], &second_bytes));
        write_set(in, first, first_bytes);
        second = through(in, "nanoscope", &second_bytes);
        if (second == NULL || second_bytes != first_bytes ||
            memcmp(first, second, first_bytes) != 0)
            abort();
        free(second);
    }
    free(first);
    free(take_set(in, &first_bytes));
    return 0;
}
