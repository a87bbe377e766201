/*
 * formats_fixture.h - for the tests of formats/: a scratch folder, files in it, traces from a few
 * lines of text, and calls counted by name. Include once a program.
 */
#ifndef NSC_TESTS_UNIT_RIGS_FORMATS_FIXTURE_H
#define NSC_TESTS_UNIT_RIGS_FORMATS_FIXTURE_H

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include "formats/formats.h"
#include "tap.h"
#include "trace/write/lane.h"

static char fx_folder[64];

static void fx_begin(void)
{
    snprintf(fx_folder, sizeof fx_folder, "/tmp/nsc-formats-XXXXXX");
    if (mkdtemp(fx_folder) == NULL) {
        perror("mkdtemp");
        exit(1);
    }
}

/* A path in the scratch folder; a few are valid at a time. */
static const char *fx_path(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, PATH_MAX, "%s/%s", fx_folder, name);
    return path;
}

/* Remove everything that a test left. Returns the number of files. */
static unsigned fx_clear(void)
{
    DIR *dir = opendir(fx_folder);
    struct dirent *e;
    unsigned count = 0;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        unlink(fx_path(e->d_name));
        count++;
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void fx_end(void)
{
    fx_clear();
    rmdir(fx_folder);
}

static inline const char *fx_write(const char *name, const char *text, size_t bytes)
{
    const char *path = fx_path(name);
    FILE *f = fopen(path, "wb");

    if (f == NULL || fwrite(text, 1, bytes, f) != bytes || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

/* A file's content, NUL-terminated, for free(); NULL if there is none. */
static char *fx_read(const char *name, size_t *bytes)
{
    FILE *f = fopen(fx_path(name), "rb");
    char *text = NULL;
    size_t n = 0, got;

    if (f == NULL)
        return NULL;
    do {
        text = realloc(text, n + 65537);
        got = fread(text + n, 1, 65536, f);
        n += got;
    } while (got > 0);
    fclose(f);
    text[n] = '\0';
    if (bytes != NULL)
        *bytes = n;
    return text;
}

static inline void fx_check_file(const char *name, const char *want, const char *what)
{
    char *got = fx_read(name, NULL);

    if (got == NULL)
        t_report(0, __FILE__, __LINE__, what);
    else
        t_report_str(got, want, __FILE__, __LINE__, what);
    free(got);
}

/* Make fx.nst with @fill, open it. */
static inline struct nsc_trace *fx_trace(void (*fill)(struct nsc_writer *w))
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_diag diag = {0};
    struct nsc_writer *w;
    struct nsc_trace *t = NULL;

    if (nsc_writer_create(fx_path("fx.nst"), &options, &w, &diag) == 0) {
        fill(w);
        if (nsc_writer_finish(w, &diag) == 0)
            nsc_trace_open(fx_path("fx.nst"), 0, &t, &diag);
    }
    if (t == NULL) {
        printf("Bail out! no trace: %s\n", diag.message);
        exit(1);
    }
    return t;
}

static inline uint32_t fx_process(struct nsc_writer *w, uint32_t pid, const char *name)
{
    struct nsc_process p = {.pid = pid, .parent = NSC_NO_ID, .name = name, .exit_status = -1};
    uint32_t id = NSC_NO_ID;

    nsc_writer_add_process(w, &p, &id);
    return id;
}

static inline struct nsc_lane *fx_thread(struct nsc_writer *w, uint32_t process, uint32_t tid,
                                         uint32_t stack, const char *name)
{
    struct nsc_thread th = {.process = process, .tid = tid, .stack = stack, .name = name};
    struct nsc_lane *lane = NULL;
    uint32_t id;

    nsc_writer_add_thread(w, &th, &id, &lane);
    return lane;
}

static inline uint32_t fx_function(struct nsc_writer *w, const char *name, const char *file,
                                   uint32_t line)
{
    struct nsc_function f = {
        .name = name, .symbol = name, .file = file, .line = line, .module = NSC_NO_ID};
    uint32_t id = NSC_NO_ID;

    nsc_writer_add_function(w, &f, &id);
    return id;
}

#endif
