/*
 * ctf_decode.h - decode a stream file of a CTF trace, packet by packet, event by event. Called by
 * ctf_import.c. Used inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_CTF_DECODE_H
#define NSC_FORMATS_CTF_CTF_DECODE_H

#include "formats/ctf/ctf_model.h"
#include "util/os/paged_file.h"

#define CTF_LEAVES 64u           /* values of an event that are kept, at most */
#define CTF_TEXT   (192u * 1024) /* bytes of all texts of an event */
#define CTF_WORD   (64u * 1024)  /* bytes of one text */

enum ctf_leaf_kind { CTF_UNSIGNED, CTF_SIGNED, CTF_REAL, CTF_TEXT_LEAF };

/* A decoded value. */
struct ctf_leaf {
    const struct ctf_field *field; /* field of the value, or of the array that contains it */
    const struct ctf_type *type;
    uint32_t kind; /* enum ctf_leaf_kind */
    uint32_t scope;
    uint64_t number;
    double real;
    const char *text; /* followed by a NUL */
    size_t bytes;
};

/* The values of the last event read, or of a packet's header and context. */
struct ctf_values {
    struct ctf_leaf leaves[CTF_LEAVES];
    uint32_t count;
    char *text; /* CTF_TEXT bytes */
    size_t text_used;
};

struct ctf_stream {
    struct nsc_paged_file *file;
    const struct ctf_trace *trace;
    const struct ctf_stream_class *about; /* class of the packet's stream */
    uint64_t packet;                      /* offset of the packet, in bytes */
    uint64_t next_packet;                 /* offset of the next packet, in bytes */
    uint64_t bit, bits; /* position and end of the packet's content, in bits from its start */
    struct ctf_clock *clock;
    uint64_t cycles;         /* last value of the clock */
    uint64_t ns;             /* time of the event, without the clock's offset */
    struct ctf_event *event; /* NULL = a packet begins */
    uint64_t discarded;      /* events_discarded of the last packet */
    uint64_t discarded_mask; /* mask of that counter's width; not used */
    uint64_t lost;           /* events lost between the last two packets */
    bool gap;                /* an unknown number of events was lost there */
    bool new_packet;         /* nsc_ctf_next() has just read a packet's header */
    /* From the packet's context, valid for all its events: */
    bool has_tid, has_pid;
    uint64_t pid, tid, stack;
    char process[256], thread[256];
    uint32_t steps;     /* values decoded in the event; see STEPS_MAX */
    uint64_t all_steps; /* values decoded in the file */
    uint64_t event_bit; /* start of the event */
    bool timed;         /* a timestamp of the event has been decoded */
    bool cut;           /* the packet extends beyond the end of the file */
    const char *wrong;  /* error message after -EBADMSG */
};

/*
 * Goes to the next event and reads its header: sets s->event and s->ns. At the start of a packet,
 * reads the packet's header and context instead, and sets s->event to NULL.
 * @values: receives the values of the header.
 * Returns 1, 0 at the end of the file, or -EBADMSG with s->wrong.
 */
int nsc_ctf_next(struct ctf_stream *s, struct ctf_values *values);

/* Reads the event itself, its contexts and fields. Returns 0 or -EBADMSG with s->wrong. */
int nsc_ctf_take(struct ctf_stream *s, struct ctf_values *values);

#endif
