/* function_names.c - see function_names.h. */
#include "record/modules/function_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A function id and the symbol that contains its address. */
struct named {
    uint64_t va; /* entry of the symbol; without a symbol, the address of the id */
    uint32_t id;
    const char *symbol; /* NULL: none */
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    if (x->va != y->va)
        return x->va < y->va ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int set_function(const struct nsc_names_table *table, uint32_t module,
                        const struct named *named, const char *name,
                        const struct nsc_symbols_line *line)
{
    char address[24];
    struct nsc_function f = {
        .name = name,
        .symbol = named->symbol,
        .file = line != NULL && line->file != NULL ? line->file : "",
        .line = line != NULL ? line->line : 0,
        .module = module,
        .va = named->va,
    };

    if (named->symbol == NULL) {
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)named->va);
        f.name = f.symbol = address;
    }
    return table->set(table->of, named->id, &f);
}

/* A function that has no name yet. */
struct nameless {
    uint32_t module, id;
    uint64_t va;
};

/* All functions without a name, ordered by module; the caller frees. */
struct nameless_list {
    struct nameless *all;
    size_t count;
};

static int compare_nameless(const void *a, const void *b)
{
    const struct nameless *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int list_nameless(const struct nsc_names_table *table, struct nameless_list *list)
{
    uint32_t functions = table->count(table->of), id;
    struct nsc_function f;

    list->count = 0;
    list->all = calloc((size_t)functions + 1, sizeof *list->all);
    if (list->all == NULL)
        return -ENOMEM;
    for (id = 0; id < functions; id++)
        if (table->get(table->of, id, &f) == 0 &&
            (f.name[0] == '\0' || strncmp(f.name, "0x", 2) == 0))
            list->all[list->count++] = (struct nameless){f.module, id, f.va};
    qsort(list->all, list->count, sizeof *list->all, compare_nameless);
    return 0;
}

/* Returns the first function of one module and their number in @count. */
static const struct nameless *find_module(const struct nameless_list *list, uint32_t module,
                                          size_t *count)
{
    const struct nameless *from = list->all, *end = list->all + list->count, *to;
    size_t left = list->count;

    while (left > 0) {
        size_t half = left / 2;

        if (from[half].module < module) {
            from += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    for (to = from; to < end && to->module == module; to++)
        ;
    *count = (size_t)(to - from);
    return from;
}

/* Looks up the functions' symbols; returns them ordered by symbol; the caller frees. */
static struct named *collect(const struct nameless *from, size_t count, struct nsc_symbols *symbols)
{
    struct named *all = calloc(count, sizeof *all);

    for (size_t i = 0; all != NULL && i < count; i++) {
        struct nsc_symbol symbol;

        all[i] = (struct named){.va = from[i].va, .id = from[i].id};
        if (symbols != NULL && nsc_symbols_find(symbols, from[i].va, &symbol)) {
            all[i].va = symbol.va;
            all[i].symbol = symbol.name;
        }
    }
    if (all != NULL)
        qsort(all, count, sizeof *all, compare_named);
    return all;
}

/* Keeps the first id of each symbol in @all and makes the others its aliases. Returns the number of
 * kept ids. */
static size_t fold_aliases(const struct nsc_names_table *table, struct named *all, size_t count)
{
    size_t i, kept = 0;

    for (i = 0; i < count; i++) {
        if (kept > 0 && all[kept - 1].va == all[i].va && all[kept - 1].symbol == all[i].symbol)
            table->alias(table->of, all[i].id, all[kept - 1].id);
        else
            all[kept++] = all[i];
    }
    return kept;
}

static int name_all(const struct nsc_names_table *table, uint32_t module,
                    struct nsc_symbols *symbols, struct named *all, size_t count)
{
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
        error = set_function(table, module, &all[i], readable[i], &lines[i]);
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

static int resolve_module(const struct nsc_names_table *table, uint32_t module,
                          const struct nameless *from, size_t count, struct nsc_symbols *symbols)
{
    struct named *all = collect(from, count, symbols);
    int error;

    if (all == NULL)
        return -ENOMEM;
    error = name_all(table, module, symbols, all, fold_aliases(table, all, count));
    free(all);
    return error;
}

int nsc_names_resolve(struct nsc_modules *modules)
{
    struct nsc_names_table table = nsc_names_of_writer(modules->writer);
    struct nameless_list list;
    const struct nameless *from;
    int error = list_nameless(&table, &list);
    size_t count;
    uint32_t i;

    from = find_module(&list, NSC_NO_ID, &count);
    if (error == 0 && count > 0)
        error = resolve_module(&table, NSC_NO_ID, from, count, NULL);
    for (i = 0; i < modules->count && error == 0; i++) {
        from = find_module(&list, modules->files[i]->id, &count);
        if (count > 0)
            error = resolve_module(&table, modules->files[i]->id, from, count,
                                   nsc_module_symbols(modules->files[i]));
    }
    free(list.all);
    return error;
}

int nsc_names_resolve_files(const struct nsc_names_table *table, const struct nsc_trace *t)
{
    struct nameless_list list;
    int error = list_nameless(table, &list);

    for (uint32_t i = 0; i < nsc_trace_info(t)->module_count && error == 0; i++) {
        const struct nsc_module *module = nsc_trace_module(t, i);
        struct nsc_symbols_options options = {.size = sizeof options};
        struct nsc_symbols *symbols = NULL;
        const struct nameless *from;
        size_t count;

        from = find_module(&list, i, &count);
        if (count == 0 || module->build_id_bytes == 0)
            continue; /* no functions to name, or no build ID to match the file */
        options.build_id = module->build_id;
        options.build_id_bytes = module->build_id_bytes;
        if (nsc_symbols_open(module->path, &options, &symbols, NULL) < 0)
            continue;
        error = resolve_module(table, i, from, count, symbols);
        nsc_symbols_close(symbols);
    }
    free(list.all);
    return error;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static uint32_t count_of_writer(const void *of)
{
    return nsc_writer_function_count(of);
}

static int get_of_writer(const void *of, uint32_t id, struct nsc_function *out)
{
    return nsc_writer_get_function(of, id, out);
}

static int set_of_writer(void *of, uint32_t id, const struct nsc_function *f)
{
    return nsc_writer_set_function(of, id, f);
}

static int alias_of_writer(void *of, uint32_t id, uint32_t canonical)
{
    return nsc_writer_alias_function(of, id, canonical);
}

struct nsc_names_table nsc_names_of_writer(struct nsc_writer *w)
{
    return (struct nsc_names_table){w, count_of_writer, get_of_writer, set_of_writer,
                                    alias_of_writer};
}

static uint32_t count_of_trace(const void *of)
{
    return nsc_trace_info(of)->function_count;
}

static int get_of_trace(const void *of, uint32_t id, struct nsc_function *out)
{
    *out = *nsc_trace_function(of, id);
    return 0;
}

static int set_of_trace(void *of, uint32_t id, const struct nsc_function *f)
{
    return nsc_trace_set_function(of, id, f);
}

static int alias_of_trace(void *of, uint32_t id, uint32_t canonical)
{
    return nsc_trace_alias_function(of, id, canonical);
}

struct nsc_names_table nsc_names_of_trace(struct nsc_trace *t)
{
    return (struct nsc_names_table){t, count_of_trace, get_of_trace, set_of_trace, alias_of_trace};
}
