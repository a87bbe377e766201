/*
 * workers.c - see workers.h.
 *
 * A trace and its engine must be used by one thread only (trace/read/reader.h), so each worker has
 * its own over the same file.
 */
#include "viewer/server/workers.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/now.h"
#include "util/text/json_writer.h"
#include "viewer/server/serve.h"

enum { QUICK, SLOW, STATEMENTS, CLASSES };
enum { THREADS_EACH = 2, THREADS = CLASSES * THREADS_EACH };

/* Cache of decoded chunks per worker. Quick requests return to the same parts of a trace; slow ones
 * and statements read each part once. */
static const size_t cache_bytes[CLASSES] = {
    [QUICK] = 6u << 20, [SLOW] = 1u << 20, [STATEMENTS] = 1u << 20};

#define GROWING_EVERY_NS 1000000000u /* a growing file is reopened at most this often */

struct queue {
    struct nsc_task *first, **last;
    pthread_cond_t filled;
};

struct worker {
    struct nsc_workers *all;
    pthread_t thread;
    unsigned class;
    struct nsc_trace *traces[NSC_ENGINE_TRACES_MAX];
    struct nsc_engine *engine; /* NULL until the first request */
    struct nsc_task *task;     /* the task that is being answered */
    uint64_t opened_ns;        /* when the traces were opened */
    uint64_t opened_bytes;     /* size of the growing files at that time */
};

struct nsc_workers {
    struct nsc_workers_options options;
    pthread_mutex_t lock; /* protects all members below */
    struct queue queues[CLASSES];
    atomic_bool ending; /* set under the lock */
    struct worker workers[THREADS];
    size_t started;
};

static bool is_for(const char *request, const char *path)
{
    size_t length = strcspn(request, "?");

    return strlen(path) == length && memcmp(path, request, length) == 0;
}

static unsigned class_of(const char *request)
{
    static const char *const slow[] = {
        "/api/report", "/api/tree", "/api/sandwich", "/api/histogram",
        "/api/shares", "/api/step", "/api/diff",     "/api/left-out",
    };

    if (is_for(request, "/api/query"))
        return STATEMENTS;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (is_for(request, slow[i]))
            return SLOW;
    return QUICK;
}

bool nsc_workers_is_slow(const char *request)
{
    return class_of(request) != QUICK;
}

/* ---- A worker's engine ----------------------------------------------------------------------- */

static void close_engine(struct worker *me)
{
    nsc_engine_close(me->engine);
    me->engine = NULL;
    for (size_t i = 0; i < NSC_ENGINE_TRACES_MAX; i++) {
        nsc_trace_close(me->traces[i]);
        me->traces[i] = NULL;
    }
}

/* Open a trace. An unfinished file is read up to its last complete block. */
static int open_trace(const struct nsc_serve_trace *file, struct nsc_trace **out, bool *growing,
                      struct nsc_diag *diag)
{
    int error = -EINPROGRESS;

    *growing = false;
    for (unsigned flags = 0; error == -EINPROGRESS && flags <= NSC_NST_RECOVER;
         flags += NSC_NST_RECOVER) {
        int fd = dup(file->fd);

        if (fd < 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "%s: %s", file->name,
                                strerror(errno));
        error = nsc_trace_open_fd(fd, file->name, flags, out, diag);
        *growing = flags != 0 && file->growing;
    }
    return error;
}

static uint64_t growing_bytes(const struct nsc_workers_options *options)
{
    uint64_t sum = 0;
    struct stat st;

    for (size_t i = 0; i < options->trace_count; i++)
        if (options->traces[i].growing && fstat(options->traces[i].fd, &st) == 0)
            sum += (uint64_t)st.st_size;
    return sum;
}

/* Cancellation callback: the engine calls it during long requests. */
static bool is_gone(void *context)
{
    const struct worker *me = context;

    return atomic_load(&me->all->ending) || atomic_load(&me->task->gone);
}

static int open_engine(struct worker *me, struct nsc_diag *diag)
{
    const struct nsc_workers_options *options = &me->all->options;
    struct nsc_engine_options engine = {.size = sizeof engine,
                                        .cache_bytes = cache_bytes[me->class],
                                        .rules = options->rules,
                                        .is_gone = is_gone,
                                        .context = me};
    int error = 0;

    me->opened_ns = nsc_now_ns();
    me->opened_bytes = growing_bytes(options);
    for (size_t i = 0; i < options->trace_count && error == 0; i++) {
        bool growing;
        const struct nsc_serve_trace *file = &options->traces[i];

        error = open_trace(file, &me->traces[i], &growing, diag);
        if (error == 0 && growing && file->name_functions != NULL)
            file->name_functions(file->context, me->traces[i]);
        engine.growing |= growing && i == 0; /* only the first trace is shown as growing */
    }
    if (error == 0) {
        error = nsc_engine_open(me->traces, options->trace_count, &engine, &me->engine);
        for (size_t i = 0; i < options->handler_count && error == 0; i++)
            error = nsc_engine_add(me->engine, options->handlers[i], 1);
        if (error != 0)
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
    }
    if (error != 0)
        close_engine(me);
    return error;
}

