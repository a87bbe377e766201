/*
 * live.h - the contract between a traced program and its recorder: the layout of the session's
 * shared memory ("live buffers") and of the events in it.
 *
 * Hermetic: includes <stdint.h> and nothing of nanoscope. Read by the runtime (inside the traced
 * program) and by record/ (the host). Neither side trusts the other: the recorder treats every
 * value here as hostile input, the runtime survives a recorder that dies at any instant.
 *
 * Clean in C99 and C++11. All fields are in the byte order of the machine; every field that both
 * sides touch while the program runs is accessed atomically. See docs/adr/002-live-buffers.md.
 */
#ifndef NANOSCOPE_LIVE_H
#define NANOSCOPE_LIVE_H

#include <stdint.h>

#define NSC_LIVE_MAGIC   0x314556494c43534eull /* "NSCLIVE1", little endian */
#define NSC_LIVE_VERSION 2u
/* Environment of a traced program: path that opens the session's shared memory. */
#define NSC_LIVE_ENV     "NANOSCOPE_LIVE"

/*
 * ---- Events ----------------------------------------------------------------------------------
 *
 * 16-byte event (native Linux): two 64-bit words.
 *
 *   word 0   bits 0..47   code address; what it means depends on the module's hook kind
 *            bits 48..63  bits 3..18 of the position (stack pointer at the function's entry:
 *                         the address that holds, or on AArch64 would hold, the return address)
 *   word 1   timer ticks
 *
 * One bit of the address tells an exit from an entry: bit `exit_bit` of the header (47 on x86-64,
 * where user addresses end below it; 0 on AArch64, where code is 4-aligned).
 *
 * Word 1 is stored before word 0, and free slots hold zeros: a slot whose word 0 is zero was
 * reserved but not completed (its thread was killed, or a signal handler left it by longjmp).
 * Such a hole in a FULL chunk may still be filled while its thread lives, by a hook that a signal
 * handler interrupted: the recorder must not free the chunk before the hole is filled, the thread
 * is dead, or it gives the event up (it may bound how many chunks of a thread wait). A hole that
 * has events behind it is one lost event, which nobody else counts; empty slots at the end are not
 * holes.
 *
 * Sled hooks: the address lies inside the sled (entry or exit sled of the function).
 * Header hook (-finstrument-functions): the address is that of the function; word 1 of an entry is
 *   ticks + (low 16 bits of the hook's own program counter << 48), modulo 2^64; of an exit its top
 *   16 bits mean nothing. The reader restores the ticks from the chunk's open_ticks (an event is
 *   less than 2^47 ticks from it), and tells a function inlined into its caller, which shares the
 *   caller's position, from a real call.
 *
 * The position is exact: the recorder rebuilds all 64 bits from the chunk's `anchor` or the last
 * NSC_LIVE_ESC_ANCHOR; the hook emits one before the position is NSC_LIVE_ANCHOR_REACH or more
 * away from the anchor in force. position = anchor + sign_extend_19((bits<<3) - anchor).
 *
 * 8-byte event (Android, firmware; reserved, not yet produced on Linux): one 64-bit word.
 *   bits 0..31   low 32 bits of the ticks;  bits 32..62  function id;  bit 63  1 = exit.
 *   An id below NSC_LIVE_ESC_LIMIT is an escape.
 *
 * Escape record (16-byte form): an event whose address field is below NSC_LIVE_ESC_LIMIT.
 *   word 0  bits 0..11  kind   bits 12..15  number of 16-byte slots that follow   bits 48..63 small
 *   word 1  payload
 * Word 0 of each slot that follows is not 0. The recorder waits, as for a hole, until all slots of
 * a record are complete.
 */
#define NSC_LIVE_ADDRESS_BITS 48
#define NSC_LIVE_ADDRESS_MASK 0x0000ffffffffffffull
#define NSC_LIVE_POSITION_SHIFT                                                                    \
    45 /* (stack pointer << 45) leaves its bits 3..18 in bits 48..63                               \
        */
#define NSC_LIVE_ESC_LIMIT    0x10000ull
#define NSC_LIVE_ANCHOR_REACH 0x20000 /* bytes; positions stay within +-128 KiB of the anchor */

