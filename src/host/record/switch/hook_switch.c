/* hook_switch.c - see hook_switch.h. */
#include "record/switch/hook_switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/modules/filter_bitmap.h"
#include "record/session/session_processes.h"
#include "record/switch/switch_notice.h"
#include "util/array.h"
#include "util/now.h"

/* Maximum number of searches for processes that were forked while others were switched. */
enum { ROUNDS_MAX = 100, BREATH_NS = 50000 };

/* Total time limits: for reading maps that are long or in which a module is not found, and for
 * processes that have not registered. */
#define LONG_MAPS_NS     20000000ull
#define CHECKING_MAX_NS  2000000000ull
#define STRANGERS_MAX_NS 10000000000ull

/*
 * Checks that process @pid has mapped the module's file there, now. Without privileges, the kernel
 * lets the recorder write to processes of its own user only. With them, a program that lies about
 * its modules could direct its writes to other code.
 * The maps may be older than the module: if the check fails, reads them again. Reading them in
 * vain, or for long, is limited, as a program can have long maps and many false modules.
 */
static int check_place(struct nsc_process_sleds *onoff, pid_t pid,
                       const struct nsc_module_file *file, const struct nsc_space_mapping *m)
{
    const struct nsc_code_place place = {m->start, m->end, m->bias};
    struct nsc_modules *modules = file->modules;
    uint64_t begun_ns = nsc_now_ns(), took_ns;
    struct nsc_maps fresh;
    int error;

    if (geteuid() != 0 || nsc_code_file_check(&file->code, pid, &onoff->maps, &place) == 0)
        return 0;
    if (modules->checking_ns > CHECKING_MAX_NS)
        return -EXDEV;
    if (nsc_maps_read(pid, &fresh) != 0)
        return -ESRCH;
    nsc_maps_free(&onoff->maps);
    onoff->maps = fresh;
    error = nsc_code_file_check(&file->code, pid, &onoff->maps, &place);
    took_ns = nsc_now_ns() - begun_ns;
    if (error < 0 || took_ns > LONG_MAPS_NS)
        modules->checking_ns += took_ns;
    return error < 0 ? error : 0;
}

/* Returns the state of the sleds of @mapping in process @pid; reads it the first time. The module
 * must be loaded, and the memory of the process open. */
static struct nsc_sled_switch *flip_of(struct nsc_process_sleds *onoff, pid_t pid,
                                       const struct nsc_space *space, uint32_t mapping, int *error)
{
    const struct nsc_space_mapping *m = &space->mappings[mapping];
    const struct nsc_sleds *sleds;
    struct nsc_sled_switch *flips =
        nsc_array_reach(onoff->flips, &onoff->count, space->count, sizeof *flips);
    struct nsc_sled_switch *flip;

    *error = flips != NULL ? 0 : -ENOMEM;
    if (*error != 0)
        return NULL;
    onoff->flips = flips;
    flip = &flips[mapping];
    if (flip->sleds != NULL)
        return flip;
    sleds = nsc_module_sleds(space->modules->files[m->module]);
    if (sleds == NULL || sleds->sled_count == 0)
        return NULL;
    *error = check_place(onoff, pid, space->modules->files[m->module], m);
    if (*error != 0)
        return NULL;
    *error = nsc_sled_switch_init(flip, onoff->mem, sleds, m->bias, m->start, m->end);
    if (*error != 0)
        flip->sleds = NULL;
    return *error == 0 ? flip : NULL;
}

static bool has_sleds(const struct nsc_space_mapping *m)
{
    const uint32_t sleds = 1u << NSC_LIVE_HOOK_SLED | 1u << NSC_LIVE_HOOK_PATCHABLE;

    return m->unload_ticks == UINT64_MAX && (m->hooks & sleds) != 0;
}

struct nsc_sled_switch *nsc_hook_switch_flip(struct nsc_tracee_process *process, uint32_t mapping,
                                             int *error)
{
    struct nsc_process_sleds *onoff = &process->onoff;

    *error = 0;
    if (process->dead || !has_sleds(&process->space.mappings[mapping]))
        return NULL;
    if (onoff->mem < 0) {
        onoff->mem = nsc_admission_open_memory(&process->all->admission, process->pid, NULL);
        if (onoff->mem < 0) {
            *error = onoff->mem;
            onoff->mem = -1;
            return NULL;
        }
    }
    return flip_of(onoff, process->pid, &process->space, mapping, error);
}

/* Applies the wanted state of @mapping. The module may have been unloaded since the state of its
 * sleds was read, and another mapped in its place. */
