/*
 * test_gone.c - clients that leave while something long is worked out for them: nobody gets
 * half an answer, and what is asked next is answered as by an engine that was just opened, to the
 * byte. To be run under the sanitizers, too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tap.h"
#include "trace/write/writer.h"
#include "unit/rigs/trace_model.h"
#include "viewer/server/handle_query.h"
#include "viewer/server/serve.h"
#include "viewer/server/workers.h"

enum {
    TRACES = 2,
    THREADS = 3,
    FUNCTIONS = 20,
    STEPS = T_SANITIZED ? 20000 : 60000,
    CLIENTS = 8,
    TURNS = T_SANITIZED ? 60 : 250,
};

static const char *const requests[] = {
    "/api/report?limit=50",
    "/api/report?limit=50&only=function_1*&sort=p99",
    "/api/report?from=200000&to=900000&trace=1",
    "/api/tree?limit=300",
    "/api/tree?limit=300&root=1&invert=1",
    "/api/sandwich?function=1",
    "/api/histogram?function=2&limit=5",
    "/api/shares",
    "/api/step?function=3&go=longest&nth=2",
    "/api/step?function=3&go=next&at=500000",
    "/api/diff?limit=20&nodes=50&longest=20",
    "/api/search?q=function",
    "/api/left-out",
    "/api/trace",
    "/api/call?thread=0&at=600000&depth=1",
    "/api/overview?width=300",
    "/api/tiles?zoom=18&first=0&count=8&threads=0,1,2&rows=12",
    "/api/tiles?zoom=12&first=50&count=4&threads=2&rows=12",
    /* Last, as there may be no SQL. */
    "/api/query?sql=SELECT%20function_id,count(*),sum(self_ns)%20FROM%20calls%20GROUP%20BY%201",
    "/api/query?sql=SELECT%20*%20FROM%20calls%20ORDER%20BY%20duration_ns%20DESC,call_id&limit=9",
    "/api/query?sql=SELECT%20max(depth),count(*)%20FROM%20calls%20NATURAL%20JOIN%20functions",
};

enum { REQUESTS = sizeof requests / sizeof *requests, SQL_REQUESTS = 3 };

static char paths[TRACES][40];
static struct nsc_serve_trace traces[TRACES];
static size_t request_count;
static struct nsc_engine_reply wanted[REQUESTS];

static void make_trace(unsigned number)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct model_thread threads[THREADS] = {{0}};
    struct model_random r = {number + 1};
    struct nsc_writer *w;

    snprintf(paths[number], sizeof paths[number], "/tmp/nsc-test-gone-XXXXXX");
    close(mkstemp(paths[number]));
    if (nsc_writer_create(paths[number], &options, &w, NULL) != 0)
        abort();
    model_tables(w, threads, THREADS, FUNCTIONS);
    for (uint32_t i = 0; i < STEPS; i++) {
        model_step(&threads[i % THREADS], &r, FUNCTIONS, 12, 20);
        if (i % 1500 == 1499)
            nsc_writer_flush(w);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        model_close(&threads[i]);
        model_free(&threads[i]);
    }
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
    traces[number] = (struct nsc_serve_trace){.fd = open(paths[number], O_RDONLY | O_CLOEXEC),
                                              .name = paths[number]};
}

static bool is_wanted(size_t request, const struct nsc_engine_reply *reply)
{
    const struct nsc_engine_reply *w = &wanted[request];

    if (reply->status == w->status && reply->count == w->count &&
        strcmp(reply->type, w->type) == 0 && memcmp(reply->bytes, w->bytes, w->count) == 0)
        return true;
    printf("# %s: status %d, %zu bytes: %.*s\n", requests[request], reply->status, reply->count,
           reply->count < 300 && reply->bytes != NULL ? (int)reply->count : 0,
           (const char *)reply->bytes);
    return false;
}

/* ---- One engine, left at every point --------------------------------------------------------- */

struct engine {
    struct nsc_trace *traces[TRACES];
    struct nsc_engine *answer;
    uint64_t polls_left; /* until nobody waits any more */
    bool left;
};

static bool is_gone(void *context)
{
    struct engine *e = context;

    e->left = e->left || e->polls_left == 0;
    e->polls_left -= !e->left;
    return e->left;
}

static void open_engine(struct engine *e)
{
    struct nsc_engine_options options = {
        .size = sizeof options, .cache_bytes = 1 << 20, .is_gone = is_gone, .context = e};

    *e = (struct engine){.polls_left = UINT64_MAX};
    for (size_t i = 0; i < TRACES; i++)
        if (nsc_trace_open_fd(dup(traces[i].fd), traces[i].name, 0, &e->traces[i], NULL) != 0)
            abort();
    if (nsc_engine_open(e->traces, TRACES, &options, &e->answer) != 0 ||
        (nsc_query_handler() != NULL && nsc_engine_add(e->answer, nsc_query_handler(), 1) != 0))
        abort();
}

static void close_engine(struct engine *e)
{
    nsc_engine_close(e->answer);
    for (size_t i = 0; i < TRACES; i++)
        nsc_trace_close(e->traces[i]);
}

static void ask(struct engine *e, size_t request, uint64_t polls, struct nsc_engine_reply *reply)
{
    e->polls_left = polls;
    e->left = false;
    nsc_engine_answer(e->answer, requests[request], strlen(requests[request]), reply);
}