enum nsc_live_escape {
    NSC_LIVE_ESC_ANCHOR = 1, /* payload: full 64-bit position, the new anchor */
    NSC_LIVE_ESC_CLOCK = 2,  /* reserved: payload ticks, next slot {clock id, ns} */
    /*
     * A mark. Word 0, bits 48..58: bytes of text in this record; bit 59: the program had more text;
     * bit 63: the thread's next MARK goes on with it (the recorder keeps the first 4 KiB). Payload:
     * ticks. The slots that follow hold the text, 15 bytes each: word 0 is 1 in its lowest byte and
     * seven bytes of text above, word 1 the next eight. Text: name, NUL, metadata.
     */
    NSC_LIVE_ESC_MARK = 3,
    /* A counter. As a mark, but the first slot that follows holds the value: word 0 = 1 for a
     * signed integer, 0x101 for an IEEE double, word 1 the value. The text is the counter's name.
     */
    NSC_LIVE_ESC_COUNTER = 4,
    /* A sample taken inside the program. Payload: ticks. Four slots follow, word 0 = 1, word 1: the
     * thread's CPU time in ns, major faults, minor faults, context switches. */
    NSC_LIVE_ESC_SAMPLE = 5,
    NSC_LIVE_ESC_STATE = 6,   /* reserved: thread state */
    NSC_LIVE_ESC_ARGS = 7,    /* reserved: arguments or return value of the event before */
    NSC_LIVE_ESC_LOST = 8,    /* payload: events lost just here */
    NSC_LIVE_ESC_LEFTOUT = 9, /* reserved: functions left out from here */
    NSC_LIVE_ESC_IRQ = 10,    /* reserved: interrupt context */
    NSC_LIVE_ESC_SWITCH =
        11, /* this thread goes to another stack (coroutine); payload: key of the
             * stack it leaves; next slot: word 0 = 1 (never zero), word 1 = key of
             * the stack it enters. A key is any number that names the stack; 0 as the
             * first one: not named (setcontext does not say where it comes from).
             * For swapcontext and setcontext: addresses of the ucontext_t, and one more slot:
             * word 0 = 1, word 1 = the stack pointer that the entered stack goes on with. */
    /* A jump or an exception leaves frames; payload: position, every open frame at or below it is
     * over; next slot: word 0 = 1, word 1 = ticks. */
    NSC_LIVE_ESC_UNWIND = 12,
};

/*
 * ---- Shared memory ---------------------------------------------------------------------------
 *
 *   offset 0            struct nsc_live_header (one page)
 *   header.*_off        tables, each of header.*_max entries
 *   header.data_off     chunks_max chunks of chunk_bytes each, aligned to chunk_bytes
 *
 * The first chunk_count chunks are the pool, which all threads share; the recorder may raise
 * chunk_count while the program runs. The last home_count chunks are homes: thread slot n has chunk
 * chunks_max - home_count + n % home_count, for when the pool is short, so that a thread always has
 * some room. The program maps everything once, at start.
 *
 * The first chunks_backed chunks have pages from before they can be claimed. The others get theirs
 * as the program touches them, and the recorder may take them away when it has read them: in a
 * chunk in use, too, the pages before the one with the last slot that was read. Such slots read
 * zero again, for the runtime as well. The recorder offers chunks without pages only where the
 * kernel promises memory to whoever touches it, so that the program can never meet SIGBUS.
 *
 * Claiming anything (a chunk, a thread slot, ...) is one compare-and-swap on its `state` word,
 * which also names the owner: whoever is killed between two instructions leaves nothing ownerless.
 */
enum nsc_live_recorder_state {
    NSC_LIVE_RECORDER_CLOSED = 0, /* the session is over: stop tracing at the next slow path */
    NSC_LIVE_RECORDER_OPEN = 1,
};

#define NSC_LIVE_FLAG_FILTER       1u /* a module waits for the recorder's verdict on its sites */
/* Only entries read the timer: word 1 of a sled's exit is zero, unless it came the slow way. Where
 * the hooks can (x86-64), an exit right behind its own entry has no slot: NSC_LIVE_TICKS_RETURNED
 * is put into word 1 of the entry, and means two events. */
#define NSC_LIVE_FLAG_ENTRY_TIMING 2u
#define NSC_LIVE_TICKS_RETURNED    (1ull << 63)
/* Exits of sleds take a call of less than rewind_ticks back, where the hooks can (x86-64): no event
 * of it stays. A slot may then be written again while its chunk is in use. */
#define NSC_LIVE_FLAG_REWIND       8u
/* The memory is to be part of the program's core dumps. */
#define NSC_LIVE_FLAG_DUMP         4u
/* Hooks are just being switched on, one after another: no event is taken, nor lost, before that is
 * done. Set before the program joins; who has switched them on takes it away. Atomic. */
