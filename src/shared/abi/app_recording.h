/*
 * app_recording.h - the contract between an app with nanoscope's hooks and whoever reads its
 * recordings: the hook class, and the layout of a recording. docs/app.md says more.
 *
 * Hermetic: includes <stdint.h> and nothing of nanoscope. Written by src/target/android (inside the
 * app), read by the importer "app" (formats/), which treats every value as hostile. Clean in C99
 * and C++11. All numbers are little-endian.
 */
#ifndef NANOSCOPE_APP_H
#define NANOSCOPE_APP_H

#include <stdint.h>

/*
 * ---- The hook class ---------------------------------------------------------------------------
 *
 * Its initializer loads the library, whose JNI_OnLoad registers the natives. `enter` and `exit` are
 * annotated @CriticalNative; where the platform does not know that, the plain functions are
 * registered. `setName` and `BUILD` may be absent.
 */
#define NSC_APP_HOOK_CLASS         "dev/nanoscope/Hooks"
#define NSC_APP_LIBRARY            "nanoscope-app" /* System.loadLibrary() */
#define NSC_APP_ENTER              "enter"         /* static native void enter(int id) */
#define NSC_APP_EXIT               "exit"          /* static native void exit(int id) */
#define NSC_APP_HOOK_SIGNATURE     "(I)V"
/* static native void setName(Thread, String), called in place of Thread.setName: START_TRACING and
 * STOP_TRACING or STOP_TRACING:FILE are commands, any other name is passed on. */
#define NSC_APP_SET_NAME           "setName"
#define NSC_APP_SET_NAME_SIGNATURE "(Ljava/lang/Thread;Ljava/lang/String;)V"
/* static final String BUILD: the fingerprint of the table of methods. */
#define NSC_APP_BUILD              "BUILD"
#define NSC_APP_BUILD_SIGNATURE    "Ljava/lang/String;"

/*
 * ---- Events -----------------------------------------------------------------------------------
 *
 * One 64-bit word:  bits 0..31 low half of the ticks   bits 32..62 method id   bit 63 1 = exit
 *
 * Ids count from 1 to NSC_APP_ID_MAX. A word of 0 is a place that was reserved and never filled: it
 * is left out. The upper half of the ticks is that of the block, or of the last CLOCK. An id above
 * NSC_APP_ID_MAX is an escape, and bits 0..31 are its payload.
 */
#define NSC_APP_EXIT_BIT (1ull << 63)
#define NSC_APP_ID_MAX   0x7ffeffffu

enum nsc_app_escape {
    NSC_APP_ESC_CLOCK = 0x7fff0000, /* payload: the upper half of the ticks from here on */
    NSC_APP_ESC_LOST = 0x7fff0001,  /* payload: how many events were lost just here */
};

/*
 * ---- A recording ------------------------------------------------------------------------------
 *
 *   struct nsc_app_header
 *   blocks: struct nsc_app_block and its payload. For each thread, in any order, one THREAD and
 *           behind it its EVENTS, in the order of time; behind the last of all END.
 *
 * A recording without END is cut. Texts end in NUL, unless they fill their field.
 */
#define NSC_APP_MAGIC   0x003150504143534eull /* "NSCAPP1" and NUL */
#define NSC_APP_VERSION 1u

enum nsc_app_timer {
    NSC_APP_TIMER_NS = 1,     /* CLOCK_MONOTONIC in ns */
    NSC_APP_TIMER_TSC = 2,    /* x86: rdtsc; its frequency follows from the two clock points */
    NSC_APP_TIMER_CNTVCT = 3, /* AArch64: cntvct_el0 */
};

/* What the clocks said at one moment. */
struct nsc_app_clock {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t boottime_ns;
    uint64_t realtime_ns;
};

struct nsc_app_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* sizeof(struct nsc_app_header) or more: blocks begin there */
    uint32_t event_bytes;  /* 8 */
    uint32_t timer;        /* enum nsc_app_timer */
    uint32_t pid;
    uint32_t reserved;
    uint64_t frequency_hz;      /* of the timer; 0 = not known */
    struct nsc_app_clock start; /* of the recording */
    char build[64];             /* fingerprint of the table of methods; empty = not known */
    char process[128];          /* name: of an app, its package, perhaps ":part" */
    char abi[16];               /* "arm64-v8a" */
};

enum nsc_app_block_kind {
    NSC_APP_BLOCK_THREAD = 1, /* payload: struct nsc_app_thread or more */
    NSC_APP_BLOCK_EVENTS = 2, /* payload: events */
    NSC_APP_BLOCK_END = 3,    /* payload: struct nsc_app_end or more */
};

#define NSC_APP_BLOCK_BYTES_MAX (1u << 20)

struct nsc_app_block {
    uint32_t kind;
    uint32_t bytes;  /* of the payload, a multiple of 8, at most NSC_APP_BLOCK_BYTES_MAX */
    uint32_t thread; /* of THREAD and EVENTS: number of the thread, from 0 */
    uint32_t high;   /* of EVENTS: upper half of the ticks at its begin */
};

struct nsc_app_thread {
    uint64_t start_ticks; /* of its first event */
    uint64_t end_ticks;   /* when it ended, or the recording did */
    uint64_t lost;        /* events, those that NSC_APP_ESC_LOST tells of among them */
    uint32_t tid;
    uint32_t ended; /* 1: before the recording did */
    char name[32];
};

struct nsc_app_end {
    struct nsc_app_clock end;
    uint64_t words; /* of all EVENTS, escapes and empty places among them */
    uint64_t lost;  /* events of threads that there was no room for, not even for a block */
    uint32_t threads;
    uint32_t reserved;
};

#ifdef __cplusplus
#define NSC_APP_ASSERT static_assert
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define NSC_APP_ASSERT _Static_assert
#endif
#ifdef NSC_APP_ASSERT
NSC_APP_ASSERT(sizeof(struct nsc_app_clock) == 32, "layout of app_recording.h");
NSC_APP_ASSERT(sizeof(struct nsc_app_header) == 280, "layout of app_recording.h");
NSC_APP_ASSERT(sizeof(struct nsc_app_block) == 16, "layout of app_recording.h");
NSC_APP_ASSERT(sizeof(struct nsc_app_thread) == 64, "layout of app_recording.h");
NSC_APP_ASSERT(sizeof(struct nsc_app_end) == 56, "layout of app_recording.h");
#undef NSC_APP_ASSERT
#endif

#endif
