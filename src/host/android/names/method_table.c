/* method_table.c - see method_table.h. */
#include "android/names/method_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/hash.h"
#include "util/os/whole_file.h"

/* The head before the first method; the fingerprint follows HEAD. */
#define HEAD       NSC_METHODS_MAGIC "\nbuild "
#define HEAD_BYTES (sizeof HEAD - 1 + NSC_METHODS_BUILD_BYTES + 1)
/* Seeds of the two halves of a fingerprint: arbitrary, but must not change. */
#define SEED_1     0x6e616e6f73636f70u
#define SEED_2     0x6d6574686f647331u

/* ---- Writing ------------------------------------------------------------------------------ */

void nsc_methods_writer_begin(struct nsc_methods_writer *w)
{
    *w = (struct nsc_methods_writer){.count = 0};
    nsc_buffer_bytes(&w->text, HEAD, sizeof HEAD - 1);
    for (unsigned i = 0; i < NSC_METHODS_BUILD_BYTES; i++)
        nsc_buffer_bytes(&w->text, "0", 1);
    nsc_buffer_bytes(&w->text, "\n", 1);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Append a field; replace control characters, so that tabs and newlines only separate fields. */
static void put_field(struct nsc_buffer *b, const char *text)
{
    size_t bytes = strlen(text);
    uint8_t *at = nsc_buffer_reserve(b, bytes + 1);

    if (at == NULL)
        return;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(is_control(text[i]) ? '?' : text[i]);
    at[bytes] = '\t';
    b->used += bytes + 1;
}

uint32_t nsc_methods_writer_add(struct nsc_methods_writer *w, const char *signature,
                                const char *file, uint32_t line)
{
    char digits[16];

    if (w->text.used > NSC_METHODS_BYTES_MAX || w->count == NSC_METHODS_MAX)
        w->text.failed = true;
    snprintf(digits, sizeof digits, "%u", w->count + 1);
    put_field(&w->text, digits);
    put_field(&w->text, signature);
    put_field(&w->text, file != NULL ? file : "");
    snprintf(digits, sizeof digits, "%u\n", line);
    nsc_buffer_bytes(&w->text, digits, strlen(digits));
    if (w->text.failed)
        return 0;
    return ++w->count;
}

int nsc_methods_writer_end(struct nsc_methods_writer *w)
{
    const uint8_t *lines;
    size_t bytes;

    if (w->text.used > NSC_METHODS_BYTES_MAX || w->count == NSC_METHODS_MAX)
        return -E2BIG;
    if (w->text.failed)
        return -ENOMEM;
    lines = w->text.data + HEAD_BYTES;
    bytes = w->text.used - HEAD_BYTES;
    snprintf(w->build, sizeof w->build, "%016llx%016llx",
             (unsigned long long)nsc_hash_bytes(SEED_1, lines, bytes),
             (unsigned long long)nsc_hash_bytes(SEED_2, lines, bytes));
    memcpy(w->text.data + sizeof HEAD - 1, w->build, NSC_METHODS_BUILD_BYTES);
    return 0;
}

void nsc_methods_writer_free(struct nsc_methods_writer *w)
{
    nsc_buffer_free(&w->text);
}

/* ---- Reading ------------------------------------------------------------------------------ */

/* Offsets of a method's fields in the text. */
struct entry {
    uint32_t signature, file, line;
};

struct nsc_methods {
    char *text; /* fields are NUL terminated */
    const char *build;
    struct entry *entries;
    uint32_t count, room;
};

/* A line being parsed; NUL terminated. */
struct line {
    char *at, *end;
    uint64_t number;
};

/* Take the next line of [*@at, @end) and terminate it with NUL. Returns false at the end. */
static bool next_line(char **at, char *end, struct line *line)
{
    char *newline;

    if (*at == end)
        return false;
    newline = memchr(*at, '\n', (size_t)(end - *at));
    line->at = *at;
    line->end = newline != NULL ? newline : end;
    *at = newline != NULL ? newline + 1 : end;
    if (line->end > line->at && line->end[-1] == '\r')
        line->end--;
    *line->end = '\0';
    line->number++;
    return true;
}

/* Terminate a field at its tab. Returns the next field, or NULL if there is no tab. */
static char *cut_field(char *at, const char *end)
{
    char *tab = memchr(at, '\t', (size_t)(end - at));

    if (tab == NULL)
        return NULL;
    *tab = '\0';
    return tab + 1;
}

/* Parse a decimal number that fits 32 bits. */
static bool parse_number(const char *text, uint32_t *value)
{
    uint64_t v = 0;

    if (*text == '\0' || strlen(text) > 10)
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        v = v * 10 + (uint64_t)(*text - '0');
    if (*text != '\0' || v > UINT32_MAX)
        return false;
    *value = (uint32_t)v;
    return true;
}

/* Parse "ID TAB SIGNATURE TAB FILE TAB LINE". Returns NULL, or the error text. */
static const char *parse_method(const struct nsc_methods *m, const struct line *line,
                                struct entry *entry)
{
    char *signature, *file, *number;
    uint32_t id;

    if (strlen(line->at) != (size_t)(line->end - line->at))
        return "a NUL byte";
    signature = cut_field(line->at, line->end);
    file = signature != NULL ? cut_field(signature, line->end) : NULL;
    number = file != NULL ? cut_field(file, line->end) : NULL;
    if (number == NULL)
        return "no method (id, signature, file and line with tabs between them)";
    if (!parse_number(line->at, &id) || id != m->count + 1)
        return "its id is not the next one";
    if (*signature == '\0')
        return "no signature";
    if (!parse_number(number, &entry->line))
        return "its source line is no number";
    entry->signature = (uint32_t)(signature - m->text);
    entry->file = (uint32_t)(file - m->text);
    return NULL;
}

static bool is_build(const char *text)
{
    static const char prefix[] = "build ";
    size_t bytes = strlen(text), head = sizeof prefix - 1;

    return bytes == head + NSC_METHODS_BUILD_BYTES && memcmp(text, prefix, head) == 0 &&
           strspn(text + head, "0123456789abcdef") == NSC_METHODS_BUILD_BYTES;
}

static int parse(struct nsc_methods *m, size_t bytes, const char *name, struct nsc_diag *diag)
{
    char *at = m->text, *end = m->text + bytes;
    struct line line = {.number = 0};
    const char *fault;

    if (!next_line(&at, end, &line) || strcmp(line.at, NSC_METHODS_MAGIC) != 0)
        return nsc_diag_set(diag, 0, EBADMSG,
                            "%s is no table of methods (its first line is not %s)", name,
                            NSC_METHODS_MAGIC);
    if (!next_line(&at, end, &line) || !is_build(line.at))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "%s: line 2: no fingerprint of a build", name);
    m->build = line.at + strlen("build ");
    while (next_line(&at, end, &line)) {
        struct entry *bigger = nsc_array_grow(m->entries, &m->room, m->count, sizeof *bigger);

        if (bigger == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        m->entries = bigger;
        fault = parse_method(m, &line, &m->entries[m->count]);
        if (fault != NULL)
            return nsc_diag_set(diag, (uint64_t)(line.at - m->text), EBADMSG, "%s: line %llu: %s",
                                name, (unsigned long long)line.number, fault);
        m->count++;
    }
    return 0;
}

int nsc_methods_read(const char *text, size_t bytes, const char *name, struct nsc_methods **out,
                     struct nsc_diag *diag)
{
    struct nsc_methods *m;
    int error;

    if (bytes > NSC_METHODS_BYTES_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                            "%s is too large for a table of methods", name);
    m = calloc(1, sizeof *m);
    if (m != NULL)
        m->text = malloc(bytes + 1);
    if (m == NULL || m->text == NULL) {
        free(m);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    if (bytes > 0)
        memcpy(m->text, text, bytes);
    m->text[bytes] = '\0';
    error = parse(m, bytes, name, diag);
    if (error != 0) {
        nsc_methods_free(m);
        return error;
    }
    *out = m;
    return 0;
}

int nsc_methods_open(int fd, const char *path, struct nsc_methods **out, struct nsc_diag *diag)
{
    struct nsc_buffer text = {0};
    int error;

    error = nsc_whole_file_read_open(fd, path, NSC_METHODS_BYTES_MAX, &text, diag);
    close(fd);
    if (error == 0)
        error = nsc_methods_read((const char *)text.data, text.used, path, out, diag);
    nsc_buffer_free(&text);
    return error;
}

void nsc_methods_free(struct nsc_methods *m)
{
    if (m == NULL)
        return;
    free(m->entries);
    free(m->text);
    free(m);
}

uint32_t nsc_methods_count(const struct nsc_methods *m)
{
    return m->count;
}

const char *nsc_methods_build(const struct nsc_methods *m)
{
    return m->build;
}

int nsc_methods_get(const struct nsc_methods *m, uint32_t id, struct nsc_method *out)
{
    const struct entry *e;

    if (id == 0 || id > m->count)
        return -ENOENT;
    e = &m->entries[id - 1];
    *out = (struct nsc_method){m->text + e->signature, m->text + e->file, e->line};
    return 0;
}
