/* trace_tables.c - see reader.h: access to the tables of an open trace. */
#include <errno.h>

#include "trace/read/reader_state.h"

const char *nsc_trace_name(const struct nsc_trace *t)
{
    return t->name;
}

int nsc_trace_fd(const struct nsc_trace *t)
{
    return t->fd;
}

const struct nsc_trace_info *nsc_trace_info(const struct nsc_trace *t)
{
    return &t->info;
}

const struct nsc_clock *nsc_trace_clock(const struct nsc_trace *t)
{
    return &t->clock;
}

const struct nsc_process *nsc_trace_process(const struct nsc_trace *t, uint32_t id)
{
    return id < t->processes.count ? (const struct nsc_process *)t->processes.items + id : NULL;
}

const struct nsc_thread *nsc_trace_thread(const struct nsc_trace *t, uint32_t id)
{
    return id < t->threads.count ? (const struct nsc_thread *)t->threads.items + id : NULL;
}

const struct nsc_module *nsc_trace_module(const struct nsc_trace *t, uint32_t id)
{
    return id < t->modules.count ? (const struct nsc_module *)t->modules.items + id : NULL;
}

const struct nsc_mapping *nsc_trace_mapping(const struct nsc_trace *t, uint32_t id)
{
    return id < t->mappings.count ? (const struct nsc_mapping *)t->mappings.items + id : NULL;
}

const struct nsc_function *nsc_trace_function(const struct nsc_trace *t, uint32_t id)
{
    const struct nsc_entry_function *functions = t->functions.items;

    return id < t->functions.count ? &functions[id].f : NULL;
}

int nsc_trace_set_function(struct nsc_trace *t, uint32_t id, const struct nsc_function *f)
{
    struct nsc_entry_function *functions = t->functions.items;
    struct nsc_function copy = *f;

    if (id >= t->functions.count || (f->module != NSC_NO_ID && f->module >= t->modules.count))
        return -EINVAL;
    copy.name = nsc_arena_text(&t->arena, f->name, strlen(f->name));
    copy.symbol = nsc_arena_text(&t->arena, f->symbol, strlen(f->symbol));
    copy.file = nsc_arena_text(&t->arena, f->file, strlen(f->file));
    if (copy.name == NULL || copy.symbol == NULL || copy.file == NULL)
        return -ENOMEM;
    functions[id].f = copy;
    return 0;
}

int nsc_trace_alias_function(struct nsc_trace *t, uint32_t id, uint32_t canonical)
{
    struct nsc_left_out *left_out = t->left_out.items;

    if (id >= t->functions.count || canonical >= t->functions.count ||
        t->canonical[canonical] != canonical)
        return -EINVAL;
    for (uint32_t i = 0; i < t->functions.count; i++) /* its aliases, too */
        if (t->canonical[i] == id)
            t->canonical[i] = canonical;
    for (uint32_t i = 0; i < t->left_out.count; i++)
        if (left_out[i].function == id)
            left_out[i].function = canonical;
    return 0;
}

uint32_t nsc_trace_canonical(const struct nsc_trace *t, uint32_t id)
{
    return id < t->functions.count ? t->canonical[id] : NSC_NO_ID;
}

bool nsc_trace_function_calls(const struct nsc_trace *t, uint32_t id, uint64_t *calls)
{
    const struct nsc_entry_function *functions = t->functions.items;

    if (id >= t->functions.count || !functions[id].calls_known || t->info.recovered)
        return false;
    *calls = functions[id].calls;
    return true;
}

const struct nsc_clock_point *nsc_trace_clock_point(const struct nsc_trace *t, uint32_t index)
{
    return index < t->clocks.count ? (const struct nsc_clock_point *)t->clocks.items + index : NULL;
}

struct nsc_clock_point nsc_trace_zero(const struct nsc_trace *t)
{
    struct nsc_clock_point zero = {.ticks = t->clock.origin_ticks};
    const struct nsc_clock_point *first = nsc_trace_clock_point(t, 0);
    uint64_t ns = first != NULL ? nsc_clock_ns(&t->clock, first->ticks) : 0;

    if (first == NULL)
        return zero;
    zero.monotonic_ns = first->monotonic_ns > ns ? first->monotonic_ns - ns : 0;
    zero.boottime_ns = first->boottime_ns > ns ? first->boottime_ns - ns : 0;
    zero.realtime_ns = first->realtime_ns > ns ? first->realtime_ns - ns : 0;
    return zero;
}

const struct nsc_left_out *nsc_trace_left_out(const struct nsc_trace *t, uint32_t index)
{
    return index < t->left_out.count ? (const struct nsc_left_out *)t->left_out.items + index
                                     : NULL;
}

const char *nsc_trace_meta(const struct nsc_trace *t, const char *key)
{
    const struct nsc_meta *metas = t->metas.items;

    for (uint32_t i = t->metas.count; i-- > 0;) /* the last entry of a key is valid */
        if (strcmp(metas[i].key, key) == 0)
            return metas[i].value;
    return NULL;
}

int nsc_trace_meta_at(const struct nsc_trace *t, uint32_t index, const char **key,
                      const char **value)
{
    const struct nsc_meta *metas = t->metas.items;

    if (index >= t->metas.count)
        return -EINVAL;
    *key = metas[index].key;
    *value = metas[index].value;
    return 0;
}

const struct nsc_chunk *nsc_trace_chunks(const struct nsc_trace *t, uint32_t thread,
                                         uint32_t *count)
{
    *count = 0;
    if (thread >= t->threads.count)
        return NULL;
    *count = t->thread_chunks[thread + 1] - t->thread_chunks[thread];
    return *count == 0 ? NULL : &t->chunks[t->thread_chunks[thread]];
}
