/*
 * ctf_model.h - what the metadata of a CTF 1.8 trace says: types of fields, scopes, streams,
 * events, clocks. Made by tsdl.c out of text, used by ctf_decode.c and ctf_import.c. Inside
 * formats/ only.
 */
#ifndef NSC_FORMATS_CTF_CTF_MODEL_H
#define NSC_FORMATS_CTF_CTF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

enum ctf_kind {
    CTF_INT,
    CTF_FLOAT,
    CTF_ENUM,
    CTF_STRING,
    CTF_STRUCT,
    CTF_ARRAY,
    CTF_SEQUENCE,
    CTF_VARIANT,
};

enum ctf_order { CTF_NATIVE, CTF_LITTLE, CTF_BIG };

/* The dynamic scopes, outermost first: references look in those before their own. */
enum ctf_scope {
    CTF_PACKET_HEADER,
    CTF_PACKET_CONTEXT,
    CTF_EVENT_HEADER,
    CTF_STREAM_CONTEXT,
    CTF_EVENT_CONTEXT,
    CTF_EVENT_FIELDS,
    CTF_SCOPES,
};

/* What a field means, by its name; in the scopes before the event's own. */
enum ctf_role {
    CTF_ROLE_NONE,
    CTF_ROLE_MAGIC,
    CTF_ROLE_STREAM_ID,
    CTF_ROLE_BEGIN,
    CTF_ROLE_CONTENT,
    CTF_ROLE_PACKET,
    CTF_ROLE_DISCARDED,
    CTF_ROLE_EVENT_ID,
    CTF_ROLE_TIME, /* no clock is mapped, but it is called so */
    CTF_ROLE_PID,
    CTF_ROLE_TID,
    CTF_ROLE_STACK,
    CTF_ROLE_PROCESS,
    CTF_ROLE_THREAD,
};

struct ctf_clock {
    const char *name;
    uint64_t frequency;
    int64_t offset_s, offset; /* of the epoch; the latter in cycles */
    bool used;                /* by a field */
    struct ctf_clock *next;
};

struct ctf_label {
    const char *name;
    uint64_t low, high; /* inclusive; as 64 bits of two's complement when signed */
    uint64_t reach;     /* the highest `high` in the part of the search that this one halves */
    uint32_t function;  /* for whoever takes labels for functions; UINT32_MAX at first */
    struct ctf_label *next;
};

struct ctf_type;

struct ctf_field {
    const char *name;
    struct ctf_type *type;
    uint32_t role;  /* enum ctf_role */
    bool is_target; /* of a reference: its value is kept */
    uint64_t value;
    struct ctf_field *next;
};

struct ctf_type {
    uint32_t kind;  /* enum ctf_kind */
    uint32_t order; /* enum ctf_order; of INT and FLOAT */
    uint32_t align; /* bits, a power of two */
    uint32_t size;  /* bits of INT and FLOAT */
    uint32_t depth; /* types inside one another, itself too */
    bool is_signed;
    bool is_text; /* INT: a character */
    bool resolved;
    const char *clock_name; /* INT: NULL if not mapped */
    struct ctf_clock *clock;
    struct ctf_type *inner; /* of ENUM the integer, of ARRAY and SEQUENCE the element */
    uint64_t length;        /* of ARRAY */
    const char *reference;  /* SEQUENCE, VARIANT: where the length or the choice is; may be NULL */
    struct ctf_field *target;
    struct ctf_field *fields; /* of STRUCT, options of VARIANT */
    struct ctf_field *last;
    struct ctf_label *labels; /* of ENUM: label_count, by low */
    uint32_t label_count;
    uint32_t option_count;
    struct ctf_field **options; /* of VARIANT: option_count, by name */
};

struct ctf_event {
    const char *name;
    uint64_t id, stream_id;
    bool has_stream;
    struct ctf_type *context, *fields;
    struct ctf_event *next;
    /* For the reader: */
    uint32_t meaning;
    uint32_t function; /* of events that name a call themselves */
    bool innermost;    /* a function is left, and it does not say which */
    struct ctf_field *wanted[4];
    uint64_t seen;
};

struct ctf_stream_class {
    uint64_t id;
    struct ctf_type *packet_context, *event_header, *event_context;
    struct ctf_event **events; /* by id */
    uint32_t event_count;
    struct ctf_stream_class *next;
};

struct ctf_block_of_memory;

struct ctf_trace {
    uint32_t order; /* enum ctf_order; CTF_LITTLE or CTF_BIG */
    struct ctf_type *packet_header;
    struct ctf_stream_class *streams;
    struct ctf_event *events;
    struct ctf_clock *clocks;
    const char *tracer, *domain, *host; /* of env; NULL if not there */
    struct ctf_block_of_memory *memory;
    size_t memory_left;
};

/**
 * nsc_ctf_parse - read the metadata.
 * @text: TSDL with a NUL behind.
 * @name: of the file, for messages.
 * @trace: filled; free with nsc_ctf_free() in any case.
 * Returns 0 or -errno with @diag: -EBADMSG with the line, -ENOTSUP, -ENOMEM.
 */
int nsc_ctf_parse(const char *text, const char *name, struct ctf_trace *trace,
                  struct nsc_diag *diag);
void nsc_ctf_free(struct ctf_trace *trace);

/* Put types, references and events into their places, when all is read. Called by nsc_ctf_parse().
 */
int nsc_ctf_resolve(struct ctf_trace *trace, const char *name, struct nsc_diag *diag);

/* Memory of the trace, of zeros; NULL when there is none. */
void *nsc_ctf_memory(struct ctf_trace *trace, size_t bytes);

/* What makes the values of an enumeration compare in their order, by exclusive or. */
static inline uint64_t nsc_ctf_sign(const struct ctf_type *type)
{
    return type->inner->is_signed ? (uint64_t)1 << 63 : 0;
}
/* The label of a value, or NULL: of those that have it the one that begins last. */
struct ctf_label *nsc_ctf_label(const struct ctf_type *type, uint64_t value);
/* The option of a variant that a label chooses, or NULL. */
struct ctf_field *nsc_ctf_option(const struct ctf_type *type, const char *label);
/* Whether a name is @wanted, but for underscores that producers put in front. */
bool nsc_ctf_is_name(const char *name, const char *wanted);
/* The event of a stream; NULL if there is none. */
struct ctf_event *nsc_ctf_event(const struct ctf_stream_class *s, uint64_t id);

#endif
