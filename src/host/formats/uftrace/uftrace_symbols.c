/*
 * uftrace_symbols.c - the modules of a uftrace folder: symbols (*.sym) and source lines (*.dbg).
 * Called by uftrace_names.c.
 *
 * A module's symbols are read at the first lookup in it.
 */
#include "formats/uftrace/uftrace_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/path.h"
#include "util/search.h"

#define FILES_MAX   8192u
#define SYMBOLS_MAX ((size_t)512 << 20) /* bytes of a .sym or .dbg file */
#define HEAD_BYTES  4096u               /* start of a .sym file in which its comments are read */

char *nsc_uftrace_next_line(char **at)
{
    char *line = *at, *end;

    if (*line == '\0')
        return NULL;
    end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    *at = end != NULL ? end + 1 : line + strlen(line);
    return line;
}

/* ---- Modules ------------------------------------------------------------------------------ */

static bool is_symbol_file(const char *name)
{
    size_t bytes = strlen(name);

    return bytes > 4 && strcmp(name + bytes - 4, ".sym") == 0;
}

static struct uft_module *add_module(struct uft *u, const char *path, const char *build_id,
                                     const char *file)
{
    struct uft_module *all =
        nsc_array_grow(u->modules, &u->module_room, u->module_count, sizeof *all);
    struct uft_module *m;

    if (all == NULL)
        return NULL;
    u->modules = all;
    m = &all[u->module_count];
    *m = (struct uft_module){.path = strdup(path),
                             .build_id = strdup(build_id),
                             .file = file != NULL ? strdup(file) : NULL,
                             .id = NSC_NO_ID};
    if (m->path == NULL || m->build_id == NULL || (file != NULL && m->file == NULL)) {
        free(m->path);
        free(m->build_id);
        free(m->file);
        return NULL;
    }
    u->module_count++;
    return m;
}

/* Adds the module of a symbol file. Comments at the file's start name the module and its build ID;
 * old files have none, then the file name is used. */
static int add_symbol_file(struct uft *u, const char *name)
{
    char head[HEAD_BYTES + 1], path[HEAD_BYTES], build_id[HEAD_BYTES], *at = head, *line;
    struct nsc_diag why;
    struct nsc_paged_file *b;
    size_t count;
    int error = nsc_paged_file_open(u->folder, name, &b, &why);

    if (error != 0) {
        nsc_job_notes_add(u->job->notes, "%s; its names are missing", why.message);
        return error == -ENOMEM ? error : 0;
    }
    count = b->size < HEAD_BYTES ? (size_t)b->size : HEAD_BYTES;
    if (count > 0 && nsc_paged_file_get(b, 0, count) != NULL)
        memcpy(head, b->buffer, count);
    else
        count = 0;
    nsc_paged_file_close(b);
    head[count] = '\0';
    snprintf(path, sizeof path, "%.*s", (int)(strlen(name) - 4), name);
    build_id[0] = '\0';
    while ((line = nsc_uftrace_next_line(&at)) != NULL && line[0] == '#') {
        if (strncmp(line, "# path name: ", 13) == 0)
            snprintf(path, sizeof path, "%s", line + 13);
        else if (strncmp(line, "# build-id: ", 12) == 0)
            snprintf(build_id, sizeof build_id, "%s", line + 12);
    }
    return add_module(u, path, build_id, name) != NULL ? 0 : -ENOMEM;
}

int nsc_uftrace_list_modules(struct uft *u, struct nsc_diag *diag)
{
    char **names;
    size_t count;
    int error = nsc_paged_file_list(u->folder, is_symbol_file, FILES_MAX, &names, &count, diag);

    if (error != 0)
        return error;
    for (size_t i = 0; i < count && error == 0; i++)
        error = add_symbol_file(u, names[i]);
    nsc_paged_file_free_list(names, count);
    return error != 0 ? nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory") : 0;
}

/* Returns how well a module matches a mapped path and build ID; 0 = no match. */
static unsigned match(const struct uft_module *m, const char *path, const char *build_id)
{
    bool known = build_id[0] != '\0' && m->build_id[0] != '\0';

    if (known && strcmp(m->build_id, build_id) != 0)
        return 0;
    if (strcmp(m->path, path) == 0)
        return known ? 4 : 3;
    if (strcmp(nsc_path_base_name(m->path), nsc_path_base_name(path)) == 0)
        return known ? 2 : 1;
    return 0;
}

uint32_t nsc_uftrace_find_module(struct uft *u, const char *path, const char *build_id)
{
    unsigned best = 0;
    uint32_t found = NSC_NO_ID;

    for (uint32_t i = 0; i < u->module_count; i++) {
        unsigned fit = match(&u->modules[i], path, build_id);

        if (fit > best) {
            best = fit;
            found = i;
        }
    }
    if (found != NSC_NO_ID)
        return found;
    return add_module(u, path, build_id, NULL) != NULL ? u->module_count - 1 : NSC_NO_ID;
}

/* ---- Symbols ------------------------------------------------------------------------------ */

