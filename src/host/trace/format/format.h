/*
 * format.h - the numbers of docs/format.md, which is normative: a change here is a change there.
 *
 * Shared by the writing and the reading half of trace/. The test decoder does not include it.
 */
#ifndef NSC_TRACE_FORMAT_FORMAT_H
#define NSC_TRACE_FORMAT_FORMAT_H

#define NSC_FORMAT_MAGIC        "\x89NST\r\n\x1a\n"
#define NSC_FORMAT_MAGIC_BYTES  8
#define NSC_FORMAT_HEADER_BYTES 64
#define NSC_FORMAT_FOOTER_MAGIC "NSTEND\r\n"
#define NSC_FORMAT_FOOTER_BYTES 24
#define NSC_FORMAT_BLOCK_SYNC   0xb142534eu /* "NSB" and 0xb1, little endian */
#define NSC_FORMAT_BLOCK_BYTES  32          /* of a block's header */

/* A block's content, once decompressed, never exceeds this: a reader's memory is bounded. */
#define NSC_FORMAT_PLAIN_MAX (64u << 20)

/* All tables and index blocks of a file together: this, and so many times the file's own bytes.
 * Without it a few KiB of zstd would fill any memory. */
#define NSC_FORMAT_TABLES_BASE  (16u << 20)
#define NSC_FORMAT_TABLES_RATIO 256u

/* Features that this code understands, of the header's "must understand" set: none defined yet. */
#define NSC_FORMAT_FEATURES_KNOWN 0u

/* Of the header's "may ignore" set. */
#define NSC_FORMAT_HINT_ZSTD 1u /* compression was asked for; blocks may have it anyway */

/* Block flags; a reader refuses a block with an unknown bit of the low half. */
#define NSC_FORMAT_BLOCK_ZSTD          1u
#define NSC_FORMAT_BLOCK_LEAST         2u /* of EVENTS only: the payload begins with `least` */
#define NSC_FORMAT_BLOCK_FLAGS_CRUCIAL 0xffu

enum nsc_format_kind {
    NSC_FORMAT_HEAD = 1, /* chunk head; its EVENTS block follows at once */
    NSC_FORMAT_EVENTS = 2,
    NSC_FORMAT_PROCESSES = 3,
    NSC_FORMAT_THREADS = 4,
    NSC_FORMAT_MODULES = 5,
    NSC_FORMAT_MAPPINGS = 6,
    NSC_FORMAT_FUNCTIONS = 7,
    NSC_FORMAT_CLOCK = 8,
    NSC_FORMAT_META = 9,
    NSC_FORMAT_INDEX = 10,
    NSC_FORMAT_DIRECTORY = 11,
    NSC_FORMAT_FILES = 12,
    /* Notes: the kinds of enum nsc_note_kind in its order. */
    NSC_FORMAT_SAMPLES = 16,
    NSC_FORMAT_STATES = 17,
    NSC_FORMAT_MARKS = 18,
    NSC_FORMAT_COUNTERS = 19,
    NSC_FORMAT_LEFT_OUT = 20,
    /* Reserved for what later versions add; skipped by this one. */
    NSC_FORMAT_CATEGORIES = 21,
    NSC_FORMAT_LEVEL = 22, /* a node above some chunks of a thread */
    NSC_FORMAT_NOTE_INDEX = 23,
    NSC_FORMAT_LEVEL_INDEX = 24,
};

/* Levels of the index; of a binary one, 2^63 chunks would have as many. */
#define NSC_FORMAT_LEVELS_MAX 63u

/* Low bit of the owner of notes: a process's, not a thread's. */
#define NSC_FORMAT_OWNER_PROCESS 1u
/* Flags of a mark. */
#define NSC_FORMAT_MARK_CUT      1u
/* Low bit of a counter's name: the value is a double. */
#define NSC_FORMAT_COUNTER_REAL  1u

/* Chunk head flags. */
#define NSC_FORMAT_HEAD_TOTALS    1u
#define NSC_FORMAT_HEAD_SUMMARY   2u
#define NSC_FORMAT_HEAD_DURATIONS 4u

/* Event records: low two bits of the first number. */
enum nsc_format_record {
    NSC_FORMAT_ENTER = 0,
    NSC_FORMAT_EXIT = 1,
    NSC_FORMAT_UNWIND = 2,
    NSC_FORMAT_OTHER = 3, /* a second number tells what */
};

/* Second number of an OTHER record. Even: one number follows. Odd: a length and that many bytes. */
enum nsc_format_other {
    NSC_FORMAT_OTHER_LATE_EXIT = 0, /* function */
    NSC_FORMAT_OTHER_LOST = 2,      /* number of events */
    NSC_FORMAT_OTHER_EARLIER = 6,   /* number of ENTER records that follow whose entry is a bound */
    NSC_FORMAT_OTHER_LEFT_OUT = 8,  /* number of events that the budget turned away */
    NSC_FORMAT_OTHER_FULL = 10,     /* 0; the next record tells its ticks in full */
};

#endif