static bool has_grown(const struct worker *me)
{
    return nsc_now_ns() - me->opened_ns >= GROWING_EVERY_NS &&
           growing_bytes(&me->all->options) != me->opened_bytes;
}

/* Reply that the traces cannot be opened, in the format of the engine's errors. */
static void put_error(struct nsc_engine_reply *reply, const struct nsc_diag *diag)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct nsc_json json;

    reply->status = 500;
    if (out == NULL)
        return;
    nsc_json_begin(&json, out, true);
    nsc_json_text(&json, "error", diag->message);
    nsc_json_end(&json);
    fclose(out);
    reply->type = "application/json";
    reply->bytes = (uint8_t *)text;
    reply->count = reply->room = bytes;
}

static void answer(struct worker *me, struct nsc_task *task)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    me->task = task;
    if (me->engine != NULL && has_grown(me))
        close_engine(me);
    if (me->engine == NULL && open_engine(me, &diag) != 0)
        put_error(&task->reply, &diag);
    else
        nsc_engine_answer(me->engine, task->request, strlen(task->request), &task->reply);
    if (is_gone(me)) /* it may have been cancelled half-way: the reply may be incomplete */
        nsc_engine_reply_free(&task->reply);
}

/* ---- Queues and threads ---------------------------------------------------------------------- */

/* Wait for the next task of this worker's class. Returns NULL when the workers are stopped. */
static struct nsc_task *take(struct worker *me)
{
    struct nsc_workers *w = me->all;
    struct queue *queue = &w->queues[me->class];
    struct nsc_task *task;

    pthread_mutex_lock(&w->lock);
    while (queue->first == NULL && !w->ending)
        pthread_cond_wait(&queue->filled, &w->lock);
    task = w->ending ? NULL : queue->first;
    if (task != NULL) {
        queue->first = task->next;
        if (queue->first == NULL)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&w->lock);
    return task;
}

static void *work(void *argument)
{
    struct worker *me = argument;
    struct nsc_task *task;

    while ((task = take(me)) != NULL) {
        if (!atomic_load(&task->gone))
            answer(me, task);
        task->done(task);
    }
    close_engine(me);
    return NULL;
}

/*
 * Let workers reuse each other's freed memory. By default malloc keeps an arena per thread, and
 * never returns freed blocks of up to 32 MiB to the system.
 */
static void share_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

int nsc_workers_start(const struct nsc_workers_options *options, struct nsc_workers **out)
{
    struct nsc_workers *w = calloc(1, sizeof *w);
    int error = 0;

    if (w == NULL)
        return -ENOMEM;
    share_memory();
    w->options = *options;
    pthread_mutex_init(&w->lock, NULL);
    for (unsigned class = 0; class < CLASSES; class ++) {
        w->queues[class].last = &w->queues[class].first;
        pthread_cond_init(&w->queues[class].filled, NULL);
    }
    for (unsigned i = 0; i < THREADS && error == 0; i++) {
        w->workers[i] = (struct worker){.all = w, .class = i / THREADS_EACH};
        error = -pthread_create(&w->workers[i].thread, NULL, work, &w->workers[i]);
        w->started += error == 0;
    }
    if (error != 0) {
        nsc_workers_stop(w);
        nsc_workers_free(w);
        return error;
    }
    *out = w;
    return 0;
}

void nsc_workers_submit(struct nsc_workers *w, struct nsc_task *task)
{
    struct queue *queue = &w->queues[class_of(task->request)];
    bool ending;

    pthread_mutex_lock(&w->lock);
    ending = w->ending;
    if (!ending) {
        task->next = NULL;
        *queue->last = task;
        queue->last = &task->next;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&w->lock);
    if (ending)
        task->done(task);
}

/* Take the whole queue, so that done() is called without the lock. */
static struct nsc_task *take_all(struct nsc_workers *w, struct queue *queue)
{
    struct nsc_task *first;

    pthread_mutex_lock(&w->lock);
    first = queue->first;
    queue->first = NULL;
    queue->last = &queue->first;
    pthread_mutex_unlock(&w->lock);
    return first;
}

void nsc_workers_stop(struct nsc_workers *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    for (unsigned class = 0; class < CLASSES; class ++)
        pthread_cond_broadcast(&w->queues[class].filled);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < w->started; i++)
        pthread_join(w->workers[i].thread, NULL);
    w->started = 0;
    for (unsigned class = 0; class < CLASSES; class ++) {
        struct nsc_task *task = take_all(w, &w->queues[class]), *next;

        for (; task != NULL; task = next) {
            next = task->next;
            task->done(task);
        }
    }
}

void nsc_workers_free(struct nsc_workers *w)
{
    if (w == NULL)
        return;
    for (unsigned class = 0; class < CLASSES; class ++)
        pthread_cond_destroy(&w->queues[class].filled);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
