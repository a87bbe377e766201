/*
 * spool.c - see spool.h.
 *
 * A ring of buffers: the caller fills the newest one, the thread writes the oldest full one. Only
 * the counts and the error are shared; a buffer belongs to whoever's turn it is.
 */
#include "trace/spool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define BUFFERS      (NSC_SPOOL_BYTES / BUFFER_BYTES)

struct buffer {
    uint8_t *data; /* NULL until it is needed first */
    size_t used;
};

struct nsc_spool {
    int fd;
    struct buffer buffers[BUFFERS];
    bool threaded; /* the thread runs */
    bool alone;    /* it could not be started */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    /* Under the lock: */
    uint64_t full;    /* buffers handed over since the beginning; the next one is being filled */
    uint64_t written; /* of these, written or given up */
    int error;
    bool stop;
};

static struct buffer *buffer_at(struct nsc_spool *spool, uint64_t number)
{
    return &spool->buffers[number % BUFFERS];
}

static int write_all(int fd, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        data += n;
        bytes -= (size_t)n;
    }
    return 0;
}

static void *write_buffers(void *context)
{
    struct nsc_spool *spool = context;

    pthread_mutex_lock(&spool->lock);
    while (!spool->stop) {
        struct buffer *b = buffer_at(spool, spool->written);
        int error = spool->error;

        if (spool->written == spool->full) {
            pthread_cond_wait(&spool->filled, &spool->lock);
            continue;
        }
        pthread_mutex_unlock(&spool->lock);
        if (error == 0)
            error = write_all(spool->fd, b->data, b->used);
        pthread_mutex_lock(&spool->lock);
        spool->error = error;
        spool->written++;
        pthread_cond_signal(&spool->emptied);
    }
    pthread_mutex_unlock(&spool->lock);
    return NULL;
}

/* All signals are for the threads that expect them. */
static void start_thread(struct nsc_spool *spool)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    spool->threaded = pthread_create(&spool->thread, NULL, write_buffers, spool) == 0;
    spool->alone = !spool->threaded;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct nsc_spool *nsc_spool_new(int fd)
{
    struct nsc_spool *spool = calloc(1, sizeof *spool);

    if (spool == NULL)
        return NULL;
    spool->fd = fd;
    pthread_mutex_init(&spool->lock, NULL);
    pthread_cond_init(&spool->filled, NULL);
    pthread_cond_init(&spool->emptied, NULL);
    spool->buffers[0].data = malloc(BUFFER_BYTES);
    if (spool->buffers[0].data == NULL) {
        nsc_spool_free(spool);
        return NULL;
    }
    return spool;
}

/* Hand the newest buffer over and get the next one ready; waits while that one is not written. */
static int hand_over(struct nsc_spool *spool)
{
    struct buffer *next;
    int error;

    if (!spool->threaded && !spool->alone)
        start_thread(spool);
    if (spool->alone) {
        struct buffer *b = buffer_at(spool, spool->full);

        if (spool->error == 0)
            spool->error = write_all(spool->fd, b->data, b->used);
        b->used = 0;
        return spool->error;
    }
    pthread_mutex_lock(&spool->lock);
    spool->full++;
    pthread_cond_signal(&spool->filled);
    next = buffer_at(spool, spool->full);
    /* Where memory for one more buffer is short, an old one will do: wait for it. */
    if (next->data == NULL && (next->data = malloc(BUFFER_BYTES)) == NULL) {
        while (spool->written < spool->full)
            pthread_cond_wait(&spool->emptied, &spool->lock);
        next->data = buffer_at(spool, spool->full - 1)->data;
        buffer_at(spool, spool->full - 1)->data = NULL;
    }
    while (spool->full - spool->written >= BUFFERS)
        pthread_cond_wait(&spool->emptied, &spool->lock);
    next->used = 0;
    error = spool->error;
    pthread_mutex_unlock(&spool->lock);
    return error;
}

int nsc_spool_put(struct nsc_spool *spool, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    int error = 0;

    while (bytes > 0) {
        struct buffer *b = buffer_at(spool, spool->full);
        size_t n = BUFFER_BYTES - b->used < bytes ? BUFFER_BYTES - b->used : bytes;

        memcpy(b->data + b->used, from, n);
        b->used += n;
        from += n;
        bytes -= n;
        if (b->used == BUFFER_BYTES)
            error = hand_over(spool);
    }
    return error;
}

int nsc_spool_push(struct nsc_spool *spool)
{
    if (buffer_at(spool, spool->full)->used > 0)
        return hand_over(spool);
    return 0;
}

int nsc_spool_wait(struct nsc_spool *spool)
{
    struct buffer *b = buffer_at(spool, spool->full);
    int error;

    pthread_mutex_lock(&spool->lock);
    while (spool->written < spool->full)
        pthread_cond_wait(&spool->emptied, &spool->lock);
    /* The thread is idle, or there is none: what is left needs no other. */
    if (spool->error == 0)
        spool->error = write_all(spool->fd, b->data, b->used);
    error = spool->error;
    pthread_mutex_unlock(&spool->lock);
    b->used = 0;
    return error;
}

void nsc_spool_free(struct nsc_spool *spool)
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
    for (size_t i = 0; i < BUFFERS; i++)
        free(spool->buffers[i].data);
    pthread_cond_destroy(&spool->filled);
    pthread_cond_destroy(&spool->emptied);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}
