/* test_workers.c - tasks of every kind are all answered, given up or dropped, each once. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tap.h"
#include "viewer/server/handle_query.h"
#include "viewer/server/handle_source.h"
#include "viewer/server/serve.h"
#include "viewer/server/workers.h"

enum { TASKS = 400, CLIENTS = 4 };

static atomic_uint ended, answered, given_up, wrong;
static struct nsc_task tasks[CLIENTS][TASKS];
static struct nsc_workers *workers;
static struct nsc_source source;

static void on_done(struct nsc_task *task)
{
    bool is_trace = strcmp(task->request, "/api/trace") == 0;

    if (task->reply.status == 0)
        atomic_fetch_add(&given_up, 1);
    else
        atomic_fetch_add(&answered, 1);
    if (task->reply.status != 0 &&
        (task->reply.status != 200 || (is_trace && task->reply.count < 50)))
        atomic_fetch_add(&wrong, 1);
    nsc_engine_reply_free(&task->reply);
    atomic_fetch_add(&ended, 1);
}

static void *client(void *argument)
{
    static const char *const requests[] = {"/api/trace", "/api/report?limit=1",
                                           "/api/functions?first=0", "/api/tree"};
    struct nsc_task *mine = argument;

    for (size_t i = 0; i < TASKS; i++) {
        mine[i] = (struct nsc_task){.request = requests[i % 4], .done = on_done};
        atomic_store(&mine[i].gone, i % 10 == 9);
        nsc_workers_submit(workers, &mine[i]);
    }
    return NULL;
}

static int start(const struct nsc_serve_trace *trace)
{
    static const struct nsc_engine_handler *handlers[2];
    struct nsc_workers_options options = {.traces = trace,
                                          .trace_count = 1,
                                          .handlers = handlers,
                                          .handler_count = nsc_query_handler() != NULL ? 2 : 1};

    handlers[0] = &source.handler;
    handlers[1] = nsc_query_handler();

    nsc_source_destroy(&source);
    CHECK(nsc_source_init(&source, NULL, 0, NULL) == 0);
    ended = answered = given_up = wrong = 0;
    return nsc_workers_start(&options, &workers);
}

static void test_crowd(const struct nsc_serve_trace *trace, bool stop_early)
{
    pthread_t threads[CLIENTS];

    CHECK(start(trace) == 0);
    for (size_t i = 0; i < CLIENTS; i++)
        if (pthread_create(&threads[i], NULL, client, tasks[i]) != 0)
            abort();
    if (stop_early)
        nsc_workers_stop(workers);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    while (!stop_early && ended < CLIENTS * TASKS)
        usleep(1000);
    nsc_workers_stop(workers);
    nsc_workers_free(workers);
    CHECK_U64(ended, CLIENTS * TASKS);
    CHECK_U64(answered + given_up, CLIENTS * TASKS);
    CHECK_U64(wrong, 0);
    if (!stop_early)
        CHECK_U64(given_up, CLIENTS * TASKS / 10); /* those whose client had gone */
}

static void test_unreadable(void)
{
    struct nsc_serve_trace none = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC), .name = "none"};
    struct nsc_task task = {.request = "/api/trace", .done = on_done};

    CHECK(start(&none) == 0);
    nsc_workers_submit(workers, &task);
    while (ended == 0)
        usleep(1000);
    nsc_workers_stop(workers);
    nsc_workers_free(workers);
    CHECK_U64(wrong, 1); /* 500, and no crash */
    close(none.fd);
}

static void test_kinds(void)
{
    CHECK(nsc_workers_is_slow("/api/report"));
    CHECK(nsc_workers_is_slow("/api/report?limit=1"));
    CHECK(!nsc_workers_is_slow("/api/reports"));
    CHECK(!nsc_workers_is_slow("/api/tiles?zoom=1"));
    CHECK(!nsc_workers_is_slow("/api/trace"));
    CHECK(!nsc_workers_is_slow(""));
}

int main(void)
{
    struct nsc_serve_trace trace = {.fd = open("tests/golden/small.nst", O_RDONLY | O_CLOEXEC),
                                    .name = "small.nst"};

    test_kinds();
    test_crowd(&trace, false);
    test_crowd(&trace, true);
    test_unreadable();
    nsc_source_destroy(&source);
    close(trace.fd);
    return t_done();
}
