/*
 * notes TRACE - the samples, states, marks and counters of a trace, a line each, by thread:
 *   sample TID MS CPU_MS MAJOR MINOR SWITCHES BYTES OBJECTS ALLOCATED FREED   (- = not known)
 *   state TID MS LASTED_MS STATE      (LASTED - = to the end)
 *   mark TID MS NAME [METADATA], with a "+" behind if it was cut
 *   counter TID MS NAME VALUE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/read/clock.h"
#include "trace/read/reader.h"

static const char *const states[] = {"unknown", "running", "runnable", "sleeping",
                                     "io",      "lock",    "stopped",  "dead"};
static struct nsc_trace *trace;

static void fail(const struct nsc_diag *diag)
{
    fprintf(stderr, "notes: %s\n", diag->message);
    exit(1);
}

static double ms(uint64_t ticks)
{
    return (double)nsc_clock_ns(nsc_trace_clock(trace), ticks) / 1e6;
}

static void show_sample(uint32_t tid, const struct nsc_note *note)
{
    static const enum nsc_sample_field fields[] = {
        NSC_SAMPLE_MAJOR_FAULTS,  NSC_SAMPLE_MINOR_FAULTS,    NSC_SAMPLE_SWITCHES,
        NSC_SAMPLE_PROCESS_BYTES, NSC_SAMPLE_PROCESS_OBJECTS, NSC_SAMPLE_ALLOCATED_BYTES,
        NSC_SAMPLE_FREED_BYTES,
    };
    const struct nsc_sample *s = &note->sample;

    printf("sample %u %.6f %.6f", tid, ms(note->ticks), (double)s->values[NSC_SAMPLE_CPU_NS] / 1e6);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if ((s->known & 1u << fields[i]) != 0)
            printf(" %" PRIu64, s->values[fields[i]]);
        else
            printf(" -");
    printf("\n");
}

static void show_mark(uint32_t tid, const struct nsc_note *note)
{
    printf("mark %u %.6f %s [%s]%s\n", tid, ms(note->ticks), note->mark.name, note->mark.metadata,
           note->mark.cut ? "+" : "");
}

static void show_counter(uint32_t tid, const struct nsc_note *note)
{
    printf("counter %u %.6f %s ", tid, ms(note->ticks), note->counter.name);
    if (note->counter.is_real)
        printf("%g\n", note->counter.real);
    else
        printf("%" PRId64 "\n", note->counter.integer);
}

static void show_notes(uint32_t thread, enum nsc_note_kind kind)
{
    uint32_t tid = nsc_trace_thread(trace, thread)->tid, state = NSC_STATE_UNKNOWN;
    struct nsc_note_cursor *notes;
    struct nsc_note note;
    struct nsc_diag diag;
    double since = 0;
    int more;

    if (nsc_note_cursor_open(trace, kind, thread, false, 0, &notes, &diag) != 0)
        fail(&diag);
    while ((more = nsc_note_cursor_next(notes, &note, &diag)) > 0) {
        if (kind == NSC_NOTE_SAMPLE)
            show_sample(tid, &note);
        if (kind == NSC_NOTE_MARK)
            show_mark(tid, &note);
        if (kind == NSC_NOTE_COUNTER)
            show_counter(tid, &note);
        if (kind != NSC_NOTE_STATE)
            continue;
        if (note.state.old_state != state) {
            fprintf(stderr, "notes: thread %u was %s, not %s\n", tid, states[state],
                    states[note.state.old_state]);
            exit(1);
        }
        if (state != NSC_STATE_UNKNOWN)
            printf("state %u %.6f %.6f %s\n", tid, since, ms(note.ticks) - since, states[state]);
        state = note.state.new_state;
        since = ms(note.ticks);
    }
    if (more < 0)
        fail(&diag);
    if (state != NSC_STATE_UNKNOWN)
        printf("state %u %.6f - %s\n", tid, since, states[state]);
    nsc_note_cursor_close(notes);
}

int main(int argc, char **argv)
{
    struct nsc_diag diag = {.message = "usage: notes TRACE"};

    if (argc != 2 || nsc_trace_open(argv[1], 0, &trace, &diag) != 0)
        fail(&diag);
    for (uint32_t i = 0; i < nsc_trace_info(trace)->thread_count; i++) {
        show_notes(i, NSC_NOTE_SAMPLE);
        show_notes(i, NSC_NOTE_STATE);
        show_notes(i, NSC_NOTE_MARK);
        show_notes(i, NSC_NOTE_COUNTER);
    }
    nsc_trace_close(trace);
    return 0;
}
