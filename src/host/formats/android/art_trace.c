/*
 * art_trace.c - read method traces of Android's runtimes, Dalvik and ART, as written by
 * Debug.startMethodTracing(). Called through importers.c. docs/formats.md lists what is read.
 *
 * The file has a text head with threads and methods, followed by records of fixed size. In
 * streaming mode, threads and methods are between the records, and the head is at the end.
 * Source: the comments at the head of AOSP's art/runtime/trace.h and dalvik/vm/Profile.cpp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "formats/android/art_names.h"
#include "formats/import/end_by_name.h"
#include "formats/import/import.h"
#include "util/array.h"
#include "util/id_map.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define MAGIC           "SLOW"
#define MAGIC_BYTES     4u
#define HEADER_BYTES    32u
#define STREAMING       0xf0u /* flags in the version field: streaming mode */
#define LINE_MAX        (1u << 20)
#define RECORD_MAX      64u
#define TIDS            65536u
#define DEPTH_LIMIT     (1u << 24)
#define PROGRESS_EVERY  65536u
#define SAMPLE_EVERY_NS 1000000u            /* interval of samples; every record has a CPU time */
#define CALENDAR_US     1000000000000000ull /* later start times (2001) are since 1970 */
#define TIME_LIMIT_US   (UINT64_MAX / 4000)
#define WRAP_US         ((uint64_t)1 << 32) /* 71 minutes */
#define BACK_US         ((uint64_t)1 << 28) /* 4 minutes */
#define APART_US        100000u /* more disorder between threads means per-thread buffers */

enum { ACTION_ENTER = 0, ACTION_EXIT = 1, ACTION_UNROLL = 2 };
enum { OP_METHOD = 1, OP_THREAD = 2, OP_SUMMARY = 3 };
enum section { SECTION_NONE, SECTION_VERSION, SECTION_THREADS, SECTION_METHODS, SECTION_END };

struct thread {
    char *name;            /* NULL if unknown */
    struct nsc_lane *lane; /* NULL = no event yet */
    struct nsc_thread about;
    uint32_t id;
    uint64_t last_us;    /* time of the last record, by the clock of the trace */
    uint64_t cpu_us;     /* last CPU time, in records with both clocks */
    uint64_t sampled_ns; /* time of the last sample plus 1; 0 = none */
};

struct android {
    struct nsc_import *job;
    struct nsc_names names;
    struct nsc_id_map methods; /* method number to function */
    struct thread **threads;   /* by tid, TIDS entries; NULL = not seen yet */
    uint32_t process;
    struct nsc_process about;
    uint32_t version; /* of the records */
    bool streaming;
    bool cpu_only; /* the only clock is each thread's CPU time */
    bool overflow; /* the trace buffer was full: later events were lost */
    uint32_t record_bytes;
    uint64_t latest_us; /* latest time in all threads */
    bool apart;         /* records are in time order only within each thread */
    uint64_t records, backwards, unknown_actions;
    uint64_t too_deep;
};

/* ---- Names -------------------------------------------------------------------------------- */

/* Finds or adds a function. Each combination of name, file and line is one function. */
static int add_function(struct android *a, const char *name, const char *file, uint32_t line,
                        uint32_t *function)
{
    struct nsc_function f = {
        .name = name, .symbol = name, .file = file, .line = line, .module = NSC_NO_ID};
    struct nsc_names_entry *e;
    char *key;
    int error, bytes = asprintf(&key, "%s\n%s\n%u", name, file, line);

    if (bytes < 0)
        return -ENOMEM;
    error = nsc_names_find(&a->names, key, (size_t)bytes, &e);
    free(key);
    if (error == 0 && e->id == UINT32_MAX)
        error = nsc_writer_add_function(a->job->writer, &f, &e->id);
    if (error == 0)
        *function = e->id;
    return error;
}

/* ---- Methods ------------------------------------------------------------------------------ */

static int set_method(struct android *a, uint32_t number, const char *name, const char *file,
                      uint32_t line)
{
    uint32_t function;
    int error = add_function(a, name, file, line, &function);

    return error == 0 ? nsc_id_map_put(&a->methods, number, function) : error;
}

