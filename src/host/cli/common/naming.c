/* naming.c - see naming.h. */
#include "cli/common/naming.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/modules/function_names.h"

struct known {
    uint32_t module;
    uint64_t va; /* as recorded, before naming */
    char *name, *symbol, *file;
    uint64_t symbol_va;
    uint32_t line, canonical;
};

struct nsc_naming {
    pthread_mutex_t lock; /* protects the members below */
    struct known *functions;
    uint32_t count;
};

struct nsc_naming *nsc_naming_new(void)
{
    struct nsc_naming *n = calloc(1, sizeof *n);

    if (n != NULL)
        pthread_mutex_init(&n->lock, NULL);
    return n;
}

static void forget(struct nsc_naming *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        free(n->functions[i].name);
        free(n->functions[i].symbol);
        free(n->functions[i].file);
    }
    free(n->functions);
    n->functions = NULL;
    n->count = 0;
}

void nsc_naming_free(struct nsc_naming *n)
{
    if (n == NULL)
        return;
    forget(n);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

/* Look up and cache the names of all functions. A new id may be an alias of a known function, so
 * this handles all functions again whenever the trace has more. */
static void learn(struct nsc_naming *n, struct nsc_trace *t)
{
    struct nsc_names_table table = nsc_names_of_trace(t);
    uint32_t count = nsc_trace_info(t)->function_count;
    struct known *functions = calloc((size_t)count + 1, sizeof *functions);

    if (functions == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        functions[i].module = nsc_trace_function(t, i)->module;
        functions[i].va = nsc_trace_function(t, i)->va;
    }
    (void)nsc_names_resolve_files(&table, t); /* out of memory: keep the names found so far */
    forget(n);
    n->functions = functions;
    n->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct nsc_function *f = nsc_trace_function(t, i);
        struct known *k = &functions[i];

        k->name = strdup(f->name);
        k->symbol = strdup(f->symbol);
        k->file = strdup(f->file);
        k->symbol_va = f->va;
        k->line = f->line;
        k->canonical = nsc_trace_canonical(t, i);
    }
}

/* Whether a cached entry fits a function: another file may have replaced the original. */
static bool is_same(const struct known *k, const struct nsc_function *f)
{
    return k->name != NULL && k->symbol != NULL && k->file != NULL && k->module == f->module &&
           k->va == f->va;
}

static void tell(const struct known *k, struct nsc_trace *t, uint32_t id)
{
    struct nsc_function f = *nsc_trace_function(t, id);

    if (!is_same(k, &f))
        return;
    f.name = k->name;
    f.symbol = k->symbol;
    f.file = k->file;
    f.va = k->symbol_va;
    f.line = k->line;
    (void)nsc_trace_set_function(t, id, &f);
    if (k->canonical != id)
        (void)nsc_trace_alias_function(t, id, k->canonical);
}

void nsc_naming_apply(void *naming, struct nsc_trace *t)
{
    struct nsc_naming *n = naming;
    uint32_t count = nsc_trace_info(t)->function_count;

    pthread_mutex_lock(&n->lock);
    if (count > n->count) {
        learn(n, t);
    } else {
        for (uint32_t i = 0; i < count; i++)
            tell(&n->functions[i], t, i);
    }
    pthread_mutex_unlock(&n->lock);
}
