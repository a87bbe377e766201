/*
 * pprof.c - write a trace as a profile for Google's pprof: gzipped protobuf. Called through
 * exporters.c.
 *
 * Each distinct stack is one sample, with its number of calls and the self time of its innermost
 * function. Each function is one location, since call sites are not recorded.
 * Source: google/pprof, proto/profile.proto.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/call_paths.h"
#include "formats/export/export.h"
#include "util/protobuf.h"
#include "util/text/name_text.h"

/* Field numbers. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_DEFAULT_TYPE = 14,

    TYPE_TYPE = 1,
    TYPE_UNIT = 2,

    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    LABEL_NUMBER = 3,

    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,

    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,

    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5,
};

/* The string table holds, in this order: these fixed strings, path and build ID of each module, the
 * name of each thread, and name, symbol and file of each function. */
static const char *const fixed[] = {"", "calls", "count", "time", "nanoseconds", "thread", "tid"};
enum { STRING_CALLS = 1, STRING_COUNT, STRING_TIME, STRING_NS, STRING_THREAD, STRING_TID };
#define FIXED_COUNT (sizeof fixed / sizeof fixed[0])

struct pprof {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_paths paths;
};

static uint64_t module_string(uint32_t module)
{
    return FIXED_COUNT + 2 * (uint64_t)module;
}

static uint64_t thread_string(const struct pprof *p, uint32_t thread)
{
    return module_string(p->job->info->module_count) + thread;
}

static uint64_t function_string(const struct pprof *p, uint32_t number)
{
    return thread_string(p, p->job->info->thread_count) + 3 * (uint64_t)number;
}

static void put_leb(struct pprof *p, uint64_t value)
{
    p->out->at = nsc_leb_put(nsc_output_room(p->out, 10), value);
}

static void put_u64(struct pprof *p, uint32_t field, uint64_t value)
{
    put_leb(p, NSC_PROTOBUF_VARINT(field));
    put_leb(p, value);
}

/* Writes the header of a length-delimited field; the caller writes its @bytes bytes. */
static void put_head(struct pprof *p, uint32_t field, size_t bytes)
{
    put_leb(p, NSC_PROTOBUF_BYTES(field));
    put_leb(p, bytes);
}

static void put_message(struct pprof *p, uint32_t field, const uint8_t *message, const uint8_t *end)
{
    put_head(p, field, (size_t)(end - message));
    nsc_output_put(p->out, message, (size_t)(end - message));
}

static void put_string(struct pprof *p, const char *text)
{
    put_head(p, PROFILE_STRING, strlen(text));
    nsc_output_text(p->out, text);
}

static int put_clean_string(struct pprof *p, const char *text)
{
    size_t bytes;
    char *clean = nsc_names_utf8(text, &bytes);

    if (clean == NULL)
        return -ENOMEM;
    put_string(p, clean);
    free(clean);
    return 0;
}

static void put_type(struct pprof *p, uint64_t type, uint64_t unit)
{
    uint8_t message[32];
    uint8_t *at = nsc_protobuf_u64(message, TYPE_TYPE, type);

    at = nsc_protobuf_u64(at, TYPE_UNIT, unit);
    put_message(p, PROFILE_SAMPLE_TYPE, message, at);
}

static size_t leb_bytes(uint64_t value)
{
    uint8_t room[10];

    return (size_t)(nsc_leb_put(room, value) - room);
}

/* Writes the rest of a sample, after its locations: the values, and labels for its thread unless
 * @thread is NSC_NO_ID. */
static uint8_t *put_values(struct pprof *p, uint8_t *at, const struct nsc_path *s, uint32_t thread)
{
    uint8_t values[32], *end = nsc_leb_put(values, s->calls);
    uint8_t *m;

    end = nsc_leb_put(end, nsc_clock_span_ns(p->job->clock, s->self_ticks));
    at = nsc_protobuf_bytes(at, SAMPLE_VALUES, values, (size_t)(end - values));
    if (thread == NSC_NO_ID)
        return at;
    m = nsc_protobuf_open(&at, SAMPLE_LABEL);
    at = nsc_protobuf_u64(at, LABEL_KEY, STRING_THREAD);
    at = nsc_protobuf_u64(at, LABEL_STRING, thread_string(p, thread));
    nsc_protobuf_close(m, at);
    m = nsc_protobuf_open(&at, SAMPLE_LABEL);
    at = nsc_protobuf_u64(at, LABEL_KEY, STRING_TID);
    at = nsc_protobuf_u64(at, LABEL_NUMBER, nsc_trace_thread(p->job->trace, thread)->tid);
    nsc_protobuf_close(m, at);
    return at;
}