/* Parses "number class name signature file line", separated by tabs; the last fields may be
 * missing. */
static int take_method(struct android *a, char *line)
{
    static char none[] = "";
    char *fields[6] = {none, none, none, none, none, none}, *name;
    unsigned count = 0;
    uint32_t number;
    int error;

    line[strcspn(line, "\r\n")] = '\0';
    while (count < 6 && line != NULL)
        fields[count++] = strsep(&line, "\t");
    number = (uint32_t)strtoul(fields[0], NULL, 16) & ~3u;
    if (count == 4 && fields[3][0] != '(') { /* number, class, file, line */
        fields[5] = fields[3];
        fields[4] = fields[2];
        fields[2] = fields[3] = none;
    }
    if (count < 2 || fields[1][0] == '\0')
        return 0;
    name = nsc_android_name(fields[1], fields[2], fields[3]);
    if (name == NULL)
        return -ENOMEM;
    error = set_method(a, number, name, fields[4],
                       fields[5][0] == '-' ? 0 : (uint32_t)strtoul(fields[5], NULL, 10));
    free(name);
    return error;
}

/* Finds the function of a method. A method that the file does not name gets its number as name. */
static int find_method(struct android *a, uint32_t number, uint32_t *function)
{
    char name[24];
    int error = 0;

    *function = nsc_id_map_get(&a->methods, number);
    if (*function == NSC_ID_MAP_NEW) {
        snprintf(name, sizeof name, "0x%x", number);
        error = set_method(a, number, name, "", 0);
        *function = nsc_id_map_get(&a->methods, number);
    }
    return error;
}

/* ---- The head ----------------------------------------------------------------------------- */

/* Finds or creates the entry of a thread. Returns NULL when out of memory. */
static struct thread *need_thread(struct android *a, unsigned long tid)
{
    if (a->threads[tid] == NULL)
        a->threads[tid] = calloc(1, sizeof **a->threads);
    return a->threads[tid];
}

static int set_thread_name(struct android *a, unsigned long tid, const char *name, size_t bytes)
{
    struct thread *t;
    char *copy;

    if (tid >= TIDS)
        return 0;
    t = need_thread(a, tid);
    copy = t != NULL ? strndup(name, bytes) : NULL;
    if (copy == NULL)
        return -ENOMEM;
    free(t->name);
    t->name = copy;
    return 0;
}

static int take_option(struct android *a, const char *line)
{
    static const char *const kept[] = {"vm", "elapsed-time-usec", "num-method-calls",
                                       "clock-call-overhead-nsec"};
    const char *value = strchr(line, '=');
    size_t bytes = value != NULL ? (size_t)(value - line) : 0;

    if (value == NULL)
        return 0;
    value++;
    if (strcmp(line, "clock=thread-cpu") == 0)
        a->cpu_only = true;
    if (strcmp(line, "data-file-overflow=true") == 0)
        a->overflow = true;
    if (bytes == 3 && strncmp(line, "pid", 3) == 0)
        a->about.pid = (uint32_t)strtoul(value, NULL, 10);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        char key[64];

        if (strlen(kept[i]) != bytes || strncmp(line, kept[i], bytes) != 0)
            continue;
        snprintf(key, sizeof key, "android.%s", kept[i]);
        return nsc_writer_meta(a->job->writer, key, value);
    }
    return 0;
}

/* Parses a line of the head; modifies @line. Returns 0 or -errno. */
static int take_line(struct android *a, char *line, enum section *section)
{
    char *at;
    unsigned long tid;

    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '*') {
        *section = strcmp(line, "*version") == 0   ? SECTION_VERSION
                   : strcmp(line, "*threads") == 0 ? SECTION_THREADS
                   : strcmp(line, "*methods") == 0 ? SECTION_METHODS
                   : strcmp(line, "*end") == 0     ? SECTION_END
                                                   : SECTION_NONE;
        return 0;
    }
    switch (*section) {
    case SECTION_VERSION:
        return take_option(a, line);
    case SECTION_THREADS:
        tid = strtoul(line, &at, 10);
        return at > line && *at == '\t' ? set_thread_name(a, tid, at + 1, strlen(at + 1)) : 0;
    case SECTION_METHODS:
        return take_method(a, line);
    case SECTION_NONE:
    case SECTION_END:
        break;
    }
    return 0;
}