#define NSC_LIVE_FLAG_HOLD         16u

enum nsc_live_request {
    NSC_LIVE_REQUEST_NONE = 0,
    NSC_LIVE_REQUEST_STOP = 1, /* end the recording; the trace keeps its name */
};

struct nsc_live_clock {
    uint64_t ticks; /* 0: not yet known; written last */
    uint64_t monotonic_ns, boottime_ns, realtime_ns;
};

struct nsc_live_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* sizeof(struct nsc_live_header) */
    uint64_t total_bytes;  /* of the whole region */

    uint8_t event_bytes; /* 16 (or 8, see above) */
    uint8_t exit_bit;    /* 47 or 0 */
    uint8_t reserved0[2];
    uint32_t flags; /* NSC_LIVE_FLAG_*; atomic */
    uint32_t recorder_pid;
    uint32_t recorder_state; /* enum nsc_live_recorder_state; atomic */
    uint64_t heartbeat;      /* the recorder adds 1 each time it looks; atomic */

    uint64_t processes_off;
    uint64_t modules_off;
    uint64_t threads_off;
    uint64_t chunks_off;
    uint64_t filter_off; /* arena of filter bitmaps */
    uint64_t data_off;
    uint32_t processes_max;
    uint32_t modules_max;
    uint32_t threads_max;
    uint32_t chunks_max;
    uint32_t chunk_bytes; /* a power of two */
    uint32_t filter_bytes;

    uint32_t chunk_count; /* chunks of the pool; only grows; atomic */
    /* Where to look first for something free; hints only, written by both sides; atomic. */
    uint32_t chunk_hint;
    uint32_t thread_hint;
    uint32_t process_hint;
    uint32_t module_hint;
    uint32_t home_count; /* may be 0 */
    /* Events of threads that found no thread slot or no process slot; atomic. */
    uint64_t lost_unattributed;
    /* Modules that found no module slot: their calls are not recorded; atomic. */
    uint64_t modules_unattributed;
    /* How many chunks of the pool may be claimed: set by the recorder, decremented by claimers;
     * approximate. At 0, the one that chunk_hint names may be taken all the same if it is FREE. */
    uint32_t chunks_free;
    uint32_t chunks_backed; /* chunks that have pages; only grows; atomic */
    /* CPU time from one NSC_LIVE_ESC_SAMPLE of a thread to the next; 0: threads take no samples. */
    uint64_t sample_ns;
    uint64_t rewind_ticks; /* with NSC_LIVE_FLAG_REWIND; 0: no call is too short; atomic */
    /* What the program asks of a recorder that it has started itself (nanoscope.h), where it cannot
     * reach the recorder's socket (abi/control.h): enum nsc_live_request, atomic. */
    uint32_t request;
    /* Ring only: struct nsc_live_overwritten for each thread slot begins at this page of the region
     * (of 4096 bytes), before the chunks, and threads may overwrite full chunks. 0: they must not.
     */
    uint32_t overwritten_page;
    /* The timer beside the system's clocks, when the recording began and a second ago at most: for
     * who finds this memory in a core dump. Written by the recorder. */
    struct nsc_live_clock clock[2];
    uint8_t reserved[1024]; /* unused */
};

enum nsc_live_slot_state {
    NSC_LIVE_FREE = 0,
    NSC_LIVE_CLAIMED = 1, /* being filled in */
    NSC_LIVE_LIVE = 2,
    NSC_LIVE_DEAD = 3, /* its owner is done with it; the recorder frees it after reading */
};

/* Why a process is not traced, or only partly (bit set in nsc_live_process.problems). */
#define NSC_LIVE_PROBLEM_MPROTECT       1u /* code could not be made writable: sleds stay off */
#define NSC_LIVE_PROBLEM_FAR            2u /* a sled is out of reach of its trampoline */
#define NSC_LIVE_PROBLEM_FILTER_TIMEOUT 4u /* no verdict came: the module's sleds stay off */
#define NSC_LIVE_PROBLEM_STATE          8u /* program state unusual (e.g. no WIPEONFORK): untraced */
#define NSC_LIVE_PROBLEM_STALLED        16u /* gave the recorder up for dead; stopped counting */
#define NSC_LIVE_PROBLEM_TIMER          32u /* some thread takes no samples: no signal, no timer */
/* Code cannot be changed while threads execute it (membarrier is missing or forbidden): sleds of
 * modules that were loaded before the session stay as they are. Do not switch them. */
