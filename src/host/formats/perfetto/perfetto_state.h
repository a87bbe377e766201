/*
 * perfetto_state.h - what packets of a Perfetto trace refer to: the state of their sequences,
 * names, clocks and tracks. Used by perfetto_import.c.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_STATE_H
#define NSC_FORMATS_PERFETTO_PERFETTO_STATE_H

#include "formats/import/event_intake.h"
#include "util/id_map.h"
#include "util/protobuf.h"

enum nsc_perfetto_intern { NSC_PERFETTO_EVENT, NSC_PERFETTO_ANNOTATION, NSC_PERFETTO_SOURCE };

/* An interned name, or a source location. */
struct nsc_perfetto_name {
    char *text; /* of a source location, its file */
    size_t bytes;
    uint32_t line;
    uint32_t function; /* NSC_NO_ID until it is used */
};

/* Packets of one writer. */
struct nsc_perfetto_sequence {
    uint32_t id;
    bool whole; /* its state was cleared, and nothing was dropped since */
    bool has_default_track, has_thread;
    uint64_t default_track;
    uint32_t default_clock;      /* 0: the trace's */
    uint32_t pid, tid;           /* of its thread descriptor */
    uint64_t reference_us;       /* likewise, and what deltas have added to it */
    struct nsc_id_map by_iid[3]; /* by enum nsc_perfetto_intern: index into names */
    struct nsc_perfetto_name *names;
    uint32_t name_count, name_room;
    uint32_t gaps;                  /* where packets were dropped, so far */
    struct nsc_id_map gaps_told;    /* by intake's track: how many of them it has been told */
    uint32_t last_track, last_gaps; /* the last of these; NSC_NO_ID: none yet */
};

struct nsc_perfetto_clock {
    bool incremental;
    uint64_t multiplier;
    uint64_t last;   /* in its own units */
    uint64_t offset; /* ns; modulo 2^64 */
};

enum nsc_perfetto_kind {
    NSC_PERFETTO_UNKNOWN, /* of calls, below its parent */
    NSC_PERFETTO_PROCESS,
    NSC_PERFETTO_THREAD,
    NSC_PERFETTO_COUNTER,
};

struct nsc_perfetto_track {
    uint64_t uuid, parent;
    uint32_t kind; /* enum nsc_perfetto_kind */
    uint32_t pid, tid;
    char *name; /* NULL = none */
    uint64_t multiplier;
    uint64_t value; /* of an incremental counter */
    bool incremental;
    uint32_t slices; /* intake's track for its calls and marks; NSC_NO_ID until needed */
    uint32_t owner;  /* of a counter, intake's track of its thread or process; likewise */
    bool of_thread;  /* that is a thread's */
    bool free;       /* slices is of no thread */
    bool borrowed;   /* slices is the thread's, and so is its name */
    bool orphan;     /* nothing was known above it when slices or owner was found */
    uint32_t seen;   /* descriptions by then */
    bool is_states;  /* its slices are states of a thread */
    uint32_t state;  /* the last of them */
};

struct nsc_perfetto_state {
    struct nsc_intake *in;
    struct nsc_id_map by_sequence, by_clock, by_uuid;
    struct nsc_perfetto_sequence *sequences;
    uint32_t sequence_count, sequence_room;
    struct nsc_perfetto_clock *clocks;
    uint32_t clock_count, clock_room;
    /* The first snapshot of the system's clocks, or the first that has the calendar's time. */
    struct nsc_clock_point clocks_read;
    bool has_clocks;
    struct nsc_perfetto_track *tracks;
    uint32_t track_count, track_room;
    uint32_t descriptions; /* how often a track has become another's */
    uint64_t late;         /* tracks of which that was said after their first events */
    uint64_t untied;       /* times of clocks that nothing ties to the trace's */
};

void nsc_perfetto_state_free(struct nsc_perfetto_state *s);

/* The sequence of that id, made when new; valid until the next one is. NULL when out of memory. */
struct nsc_perfetto_sequence *nsc_perfetto_sequence(struct nsc_perfetto_state *s, uint32_t id);
/* Forget what it interned. */
void nsc_perfetto_clear(struct nsc_perfetto_sequence *q);

/* Take a message of interned data. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_interned(struct nsc_perfetto_sequence *q, struct nsc_span message);
/* A name by its number; NULL when there is none. */
struct nsc_perfetto_name *nsc_perfetto_name(struct nsc_perfetto_sequence *q,
                                            enum nsc_perfetto_intern kind, uint64_t iid);

/* Take a clock snapshot of a sequence. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_clocks(struct nsc_perfetto_state *s, uint32_t sequence,
                             struct nsc_span message);
/* Nanoseconds of the trace's clock; @clock: 0 = the trace's own. Incremental clocks go on. */
uint64_t nsc_perfetto_ns(struct nsc_perfetto_state *s, uint32_t sequence, uint32_t clock,
                         uint64_t timestamp);

/* Take a track descriptor. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_track(struct nsc_perfetto_state *s, struct nsc_span message);
/* The track of that id, made when new; valid until the next one is. NULL when out of memory. */
struct nsc_perfetto_track *nsc_perfetto_track(struct nsc_perfetto_state *s, uint64_t uuid);
/* The intake's track for its calls and marks, or for a counter its owner. */
uint32_t nsc_perfetto_slices(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t);
/* A further stack of the thread of the intake's track @own, named as @t. */
uint32_t nsc_perfetto_further(struct nsc_perfetto_state *s, const struct nsc_perfetto_track *t,
                              uint32_t own);
uint32_t nsc_perfetto_owner(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t);

#endif