static int damaged(const struct android *a, int error, const char *what, struct nsc_diag *diag)
{
    uint64_t at = nsc_input_offset(a->job->in);

    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: byte %llu: %s",
                        nsc_input_name(a->job->in), (unsigned long long)at, what);
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* Reads the next line of the input, for free(). Returns 0 or -errno with @diag. */
static int read_line(struct android *a, char **line, struct nsc_diag *diag)
{
    const uint8_t *bytes, *end = NULL;
    size_t count = 0, want = 256;

    for (; end == NULL; want *= 2) {
        int error = nsc_input_need(a->job->in, want, &bytes, &count, diag);

        if (error != 0)
            return error;
        end = memchr(bytes, '\n', count);
        if (end == NULL && count < want)
            return damaged(a, EBADMSG, "the head of the method trace is cut", diag);
        if (end == NULL && want >= LINE_MAX)
            return damaged(a, EBADMSG, "a line of more than 1 MiB", diag);
    }
    *line = strndup((const char *)bytes, (size_t)(end - bytes));
    if (*line == NULL)
        return no_memory(diag);
    nsc_input_take(a->job->in, (size_t)(end - bytes) + 1);
    return 0;
}

static int read_head(struct android *a, struct nsc_diag *diag)
{
    enum section section = SECTION_NONE;
    int error = 0;

    while (section != SECTION_END && error == 0) {
        char *line;

        error = read_line(a, &line, diag);
        if (error != 0)
            return error;
        error = take_line(a, line, &section);
        free(line);
        if (error != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the names: %s",
                                strerror(-error));
    }
    return error;
}

/* Reads the binary header before the records. */
static int read_header(struct android *a, struct nsc_diag *diag)
{
    struct nsc_clock_point point = {0};
    const uint8_t *at;
    size_t count, offset;
    uint64_t start_us;
    int error = nsc_input_need(a->job->in, HEADER_BYTES, &at, &count, diag);

    if (error != 0)
        return error;
    if (count < HEADER_BYTES || memcmp(at, MAGIC, MAGIC_BYTES) != 0)
        return damaged(a, EBADMSG, "no records of a method trace", diag);
    a->version = (uint32_t)at[4] | (uint32_t)at[5] << 8;
    a->streaming = (a->version & STREAMING) != 0;
    a->version &= ~STREAMING;
    offset = (size_t)at[6] | (size_t)at[7] << 8;
    start_us = nsc_span_get64(at + 8);
    a->record_bytes = a->version == 1   ? 9
                      : a->version == 2 ? 10
                                        : (uint32_t)at[16] | (uint32_t)at[17] << 8;
    if (a->version < 1 || a->version > 3)
        return damaged(a, ENOTSUP, "a version of the method trace that is not read; 1, 2 and 3 are",
                       diag);
    if (offset < 18 || a->record_bytes < 9 || a->record_bytes > RECORD_MAX ||
        (a->version == 3 && a->record_bytes < 10))
        return damaged(a, EBADMSG, "a header of the method trace that cannot be", diag);
    error = nsc_input_need(a->job->in, offset, &at, &count, diag);
    if (error != 0 || count < offset)
        return error != 0 ? error : damaged(a, EBADMSG, "a header that is cut", diag);
    nsc_input_take(a->job->in, offset);
    if (start_us >= TIME_LIMIT_US)
        start_us = 0;
    if (start_us >= CALENDAR_US)
        point.realtime_ns = start_us * 1000;
    else
        point.monotonic_ns = start_us * 1000;
    error = nsc_writer_clock_frequency(a->job->writer, 1000000000);
    return error == 0 ? nsc_writer_clock(a->job->writer, &point) : error;
}

/* ---- Records ------------------------------------------------------------------------------ */

static int begin_thread(struct android *a, struct thread *t, uint32_t tid)
{
    t->about = (struct nsc_thread){.process = a->process, .tid = tid, .name = ""};
    a->job->threads++;
    return nsc_writer_add_thread(a->job->writer, &t->about, &t->id, &t->lane);
}

