/*
 * user_events.h - marks, counters and samples that the traced program wrote into its chunks.
 *
 * Called by event_loop.c with the slots of such records, which are untrusted input (layout:
 * live.h). Reassembles long texts and passes complete notes to a callback.
 */
#ifndef NSC_RECORD_STACK_USER_EVENTS_H
#define NSC_RECORD_STACK_USER_EVENTS_H

#include "trace/format/model.h"

#define NSC_NOTE_RECORD_TEXT 4096 /* bytes of text kept of one mark or counter */

/* The notes of one thread; initially zeros except the first two fields. */
struct nsc_user_events {
    /* Receives a note; its owner is not set. Texts are valid during the call. */
    void (*take)(void *context, struct nsc_note *note);
    void *context;

    /* A mark or counter whose text continues in the next record; text NULL: none. */
    struct nsc_note open;
    char *text;
    size_t bytes;
    bool cut;

    uint64_t cpu_ns; /* of the latest sample */
};

/**
 * nsc_user_events_add - process a MARK, COUNTER or SAMPLE record.
 * @words: its slots, two words each; the program may write them meanwhile.
 * @slots: number of slots, at least 1; may be fewer than the record says.
 * @near_ticks: replaces an impossible time.
 * Records that are not valid are skipped.
 */
void nsc_user_events_add(struct nsc_user_events *r, const uint64_t *words, size_t slots,
                         uint64_t near_ticks);

/* End a text that continues in the next record, because that was lost or the thread has ended: the
 * open note is passed on and marked as cut. */
void nsc_user_events_break(struct nsc_user_events *r);

/* Free memory; an open note is discarded. */
void nsc_user_events_free(struct nsc_user_events *r);

#endif
