/* address_space.c - see address_space.h. */
#include "record/modules/address_space.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/live.h"
#include "util/array.h"

/* Cost of a scan of all processes and modules of the session, in cached table entries. The
 * session's memory is not in the cache. */
enum { LOOK_COST = 100000 };

/* Finds the mapping that contained @address at @ticks; otherwise the latest that ever did. */
static const struct nsc_space_mapping *find(const struct nsc_space *space, uint64_t address,
                                            uint64_t ticks)
{
    const struct nsc_space_mapping *best = NULL;
    uint32_t i;

    for (i = space->count; i > 0; i--) {
        const struct nsc_space_mapping *m = &space->mappings[i - 1];

        if (address < m->start || address >= m->end)
            continue;
        if (ticks >= m->since_ticks && ticks < m->unload_ticks)
            return m;
        if (best == NULL)
            best = m;
    }
    return best;
}

/* Returns the time up to which the mappings are complete. A single mapping is the program itself,
 * which is never unloaded. */
static uint64_t known_until(const struct nsc_space *space)
{
    return space->refresh == NULL || space->count < 2 ? UINT64_MAX : space->looked_ticks + 1;
}

/* Invalidates the time range of `codes`; the next event chooses a new one. */
static void forget_epoch(struct nsc_space *space)
{
    space->codes.since_ticks = space->codes.until_ticks = space->until_ticks = 0;
}

/* Sets the time range of `codes` to that around @ticks without loads, unloads or filter changes. */
static void choose_epoch(struct nsc_space *space, uint64_t ticks)
{
    const struct nsc_filter_rules *rules = nsc_filter_rules_at(&space->modules->rules, ticks);
    uint64_t since = rules->since_ticks, until = rules->until_ticks;
    uint32_t i;

    for (i = 0; space->reused && i < space->count; i++) {
        const uint64_t borders[] = {space->mappings[i].since_ticks,
                                    space->mappings[i].unload_ticks};
        size_t b;

        for (b = 0; b < 2; b++) {
            if (borders[b] <= ticks && borders[b] > since)
                since = borders[b];
            if (borders[b] > ticks && borders[b] < until)
                until = borders[b];
        }
    }
    if (since != space->codes.since_ticks || until != space->until_ticks)
        nsc_codes_clear(&space->codes);
    space->codes.since_ticks = since;
    space->until_ticks = until;
    space->codes.until_ticks = until < known_until(space) ? until : known_until(space);
}

static void resolve_in(struct nsc_space *space, const struct nsc_space_mapping *m, uint64_t address,
                       uint64_t ticks, struct nsc_code *code)
{
    const struct nsc_filter *filter = nsc_filter_rules_at(&space->modules->rules, ticks)->filter;
    struct nsc_modules *modules = space->modules;
    struct nsc_module_file *file = modules->files[m->module];
    uint64_t va = address - m->bias, hook;
    bool header = (m->hooks & 1u << NSC_LIVE_HOOK_HEADER) != 0;

    code->function = nsc_modules_function(modules, m->module, va);
    if (header) {
        nsc_module_load_sites(file);
        if ((m->hooks & 1u << NSC_LIVE_HOOK_SLED) != 0 && nsc_module_in_sled(file, va))
            header = false;
    }
    if (header) {
        code->flags |= NSC_CODE_HEADER;
        if (nsc_module_own_hook(file, va, &hook)) {
            code->flags |= NSC_CODE_REAL_PC;
            code->real_pc16 = (uint16_t)(hook + m->bias);
        }
    }
    if (nsc_filter_by_function(filter) || nsc_filter_by_call(filter))
        code->flags |= (uint16_t)nsc_module_code_flags(file, filter, va);
}

/* Takes from the lookup quota a search of the mappings and @looks scans of the session's tables.
 * False if it is used up. */
static bool may_search(struct nsc_space *space, uint32_t looks)
{
    struct nsc_limits *limits = &space->modules->limits;

    if (nsc_limits_ration_take(&limits->searches, space->count + 8ull + looks * LOOK_COST))
        return true;
    limits->skipped++;
    return false;
}

static void resolve(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code)
{
    struct nsc_space *space = context;
    bool late = ticks >= known_until(space);
    const struct nsc_space_mapping *m;

    *code = (struct nsc_code){.address = address};
    if (!may_search(space, late)) {
        code->function = nsc_modules_other(space->modules);
        return;
    }
    if (late) {
        space->refresh(space->context, false);
        if (space->looked_ticks < ticks) /* the program's timer is ahead of the recorder's */
            space->looked_ticks = ticks;
    }
    m = find(space, address, ticks);
    if (m == NULL && space->refresh != NULL && may_search(space, 1)) {
        space->refresh(space->context, true);
        m = find(space, address, ticks);
    }
    choose_epoch(space, ticks);
    if (m != NULL)
        resolve_in(space, m, address, ticks, code);
    else
        code->function = nsc_modules_function(space->modules, NSC_NO_ID, address);
}