/* Returns the time, in us, nearest to @near whose low 32 bits are @low. They wrap every 71 minutes.
 */
static uint64_t nearest(uint64_t near, uint32_t low)
{
    uint64_t value = (near & ~(uint64_t)UINT32_MAX) | low;

    if (value + WRAP_US / 2 < near)
        return value + WRAP_US;
    return value > near + WRAP_US / 2 && value >= WRAP_US ? value - WRAP_US : value;
}

/* Adds wraps (WRAP_US) to @value until it is at most BACK_US before @last. A clock is set back by
 * at most that much. */
static uint64_t not_before(uint64_t last, uint64_t value)
{
    while (value + BACK_US < last)
        value += WRAP_US;
    return value;
}

/*
 * Returns the full time, in us, of a record with the low 32 bits @low. Records are roughly in time
 * order, so the latest time of all threads is near, however long the record's thread has paused.
 *
 * Some runtimes buffer the records of each thread before streaming them (a->apart). Then only the
 * times of the same thread are a reference. Until that is detected, a record that seems to be
 * far ahead (BACK_US), in the next wrap of the 32 bits, may be an old, buffered one. In streaming
 * mode, it is therefore placed in the current wrap.
 */
static uint64_t time_of(struct android *a, const struct thread *t, uint32_t low)
{
    uint64_t last = t->lane != NULL ? t->last_us : 0, us;

    if (a->cpu_only || (a->apart && t->lane != NULL)) {
        us = not_before(last, nearest(last, low));
    } else {
        us = nearest(a->latest_us, low);
        if (a->streaming && us > a->latest_us + BACK_US && us / WRAP_US > a->latest_us / WRAP_US)
            us -= WRAP_US;
        us = not_before(last, us);
    }
    a->apart |= a->streaming && us + APART_US < a->latest_us;
    if (us > a->latest_us)
        a->latest_us = us;
    return us;
}

static int add_sample(struct android *a, struct thread *t, uint64_t ns)
{
    struct nsc_note note = {.ticks = ns, .kind = NSC_NOTE_SAMPLE, .owner = t->id};

    if (t->sampled_ns != 0 && ns - (t->sampled_ns - 1) < SAMPLE_EVERY_NS)
        return 0;
    t->sampled_ns = ns + 1;
    note.sample.known = 1u << NSC_SAMPLE_CPU_NS;
    note.sample.values[NSC_SAMPLE_CPU_NS] = t->cpu_us * 1000;
    return nsc_writer_note(a->job->writer, &note);
}

static void take_action(struct android *a, struct thread *t, uint32_t action, uint32_t function,
                        uint64_t ns)
{
    switch (action) {
    case ACTION_ENTER:
        if (nsc_lane_depth(t->lane) < DEPTH_LIMIT)
            nsc_lane_enter(t->lane, ns, function, 0);
        else
            a->too_deep++;
        break;
    case ACTION_EXIT:
    case ACTION_UNROLL:
        nsc_end_by_name(t->lane, ns, function, action == ACTION_UNROLL, false);
        break;
    default:
        a->unknown_actions++;
        break;
    }
}

/* Processes a record. @at, @bytes: the record after its thread number. */
static int take_record(struct android *a, uint32_t tid, const uint8_t *at, size_t bytes)
{
    struct thread *t = need_thread(a, tid);
    bool dual = bytes >= 12; /* has a CPU time, then a wall-clock time */
    uint32_t word = nsc_span_get32(at), time = nsc_span_get32(at + (dual ? 8 : 4));
    uint32_t function;
    uint64_t us;
    int error = find_method(a, word & ~3u, &function);

    if (error != 0 || t == NULL)
        return error != 0 ? error : -ENOMEM;
    us = time_of(a, t, time);
    if (t->lane == NULL)
        error = begin_thread(a, t, tid);
    if (error != 0)
        return error;
    if (us < t->last_us) {
        a->backwards++;
        us = t->last_us;
    }
    if (t->about.end_ticks == 0)
        t->about.start_ticks = us * 1000;
    t->last_us = us;
    t->about.end_ticks = us * 1000;
    a->records++;
    take_action(a, t, word & 3, function, us * 1000);
    if (!dual)
        return 0;
    t->cpu_us = not_before(t->cpu_us, nearest(t->cpu_us, nsc_span_get32(at + 4)));
    return add_sample(a, t, us * 1000);
}

