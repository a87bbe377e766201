/* model.c - names of things in model.h. */
#include "trace/format/model.h"

#include <string.h>

const char *nsc_model_sample_field_name(enum nsc_sample_field field)
{
    static const char *const names[NSC_SAMPLE_FIELDS] = {
        [NSC_SAMPLE_CPU_NS] = "CPU time",
        [NSC_SAMPLE_MAJOR_FAULTS] = "major faults",
        [NSC_SAMPLE_MINOR_FAULTS] = "minor faults",
        [NSC_SAMPLE_SWITCHES] = "context switches",
        [NSC_SAMPLE_PREEMPTIONS] = "preemptions",
        [NSC_SAMPLE_PROCESS_BYTES] = "process memory",
        [NSC_SAMPLE_PROCESS_OBJECTS] = "process objects",
        [NSC_SAMPLE_ALLOCATED_BYTES] = "bytes allocated",
        [NSC_SAMPLE_FREED_BYTES] = "bytes freed",
    };

    return names[field];
}

bool nsc_model_sample_field_find(const char *name, enum nsc_sample_field *field)
{
    for (uint32_t i = 0; i < NSC_SAMPLE_FIELDS; i++) {
        if (strcmp(nsc_model_sample_field_name((enum nsc_sample_field)i), name) == 0) {
            *field = (enum nsc_sample_field)i;
            return true;
        }
    }
    return false;
}

const char *nsc_model_state_name(uint32_t state)
{
    static const char *const names[NSC_STATES] = {
        [NSC_STATE_UNKNOWN] = "unknown",           [NSC_STATE_RUNNING] = "running",
        [NSC_STATE_RUNNABLE] = "runnable",         [NSC_STATE_SLEEPING] = "sleeping",
        [NSC_STATE_BLOCKED_IO] = "blocked on I/O", [NSC_STATE_BLOCKED_LOCK] = "blocked on a lock",
        [NSC_STATE_STOPPED] = "stopped",           [NSC_STATE_DEAD] = "dead",
    };
    /* Android 7.1, art/runtime/thread_state.h */
    static const char *const art_names[NSC_STATE_ART_LAST - NSC_STATE_ART_FIRST + 1] = {
        "Terminated",
        "Runnable",
        "TimedWaiting",
        "Sleeping",
        "Blocked",
        "Waiting",
        "WaitingForGcToComplete",
        "WaitingForCheckPointsToRun",
        "WaitingPerformingGc",
        "WaitingForDebuggerSend",
        "WaitingForDebuggerToAttach",
        "WaitingInMainDebuggerLoop",
        "WaitingForDebuggerSuspension",
        "WaitingForJniOnLoad",
        "WaitingForSignalCatcherOutput",
        "WaitingInMainSignalCatcherLoop",
        "WaitingForDeoptimization",
        "WaitingForMethodTracingStart",
        "WaitingForVisitObjects",
        "WaitingForGetObjectsAllocated",
        "WaitingWeakGcRootRead",
        "WaitingForGcThreadFlip",
        "Starting",
        "Native",
        "Suspended",
    };

    if (state < NSC_STATES)
        return names[state];
    if (state >= NSC_STATE_ART_FIRST && state <= NSC_STATE_ART_LAST)
        return art_names[state - NSC_STATE_ART_FIRST];
    return NULL;
}

bool nsc_model_state_find(const char *name, uint32_t *state)
{
    uint64_t number = 0;
    const char *at = name;

    for (uint32_t i = 0; i <= NSC_STATE_ART_LAST; i++) {
        const char *known = nsc_model_state_name(i);

        if (known != NULL && strcmp(known, name) == 0) {
            *state = i;
            return true;
        }
    }
    for (; *at >= '0' && *at <= '9' && number <= UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    if (at == name || *at != '\0' || number > UINT32_MAX)
        return false;
    *state = (uint32_t)number;
    return true;
}

const char *nsc_model_left_out_reason_name(uint32_t reason)
{
    static const char *const names[] = {
        [NSC_LEFT_OUT_FILTER] = "filter",   [NSC_LEFT_OUT_BUDGET] = "budget",
        [NSC_LEFT_OUT_TRIGGER] = "trigger", [NSC_LEFT_OUT_SHORT] = "short",
        [NSC_LEFT_OUT_DEPTH] = "depth",     [NSC_LEFT_OUT_UNDER] = "under",
        [NSC_LEFT_OUT_THREAD] = "thread",
    };

    if (reason < sizeof names / sizeof names[0] && names[reason] != NULL)
        return names[reason];
    return "other";
}
