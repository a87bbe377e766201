/*
 * perfetto_event.h - a track event of a Perfetto trace, taken apart. Used by perfetto_import.c.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_EVENT_H
#define NSC_FORMATS_PERFETTO_PERFETTO_EVENT_H

#include "formats/perfetto/perfetto_state.h"

/* Its parts; texts lie in the packet. */
struct nsc_perfetto_event {
    uint32_t type;
    int phase;         /* of the older sort, or 0 */
    uint32_t pid, tid; /* likewise: the thread, if not the sequence's; 0 = that */
    bool has_track, has_name;
    uint64_t track;
    struct nsc_span name;
    struct nsc_perfetto_name *interned; /* the name, if it is one */
    uint64_t source_iid;
    struct nsc_span source;
    bool is_real;
    uint64_t counter;
    uint64_t duration_ns;
    bool has_old_time;
    uint64_t delta_us, absolute_us;
    uint32_t annotations, known; /* how many there are, and how many mean something here */
    struct nsc_span metadata, from;
    uint32_t bounds, clipped; /* NSC_BOUND_* */
    uint64_t lost;
    bool has_lost, cut;
    uint32_t flows, extra; /* and values of counters beside it */
};

/* Take a message apart; names are looked up in @q. Returns false when it is damaged. */
bool nsc_perfetto_event_read(struct nsc_perfetto_event *e, struct nsc_perfetto_sequence *q,
                             struct nsc_span message);

/* A text of a message. */
static inline bool nsc_perfetto_is(const struct nsc_span *text, const char *word)
{
    size_t bytes = strlen(word);

    return nsc_span_left(text) == bytes && memcmp(text->at, word, bytes) == 0;
}

/* Where it begins; never NULL. */
static inline const char *nsc_perfetto_start(const struct nsc_span *text)
{
    return text->at != NULL ? (const char *)text->at : "";
}

#endif
