/*
 * ctf_names.c - symbolize functions that CTF events identify by address: find the mapped module and
 * its symbol. Called by ctf_calls.c and ctf_import.c. Modules may be announced after the calls, so
 * names are looked up at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf_import.h"
#include "symbols/symbols.h"
#include "util/array.h"
#include "util/search.h"
#include "util/text/units.h"

#define LOADS_MAX 65536u

/* A module and its symbols, during the lookup of names. */
struct module {
    const struct ctf_load *load;
    struct nsc_symbols *symbols; /* NULL = none */
    uint32_t id;
};

struct finder {
    struct ctf *c;
    struct module *modules;
    uint32_t count, room;
    struct nsc_names seen;    /* "module address" to the first function found there */
    struct nsc_names by_file; /* path, NUL, build ID, to the index in `modules` */
    const char **symbols;     /* by function id: its symbol, or NULL */
    char **names;             /* by function id: its demangled name */
};

static uint32_t slot_of(const struct ctf_address *all, uint32_t slots, uint64_t process,
                        uint64_t address)
{
    uint64_t hash = nsc_hash_word(nsc_hash_word(nsc_hash_seed(), process), address);
    uint32_t at = (uint32_t)hash & (slots - 1);

    while (all[at].function != 0 && (all[at].address != address || all[at].process != process))
        at = (at + 1) & (slots - 1);
    return at;
}

static int grow(struct ctf *c)
{
    uint32_t slots = c->address_slots == 0 ? 1024 : c->address_slots * 2;
    struct ctf_address *all = calloc(slots, sizeof *all);

    if (all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->address_slots; i++) {
        const struct ctf_address *a = &c->addresses[i];

        if (a->function != 0)
            all[slot_of(all, slots, a->process, a->address)] = *a;
    }
    free(c->addresses);
    c->addresses = all;
    c->address_slots = slots;
    return 0;
}

int nsc_ctf_address(struct ctf *c, uint64_t process, uint64_t address, uint32_t *function)
{
    char name[24];
    struct nsc_function f = {.name = name, .symbol = name, .file = "", .module = NSC_NO_ID};
    struct ctf_address *a;
    uint32_t id;
    int error = 0;

    if (c->address_count * 2 >= c->address_slots && grow(c) != 0)
        return -ENOMEM;
    a = &c->addresses[slot_of(c->addresses, c->address_slots, process, address)];
    if (a->function == 0) {
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
        f.va = address;
        error = nsc_writer_add_function(c->job->writer, &f, &id);
        if (error != 0)
            return error;
        *a = (struct ctf_address){process, address, id + 1, NSC_NO_ID};
        c->address_count++;
    }
    *function = a->function - 1;
    return 0;
}

/* ---- Modules ------------------------------------------------------------------------------ */

/* Finds the index entry of a mapped module: by process, start and @path, or, if @path is NULL, that
 * of the last module mapped at @start. */
static int find_place(struct ctf *c, uint64_t process, uint64_t start, const char *path,
                      struct nsc_names_entry **entry)
{
    char key[2 * sizeof(uint64_t) + CTF_PATH_BYTES];
    size_t bytes = path != NULL ? strlen(path) + 1 : 0;

    memcpy(key, &process, sizeof process);
    memcpy(key + sizeof process, &start, sizeof start);
    if (path != NULL)
        memcpy(key + 2 * sizeof(uint64_t), path, bytes);
    return nsc_names_find(&c->places, key, 2 * sizeof(uint64_t) + bytes, entry);
}

int nsc_ctf_loaded(struct ctf *c, uint64_t process, const struct ctf_load *load)
{
    struct nsc_names_entry *e;
    struct ctf_load *all;

    if (find_place(c, process, load->start, load->path, &e) != 0)
        return -ENOMEM;
    if (e->id != UINT32_MAX)
        return 0;
    if (c->load_count == LOADS_MAX) {
        c->loads_left_out++;
        return 0;
    }
    e->id = c->load_count;
    all = nsc_array_grow(c->loads, &c->load_room, c->load_count, sizeof *all);
    if (all == NULL || find_place(c, process, load->start, NULL, &e) != 0)
        return -ENOMEM;
    c->loads = all;
    e->id = c->load_count; /* now the last module mapped at this start */
    all[c->load_count] = *load;
    all[c->load_count].process = process;
    all[c->load_count].path = strdup(load->path);
    return all[c->load_count].path != NULL ? (c->load_count++, 0) : -ENOMEM;
}

