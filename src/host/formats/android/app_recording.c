/*
 * app_recording.c - read an app recording, as src/target/android writes it. The format is defined
 * in src/shared/abi/app_recording.h. Called through importers.c. app_methods.c finds the method
 * names. The input is untrusted.
 */
#include "abi/app_recording.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "formats/android/app_methods.h"
#include "formats/import/end_by_name.h"
#include "util/id_map.h"
#include "util/text/units.h"

#define DEPTH_LIMIT            (1u << 20)
#define HEADER_MAX             65536u
#define FREQUENCY_MAX          100000000000u
#define TICKS_MAX              ((uint64_t)1 << 62)
#define LOST_MAX               ((uint64_t)1 << 48)
/* Read a field of a struct of app_recording.h from its bytes. */
#define GET32(at, type, field) nsc_span_get32((at) + offsetof(struct type, field))
#define GET64(at, type, field) nsc_span_get64((at) + offsetof(struct type, field))

struct app {
    struct nsc_import *job;
    struct nsc_methods *methods; /* NULL = no method table */
    uint32_t *functions;         /* by id of methods in the table; NSC_NO_ID = not used yet */
    uint32_t function_count;     /* size of `functions`: number of methods + 1 */
    struct nsc_id_map others;    /* functions of method ids that are not in the table */
    uint32_t process;
    struct nsc_process about_process;
    struct nsc_clock_point start;
    uint64_t frequency;
    char build[65], name[129];
    /* The current thread; lane is NULL if there is none. */
    struct nsc_lane *lane;
    struct nsc_thread about;
    uint32_t thread, number;
    char thread_name[33];
    uint64_t last_ticks, told_lost;
    uint32_t high;
    /* Statistics of the recording. */
    uint64_t words, events, backwards, too_deep, unknown_escapes;
    uint32_t threads;
    bool ended;
};

static int damaged(const struct app *a, const char *what, struct nsc_diag *diag)
{
    uint64_t at = nsc_input_offset(a->job->in);

    return nsc_diag_set(diag, at, EBADMSG, "%s: byte %llu: %s", nsc_input_name(a->job->in),
                        (unsigned long long)at, what);
}

static int cannot_keep(int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the calls: %s",
                        strerror(-error));
}

/* Copies a text that fills its field or ends with NUL. @out: @bytes + 1 bytes. */
static void copy_text(char *out, const uint8_t *at, size_t bytes)
{
    memcpy(out, at, bytes);
    out[bytes] = '\0';
}

/* ---- Methods ------------------------------------------------------------------------------ */

static int add_function(struct app *a, uint32_t id, uint32_t *function)
{
    struct nsc_function f = {.file = "", .module = NSC_NO_ID};
    struct nsc_method method;
    char text[24];

    if (a->methods != NULL && nsc_methods_get(a->methods, id, &method) == 0) {
        f.name = method.signature;
        f.file = method.file;
        f.line = method.line;
    } else {
        snprintf(text, sizeof text, "method %u", id);
        f.name = text;
    }
    f.symbol = f.name;
    return nsc_writer_add_function(a->job->writer, &f, function);
}

/* Gets the function of a method id that is used for the first time or is not in the table. */
static int need_function(struct app *a, uint32_t id, uint32_t *function)
{
    int error;

    if (id < a->function_count) {
        error = add_function(a, id, &a->functions[id]);
        *function = a->functions[id];
        return error;
    }
    *function = nsc_id_map_get(&a->others, id);
    if (*function != NSC_ID_MAP_NEW)
        return 0;
    error = add_function(a, id, function);
    return error == 0 ? nsc_id_map_put(&a->others, id, *function) : error;
}

