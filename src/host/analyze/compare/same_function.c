/* same_function.c - which functions of different traces are the same; see same_function.h. */
#include "analyze/compare/same_function.h"

#include <stdlib.h>
#include <string.h>

#include "util/path.h"

/* The traced program itself gets the name "": it may have another name in the other trace. */
static const char *module_name(const struct nsc_trace *t, uint32_t module)
{
    const char *name = nsc_path_base_name(nsc_trace_module(t, module)->path);

    for (uint32_t i = 0; i < nsc_trace_info(t)->process_count; i++)
        if (strcmp(nsc_path_base_name(nsc_trace_process(t, i)->name), name) == 0)
            return "";
    return name;
}

const char **nsc_same_function_modules(const struct nsc_trace *t)
{
    uint32_t count = nsc_trace_info(t)->module_count;
    const char **names = calloc(count + 1u, sizeof(*names));

    for (uint32_t i = 0; names != NULL && i < count; i++)
        names[i] = module_name(t, i);
    return names;
}

struct nsc_same_function nsc_same_function_find(const struct nsc_trace *t,
                                                const char *const *modules, uint32_t function)
{
    const struct nsc_function *f = nsc_trace_function(t, function);

    return (struct nsc_same_function){.name = f->name,
                                      .module = f->module != NSC_NO_ID ? modules[f->module] : "",
                                      .file = nsc_path_base_name(f->file)};
}

int nsc_same_function_compare_places(const struct nsc_same_function *x,
                                     const struct nsc_same_function *y)
{
    int modules = strcmp(x->module, y->module);

    return modules != 0 ? modules : strcmp(x->file, y->file);
}

int nsc_same_function_compare(const struct nsc_same_function *x, const struct nsc_same_function *y)
{
    int names = strcmp(x->name, y->name);

    return names != 0 ? names : nsc_same_function_compare_places(x, y);
}
