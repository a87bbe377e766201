/* bars.c - see bars.h. */
#include "record/bars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A file's sleds; one bit a site each. */
struct nsc_bars_file {
    uint8_t *wanted; /* NULL: not known yet; then what its first process has */
    uint8_t *barred; /* NULL: no function of this file ever was */
    uint32_t version;
};

/* A module in a process. */
struct nsc_bars_slot {
    struct nsc_flip flip;
    uint64_t serial; /* of the nsc_tracee_module; 0 = none */
    uint32_t file, version;
    bool open;
};

int nsc_bars_init(struct nsc_bars *bars, struct nsc_tracees *tracees)
{
    *bars = (struct nsc_bars){.tracees = tracees};
    bars->slots = calloc(tracees->session->modules_max, sizeof *bars->slots);
    return bars->slots != NULL ? 0 : -ENOMEM;
}

static void close_slot(struct nsc_bars_slot *slot)
{
    if (slot->open)
        nsc_flip_free(&slot->flip);
    *slot = (struct nsc_bars_slot){0};
}

void nsc_bars_free(struct nsc_bars *bars)
{
    uint32_t i;

    for (i = 0; i < bars->slots_high; i++)
        close_slot(&bars->slots[i]);
    for (i = 0; i < bars->file_count; i++) {
        free(bars->files[i].wanted);
        free(bars->files[i].barred);
    }
    free(bars->slots);
    free(bars->files);
    *bars = (struct nsc_bars){0};
}

/* ---- What is barred -------------------------------------------------------------------------- */

static size_t set_bytes(const struct nsc_sleds *sleds)
{
    return (size_t)sleds->count / 8 + 1;
}

static const struct nsc_sleds *sleds_of(const struct nsc_bars *bars, uint32_t file)
{
    return nsc_module_sleds(bars->tracees->modules.files[file]);
}

static int ask(struct nsc_bars *bars, uint32_t file, struct nsc_bars_file **out)
{
    const struct nsc_sleds *sleds = sleds_of(bars, file);
    struct nsc_bars_file *f;

    if (sleds == NULL || sleds->sled_count == 0)
        return -ENOENT;
    if (file >= bars->file_count) {
        uint32_t count = bars->tracees->modules.count;
        struct nsc_bars_file *files = realloc(bars->files, count * sizeof *files);

        if (files == NULL)
            return -ENOMEM;
        memset(files + bars->file_count, 0, (count - bars->file_count) * sizeof *files);
        bars->files = files;
        bars->file_count = count;
    }
    f = &bars->files[file];
    if (f->barred == NULL)
        f->barred = calloc(set_bytes(sleds), 1);
    *out = f;
    return f->barred != NULL ? 0 : -ENOMEM;
}

int nsc_bars_set(struct nsc_bars *bars, uint32_t file, uint32_t function, bool barred)
{
    const struct nsc_sleds *sleds = sleds_of(bars, file);
    const struct nsc_sleds_function *function_sleds;
    struct nsc_bars_file *f;
    int error = ask(bars, file, &f);
    uint32_t i;

    if (error != 0)
        return error;
    function_sleds = &sleds->functions[function];
    for (i = 0; i < function_sleds->count; i++) {
        uint32_t site = sleds->of_functions[function_sleds->first + i];
        uint8_t bit = (uint8_t)(1u << (site % 8));

        f->barred[site / 8] =
            (uint8_t)(barred ? f->barred[site / 8] | bit : f->barred[site / 8] & ~bit);
    }
    f->version++;
    return 0;
}

/* ---- Making it so ---------------------------------------------------------------------------- */

static void note_error(struct nsc_bars *bars, int error, const struct nsc_diag *diag)
{
    /* The process or the module is gone: nothing to switch, nothing failed. */
    if (error == -ESRCH || error == -EIO)
        return;
    bars->error = error;
    if (diag != NULL)
        bars->diag = *diag;
    else
        nsc_diag_set(&bars->diag, NSC_DIAG_NO_OFFSET, error,
                     "cannot switch functions of a running process: %s", strerror(-error));
}

/* The module in slot @i, if there are sleds of it to switch. */
static const struct nsc_space_mapping *mapping_at(const struct nsc_bars *bars, uint32_t i)
{
    const struct nsc_tracees *all = bars->tracees;
    const struct nsc_tracee_module *m = &all->module_slots[i];
    const struct nsc_space_mapping *mapping;

    if (m->process == NULL || m->process->dead || m->unloaded)
        return NULL;
    mapping = &m->process->space.mappings[m->mapping];
    if (mapping->module >= bars->file_count || bars->files[mapping->module].barred == NULL ||
        __atomic_load_n(&all->session->modules[i].sleds_ready, __ATOMIC_ACQUIRE) == 0 ||
        __atomic_load_n(&all->session->modules[i].unload_ticks, __ATOMIC_ACQUIRE) != 0)
        return NULL;
    return mapping;
}

static void open_slot(struct nsc_bars *bars, struct nsc_bars_slot *slot,
                      const struct nsc_tracee_module *m, const struct nsc_space_mapping *mapping)
{
    struct nsc_tracee_process *process = m->process;
    const struct nsc_sleds *sleds = sleds_of(bars, mapping->module);
    struct nsc_bars_file *f = &bars->files[mapping->module];
    struct nsc_diag diag;
    int error;

    *slot = (struct nsc_bars_slot){.serial = m->serial, .file = mapping->module};
    if (process->mem < 0) {
        error = nsc_flip_open(process->pid, &diag);
        if (error < 0) {
            note_error(bars, error, &diag);
            return;
        }
        process->mem = error;
    }
    error = nsc_flip_init(&slot->flip, process->mem, sleds, mapping->bias, mapping->start,
                          mapping->end);
    if (error != 0) {
        note_error(bars, error, NULL);
        return;
    }
    slot->open = true;
    slot->version = f->version - 1;
    if (f->wanted != NULL)
        return;
    f->wanted = malloc(set_bytes(sleds));
    if (f->wanted != NULL)
        memcpy(f->wanted, slot->flip.present, set_bytes(sleds));
}

static void apply_slot(struct nsc_bars *bars, struct nsc_bars_slot *slot)
{
    struct nsc_bars_file *f = &bars->files[slot->file];
    size_t i, bytes = set_bytes(slot->flip.sleds);
    int error;

    if (slot->version == f->version || f->wanted == NULL)
        return;
    slot->version = f->version;
    for (i = 0; i < bytes; i++)
        slot->flip.wanted[i] = (uint8_t)(f->wanted[i] & ~f->barred[i]);
    error = nsc_flip_apply(&slot->flip, &bars->stats);
    if (error != 0) {
        note_error(bars, error, NULL);
        nsc_flip_free(&slot->flip);
        slot->open = false;
    }
}

uint64_t nsc_bars_apply(struct nsc_bars *bars)
{
    const struct nsc_tracees *all = bars->tracees;
    uint64_t before = bars->stats.on + bars->stats.off;
    uint32_t i;

    for (i = 0; i < all->module_high; i++) {
        const struct nsc_space_mapping *mapping = mapping_at(bars, i);
        struct nsc_bars_slot *slot = &bars->slots[i];

        if (slot->serial != 0 && (mapping == NULL || slot->serial != all->module_slots[i].serial))
            close_slot(slot);
        if (mapping == NULL)
            continue;
        if (i >= bars->slots_high)
            bars->slots_high = i + 1;
        if (slot->serial == 0)
            open_slot(bars, slot, &all->module_slots[i], mapping);
        if (slot->open)
            apply_slot(bars, slot);
    }
    return bars->stats.on + bars->stats.off - before;
}