/* What engines say that were asked nothing else. */
static void find_wanted(void)
{
    for (size_t i = 0; i < request_count; i++) {
        struct engine e;

        open_engine(&e);
        ask(&e, i, UINT64_MAX, &wanted[i]);
        close_engine(&e);
        if (!CHECK(wanted[i].status == 200))
            printf("# %s: %.*s\n", requests[i], (int)wanted[i].count,
                   (const char *)wanted[i].bytes);
    }
}

/* An answer that nobody waits for is refused, or whole all the same. */
static bool is_refused(size_t request, const struct nsc_engine_reply *reply)
{
    return (reply->status == 500 && reply->count > 10 && reply->count < 200 &&
            memcmp(reply->bytes, "{\"error\"", 8) == 0) ||
           is_wanted(request, reply);
}

static void test_every_point(void)
{
    struct nsc_engine_reply reply = {0};
    uint32_t half = 0, wrong = 0, left = 0, next = 0;
    struct engine e;

    for (size_t i = 0; i < request_count; i++) {
        bool ended = false;

        open_engine(&e);
        for (uint64_t polls = 0; !ended; polls += 1 + polls / 4) {
            ask(&e, i, polls, &reply);
            ended = !e.left;
            left += e.left;
            half += e.left ? !is_refused(i, &reply) : !is_wanted(i, &reply);
            /* Whatever comes next, and the same again now and then. */
            next = polls % 3 == 0 ? (uint32_t)i : (next + 7) % (uint32_t)request_count;
            ask(&e, next, UINT64_MAX, &reply);
            wrong += !is_wanted(next, &reply);
        }
        close_engine(&e);
    }
    nsc_engine_reply_free(&reply);
    CHECK_U64(half, 0);
    CHECK_U64(wrong, 0);
    CHECK(left > 2 * request_count);
}

/* ---- The workers, left at any moment --------------------------------------------------------- */

struct turn {
    struct nsc_task task; /* first */
    size_t request;
    atomic_bool done;
};

struct client {
    pthread_t thread;
    struct model_random random;
    bool stays;
    uint32_t answered, given_up, wrong;
};

static struct nsc_workers *workers;

static void on_done(struct nsc_task *task)
{
    atomic_store(&((struct turn *)task)->done, true);
}

static void *run_client(void *argument)
{
    struct client *c = argument;

    for (unsigned i = 0; i < (c->stays ? TURNS / 5 : TURNS); i++) {
        struct turn turn = {.request = model_random(&c->random) % request_count};
        bool leaves = !c->stays && model_random(&c->random) % 4 != 0;
        uint32_t rest = model_random(&c->random) % 4000;

        turn.task.request = requests[turn.request];
        turn.task.done = on_done;
        nsc_workers_submit(workers, &turn.task);
        if (leaves)
            usleep(model_random(&c->random) % 3 == 0 ? rest : rest / 20);
        atomic_store(&turn.task.gone, leaves);
        while (!atomic_load(&turn.done))
            usleep(100);
        c->given_up += turn.task.reply.status == 0;
        c->answered += turn.task.reply.status != 0;
        if (turn.task.reply.status == 0 ? !leaves : !is_wanted(turn.request, &turn.task.reply))
            c->wrong++;
        nsc_engine_reply_free(&turn.task.reply);
    }
    return NULL;
}

/* All clients at once; then they stay, and get what they ask for. */
static void run_clients(uint32_t seed, bool stay, struct client *sum)
{
    struct client clients[CLIENTS];

    *sum = (struct client){.stays = stay};
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.random = {seed + i}, .stays = stay};
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        sum->answered += clients[i].answered;
        sum->given_up += clients[i].given_up;
        sum->wrong += clients[i].wrong;
    }
}

static void test_any_moment(void)
{
    const struct nsc_engine_handler *handlers[] = {nsc_query_handler()};
    struct nsc_workers_options options = {.traces = traces,
                                          .trace_count = TRACES,
                                          .handlers = handlers,
                                          .handler_count = handlers[0] != NULL};
    struct client sum;

    if (!CHECK(nsc_workers_start(&options, &workers) == 0))
        return;
    run_clients(1, false, &sum);
    printf("# %u answered, %u given up\n", sum.answered, sum.given_up);
    CHECK_U64(sum.wrong, 0);
    CHECK(sum.given_up > CLIENTS * TURNS / 10 && sum.answered > CLIENTS * TURNS / 10);
    run_clients(100, true, &sum);
    CHECK_U64(sum.wrong, 0);
    CHECK_U64(sum.given_up, 0);
    nsc_workers_stop(workers);
    nsc_workers_free(workers);
}

int main(void)
{
    request_count = REQUESTS - (nsc_query_handler() == NULL ? SQL_REQUESTS : 0);
    for (unsigned i = 0; i < TRACES; i++)
        make_trace(i);
    find_wanted();
    test_every_point();
    test_any_moment();
    for (size_t i = 0; i < request_count; i++)
        nsc_engine_reply_free(&wanted[i]);
    for (unsigned i = 0; i < TRACES; i++) {
        close(traces[i].fd);
        unlink(paths[i]);
    }
    return t_done();
}
