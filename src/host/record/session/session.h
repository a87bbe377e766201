/*
 * session.h - the shared memory of a recording session, as the recorder maps it.
 *
 * Lays out, grows and destroys it. The traced programs may overwrite everything inside at any time:
 * the geometry is therefore kept here and never read back.
 */
#ifndef NSC_RECORD_SESSION_SESSION_H
#define NSC_RECORD_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/live.h"
#include "util/diag.h"

struct nsc_record_session {
    int fd;
    uint8_t *base;
    size_t total_bytes;
    struct nsc_live_header *header;
    struct nsc_live_process *processes;
    struct nsc_live_module *modules;
    struct nsc_live_thread *threads;
    struct nsc_live_chunk *chunks;
    struct nsc_live_overwritten *overwritten; /* by thread slot; NULL: no overwriting */
    uint8_t *filter;
    uint8_t *data;
    uint32_t processes_max, modules_max, threads_max, chunks_max;
    uint32_t filter_bytes;
    uint32_t chunk_bytes;
    /* Numbers of chunks, as in live.h. The pool is below chunk_count, which may grow up to
     * pool_max. The home chunks start at pool_max. */
    uint32_t chunk_count, pool_max, home_count;
    uint32_t backed; /* chunks below this number had pages before they could be claimed */
    uint32_t kept;   /* chunks below this number keep their pages; so many may wait to be drained */
    uint8_t exit_bit;
    uint32_t filter_used;
    bool entry_timing; /* exits do not read the timer */
    bool ring;         /* threads may overwrite full chunks */
    bool rewind;       /* hooks may reuse slots of a chunk in use */
    bool promised;     /* memory need not be allocated before it is touched */
    bool fixed;        /* the pool must not grow: the user set its size, or memory is exhausted */
    char path[64];
};

struct nsc_session_options {
    int memory;            /* empty memory file that a program created, taken over; 0: create one */
    uid_t memory_owner;    /* required owner of that file */
    uint64_t buffer_bytes; /* initial event memory; without `fixed`, more is allocated */
    bool fixed;            /* exactly buffer_bytes, and no home chunks */
    bool filter;           /* modules wait for the filter bitmap of their sites */
    bool entry_timing;     /* exits do not read the timer */
    bool rewind;           /* hooks may discard the events of short calls */
    bool ring;             /* threads may overwrite the oldest chunks */
    bool dump;             /* core dumps of the programs include the memory */
    uint64_t sample_ns;    /* CPU time between samples that threads take of themselves; 0: none */
};

/**
 * nsc_session_create - create the memory and fill in its header.
 * @session: receives it; release with nsc_session_destroy().
 *
 * A memory file that a program created is checked before anything else is done to it. A program may
 * pass the descriptor of any file that it can open, and the recorder may write where the program
 * may not. The file's size is sealed, so that no process can truncate it while it is mapped here.
 * The pages of the tables and of the first chunks are allocated, so that no program can receive
 * SIGBUS.
 * Returns 0 or -errno with @diag: -EPERM (the program's file is not an empty memory file of its
 * own), -ENOMEM or -ENOSPC (not enough memory), -EFBIG (RLIMIT_FSIZE), -EMFILE.
 */
int nsc_session_create(const struct nsc_session_options *options,
                       struct nsc_record_session *session, struct nsc_diag *diag);
/**
 * nsc_session_adopt - open a session that is no longer shared, in memory of this process.
 * @memory: starts with the header. Ownership passes on success: nsc_session_destroy() unmaps it.
 * @bytes: size of the memory, at least that of the header.
 * Returns 0 or -EBADMSG with @diag (the header is invalid, or of another version). Nothing in the
 * memory is trusted.
 */
int nsc_session_adopt(void *memory, uint64_t bytes, struct nsc_record_session *session,
                      struct nsc_diag *diag);
/* Hold events back, before any program has joined the session: it takes no events until
 * nsc_session_take_events(). */
void nsc_session_hold_events(struct nsc_record_session *session);
void nsc_session_take_events(struct nsc_record_session *session);
bool nsc_session_holds_events(const struct nsc_record_session *session);
/* Programs stop recording at their next slow path. */
void nsc_session_close(struct nsc_record_session *session);
/* Free all pages. Programs that still map the memory read zeros, which mean closed and free. */
void nsc_session_empty(struct nsc_record_session *session);
void nsc_session_destroy(struct nsc_record_session *session);

/**
 * nsc_session_freeze - in a forked child, replace the session by a private copy of its present
 * state.
 *
 * The programs and the parent go on in the shared memory. They may reuse a chunk before it is
 * copied, the oldest first: such a chunk is left out. Nothing of the session is shared afterwards.
 * Returns 0 or -ENOMEM.
 */
int nsc_session_freeze(struct nsc_record_session *session);

/*
 * True if no program holds the memory any more, or if the kernel cannot tell. Counts also processes
 * that have not registered yet (forked, and no event since).
 */
bool nsc_session_alone(const struct nsc_record_session *session);
/* The same, but false if the kernel cannot tell. */
bool nsc_session_surely_alone(const struct nsc_record_session *session);

/* True if process @pid has mapped the memory. @pid is the number in this process's pid namespace: a
 * process in another pid namespace reports numbers that mean other processes here. */
bool nsc_session_is_mapped(const struct nsc_record_session *session, pid_t pid);

/* Double the pool, within limits. Failure is not an error: the pool stays as it is. */
void nsc_session_grow(struct nsc_record_session *session);

/* ---- Sparse chunks ---------------------------------------------------------------------------
 *
 * Sparse chunks do not keep their pages: the recorder frees pages that it has read. Reading a
 * missing page of shared memory would allocate it, so sparse chunks are read only where they have
 * data. */

static inline bool nsc_session_is_sparse(const struct nsc_record_session *session, uint32_t chunk)
{
    return chunk >= session->kept;
}

/* Returns where the data of a chunk end, in bytes from its start. Returns @from, a multiple of
 * 4096, if there are no data after it. */
uint32_t nsc_session_chunk_end(const struct nsc_record_session *session, uint32_t chunk,
                               uint32_t from);
/* Free the pages of a chunk's first @bytes, which read zero from then on. Returns false on failure.
 */
bool nsc_session_punch(const struct nsc_record_session *session, uint32_t chunk, uint32_t bytes);
/* Drop this process's page table entries of all sparse chunks; their contents stay. */
void nsc_session_let_go(const struct nsc_record_session *session);
/* Bytes of memory that the whole session occupies. */
uint64_t nsc_session_bytes(const struct nsc_record_session *session);

static inline uint64_t *nsc_session_chunk_words(const struct nsc_record_session *session,
                                                uint32_t chunk)
{
    return (uint64_t *)(void *)(session->data + (size_t)chunk * session->chunk_bytes);
}

#endif
