/*
 * uftrace_import.h - internal interface of uftrace's importer: function lookup by process, time and
 * address, and the threads of the trace. Used inside formats/ only.
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
    uint64_t end;     /* exclusive; 0 = up to the next one */
    const char *name; /* linker symbol, mangled; "" = end of a section */
    const char *file; /* NULL if unknown */
    uint32_t line;
    uint32_t function; /* id in the trace; NSC_NO_ID = not called yet */
};

/* A program or library, usually with a .sym file. */
struct uft_module {
    char *path;     /* on the recorded machine */
    char *build_id; /* hexadecimal; "" if unknown */
    char *file;     /* NAME.sym in the folder; NULL = none */
    char *text;     /* content of the .sym file; symbol names point into it */
    char *debug;    /* content of NAME.dbg; symbol file names point into it */
    struct uft_symbol *symbols;
    uint32_t symbol_count;
    uint32_t id; /* in the trace; NSC_NO_ID = not added yet */
    bool read;   /* nsc_uftrace_need_symbols() has been called */
};

struct uft_map {
    uint64_t start, end;
    uint64_t from_ns; /* load time; 0 = mapped at the start */
    uint32_t module;
};

/* A program run by a process, from from_ns on (a SESS line of task.txt). */
struct uft_session {
    char sid[UFT_SID_MAX];
    char *program;
    struct uft_map *maps; /* sorted by start */
    uint32_t map_count, map_room;
    uint32_t pid;
    uint64_t from_ns;
};

/* A line of task.txt. */
struct uft_task {
    uint32_t tid, pid;
    uint32_t parent_pid; /* of a forked process; 0 = none */
    uint64_t from_ns;
};

struct uft_thread {
    uint32_t tid, pid;
    uint32_t id;             /* in the trace */
    struct nsc_thread about; /* entry in the trace, without the name */
    char name[17];           /* "" while unknown */
};

/* An address without a symbol. */
struct uft_unknown {
    uint64_t address;
    uint32_t module;
    uint32_t function;
};

#define UFT_CACHE 4096u

struct uft {
    struct nsc_import *job;
    const char *folder;
    bool relative;              /* addresses of .sym files are relative to the load address */
    uint64_t first_ns, last_ns; /* earliest record; latest plausible time of a record */
    uint64_t first_note_ns;     /* earliest note, not far before first_ns; UINT64_MAX = none */
    uint64_t length_ns;         /* maximum length of the recording */
    struct uft_module *modules;
    uint32_t module_count, module_room;
    struct uft_session *sessions; /* sorted by pid and time */
    uint32_t session_count, session_room;
    uint32_t map_count; /* of all sessions */
    struct uft_task *tasks;
    uint32_t task_count, task_room;
    struct nsc_id_map by_session; /* pid to the first of its sessions */
    struct nsc_id_map by_tid;     /* tid to the first of its tasks */
    struct nsc_id_map by_fork;    /* pid of a forked process to the first of its tasks */
    struct nsc_id_map processes;  /* pid to the process in the trace */
    struct uft_thread *threads;   /* sorted by tid */
    uint32_t thread_count, thread_room;
    struct nsc_names unknown; /* "module address" */
    char *exename, *command;
    int32_t exit_status;
    /* State of the thread being read; the session is valid before session_until_ns: */
    struct uft_session *session;
    uint64_t session_until_ns;
    struct {
        uint64_t address; /* 0 = unused entry */
        uint32_t function;
    } cache[UFT_CACHE];
    uint64_t bytes_done, bytes_total; /* of all record files, for progress */
    uint64_t others;                  /* events that cannot be stored in the trace */
};

/* Reads the files for function lookup: task.txt, the maps, and the headers of the .sym files.
 * Returns 0 or -errno with @diag. */
int nsc_uftrace_names_open(struct uft *u, struct nsc_diag *diag);
void nsc_uftrace_names_close(struct uft *u);

/* Resets the lookup cache. Must be called before the records of each thread. */
void nsc_uftrace_names_begin(struct uft *u);
/* Finds the function that contains @address in process @pid at time @ns.
 * Returns 0, -ENOMEM, or the writer's error. */
int nsc_uftrace_names_find(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address,
                           uint32_t *function);
/* Returns whether a module is mapped at @address. */
bool nsc_uftrace_names_maps(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address);
/* Returns the program name of a process; never NULL. */
const char *nsc_uftrace_names_program(const struct uft *u, uint32_t pid);
/* Demangles the names of all functions of the trace. Returns 0 or -errno. */
int nsc_uftrace_names_finish(struct uft *u);

/* Writes a note to the trace and updates u->first_note_ns. Returns 0 or the writer's error. */
int nsc_uftrace_note(struct uft *u, const struct nsc_note *note);

/* Reads context switches and thread names of the kernel (perf-cpuN.dat). Returns 0 or -errno with
 * @diag. */
int nsc_uftrace_perf(struct uft *u, struct nsc_diag *diag);
/* Reads marks of external programs (extern.dat). Returns 0 or -errno with @diag. */
int nsc_uftrace_extern(struct uft *u, struct nsc_diag *diag);

#endif