/* Writes the sample of a stack. A location's id is its function's number + 1. The size of the
 * locations, which is limited only by --depth, is computed before they are written. */
static int put_sample(struct pprof *p, uint32_t stack)
{
    const struct nsc_path *all = p->paths.all;
    const uint32_t *path;
    uint32_t depth = nsc_paths_outward(&p->paths, stack, &path), thread = NSC_NO_ID;
    uint8_t tail[128], *end;
    size_t bytes = 0;

    if (depth == 0)
        return -ENOMEM;
    if (all[path[depth - 1]].is_thread)
        thread = all[path[--depth]].function;
    for (uint32_t i = 0; i < depth; i++) {
        const struct nsc_cooked *name = nsc_export_name(p->job, all[path[i]].function);

        if (name == NULL)
            return -ENOMEM;
        bytes += leb_bytes(name->number + 1ull);
    }
    end = put_values(p, tail, &all[stack], thread);
    put_head(p, PROFILE_SAMPLE, 1 + leb_bytes(bytes) + bytes + (size_t)(end - tail));
    put_head(p, SAMPLE_LOCATIONS, bytes);
    for (uint32_t i = 0; i < depth; i++)
        put_leb(p, p->job->cooked[all[path[i]].function].number + 1ull);
    nsc_output_put(p->out, tail, (size_t)(end - tail));
    return 0;
}

static int put_samples(struct pprof *p)
{
    for (uint32_t i = 0; i < p->paths.count && nsc_output_error(p->out) == 0; i++) {
        const struct nsc_path *s = &p->paths.all[i];

        if ((s->calls > 0 || s->self_ticks > 0) && !s->is_thread && put_sample(p, i) != 0)
            return -ENOMEM;
    }
    return 0;
}

static void put_modules(struct pprof *p)
{
    uint8_t message[64];

    for (uint32_t i = 0; i < p->job->info->module_count; i++) {
        uint8_t *at = nsc_protobuf_u64(message, MAPPING_ID, i + 1ull);

        at = nsc_protobuf_u64(at, MAPPING_FILE, module_string(i));
        at = nsc_protobuf_u64(at, MAPPING_BUILD_ID, module_string(i) + 1);
        /* Prevents pprof from symbolizing: the profile has no addresses. */
        at = nsc_protobuf_u64(at, MAPPING_HAS_FUNCTIONS, 1);
        at = nsc_protobuf_u64(at, MAPPING_HAS_FILES, 1);
        at = nsc_protobuf_u64(at, MAPPING_HAS_LINES, 1);
        put_message(p, PROFILE_MAPPING, message, at);
    }
}

static void put_functions(struct pprof *p)
{
    uint8_t message[96], *at, *m;

    for (uint32_t i = 0; i < p->job->used_count; i++) {
        const struct nsc_function *f = nsc_trace_function(p->job->trace, p->job->used[i]);

        at = nsc_protobuf_u64(message, LOCATION_ID, i + 1ull);
        if (f->module != NSC_NO_ID)
            at = nsc_protobuf_u64(at, LOCATION_MAPPING, f->module + 1ull);
        m = nsc_protobuf_open(&at, LOCATION_LINE);
        at = nsc_protobuf_u64(at, LINE_FUNCTION, i + 1ull);
        at = nsc_protobuf_u64(at, LINE_LINE, f->line);
        nsc_protobuf_close(m, at);
        put_message(p, PROFILE_LOCATION, message, at);

        at = nsc_protobuf_u64(message, FUNCTION_ID, i + 1ull);
        at = nsc_protobuf_u64(at, FUNCTION_NAME, function_string(p, i));
        /* Omitted if equal to the name: pprof would take it for a mangled name and shorten the
         * name. */
        if (strcmp(f->symbol, f->name) != 0)
            at = nsc_protobuf_u64(at, FUNCTION_SYSTEM_NAME, function_string(p, i) + 1);
        at = nsc_protobuf_u64(at, FUNCTION_FILE, function_string(p, i) + 2);
        at = nsc_protobuf_u64(at, FUNCTION_LINE, f->line);
        put_message(p, PROFILE_FUNCTION, message, at);
    }
}