static int begin_methods(struct app *a, struct nsc_diag *diag)
{
    int error = nsc_app_methods_find(a->job, a->build, &a->methods, diag);

    if (error != 0)
        return error;
    if (a->methods == NULL) {
        nsc_job_notes_add(
            a->job->notes,
            "%s: no table of methods (%s, or the APK, beside it; or import --methods): "
            "methods have numbers",
            nsc_input_name(a->job->in), NSC_METHODS_FILE);
        return 0;
    }
    a->function_count = nsc_methods_count(a->methods) + 1;
    a->functions = malloc(a->function_count * sizeof *a->functions);
    if (a->functions == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    memset(a->functions, 0xff, a->function_count * sizeof *a->functions);
    return 0;
}

/* ---- Events ------------------------------------------------------------------------------- */

static void enter(struct app *a, uint64_t ticks, uint32_t function)
{
    if (nsc_lane_depth(a->lane) < DEPTH_LIMIT)
        nsc_lane_enter(a->lane, ticks, function, 0);
    else
        a->too_deep++;
}

static void leave(struct app *a, uint64_t ticks, uint32_t function)
{
    const struct nsc_lane_frame *top = nsc_lane_top(a->lane);

    if (top != NULL && top->function == function)
        nsc_lane_exit(a->lane, ticks);
    else
        nsc_end_by_name(a->lane, ticks, function, false, a->told_lost > 0);
}

static void take_escape(struct app *a, uint32_t code, uint32_t payload)
{
    if (code == NSC_APP_ESC_CLOCK) {
        a->high = payload;
    } else if (code == NSC_APP_ESC_LOST) {
        nsc_lane_lost(a->lane, a->last_ticks, payload);
        a->told_lost += payload;
    } else {
        a->unknown_escapes++;
    }
}

static int take_event(struct app *a, uint32_t code, uint32_t low, struct nsc_diag *diag)
{
    uint32_t id = code & 0x7fffffff, function;
    uint64_t ticks = (uint64_t)a->high << 32 | low;
    int error;

    if (ticks >= TICKS_MAX)
        return damaged(a, "a time that no timer says", diag);
    function = id < a->function_count ? a->functions[id] : NSC_NO_ID;
    if (function == NSC_NO_ID) {
        error = need_function(a, id, &function);
        if (error != 0)
            return cannot_keep(error, diag);
    }
    if (ticks < a->last_ticks) {
        a->backwards++;
        ticks = a->last_ticks;
    }
    a->last_ticks = ticks;
    a->events++;
    if ((code & 0x80000000u) == 0)
        enter(a, ticks, function);
    else
        leave(a, ticks, function);
    return 0;
}

static int take_words(struct app *a, const uint8_t *at, size_t count, struct nsc_diag *diag)
{
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        uint64_t word = nsc_span_get64(at + 8 * i);
        uint32_t code = (uint32_t)(word >> 32);

        if ((code & 0x7fffffff) == 0)
            continue; /* a slot that was never written */
        if ((code & 0x7fffffff) > NSC_APP_ID_MAX)
            take_escape(a, code, (uint32_t)word);
        else
            error = take_event(a, code, (uint32_t)word, diag);
    }
    a->words += count;
    return error;
}

/* ---- Threads ------------------------------------------------------------------------------ */

static int end_thread(struct app *a, struct nsc_diag *diag)
{
    int error;

    if (a->lane == NULL)
        return 0;
    if (a->about.end_ticks < a->last_ticks)
        a->about.end_ticks = a->last_ticks;
    if (a->about.lost > a->told_lost)
        nsc_lane_lost(a->lane, a->last_ticks, a->about.lost - a->told_lost);
    else
        a->about.lost = a->told_lost;
    nsc_lane_close(a->lane, a->about.end_ticks);
    a->lane = NULL;
    error = nsc_writer_set_thread(a->job->writer, a->thread, &a->about);
    return error == 0 ? 0 : cannot_keep(error, diag);
}

static int begin_thread(struct app *a, uint32_t number, const uint8_t *at, size_t bytes,
                        struct nsc_diag *diag)
{
    int error = end_thread(a, diag);

    if (error != 0)
        return error;
    if (bytes < sizeof(struct nsc_app_thread))
        return damaged(a, "a thread that is cut", diag);
    if (number != a->threads)
        return damaged(a, "a thread out of turn", diag);
    copy_text(a->thread_name, at + offsetof(struct nsc_app_thread, name), 32);
    a->about = (struct nsc_thread){
        .process = a->process,
        .tid = GET32(at, nsc_app_thread, tid),
        .start_ticks = GET64(at, nsc_app_thread, start_ticks),
        .end_ticks = GET64(at, nsc_app_thread, end_ticks),
        .lost = GET64(at, nsc_app_thread, lost),
        .name = a->thread_name,
    };
    if (a->about.start_ticks >= TICKS_MAX || a->about.end_ticks >= TICKS_MAX ||
        a->about.lost > LOST_MAX)
        return damaged(a, "a thread with impossible numbers", diag);
    a->number = number;
    a->last_ticks = a->about.start_ticks;
    a->told_lost = 0;
    error = nsc_writer_add_thread(a->job->writer, &a->about, &a->thread, &a->lane);
    if (error != 0) {
        a->lane = NULL;
        return cannot_keep(error, diag);
    }
    a->threads++;
    return 0;
}

/* ---- Blocks ------------------------------------------------------------------------------- */

