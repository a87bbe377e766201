/* model.c - names of things in model.h. */
#include "trace/model.h"

const char *nsc_sample_field_name(enum nsc_sample_field field)
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

const char *nsc_state_name(uint32_t state)
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

const char *nsc_left_out_reason_name(uint32_t reason)
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
