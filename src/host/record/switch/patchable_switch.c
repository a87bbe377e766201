/* patchable_switch.c - see patchable_switch.h. */
#include "record/switch/patchable_switch.h"

#include <errno.h>
#include <string.h>

#include "abi/control.h"
#include "process/call/control_call.h"
#include "record/modules/filter_bitmap.h"

static bool has_patchable(const struct nsc_tracee_process *p)
{
    uint32_t i;

    for (i = 0; i < p->space.count; i++)
        if (p->space.mappings[i].unload_ticks == UINT64_MAX &&
            (p->space.mappings[i].hooks & 1u << NSC_LIVE_HOOK_PATCHABLE) != 0)
            return true;
    return false;
}

/* Writes the filter's verdicts for all modules of the process, which it reads, sleds included. */
static void give_verdicts(struct nsc_tracees *all, const struct nsc_tracee_process *p)
{
    uint32_t i;

    for (i = 0; i < all->module_high; i++) {
        const struct nsc_tracee_module *m = &all->module_slots[i];

        if (m->process == p && !m->unloaded)
            nsc_filter_bitmap_give(all->session, &all->session->modules[i], &all->modules,
                                   &p->space.mappings[m->mapping]);
    }
}

static int call(const struct nsc_tracee_process *p, uint64_t verb, struct nsc_diag *diag)
{
    struct nsc_process_target target;
    struct nsc_process_access *reach = NULL;
    int64_t result = 0;
    int error;

    if (!nsc_admission_allows(&p->all->admission, p->pid)) {
        p->all->stats.mistrusted = true;
        return -ESRCH;
    }
    error = nsc_process_find(p->pid, &target, diag);
    if (error != 0)
        return error;
    /* The number may be that of another process by now, which is not called if it has more
     * privileges. */
    target.within = &p->all->admission.target;
    target.limit = p->all->calls;
    error = nsc_process_open(&target, &reach, diag);
    if (error == 0 && !nsc_admission_allows(&p->all->admission, p->pid)) /* held by now */
        error = -EXDEV;
    if (error == -EXDEV) {
        p->all->stats.mistrusted = true;
        error = -ESRCH;
    }
    if (error == 0)
        error = nsc_process_call(reach, verb, 0, &result, diag);
    if (error == 0 && result < 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, (int)-result,
                             "process %ld (%s) could not choose functions: %s", (long)p->pid,
                             p->name, strerror((int)-result));
    nsc_process_close(reach);
    nsc_process_target_free(&target);
    return error;
}

static int call_all(struct nsc_tracees *all, uint64_t verb, struct nsc_diag *diag)
{
    struct nsc_diag one;
    int first = 0;
    uint32_t i;

    for (i = 0; i < all->process_high; i++) {
        struct nsc_tracee_process *p = all->processes[i];
        int error;

        if (p == NULL || p->dead || p->left_out || !has_patchable(p))
            continue;
        if (verb == NSC_CONTROL_APPLY)
            give_verdicts(all, p);
        if (!nsc_call_limit_is_over(all->calls))
            error = call(p, verb, &one);
        else
            error = nsc_diag_set(&one, NSC_DIAG_NO_OFFSET, ETIMEDOUT,
                                 "process %ld (%s) was not asked to choose functions: the others "
                                 "took too long, or a signal came",
                                 (long)p->pid, p->name);
        nsc_sled_switch_free_process(&p->onoff); /* the state of its sleds has changed */
        if (error != 0 && error != -ESRCH && first == 0) {
            first = error;
            if (diag != NULL)
                *diag = one;
        }
    }
    return first;
}

int nsc_patchable_follow(struct nsc_tracees *all, struct nsc_diag *diag)
{
    return call_all(all, NSC_CONTROL_APPLY, diag);
}

int nsc_patchable_end(struct nsc_tracees *all, struct nsc_diag *diag)
{
    return call_all(all, NSC_CONTROL_OFF, diag);
}
