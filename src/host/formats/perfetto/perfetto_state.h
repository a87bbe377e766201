/*
 * perfetto_state.h - state to which packets of a Perfetto trace refer: sequences, interned names,
 * clocks and tracks. Used by perfetto_import.c.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_STATE_H
#define NSC_FORMATS_PERFETTO_PERFETTO_STATE_H

#include "formats/import/event_intake.h"
#include "util/id_map.h"
#include "util/protobuf.h"

enum nsc_perfetto_intern { NSC_PERFETTO_EVENT, NSC_PERFETTO_ANNOTATION, NSC_PERFETTO_SOURCE };

/* An interned name, or a source location. */
struct nsc_perfetto_name {
    char *text; /* the name; of a source location, its file */
    size_t bytes;
    uint32_t line;
    uint32_t function; /* of the last event with this name; NSC_NO_ID = not used yet */
};

/* A packet sequence: the packets of one writer. */
struct nsc_perfetto_sequence {
    uint32_t id;
    bool whole; /* its incremental state is valid: it was cleared, and no packet dropped since */
    bool has_default_track, has_thread;
    uint64_t default_track;
    uint32_t default_clock;      /* 0 = the trace's clock */
    uint32_t pid, tid;           /* from its thread descriptor */
    uint64_t reference_us;       /* from its thread descriptor, plus the deltas since */
    struct nsc_id_map by_iid[3]; /* by enum nsc_perfetto_intern: index into names */
    struct nsc_perfetto_name *names;
    uint32_t name_count, name_room;
    uint32_t gaps;                  /* number of gaps (dropped packets) so far */
    struct nsc_id_map gaps_told;    /* intake track to `gaps` at its last event */
    uint32_t last_track, last_gaps; /* last entry of gaps_told; NSC_NO_ID = none yet */
};

struct nsc_perfetto_clock {
    bool incremental;
    uint64_t multiplier;
    uint64_t last;   /* last timestamp, in units of the clock */
    uint64_t offset; /* ns to add for the trace's clock; modulo 2^64 */
};

enum nsc_perfetto_kind {
    NSC_PERFETTO_UNKNOWN, /* a plain track, for slices */
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
    uint64_t value; /* last value of a counter */
    bool incremental;
    uint32_t slices; /* intake track for its slices and marks; NSC_NO_ID = not chosen yet */
    uint32_t owner;  /* counters: intake track of the thread or process; NSC_NO_ID as above */
    bool of_thread;  /* owner is a thread's track */
    bool free;       /* slices belongs to no thread */
    bool borrowed;   /* slices is the thread's own track or stack, with the thread's name */
    bool orphan;     /* no thread or process was known above it when slices or owner was chosen */
    uint32_t seen;   /* nsc_perfetto_state.descriptions at that time */
    bool is_states;  /* its slices are the states of a thread */
    uint32_t state;  /* last state */
};

struct nsc_perfetto_state {
    struct nsc_intake *in;
    struct nsc_id_map by_sequence, by_clock, by_uuid;
    struct nsc_perfetto_sequence *sequences;
    uint32_t sequence_count, sequence_room;
    struct nsc_perfetto_clock *clocks;
    uint32_t clock_count, clock_room;
    /* The first snapshot with a system clock, or, if any has one, the first with CLOCK_REALTIME. */
    struct nsc_clock_point clocks_read;
    bool has_clocks;
    struct nsc_perfetto_track *tracks;
    uint32_t track_count, track_room;
    uint32_t descriptions; /* number of descriptors that changed a track's owner */
    uint64_t late;         /* number of times that a track with events got another owner */
    uint64_t untied;       /* timestamps of clocks that no snapshot relates to the trace's clock */
};

void nsc_perfetto_state_free(struct nsc_perfetto_state *s);

/* Finds or creates a sequence. The pointer is valid until another one is created. NULL when out of
 * memory. */
struct nsc_perfetto_sequence *nsc_perfetto_sequence(struct nsc_perfetto_state *s, uint32_t id);
/* Removes the interned names of a sequence. */
void nsc_perfetto_clear(struct nsc_perfetto_sequence *q);

/* Adds the names of an InternedData message. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_interned(struct nsc_perfetto_sequence *q, struct nsc_span message);
/* Finds an interned name by its iid. Returns NULL if there is none. The pointer is valid until the
 * next name is added. */
struct nsc_perfetto_name *nsc_perfetto_name(struct nsc_perfetto_sequence *q,
                                            enum nsc_perfetto_intern kind, uint64_t iid);

/* Processes a ClockSnapshot message of a sequence. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_clocks(struct nsc_perfetto_state *s, uint32_t sequence,
                             struct nsc_span message);
/* Converts a timestamp to ns of the trace's clock, which is the boot clock. @clock: clock id; 0 =
 * the trace's clock. Advances incremental clocks. */
uint64_t nsc_perfetto_ns(struct nsc_perfetto_state *s, uint32_t sequence, uint32_t clock,
                         uint64_t timestamp);

/* Processes a TrackDescriptor message. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_perfetto_take_track(struct nsc_perfetto_state *s, struct nsc_span message);
/* Finds or creates a track. The pointer is valid until another one is created. NULL when out of
 * memory. */
struct nsc_perfetto_track *nsc_perfetto_track(struct nsc_perfetto_state *s, uint64_t uuid);
/* Returns the intake track for the slices and marks of @t. */
uint32_t nsc_perfetto_slices(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t);
/* Creates a further stack, with the name of @t, of the thread that intake track @own belongs to. */
uint32_t nsc_perfetto_further(struct nsc_perfetto_state *s, const struct nsc_perfetto_track *t,
                              uint32_t own);
/* Returns the intake track of the thread or process that counter @t belongs to. */
uint32_t nsc_perfetto_owner(struct nsc_perfetto_state *s, struct nsc_perfetto_track *t);

#endif