#define NSC_LIVE_PROBLEM_BARRIER        64u
#define NSC_LIVE_PROBLEM_NOPS           128u /* a chosen function has no room for a jump at its entry */
#define NSC_LIVE_PROBLEM_MIXED          256u /* a module's patchable entries are passed over: see ADR 13 */

struct nsc_live_process {
    uint32_t state; /* enum nsc_live_slot_state; atomic */
    uint32_t pid;
    uint32_t ppid;     /* of a forked child: the process it was forked from; else 0 */
    uint32_t problems; /* NSC_LIVE_PROBLEM_*; atomic or */
    uint64_t start_ticks;
    uint64_t lost; /* events of threads of this process that found no thread slot; atomic */
    /* Address of the uint32_t that switches all inlined hooks of the process: 0 = on. Also written
     * from outside. */
    uint64_t hooks_off_at;
    uint8_t reserved[24];
};

enum nsc_live_hook {
    NSC_LIVE_HOOK_SLED = 1,   /* gcc sleds or rewritten clang sleds: address inside the sled */
    NSC_LIVE_HOOK_HEADER = 2, /* -finstrument-functions: address of the function */
    /* -fpatchable-function-entry alone: entries in the site table, no exits. Events of both carry
     * the address behind the entry's sled. To choose a function for the first time takes
     * NSC_CONTROL_APPLY. */
    NSC_LIVE_HOOK_PATCHABLE = 3,
};

enum nsc_live_filter_state {
    NSC_LIVE_FILTER_NONE = 0,
    NSC_LIVE_FILTER_WAITING = 1, /* written by the runtime */
    NSC_LIVE_FILTER_READY = 2,   /* written by the recorder */
};

#define NSC_LIVE_PATH_MAX 880

struct nsc_live_module {
    uint32_t state;                /* enum nsc_live_slot_state; atomic. DEAD after dlclose. */
    uint32_t process;              /* index of its process slot */
    uint32_t hooks;                /* bit set, 1 << enum nsc_live_hook */
    uint32_t site_count;           /* sleds the runtime found, entries and exits */
    uint64_t bias;                 /* run-time address minus ELF virtual address */
    uint64_t text_start, text_end; /* run-time addresses of executable segments, half open */
    uint64_t load_ticks;
    uint64_t unload_ticks; /* 0 while loaded; atomic */
    /* Run-time addresses of the module's site records, struct nsc_live_site; for the
     * header hook the recorder reads them from the file to tell inlined functions from real ones.
     */
    uint64_t sites_start, sites_end;
    /* Filter verdict: one bit a site, in the order of the runtime's site table, 1 = record. The
     * recorder reads that table from the file. */
    uint32_t filter_state;         /* enum nsc_live_filter_state; atomic */
    uint32_t filter_at;            /* byte offset into the filter arena */
    uint64_t xray_start, xray_end; /* run-time addresses of xray_instr_map, or 0 */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    /* 1: the runtime has written the sleds; from now on it leaves them to the recorder. Atomic. */
    uint32_t sleds_ready;
    uint8_t reserved[8];
    char path[NSC_LIVE_PATH_MAX]; /* NUL terminated; empty if unknown */
};

/*
 * Site record, one a hook site, emitted by the compiler's assembler into section `nanoscope_sites`
 * (allocated, read-only, link-ordered; 8 bytes each, PC-relative, no relocation left at run time).
 * The runtime's site table of a module is: the records of `nanoscope_sites` in section order, then
 * the entries of `xray_instr_map` in section order, then the addresses in
 * `__patchable_function_entries` in section order; filter bitmaps count through all three (what is
 * no sled has a bit too, which nobody reads).
 */
enum nsc_live_site_kind {
    NSC_LIVE_SITE_ENTRY = 0, /* 5-byte sled at a function's entry */
    NSC_LIVE_SITE_EXIT = 1,  /* 5-byte sled before a return or a tail jump */
    NSC_LIVE_SITE_HOOK = 2,  /* header hook, entry: the program counter that its events carry */
};

struct nsc_live_site {
    int32_t offset; /* address of the site minus address of this field */
    uint32_t kind;  /* enum nsc_live_site_kind */
};

struct nsc_live_thread {
    uint32_t state;   /* enum nsc_live_slot_state; atomic */
    uint32_t process; /* index of its process slot */
    uint32_t pid, tid;
    uint64_t start_ticks;
    uint64_t lost;      /* events this thread could not keep, in all; atomic */
    uint32_t chunk_seq; /* sequence number of the thread's newest chunk, from 1; atomic */
    uint32_t reserved0;
    char name[16];    /* comm when the slot was claimed */
    uint64_t rewound; /* calls taken back because they were short */
};

