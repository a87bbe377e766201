/*
 * write_behind.c - see write_behind.h.
 *
 * The caller fills one buffer and queues it for the thread. The thread writes it and pushes it on
 * the stack of empty buffers (`pile`). The caller reuses the most recently emptied buffer: while
 * the disk keeps up, a few cache-warm buffers circulate. A buffer outside of queue and pile is
 * owned by the thread that took it. The lock protects queue and pile.
 */
#include "trace/write/write_behind.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/os/write_all.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFERS      (NSC_WRITE_BEHIND_BYTES / BUFFER_BYTES)

struct buffer {
    uint8_t *data;
    size_t used;
};

struct nsc_write_behind {
    int fd;
    struct buffer now;   /* being filled */
    size_t buffer_count; /* buffers allocated so far */
    bool threaded;       /* the thread runs */
    bool alone;          /* the thread could not be started: the caller writes */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    /* Under the lock: */
    struct buffer queue[BUFFERS]; /* buffers to write, oldest at `first` */
    size_t first, queued;
    uint8_t *pile[BUFFERS]; /* empty buffers */
    size_t piled;
    int error;
    bool busy; /* the thread writes a buffer that is in neither */
    bool stop;
};

static void *write_buffers(void *context)
{
    struct nsc_write_behind *spool = context;

    pthread_mutex_lock(&spool->lock);
    while (!spool->stop) {
        struct buffer b = spool->queue[spool->first];
        int error = spool->error;

        if (spool->queued == 0) {
            pthread_cond_wait(&spool->filled, &spool->lock);
            continue;
        }
        spool->first = (spool->first + 1) % BUFFERS;
        spool->queued--;
        spool->busy = true;
        pthread_mutex_unlock(&spool->lock);
        if (error == 0)
            error = nsc_write_all(spool->fd, b.data, b.used);
        pthread_mutex_lock(&spool->lock);
        spool->busy = false;
        spool->error = error;
        spool->pile[spool->piled++] = b.data;
        pthread_cond_signal(&spool->emptied);
    }
    pthread_mutex_unlock(&spool->lock);
    return NULL;
}

/* Start the thread with all signals blocked: only the other threads handle signals. */
static void start_thread(struct nsc_write_behind *spool)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    spool->threaded = pthread_create(&spool->thread, NULL, write_buffers, spool) == 0;
    spool->alone = !spool->threaded;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct nsc_write_behind *nsc_write_behind_new(int fd)
{
    struct nsc_write_behind *spool = calloc(1, sizeof *spool);

    if (spool == NULL)
        return NULL;
    spool->fd = fd;
    pthread_mutex_init(&spool->lock, NULL);
    pthread_cond_init(&spool->filled, NULL);
    pthread_cond_init(&spool->emptied, NULL);
    spool->now.data = malloc(BUFFER_BYTES);
    spool->buffer_count = 1;
    if (spool->now.data == NULL) {
        nsc_write_behind_free(spool);
        return NULL;
    }
    return spool;
}

/* Take the most recently emptied buffer, or allocate one. At the limit, or if out of memory, wait
 * for the thread to empty one. Called with the lock held. */
static uint8_t *take_empty(struct nsc_write_behind *spool)
{
    uint8_t *data;

    if (spool->piled == 0 && spool->buffer_count < BUFFERS &&
        (data = malloc(BUFFER_BYTES)) != NULL) {
        spool->buffer_count++;
        return data;
    }
    while (spool->piled == 0)
        pthread_cond_wait(&spool->emptied, &spool->lock);
    return spool->pile[--spool->piled];
}

static int hand_over(struct nsc_write_behind *spool)
{
    int error;

    if (!spool->threaded && !spool->alone)
        start_thread(spool);
    pthread_mutex_lock(&spool->lock);
    if (spool->alone) {
        if (spool->error == 0)
            spool->error = nsc_write_all(spool->fd, spool->now.data, spool->now.used);
    } else {
        spool->queue[(spool->first + spool->queued++) % BUFFERS] = spool->now;
        pthread_cond_signal(&spool->filled);
        spool->now.data = take_empty(spool);
    }
    error = spool->error;
    pthread_mutex_unlock(&spool->lock);
    spool->now.used = 0;
    return error;
}

int nsc_write_behind_put(struct nsc_write_behind *spool, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    int error = 0;

    while (bytes > 0) {
        size_t room = BUFFER_BYTES - spool->now.used, n = room < bytes ? room : bytes;

        memcpy(spool->now.data + spool->now.used, from, n);
        spool->now.used += n;
        from += n;
        bytes -= n;
        if (n == room)
            error = hand_over(spool);
    }
    return error;
}

bool nsc_write_behind_behind(struct nsc_write_behind *spool)
{
    bool behind;

    pthread_mutex_lock(&spool->lock);
    behind = spool->queued > BUFFERS / 4;
    pthread_mutex_unlock(&spool->lock);
    return behind;
}

/* A partly filled buffer occupies a whole queue slot: do not queue it while the thread is busy. */
int nsc_write_behind_push(struct nsc_write_behind *spool)
{
    bool behind;
    int error;

    pthread_mutex_lock(&spool->lock);
    behind = spool->queued > 0 || spool->busy;
    error = spool->error;
    pthread_mutex_unlock(&spool->lock);
    return behind || spool->now.used == 0 ? error : hand_over(spool);
}

int nsc_write_behind_wait(struct nsc_write_behind *spool)
{
    int error;

    pthread_mutex_lock(&spool->lock);
    while (spool->queued > 0 || spool->busy)
        pthread_cond_wait(&spool->emptied, &spool->lock);
    /* The thread is idle or does not exist: write the rest here. */
    if (spool->error == 0)
        spool->error = nsc_write_all(spool->fd, spool->now.data, spool->now.used);
    error = spool->error;
    pthread_mutex_unlock(&spool->lock);
    spool->now.used = 0;
    return error;
}

void nsc_write_behind_free(struct nsc_write_behind *spool)
{
    if (spool == NULL)
        return;
    if (spool->threaded) {
        pthread_mutex_lock(&spool->lock);
        spool->stop = true;
        pthread_cond_signal(&spool->filled);
        pthread_mutex_unlock(&spool->lock);
        pthread_join(spool->thread, NULL);
    }
    while (spool->queued > 0)
        free(spool->queue[(spool->first + --spool->queued) % BUFFERS].data);
    while (spool->piled > 0)
        free(spool->pile[--spool->piled]);
    free(spool->now.data);
    pthread_cond_destroy(&spool->filled);
    pthread_cond_destroy(&spool->emptied);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}
