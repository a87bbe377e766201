/*
 * uftrace_import.h - what the parts of uftrace's importer share: which function is at an address of
 * a process at some time, and the threads of the trace. Inside formats/ only.
 */
#ifndef NSC_FORMATS_UFTRACE_UFTRACE_IMPORT_H
#define NSC_FORMATS_UFTRACE_UFTRACE_IMPORT_H

#include "formats/import/import.h"
#include "util/id_map.h"
#include "util/os/paged_file.h"
#include "util/text/name_text.h"

#define UFT_SID_MAX 32u

struct uft_symbol {
    uint64_t va;
    uint64_t end;     /* 0: up to the next one */
    const char *name; /* as linked */
    const char *file; /* NULL if unknown */
    uint32_t line;
    uint32_t function; /* in the trace; NSC_NO_ID until it is called */
};

/* A program or library: a .sym file. */
struct uft_module {
    char *path;     /* as the recording knew it */
    char *build_id; /* hexadecimal; "" if unknown */
    char *file;     /* NAME.sym in the folder; NULL: none */
    char *text;     /* its content, which names point into */
    char *debug;    /* that of NAME.dbg, likewise */
    struct uft_symbol *symbols;
    uint32_t symbol_count;
    uint32_t id; /* in the trace; NSC_NO_ID until it is needed */
    bool read;
};

struct uft_map {
    uint64_t start, end;
    uint64_t from_ns; /* loaded then; 0: from the start */
    uint32_t module;
};

/* A program in a process, from some time on. */
struct uft_session {
    char sid[UFT_SID_MAX];
    char *program;
    struct uft_map *maps; /* by start */
    uint32_t map_count, map_room;
    uint32_t pid;
    uint64_t from_ns;
};

/* A line of task.txt. */
struct uft_task {
    uint32_t tid, pid;
    uint32_t parent_pid; /* of a process that was forked; 0: none */
    uint64_t from_ns;
};

struct uft_thread {
    uint32_t tid, pid;
    uint32_t id;             /* in the trace */
    struct nsc_thread about; /* without its name */
    char name[17];           /* "" while unknown */
};

/* An address that has no symbol. */
struct uft_unknown {
    uint64_t address;
    uint32_t module;
    uint32_t function;
};

#define UFT_CACHE 4096u

struct uft {
    struct nsc_import *job;
    const char *folder;
    bool relative;              /* addresses of .sym files count from where the module was loaded */
    uint64_t first_ns, last_ns; /* no record is before, none behind arguments after */
    uint64_t first_note_ns;     /* of notes that are not much earlier; UINT64_MAX: there are none */
    uint64_t length_ns;         /* of the recording, at most */
    struct uft_module *modules;
    uint32_t module_count, module_room;
    struct uft_session *sessions; /* by process and time */
    uint32_t session_count, session_room;
    uint32_t map_count; /* of all sessions */
    struct uft_task *tasks;
    uint32_t task_count, task_room;
    struct nsc_id_map by_session; /* the first of sessions of a process, by its pid */
    struct nsc_id_map by_tid;     /* the first of tasks of a thread */
    struct nsc_id_map by_fork;    /* the first of a process that was forked, by its pid */
    struct nsc_id_map processes;  /* in the trace, by pid */
    struct uft_thread *threads;   /* by tid */
    uint32_t thread_count, thread_room;
    struct nsc_names unknown; /* "module address" */
    char *exename, *command;
    int32_t exit_status;
    /* Of the thread that is read: */
    struct uft_session *session;
    uint64_t session_until_ns;
    struct {
        uint64_t address; /* 0: free */
        uint32_t function;
    } cache[UFT_CACHE];
    uint64_t bytes_done, bytes_total; /* of all records */
    uint64_t others;                  /* events that the trace has no place for */
};

/* Read what names the functions: task.txt, the maps, the heads of the .sym files.
 * Returns 0 or -errno with @diag. */
int nsc_uftrace_names_open(struct uft *u, struct nsc_diag *diag);
void nsc_uftrace_names_close(struct uft *u);

/* Before the records of a thread of @pid. */
void nsc_uftrace_names_begin(struct uft *u);
/* The function that @address is in, in process @pid at @ns. Returns 0, -ENOMEM, or the writer's
 * error. */
int nsc_uftrace_names_find(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address,
                           uint32_t *function);
/* Whether something was mapped there. */
bool nsc_uftrace_names_maps(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address);
/* The program of a process; never NULL. */
const char *nsc_uftrace_names_program(const struct uft *u, uint32_t pid);
/* Give functions of C++ their readable names. */
int nsc_uftrace_names_finish(struct uft *u);

/* Put a note into the trace. Returns 0 or the writer's error. */
int nsc_uftrace_note(struct uft *u, const struct nsc_note *note);

/* The kernel's notes on when threads ran, and their names. Returns 0 or -errno with @diag. */
int nsc_uftrace_perf(struct uft *u, struct nsc_diag *diag);
/* Marks from outside. */
int nsc_uftrace_extern(struct uft *u, struct nsc_diag *diag);

#endif
