/*
 * folder_input.h - a fuzzer's input as a folder of files, and what every import must hold: refused
 * with a word, or a trace that all of its readers take; and as CTF it is the same trace again.
 *
 * Of each file, in the order of the names, two bytes say how long it is; they are followed by it.
 * What is left over belongs to the last one. A length of 65535: there is no such file.
 */
#ifndef NSC_TESTS_FUZZ_RIGS_FOLDER_INPUT_H
#define NSC_TESTS_FUZZ_RIGS_FOLDER_INPUT_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"

static char fuzz_root[64] = "/tmp/nsc-fuzz-XXXXXX";

static void fuzz_path(char out[192], const char *name)
{
    snprintf(out, 192, "%s/%s", fuzz_root, name);
}

/* Remove a file, or a folder of files. */
static void fuzz_remove(const char *name)
{
    char path[192];
    struct dirent *e;
    DIR *dir;

    fuzz_path(path, name);
    dir = opendir(path);
    while (dir != NULL && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    if (rmdir(path) != 0)
        unlink(path);
}

static void fuzz_end(void)
{
    rmdir(fuzz_root);
}

static void fuzz_begin(void)
{
    static int done;

    if (done++)
        return;
    if (access("/dev/shm", W_OK) == 0) {
        strcpy(fuzz_root, "/dev/shm/nsc-fuzz-XXXXXX"); /* no disk is worn */
        setenv("TMPDIR", "/dev/shm", 1);
    }
    if (mkdtemp(fuzz_root) == NULL)
        abort();
    atexit(fuzz_end);
}

static void fuzz_write(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    if (f == NULL || (bytes > 0 && fwrite(data, 1, bytes, f) != bytes) || fclose(f) != 0)
        abort();
}

/* The folder "in". */
static inline void fuzz_folder(const uint8_t *data, size_t bytes, const char *const *names)
{
    char folder[192], path[300];

    fuzz_path(folder, "in");
    if (mkdir(folder, 0700) != 0)
        abort();
    for (; *names != NULL; names++) {
        size_t length = bytes >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0xffff;

        if (bytes >= 2) {
            data += 2;
            bytes -= 2;
        }
        if (length == 0xffff)
            continue;
        if (length > bytes || names[1] == NULL)
            length = bytes;
        snprintf(path, sizeof path, "%s/%s", folder, *names);
        fuzz_write(path, data, length);
        data += length;
        bytes -= length;
    }
}

/* What threads lost that recorded anything: of the others nothing is exported. */
static uint64_t fuzz_lost(const struct nsc_trace *t)
{
    uint64_t lost = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->thread_count; i++)
        if (nsc_trace_thread(t, i)->recorded > 0)
            lost += nsc_trace_thread(t, i)->lost;
    return lost;
}

static void fuzz_export(struct nsc_trace *t, const char *format, const char *name)
{
    struct nsc_export_result result;
    struct nsc_diag diag;
    char path[192];

    fuzz_path(path, name);
    if (nsc_formats_export(t, format, path, NULL, &result, &diag) != 0) {
        fprintf(stderr, "%s: %s\n", format, diag.message);
        abort();
    }
}

/* Import the file or folder "in", which is removed. */
static inline void fuzz_import(size_t choice)
{
    static const char *const others[] = {"perfetto", "uftrace", "speedscope", "tau"};
    struct nsc_trace *t, *again;
    struct nsc_diag diag;
    char path[192];

    fuzz_path(path, "in");
    if (nsc_formats_open(path, 0, &t, &diag) != 0) {
        if (diag.message[0] == '\0')
            abort(); /* refused without a word */
        fuzz_remove("in");
        return;
    }
    fuzz_remove("in");
    fuzz_export(t, "ctf", "out");
    fuzz_path(path, "out");
    if (nsc_trace_info(t)->calls > 0) {
        if (nsc_formats_open(path, 0, &again, &diag) != 0)
            abort();
        if (nsc_trace_info(again)->calls != nsc_trace_info(t)->calls ||
            (fuzz_lost(t) < UINT32_MAX && fuzz_lost(again) != fuzz_lost(t)))
            abort();
        nsc_trace_close(again);
    }
    fuzz_remove("out");
    fuzz_export(t, others[choice % 4], "other");
    fuzz_remove("other");
    nsc_trace_close(t);
}

#endif
