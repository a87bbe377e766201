/*
 * recording.h - what the parts of the library share: threads, their chunks, the state of recording.
 *
 * Included by src/target/android only.
 *
 * Rules of this library: it runs inside somebody's app. A hook never waits: no lock, no call of the
 * VM, no allocator; what cannot be kept is counted. Nothing here prints (but to Android's log),
 * aborts or exits, and nothing of ours runs until a recording begins, but one comparison a hook.
 */
#ifndef NSC_ANDROID_RECORDING_H
#define NSC_ANDROID_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/app_recording.h"

#pragma GCC visibility push(hidden) /* what is declared here is found without a table */

#define NSC_JNI_LIKELY(e)   __builtin_expect(!!(e), 1)
#define NSC_JNI_UNLIKELY(e) __builtin_expect(!!(e), 0)

/*
 * What an event needs, in a cache line of its own. Most threads have theirs in a table, at a place
 * that their thread pointer says: found without a call. Where two meet in one place, the second one
 * uses that of its struct nsc_jni_thread and takes the slow path.
 */
struct nsc_jni_hot {
    uintptr_t owner; /* thread pointer; 0 = nobody, or the thread does not record */
    uintptr_t at;    /* next event; grows beyond limit when there is no room */
    uintptr_t limit; /* behind the last event of the chunk; 0 = no room, or not recording */
    uint32_t high;   /* upper half of the ticks that the next event is read with */
    struct nsc_jni_thread *thread;
} __attribute__((aligned(64)));

#define NSC_JNI_HOT_BITS 12
extern struct nsc_jni_hot nsc_jni_table[1 << NSC_JNI_HOT_BITS];

/* A run of events. Memory behind the last one is zero. */
struct nsc_jni_chunk {
    struct nsc_jni_chunk *next;
    uint32_t bytes; /* with this */
    uint32_t high;  /* upper half of the ticks at its begin */
} __attribute__((aligned(16)));

enum nsc_jni_life { NSC_JNI_FREE = 0, NSC_JNI_ALIVE = 1, NSC_JNI_DEAD = 2 };

struct nsc_jni_thread {
    struct nsc_jni_hot own; /* used where its place in the table is another's */
    struct nsc_jni_hot *hot;
    struct nsc_jni_chunk *first, *chunk; /* of the session; the last one */
    uint64_t start_ticks, end_ticks;     /* end: of one that is dead */
    uintptr_t lost;                      /* events of the session that were not kept */
    uint32_t told;                       /* of these, those that an escape tells of */
    uint32_t session;                    /* that all this is about */
    uint32_t life;                       /* enum nsc_jni_life */
    uint32_t busy;   /* in the slow path: a hook of a signal handler finds it so */
    uint32_t passes; /* rounds of pthread destructors it has seen */
    int tid;
    char name[16]; /* of one that is dead */
};

enum nsc_jni_mode {
    NSC_JNI_OFF = 0,
    NSC_JNI_CHANGING = 1, /* somebody starts it, or writes it */
    NSC_JNI_ON = 2,
    NSC_JNI_NEVER = 3, /* a child of fork(), or no key to know threads by */
};

/* The state of all. One session after the other. */
struct nsc_jni_state {
    uint32_t mode;    /* enum nsc_jni_mode */
    uint32_t session; /* number of the current or last one, from 1 */
    int pid;
    char build[64];
    char folder[256];           /* the app's, for files, with a slash; "" = not told by the VM */
    struct nsc_app_clock start; /* of the session */
    struct nsc_jni_thread *threads;
    uint32_t threads_next;            /* claimed in this session, but for those that lived before */
    uintptr_t lost;                   /* events of threads that are not in the table */
    uint8_t *memory;                  /* chunks */
    size_t memory_bytes, memory_room; /* claimed; in all. memory_bytes <= memory_room */
    size_t warm_bytes;                /* of the memory, from its start, that have pages */
    uint8_t *pinned; /* a bit for each NSC_JNI_UNIT: still some thread's from the session before */
};
extern struct nsc_jni_state nsc_jni;

#define NSC_JNI_THREADS_MAX 32768u
#define NSC_JNI_UNIT        4096u /* chunks are multiples of it */
/* The largest pages of any Android; others are parts of it. mmap() gives whole pages. */
#define NSC_JNI_PAGE_MAX    16384u

/* ---- threads.c: the slow path ------------------------------------------------------------- */

/* An event that found its place: @at was reserved there, 0 = there was no room. */
void nsc_jni_slow(struct nsc_jni_hot *hot, uintptr_t at, uint64_t ticks, uint32_t code);
/* An event of a thread that has no place in the table. */
void nsc_jni_stranger(uint32_t code);
/* Prepare for threads. False: there is no key to know them by. */
bool nsc_jni_threads_begin(void);
/* A new session, that nobody records yet; @bytes: how much memory it may take, a multiple of
 * NSC_JNI_UNIT, of which the first session decides. Returns NULL, or why there is none. */
const char *nsc_jni_session_begin(size_t bytes);
/* No thread starts an event any more. Those that are in the midst of one may end it. */
void nsc_jni_session_end(void);
/* Give pages to memory before a hook wants it, as long as the session lasts: the work of a thread.
 * A page fault takes more than many hooks. */
void *nsc_jni_warm_memory(void *unused);
/* Nothing is recorded here again: the child of a fork. */
void nsc_jni_session_drop(void);

/* ---- recording_file.c
 * ------------------------------------------------------------------------------- */

/* Write the session, which has ended, to @path under a temporary name and rename it. Returns NULL,
 * or what could not be done. */
const char *nsc_jni_dump(const char *path);
/* A text file's content, cut at @room - 1. Returns its length, 0 if there is none. */
size_t nsc_jni_read_text(const char *path, char *out, size_t room);
void nsc_jni_read_clock(struct nsc_app_clock *clock);

/* ---- recording_control.c
 * ---------------------------------------------------------------------------- */

/* Find out what the app was started with; perhaps a recording begins. */
void nsc_jni_control_begin(void);
/* A thread's new name that may be a command. Returns whether it was one. */
bool nsc_jni_command(const char *name);
void nsc_jni_log(int priority, const char *text);
/* The process's name, without path. */
void nsc_jni_process(char *out, size_t room);

#pragma GCC visibility pop

#endif
