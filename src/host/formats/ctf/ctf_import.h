/*
 * ctf_import.h - what the parts of the importer of CTF share: threads, functions, and what events
 * mean. Inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_CTF_IMPORT_H
#define NSC_FORMATS_CTF_CTF_IMPORT_H

#include "formats/ctf/ctf_decode.h"
#include "formats/import/import.h"
#include "formats/import/slice_nesting.h"
#include "util/id_map.h"
#include "util/text/name_text.h"

#define CTF_PATH_BYTES 4096u /* of a module, with the NUL: longer ones are left out */

/* Streams that are of no known thread have tids from here on. */
#define CTF_NO_THREAD 0x80000000u

/* What an event means to a trace of calls. */
enum ctf_meaning {
    CTF_MEANS_MARK,
    CTF_MEANS_ENTRY,
    CTF_MEANS_EXIT,
    CTF_MEANS_SAMPLE, /* this one and the three below: of our own traces */
    CTF_MEANS_STATE,
    CTF_MEANS_OWN_MARK,
    CTF_MEANS_COUNTER,
    CTF_MEANS_LOAD,     /* a module is mapped */
    CTF_MEANS_BUILD_ID, /* of a module that is mapped */
    CTF_MEANS_SWITCH,   /* another thread runs from now on */
    CTF_MEANS_NOTHING,
};

struct ctf_track {
    uint64_t process, thread, stack; /* what it is found by */
    uint32_t id;                     /* in the trace */
    struct nsc_lane *lane;
    struct nsc_nesting nest; /* of our own traces */
    struct nsc_thread about;
    char name[256];
    uint64_t ghosts; /* calls too deep to be kept whose ends are to come */
    uint32_t number; /* of ctf.tracks */
    bool gap;        /* events may have been lost before */
};

/* A module in a process. */
struct ctf_load {
    uint64_t process, start, end;
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    bool moved; /* addresses are relative to its start */
};

/* A function known by its address. */
struct ctf_address {
    uint64_t process, address;
    uint32_t function; /* in the trace, plus 1; 0: a free slot */
    uint32_t load;     /* of ctf.loads; NSC_NO_ID: not known */
};

struct ctf {
    struct nsc_import *job;
    const char *folder;
    struct ctf_trace trace;
    bool own;        /* written by nanoscope */
    bool by_packets; /* each packet is of one thread */
    struct ctf_values values;
    struct nsc_names names;
    const struct ctf_clock *base; /* its zero is the trace's */
    int64_t base_ns;              /* and was then */
    struct ctf_track **tracks;
    uint32_t track_count, track_room;
    uint32_t gap_tracks;         /* events of the first so many may have been lost before */
    struct nsc_id_map by_pid;    /* to the trace's processes */
    struct nsc_id_map by_thread; /* process << 32 | thread: a number for the pair */
    struct nsc_id_map by_stack;  /* that number << 32 | stack: index of tracks */
    struct ctf_load *loads;
    uint32_t load_count, load_room;
    uint64_t loads_left_out;
    struct nsc_names places;       /* what loads are found by: see ctf_names.c */
    struct ctf_address *addresses; /* by hash: slots, at most half full */
    uint32_t address_count, address_slots;
    struct nsc_nesting_counts nesting;
    uint64_t first_ns;
    uint64_t too_late;     /* events beyond the limit of times */
    uint64_t unattributed; /* lost, of streams of many threads */
    uint64_t events, marks;
    uint64_t bytes_done, bytes_total;
};

/* A stream that is read. */
struct ctf_input {
    struct ctf_stream s;
    uint64_t number;
    const char *name;
    uint64_t done; /* bytes that the progress knows of */
    bool switched; /* who runs is known by events: */
    uint64_t running;
    char running_name[256];
    struct ctf_track *last; /* of the event before */
};

/* ctf_folder.c: the folder below @path that holds a trace, for free(); how many there are in
 * *@count (at most 64 are looked for). NULL when there is none or no memory. */
char *nsc_ctf_find(const char *path, uint32_t *count);
/* The text of the metadata in @folder, for free(). Returns 0 or -errno with @diag. */
int nsc_ctf_text(const char *folder, char **text, struct nsc_diag *diag);

/* ctf_meaning.c: returns 0 or -ENOMEM. */
int nsc_ctf_understand(struct ctf *c);
/* The part of an event's name that is common to an entry and its exit. False if it is neither. */
bool nsc_ctf_split_name(const char *name, bool *entry, char base[256]);
/* One of an event's first fields, or NULL. */
struct ctf_field *nsc_ctf_field_of(const struct ctf_event *e, const char *name);

/* ctf_tracks.c: each returns 0 or -errno (no memory, or the writer's). */
int nsc_ctf_need_process(struct ctf *c, uint64_t pid, const char *name, uint32_t *id);
/* The thread that an event, or a packet, is of. */
int nsc_ctf_thread_of(struct ctf *c, struct ctf_input *in, struct ctf_track **out);
int nsc_ctf_tracks_finish(struct ctf *c);
/* The process that an event is of. */
uint64_t nsc_ctf_process_of(const struct ctf *c, const struct ctf_input *in);

/* ctf_calls.c */
/* Take an event, or, if there is none, the head of a packet. Returns 0 or -errno (no memory, or the
 * writer's). */
int nsc_ctf_event_taken(struct ctf *c, struct ctf_input *in);

/* ctf_names.c: as above. */
int nsc_ctf_address(struct ctf *c, uint64_t process, uint64_t address, uint32_t *function);
int nsc_ctf_loaded(struct ctf *c, uint64_t process, const struct ctf_load *load);
int nsc_ctf_built(struct ctf *c, uint64_t process, uint64_t start, const void *id, size_t bytes);
int nsc_ctf_names_finish(struct ctf *c);

#endif
