/*
 * lane_log.h - lanes of trace/ replaced by a log of what they are told, for tests of the stack
 * rule.
 *
 * Include it before the sources under test: it keeps the real lanes out.
 */
#ifndef NSC_TESTS_UNIT_RIGS_LANE_LOG_H
#define NSC_TESTS_UNIT_RIGS_LANE_LOG_H

#define NSC_TRACE_WRITE_LANE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { ENTER, EXIT, UNWIND, LATE, LOST, LEFT_OUT, CLOSE };

struct entry {
    uint64_t ticks;
    uint32_t kind, lane, function;
    uint64_t value;
};

struct log {
    struct entry *entries;
    size_t count, room;
};

struct nsc_lane_frame {
    uint64_t start_ticks, child_ticks, position;
    uint32_t function, bound;
};

struct nsc_lane {
    struct log *log;
    uint32_t number, depth;
    struct nsc_lane_frame *frames; /* the floor, then one a call */
    uint32_t room;
    uint64_t last_ticks;
    uint32_t gap_depth; /* the least since the last one */
};

#define NSC_LANE_NOWHERE     0x10000ull
#define NSC_LANE_DELTA_SHORT 0x1000ull
#define NSC_LANE_SHORT_MAX   0x1000ull

/* A run is the lane itself, and ends after a few events. */
enum { RUN_EVENTS = 5 };

static bool no_runs; /* every event is to go the general way */

struct nsc_lane_run {
    const struct nsc_lane_frame *top;
    uint64_t last_ticks;
};

static void log_add(struct log *log, uint32_t kind, uint32_t lane, uint64_t ticks,
                    uint32_t function, uint64_t value)
{
    if (log->count == log->room) {
        log->room = log->room == 0 ? 1024 : log->room * 2;
        log->entries = realloc(log->entries, log->room * sizeof *log->entries);
    }
    log->entries[log->count++] = (struct entry){ticks, kind, lane, function, value};
}

static uint32_t nsc_lane_depth(const struct nsc_lane *lane)
{
    return lane->depth;
}

static struct nsc_lane_frame *nsc_lane_top(struct nsc_lane *lane)
{
    return lane->depth == 0 ? NULL : &lane->frames[lane->depth];
}

static uint32_t nsc_lane_open_calls(const struct nsc_lane *lane, uint32_t function)
{
    uint32_t i, open = 0;

    for (i = 1; i <= lane->depth; i++)
        open += lane->frames[i].function == function;
    return open;
}

static bool nsc_lane_may_deepen(const struct nsc_lane *lane)
{
    (void)lane;
    return true;
}

static void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                           uint64_t position)
{
    if (lane->depth + 1 >= lane->room) {
        lane->room = lane->room == 0 ? 64 : lane->room * 2;
        lane->frames = realloc(lane->frames, lane->room * sizeof *lane->frames);
        lane->frames[0].position = NSC_LANE_NOWHERE;
    }
    lane->frames[++lane->depth] = (struct nsc_lane_frame){ticks, 0, position, function, 0};
    lane->last_ticks = ticks;
    log_add(lane->log, ENTER, lane->number, ticks, function, 0);
}

static void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks)
{
    if (lane->depth == 0)
        abort();
    lane->last_ticks = ticks;
    log_add(lane->log, EXIT, lane->number, ticks, lane->frames[lane->depth--].function, 0);
    lane->gap_depth = lane->gap_depth < lane->depth ? lane->gap_depth : lane->depth;
}

static void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks)
{
    if (lane->depth == 0)
        abort();
    log_add(lane->log, UNWIND, lane->number, ticks, lane->frames[lane->depth--].function, 0);
    lane->gap_depth = lane->gap_depth < lane->depth ? lane->gap_depth : lane->depth;
}

static size_t nsc_lane_run_begin(const struct nsc_lane *lane, struct nsc_lane_run *run)
{
    run->top = lane->frames != NULL ? &lane->frames[lane->depth] : NULL;
    run->last_ticks = lane->last_ticks;
    return lane->frames == NULL || no_runs ? 0 : RUN_EVENTS;
}

/* Now a run goes on, now it ends. */
static size_t nsc_lane_run_room(const struct nsc_lane *lane, const struct nsc_lane_run *run)
{
    (void)run;
    return lane->log->count % 3 == 0 ? 0 : RUN_EVENTS;
}

