/* context_categories.c - finds the categories of a trace's functions once and keeps them with the
 * source. */
#include <errno.h>

#include "viewer/engine/context.h"

const struct nsc_categories *nsc_context_categories(struct nsc_engine_context *ask)
{
    struct nsc_engine_source *source = ask->source;
    struct nsc_category_rules *ready = NULL;
    const struct nsc_category_rules *rules = ask->options->rules;
    int error = 0;

    if (source->categories.count > 0)
        return &source->categories;
    if (rules == NULL) {
        error = nsc_category_rules_read(NULL, 0, &ready, &ask->diag);
        rules = ready;
    }
    if (error == 0)
        error = nsc_categories_make(rules, source->trace, &source->categories);
    nsc_category_rules_free(ready);
    if (error != 0) {
        nsc_context_no_memory(ask);
        return NULL;
    }
    return &source->categories;
}
