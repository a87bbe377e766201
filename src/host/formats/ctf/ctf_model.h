/*
 * ctf_model.h - model of the metadata of a CTF 1.8 trace: field types, scopes, streams, events and
 * clocks. tsdl.c builds it from text; ctf_decode.c and ctf_import.c use it. Used inside formats/
 * only.
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

/* The dynamic scopes, outermost first. References are looked up in the scopes before their own. */
enum ctf_scope {
    CTF_PACKET_HEADER,
    CTF_PACKET_CONTEXT,
    CTF_EVENT_HEADER,
    CTF_STREAM_CONTEXT,
    CTF_EVENT_CONTEXT,
    CTF_EVENT_FIELDS,
    CTF_SCOPES,
};

/* Meaning of a field, by its name and scope. */
enum ctf_role {
    CTF_ROLE_NONE,
    CTF_ROLE_MAGIC,
    CTF_ROLE_STREAM_ID,
    CTF_ROLE_BEGIN,
    CTF_ROLE_CONTENT,
    CTF_ROLE_PACKET,
    CTF_ROLE_DISCARDED,
    CTF_ROLE_EVENT_ID,
    CTF_ROLE_TIME, /* field "timestamp", for events without a field that is mapped to a clock */
    CTF_ROLE_PID,
    CTF_ROLE_TID,
    CTF_ROLE_STACK,
    CTF_ROLE_PROCESS,
    CTF_ROLE_THREAD,
};

struct ctf_clock {
    const char *name;
    uint64_t frequency;
    int64_t offset_s, offset; /* from the epoch: seconds, plus cycles */
    bool used;                /* a field is mapped to it */
    struct ctf_clock *next;
};

struct ctf_label {
    const char *name;
    uint64_t low, high; /* inclusive; 64-bit two's complement if signed */
    uint64_t reach;     /* maximum of `high` in this label's subtree of the binary search */
    uint32_t function;  /* for ctf_calls.c: function named by the label; UINT32_MAX at first */
    struct ctf_label *next;
};

struct ctf_type;

struct ctf_field {
    const char *name;
    struct ctf_type *type;
    uint32_t role;  /* enum ctf_role */
    bool is_target; /* a reference uses it: its value is kept */
    uint64_t value;
    struct ctf_field *next;
};

struct ctf_type {
    uint32_t kind;  /* enum ctf_kind */
    uint32_t order; /* enum ctf_order; of INT and FLOAT */
    uint32_t align; /* bits, a power of two */
    uint32_t size;  /* bits of INT and FLOAT */
    uint32_t depth; /* levels of nested types, including itself */
    bool is_signed;
    bool is_text; /* INT: a character */
    bool resolved;
    const char *clock_name; /* INT: NULL if not mapped */
    struct ctf_clock *clock;
    struct ctf_type *inner;   /* ENUM: its integer type; ARRAY, SEQUENCE: the element type */
    uint64_t length;          /* of ARRAY */
    const char *reference;    /* SEQUENCE: path of its length; VARIANT: of its tag; may be NULL */
    struct ctf_field *target; /* field that `reference` leads to */
    struct ctf_field *fields; /* of STRUCT; options of VARIANT */
    struct ctf_field *last;
    struct ctf_label *labels; /* ENUM: label_count entries, sorted by low */
    uint32_t label_count;
    uint32_t option_count;
    struct ctf_field **options; /* VARIANT: option_count entries, sorted by name */
};

struct ctf_event {
    const char *name;
    uint64_t id, stream_id;
    bool has_stream;
    struct ctf_type *context, *fields;
    struct ctf_event *next;
    /* For the importer: */
    uint32_t meaning;            /* enum ctf_meaning */
    uint32_t function;           /* function named by the event itself; UINT32_MAX at first */
    bool innermost;              /* an exit that does not identify its function */
    struct ctf_field *wanted[4]; /* relevant fields, depending on the meaning */
    uint64_t seen;               /* number of marks made of such events */
};

struct ctf_stream_class {
    uint64_t id;
    struct ctf_type *packet_context, *event_header, *event_context;
    struct ctf_event **events; /* sorted by id */
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
    const char *tracer, *domain, *host; /* from the env block; NULL if missing */
    struct ctf_block_of_memory *memory;
    size_t memory_left;
};

/**
 * nsc_ctf_parse - parse the metadata.
 * @text: NUL-terminated TSDL.
 * @name: of the file, for messages.
 * @trace: receives the model; free it with nsc_ctf_free(), also after an error.
 * Returns 0 or -errno with @diag: -EBADMSG with the line, -ENOTSUP, -ENOMEM.
 */
int nsc_ctf_parse(const char *text, const char *name, struct ctf_trace *trace,
                  struct nsc_diag *diag);
void nsc_ctf_free(struct ctf_trace *trace);

/* Resolves byte orders, clocks, references and event ids after parsing. Called by nsc_ctf_parse().
 * Returns 0 or -errno with @diag. */
int nsc_ctf_resolve(struct ctf_trace *trace, const char *name, struct nsc_diag *diag);

/* Allocates zeroed memory that lives as long as the trace. Returns NULL when out of memory. */
void *nsc_ctf_memory(struct ctf_trace *trace, size_t bytes);

/* Returns a mask. Values of an enumeration XORed with it compare correctly as unsigned numbers. */
static inline uint64_t nsc_ctf_sign(const struct ctf_type *type)
{
    return type->inner->is_signed ? (uint64_t)1 << 63 : 0;
}
/* Finds the label of a value. If ranges overlap, the one with the highest start wins. Returns NULL
 * if there is none. */
struct ctf_label *nsc_ctf_label(const struct ctf_type *type, uint64_t value);
/* Finds the option of a variant that a label selects, or NULL. */
struct ctf_field *nsc_ctf_option(const struct ctf_type *type, const char *label);
/* Returns whether a name is @wanted, ignoring a leading underscore, which some producers add. */
bool nsc_ctf_is_name(const char *name, const char *wanted);
/* Finds an event of a stream by id, or NULL. */
struct ctf_event *nsc_ctf_event(const struct ctf_stream_class *s, uint64_t id);

#endif
