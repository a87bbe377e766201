/*
 * ctf_read.h - what the parts of the importer of CTF share: threads, functions, and what events
 * mean. Inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_READ_H
#define NSC_FORMATS_CTF_READ_H

#include "formats/ctf_decode.h"
#include "formats/import.h"
#include "formats/names.h"
#include "formats/nest.h"

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
    struct nsc_nest nest; /* of our own traces */
    struct nsc_thread about;
    char name[256];
    bool gap; /* events may have been lost before */
};

struct ctf_process {
    uint64_t pid;
    uint32_t id;
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
};

struct ctf {
    struct nsc_import *job;
    const char *folder;
    struct ctf_trace trace;
    bool own;        /* written by nanoscope */
    bool by_packets; /* each packet is of one thread */
    struct ctf_values values;
    struct nsc_names names;
    uint64_t
        base_ns; /* of the first clock: what is added to times of the others is relative to it */
    struct ctf_track **tracks; /* by hash: slots, at most half full */
    uint32_t track_count, track_slots;
    struct ctf_process *processes;
    uint32_t process_count, process_room;
    struct ctf_load *loads;
    uint32_t load_count, load_room;
    struct ctf_address *addresses; /* as tracks */
    uint32_t address_count, address_slots;
    struct nsc_nest_counts nesting;
    uint64_t first_ns;
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

/* ctf_calls.c */
void nsc_ctf_understand(struct ctf *c);
/* Take an event, or, if there is none, the head of a packet. Returns 0 or -errno (no memory, or the
 * writer's). */
int nsc_ctf_event_taken(struct ctf *c, struct ctf_input *in);
int nsc_ctf_tracks_finish(struct ctf *c);

/* ctf_names.c: as above. */
int nsc_ctf_address(struct ctf *c, uint64_t process, uint64_t address, uint32_t *function);
int nsc_ctf_loaded(struct ctf *c, uint64_t process, const struct ctf_load *load);
void nsc_ctf_built(struct ctf *c, uint64_t process, uint64_t start, const void *id, size_t bytes);
int nsc_ctf_names_finish(struct ctf *c);

#endif