static int apply(struct nsc_process_sleds *onoff, pid_t pid, const struct nsc_space *space,
                 uint32_t mapping, enum nsc_sled_switch_order order,
                 struct nsc_sled_switch_stats *stats)
{
    const struct nsc_space_mapping *m = &space->mappings[mapping];
    struct nsc_sled_switch *flip = &onoff->flips[mapping];
    int error = 0;

    if (nsc_sled_switch_is_needed(flip))
        error = check_place(onoff, pid, space->modules->files[m->module], m);
    return error == 0 ? nsc_sled_switch_apply(flip, order, stats) : error;
}

/* ---- The wanted state ------------------------------------------------------------------------ */

static size_t set_bytes(const struct nsc_sleds *sleds)
{
    return (size_t)sleds->count / 8 + 1;
}

/* Returns the sites that the filter includes, as a bitmap; NULL: all, or out of memory. */
static const uint8_t *filtered(struct nsc_modules *modules, struct nsc_module_file *file,
                               const struct nsc_sleds *sleds)
{
    if (!nsc_filter_by_function(modules->filter))
        return NULL;
    if (file->wanted == NULL) {
        file->wanted = calloc(set_bytes(sleds), 1);
        if (file->wanted != NULL)
            nsc_filter_bitmap_judge(modules, file, sleds->sites, sleds->count, file->wanted);
    }
    return file->wanted;
}

bool nsc_hook_switch_lets_nothing_through(const struct nsc_modules *modules)
{
    uint32_t i;
    size_t k;

    for (i = 0; i < modules->count; i++) {
        const struct nsc_module_file *file = modules->files[i];

        if (file->sleds == NULL || file->sleds->count == 0 || file->wanted == NULL)
            return false;
        for (k = 0; k < set_bytes(file->sleds); k++)
            if (file->wanted[k] != 0)
                return false;
    }
    return modules->count > 0;
}

/* Sets the wanted state of a module: with @on the sites that the filter includes and that are not
 * barred; otherwise none. */
static void want(struct nsc_sled_switch *flip, const struct nsc_space *space, uint32_t mapping,
                 bool on)
{
    struct nsc_module_file *file = space->modules->files[space->mappings[mapping].module];
    const uint8_t *wanted = on ? filtered(space->modules, file, flip->sleds) : NULL;
    size_t i;

    nsc_sled_switch_want_all(flip, on);
    if (wanted != NULL)
        nsc_sled_switch_want(flip, wanted);
    for (i = 0; file->barred != NULL && i < set_bytes(flip->sleds); i++)
        flip->wanted[i] = (uint8_t)(flip->wanted[i] & ~file->barred[i]);
}

int nsc_hook_switch_bar(struct nsc_modules *modules, uint32_t file, uint32_t function, bool barred)
{
    struct nsc_module_file *f = modules->files[file];
    const struct nsc_sleds *sleds = nsc_module_sleds(f);
    const struct nsc_sleds_function *of = &sleds->functions[function];
    uint32_t i;

    if (f->barred == NULL)
        f->barred = calloc(set_bytes(sleds), 1);
    if (f->barred == NULL)
        return -ENOMEM;
    for (i = 0; i < of->count; i++) {
        uint32_t site = sleds->of_functions[of->first + i];
        uint8_t bit = (uint8_t)(1u << (site % 8));

        f->barred[site / 8] =
            (uint8_t)(barred ? f->barred[site / 8] | bit : f->barred[site / 8] & ~bit);
    }
    return 0;
}

/* ---- Applying it ----------------------------------------------------------------------------- */

/* Returns false for errors that are expected: the process has ended, the module was unloaded, or it
 * is not what the shared memory claims. Its hooks are left unchanged. */
static bool is_failure(int error)
{
    return error != 0 && error != -ESRCH && error != -EIO && error != -EXDEV;
}

/* Does what takes time before the first write: reads the module's file and the state of its sleds,
 * and evaluates the filter for its functions. */
static struct nsc_sled_switch *prepare(struct nsc_tracee_process *p, uint32_t mapping, bool on,
                                       int *error)
{
    struct nsc_sled_switch *flip = nsc_hook_switch_flip(p, mapping, error);

    if (flip != NULL)
        want(flip, &p->space, mapping, on);
    return flip;
}

/* Before a recording begins and after its end, incomplete calls do not matter. */
static enum nsc_sled_switch_order order_in(const struct nsc_tracees *all)
{
    return all->end_ticks != 0 || nsc_session_holds_events(all->session)
               ? NSC_SLED_SWITCH_AT_ONCE
               : NSC_SLED_SWITCH_WHOLE_CALLS;
}

