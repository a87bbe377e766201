/*
 * drain.h - write the events of the session's chunks to the trace.
 *
 * Called by recorder.c in a loop. Sorts chunks by thread and sequence number, decodes their events,
 * clears the chunks and frees them. All input is untrusted.
 */
#ifndef NSC_RECORD_DRAIN_DRAIN_H
#define NSC_RECORD_DRAIN_DRAIN_H

#include "record/drain/tracee.h"
#include "record/options/recording_options.h"

/* A chunk in use. */
struct nsc_drain_entry {
    uint32_t thread, seq;
    uint32_t chunk, phase;
    uint64_t open_ticks; /* drain_ring.c only */
};

struct nsc_drain {
    struct nsc_tracees *tracees;
    enum nsc_record_mode mode;
    struct nsc_drain_entry *entries; /* capacity: chunks_max */
    uint32_t entry_count;
    uint32_t chunks_free;   /* of the pool: found by the last pass, plus those emptied since */
    uint32_t chunks_owned;  /* of the pool: owned by threads */
    uint32_t sparse_used;   /* sparse chunks in use */
    uint32_t sparse_mapped; /* of them: read since they were last unmapped */
    uint32_t homes_high;    /* all homes in use are below */
    uint32_t ration;        /* chunks that threads may fill, see nsc_drain_ration(); 0: all */
    bool rationed;          /* the quota is published to the threads */
    bool blamed;            /* the quota caused the last losses */
    uint32_t given;         /* chunks of the pool freed since the last pass */
    bool hold; /* ring mode: a copy is being made; drop chunks only if the ring is almost full */
    /* Called after each emptied chunk; may be NULL. */
    void (*between)(void *context);
    void *context;
    uint64_t pass;
    /* Times of the last checks of processes, threads, tables, and chunks in use. */
    uint64_t checked_ns, probed_ns, scanned_ns, parts_ns;
};

enum nsc_drain_depth {
    NSC_DRAIN_FULL,    /* the chunks that the mode requires */
    NSC_DRAIN_PARTLY,  /* also the complete part of chunks in use (streams only) */
    NSC_DRAIN_THE_END, /* everything: no more events are written, or wanted */
};

int nsc_drain_init(struct nsc_drain *drain, struct nsc_tracees *tracees, enum nsc_record_mode mode);
void nsc_drain_free(struct nsc_drain *drain);

/**
 * nsc_drain_pass - make one pass over the chunks.
 * @now_ns: monotonic time, for checks that are not made in every pass.
 * Returns the number of emptied chunks.
 */
uint32_t nsc_drain_pass(struct nsc_drain *drain, enum nsc_drain_depth depth, uint64_t now_ns);

/* Set the quota of chunks that threads may fill between the next pass and the next call. */
void nsc_drain_ration(struct nsc_drain *drain, uint32_t chunks);

/* Ring mode (drain_ring.c): drop the oldest chunks of drain->entries until a quarter of the pool is
 * free (a sixteenth during a copy). Their events are decoded and count as lost. Returns the number
 * of dropped chunks. */
uint32_t nsc_drain_turn_ring(struct nsc_drain *drain);
/* Ring mode, after the recording: drop all chunks that ended before @ticks. */
void nsc_drain_drop_before(struct nsc_drain *drain, uint64_t ticks);
/* Ring mode, after the recording: keep the events that the ring holds now. */
void nsc_drain_keep_ring(struct nsc_drain *drain);

/* Decode the events of a chunk, clear and free it. False: a thread has overwritten it. */
bool nsc_drain_empty_chunk(struct nsc_drain *drain, struct nsc_tracee_thread *thread,
                           const struct nsc_drain_entry *entry);

/* Ring mode (drain_ring.c): count the events of a @chunk in state TAKEN if its thread has ended (at
 * @the_end: any thread) and they are not counted yet. True: the caller must clear and free it. */
bool nsc_drain_take_over(struct nsc_drain *drain, uint32_t chunk, bool the_end);

#endif
