/*
 * ctf_import.h - internal interface of the CTF importer: threads, functions, and the meaning of
 * events. Used inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_CTF_IMPORT_H
#define NSC_FORMATS_CTF_CTF_IMPORT_H

#include "formats/ctf/ctf_decode.h"
#include "formats/import/import.h"
#include "formats/import/slice_nesting.h"
#include "util/id_map.h"
#include "util/text/name_text.h"

#define CTF_PATH_BYTES 4096u /* of a module's path, with the NUL; longer ones are left out */

/* First tid assigned to streams whose thread is unknown. */
#define CTF_NO_THREAD 0x80000000u

/* How an event is imported. */
enum ctf_meaning {
    CTF_MEANS_MARK,
    CTF_MEANS_ENTRY,
    CTF_MEANS_EXIT,
    CTF_MEANS_SAMPLE, /* this and the next three: traces written by nanoscope only */
    CTF_MEANS_STATE,
    CTF_MEANS_OWN_MARK,
    CTF_MEANS_COUNTER,
    CTF_MEANS_LOAD,     /* a module is mapped */
    CTF_MEANS_BUILD_ID, /* build ID of a mapped module */
    CTF_MEANS_SWITCH,   /* context switch: another thread runs from now on */
    CTF_MEANS_NOTHING,
};

struct ctf_track {
    uint64_t process, thread, stack; /* key */
    uint32_t id;                     /* in the trace */
    struct nsc_lane *lane;
    struct nsc_nesting nest; /* used for traces written by nanoscope only */
    struct nsc_thread about;
    char name[256];
    uint64_t ghosts; /* calls left out as too deep, whose exits are still to come */
    uint32_t number; /* index in ctf.tracks */
    bool gap;        /* events of the track may have been lost */
};

/* A module mapped in a process. */
struct ctf_load {
    uint64_t process, start, end;
    char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    bool moved; /* position independent: its symbol addresses are relative to `start` */
};

/* A function that events identify by its address. */
struct ctf_address {
    uint64_t process, address;
    uint32_t function; /* id in the trace, plus 1; 0 = free slot */
    uint32_t load;     /* index in ctf.loads; NSC_NO_ID = unknown */
};

struct ctf {
    struct nsc_import *job;
    const char *folder;
    struct ctf_trace trace;
    bool own;        /* written by nanoscope */
    bool by_packets; /* each packet has events of one thread only */
    struct ctf_values values;
    struct nsc_names names;
    const struct ctf_clock *base; /* clock whose zero is time 0 of the import */
    int64_t base_ns;              /* its zero, in ns since 1970 */
    struct ctf_track **tracks;
    uint32_t track_count, track_room;
    uint32_t gap_tracks;         /* events of tracks below this index may have been lost */
    struct nsc_id_map by_pid;    /* pid to the process in the trace */
    struct nsc_id_map by_thread; /* process << 32 | thread, to a number for the pair */
    struct nsc_id_map by_stack;  /* that number << 32 | stack, to the index in `tracks` */
    struct ctf_load *loads;
    uint32_t load_count, load_room;
    uint64_t loads_left_out;
    struct nsc_names places;       /* index of `loads`: see find_place() in ctf_names.c */
    struct ctf_address *addresses; /* hash table, at most half full */
    uint32_t address_count, address_slots;
    struct nsc_nesting_counts nesting;
    uint64_t first_ns;
    uint64_t too_late;     /* events later than 2^62 ns */
    uint64_t unattributed; /* lost events of streams with several threads */
    uint64_t events, marks;
    uint64_t bytes_done, bytes_total;
};

/* A stream file being read. */
struct ctf_input {
    struct ctf_stream s;
    uint64_t number;
    const char *name;
    uint64_t done; /* bytes counted in ctf.bytes_done */
    bool switched; /* a context switch was read; `running` is valid */
    uint64_t running;
    char running_name[256];
    struct ctf_track *last; /* of the previous event */
};

/* ctf_folder.c: finds the first folder at or below @path that holds a trace. Returns its path for
 * free(), or NULL if there is none or when out of memory. *@count receives the number of traces
 * found; the search stops at 64. */
char *nsc_ctf_find(const char *path, uint32_t *count);
/* Reads the metadata text of @folder, for free(). Returns 0 or -errno with @diag. */
int nsc_ctf_text(const char *folder, char **text, struct nsc_diag *diag);

/* ctf_meaning.c: sets the meaning of all events. Returns 0 or -ENOMEM. */
int nsc_ctf_understand(struct ctf *c);
/* Splits an event name such as "x_entry" or "x_exit" into @base "x" and whether it is an entry.
 * Returns false if the name has no such form. */
bool nsc_ctf_split_name(const char *name, bool *entry, char base[256]);
/* Finds an event's field by name, among its first 256. Returns NULL if there is none. */
struct ctf_field *nsc_ctf_field_of(const struct ctf_event *e, const char *name);

/* ctf_tracks.c: functions that return int return 0 or -errno (-ENOMEM, or the writer's error). */
int nsc_ctf_need_process(struct ctf *c, uint64_t pid, const char *name, uint32_t *id);
/* Finds or creates the track of the current event or packet. */
int nsc_ctf_thread_of(struct ctf *c, struct ctf_input *in, struct ctf_track **out);
int nsc_ctf_tracks_finish(struct ctf *c);
/* Returns the pid of the current event. */
uint64_t nsc_ctf_process_of(const struct ctf *c, const struct ctf_input *in);

/* ctf_calls.c */
/* Processes the current event, or a packet's header if in->s.event is NULL. Returns 0 or -errno
 * (-ENOMEM, or the writer's error). */
int nsc_ctf_event_taken(struct ctf *c, struct ctf_input *in);

/* ctf_names.c: function lookup by address. All return 0 or -errno, as above. */
int nsc_ctf_address(struct ctf *c, uint64_t process, uint64_t address, uint32_t *function);
int nsc_ctf_loaded(struct ctf *c, uint64_t process, const struct ctf_load *load);
int nsc_ctf_built(struct ctf *c, uint64_t process, uint64_t start, const void *id, size_t bytes);
int nsc_ctf_names_finish(struct ctf *c);

#endif
