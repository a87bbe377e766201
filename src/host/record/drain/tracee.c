/* tracee.c - see tracee.h. */
#include "record/drain/tracee.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/modules/filter_bitmap.h"
#include "record/modules/timed_modules.h"
#include "record/session/clock_reading.h"
#include "record/stack/filter_change.h"
#include "trace/write/lane.h"

enum {
    SLOTS_AHEAD = 16, /* scanned beyond the highest slot ever in use */
    LIVE_NAME_BYTES = sizeof(((struct nsc_live_thread *)0)->name),
};

int nsc_tracees_init(struct nsc_tracees *all, struct nsc_record_session *session,
                     struct nsc_writer *writer, const struct nsc_filter *filter)
{
    *all = (struct nsc_tracees){.session = session, .writer = writer, .keep = true};
    all->processes = calloc(session->processes_max, sizeof(struct nsc_tracee_process *));
    all->threads = calloc(session->threads_max, sizeof(struct nsc_tracee_thread *));
    all->module_slots = calloc(session->modules_max, sizeof *all->module_slots);
    nsc_admission_init(&all->admission, session);
    if (all->processes == NULL || all->threads == NULL || all->module_slots == NULL ||
        nsc_modules_init(&all->modules, writer, filter) != 0) {
        nsc_tracees_free(all);
        return -ENOMEM;
    }
    return 0;
}

static void thread_free(struct nsc_tracee_thread *t)
{
    nsc_stacks_free(&t->stacks);
    free(t->ids);
    free(t);
}

static void process_free(struct nsc_tracee_process *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    nsc_sled_switch_free_process(&p->onoff);
    nsc_space_free(&p->space);
    free(p);
}

