/*
 * format.h - the constants of the .nst file format. docs/format.md is normative: change both.
 *
 * Shared by the writer and the reader in trace/. The test decoder does not include it.
 */
#ifndef NSC_TRACE_FORMAT_FORMAT_H
#define NSC_TRACE_FORMAT_FORMAT_H

#define NSC_FORMAT_MAGIC        "\x89NST\r\n\x1a\n"
#define NSC_FORMAT_MAGIC_BYTES  8
#define NSC_FORMAT_HEADER_BYTES 64
#define NSC_FORMAT_FOOTER_MAGIC "NSTEND\r\n"
#define NSC_FORMAT_FOOTER_BYTES 24
#define NSC_FORMAT_BLOCK_SYNC   0xb142534eu /* "NSB" and 0xb1, little endian */
#define NSC_FORMAT_BLOCK_BYTES  32          /* size of a block header */

/* Limit of a block's decompressed content. Bounds the reader's memory. */
#define NSC_FORMAT_PLAIN_MAX (64u << 20)

/* Limit of the decompressed tables and index blocks of a file: BASE bytes plus RATIO times the
 * file's size. Without it a few KiB of zstd data could exhaust memory. */
#define NSC_FORMAT_TABLES_BASE  (16u << 20)
#define NSC_FORMAT_TABLES_RATIO 256u

/* Bits of the header's "must understand" features that this code supports: none defined yet. */
#define NSC_FORMAT_FEATURES_KNOWN 0u

/* Bits of the header's "may ignore" features. */
#define NSC_FORMAT_HINT_ZSTD 1u /* compression was requested; else blocks may have it, too */

/* Block flags; a reader rejects a block with an unknown bit in the low byte. */
#define NSC_FORMAT_BLOCK_ZSTD          1u
#define NSC_FORMAT_BLOCK_LEAST         2u /* EVENTS only: begins with `least`, the delta bias */
#define NSC_FORMAT_BLOCK_FLAGS_CRUCIAL 0xffu

enum nsc_format_kind {
    NSC_FORMAT_HEAD = 1, /* chunk head; its EVENTS block follows immediately */
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
    /* Notes, in the order of enum nsc_note_kind. */
    NSC_FORMAT_SAMPLES = 16,
    NSC_FORMAT_STATES = 17,
    NSC_FORMAT_MARKS = 18,
    NSC_FORMAT_COUNTERS = 19,
    NSC_FORMAT_LEFT_OUT = 20,
    NSC_FORMAT_CATEGORIES = 21, /* reserved for later versions; this version skips it */
    NSC_FORMAT_LEVEL = 22,      /* an index node: summarizes consecutive chunks of a thread */
    NSC_FORMAT_NOTE_INDEX = 23,
    NSC_FORMAT_LEVEL_INDEX = 24,
};

/* Limit of index levels: a binary tree over 2^63 chunks has as many. */
#define NSC_FORMAT_LEVELS_MAX 63u

/* Low bit of a notes block's owner: the owner is a process, not a thread. */
#define NSC_FORMAT_OWNER_PROCESS 1u
/* Mark flag: the text was truncated. */
#define NSC_FORMAT_MARK_CUT      1u
/* Low bit of a counter's name: the value is a double. */
#define NSC_FORMAT_COUNTER_REAL  1u

/* Chunk head flags: the sections that the head holds. */
#define NSC_FORMAT_HEAD_TOTALS    1u
#define NSC_FORMAT_HEAD_SUMMARY   2u
#define NSC_FORMAT_HEAD_DURATIONS 4u

/* Event records: low two bits of the first number. */
enum nsc_format_record {
    NSC_FORMAT_ENTER = 0,
    NSC_FORMAT_EXIT = 1,
    NSC_FORMAT_UNWIND = 2,
    NSC_FORMAT_OTHER = 3, /* the second number is the record type */
};

/* Type of an OTHER record. Even: one number follows. Odd: a length and that many bytes follow.
 * The comments below name the number that follows. */
enum nsc_format_other {
    NSC_FORMAT_OTHER_LATE_EXIT = 0, /* function */
    NSC_FORMAT_OTHER_LOST = 2,      /* number of events */
    NSC_FORMAT_OTHER_EARLIER = 6,   /* number of following ENTER records whose start is a bound */
    NSC_FORMAT_OTHER_LEFT_OUT = 8,  /* number of events that the budget rejected */
    NSC_FORMAT_OTHER_FULL = 10,     /* 0; the next record's delta is not reduced by the bias */
};

#endif
