/*
 * session.h - the shared memory of a recording session, as the recorder holds it.
 *
 * Lays it out, grows it, takes it down. Everything inside may be overwritten by the traced
 * programs at any time: the geometry is therefore kept here, never read back.
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
    struct nsc_live_overwritten *overwritten; /* by thread slot; NULL: chunks are not taken */
    uint8_t *filter;
    uint8_t *data;
    uint32_t processes_max, modules_max, threads_max, chunks_max;
    uint32_t filter_bytes;
    uint32_t chunk_bytes;
    /* Chunks, as in live.h. The pool is below chunk_count, later perhaps up to pool_max; from there
     * on are the homes. */
    uint32_t chunk_count, pool_max, home_count;
    uint32_t backed; /* chunks below have had pages from the start */
    uint32_t kept;   /* chunks below keep the pages that they get; so many may wait for us */
    uint8_t exit_bit;
    uint32_t filter_used;
    bool entry_timing; /* exits do not read the timer */
    bool ring;         /* threads may overwrite chunks that are full */
    bool rewind;       /* slots of a chunk in use may be written again */
    bool promised;     /* memory need not be allocated before it is touched */
    bool fixed; /* the pool must not grow: the user gave its size, or there is no more memory */
    char path[64];
};

struct nsc_session_options {
    int memory; /* an empty memory file of a program's making to lay it out in, taken over; 0: make
                 * one */
    uid_t memory_owner;    /* whose it must be */
    uint64_t buffer_bytes; /* event memory at first; a multiple is made of it */
    bool fixed;            /* exactly that, and no homes */
    bool filter;           /* modules are to wait for a verdict on their sites */
    bool entry_timing;     /* exits do not read the timer */
    bool rewind;           /* short calls may be taken back by the hooks */
    bool ring;             /* threads may overwrite the oldest chunks */
    bool dump;             /* programs that dump core have it in there */
    uint64_t sample_ns;    /* threads take samples of themselves; 0: they do not */
};

/**
 * nsc_session_create - make the memory and fill in its header.
 * @session: receives it; release with nsc_session_destroy().
 *
 * A memory file that a program made is checked before anything is done to it: a program may return
 * the descriptor of any file that it can open, and we may write where it may not. Its size is
 * sealed, so that nobody can cut it while it is mapped here. Pages of the tables and the first
 * chunks exist afterwards, so that no program can meet SIGBUS. Returns 0 or -errno with @diag:
 * -EPERM (what the program made is no empty memory file of its own), -ENOMEM or -ENOSPC (not that
 * much memory), -EFBIG (RLIMIT_FSIZE), -EMFILE.
 */
int nsc_session_create(const struct nsc_session_options *options,
                       struct nsc_record_session *session, struct nsc_diag *diag);
/**
 * nsc_session_adopt - a session that nobody shares any more, in memory of our own.
 * @memory: where it is, from the header on; taken over: nsc_session_destroy() unmaps it. @bytes:
 * all of it, at least the header. Returns 0 or -EBADMSG with @diag (it makes no sense, or is of
 * another version); then @memory is still the caller's. Nothing in it is trusted.
 */
int nsc_session_adopt(void *memory, uint64_t bytes, struct nsc_record_session *session,
                      struct nsc_diag *diag);
/* A session that no program has joined yet takes no events before nsc_session_take_events(). */
void nsc_session_hold_events(struct nsc_record_session *session);
void nsc_session_take_events(struct nsc_record_session *session);
bool nsc_session_holds_events(const struct nsc_record_session *session);
/* Programs stop recording at their next slow path. */
void nsc_session_close(struct nsc_record_session *session);
/* Give all pages back: what programs still map reads zero, which means closed and free. */
void nsc_session_empty(struct nsc_record_session *session);
void nsc_session_destroy(struct nsc_record_session *session);

/**
 * nsc_session_freeze - in a forked child: the session as it is now, in memory of our own.
 * Programs and the parent go on in the shared memory, and may take a chunk back before it is
 * copied, the oldest first: that one is left out. Nothing of the session is shared afterwards.
 * Returns 0 or -ENOMEM.
 */
int nsc_session_freeze(struct nsc_record_session *session);

/*
 * Does no program hold the memory any more? Also of processes that have not registered yet (forked,
 * and no event since). True also where the kernel cannot tell.
 */
bool nsc_session_alone(const struct nsc_record_session *session);

/* Has process @pid, by the number that it has for us, mapped the memory? A process in a pid
 * namespace of its own tells numbers that mean others here. */
bool nsc_session_is_mapped(const struct nsc_record_session *session, pid_t pid);

/* Double the pool, within limits; whatever hinders is no error. */
void nsc_session_grow(struct nsc_record_session *session);

/* ---- Sparse chunks ---------------------------------------------------------------------------
 *
 * They do not keep their pages: what is read is given back. To read a page of shared memory that
 * does not exist makes it exist, so that they are looked at only where they have data. */

static inline bool nsc_session_is_sparse(const struct nsc_record_session *session, uint32_t chunk)
{
    return chunk >= session->kept;
}

/* Where the data of a chunk end, in bytes from its start; @from if there are none behind @from,
 * which is a multiple of 4096. */
uint32_t nsc_session_chunk_end(const struct nsc_record_session *session, uint32_t chunk,
                               uint32_t from);
/* Give the pages of a chunk's first @bytes back; they read zero from then on. Returns whether that
 * could be done. */
bool nsc_session_punch(const struct nsc_record_session *session, uint32_t chunk, uint32_t bytes);
/* Forget our own mapping of all sparse chunks; their contents stay. */
void nsc_session_let_go(const struct nsc_record_session *session);
/* Bytes of memory that the whole session takes. */
uint64_t nsc_session_bytes(const struct nsc_record_session *session);

static inline uint64_t *nsc_session_chunk_words(const struct nsc_record_session *session,
                                                uint32_t chunk)
{
    return (uint64_t *)(void *)(session->data + (size_t)chunk * session->chunk_bytes);
}

#endif
