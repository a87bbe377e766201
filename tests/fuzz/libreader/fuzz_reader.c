/*
 * Fuzzes libnanoscope-reader, through its public header alone, with traces that say anything: what
 * it gives must hold together, and every failure must have a message.
 *
 * Build and run: make fuzz
 */
#include <nanoscope/reader.h>

#include "fuzz/rigs/trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define CALLS_MAX (1u << 17) /* a compressed chunk can be long: no use in reading all of it */

static struct nanoscope_error error;

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The caller goes on if it is no failure. */
static bool fine(int64_t code)
{
    must(code >= 0 || error.message[0] != '\0');
    return code >= 0;
}

static void read_tables(const struct nanoscope_trace *trace, const struct nanoscope_facts *facts)
{
    size_t sum = strlen(facts->command) + strlen(facts->warning);

    for (uint32_t i = 0; i <= facts->functions; i++) {
        struct nanoscope_function f;
        struct nanoscope_module m;
        int code = nanoscope_trace_function(trace, i, &f, sizeof f);

        must((code == 0) == (i < facts->functions));
        if (code != 0)
            continue;
        sum += strlen(f.name) + strlen(f.symbol) + strlen(f.file);
        must(f.canonical < facts->functions);
        if (f.module != NANOSCOPE_NONE) {
            must(nanoscope_trace_module(trace, f.module, &m, sizeof m) == 0);
            sum += strlen(m.path) + m.build_id_bytes;
        }
    }
    for (uint32_t i = 0; i < facts->threads; i++) {
        struct nanoscope_thread t;
        struct nanoscope_process p;

        must(nanoscope_trace_thread(trace, i, &t, sizeof t) == 0);
        must(nanoscope_trace_process(trace, t.process, &p, sizeof p) == 0);
        sum += strlen(t.name) + strlen(p.name);
    }
    for (uint32_t i = 0; i < facts->left_out; i++) {
        struct nanoscope_left_out l;

        must(nanoscope_trace_left_out(trace, i, &l, sizeof l) == 0);
        sum += strlen(l.reason);
    }
    must(sum < SIZE_MAX);
}

static void read_calls(struct nanoscope_trace *trace, uint32_t thread, uint64_t from_ns,
                       uint64_t to_ns)
{
    struct nanoscope_calls_options options = {
        .size = sizeof options, .from_ns = from_ns, .to_ns = to_ns};
    struct nanoscope_function f;
    struct nanoscope_calls *calls;
    struct nanoscope_call batch[64];
    uint64_t last_ns = 0, seen = 0;
    int64_t count;

    if (!fine(nanoscope_calls_open(trace, thread, &options, &calls, &error)))
        return;
    while (seen < CALLS_MAX &&
           fine(count = nanoscope_calls_read(calls, batch, sizeof batch[0], 64, &error)) &&
           count > 0)
        for (int64_t i = 0; i < count; i++, seen++) {
            must(batch[i].start_ns <= batch[i].end_ns && last_ns <= batch[i].end_ns);
            must(nanoscope_trace_function(trace, batch[i].function, &f, sizeof f) == 0);
            last_ns = batch[i].end_ns;
        }
    nanoscope_calls_close(calls);
}

static void read_losses(struct nanoscope_trace *trace, uint32_t threads)
{
    struct nanoscope_losses *losses;
    struct nanoscope_loss loss;

    if (!fine(nanoscope_losses_find(trace, &losses, &error)))
        return;
    for (size_t i = 0; nanoscope_losses_read(losses, i, &loss, sizeof loss, 1) > 0; i++)
        must(loss.thread < threads || loss.thread == NANOSCOPE_NONE);
    nanoscope_losses_close(losses);
}

static void read_sums(struct nanoscope_trace *trace, uint64_t from_ns, uint64_t to_ns)
{
    struct nanoscope_totals_options options = {
        .size = sizeof options, .from_ns = from_ns, .to_ns = to_ns};
    struct nanoscope_totals *totals;
    struct nanoscope_total total;

    if (!fine(nanoscope_totals_make(trace, &options, &totals, &error)))
        return;
    for (size_t i = 0; nanoscope_totals_read(totals, i, &total, sizeof total, 1) > 0; i++)
        must(total.calls > 0 && total.min_ns <= total.max_ns);
    nanoscope_totals_close(totals);
}

static int next_note(struct nanoscope_notes *notes, unsigned kind, uint64_t *ns)
{
    union {
        struct nanoscope_sample sample;
        struct nanoscope_state state;
        struct nanoscope_mark_note mark;
        struct nanoscope_counter_note counter;
    } n;
    int more;

    if (kind == NANOSCOPE_SAMPLES)
        more = nanoscope_notes_sample(notes, &n.sample, sizeof n.sample, &error);
    else if (kind == NANOSCOPE_STATES)
        more = nanoscope_notes_state(notes, &n.state, sizeof n.state, &error);
    else if (kind == NANOSCOPE_MARKS)
        more = nanoscope_notes_mark(notes, &n.mark, sizeof n.mark, &error);
    else
        more = nanoscope_notes_counter(notes, &n.counter, sizeof n.counter, &error);
    if (more > 0)
        *ns = n.sample.time_ns; /* all begin with it */
    if (more > 0 && kind == NANOSCOPE_MARKS)
        must(strlen(n.mark.name) + strlen(n.mark.text) < SIZE_MAX);
    return more;
}

static void read_notes(struct nanoscope_trace *trace, unsigned kind, uint32_t owner)
{
    struct nanoscope_notes *notes;
    uint64_t last_ns = 0, ns = 0;

    if (!fine(nanoscope_notes_open(trace, kind, owner, 0, 0, &notes, &error)))
        return;
    for (int more = 1; more > 0 && fine(more); last_ns = ns) {
        more = next_note(notes, kind, &ns);
        must(more <= 0 || ns >= last_ns);
    }
    nanoscope_notes_close(notes);
}

static void read_all(const char *path, unsigned flags)
{
    struct nanoscope_trace *trace;
    struct nanoscope_facts facts;
    uint64_t middle;

    if (!fine(nanoscope_trace_open(path, flags, &trace, &error)))
        return;
    must(nanoscope_trace_facts(trace, &facts, sizeof facts) == 0);
    middle = facts.end_ns / 2;
    read_tables(trace, &facts);
    if (facts.events < CALLS_MAX) {
        read_sums(trace, 0, 0);
        read_sums(trace, middle / 2, middle);
        read_losses(trace, facts.threads);
    }
    for (uint32_t i = 0; i < facts.threads && i < 4; i++) {
        read_calls(trace, i, 0, 0);
        read_calls(trace, i, middle / 2, middle);
        for (unsigned kind = NANOSCOPE_SAMPLES; kind <= NANOSCOPE_COUNTERS; kind++)
            read_notes(trace, kind, i);
    }
    for (uint32_t i = 0; i < facts.processes && i < 4; i++)
        read_notes(trace, NANOSCOPE_PROCESS_COUNTERS, i);
    nanoscope_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_trace_file(data, bytes);

    error = (struct nanoscope_error){.size = sizeof error};
    if (path != NULL) {
        read_all(path, 0);
        read_all(path, NANOSCOPE_OPEN_RECOVER);
    }
    return 0;
}
