/*
 * perfetto_event.h - decode a track event of a Perfetto trace. Used by perfetto_import.c.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_EVENT_H
#define NSC_FORMATS_PERFETTO_PERFETTO_EVENT_H

#include "formats/perfetto/perfetto_state.h"

/* A decoded event; its texts point into the packet or the sequence's interned names. */
struct nsc_perfetto_event {
    uint32_t type;
    int phase;         /* of a legacy event, or 0 */
    uint32_t pid, tid; /* of a legacy event: its thread; 0 = that of the sequence */
    bool has_track, has_name;
    uint64_t track;
    struct nsc_span name;
    struct nsc_perfetto_name *interned; /* the interned name, or NULL */
    uint64_t source_iid;
    struct nsc_span source;
    bool is_real;
    uint64_t counter;
    uint64_t duration_ns;
    bool has_old_time;
    uint64_t delta_us, absolute_us;
    uint32_t annotations, known; /* number of debug annotations; of these, number imported */
    struct nsc_span metadata, from;
    uint32_t bounds, clipped; /* NSC_BOUND_* */
    uint64_t lost;
    bool has_lost, cut;
    uint32_t flows, extra; /* number of flows; of extra counter values */
};

/* Decodes a TrackEvent message. Interned names are looked up in @q. Returns false if the message is
 * damaged. */
bool nsc_perfetto_event_read(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q,
                             struct nsc_span message);

/* Returns whether a text of a message equals @word. */
static inline bool nsc_perfetto_is(const struct nsc_span *text, const char *word)
{
    size_t bytes = strlen(word);

    return nsc_span_left(text) == bytes && memcmp(text->at, word, bytes) == 0;
}

/* Returns the start of a text, which is not NUL-terminated; never NULL. */
static inline const char *nsc_perfetto_start(const struct nsc_span *text)
{
    return text->at != NULL ? (const char *)text->at : "";
}

#endif
