/*
 * user_events.h - marks, counters and samples that the traced program wrote into its chunks.
 *
 * Called by event_loop.c with the slots of such records, which are hostile input (live.h says how
 * they look). Puts long texts together again and gives whole notes to whoever writes them.
 */
#ifndef NSC_RECORD_STACK_USER_EVENTS_H
#define NSC_RECORD_STACK_USER_EVENTS_H

#include "trace/format/model.h"

#define NSC_NOTE_RECORD_TEXT 4096 /* bytes of text that are kept of one mark or counter */

/* The notes of one thread; zeros but for the first two fields at the beginning. */
struct nsc_user_events {
    /* Takes a note; its owner is not set. Texts are valid during the call. */
    void (*take)(void *context, struct nsc_note *note);
    void *context;

    /* A mark or counter whose text goes on in the next record; text NULL: none. */
    struct nsc_note open;
    char *text;
    size_t bytes;
    bool cut;

    uint64_t cpu_ns; /* of the latest sample */
};

/**
 * nsc_user_events_add - a MARK, COUNTER or SAMPLE record.
 * @words: its slots, two words each; may be written by the program meanwhile.
 * @slots: how many there are, from 1 on; may be fewer than the record says.
 * @near_ticks: what takes the place of a time that cannot be.
 * Records that make no sense are passed over.
 */
void nsc_user_events_add(struct nsc_user_events *r, const uint64_t *words, size_t slots,
                         uint64_t near_ticks);

/* What goes on in the next record will not, as that was lost or the thread has ended: the open
 * note is taken as it is, and marked as cut. */
void nsc_user_events_break(struct nsc_user_events *r);

/* Frees memory; what is open is forgotten. */
void nsc_user_events_free(struct nsc_user_events *r);

#endif