int nsc_ctf_built(struct ctf *c, uint64_t process, uint64_t start, const void *id, size_t bytes)
{
    struct nsc_names_entry *e;
    struct ctf_load *l;

    if (find_place(c, process, start, NULL, &e) != 0)
        return -ENOMEM;
    l = e->id != UINT32_MAX ? &c->loads[e->id] : NULL;
    if (l == NULL || l->build_id_bytes != 0)
        return 0;
    l->build_id_bytes = (uint32_t)(bytes < sizeof l->build_id ? bytes : sizeof l->build_id);
    memcpy(l->build_id, id, l->build_id_bytes);
    return 0;
}

/* ---- Names -------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct ctf_address *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static int compare_functions(const void *a, const void *b)
{
    const struct ctf_address *x = a, *y = b;

    return (x->function > y->function) - (x->function < y->function);
}

/* Returns the index of the first address that is not below the start of @l. The addresses must be
 * sorted. */
static uint32_t first_of(const struct ctf *c, const struct ctf_load *l)
{
    const struct ctf_address start = {.process = l->process, .address = l->start};

    return NSC_PARTITION_POINT(i, c->address_count, compare_places(&c->addresses[i], &start) < 0);
}

/* Returns the first index, from @at on, of an address without a load. @next[i] is a lower bound of
 * that index for i, and is updated (path compression). */
static uint32_t next_free(uint32_t *next, uint32_t at)
{
    while (next[at] != at)
        at = next[at] = next[next[at]];
    return at;
}

/* Finds the load of each address; if several contain it, the last one is used. Turns the hash table
 * into an array sorted by function. */
static int place_addresses(struct ctf *c)
{
    uint32_t kept = 0, *next = malloc(((size_t)c->address_count + 1) * sizeof *next);

    if (next == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < c->address_slots; i++)
        if (c->addresses[i].function != 0)
            c->addresses[kept++] = c->addresses[i];
    c->address_slots = c->address_count = kept;
    qsort(c->addresses, kept, sizeof *c->addresses, compare_places);
    for (uint32_t i = 0; i <= kept; i++)
        next[i] = i;
    for (uint32_t i = c->load_count; i > 0; i--) {
        const struct ctf_load *l = &c->loads[i - 1];

        for (uint32_t at = next_free(next, first_of(c, l));
             at < kept && c->addresses[at].process == l->process &&
             c->addresses[at].address < l->end;
             at = next_free(next, at)) {
            c->addresses[at].load = i - 1;
            next[at] = at + 1;
        }
    }
    qsort(c->addresses, kept, sizeof *c->addresses, compare_functions);
    free(next);
    return 0;
}

/* Finds the index entry of a module by its file and build ID; the entry's id is UINT32_MAX if new.
 */
static int find_file(struct finder *f, const struct ctf_load *load, struct nsc_names_entry **entry)
{
    char key[CTF_PATH_BYTES + sizeof load->build_id];
    size_t bytes = strlen(load->path) + 1;

    memcpy(key, load->path, bytes);
    memcpy(key + bytes, load->build_id, load->build_id_bytes);
    return nsc_names_find(&f->by_file, key, bytes + load->build_id_bytes, entry);
}