static int switch_mapping(struct nsc_tracee_process *p, uint32_t mapping, bool on,
                          struct nsc_sled_switch_stats *stats)
{
    int error;
    struct nsc_sled_switch *flip = prepare(p, mapping, on, &error);

    if (flip != NULL)
        error = apply(&p->onoff, p->pid, &p->space, mapping, order_in(p->all), stats);
    if (error == -EXDEV)
        p->all->stats.mistrusted = true;
    return is_failure(error) ? error : 0;
}

static int switch_process(struct nsc_tracee_process *p, bool on,
                          struct nsc_sled_switch_stats *stats)
{
    int first = 0;
    uint32_t i;

    for (i = 0; i < p->space.count; i++) {
        int error = switch_mapping(p, i, on, stats);

        if (first == 0)
            first = error;
    }
    return first;
}

/* Sleeps, so that the scheduler does not preempt this thread during the writing on a busy machine.
 * While sleds are written, hooks are slow at a start, and calls incomplete after a filter change.
 */
static void take_breath(void)
{
    const struct timespec breath = {.tv_nsec = BREATH_NS};

    nanosleep(&breath, NULL);
}

static int say(int error, const struct nsc_tracee_process *p, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                        "cannot switch the hooks of process %ld (%s): %s", (long)p->pid, p->name,
                        strerror(-error));
}

/* Returns true if the modules of the process are known: it lives and is not left out. */
static bool is_known(const struct nsc_tracee_process *p)
{
    return p != NULL && !p->dead && !p->left_out;
}

static int switch_all(struct nsc_tracees *all, bool on, struct nsc_sled_switch_stats *stats,
                      struct nsc_diag *diag)
{
    int first = 0, error;
    uint32_t i, k;

    for (i = 0; i < all->process_high; i++)
        for (k = 0; is_known(all->processes[i]) && k < all->processes[i]->space.count; k++)
            (void)prepare(all->processes[i], k, on, &error);
    take_breath();
    for (i = 0; i < all->process_high; i++) {
        struct nsc_tracee_process *p = all->processes[i];

        if (!is_known(p))
            continue;
        error = switch_process(p, on, stats);
        if (error != 0 && first == 0)
            first = say(error, p, diag);
    }
    return first;
}

int nsc_hook_switch_follow(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                           struct nsc_diag *diag)
{
    nsc_switch_notice_begin(all);
    return switch_all(all, true, stats, diag);
}

/* Returns true if the function has exit sleds, and none of them is wanted. */
static bool ends_unseen(struct nsc_modules *modules, const struct nsc_function_place *place)
{
    struct nsc_module_file *file =
        place->module == NSC_NO_ID ? NULL : modules->files[place->module];
    const struct nsc_sleds *sleds = file != NULL ? file->sleds : NULL;
    uint32_t function = sleds != NULL ? nsc_sleds_function(sleds, place->va) : NSC_SLEDS_NONE, i;
    const uint8_t *wanted = sleds != NULL ? filtered(modules, file, sleds) : NULL;
    bool found = false;

    for (i = 0; function != NSC_SLEDS_NONE && i < sleds->functions[function].count; i++) {
        uint32_t site = sleds->of_functions[sleds->functions[function].first + i];
        uint8_t bit = (uint8_t)(1u << (site % 8));

        if (sleds->sites[site].kind != NSC_LIVE_SITE_EXIT)
            continue;
        if ((wanted == NULL || (wanted[site / 8] & bit) != 0) &&
            (file->barred == NULL || (file->barred[site / 8] & bit) == 0))
            return false;
        found = true;
    }
    return found;
}

void nsc_hook_switch_tell_offs(struct nsc_tracees *all, uint64_t from_ticks, uint64_t until_ticks)
{
    struct nsc_modules *modules = &all->modules;
    struct nsc_off off = {.from_ticks = from_ticks,
                          .until_ticks = until_ticks,
                          .functions =
                              malloc((size_t)modules->place_count * sizeof *off.functions)};
    uint32_t i;

    for (i = 0; off.functions != NULL && i < modules->place_count; i++)
        if (ends_unseen(modules, &modules->places[i]))
            off.functions[off.count++] = i;
    if (off.functions != NULL)
        nsc_disabled_functions_came_on_but(&all->offs, &off, until_ticks);
    nsc_switch_notice_disabled(all, &off);
}

/* Returns true if the module is loaded, and the runtime has finished preparing its sleds. */
static bool is_ours(const struct nsc_tracees *all, uint32_t slot)
{
    const struct nsc_tracee_module *m = &all->module_slots[slot];
    const struct nsc_live_module *live = &all->session->modules[slot];

    return m->process != NULL && !m->process->dead && !m->unloaded &&
           __atomic_load_n(&live->sleds_ready, __ATOMIC_ACQUIRE) != 0 &&
           __atomic_load_n(&live->unload_ticks, __ATOMIC_ACQUIRE) == 0;
}

