/*
 * test_reader.c - libnanoscope-reader: programs that are older and newer than the library, damage,
 * arguments that make no sense, options, and a trace in several threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <nanoscope/reader.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define TRACE "tests/golden/small.nst"

static struct nanoscope_error error = {.size = sizeof error};

static struct nanoscope_trace *open_trace(void)
{
    struct nanoscope_trace *trace = NULL;

    CHECK(nanoscope_trace_open(TRACE, 0, &trace, &error) == 0);
    return trace;
}

/* A structure that ends earlier than the library's, and one that goes on behind it. */
static void test_sizes(struct nanoscope_trace *trace)
{
    struct nanoscope_facts facts, part;
    struct {
        struct nanoscope_facts known;
        uint64_t later[3];
    } more;

    memset(&part, 0xa5, sizeof part);
    memset(&more, 0xa5, sizeof more);
    CHECK(nanoscope_trace_facts(trace, &facts, sizeof facts) == 0);
    CHECK(nanoscope_trace_facts(trace, &part, sizeof part.calls) == 0);
    CHECK(part.calls == facts.calls);
    CHECK(part.events == 0xa5a5a5a5a5a5a5a5u);
    CHECK(nanoscope_trace_facts(trace, (void *)&more, sizeof more) == 0);
    CHECK(memcmp(&more.known, &facts, sizeof facts) == 0);
    CHECK(more.later[0] == 0 && more.later[2] == 0);
    CHECK(nanoscope_trace_facts(trace, &facts, 0) == -EINVAL);
    CHECK(nanoscope_trace_facts(trace, NULL, sizeof facts) == -EINVAL);
}

static void test_strides(struct nanoscope_trace *trace)
{
    struct old_call {
        uint64_t start_ns, end_ns;
    } old[64];
    struct {
        struct nanoscope_call known;
        uint64_t later;
    } later[64];
    struct nanoscope_call calls[64];
    struct nanoscope_calls *reading[3];
    int64_t count;

    for (int i = 0; i < 3; i++)
        CHECK(nanoscope_calls_open(trace, 0, NULL, &reading[i], &error) == 0);
    count = nanoscope_calls_read(reading[0], calls, sizeof calls[0], 64, &error);
    CHECK(count > 1);
    CHECK(nanoscope_calls_read(reading[1], (void *)old, sizeof old[0], 64, &error) == count);
    CHECK(nanoscope_calls_read(reading[2], (void *)later, sizeof later[0], 64, &error) == count);
    for (int64_t i = 0; i < count; i++)
        CHECK(old[i].end_ns == calls[i].end_ns && later[i].later == 0 &&
              memcmp(&later[i].known, &calls[i], sizeof calls[0]) == 0);
    CHECK(nanoscope_calls_read(reading[0], calls, sizeof calls[0], 64, &error) == 0);
    CHECK(nanoscope_calls_read(reading[0], calls, sizeof calls[0], 64, &error) == 0);
    CHECK(nanoscope_calls_read(reading[0], NULL, sizeof calls[0], 64, &error) == -EINVAL);
    for (int i = 0; i < 3; i++)
        nanoscope_calls_close(reading[i]);
}

static void test_options(struct nanoscope_trace *trace)
{
    struct {
        struct nanoscope_calls_options known;
        uint64_t later;
    } newer = {.known.size = sizeof newer, .later = 1};
    struct nanoscope_calls_options options = {.size = sizeof options, .from_ns = 5, .to_ns = 5};
    struct nanoscope_totals_options totals_options = {.size = sizeof totals_options};
    const uint32_t no_thread = 1u << 30;
    struct nanoscope_calls *calls = NULL;
    struct nanoscope_totals *totals = NULL;
    struct nanoscope_call call;
    int64_t count;

    CHECK(nanoscope_calls_open(trace, 0, &newer.known, &calls, &error) == -EINVAL);
    CHECK(strstr(error.message, "does not know") != NULL);
    newer.later = 0;
    CHECK(nanoscope_calls_open(trace, 0, &newer.known, &calls, &error) == 0);
    nanoscope_calls_close(calls);
    CHECK(nanoscope_calls_open(trace, 0, &options, &calls, &error) == -EINVAL);
    options = (struct nanoscope_calls_options){.size = 1};
    CHECK(nanoscope_calls_open(trace, 0, &options, &calls, &error) == -EINVAL);
    options = (struct nanoscope_calls_options){.size = sizeof options, .one_function = 1};
    options.function = 1u << 30;
    CHECK(nanoscope_calls_open(trace, 0, &options, &calls, &error) == -EINVAL);
    CHECK(nanoscope_calls_open(trace, no_thread, NULL, &calls, &error) == -EINVAL);
    options.function = 0;
    CHECK(nanoscope_calls_open(trace, 0, &options, &calls, &error) == 0);
    while ((count = nanoscope_calls_read(calls, &call, sizeof call, 1, &error)) > 0)
        CHECK(call.function == 0);
    CHECK(count == 0);
    nanoscope_calls_close(calls);
    totals_options.threads = &no_thread;
    totals_options.thread_count = 1;
    CHECK(nanoscope_totals_make(trace, &totals_options, &totals, &error) == -EINVAL);
    totals_options.thread_count = 0;
    CHECK(nanoscope_totals_make(trace, &totals_options, &totals, &error) == 0);
    CHECK(nanoscope_totals_read(totals, 0, &(struct nanoscope_total){0},
                                sizeof(struct nanoscope_total), 1) == 0);
    nanoscope_totals_close(totals);
}