static int add_clock(struct app *a, const uint8_t *at, struct nsc_clock_point *point,
                     struct nsc_diag *diag)
{
    *point = (struct nsc_clock_point){
        .ticks = GET64(at, nsc_app_clock, ticks),
        .monotonic_ns = GET64(at, nsc_app_clock, monotonic_ns),
        .boottime_ns = GET64(at, nsc_app_clock, boottime_ns),
        .realtime_ns = GET64(at, nsc_app_clock, realtime_ns),
    };
    /* A device's real-time clock may be set before 1970 (negative) or after 2116 (2^62 ns): treat
     * it as unknown. */
    if (point->realtime_ns >= TICKS_MAX)
        point->realtime_ns = 0;
    if (point->ticks >= TICKS_MAX || point->monotonic_ns >= TICKS_MAX ||
        point->boottime_ns >= TICKS_MAX)
        return damaged(a, "a clock that is impossible", diag);
    return 0;
}

static int take_end(struct app *a, const uint8_t *at, size_t bytes, struct nsc_diag *diag)
{
    struct nsc_clock_point end;
    uint64_t lost;
    int error;

    if (bytes < sizeof(struct nsc_app_end))
        return damaged(a, "an end that is cut", diag);
    error = add_clock(a, at + offsetof(struct nsc_app_end, end), &end, diag);
    if (error != 0)
        return error;
    lost = GET64(at, nsc_app_end, lost);
    if (lost > LOST_MAX || GET64(at, nsc_app_end, words) != a->words ||
        GET32(at, nsc_app_end, threads) != a->threads)
        return damaged(a, "an end of another recording", diag);
    error = end_thread(a, diag);
    if (error != 0)
        return error;
    nsc_writer_set_lost_unattributed(a->job->writer, lost);
    if (end.ticks > a->start.ticks && end.monotonic_ns > a->start.monotonic_ns) {
        error = nsc_writer_clock(a->job->writer, &end);
        a->about_process.end_ticks = end.ticks;
    }
    a->ended = true;
    return error == 0 ? 0 : cannot_keep(error, diag);
}

static int take_payload(struct app *a, const uint8_t *head, const uint8_t *at, size_t bytes,
                        struct nsc_diag *diag)
{
    uint32_t number = GET32(head, nsc_app_block, thread);

    switch (GET32(head, nsc_app_block, kind)) {
    case NSC_APP_BLOCK_THREAD:
        return begin_thread(a, number, at, bytes, diag);
    case NSC_APP_BLOCK_EVENTS:
        if (a->lane == NULL || number != a->number)
            return damaged(a, "events of a thread that is not under way", diag);
        a->high = GET32(head, nsc_app_block, high);
        return take_words(a, at, bytes / 8, diag);
    case NSC_APP_BLOCK_END:
        return take_end(a, at, bytes, diag);
    default:
        return 0; /* an optional block of a later version */
    }
}

/* Reads a block. Returns 1, 0 after the last one, or -errno with @diag. */
static int take_block(struct app *a, struct nsc_diag *diag)
{
    uint8_t head[sizeof(struct nsc_app_block)];
    const uint8_t *at;
    size_t count, bytes;
    int error = nsc_input_need(a->job->in, sizeof head, &at, &count, diag);

    if (error != 0)
        return error;
    if (count < sizeof head)
        return damaged(a, count == 0 ? "it has no end" : "a block that is cut", diag);
    memcpy(head, at, sizeof head);
    bytes = GET32(head, nsc_app_block, bytes);
    if (bytes > NSC_APP_BLOCK_BYTES_MAX || bytes % 8 != 0)
        return damaged(a, "no block of a recording", diag);
    error = nsc_input_need(a->job->in, sizeof head + bytes, &at, &count, diag);
    if (error != 0)
        return error;
    if (count < sizeof head + bytes && GET32(head, nsc_app_block, kind) == NSC_APP_BLOCK_EVENTS &&
        a->lane != NULL) {
        /* Keep the events of a block that is cut. */
        error = take_payload(a, head, at + sizeof head, (count - sizeof head) / 8 * 8, diag);
        return error != 0 ? error : damaged(a, "a block that is cut", diag);
    }
    if (count < sizeof head + bytes)
        return damaged(a, "a block that is cut", diag);
    error = take_payload(a, head, at + sizeof head, bytes, diag);
    nsc_input_take(a->job->in, sizeof head + bytes);
    return error != 0 ? error : !a->ended;
}

/* ---- The file ----------------------------------------------------------------------------- */