void nsc_hook_switch_prepare(struct nsc_tracees *all)
{
    uint32_t i;
    int error;

    for (i = 0; i < all->module_high; i++)
        if (is_ours(all, i))
            (void)nsc_hook_switch_flip(all->module_slots[i].process, all->module_slots[i].mapping,
                                       &error);
}

int nsc_hook_switch_follow_bars(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                                struct nsc_diag *diag)
{
    int first = 0;
    uint32_t i;

    for (i = 0; i < all->module_high; i++) {
        const struct nsc_tracee_module *m = &all->module_slots[i];
        int error;

        if (!is_ours(all, i) ||
            all->modules.files[m->process->space.mappings[m->mapping].module]->barred == NULL)
            continue;
        error = switch_mapping(m->process, m->mapping, true, stats);
        if (error != 0 && first == 0)
            first = say(error, m->process, diag);
    }
    return first;
}

/* ---- Processes that have not registered ------------------------------------------------------ */

/* Returns true if the process was switched as one that has registered. */
static bool is_switched(const struct nsc_tracees *all, pid_t pid)
{
    uint32_t i;

    for (i = 0; i < all->process_high; i++) {
        const struct nsc_tracee_process *p = all->processes[i];

        if (is_known(p) && p->pid == pid)
            return true;
    }
    return false;
}

/*
 * Switches a child that was forked and has made no traced call since. Its modules have the
 * addresses that they have in the process that it was forked from. That process cannot always be
 * determined, so this tries all; where there is no sled, nothing is written.
 */
static void switch_stranger(struct nsc_tracees *all, pid_t pid, bool on, uint64_t deadline_ns,
                            struct nsc_sled_switch_stats *stats)
{
    struct nsc_process_sleds onoff = {.mem = nsc_admission_open_memory(&all->admission, pid, NULL)};
    uint32_t i, k;
    int error;

    for (i = 0; onoff.mem >= 0 && i < all->process_high && nsc_now_ns() < deadline_ns; i++) {
        const struct nsc_tracee_process *p = all->processes[i];

        for (k = 0; p != NULL && k < p->space.count && nsc_now_ns() < deadline_ns; k++) {
            struct nsc_sled_switch *flip = has_sleds(&p->space.mappings[k])
                                               ? flip_of(&onoff, pid, &p->space, k, &error)
                                               : NULL;

            if (flip == NULL)
                continue;
            want(flip, &p->space, k, on);
            (void)apply(&onoff, pid, &p->space, k, NSC_SLED_SWITCH_AT_ONCE, stats);
        }
        nsc_sled_switch_free_modules(&onoff);
    }
    nsc_sled_switch_free_process(&onoff);
}

/* A child that was forked while its parent was switched has some sleds in the old state. Searches
 * until no new process is found, or the time limit is reached. */
static void switch_strangers(struct nsc_tracees *all, bool on, struct nsc_sled_switch_stats *stats)
{
    uint64_t deadline_ns = nsc_now_ns() + STRANGERS_MAX_NS;
    struct nsc_session_processes members = {0};
    uint32_t round, i;

    for (round = 0; round < ROUNDS_MAX && nsc_now_ns() < deadline_ns; round++) {
        uint32_t known = members.count;

        (void)nsc_session_processes_find(all->session, NULL, &members);
        for (i = known; i < members.count && nsc_now_ns() < deadline_ns; i++)
            if (!is_switched(all, members.pids[i]))
                switch_stranger(all, members.pids[i], on, deadline_ns, stats);
        if (members.count == known)
            break;
    }
    nsc_session_processes_free(&members);
}

int nsc_hook_switch_begin(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                          struct nsc_diag *diag)
{
    int error = nsc_hook_switch_follow(all, stats, diag);
    struct nsc_sled_switch_stats theirs = {0};

    if (error == 0)
        switch_strangers(all, true, &theirs);
    return error;
}

int nsc_hook_switch_end(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                        struct nsc_diag *diag)
{
    int error;

    nsc_switch_notice_end_recording(all);
    error = switch_all(all, false, stats, diag);
    switch_strangers(all, false, stats);
    return error;
}

bool nsc_hook_switch_settle(struct nsc_tracees *all, uint64_t patience_ns)
{
    struct nsc_session_processes members = {0};
    bool settled;

    (void)nsc_session_processes_find(all->session, NULL, &members);
    settled = nsc_session_processes_settle(&members, patience_ns);
    nsc_session_processes_free(&members);
    return settled;
}