static void test_errors(struct nanoscope_trace *trace)
{
    struct nanoscope_trace *none = NULL;
    struct nanoscope_notes *notes = NULL;
    struct nanoscope_mark_note mark;
    struct {
        size_t size;
        uint64_t offset;
        char message[8];
        char behind;
    } small = {.size = offsetof(struct nanoscope_error, message) + 8, .behind = 'x'};

    CHECK(nanoscope_trace_open("/nonexistent", 0, &none, &error) == -ENOENT && none == NULL);
    CHECK(nanoscope_trace_open("/nonexistent", 0, &none, NULL) == -ENOENT);
    CHECK(nanoscope_trace_open("/nonexistent", 0, &none, (void *)&small) == -ENOENT &&
          strlen(small.message) == 7 && small.behind == 'x');
    CHECK(nanoscope_trace_open(TRACE, 8, &none, &error) == -EINVAL);
    CHECK(nanoscope_trace_open("tests/golden/small.txt", 0, &none, &error) == -EPROTO);
    CHECK(error.offset == 0 && strncmp(error.message, "tests/golden/small.txt: ", 24) == 0 &&
          strstr(error.message, " (at offset 0)") != NULL);
    CHECK(nanoscope_notes_open(trace, 9, 0, 0, 0, &notes, &error) == -EINVAL);
    CHECK(nanoscope_notes_open(trace, 0, 1u << 30, 0, 0, &notes, &error) == -EINVAL);
    CHECK(nanoscope_notes_open(trace, NANOSCOPE_SAMPLES, 0, 0, 0, &notes, &error) == 0);
    CHECK(nanoscope_notes_mark(notes, &mark, sizeof mark, &error) == -EINVAL);
    nanoscope_notes_close(notes);
    nanoscope_trace_close(NULL);
    nanoscope_calls_close(NULL);
    nanoscope_totals_close(NULL);
    nanoscope_losses_close(NULL);
    nanoscope_notes_close(NULL);
}

/* Reads all calls of the first thread; returns the failure, and again the same. */
static int64_t read_damaged(const char *path, uint64_t *seen)
{
    struct nanoscope_trace *trace;
    struct nanoscope_calls *reading;
    struct nanoscope_call calls[7];
    int64_t count = 0;

    *seen = 0;
    if (nanoscope_trace_open(path, 0, &trace, &error) != 0)
        return 0;
    if (nanoscope_calls_open(trace, 0, NULL, &reading, &error) == 0) {
        while ((count = nanoscope_calls_read(reading, calls, sizeof calls[0], 7, &error)) > 0)
            *seen += (uint64_t)count;
        if (count < 0) {
            CHECK(error.offset != UINT64_MAX && strstr(error.message, "(at offset ") != NULL);
            error.message[0] = '\0';
            CHECK(nanoscope_calls_read(reading, calls, sizeof calls[0], 7, &error) == count);
            CHECK(error.message[0] != '\0');
        }
        nanoscope_calls_close(reading);
    }
    nanoscope_trace_close(trace);
    return count;
}

/* A byte that is wrong anywhere: what comes before its chunk is read, then the failure stays. */
static void test_damage(void)
{
    char path[] = "/tmp/test_reader.XXXXXX";
    int from = open("tests/golden/nodes.nst", O_RDONLY), to = mkstemp(path);
    uint64_t seen, most = 0;
    uint8_t bytes[65536];
    ssize_t size = read(from, bytes, sizeof bytes);
    unsigned failures = 0;

    CHECK(size > 1000 && to >= 0);
    for (ssize_t at = 64; at < size; at += 61) {
        bytes[at] ^= 0x55;
        CHECK(pwrite(to, bytes, (size_t)size, 0) == size);
        bytes[at] ^= 0x55;
        if (read_damaged(path, &seen) < 0) {
            failures++;
            most = seen > most ? seen : most;
        }
    }
    CHECK(failures > 0);
    CHECK(most > 0);
    close(from);
    close(to);
    unlink(path);
}

/* Reads the trace by itself; returns a sum over its calls. */
static void *read_alone(void *sum)
{
    struct nanoscope_error mine = {.size = sizeof mine};
    struct nanoscope_call calls[4];
    struct nanoscope_trace *trace;
    struct nanoscope_calls *reading;
    int64_t count;

    for (int round = 0; round < 50; round++) {
        if (nanoscope_trace_open(TRACE, 0, &trace, &mine) != 0 ||
            nanoscope_calls_open(trace, 0, NULL, &reading, &mine) != 0)
            return NULL;
        while ((count = nanoscope_calls_read(reading, calls, sizeof calls[0], 4, &mine)) > 0)
            for (int64_t i = 0; i < count; i++)
                *(uint64_t *)sum += calls[i].end_ns;
        nanoscope_calls_close(reading);
        nanoscope_trace_close(trace);
    }
    return sum;
}

static void test_threads(void)
{
    uint64_t sums[4] = {0};
    pthread_t threads[4];
    void *result;

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, read_alone, &sums[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && result != NULL && sums[i] != 0 &&
              sums[i] == sums[0]);
}

int main(void)
{
    struct nanoscope_trace *trace = open_trace();

    if (trace != NULL) {
        test_sizes(trace);
        test_strides(trace);
        test_options(trace);
        test_errors(trace);
        nanoscope_trace_close(trace);
    }
    test_damage();
    test_threads();
    return t_done();
}
