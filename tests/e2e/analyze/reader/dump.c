/*
 * dump.c - all that libnanoscope-reader tells of a trace, a JSON object a line, for check.py.
 *
 * usage: dump TRACE [FROM_NS TO_NS]. Built outside the source tree, as C99 and as C++, from what is
 * installed. Texts are in hexadecimal, so that check.py sees their bytes.
 */
#include <nanoscope/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 7 /* small, so that there are several */

static struct nanoscope_trace *trace;
static struct nanoscope_facts facts;
static struct nanoscope_error error;

static void must(int64_t code)
{
    if (code >= 0)
        return;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

static void number(const char *key, uint64_t value)
{
    printf(",\"%s\":%llu", key, (unsigned long long)value);
}

static void text(const char *key, const char *value)
{
    printf(",\"%s\":\"", key);
    for (; *value != '\0'; value++)
        printf("%02x", (unsigned)(unsigned char)*value);
    printf("\"");
}

static void begin(const char *kind, uint64_t id)
{
    printf("{\"kind\":\"%s\",\"id\":%llu", kind, (unsigned long long)id);
}

static void end(void)
{
    printf("}\n");
}

static void dump_facts(void)
{
    begin("facts", 0);
    number("calls", facts.calls);
    number("events", facts.events);
    number("lost", facts.lost);
    number("start_ns", facts.start_ns);
    number("end_ns", facts.end_ns);
    number("epoch_ns", facts.epoch_ns);
    number("samples", facts.samples);
    number("states", facts.states);
    number("marks", facts.marks);
    number("counters", facts.counters);
    number("whole", facts.whole);
    text("command", facts.command);
    end();
}

static void dump_tables(void)
{
    uint32_t i;

    for (i = 0; i < facts.processes; i++) {
        struct nanoscope_process p;

        must(nanoscope_trace_process(trace, i, &p, sizeof p));
        begin("process", i);
        number("pid", p.pid);
        number("parent", p.parent);
        number("start_ns", p.start_ns);
        number("end_ns", p.end_ns);
        text("name", p.name);
        end();
    }
    for (i = 0; i < facts.threads; i++) {
        struct nanoscope_thread t;

        must(nanoscope_trace_thread(trace, i, &t, sizeof t));
        begin("thread", i);
        number("process", t.process);
        number("tid", t.tid);
        number("stack", t.stack);
        number("start_ns", t.start_ns);
        number("end_ns", t.end_ns);
        number("lost", t.lost);
        text("name", t.name);
        end();
    }
    for (i = 0; i < facts.functions; i++) {
        struct nanoscope_function f;
        struct nanoscope_module m;

        must(nanoscope_trace_function(trace, i, &f, sizeof f));
        begin("function", i);
        text("name", f.name);
        text("file", f.file);
        number("line", f.line);
        number("canonical", f.canonical);
        if (f.module != NANOSCOPE_NONE) {
            must(nanoscope_trace_module(trace, f.module, &m, sizeof m));
            text("module", m.path);
        }
        end();
    }
    for (i = 0; i < facts.left_out; i++) {
        struct nanoscope_left_out l;

        must(nanoscope_trace_left_out(trace, i, &l, sizeof l));
        begin("left_out", i);
        number("function", l.function);
        number("process", l.process);
        number("known", l.known);
        text("reason", l.reason);
        number("from_ns", l.from_ns);
        number("to_ns", l.to_ns);
        number("calls", l.calls);
        number("total_ns", l.total_ns);
        number("self_ns", l.self_ns);
        end();
    }
}

static void dump_calls(uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
    struct nanoscope_calls_options options;
    struct nanoscope_call batch[BATCH];
    struct nanoscope_calls *calls;
    int64_t count, i;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.from_ns = from_ns;
    options.to_ns = to_ns;
    must(nanoscope_calls_open(trace, thread, &options, &calls, &error));
    while ((count = nanoscope_calls_read(calls, batch, sizeof batch[0], BATCH, &error)) > 0)
        for (i = 0; i < count; i++) {
            begin("call", thread);
            number("start_ns", batch[i].start_ns);
            number("end_ns", batch[i].end_ns);
            number("duration_ns", batch[i].duration_ns);
            number("self_ns", batch[i].self_ns);
            number("number", batch[i].number);
            number("parent", batch[i].parent);
            number("function", batch[i].function);
            number("caller", batch[i].caller);
            number("depth", batch[i].depth);
            number("bound", batch[i].bound);
            end();
        }
    must(count);
    nanoscope_calls_close(calls);
}

static void dump_totals(uint64_t from_ns, uint64_t to_ns)
{
    struct nanoscope_totals_options options;
    struct nanoscope_total batch[BATCH];
    struct nanoscope_totals *totals;
    int64_t count, i;
    size_t at = 0;

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.from_ns = from_ns;
    options.to_ns = to_ns;
    must(nanoscope_totals_make(trace, &options, &totals, &error));
    while ((count = nanoscope_totals_read(totals, at, batch, sizeof batch[0], BATCH)) > 0) {
        at += (size_t)count;
        for (i = 0; i < count; i++) {
            begin("total", batch[i].function);
            number("calls", batch[i].calls);
            number("bounds", batch[i].bounds);
            number("total_ns", batch[i].total_ns);
            number("self_ns", batch[i].self_ns);
            number("min_ns", batch[i].min_ns);
            number("p50_ns", batch[i].p50_ns);
            number("p90_ns", batch[i].p90_ns);
            number("p99_ns", batch[i].p99_ns);
            number("max_ns", batch[i].max_ns);
            end();
        }
    }
    nanoscope_totals_close(totals);
}

static void dump_losses(void)
{
    struct nanoscope_loss batch[BATCH];
    struct nanoscope_losses *losses;
    int64_t count, i;
    size_t at = 0;

    must(nanoscope_losses_find(trace, &losses, &error));
    while ((count = nanoscope_losses_read(losses, at, batch, sizeof batch[0], BATCH)) > 0) {
        at += (size_t)count;
        for (i = 0; i < count; i++) {
            begin("loss", batch[i].thread);
            number("time_ns", batch[i].time_ns);
            number("events", batch[i].events);
            end();
        }
    }
    nanoscope_losses_close(losses);
}

static void dump_thread_notes(uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
    struct nanoscope_notes *notes;
    struct nanoscope_sample sample;
    struct nanoscope_state state;
    struct nanoscope_mark_note mark;
    int more;

    must(nanoscope_notes_open(trace, NANOSCOPE_SAMPLES, thread, from_ns, to_ns, &notes, &error));
    while ((more = nanoscope_notes_sample(notes, &sample, sizeof sample, &error)) > 0) {
        begin("sample", thread);
        number("time_ns", sample.time_ns);
        number("known", sample.known);
        number("cpu_ns", sample.values[NANOSCOPE_SAMPLE_CPU_NS]);
        number("freed_bytes", sample.values[NANOSCOPE_SAMPLE_FREED_BYTES]);
        number("more", sample.values[31]);
        end();
    }
    must(more);
    nanoscope_notes_close(notes);
    must(nanoscope_notes_open(trace, NANOSCOPE_STATES, thread, from_ns, to_ns, &notes, &error));
    while ((more = nanoscope_notes_state(notes, &state, sizeof state, &error)) > 0) {
        begin("state", thread);
        number("time_ns", state.time_ns);
        number("state", state.new_state);
        text("name", state.name);
        end();
    }
    must(more);
    nanoscope_notes_close(notes);
    must(nanoscope_notes_open(trace, NANOSCOPE_MARKS, thread, from_ns, to_ns, &notes, &error));
    while ((more = nanoscope_notes_mark(notes, &mark, sizeof mark, &error)) > 0) {
        begin("mark", thread);
        number("time_ns", mark.time_ns);
        text("name", mark.name);
        text("text", mark.text);
        end();
    }
    must(more);
    nanoscope_notes_close(notes);
}

static void dump_counters(enum nanoscope_note_kind kind, uint32_t owner, uint64_t from_ns,
                          uint64_t to_ns)
{
    struct nanoscope_notes *notes;
    struct nanoscope_counter_note counter;
    int more;

    must(nanoscope_notes_open(trace, kind, owner, from_ns, to_ns, &notes, &error));
    while ((more = nanoscope_notes_counter(notes, &counter, sizeof counter, &error)) > 0) {
        begin(kind == NANOSCOPE_COUNTERS ? "counter" : "process_counter", owner);
        number("time_ns", counter.time_ns);
        text("name", counter.name);
        if (counter.is_real != 0)
            printf(",\"value\":%.17g", counter.real);
        else
            printf(",\"value\":%lld", (long long)counter.integer);
        end();
    }
    must(more);
    nanoscope_notes_close(notes);
}

int main(int argc, char **argv)
{
    uint64_t from_ns = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t to_ns = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    uint32_t i;

    error.size = sizeof error;
    must(nanoscope_trace_open(argc > 1 ? argv[1] : "", 0, &trace, &error));
    must(nanoscope_trace_facts(trace, &facts, sizeof facts));
    dump_facts();
    dump_tables();
    dump_totals(from_ns, to_ns);
    dump_losses();
    for (i = 0; i < facts.threads; i++) {
        dump_calls(i, from_ns, to_ns);
        dump_thread_notes(i, from_ns, to_ns);
        dump_counters(NANOSCOPE_COUNTERS, i, from_ns, to_ns);
    }
    for (i = 0; i < facts.processes; i++)
        dump_counters(NANOSCOPE_PROCESS_COUNTERS, i, from_ns, to_ns);
    nanoscope_trace_close(trace);
    return 0;
}