void nsc_tracees_free(struct nsc_tracees *all)
{
    uint32_t i;

    for (i = 0; all->threads != NULL && i < all->session->threads_max; i++)
        if (all->threads[i] != NULL)
            thread_free(all->threads[i]);
    for (i = 0; all->processes != NULL && i < all->session->processes_max; i++)
        if (all->processes[i] != NULL)
            process_free(all->processes[i]);
    free(all->threads);
    free(all->processes);
    free(all->module_slots);
    nsc_disabled_functions_free(&all->offs);
    nsc_modules_free(&all->modules);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void process_died(struct nsc_tracee_process *p, uint64_t ticks)
{
    if (p->dead)
        return;
    p->dead = true;
    p->all->live_processes--;
    p->entry.end_ticks = ticks > p->entry.start_ticks ? ticks : p->entry.start_ticks;
    if (p->pidfd >= 0)
        close(p->pidfd);
    p->pidfd = -1;
}

static const struct nsc_tracee_process *process_of(const struct nsc_tracees *all, uint32_t id)
{
    uint32_t i;

    for (i = 0; id != NSC_NO_ID && i < all->process_high; i++)
        if (all->processes[i] != NULL && all->processes[i]->id == id)
            return all->processes[i];
    return NULL;
}

/* Returns the kernel's name of one of its threads: at most 15 characters. */
static bool thread_name(const struct nsc_tracee_process *p, char name[LIVE_NAME_BYTES])
{
    const struct nsc_record_session *s = p->all->session;
    uint32_t i;

    for (i = 0; i < s->threads_max; i++) {
        if (__atomic_load_n(&s->threads[i].state, __ATOMIC_ACQUIRE) < NSC_LIVE_LIVE ||
            s->threads[i].process != p->slot)
            continue;
        memcpy(name, s->threads[i].name, LIVE_NAME_BYTES);
        name[LIVE_NAME_BYTES - 1] = 0;
        return name[0] != 0;
    }
    return false;
}

/* Chooses the name of a process that has ended: that of its parent if it was forked (a new program
 * registers itself), or that of the executed file if its thread has the same name. */
static void name_afterwards(struct nsc_tracee_process *p)
{
    const struct nsc_tracee_process *parent = process_of(p->all, p->entry.parent);
    const char *path = p->all->main_path;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    char thread[LIVE_NAME_BYTES];

    if (parent != NULL)
        memcpy(p->name, parent->name, sizeof p->name);
    else if (!thread_name(p, thread))
        snprintf(p->name, sizeof p->name, "process %ld", (long)p->pid);
    else if (p->pid == p->all->main_pid && slash != NULL &&
             strncmp(slash + 1, thread, LIVE_NAME_BYTES - 1) == 0)
        snprintf(p->name, sizeof p->name, "%s", path);
    else
        snprintf(p->name, sizeof p->name, "%s", thread);
}

static void name_process(struct nsc_tracee_process *p)
{
    ssize_t length = -1;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/exe", (long)p->pid);
    if (!p->all->dead && nsc_admission_allows_cached(&p->all->admission, &p->verdict, p->pid))
        length = readlink(path, p->name, sizeof p->name - 1);
    if (length > 0)
        p->name[length] = 0;
    else
        name_afterwards(p);
    p->entry.name = p->name;
}

static void refresh_space(void *context, bool whole)
{
    nsc_tracees_scan(context, whole);
}

static uint32_t parent_of(const struct nsc_tracees *all, uint32_t ppid)
{
    uint32_t i, found = NSC_NO_ID;

    for (i = 0; ppid != 0 && i < all->process_high; i++) {
        const struct nsc_tracee_process *p = all->processes[i];

        if (p != NULL && (uint32_t)p->pid == ppid && (found == NSC_NO_ID || !p->dead))
            found = p->id;
    }
    return found;
}

/* Ends the earlier program of a process that has called exec: it is in another slot. */
static void end_previous(struct nsc_tracees *all, pid_t pid, uint64_t ticks)
{
    uint32_t i;

    for (i = 0; i < all->process_high; i++)
        if (all->processes[i] != NULL && all->processes[i]->pid == pid)
            process_died(all->processes[i], ticks);
}

/* Adds its entry to the trace; processes beyond the limits share one. */
static int add_process(struct nsc_tracee_process *p)
{
    const struct nsc_process other = {
        .name = "(processes beyond the limit)", .parent = NSC_NO_ID, .exit_status = -1};
    struct nsc_tracees *all = p->all;

    if (nsc_limits_take(&all->modules.limits, NSC_LIMIT_PROCESSES))
        return nsc_writer_add_process(all->writer, &p->entry, &p->id);
    if (!all->has_other && nsc_writer_add_process(all->writer, &other, &all->other_process) != 0)
        return -ENOMEM;
    all->has_other = p->is_other = true;
    p->id = all->other_process;
    return 0;
}

static struct nsc_tracee_process *process_adopt(struct nsc_tracees *all, uint32_t slot)
{
    struct nsc_live_process *live = &all->session->processes[slot];
    uint32_t state = __atomic_load_n(&live->state, __ATOMIC_ACQUIRE);
    struct nsc_tracee_process *p;

    if ((state != NSC_LIVE_LIVE && state != NSC_LIVE_DEAD) ||
        !nsc_limits_ration_take(&all->modules.limits.adoptions, 1))
        return NULL;
    p = calloc(1, sizeof *p);
    if (p == NULL || nsc_space_init(&p->space, &all->modules) != 0) {
        free(p);
        return NULL;
    }
    p->all = all;
    p->slot = slot;
    p->pid = (pid_t)__atomic_load_n(&live->pid, __ATOMIC_RELAXED);
    p->onoff = (struct nsc_process_sleds){.mem = -1};
    p->space.refresh = refresh_space;
    p->space.context = all;
    p->entry.pid = (uint32_t)p->pid;
    p->entry.parent = parent_of(all, __atomic_load_n(&live->ppid, __ATOMIC_RELAXED));
    p->entry.start_ticks = __atomic_load_n(&live->start_ticks, __ATOMIC_RELAXED);
    p->entry.exit_status = -1;
    p->id = NSC_NO_ID;
    p->left_out = all->no_children && p->pid != all->main_pid;
    end_previous(all, p->pid, p->entry.start_ticks);
    name_process(p);
    if (!p->left_out && add_process(p) != 0)
        p->left_out = true;
    p->pidfd = p->pid > 0 && !all->dead ? (int)syscall(SYS_pidfd_open, p->pid, 0) : -1;
    all->processes[slot] = p;
    all->live_processes++;
    if (slot >= all->process_high)
        all->process_high = slot + 1;
    all->stats.processes += !p->left_out;
    if (p->pidfd < 0 && !all->dead && (p->pid <= 0 || errno == ESRCH))
        process_died(p, p->entry.start_ticks);
    return p;
}

static struct nsc_tracee_process *process_at(struct nsc_tracees *all, uint32_t slot)
{
    if (slot >= all->session->processes_max)
        return NULL;
    return all->processes[slot] != NULL ? all->processes[slot] : process_adopt(all, slot);
}

void nsc_tracees_check_processes(struct nsc_tracees *all)
{
    struct pollfd set[64];
    uint32_t slots[64], i = 0, n, k;

    while (i < all->process_high) {
        for (n = 0; i < all->process_high && n < 64; i++) {
            const struct nsc_tracee_process *p = all->processes[i];

            if (p == NULL || p->dead || p->pidfd < 0)
                continue;
            slots[n] = i;
            set[n++] = (struct pollfd){.fd = p->pidfd, .events = POLLIN};
        }
        if (n == 0 || poll(set, n, 0) <= 0)
            continue;
        for (k = 0; k < n; k++)
            if (set[k].revents != 0)
                process_died(all->processes[slots[k]], nsc_clock_reading_ticks());
    }
}

static void write_process(struct nsc_tracee_process *p)
{
    struct nsc_live_process *live = &p->all->session->processes[p->slot];

    p->entry.problems = __atomic_load_n(&live->problems, __ATOMIC_RELAXED);
    p->all->stats.problems |= p->entry.problems;
    if (!p->left_out && !p->is_other)
        nsc_writer_set_process(p->all->writer, p->id, &p->entry);
}

static void process_release(struct nsc_tracee_process *p)
{
    struct nsc_tracees *all = p->all;
    struct nsc_live_process *live = &all->session->processes[p->slot];
    uint32_t i;

    write_process(p);
    if (!p->left_out)
        all->stats.lost_unattributed += __atomic_load_n(&live->lost, __ATOMIC_RELAXED);
    for (i = 0; i < all->module_high; i++) {
        if (all->module_slots[i].process != p)
            continue;
        all->module_slots[i].process = NULL;
        __atomic_store_n(&all->session->modules[i].state, NSC_LIVE_FREE, __ATOMIC_RELEASE);
    }
    all->processes[p->slot] = NULL;
    __atomic_store_n(&live->lost, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&live->state, NSC_LIVE_FREE, __ATOMIC_RELEASE);
    process_free(p);
}

/* The program's own process is kept for its exit status. */
static bool may_be_released(const struct nsc_tracee_process *p)
{
    return p != NULL && p->dead && p->threads == 0 && p->pid != p->all->main_pid;
}

/* A process that began after the chunks were scanned may have threads that are still unknown. */
void nsc_tracees_reap(struct nsc_tracees *all)
{
    bool scanned = false;
    uint32_t i;

    for (i = 0; i < all->process_high; i++) {
        if (may_be_released(all->processes[i]) && !scanned) {
            nsc_tracees_scan_threads(all);
            scanned = true;
        }
        if (may_be_released(all->processes[i]))
            process_release(all->processes[i]);
    }
}

void nsc_tracees_main_ended(struct nsc_tracees *all, int status)
{
    struct nsc_tracee_process *last = NULL;
    uint32_t i;

    for (i = 0; i < all->process_high; i++) {
        struct nsc_tracee_process *p = all->processes[i];

        if (p == NULL || p->pid != all->main_pid)
            continue;
        /* After exec, a process has several entries; the status is that of the last one. */
        if (last == NULL || p->entry.start_ticks >= last->entry.start_ticks)
            last = p;
        process_died(p, nsc_clock_reading_ticks());
    }
    if (last != NULL)
        last->entry.exit_status = status;
}

bool nsc_tracees_main_only(const struct nsc_tracees *all)
{
    uint32_t i;

    for (i = 0; i < all->process_high && all->stats.processes == 1; i++)
        if (all->processes[i] != NULL && all->processes[i]->pid == all->main_pid)
            return true;
    return false;
}

void nsc_tracees_complete(struct nsc_tracees *all)
{
    struct nsc_live_header *header = all->session->header;
    uint32_t i;

    for (i = 0; i < all->process_high; i++) {
        struct nsc_tracee_process *p = all->processes[i];

        if (p == NULL)
            continue;
        write_process(p);
        if (!p->left_out)
            all->stats.lost_unattributed +=
                __atomic_load_n(&all->session->processes[i].lost, __ATOMIC_RELAXED);
    }
    all->stats.lost_unattributed += __atomic_load_n(&header->lost_unattributed, __ATOMIC_RELAXED);
    nsc_writer_set_lost_unattributed(all->writer, all->stats.lost_unattributed);
}

/* ---- Modules --------------------------------------------------------------------------------- */

static void module_adopt(struct nsc_tracees *all, uint32_t slot)
{
    struct nsc_live_module *live = &all->session->modules[slot];
    struct nsc_tracee_process *p =
        process_at(all, __atomic_load_n(&live->process, __ATOMIC_RELAXED));
    struct nsc_space_mapping mapping = {0};
    struct nsc_live_module copy;
    uint32_t index;

    if (p == NULL)
        return;
    memcpy(&copy, live, sizeof copy);
    copy.path[sizeof copy.path - 1] = 0;
    if (copy.build_id_bytes > sizeof copy.build_id)
        copy.build_id_bytes = 0;
    if (slot >= all->module_high)
        all->module_high = slot + 1;
    all->module_slots[slot] = (struct nsc_tracee_module){.process = p, .unloaded = true};
    if (p->left_out || copy.text_end <= copy.text_start ||
        nsc_modules_add(&all->modules, copy.path, copy.build_id, copy.build_id_bytes,
                        &(struct nsc_module_at){&all->admission, &p->verdict,
                                                p->dead || all->dead ? 0 : p->pid, copy.text_start},
                        &mapping.module) != 0)
        return;
    if (all->session->entry_timing)
        nsc_timed_modules_note(&all->modules, mapping.module, copy.hooks);
    mapping.start = copy.text_start;
    mapping.end = copy.text_end;
    mapping.bias = copy.bias;
    mapping.hooks = copy.hooks;
    mapping.load_ticks = copy.load_ticks;
    if (nsc_space_load(&p->space, p->id, &mapping, &index) != 0)
        return;
    all->module_slots[slot].mapping = index;
    all->module_slots[slot].unloaded = false;
}

static void module_look(struct nsc_tracees *all, uint32_t slot)
{
    struct nsc_live_module *live = &all->session->modules[slot];
    struct nsc_tracee_module *known = &all->module_slots[slot];
    uint32_t state = __atomic_load_n(&live->state, __ATOMIC_ACQUIRE);
    uint64_t unload_ticks;

    if (state != NSC_LIVE_LIVE && state != NSC_LIVE_DEAD)
        return;
    if (known->process == NULL && nsc_limits_ration_take(&all->modules.limits.adoptions, 1))
        module_adopt(all, slot);
    if (known->process == NULL)
        return;
    if (__atomic_load_n(&live->filter_state, __ATOMIC_ACQUIRE) == NSC_LIVE_FILTER_WAITING)
        nsc_filter_bitmap_give(all->session, live, &all->modules,
                               known->unloaded ? NULL
                                               : &known->process->space.mappings[known->mapping]);
    unload_ticks = __atomic_load_n(&live->unload_ticks, __ATOMIC_ACQUIRE);
    if (unload_ticks != 0 && !known->unloaded) {
        nsc_space_unload(&known->process->space, known->process->id, known->mapping, unload_ticks);
        known->unloaded = true;
    }
    if (state == NSC_LIVE_DEAD) {
        known->process = NULL;
        __atomic_store_n(&live->state, NSC_LIVE_FREE, __ATOMIC_RELEASE);
    }
}

void nsc_tracees_scan(struct nsc_tracees *all, bool whole)
{
    const struct nsc_record_session *s = all->session;
    uint32_t end = all->process_high + SLOTS_AHEAD, i;
    uint64_t ticks = nsc_clock_reading_ticks();

    if (whole || end > s->processes_max)
        end = s->processes_max;
    for (i = 0; i < end; i++)
        if (all->processes[i] == NULL &&
            __atomic_load_n(&s->processes[i].state, __ATOMIC_RELAXED) != NSC_LIVE_FREE)
            process_adopt(all, i);
    end = all->module_high + SLOTS_AHEAD;
    if (whole || end > s->modules_max)
        end = s->modules_max;
    for (i = 0; i < end; i++)
        module_look(all, i);
    for (i = 0; i < all->process_high; i++)
        if (all->processes[i] != NULL)
            all->processes[i]->space.looked_ticks = ticks;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static int open_lane(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane)
{
    struct nsc_tracee_thread *t = context;
    struct nsc_thread entry = {
        .process = t->process->id,
        .tid = (uint32_t)t->tid,
        .stack = stack,
        .start_ticks = stack == 0 ? t->start_ticks : ticks,
        .name = t->name,
    };
    uint32_t *ids;

    if (stack == 0 && t->spare != NULL) {
        *lane = t->spare;
        t->spare = NULL;
        return 0;
    }
    if (stack >= t->id_count) {
        ids = realloc(t->ids, (stack + 1) * sizeof *ids);
        if (ids == NULL)
            return -ENOMEM;
        t->ids = ids;
        while (t->id_count <= stack)
            ids[t->id_count++] = NSC_NO_ID;
    }
    if (!nsc_limits_take(&t->process->all->modules.limits, NSC_LIMIT_STREAMS))
        return -E2BIG;
    return nsc_writer_add_thread(t->process->all->writer, &entry, &t->ids[stack], lane);
}

static bool is_in_trace(const struct nsc_tracee_thread *t)
{
    return t->id_count > 0 && t->ids[0] != NSC_NO_ID;
}

uint32_t nsc_tracee_thread_id(struct nsc_tracee_thread *t)
{
    struct nsc_lane *lane;

    if (t->process->left_out)
        return NSC_NO_ID;
    if (!is_in_trace(t)) {
        if (open_lane(t, 0, t->start_ticks, &lane) != 0)
            return NSC_NO_ID;
        t->spare = lane;
    }
    return t->ids[0];
}

bool nsc_tracee_is_measurable(const struct nsc_tracee_thread *t)
{
    struct nsc_tracee_process *p = t->process;
    struct pollfd ended = {.fd = p->pidfd, .events = POLLIN};

    return !p->dead &&
           nsc_admission_allows_thread(&p->all->admission, &p->verdict, p->pid, t->tid) &&
           (p->pidfd < 0 ||
            poll(&ended, 1, 0) == 0); /* otherwise its number may have been reused */
}

/* Begins to sample the thread, if threads are sampled. */
static void measure_thread(struct nsc_tracee_thread *t)
{
    struct nsc_tracee_process *p = t->process;
    uint32_t id = NSC_NO_ID;

    if (p->all->metrics == NULL || p->left_out)
        return;
    if (nsc_tracee_is_measurable(t))
        id = nsc_tracee_thread_id(t);
    if (id != NSC_NO_ID)
        t->metrics = nsc_metrics_add(p->all->metrics, p->pid, t->tid, id);
    if (t->metrics != NULL && !p->all->attached)
        nsc_metrics_began(t->metrics, t->start_ticks);
    if (t->metrics == NULL)
        nsc_metrics_miss(p->all->metrics);
}

static void take_note(void *context, struct nsc_note *note)
{
    struct nsc_tracee_thread *t = context;

    note->owner = nsc_tracee_thread_id(t);
    if (note->owner == NSC_NO_ID)
        return;
    (void)nsc_writer_note(t->process->all->writer, note); /* the writer keeps its errors */
    if (note->kind == NSC_NOTE_SAMPLE)
        nsc_metrics_count_sample(t->metrics);
}

/* The name may have been set only after the thread's first event. */
static void name_thread(struct nsc_tracee_thread *t)
{
    char path[64], name[sizeof t->name];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/comm", (long)t->process->pid, (long)t->tid);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(name, sizeof name, file) != NULL) {
        name[strcspn(name, "\n")] = 0;
        memcpy(t->name, name, sizeof name);
        nsc_stacks_renamed(&t->stacks);
    }
    fclose(file);
}

static bool is_wanted(void *context, const struct nsc_filter_rules *rules)
{
    const struct nsc_tracee_thread *t = context;

    return nsc_filter_keeps_thread(rules->filter, t->name, (uint32_t)t->tid);
}

static uint32_t roles_of(void *context, const struct nsc_filter_rules *rules, uint32_t function)
{
    const struct nsc_tracee_thread *t = context;
    const struct nsc_modules *modules = &t->process->all->modules;
    const struct nsc_function_place *place = &modules->places[function];

    if (function >= modules->place_count || place->module == NSC_NO_ID)
        return 0;
    return nsc_module_code_flags(modules->files[place->module], rules->filter, place->va) &
           NSC_CODE_ROLES;
}

static struct nsc_tracee_thread *thread_adopt(struct nsc_tracees *all, uint32_t slot)
{
    struct nsc_live_thread *live = &all->session->threads[slot];
    uint32_t state = __atomic_load_n(&live->state, __ATOMIC_ACQUIRE);
    struct nsc_tracee_process *p;
    struct nsc_tracee_thread *t;

    if (state != NSC_LIVE_LIVE && state != NSC_LIVE_DEAD)
        return NULL;
    p = process_at(all, __atomic_load_n(&live->process, __ATOMIC_RELAXED));
    t = p != NULL ? calloc(1, sizeof *t) : NULL;
    if (t == NULL)
        return NULL;
    t->process = p;
    t->slot = slot;
    t->tid = (pid_t)__atomic_load_n(&live->tid, __ATOMIC_RELAXED);
    t->start_ticks = __atomic_load_n(&live->start_ticks, __ATOMIC_RELAXED);
    t->next_seq = 1;
    memcpy(t->name, live->name, sizeof live->name);
    t->stacks.codes = &p->space.codes;
    t->stacks.open_lane = open_lane;
    t->stacks.context = t;
    t->stacks.exit_bit = all->session->exit_bit;
    t->stacks.keep = all->keep;
    t->stacks.switched = all->switched;
    t->stacks.on_ticks = all->on_ticks;
    t->stacks.end_ticks = all->end_ticks;
    t->stacks.offs = &all->offs;
    t->stacks.limits = &all->modules.limits;
    t->stacks.marked = all->session->entry_timing;
    t->stacks.rules = nsc_filter_rules_sift(&all->modules.rules) ? all->modules.rules.first : NULL;
    t->stacks.is_wanted = is_wanted;
    t->stacks.roles = roles_of;
    if (all->modules.filter->threads != NULL) /* most threads have their name now */
        name_thread(t);
    t->stacks.notes.take = take_note;
    t->stacks.notes.context = t;
    if (nsc_stacks_init(&t->stacks) != 0) {
        free(t);
        return NULL;
    }
    p->threads++;
    all->live_threads++;
    all->threads[slot] = t;
    all->stats.threads += !p->left_out;
    if (slot >= all->thread_high)
        all->thread_high = slot + 1;
    measure_thread(t);
    return t;
}

struct nsc_tracee_thread *nsc_tracees_thread(struct nsc_tracees *all, uint32_t slot)
{
    if (slot >= all->session->threads_max)
        return NULL;
    return all->threads[slot] != NULL ? all->threads[slot] : thread_adopt(all, slot);
}

void nsc_tracees_scan_threads(struct nsc_tracees *all)
{
    uint32_t i;

    for (i = 0; i < all->session->threads_max; i++)
        if (all->threads[i] == NULL &&
            __atomic_load_n(&all->session->threads[i].state, __ATOMIC_RELAXED) != NSC_LIVE_FREE)
            thread_adopt(all, i);
}

bool nsc_tracees_have_header(const struct nsc_tracees *all)
{
    uint32_t i, k;

    for (i = 0; i < all->process_high; i++) {
        const struct nsc_tracee_process *p = all->processes[i];

        for (k = 0; p != NULL && !p->dead && k < p->space.count; k++)
            if ((p->space.mappings[k].hooks & 1u << NSC_LIVE_HOOK_HEADER) != 0)
                return true;
    }
    return false;
}

int nsc_tracees_set_filter(struct nsc_tracees *all, const struct nsc_filter *filter, uint64_t ticks)
{
    int error = nsc_modules_set_filter(&all->modules, filter, ticks);
    uint32_t i;

    if (error != 0)
        return error;
    for (i = 0; i < all->process_high; i++)
        if (all->processes[i] != NULL)
            nsc_space_filter_changed(&all->processes[i]->space);
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_sift(&all->threads[i]->stacks, all->modules.rules.first);
    return 0;
}

static bool has_ended(const struct nsc_tracee_thread *t)
{
    const struct nsc_live_thread *live = &t->process->all->session->threads[t->slot];

    if (t->process->dead || t->process->all->dead || t->tid <= 0 ||
        __atomic_load_n(&live->state, __ATOMIC_ACQUIRE) == NSC_LIVE_DEAD)
        return true;
    return syscall(SYS_tgkill, t->process->pid, t->tid, 0) != 0 && errno == ESRCH;
}

void nsc_tracee_check(struct nsc_tracee_thread *t)
{
    if (t->dead)
        return;
    t->dead = has_ended(t);
    if (t->dead)
        return;
    /* At growing intervals: threads are named early, if at all. */
    if ((t->checks & (t->checks + 1)) == 0) {
        if (t->process->all->names_left == 0)
            return; /* until the next check */
        t->process->all->names_left--;
        name_thread(t);
    }
    t->checks++;
}

static void write_thread(struct nsc_tracee_thread *t, uint64_t lost)
{
    struct nsc_thread entry = {
        .process = t->process->id, .tid = (uint32_t)t->tid, .name = t->name, .lost = lost};
    struct nsc_lane *lane;
    uint32_t i;

    /* A thread without any event has an entry as well, for its losses. */
    if ((!is_in_trace(t) || t->spare != NULL) && open_lane(t, 0, t->start_ticks, &lane) == 0)
        nsc_lane_close(lane, t->start_ticks);
    for (i = 0; i < t->id_count; i++) {
        if (t->ids[i] == NSC_NO_ID)
            continue;
        entry.stack = i;
        entry.start_ticks = t->start_ticks;
        entry.end_ticks = t->stacks.last_ticks;
        nsc_writer_set_thread(t->process->all->writer, t->ids[i], &entry);
        entry.lost = 0;
        nsc_writer_close_notes(t->process->all->writer, t->ids[i], false);
    }
}

uint64_t nsc_tracee_turned_away(struct nsc_tracee_thread *t, uint64_t lost)
{
    uint64_t turned = t->turned_away - t->turned_told;

    if (turned > lost)
        turned = lost;
    t->turned_told += turned;
    return turned;
}

/* Returns the growth of a count that only grows, unless the program writes there itself. */
static uint64_t grown(const uint64_t *count, uint64_t *told)
{
    uint64_t now = __atomic_load_n(count, __ATOMIC_RELAXED), more = now > *told ? now - *told : 0;

    *told += more;
    return more;
}

uint64_t nsc_tracee_overwritten(struct nsc_tracee_thread *t, uint64_t *chunks)
{
    const struct nsc_live_overwritten *now = t->process->all->session->overwritten;

    *chunks = 0;
    if (now == NULL)
        return 0;
    now += t->slot;
    *chunks = grown(&now->chunks, &t->overwritten.chunks);
    return grown(&now->events, &t->overwritten.events) + grown(&now->lost, &t->overwritten.lost);
}

/* Counts the events without room after the last event of the thread. */
static void tell_last_losses(struct nsc_tracee_thread *t, uint64_t lost, uint64_t ticks)
{
    uint64_t chunks, told, turned, overwritten = nsc_tracee_overwritten(t, &chunks);

    if (overwritten > 0)
        nsc_stacks_lost(&t->stacks, ticks, overwritten);
    told = t->stacks.stats.lost - t->overwritten.events + t->turned_told;

    if (lost <= told)
        return;
    turned = nsc_tracee_turned_away(t, lost - told);
    if (turned > 0)
        nsc_stacks_left_out(&t->stacks, ticks, turned);
    if (lost - told > turned)
        nsc_stacks_lost(&t->stacks, ticks, lost - told - turned);
}

void nsc_tracee_finish(struct nsc_tracee_thread *t, bool free_slot)
{
    struct nsc_tracees *all = t->process->all;
    struct nsc_live_thread *live = &all->session->threads[t->slot];
    const struct nsc_stacks_stats *stats = &t->stacks.stats;
    uint64_t lost = __atomic_load_n(&live->lost, __ATOMIC_RELAXED), end = t->stacks.last_ticks;
    uint32_t i;

    nsc_metrics_remove(t->metrics, t->dead);
    if (!t->process->left_out) {
        if (!t->dead)
            name_thread(t);
        if (end < t->start_ticks) /* all its events were lost */
            end = t->start_ticks;
        tell_last_losses(t, lost, end);
        t->stacks.stats.left_out[NSC_LEFT_OUT_SHORT] +=
            2 * __atomic_load_n(&live->rewound, __ATOMIC_RELAXED);
        lost = nsc_stacks_lost_total(&t->stacks);
        if (t->stacks.off_ticks == 0) /* it continued after the end of the recording */
            end = t->stacks.end_ticks;
        nsc_stacks_close(&t->stacks, end);
        write_thread(t, lost);
        all->stats.recorded += stats->recorded;
        all->stats.calling += stats->recorded > 0;
        *(is_in_trace(t) ? &all->stats.lost : &all->stats.lost_unattributed) += lost;
        for (i = 0; i < NSC_LEFT_OUT_REASONS; i++)
            all->stats.left_out[i] += stats->left_out[i];
        all->stats.clamped += stats->clamped;
        all->stats.unmatched += stats->unmatched;
        all->stats.holes += stats->holes;
    }
    t->process->threads--;
    all->live_threads--;
    all->threads[t->slot] = NULL;
    thread_free(t);
    if (!free_slot)
        return;
    __atomic_store_n(&live->lost, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&live->rewound, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&live->chunk_seq, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&live->state, NSC_LIVE_FREE, __ATOMIC_RELEASE);
}