/* ---- Streaming mode ----------------------------------------------------------------------- */

/* Parses the summary, which is the text head, at the end of a streamed trace. */
static int take_summary(struct android *a, const char *text, size_t bytes)
{
    enum section section = SECTION_NONE;
    char *copy = strndup(text, bytes), *at = copy, *line;
    int error = copy == NULL ? -ENOMEM : 0;

    while (error == 0 && section != SECTION_END && (line = strsep(&at, "\n")) != NULL)
        error = take_line(a, line, &section);
    free(copy);
    return error;
}

/* Returns the number of bytes that follow the length field at @head of operation @op. */
static size_t op_bytes(uint32_t op, const uint8_t *head)
{
    if (op == OP_SUMMARY)
        return nsc_span_get32(head);
    return (size_t)head[0] | (size_t)head[1] << 8;
}

/*
 * Processes an operation (method, thread or summary), which is marked by two zero bytes instead of
 * a thread number. Returns 1, 0 after the summary, which is the last one, or -errno with @diag.
 */
static int take_op(struct android *a, struct nsc_diag *diag)
{
    static const size_t heads[] = {0, 2, 4, 4}; /* by operation; OP_THREAD: tid, then length */
    const uint8_t *at;
    size_t count, head, text;
    uint32_t op;
    char *line;
    int error = nsc_input_need(a->job->in, 3 + 4, &at, &count, diag);

    if (error != 0)
        return error;
    op = count >= 3 ? at[2] : 0;
    if (op < OP_METHOD || op > OP_SUMMARY)
        return damaged(a, EBADMSG, "neither a record, a method nor a thread", diag);
    head = 3 + heads[op];
    if (count < head)
        return damaged(a, EBADMSG, "a method trace that is cut", diag);
    text = op_bytes(op, at + (op == OP_THREAD ? 5 : 3));
    if (text > 64u * LINE_MAX)
        return damaged(a, EBADMSG, "a summary that is too long", diag);
    error = nsc_input_need(a->job->in, head + text, &at, &count, diag);
    if (error != 0)
        return error;
    if (count < head + text)
        return damaged(a, EBADMSG, "a method trace that is cut", diag);
    if (op == OP_SUMMARY) {
        error = take_summary(a, (const char *)at + head, text);
    } else if (op == OP_THREAD) {
        error = set_thread_name(a, (uint32_t)at[3] | (uint32_t)at[4] << 8, (const char *)at + head,
                                text);
    } else {
        line = strndup((const char *)at + head, text);
        error = line == NULL ? -ENOMEM : take_method(a, line);
        free(line);
    }
    nsc_input_take(a->job->in, head + text);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the names: %s",
                            strerror(-error));
    return op != OP_SUMMARY;
}

/* Processes the next record or operation. Returns 1, 0 at the end, or -errno with @diag. */
static int take_next(struct android *a, struct nsc_diag *diag)
{
    const uint8_t *at;
    size_t count, number = a->version == 1 && !a->streaming ? 1 : 2;
    uint32_t tid;
    int error = nsc_input_need(a->job->in, a->record_bytes, &at, &count, diag);

    if (error != 0)
        return error;
    if (count == 0 && a->streaming)
        return damaged(a, EBADMSG, "it ends without its summary", diag);
    if (count == 0)
        return 0;
    tid = count >= 2 && number == 2 ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : at[0];
    if (a->streaming && tid == 0 && count >= 2)
        return take_op(a, diag);
    if (count < a->record_bytes)
        return damaged(a, EBADMSG, "a record that is cut", diag);
    error = take_record(a, tid, at + number, a->record_bytes - number);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the calls: %s",
                            strerror(-error));
    nsc_input_take(a->job->in, a->record_bytes);
    return 1;
}

