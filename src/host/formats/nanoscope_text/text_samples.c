/* text_samples.c - see text_samples.h. */
#include "formats/nanoscope_text/text_samples.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util/text/units.h"

#define TIME_LIMIT (1ull << 62) /* as in text_import.c */

enum { TIMER_COLUMNS = 9, STATE_COLUMNS = 3 };

/* Columns of `.timer` after the time. */
static const enum nsc_sample_field timer_fields[TIMER_COLUMNS - 1] = {
    NSC_SAMPLE_CPU_NS,          NSC_SAMPLE_MAJOR_FAULTS,  NSC_SAMPLE_MINOR_FAULTS,
    NSC_SAMPLE_SWITCHES,        NSC_SAMPLE_PROCESS_BYTES, NSC_SAMPLE_PROCESS_OBJECTS,
    NSC_SAMPLE_ALLOCATED_BYTES, NSC_SAMPLE_FREED_BYTES,
};

const char *nsc_samples_suffix(enum nsc_note_kind kind)
{
    return kind == NSC_NOTE_SAMPLE ? ".timer" : ".state";
}

/* ---- Export ------------------------------------------------------------------------------- */

struct writing {
    struct nsc_export *job;
    struct nsc_output *out;
    uint32_t unknown;
};

static void put_columns(struct nsc_output *out, const uint64_t *values, int count)
{
    uint8_t *at = nsc_output_room(out, 32 * TIMER_COLUMNS);

    for (int i = 0; i < count; i++) {
        if (i > 0) {
            *at++ = ',';
            *at++ = ' ';
        }
        at = nsc_output_digits(at, values[i]);
    }
    *at++ = '\n';
    out->at = at;
}

static int put_note(void *context, const struct nsc_note *note)
{
    struct writing *w = context;
    uint64_t ns = nsc_clock_ns(w->job->clock, note->ticks);

    if (note->kind == NSC_NOTE_STATE) {
        const uint64_t values[] = {ns, note->state.old_state, note->state.new_state};

        put_columns(w->out, values, STATE_COLUMNS);
    } else {
        uint64_t values[TIMER_COLUMNS] = {ns};

        for (int i = 1; i < TIMER_COLUMNS; i++) {
            values[i] = note->sample.values[timer_fields[i - 1]];
            w->unknown |= ~note->sample.known & 1u << timer_fields[i - 1];
        }
        put_columns(w->out, values, TIMER_COLUMNS);
    }
    return nsc_output_error(w->out);
}

int nsc_samples_write(struct nsc_export *job, enum nsc_note_kind kind, uint32_t thread,
                      struct nsc_output *out, uint32_t *unknown, struct nsc_diag *diag)
{
    struct writing w = {job, out, 0};
    int error = nsc_export_notes(job, kind, thread, false, put_note, &w, diag);

    *unknown |= w.unknown;
    return nsc_output_error(out) != 0 ? 0 : error;
}

void nsc_samples_note_unknown(struct nsc_export *job, uint32_t unknown)
{
    char text[256] = "";

    for (int i = 0; i < TIMER_COLUMNS - 1; i++) {
        size_t used = strlen(text);

        if ((unknown >> timer_fields[i] & 1) != 0)
            snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "",
                     nsc_model_sample_field_name(timer_fields[i]));
    }
    if (text[0] != '\0')
        nsc_job_notes_add(&job->result->notes,
                          "samples lack some values, and 0 stands for them: %s", text);
}

/* ---- Import ------------------------------------------------------------------------------- */

/* Parses @count numbers, separated by commas and optional blanks. Returns false if the line is
 * anything else. */
static bool parse_columns(const struct nsc_line *line, uint64_t *values, int count)
{
    const char *at = line->text, *end = at + line->bytes;

    for (int i = 0; i < count; i++) {
        const char *digits;

        if (i > 0 && (at == end || *at++ != ','))
            return false;
        while (i > 0 && at < end && *at == ' ')
            at++;
        digits = at;
        for (values[i] = 0; at < end && *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(values[i], 10u, &values[i]) ||
                __builtin_add_overflow(values[i], (uint64_t)(*at - '0'), &values[i]))
                return false;
        if (at == digits)
            return false;
    }
    return at == end;
}

/* Returns an error message for the line, or NULL. */
static const char *parse_note(const struct nsc_line *line, struct nsc_note *note)
{
    uint64_t values[TIMER_COLUMNS];

    if (note->kind == NSC_NOTE_STATE) {
        if (!parse_columns(line, values, STATE_COLUMNS))
            return "is not \"time, old state, new state\"";
        if (values[1] > UINT32_MAX || values[2] > UINT32_MAX)
            return "has a state beyond 2^32";
        note->state = (struct nsc_state_change){(uint32_t)values[1], (uint32_t)values[2]};
    } else {
        if (!parse_columns(line, values, TIMER_COLUMNS))
            return "is not nine numbers parted by commas";
        note->sample = (struct nsc_sample){.known = 0};
        for (int i = 1; i < TIMER_COLUMNS; i++) {
            note->sample.known |= 1u << timer_fields[i - 1];
            note->sample.values[timer_fields[i - 1]] = values[i];
        }
    }
    note->ticks = values[0];
    return values[0] >= TIME_LIMIT ? "has a time beyond 2^62 ns" : NULL;
}

/* State and result of reading a file. */
struct reading {
    uint64_t kept, last_ticks;
    uint64_t backwards, backwards_line;
};

static int take_line(struct nsc_import *job, const struct nsc_line *line, struct nsc_note *note,
                     struct reading *r, const char *path, struct nsc_diag *diag)
{
    const char *wrong = parse_note(line, note);

    if (wrong != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: line %llu %s", path,
                            (unsigned long long)line->number, wrong);
    if (note->ticks < r->last_ticks && r->backwards++ == 0)
        r->backwards_line = line->number;
    if (note->ticks < r->last_ticks)
        note->ticks = r->last_ticks;
    r->last_ticks = note->ticks;
    r->kept++;
    return nsc_writer_note(job->writer, note);
}

static void tell(struct nsc_import *job, int error, const char *path, const struct reading *r,
                 const struct nsc_diag *fault)
{
    if (error != 0)
        nsc_job_notes_add(job->notes, "%s; kept what comes before it: %s line%s", fault->message,
                          nsc_units_count(r->kept).text, nsc_units_plural(r->kept));
    if (r->backwards > 0)
        nsc_job_notes_add(
            job->notes, "%s: line %llu goes back in time, as do %s in all; read as the time before",
            path, (unsigned long long)r->backwards_line, nsc_units_count(r->backwards).text);
}

int nsc_samples_read(struct nsc_import *job, enum nsc_note_kind kind, uint32_t thread,
                     const char *path, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_note note = {.kind = kind, .owner = thread};
    struct reading r = {0};
    struct nsc_line line;
    struct nsc_input *in;
    struct stat st;
    int more = 1, error;

    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    error = nsc_input_open_beside(path, &in, &fault);
    if (error == 0) {
        while (error == 0 && (more = nsc_input_line(in, &line, &fault)) > 0)
            if (line.bytes > 0)
                error = take_line(job, &line, &note, &r, path, &fault);
        error = error == 0 && more < 0 ? more : error;
        nsc_input_close(in);
    }
    if (nsc_writer_error(job->writer) != 0 || error == -ENOMEM) {
        if (diag != NULL)
            *diag = fault;
        return error;
    }
    tell(job, error, path, &r, &fault);
    return 0;
}
