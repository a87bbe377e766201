/* test_trace.c - what goes into a .nst file comes out: events, tables, heads, seeking. */
#include <errno.h>
#include <unistd.h>

#include "tap.h"
#include "unit/rigs/trace_model.h"

static char folder[] = "/tmp/nsc-test-trace-XXXXXX";
static char path[64];

static struct nsc_writer *create(bool compress, size_t memory)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = memory, .compress = compress, .overwrite = true};
    struct nsc_writer *w = NULL;
    struct nsc_diag diag = {0};

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        printf("# create: %s\n", diag.message);
    return w;
}

static struct nsc_trace *finish_and_open(struct nsc_writer *w)
{
    struct nsc_trace *t = NULL;
    struct nsc_diag diag = {0};

    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s at %lld\n", diag.message, (long long)diag.offset);
    return t;
}

/* Number of the thread's events that agree with the model, reading from the start. */
static size_t agreeing(struct nsc_trace *t, const struct model_thread *m)
{
    struct nsc_cursor *c;
    struct nsc_diag diag = {0};
    const struct nsc_event *events;
    size_t count, at = 0;
    int more;

    if (nsc_cursor_open(t, m->id, 0, &c, &diag) != 0)
        return 0;
    while ((more = nsc_cursor_next(c, &events, &count, &diag)) == 1)
        for (size_t i = 0; i < count && at < m->count; i++, at++)
            if (!model_same(&m->events[at], &events[i])) {
                printf("# thread %u event %zu differs\n", m->id, at);
                nsc_cursor_close(c);
                return at;
            }
    if (more < 0)
        printf("# %s at %lld\n", diag.message, (long long)diag.offset);
    nsc_cursor_close(c);
    return more == 0 ? at : 0;
}

/* Seek into the middle: the cursor's stack and its events must be the model's from there on. */
static bool seeks(struct nsc_trace *t, const struct model_thread *m, uint64_t ticks)
{
    struct nsc_cursor *c;
    const struct nsc_frame *frames;
    const struct nsc_event *events;
    uint32_t depth, model_depth = 0, *stack = calloc(m->count + 1, sizeof *stack);
    size_t count, at = 0;
    bool good = stack != NULL && nsc_cursor_open(t, m->id, ticks, &c, NULL) == 0;

    if (!good) {
        free(stack);
        return false;
    }
    nsc_cursor_stack(c, &frames, &depth);
    frames =
        depth == 0 ? NULL : memcpy(calloc(depth, sizeof *frames), frames, depth * sizeof *frames);
    good = nsc_cursor_next(c, &events, &count, NULL) == 1 && events[0].ticks <= ticks;
    while (at < m->count && !(m->count - at >= count && model_same(&m->events[at], &events[0]) &&
                              model_same(&m->events[at + count - 1], &events[count - 1]))) {
        if (m->events[at].kind == NSC_EVENT_ENTER)
            stack[model_depth++] = m->events[at].function;
        else if (m->events[at].kind == NSC_EVENT_EXIT || m->events[at].kind == NSC_EVENT_UNWIND)
            model_depth--;
        at++;
    }
    good = good && at < m->count && model_depth == depth;
    for (uint32_t i = 0; good && i < depth; i++)
        good = frames[i].function == stack[i];
    free(stack);
    free((void *)(uintptr_t)frames);
    nsc_cursor_close(c);
    return good;
}

static void test_round_trip(bool compress, size_t memory, uint32_t threads, size_t steps,
                            uint32_t functions, uint32_t max_depth, uint32_t pause)
{
    struct nsc_writer *w = create(compress, memory);
    struct model_thread *m = calloc(threads, sizeof *m);
    struct model_random r = {steps + threads};
    uint64_t events = 0, calls = 0, agreed = 0, sought = 0;
    struct nsc_trace *t;

    model_tables(w, m, threads, functions);
    for (size_t i = 0; i < steps; i++)
        model_step(&m[(i >> 7) * 7919 % threads], &r, functions, max_depth, pause);
    for (uint32_t i = 0; i < threads; i++) {
        model_close(&m[i]);
        for (size_t k = 0; k < m[i].count; k++) {
            events += m[i].events[k].kind != NSC_EVENT_LOST;
            calls += m[i].events[k].kind == NSC_EVENT_ENTER ||
                     m[i].events[k].kind == NSC_EVENT_LATE_EXIT;
        }
    }
    CHECK_U64(nsc_writer_calls(w), calls);
    t = finish_and_open(w);
    if (!CHECK(t != NULL))
        return;
    CHECK(nsc_trace_info(t)->compressed == compress);
    CHECK_U64(nsc_trace_info(t)->events, events);
    CHECK_U64(nsc_trace_info(t)->calls, calls);
    CHECK_U64(nsc_trace_info(t)->thread_count, threads);
    for (uint32_t i = 0; i < threads; i++) {
        agreed += agreeing(t, &m[i]) == m[i].count;
        sought += m[i].count == 0 || seeks(t, &m[i], m[i].events[m[i].count / 2].ticks);
    }
    CHECK_U64(agreed, threads);
    CHECK_U64(sought, threads);
    printf("# %.2f bytes a call, %llu chunks\n",
           (double)nsc_trace_info(t)->file_bytes / (double)calls,
           (unsigned long long)nsc_trace_info(t)->chunks);
    nsc_trace_close(t);
    for (uint32_t i = 0; i < threads; i++)
        model_free(&m[i]);
    free(m);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    test_round_trip(false, 0, 1, 10, 3, 5, 20);
    test_round_trip(false, 0, 1, 2000000, 500, 40, 30);
    test_round_trip(true, 0, 3, 500000, 500, 40, 30);
    test_round_trip(false, 0, 4, 300000, 30000, 3000, 52);
    test_round_trip(false, 1 << 20, 300, 1000000, 2000, 100, 30);
    unlink(path);
    rmdir(folder);
    return t_done();
}