static int read_records(struct android *a, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    uint64_t steps = 0;
    int more;

    while ((more = take_next(a, &fault)) > 0)
        if (++steps % PROGRESS_EVERY == 0)
            nsc_import_progress(a->job, a->job->in);
    if (more == -EBADMSG) {
        nsc_job_notes_add(a->job->notes, "%s; kept what comes before it: %s record%s",
                          fault.message, nsc_units_count(a->records).text,
                          nsc_units_plural(a->records));
        more = 0;
    }
    if (more != 0)
        *diag = fault;
    return more;
}

/* ---- The end ------------------------------------------------------------------------------ */

static int end_threads(struct android *a)
{
    int error = 0;

    for (uint32_t tid = 0; tid < TIDS && error == 0; tid++) {
        struct thread *t = a->threads[tid];

        if (t == NULL || t->lane == NULL)
            continue;
        if (a->overflow) /* an unknown number of events was lost */
            nsc_lane_lost(t->lane, t->about.end_ticks, 0);
        nsc_lane_close(t->lane, t->about.end_ticks);
        t->about.name = t->name != NULL ? t->name : "";
        error = nsc_writer_set_thread(a->job->writer, t->id, &t->about);
    }
    return error == 0 ? nsc_writer_set_process(a->job->writer, a->process, &a->about) : error;
}

static void note_end(const struct android *a)
{
    struct nsc_notes *notes = a->job->notes;
    const char *name = nsc_input_name(a->job->in);

    if (a->overflow)
        nsc_job_notes_add(notes,
                          "%s: its buffer was full before the recording ended: what came then "
                          "is lost",
                          name);
    if (a->cpu_only)
        nsc_job_notes_add(notes,
                          "%s: times are CPU times, each thread's own: threads do not lie side "
                          "by side",
                          name);
    if (a->backwards > 0)
        nsc_job_notes_add(notes, "%s: %s record%s back in time, read as the time before", name,
                          nsc_units_count(a->backwards).text, a->backwards == 1 ? " goes" : "s go");
    if (a->unknown_actions > 0)
        nsc_job_notes_add(notes, "%s: %s record%s of an unknown sort", name,
                          nsc_units_count(a->unknown_actions).text,
                          nsc_units_plural(a->unknown_actions));
    if (a->too_deep > 0)
        nsc_job_notes_add(notes, "%s: %s calls below %s others are left out", name,
                          nsc_units_count(a->too_deep).text, nsc_units_count(DEPTH_LIMIT).text);
}

static int read_all(struct android *a, struct nsc_diag *diag)
{
    const uint8_t *bytes;
    size_t count;
    int error = nsc_writer_add_process(a->job->writer, &a->about, &a->process);

    if (error == 0)
        error = nsc_input_need(a->job->in, MAGIC_BYTES, &bytes, &count, diag);
    if (error == 0 && (count < MAGIC_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0))
        error = read_head(a, diag);
    if (error == 0)
        error = read_header(a, diag);
    if (error == 0)
        error = read_records(a, diag);
    if (error == 0)
        error = end_threads(a);
    return error;
}

static int import_android(struct nsc_import *job, struct nsc_diag *diag)
{
    struct android a = {
        .job = job,
        .about = {.pid = 1, .parent = NSC_NO_ID, .name = job->name, .exit_status = -1},
        .threads = calloc(TIDS, sizeof *a.threads),
    };
    int error = a.threads == NULL ? no_memory(diag) : read_all(&a, diag);

    if (error == 0)
        note_end(&a);
    for (uint32_t tid = 0; a.threads != NULL && tid < TIDS; tid++) {
        if (a.threads[tid] != NULL)
            free(a.threads[tid]->name);
        free(a.threads[tid]);
    }
    free(a.threads);
    nsc_id_map_free(&a.methods);
    nsc_names_free(&a.names);
    return error;
}

static bool sniff_android(const uint8_t *bytes, size_t count)
{
    static const char head[] = "*version\n", other[] = "*version\r\n";

    if (count >= HEADER_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0)
        return true;
    return (count >= sizeof head - 1 && memcmp(bytes, head, sizeof head - 1) == 0) ||
           (count >= sizeof other - 1 && memcmp(bytes, other, sizeof other - 1) == 0);
}

const struct nsc_importer nsc_android_importer = {
    .name = "android",
    .what = "Android's method traces",
    .sniff = sniff_android,
    .run = import_android,
};
