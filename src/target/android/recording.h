/*
 * recording.h - declarations shared by the parts of the library: threads, their chunks, the state
 * of recording.
 *
 * Included by src/target/android only.
 *
 * Rules of this library: it runs inside an app. A hook never waits: no lock, no call of the VM, no
 * allocator; events that cannot be stored are counted. The library never prints (except to
 * Android's log), aborts or exits. Until a recording begins, it runs nothing except one comparison
 * per hook.
 */
#ifndef NSC_ANDROID_RECORDING_H
#define NSC_ANDROID_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/app_recording.h"

#pragma GCC visibility push(hidden) /* accessed without the GOT */

#define NSC_JNI_LIKELY(e)   __builtin_expect(!!(e), 1)
#define NSC_JNI_UNLIKELY(e) __builtin_expect(!!(e), 0)

/*
 * The fields that an event needs, in a cache line of its own. Most threads have theirs in a table,
 * at an index computed from the thread pointer: found without a call. If two threads have the same
 * index, the second one uses `own` of its struct nsc_jni_thread and takes the slow path.
 */
struct nsc_jni_hot {
    uintptr_t owner; /* thread pointer; 0 = free, or the thread does not record */
    uintptr_t at;    /* address of the next event; grows beyond limit when the chunk is full */
    uintptr_t limit; /* end of the chunk; 0 = no chunk, or not recording */
    uint32_t high;   /* upper half of the ticks of the chunk's newest events */
    struct nsc_jni_thread *thread;
} __attribute__((aligned(64)));

#define NSC_JNI_HOT_BITS 12
extern struct nsc_jni_hot nsc_jni_table[1 << NSC_JNI_HOT_BITS];

/* A sequence of events. Memory after the last one is zero. */
struct nsc_jni_chunk {
    struct nsc_jni_chunk *next;
    uint32_t bytes; /* including this header */
    uint32_t high;  /* upper half of the ticks at its start */
} __attribute__((aligned(16)));

enum nsc_jni_life { NSC_JNI_FREE = 0, NSC_JNI_ALIVE = 1, NSC_JNI_DEAD = 2 };

struct nsc_jni_thread {
    struct nsc_jni_hot own; /* used if another thread has its index in the table */
    struct nsc_jni_hot *hot;
    struct nsc_jni_chunk *first, *chunk; /* first chunk in the session; last chunk */
    uint64_t start_ticks, end_ticks;     /* end_ticks: of an ended thread */
    uintptr_t lost;                      /* events of the session that were not stored */
    uint32_t told;                       /* number of those that an escape has reported */
    uint32_t session;                    /* session that these fields belong to */
    uint32_t life;                       /* enum nsc_jni_life */
    uint32_t busy;   /* in the slow path: a hook in a signal handler checks it */
    uint32_t passes; /* rounds of pthread destructors so far */
    int tid;
    char name[16]; /* of an ended thread */
};

enum nsc_jni_mode {
    NSC_JNI_OFF = 0,
    NSC_JNI_CHANGING = 1, /* a thread starts the session, or writes it */
    NSC_JNI_ON = 2,
    NSC_JNI_NEVER = 3, /* a child of fork(), or no pthread key is available */
};

/* State of the library. One session follows the other. */
struct nsc_jni_state {
    uint32_t mode;    /* enum nsc_jni_mode */
    uint32_t session; /* number of the current or last session, from 1 */
    int pid;
    char build[64];
    char folder[256];           /* the app's folder for files, with a slash; "" = unknown */
    struct nsc_app_clock start; /* start of the session */
    struct nsc_jni_thread *threads;
    uint32_t threads_next;            /* claimed in this session; excludes older entries */
    uintptr_t lost;                   /* events of threads without an entry */
    uint8_t *memory;                  /* memory of all chunks */
    size_t memory_bytes, memory_room; /* claimed; total. memory_bytes <= memory_room */
    size_t warm_bytes;                /* bytes from the start of the memory that have pages */
    uint8_t *pinned; /* a bit per NSC_JNI_UNIT: in use since the previous session */
};
extern struct nsc_jni_state nsc_jni;

#define NSC_JNI_THREADS_MAX 32768u
#define NSC_JNI_UNIT        4096u /* granularity of chunk sizes */
/* Largest page size of any Android; others divide it. mmap() returns whole pages. */
#define NSC_JNI_PAGE_MAX    16384u

/* ---- threads.c: the slow path ------------------------------------------------------------- */

/* Record an event on the slow path. @at: address reserved in the thread's chunk, 0 = no room. */
void nsc_jni_slow(struct nsc_jni_hot *hot, uintptr_t at, uint64_t ticks, uint32_t code);
/* Record an event of a thread that has no place in the table. */
void nsc_jni_stranger(uint32_t code);
/* Prepare for threads. Returns false if no pthread key is available. */
bool nsc_jni_threads_begin(void);
/* Begin a new session; no thread records it yet. @bytes: maximum memory, a multiple of
 * NSC_JNI_UNIT; the first session's value applies to all. Returns NULL, or a message that describes
 * the error. */
const char *nsc_jni_session_begin(size_t bytes);
/* Stop threads from starting an event. An event that has started may still be completed. */
void nsc_jni_session_end(void);
/* Populate memory before hooks need it, while the session lasts; a thread function. A page fault
 * costs more than many hooks. */
void *nsc_jni_warm_memory(void *unused);
/* Disable recording for good: in the child of a fork. */
void nsc_jni_session_drop(void);

/* ---- recording_file.c --------------------------------------------------------------------- */

/* Write the ended session to @path: under a temporary name, which is then renamed. Returns NULL, or
 * a message that describes the error. */
const char *nsc_jni_dump(const char *path);
/* Read a text file, truncated to @room - 1 bytes. Returns its length, 0 on failure. */
size_t nsc_jni_read_text(const char *path, char *out, size_t room);
void nsc_jni_read_clock(struct nsc_app_clock *clock);

/* ---- recording_control.c ------------------------------------------------------------------ */

/* Read the app's start options; begins a recording if they ask for it. */
void nsc_jni_control_begin(void);
/* Execute a thread's new name if it is a command. Returns true if it was one. */
bool nsc_jni_command(const char *name);
void nsc_jni_log(int priority, const char *text);
/* Return the process's name, without path. */
void nsc_jni_process(char *out, size_t room);

#pragma GCC visibility pop

#endif
