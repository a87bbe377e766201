/*
 * lanes.h - the events of one thread of a trace, in the form that check.c compares.
 */
#ifndef ORACLE_LANES_H
#define ORACLE_LANES_H

#include "trace/read/reader.h"

struct lane_event {
    uint64_t ticks;
    uint64_t value;
    uint32_t kind, depth;
    const char *name; /* without parameters, return type and compiler suffixes */
};

struct lane {
    struct lane_event *events;
    size_t count;
    uint64_t first_ticks;
};

struct lane_thread {
    struct lane whole[32]; /* as in the trace */
    size_t whole_count;
    struct lane
        lanes[32]; /* without asynchronous handlers; those with events, by their first one */
    size_t count;
    struct lane async; /* calls of handlers of asynchronous signals, by time */
};

/* Reads all stacks of a thread; ends the program when that fails. */
void lanes_read(struct nsc_trace *trace, uint32_t pid, uint32_t tid, struct lane_thread *out);
void lanes_free(struct lane_thread *lanes);
/* Reports each thread with events that lanes_read was never asked for. */
void lanes_check_unseen(const struct nsc_trace *trace, void (*problem)(const char *format, ...));

#endif