/* Finds or adds the module of a load. Reads its symbols if its file exists on this machine. */
static int need_module(struct finder *f, const struct ctf_load *load, struct module **out)
{
    struct nsc_symbols_options options = {.size = sizeof options};
    struct nsc_module about = {.path = load->path, .build_id_bytes = load->build_id_bytes};
    struct nsc_names_entry *e;
    struct nsc_diag why;
    struct module *all;
    int error;

    if (find_file(f, load, &e) != 0)
        return -ENOMEM;
    if (e->id != UINT32_MAX) {
        *out = &f->modules[e->id];
        return 0;
    }
    all = nsc_array_grow(f->modules, &f->room, f->count, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    f->modules = all;
    all[f->count] = (struct module){.load = load};
    memcpy(about.build_id, load->build_id, sizeof about.build_id);
    error = nsc_writer_add_module(f->c->job->writer, &about, &all[f->count].id);
    if (error != 0)
        return error;
    if (load->build_id_bytes > 0) {
        options.build_id = load->build_id;
        options.build_id_bytes = load->build_id_bytes;
    }
    if (load->path[0] != '/')
        error =
            nsc_diag_set(&why, NSC_DIAG_NO_OFFSET, ENOENT, "%s is no path of a file", load->path);
    else
        error = nsc_symbols_open(load->path, &options, &all[f->count].symbols, &why);
    if (error != 0) {
        all[f->count].symbols = NULL;
        nsc_job_notes_add(f->c->job->notes, "%s; its functions have addresses for names",
                          why.message);
    }
    e->id = f->count;
    *out = &all[f->count++];
    return 0;
}

/* Looks up the symbol of an address. If another process has the same function, this one becomes an
 * alias of it. */
static int find_name(struct finder *f, const struct ctf_address *a)
{
    uint32_t id = a->function - 1;
    const struct ctf_load *load = a->load != NSC_NO_ID ? &f->c->loads[a->load] : NULL;
    struct nsc_function about;
    struct nsc_symbol symbol;
    struct nsc_names_entry *e;
    struct module *m;
    char key[64];
    int bytes, error = load != NULL ? need_module(f, load, &m) : 0;

    if (load == NULL || error != 0)
        return error;
    error = nsc_writer_get_function(f->c->job->writer, id, &about);
    if (error != 0)
        return error;
    about.module = m->id;
    about.va = load->moved ? a->address - load->start : a->address;
    if (m->symbols != NULL && nsc_symbols_find(m->symbols, about.va, &symbol)) {
        f->symbols[id] = symbol.name;
        about.va = symbol.va;
    }
    bytes = snprintf(key, sizeof key, "%u %llx", m->id, (unsigned long long)about.va);
    error = nsc_names_find(&f->seen, key, (size_t)bytes, &e);
    if (error == 0)
        error = nsc_writer_set_function(f->c->job->writer, id, &about);
    if (error == 0 && e->id == UINT32_MAX)
        e->id = id;
    else if (error == 0)
        error = nsc_writer_alias_function(f->c->job->writer, id, e->id);
    return error;
}

static int set_names(struct finder *f, uint32_t count)
{
    int error = 0;

    for (uint32_t i = 0; i < count; i++)
        if (f->symbols[i] == NULL)
            f->symbols[i] = "";
    error = nsc_symbols_demangle(f->symbols, count, f->names);
    for (uint32_t i = 0; i < count && error == 0; i++) {
        struct nsc_function about;

        if (f->symbols[i][0] == '\0')
            continue;
        error = nsc_writer_get_function(f->c->job->writer, i, &about);
        about.name = f->names[i];
        about.symbol = f->symbols[i];
        if (error == 0)
            error = nsc_writer_set_function(f->c->job->writer, i, &about);
    }
    return error;
}

int nsc_ctf_names_finish(struct ctf *c)
{
    uint32_t count = nsc_writer_function_count(c->job->writer);
    struct finder f = {.c = c};
    uint64_t unknown = 0;
    int error;

    if (c->loads_left_out > 0)
        nsc_job_notes_add(c->job->notes,
                          "%s module%s beyond the first %s: functions there have no names",
                          nsc_units_count(c->loads_left_out).text,
                          c->loads_left_out == 1 ? "" : "s", nsc_units_count(LOADS_MAX).text);
    if (c->address_count == 0)
        return 0;
    f.symbols = calloc((size_t)count + 1, sizeof *f.symbols);
    f.names = calloc((size_t)count + 1, sizeof *f.names);
    error = f.symbols == NULL || f.names == NULL ? -ENOMEM : place_addresses(c);
    for (uint32_t i = 0; i < c->address_count && error == 0; i++) {
        error = find_name(&f, &c->addresses[i]);
        unknown += c->addresses[i].load == NSC_NO_ID;
    }
    if (error == 0)
        error = set_names(&f, count);
    if (error == 0 && unknown > 0)
        nsc_job_notes_add(
            c->job->notes,
            "the trace does not say which program is at the addresses of %s function%s",
            nsc_units_count(unknown).text, unknown == 1 ? "" : "s");
    for (uint32_t i = 0; f.names != NULL && i < count; i++)
        free(f.names[i]);
    for (uint32_t i = 0; i < f.count; i++)
        if (f.modules[i].symbols != NULL)
            nsc_symbols_close(f.modules[i].symbols);
    nsc_names_free(&f.seen);
    nsc_names_free(&f.by_file);
    free(f.modules);
    free(f.symbols);
    free(f.names);
    return error;
}