/* Parses the header, without fields that later versions may append. */
static int parse_header(struct app *a, const uint8_t *at, struct nsc_diag *diag)
{
    if (GET32(at, nsc_app_header, version) != NSC_APP_VERSION ||
        GET32(at, nsc_app_header, event_bytes) != 8)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "%s: version %u of recordings of apps is not known here: a newer "
                            "nanoscope is needed",
                            nsc_input_name(a->job->in), GET32(at, nsc_app_header, version));
    a->frequency = GET64(at, nsc_app_header, frequency_hz);
    if (a->frequency > FREQUENCY_MAX)
        return damaged(a, "a timer that is impossible", diag);
    copy_text(a->build, at + offsetof(struct nsc_app_header, build), 64);
    copy_text(a->name, at + offsetof(struct nsc_app_header, process), 128);
    a->about_process = (struct nsc_process){
        .pid = GET32(at, nsc_app_header, pid),
        .parent = NSC_NO_ID,
        .name = a->name[0] != '\0' ? a->name : a->job->name,
        .exit_status = -1,
    };
    return add_clock(a, at + offsetof(struct nsc_app_header, start), &a->start, diag);
}

static int read_header(struct app *a, struct nsc_diag *diag)
{
    struct nsc_writer *w = a->job->writer;
    const uint8_t *at;
    size_t count, bytes;
    int error = nsc_input_need(a->job->in, sizeof(struct nsc_app_header), &at, &count, diag);

    if (error != 0)
        return error;
    if (count < sizeof(struct nsc_app_header) || GET64(at, nsc_app_header, magic) != NSC_APP_MAGIC)
        return damaged(a, "no recording of an app", diag);
    error = parse_header(a, at, diag);
    if (error != 0)
        return error;
    bytes = GET32(at, nsc_app_header, header_bytes);
    if (bytes < sizeof(struct nsc_app_header) || bytes > HEADER_MAX)
        return damaged(a, "a header of an impossible size", diag);
    error = nsc_input_need(a->job->in, bytes, &at, &count, diag);
    if (error != 0)
        return error;
    if (count < bytes)
        return damaged(a, "a header that is cut", diag);
    nsc_input_take(a->job->in, bytes);
    a->about_process.start_ticks = a->start.ticks;
    error = nsc_writer_add_process(w, &a->about_process, &a->process);
    if (error == 0 && a->frequency != 0)
        error = nsc_writer_clock_frequency(w, a->frequency);
    if (error == 0)
        error = nsc_writer_clock(w, &a->start);
    if (error == 0 && a->build[0] != '\0')
        error = nsc_writer_meta(w, "app.build", a->build);
    return error == 0 ? 0 : cannot_keep(error, diag);
}

static void note_end(const struct app *a)
{
    const char *name = nsc_input_name(a->job->in);

    if (!a->ended && a->frequency == 0)
        nsc_job_notes_add(a->job->notes,
                          "%s: without its end nobody knows how fast its timer is: times are ticks",
                          name);
    if (a->backwards > 0)
        nsc_job_notes_add(a->job->notes, "%s: %s event%s back in time, read as the time before",
                          name, nsc_units_count(a->backwards).text,
                          a->backwards == 1 ? " goes" : "s go");
    if (a->too_deep > 0)
        nsc_job_notes_add(a->job->notes, "%s: %s calls below %s others are left out", name,
                          nsc_units_count(a->too_deep).text, nsc_units_count(DEPTH_LIMIT).text);
    if (a->unknown_escapes > 0)
        nsc_job_notes_add(a->job->notes, "%s: %s record%s of an unknown sort", name,
                          nsc_units_count(a->unknown_escapes).text,
                          nsc_units_plural(a->unknown_escapes));
    if (a->methods != NULL && a->others.count > 0)
        nsc_job_notes_add(a->job->notes, "%s: %u method%s not in the table", name, a->others.count,
                          a->others.count == 1 ? " is" : "s are");
}

/* Reads all blocks. Damage after the first event becomes a note for the user. */
static int read_blocks(struct app *a, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    int more, error;

    while ((more = take_block(a, &fault)) > 0)
        nsc_import_progress(a->job, a->job->in);
    error = nsc_import_judge(a->job, more, a->events, "event", &fault);
    if (error != 0)
        *diag = fault;
    else
        error = end_thread(a, diag);
    if (error == 0)
        error = nsc_writer_set_process(a->job->writer, a->process, &a->about_process);
    return error;
}

static int import_app(struct nsc_import *job, struct nsc_diag *diag)
{
    struct app a = {.job = job};
    int error = read_header(&a, diag);

    if (error == 0)
        error = begin_methods(&a, diag);
    if (error == 0)
        error = read_blocks(&a, diag);
    if (error == 0)
        note_end(&a);
    job->threads = a.threads;
    nsc_methods_free(a.methods);
    nsc_id_map_free(&a.others);
    free(a.functions);
    return error;
}

static bool sniff_app(const uint8_t *bytes, size_t count)
{
    return count >= 8 && nsc_span_get64(bytes) == NSC_APP_MAGIC;
}

const struct nsc_importer nsc_app_importer = {
    .name = "app",
    .what = "recordings of apps",
    .sniff = sniff_app,
    .run = import_app,
    .takes_methods = true,
};
