/* labels.c - see labels.h. */
#include "cli/common/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/path.h"

static int compare_names(const void *a, const void *b, void *context)
{
    const struct nsc_cli_labels *labels = context;
    const uint32_t *x = a, *y = b;

    return strcmp(nsc_trace_function(labels->trace, *x)->name,
                  nsc_trace_function(labels->trace, *y)->name);
}

/* @ids: sorted by name. */
static void mark_shared(struct nsc_cli_labels *labels, const uint32_t *ids, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(nsc_trace_function(labels->trace, ids[i - 1])->name,
                   nsc_trace_function(labels->trace, ids[i])->name) == 0)
            labels->shared[ids[i - 1]] = labels->shared[ids[i]] = 1;
}

void nsc_cli_labels_init(struct nsc_cli_labels *labels, const struct nsc_trace *t)
{
    uint32_t functions = nsc_trace_info(t)->function_count, count = 0;
    uint32_t *ids = calloc(functions + 1u, sizeof *ids);

    *labels = (struct nsc_cli_labels){.trace = t, .shared = calloc(functions + 1u, 1)};
    if (ids != NULL && labels->shared != NULL) {
        for (uint32_t i = 0; i < functions; i++)
            if (nsc_trace_canonical(t, i) == i)
                ids[count++] = i;
        qsort_r(ids, count, sizeof *ids, compare_names, labels);
        mark_shared(labels, ids, count);
    }
    free(ids);
}

void nsc_cli_labels_free(struct nsc_cli_labels *labels)
{
    free(labels->shared);
    free(labels->text);
    *labels = (struct nsc_cli_labels){0};
}

const char *nsc_cli_label(struct nsc_cli_labels *labels, uint32_t function)
{
    const struct nsc_function *f = nsc_trace_function(labels->trace, function);
    char line[16] = "";
    int length;

    if (labels->shared == NULL || !labels->shared[function] || f->module == NSC_NO_ID)
        return f->name;
    if (f->line > 0)
        snprintf(line, sizeof line, ":%" PRIu32, f->line);
    free(labels->text);
    length = asprintf(&labels->text, "%s [%s+0x%" PRIx64 "%s%s%s]", f->name,
                      nsc_path_base_name(nsc_trace_module(labels->trace, f->module)->path), f->va,
                      f->file[0] != '\0' ? " " : "", nsc_path_base_name(f->file),
                      f->file[0] != '\0' ? line : "");
    if (length < 0)
        labels->text = NULL;
    return length < 0 ? f->name : labels->text;
}
