/* switches.c - see switches.h. */
#include "record/switches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is wanted of a file's sleds; one bit a site each. */
struct nsc_switches_file {
    uint8_t *wanted; /* NULL: what the first process has */
    uint8_t *barred; /* NULL: nobody has asked for anything of this file */
    uint32_t version;
};

/* A module in a process. */
struct nsc_switches_slot {
    struct nsc_flip flip;
    uint64_t serial; /* of the nsc_tracee_module; 0 = none */
    uint32_t file, version;
    bool open;
};

int nsc_switches_init(struct nsc_switches *switches, struct nsc_tracees *tracees)
{
    *switches = (struct nsc_switches){.tracees = tracees};
    switches->slots = calloc(tracees->session->modules_max, sizeof *switches->slots);
    return switches->slots != NULL ? 0 : -ENOMEM;
}

static void close_slot(struct nsc_switches_slot *slot)
{
    if (slot->open)
        nsc_flip_free(&slot->flip);
    *slot = (struct nsc_switches_slot){0};
}

void nsc_switches_free(struct nsc_switches *switches)
{
    uint32_t i;

    for (i = 0; i < switches->slots_high; i++)
        close_slot(&switches->slots[i]);
    for (i = 0; i < switches->file_count; i++) {
        free(switches->files[i].wanted);
        free(switches->files[i].barred);
    }
    free(switches->slots);
    free(switches->files);
    *switches = (struct nsc_switches){0};
}

/* ---- What is wanted -------------------------------------------------------------------------- */

static size_t set_bytes(const struct nsc_sleds *sleds)
{
    return (size_t)sleds->count / 8 + 1;
}

static const struct nsc_sleds *sleds_of(const struct nsc_switches *switches, uint32_t file)
{
    return nsc_module_sleds(switches->tracees->modules.files[file]);
}

static int ask(struct nsc_switches *switches, uint32_t file, struct nsc_switches_file **out)
{
    const struct nsc_sleds *sleds = sleds_of(switches, file);
    struct nsc_switches_file *f;

    if (sleds == NULL || sleds->sled_count == 0)
        return -ENOENT;
    if (file >= switches->file_count) {
        uint32_t count = switches->tracees->modules.count;
        struct nsc_switches_file *files = realloc(switches->files, count * sizeof *files);

        if (files == NULL)
            return -ENOMEM;
        memset(files + switches->file_count, 0, (count - switches->file_count) * sizeof *files);
        switches->files = files;
        switches->file_count = count;
    }
    f = &switches->files[file];
    if (f->barred == NULL)
        f->barred = calloc(set_bytes(sleds), 1);
    *out = f;
    return f->barred != NULL ? 0 : -ENOMEM;
}

int nsc_switches_want(struct nsc_switches *switches, uint32_t file, const uint8_t *bitmap, bool all)
{
    const struct nsc_sleds *sleds = sleds_of(switches, file);
    struct nsc_switches_file *f;
    int error = ask(switches, file, &f);

    if (error != 0)
        return error;
    if (f->wanted == NULL)
        f->wanted = malloc(set_bytes(sleds));
    if (f->wanted == NULL)
        return -ENOMEM;
    memset(f->wanted, all ? 0xff : 0, set_bytes(sleds));
    if (bitmap != NULL)
        memcpy(f->wanted, bitmap, ((size_t)sleds->count + 7) / 8);
    f->version++;
    return 0;
}

int nsc_switches_bar(struct nsc_switches *switches, uint32_t file, uint32_t function, bool barred)
{
    const struct nsc_sleds *sleds = sleds_of(switches, file);
    const struct nsc_sleds_function *function_sleds;
    struct nsc_switches_file *f;
    int error = ask(switches, file, &f);
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

static void note_error(struct nsc_switches *switches, int error, const struct nsc_diag *diag)
{
    /* The process or the module is gone: nothing to switch, nothing failed. */
    if (error == -ESRCH || error == -EIO)
        return;
    switches->error = error;
    if (diag != NULL)
        switches->diag = *diag;
    else
        nsc_diag_set(&switches->diag, NSC_DIAG_NO_OFFSET, error,
                     "cannot switch functions of a running process: %s", strerror(-error));
}

/* The module in slot @i, if there are sleds of it to switch. */
static const struct nsc_space_mapping *mapping_at(const struct nsc_switches *switches, uint32_t i)
{
    const struct nsc_tracees *all = switches->tracees;
    const struct nsc_tracee_module *m = &all->module_slots[i];
    const struct nsc_space_mapping *mapping;

    if (m->process == NULL || m->process->dead || m->unloaded)
        return NULL;
    mapping = &m->process->space.mappings[m->mapping];
    if (mapping->module >= switches->file_count ||
        switches->files[mapping->module].barred == NULL ||
        __atomic_load_n(&all->session->modules[i].sleds_ready, __ATOMIC_ACQUIRE) == 0 ||
        __atomic_load_n(&all->session->modules[i].unload_ticks, __ATOMIC_ACQUIRE) != 0)
        return NULL;
    return mapping;
}

static void open_slot(struct nsc_switches *switches, struct nsc_switches_slot *slot,
                      const struct nsc_tracee_module *m, const struct nsc_space_mapping *mapping)
{
    struct nsc_tracee_process *process = m->process;
    const struct nsc_sleds *sleds = sleds_of(switches, mapping->module);
    struct nsc_switches_file *f = &switches->files[mapping->module];
    struct nsc_diag diag;
    int error;

    *slot = (struct nsc_switches_slot){.serial = m->serial, .file = mapping->module};
    if (process->mem < 0) {
        error = nsc_flip_open(process->pid, &diag);
        if (error < 0) {
            note_error(switches, error, &diag);
            return;
        }
        process->mem = error;
    }
    error = nsc_flip_init(&slot->flip, process->mem, sleds, mapping->bias, mapping->start,
                          mapping->end);
    if (error != 0) {
        note_error(switches, error, NULL);
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

static void apply_slot(struct nsc_switches *switches, struct nsc_switches_slot *slot)
{
    struct nsc_switches_file *f = &switches->files[slot->file];
    size_t i, bytes = set_bytes(slot->flip.sleds);
    int error;

    if (slot->version == f->version || f->wanted == NULL)
        return;
    slot->version = f->version;
    for (i = 0; i < bytes; i++)
        slot->flip.wanted[i] = (uint8_t)(f->wanted[i] & ~f->barred[i]);
    error = nsc_flip_apply(&slot->flip, &switches->stats);
    if (error != 0) {
        note_error(switches, error, NULL);
        nsc_flip_free(&slot->flip);
        slot->open = false;
    }
}

uint64_t nsc_switches_apply(struct nsc_switches *switches)
{
    const struct nsc_tracees *all = switches->tracees;
    uint64_t before = switches->stats.on + switches->stats.off;
    uint32_t i;

    for (i = 0; i < all->module_high; i++) {
        const struct nsc_space_mapping *mapping = mapping_at(switches, i);
        struct nsc_switches_slot *slot = &switches->slots[i];

        if (slot->serial != 0 &&
            (mapping == NULL || slot->serial != all->module_slots[i].serial))
            close_slot(slot);
        if (mapping == NULL)
            continue;
        if (i >= switches->slots_high)
            switches->slots_high = i + 1;
        if (slot->serial == 0)
            open_slot(switches, slot, &all->module_slots[i], mapping);
        if (slot->open)
            apply_slot(switches, slot);
    }
    return switches->stats.on + switches->stats.off - before;
}
