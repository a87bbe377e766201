/*
 * drain.h - empty the session's chunks into the trace.
 *
 * Called by recorder.c in a loop. Orders chunks by thread and sequence, runs the stack rule over
 * them, clears them and gives them back. Never trusts what it reads.
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
    struct nsc_drain_entry *entries; /* room for chunks_max */
    uint32_t entry_count;
    uint32_t chunks_free;   /* of the pool; found by the last pass, plus those emptied */
    uint32_t chunks_owned;  /* of the pool, in the hands of threads */
    uint32_t sparse_used;   /* sparse chunks in use */
    uint32_t sparse_mapped; /* of them, read since their mapping was let go */
    uint32_t homes_high;    /* homes in use lie below */
    uint32_t ration;        /* that threads may fill, see nsc_drain_ration(); 0: what there is */
    bool rationed;          /* they have been told */
    bool blamed;            /* it was what threads had no room for, the last time they had none */
    uint32_t given;         /* chunks of the pool that became free since the last pass looked */
    bool hold; /* ring mode: the ring is being copied; do not turn it unless it is all but full */
    /* Called after each chunk that was emptied, NULL: nobody wants to know. */
    void (*between)(void *context);
    void *context;
    uint64_t pass;
    /* When processes, threads, tables were looked at, and chunks still in use. */
    uint64_t checked_ns, probed_ns, scanned_ns, parts_ns;
};

enum nsc_drain_depth {
    NSC_DRAIN_FULL,    /* what is due in the mode */
    NSC_DRAIN_PARTLY,  /* and what is complete of chunks still being written (streams only) */
    NSC_DRAIN_THE_END, /* everything; nobody writes any more, or what they write is not wanted */
};

int nsc_drain_init(struct nsc_drain *drain, struct nsc_tracees *tracees, enum nsc_record_mode mode);
void nsc_drain_free(struct nsc_drain *drain);

/**
 * nsc_drain_pass - one round.
 * @now_ns: monotonic time, for what is not done in every round.
 * Returns how many chunks it emptied.
 */
uint32_t nsc_drain_pass(struct nsc_drain *drain, enum nsc_drain_depth depth, uint64_t now_ns);

/* From the next pass on, threads may fill @chunks, however many passes there are until the next
 * call. */
void nsc_drain_ration(struct nsc_drain *drain, uint32_t chunks);

/* Ring mode (drain_ring.c): of the chunks in drain->entries, drop the oldest until a quarter of the
 * pool is free (a sixteenth while it is held); their calls run through the stack rule and count as
 * lost. Returns how many. */
uint32_t nsc_drain_turn_ring(struct nsc_drain *drain);
/* Ring mode, when the ring stands still: drop every chunk that ended before @ticks. */
void nsc_drain_drop_before(struct nsc_drain *drain, uint64_t ticks);
/* The ring stands still: what is in it now is kept. */
void nsc_drain_keep_ring(struct nsc_drain *drain);

/* Run a chunk through its thread's stack rule, clear it and give it back. False: a thread has
 * overwritten it. */
bool nsc_drain_empty_chunk(struct nsc_drain *drain, struct nsc_tracee_thread *thread,
                           const struct nsc_drain_entry *entry);

/* A ring (drain_ring.c): if @chunk is TAKEN by a thread that has ended, or, at @the_end, by
 * whichever, and its events are not counted yet: does so. True: the chunk is to be cleared and
 * given back. */
bool nsc_drain_take_over(struct nsc_drain *drain, uint32_t chunk, bool the_end);

#endif
