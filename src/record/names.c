/* names.c - see names.h. */
#include "record/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A function id and the symbol that its address lies in. */
struct named {
    uint64_t va; /* entry of the symbol; of the id's own address if it has none */
    uint32_t id;
    const char *symbol; /* NULL = none */
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    if (x->va != y->va)
        return x->va < y->va ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int set_function(struct nsc_modules *modules, uint32_t module, const struct named *named,
                        const char *name, const struct nsc_symbols_line *line)
{
    char address[24];
    struct nsc_function f = {
        .name = name,
        .symbol = named->symbol,
        .file = line != NULL && line->file != NULL ? line->file : "",
        .line = line != NULL ? line->line : 0,
        .module = module == NSC_NO_ID ? NSC_NO_ID : modules->files[module]->id,
        .va = named->va,
    };

    if (named->symbol == NULL) {
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)named->va);
        f.name = f.symbol = address;
    }
    return nsc_writer_set_function(modules->writer, named->id, &f);
}

/* The ids of one module with their symbols, ordered by symbol; the caller frees. */
static struct named *collect(struct nsc_modules *modules, uint32_t module, size_t *count)
{
    struct nsc_symbols *symbols =
        module == NSC_NO_ID ? NULL : nsc_module_symbols(modules->files[module]);
    struct named *all = calloc((size_t)modules->place_count + 1, sizeof *all);
    uint32_t id;

    if (all == NULL)
        return NULL;
    *count = 0;
    for (id = 0; id < modules->place_count; id++) {
        const struct nsc_place *place = &modules->places[id];
        struct nsc_symbol symbol;

        if (place->module != module)
            continue;
        all[*count] = (struct named){.va = place->va, .id = id};
        if (symbols != NULL && nsc_symbols_find(symbols, place->va, &symbol)) {
            all[*count].va = symbol.va;
            all[*count].symbol = symbol.name;
        }
        ++*count;
    }
    qsort(all, *count, sizeof *all, compare_named);
    return all;
}

/* Keeps the first id of each symbol in @all and makes the others its aliases; returns how many. */
static size_t fold_aliases(struct nsc_modules *modules, struct named *all, size_t count)
{
    size_t i, kept = 0;

    for (i = 0; i < count; i++) {
        if (kept > 0 && all[kept - 1].va == all[i].va && all[kept - 1].symbol == all[i].symbol)
            nsc_writer_alias_function(modules->writer, all[i].id, all[kept - 1].id);
        else
            all[kept++] = all[i];
    }
    return kept;
}

static int name_all(struct nsc_modules *modules, uint32_t module, struct named *all, size_t count)
{
    struct nsc_symbols *symbols =
        module == NSC_NO_ID ? NULL : nsc_module_symbols(modules->files[module]);
    struct nsc_symbols_line *lines = calloc(count, sizeof *lines);
    const char **linked = calloc(count, sizeof *linked);
    uint64_t *vas = calloc(count, sizeof *vas);
    char **readable = calloc(count, sizeof *readable);
    int error = -ENOMEM;
    size_t i;

    if (lines == NULL || linked == NULL || vas == NULL || readable == NULL)
        goto out;
    for (i = 0; i < count; i++) {
        linked[i] = all[i].symbol != NULL ? all[i].symbol : "";
        vas[i] = all[i].va;
    }
    error = nsc_symbols_demangle(linked, count, readable);
    if (error == 0 && symbols != NULL)
        error = nsc_symbols_lines(symbols, vas, count, lines);
    for (i = 0; i < count && error == 0; i++)
        error = set_function(modules, module, &all[i], readable[i], &lines[i]);
    nsc_symbols_lines_free(lines, count);
    for (i = 0; i < count; i++)
        free(readable[i]);
out:
    free(lines);
    free(linked);
    free(vas);
    free(readable);
    return error;
}

static int resolve_module(struct nsc_modules *modules, uint32_t module)
{
    size_t count = 0;
    struct named *all = collect(modules, module, &count);
    int error = 0;

    if (all == NULL)
        return -ENOMEM;
    count = fold_aliases(modules, all, count);
    if (count > 0)
        error = name_all(modules, module, all, count);
    free(all);
    return error;
}

int nsc_names_resolve(struct nsc_modules *modules)
{
    int error = resolve_module(modules, NSC_NO_ID);
    uint32_t i;

    for (i = 0; i < modules->count && error == 0; i++)
        error = resolve_module(modules, i);
    return error;
}
