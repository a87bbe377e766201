/*
 * ctf_decode.h - read a stream file of a CTF trace, packet by packet, event by event. Called by
 * ctf_import.c. Inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_CTF_DECODE_H
#define NSC_FORMATS_CTF_CTF_DECODE_H

#include "formats/ctf/ctf_model.h"
#include "util/os/paged_file.h"

#define CTF_LEAVES 64u           /* values of an event that are kept */
#define CTF_TEXT   (192u * 1024) /* bytes of all its texts */
#define CTF_WORD   (64u * 1024)  /* of one text */

enum ctf_leaf_kind { CTF_UNSIGNED, CTF_SIGNED, CTF_REAL, CTF_TEXT_LEAF };

/* A value. */
struct ctf_leaf {
    const struct ctf_field *field; /* that it is of, or that its array is */
    const struct ctf_type *type;
    uint32_t kind; /* enum ctf_leaf_kind */
    uint32_t scope;
    uint64_t number;
    double real;
    const char *text; /* with a NUL behind */
    size_t bytes;
};

/* The values of the event that was read last, or of a packet's head. */
struct ctf_values {
    struct ctf_leaf leaves[CTF_LEAVES];
    uint32_t count;
    char *text; /* CTF_TEXT bytes */
    size_t text_used;
};

struct ctf_stream {
    struct nsc_paged_file *file;
    const struct ctf_trace *trace;
    const struct ctf_stream_class *about; /* of the packet */
    uint64_t packet;                      /* where it begins, in bytes */
    uint64_t next_packet;
    uint64_t bit, bits; /* next and end of the packet's content, from its begin */
    struct ctf_clock *clock;
    uint64_t cycles; /* the clock's last value */
    uint64_t ns;     /* of the event: without the clock's offset */
    struct ctf_event *event;
    uint64_t discarded;      /* count of the last packet */
    uint64_t discarded_mask; /* its width */
    uint64_t lost;           /* between the last two packets */
    bool gap;                /* or some number that is not told */
    bool new_packet;         /* the event is the first of its packet */
    /* What the packet says of all its events: */
    bool has_tid, has_pid;
    uint64_t pid, tid, stack;
    char process[256], thread[256];
    uint32_t steps;     /* in the event */
    uint64_t all_steps; /* in the file */
    uint64_t event_bit; /* where the event began */
    bool timed;         /* the event has told its time */
    bool cut;           /* the packet goes on behind the file's end */
    const char *wrong;  /* what is damaged, for messages */
};

/*
 * Go to the next event and read its head: s->event, s->ns. Returns 1, 0 at the end of the file, or
 * -EBADMSG with s->wrong. @values: room for the packet's head.
 */
int nsc_ctf_next(struct ctf_stream *s, struct ctf_values *values);

/* Read the event itself. Returns 0 or -EBADMSG with s->wrong. */
int nsc_ctf_take(struct ctf_stream *s, struct ctf_values *values);

#endif