static int compare_symbols(const void *a, const void *b)
{
    const struct uft_symbol *x = a, *y = b;

    if (x->va != y->va)
        return x->va < y->va ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Parses "address [size] type name". Returns the type, or 0 if the line is something else. */
static char parse_symbol(char *line, struct uft_symbol *s)
{
    char *at, type;

    if (!isxdigit((unsigned char)line[0]))
        return 0;
    *s = (struct uft_symbol){.va = strtoull(line, &at, 16), .function = NSC_NO_ID};
    if (*at++ != ' ' || *at == '\0')
        return 0;
    if (isdigit((unsigned char)*at)) {
        s->end = s->va + strtoull(at, &at, 16);
        if (*at++ != ' ' || *at == '\0')
            return 0;
    }
    type = *at++;
    if (*at++ != ' ')
        return 0;
    s->name = at;
    at[strcspn(at, "\t\r")] = '\0';
    return type;
}

static int add_symbol(struct uft_module *m, uint32_t *room, const struct uft_symbol *s)
{
    struct uft_symbol *all = nsc_array_grow(m->symbols, room, m->symbol_count, sizeof *all);

    if (all == NULL)
        return -ENOMEM;
    m->symbols = all;
    all[m->symbol_count++] = *s;
    return 0;
}

/* Sorts the symbols and fills in missing ends. Of several names of an address, the first in
 * alphabetical order is kept. A `?` symbol ends the symbol before it. */
static void tidy_symbols(struct uft_module *m)
{
    uint32_t kept = 0;

    if (m->symbol_count > 0)
        qsort(m->symbols, m->symbol_count, sizeof *m->symbols, compare_symbols);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct uft_symbol *s = &m->symbols[i];

        if (kept > 0 && m->symbols[kept - 1].va == s->va && m->symbols[kept - 1].name != NULL)
            continue;
        if (kept > 0 && m->symbols[kept - 1].end == 0)
            m->symbols[kept - 1].end = s->va;
        m->symbols[kept++] = *s;
    }
    m->symbol_count = kept;
}

static int read_symbols(struct uft *u, struct uft_module *m)
{
    struct nsc_diag why;
    size_t bytes;
    char *at, *line;
    uint32_t room = 0;
    int error;

    if (m->file == NULL)
        return 0;
    error = nsc_paged_file_text(u->folder, m->file, SYMBOLS_MAX, &m->text, &bytes, &why);
    if (error != 0) {
        nsc_job_notes_add(u->job->notes, "%s; its names are missing", why.message);
        return error == -ENOMEM ? error : 0;
    }
    at = m->text;
    while (error == 0 && (line = nsc_uftrace_next_line(&at)) != NULL) {
        struct uft_symbol s;
        char type = parse_symbol(line, &s);

        if (type == '?')
            s.name = ""; /* end of a section: no name; sorts before a symbol at that address */
        if (type == '?' || (type != 0 && strchr("TtwWPKDdvVuiI", type) != NULL))
            error = add_symbol(m, &room, &s);
    }
    tidy_symbols(m);
    return error;
}

struct uft_symbol *nsc_uftrace_find_symbol(const struct uft_module *m, uint64_t va)
{
    uint32_t next = NSC_PARTITION_POINT(i, m->symbol_count, m->symbols[i].va <= va);
    struct uft_symbol *s = next > 0 ? &m->symbols[next - 1] : NULL;

    return s != NULL && s->name[0] != '\0' && (s->end == 0 || va < s->end) ? s : NULL;
}

/* Reads the source lines of functions: "F: address name", then "L: line file". */
static int read_lines(struct uft *u, struct uft_module *m)
{
    struct uft_symbol *symbol = NULL;
    char *name, *at, *line;
    size_t bytes;
    int error;

    if (m->file == NULL || asprintf(&name, "%.*s.dbg", (int)(strlen(m->file) - 4), m->file) < 0)
        return m->file == NULL ? 0 : -ENOMEM;
    error = nsc_paged_file_text(u->folder, name, SYMBOLS_MAX, &m->debug, &bytes, NULL);
    free(name);
    if (error != 0)
        return error == -ENOMEM ? error : 0; /* the .dbg file is optional */
    at = m->debug;
    while ((line = nsc_uftrace_next_line(&at)) != NULL) {
        if (strncmp(line, "F: ", 3) == 0) {
            symbol = nsc_uftrace_find_symbol(m, strtoull(line + 3, NULL, 16));
        } else if (strncmp(line, "L: ", 3) == 0 && symbol != NULL) {
            symbol->line = (uint32_t)strtoul(line + 3, &line, 10);
            symbol->file = *line == ' ' ? line + 1 : NULL;
        }
    }
    return 0;
}

int nsc_uftrace_need_symbols(struct uft *u, struct uft_module *m)
{
    int error;

    if (m->read)
        return 0;
    m->read = true;
    error = read_symbols(u, m);
    return error == 0 ? read_lines(u, m) : error;
}

void nsc_uftrace_modules_free(struct uft *u)
{
    for (uint32_t i = 0; i < u->module_count; i++) {
        free(u->modules[i].path);
        free(u->modules[i].build_id);
        free(u->modules[i].file);
        free(u->modules[i].text);
        free(u->modules[i].debug);
        free(u->modules[i].symbols);
    }
    free(u->modules);
}