int nsc_space_init(struct nsc_space *space, struct nsc_modules *modules)
{
    *space = (struct nsc_space){.modules = modules};
    space->until_ticks = UINT64_MAX;
    space->codes.resolve = resolve;
    space->codes.context = space;
    space->codes.by_function =
        nsc_filter_by_function(modules->filter) && !nsc_filter_rules_sift(&modules->rules);
    return nsc_codes_init(&space->codes, &modules->limits.code_slots);
}

void nsc_space_free(struct nsc_space *space)
{
    nsc_codes_free(&space->codes);
    free(space->mappings);
    space->mappings = NULL;
}

void nsc_space_filter_changed(struct nsc_space *space)
{
    nsc_codes_clear(&space->codes);
    forget_epoch(space);
}

static void write_mapping(struct nsc_space *space, uint32_t process, struct nsc_space_mapping *m,
                          bool new)
{
    struct nsc_mapping entry = {
        .process = process,
        .module = space->modules->files[m->module]->id,
        .bias = m->bias,
        .start = m->start,
        .end = m->end,
        .load_ticks = m->load_ticks,
        .unload_ticks = m->unload_ticks == UINT64_MAX ? 0 : m->unload_ticks,
    };

    if (new)
        nsc_writer_add_mapping(space->modules->writer, &entry, &m->id);
    else
        nsc_writer_set_mapping(space->modules->writer, m->id, &entry);
}

/* Returns the last mapping that overlaps @mapping if it equals it and was unloaded; else NULL. */
static struct nsc_space_mapping *find_same(struct nsc_space *space,
                                           const struct nsc_space_mapping *mapping)
{
    uint32_t i;

    for (i = space->count; i > 0; i--) {
        struct nsc_space_mapping *m = &space->mappings[i - 1];

        if (m->start >= mapping->end || mapping->start >= m->end)
            continue;
        return m->unload_ticks != UINT64_MAX && m->start == mapping->start &&
                       m->end == mapping->end && m->bias == mapping->bias &&
                       m->module == mapping->module && m->hooks == mapping->hooks
                   ? m
                   : NULL;
    }
    return NULL;
}

/* Records that the module of @m is loaded again at the same place: addresses keep their meaning. */
static void load_again(struct nsc_space *space, uint32_t process, struct nsc_space_mapping *m,
                       uint64_t load_ticks)
{
    m->load_ticks = load_ticks;
    m->unload_ticks = UINT64_MAX;
    write_mapping(space, process, m, true);
    if (space->reused)
        forget_epoch(space);
}

int nsc_space_load(struct nsc_space *space, uint32_t process,
                   const struct nsc_space_mapping *mapping, uint32_t *index)
{
    struct nsc_space_mapping *m;
    uint32_t i;

    if (!nsc_limits_take(&space->modules->limits, NSC_LIMIT_MAPPINGS))
        return -E2BIG;
    m = find_same(space, mapping);
    if (m != NULL) {
        load_again(space, process, m, mapping->load_ticks);
        *index = (uint32_t)(m - space->mappings);
        return 0;
    }
    m = nsc_array_grow(space->mappings, &space->capacity, space->count, sizeof *m);
    if (m == NULL)
        return -ENOMEM;
    space->mappings = m;
    for (i = 0; i < space->count; i++)
        if (space->mappings[i].start < mapping->end && mapping->start < space->mappings[i].end)
            space->reused = true;
    m = &space->mappings[space->count];
    *m = *mapping;
    m->since_ticks = m->load_ticks;
    m->unload_ticks = UINT64_MAX;
    write_mapping(space, process, m, true);
    if ((m->hooks & 1u << NSC_LIVE_HOOK_HEADER) != 0)
        space->codes.by_function = true;
    *index = space->count++;
    /* Addresses may have been looked up before their module was known. */
    nsc_codes_clear(&space->codes);
    if (space->reused || space->count == 2)
        forget_epoch(space);
    return 0;
}

void nsc_space_unload(struct nsc_space *space, uint32_t process, uint32_t index,
                      uint64_t unload_ticks)
{
    struct nsc_space_mapping *m = &space->mappings[index];

    m->unload_ticks = unload_ticks;
    write_mapping(space, process, m, false);
    if (space->reused)
        forget_epoch(space);
}