static void nsc_lane_run_end(struct nsc_lane *lane, const struct nsc_lane_run *run)
{
    if (run->top != &lane->frames[lane->depth])
        abort();
}

/* In every other lane no run takes an event that comes sooner. */
static uint64_t lane_least(const struct nsc_lane *lane)
{
    return lane->number % 2 * 7;
}

static bool nsc_lane_leaves_out(const struct nsc_lane *lane)
{
    return lane_least(lane) > 0;
}

static bool nsc_lane_is_short(const struct nsc_lane *lane, uint64_t delta)
{
    return delta - lane_least(lane) < NSC_LANE_DELTA_SHORT - lane_least(lane);
}

static bool nsc_lane_run_fits(const struct nsc_lane *lane, const struct nsc_lane_run *run,
                              uint64_t ticks)
{
    (void)lane;
    return ticks >= run->last_ticks;
}

static bool nsc_lane_run_enter(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks,
                               uint32_t function, uint64_t coded, uint64_t position)
{
    (void)coded; /* codes.c works it out; test_record_drain and all that decode a file see it */
    if (lane->depth + 1 >= lane->room)
        return false;
    nsc_lane_enter(lane, ticks, function, position);
    run->top = &lane->frames[lane->depth];
    run->last_ticks = ticks;
    return true;
}

static bool nsc_lane_run_exit(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks)
{
    nsc_lane_exit(lane, ticks);
    run->top = &lane->frames[lane->depth];
    run->last_ticks = ticks;
    return true;
}

static bool nsc_lane_run_leaf(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t ticks,
                              uint64_t end_ticks, uint32_t function, uint64_t coded)
{
    return nsc_lane_run_enter(lane, run, ticks, function, coded, 0) &&
           nsc_lane_run_exit(lane, run, end_ticks);
}

static bool nsc_lane_run_short_enter(struct nsc_lane *lane, struct nsc_lane_run *run,
                                     uint64_t delta, uint32_t function, uint64_t coded,
                                     uint64_t position)
{
    if (!nsc_lane_is_short(lane, delta))
        abort();
    return nsc_lane_run_enter(lane, run, run->last_ticks + delta, function, coded, position);
}

static void nsc_lane_run_short_exit(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta)
{
    if (!nsc_lane_is_short(lane, delta))
        abort();
    nsc_lane_run_exit(lane, run, run->last_ticks + delta);
}

static bool nsc_lane_run_short_leaf(struct nsc_lane *lane, struct nsc_lane_run *run, uint64_t delta,
                                    uint64_t duration, uint32_t function, uint64_t coded)
{
    uint64_t ticks = run->last_ticks + delta;

    if (!nsc_lane_is_short(lane, delta) || !nsc_lane_is_short(lane, duration))
        abort();
    return nsc_lane_run_leaf(lane, run, ticks, ticks + duration, function, coded);
}

static void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function)
{
    /* Inside of others only if those are from before a gap. */
    if (lane->depth > lane->gap_depth)
        abort();
    log_add(lane->log, LATE, lane->number, ticks, function, 0);
}

static void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events)
{
    lane->gap_depth = lane->depth;
    log_add(lane->log, LOST, lane->number, ticks, 0, events);
}

static void nsc_lane_left_out(struct nsc_lane *lane, uint64_t ticks, uint64_t events)
{
    lane->gap_depth = lane->depth;
    log_add(lane->log, LEFT_OUT, lane->number, ticks, 0, events);
}

static void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks)
{
    while (lane->depth > 0)
        nsc_lane_unwind(lane, ticks);
    log_add(lane->log, CLOSE, lane->number, 0, 0, 0);
}

/* The log as text: "+f" enter, "-f" exit, "~f" unwind, "<f" late exit, "!n" lost, "?n" left out; a
 * lane other than 0 is given in front as "n:". */
static inline const char *log_text(const struct log *log)
{
    static char text[4096];
    size_t i, at = 0;

    text[0] = 0;
    for (i = 0; i < log->count && at < sizeof text - 64; i++) {
        const struct entry *e = &log->entries[i];

        if (e->kind == CLOSE)
            continue;
        if (at > 0)
            text[at++] = ' ';
        if (e->lane != 0)
            at += (size_t)snprintf(text + at, 32, "%u:", e->lane);
        at += (size_t)snprintf(text + at, 32, "%c%llu", "+-~<!?"[e->kind],
                               e -> kind >= LOST ? (unsigned long long)e -> value : e -> function);
    }
    return text;
}

#endif