/* What other threads, or it itself, have overwritten of a thread's events. All atomic, and only
 * grow. */
struct nsc_live_overwritten {
    uint64_t events, chunks;
    uint64_t lost; /* of those chunks: their lost_before */
    uint64_t reserved;
};

/*
 * A chunk's state word: owner and phase in one, so that one compare-and-swap moves it.
 *   bits 0..1   enum nsc_live_chunk_phase   bits 2..31  thread slot   bits 32..63  sequence number
 * FREE is the all-zero word. FREE -> OWNED by a thread (claim), OWNED -> FULL by that thread
 * (publish), FULL or (its thread being dead) OWNED -> FREE by the recorder, which has filled the
 * chunk's data with zeros before.
 *
 * Where header.overwritten_page is not 0, whoever wants the room of a chunk, recorder or thread,
 * swaps its state for TAKEN first. From then on nobody else touches the chunk:
 *   bits 2..16  the thread slot whose events it holds   bits 17..31  who has taken it: a thread
 * slot or NSC_LIVE_TAKEN_RECORDER   bits 32..47  NSC_LIVE_TAKEN_WHOLE while it still holds all its
 *   events, then 1 more than it held, and 0 once they are counted as overwritten   bits 48..63  of
 *   the sequence number; another each time somebody begins anew
 * Of a thread, TAKEN -> OWNED by it; of the recorder, TAKEN -> FREE. A thread may begin anew what
 * it has TAKEN itself and left undone; what one that has ended left so, the recorder or another
 * thread takes. docs/adr/021-ring.md tells why.
 */
enum nsc_live_chunk_phase {
    NSC_LIVE_CHUNK_FREE = 0,
    NSC_LIVE_CHUNK_OWNED = 1,
    NSC_LIVE_CHUNK_FULL = 2,
    NSC_LIVE_CHUNK_TAKEN = 3,
};
#define NSC_LIVE_TAKEN_RECORDER 0x7fffu /* thread slots are below, where there is such a table */
#define NSC_LIVE_TAKEN_WHOLE    0xffffu /* no chunk there holds as many */
#define NSC_LIVE_TAKEN(owner, taker, held, turn)                                                   \
    ((uint64_t)NSC_LIVE_CHUNK_TAKEN | (uint64_t)((owner)&0x7fffu) << 2 |                           \
     (uint64_t)((taker)&0x7fffu) << 17 | (uint64_t)((held)&0xffffu) << 32 |                        \
     (uint64_t)((turn)&0xffffu) << 48)
#define NSC_LIVE_TAKEN_OWNER(state) ((uint32_t)(state) >> 2 & 0x7fffu)
#define NSC_LIVE_TAKEN_TAKER(state) ((uint32_t)(state) >> 17)
#define NSC_LIVE_TAKEN_HELD(state)  ((uint32_t)((state) >> 32) & 0xffffu)
#define NSC_LIVE_TAKEN_TURN(state)  ((uint32_t)((state) >> 48))
#define NSC_LIVE_CHUNK_STATE(phase, thread, seq)                                                   \
    ((uint64_t)(phase) | (uint64_t)(thread) << 2 | (uint64_t)(seq) << 32)
#define NSC_LIVE_CHUNK_PHASE(state)  ((uint32_t)(state)&3u)
#define NSC_LIVE_CHUNK_THREAD(state) ((uint32_t)(state) >> 2)
#define NSC_LIVE_CHUNK_SEQ(state)    ((uint32_t)((state) >> 32))

struct nsc_live_chunk {
    uint64_t state; /* atomic */
    /* Written by the owner between claim and first event: */
    uint64_t open_ticks;
    uint64_t anchor;      /* full position in force at the chunk's first slot */
    uint64_t lost_before; /* events this thread lost between its previous chunk and this one */
    /* The highest position of those, so what lies above it is still open; 0: not known. */
    uint64_t lost_highest;
};

#ifdef __cplusplus
#define NSC_LIVE_ASSERT(e) static_assert(e, #e)
#else
#define NSC_LIVE_ASSERT(e) _Static_assert(e, #e)
#endif
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
NSC_LIVE_ASSERT(sizeof(struct nsc_live_header) <= 4096);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_process) == 64);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_module) == 1024);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_thread) == 64);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_chunk) == 40);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_overwritten) == 32);
NSC_LIVE_ASSERT(sizeof(struct nsc_live_site) == 8);
#endif

#endif