static void put_build_id(struct pprof *p, const struct nsc_module *module)
{
    char text[2 * sizeof module->build_id + 1] = "";

    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(text + (size_t)i * 2, 3, "%02x", module->build_id[i]);
    put_string(p, text);
}

static int put_strings(struct pprof *p)
{
    struct nsc_trace *t = p->job->trace;
    int error = 0;

    for (size_t i = 0; i < FIXED_COUNT; i++)
        put_string(p, fixed[i]);
    for (uint32_t i = 0; i < p->job->info->module_count && error == 0; i++) {
        error = put_clean_string(p, nsc_trace_module(t, i)->path);
        put_build_id(p, nsc_trace_module(t, i));
    }
    for (uint32_t i = 0; i < p->job->info->thread_count && error == 0; i++)
        error = put_clean_string(p, nsc_trace_thread(t, i)->name);
    for (uint32_t i = 0; i < p->job->used_count && error == 0; i++) {
        const struct nsc_function *f = nsc_trace_function(t, p->job->used[i]);

        put_string(p, p->job->cooked[p->job->used[i]].text);
        error = put_clean_string(p, f->symbol);
        if (error == 0)
            error = put_clean_string(p, f->file);
    }
    return error;
}

/* Writes the time and duration of the recording, clipped to the window. */
static void put_time(struct pprof *p)
{
    const struct nsc_export *job = p->job;
    uint64_t from = nsc_clock_ns(job->clock, job->info->start_ticks);
    uint64_t to = nsc_clock_ns(job->clock, job->info->end_ticks);
    uint64_t zero_ns = nsc_trace_zero(job->trace).realtime_ns;

    if (job->options.from_ticks > job->info->start_ticks)
        from = nsc_clock_ns(job->clock, job->options.from_ticks);
    if (job->options.to_ticks < job->info->end_ticks)
        to = nsc_clock_ns(job->clock, job->options.to_ticks);
    if (zero_ns != 0)
        put_u64(p, PROFILE_TIME_NS, zero_ns + from);
    put_u64(p, PROFILE_DURATION_NS, to > from ? to - from : 0);
}

static int put_profile(struct pprof *p)
{
    int error;

    put_type(p, STRING_CALLS, STRING_COUNT);
    put_type(p, STRING_TIME, STRING_NS);
    put_u64(p, PROFILE_DEFAULT_TYPE,
            p->job->options.weight == NSC_WEIGHT_CALLS ? STRING_CALLS : STRING_TIME);
    put_time(p);
    error = put_samples(p);
    if (error != 0)
        return error;
    put_modules(p);
    put_functions(p);
    return put_strings(p);
}

static char *cook_name(const char *name, size_t *bytes)
{
    return nsc_names_utf8(name[0] != '\0' ? name : "(no name)", bytes);
}

static int export_pprof(struct nsc_export *job, struct nsc_diag *diag)
{
    struct pprof p = {.job = job, .paths.max_depth = job->options.max_depth};
    int error = nsc_output_create(job->path, job->gzip, &p.out, diag);

    if (error != 0)
        return error;
    error = nsc_paths_take_all(&p.paths, job, diag);
    if (error == 0 && put_profile(&p) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    nsc_paths_note_deep(&p.paths, job);
    nsc_export_note_unmarked(job, "pprof");
    nsc_export_note_left_out(job, "pprof", ~0u);
    nsc_paths_free(&p.paths);
    return nsc_export_publish(job, p.out, error, diag);
}

/* Profiles written here begin with the sample type "calls". */
static bool sniff_pprof(const uint8_t *bytes, size_t count)
{
    static const uint8_t start[] = {NSC_PROTOBUF_BYTES(PROFILE_SAMPLE_TYPE), 4,
                                    NSC_PROTOBUF_VARINT(TYPE_TYPE), STRING_CALLS};

    return count >= sizeof start && memcmp(bytes, start, sizeof start) == 0;
}

static const char *const pprof_suffixes[] = {".pprof", ".pb", NULL};

const struct nsc_exporter nsc_pprof_exporter = {
    .name = "pprof",
    .suffixes = pprof_suffixes,
    .form = NSC_FORM_PACKED,
    .sniff = sniff_pprof,
    .cook = cook_name,
    .run = export_pprof,
};
