/* snapshot_copy.c - nsc_session_freeze() of session.h: copies a running session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/session/clock_reading.h"
#include "record/session/session.h"

/* A chunk in use, and the time of its claim. */
struct used {
    uint64_t open_ticks;
    uint32_t chunk;
};

static int compare_ages(const void *a, const void *b)
{
    const struct used *x = a, *y = b;

    return (x->open_ticks > y->open_ticks) - (x->open_ticks < y->open_ticks);
}

static uint64_t state_of(const struct nsc_record_session *s, uint32_t chunk)
{
    return __atomic_load_n(&s->chunks[chunk].state, __ATOMIC_ACQUIRE);
}

/* True if the chunk holds events; false while it is being cleared. */
static bool in_use(uint64_t state)
{
    return NSC_LIVE_CHUNK_PHASE(state) != NSC_LIVE_CHUNK_FREE &&
           NSC_LIVE_CHUNK_PHASE(state) != NSC_LIVE_CHUNK_TAKEN;
}

/* True if the chunk still belongs to the same thread, with the same sequence number. It may have
 * become full meanwhile. */
static bool same_owner(uint64_t a, uint64_t b)
{
    return in_use(b) && NSC_LIVE_CHUNK_THREAD(a) == NSC_LIVE_CHUNK_THREAD(b) &&
           NSC_LIVE_CHUNK_SEQ(a) == NSC_LIVE_CHUNK_SEQ(b);
}

/* True if the recorder is clearing the chunk: then its first slot is empty. A slot that an
 * interrupted hook has yet to fill looks the same; such a chunk is rare, and left out too. */
static bool is_cleared(const struct nsc_record_session *s, uint64_t state, uint32_t chunk)
{
    return NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_FULL &&
           __atomic_load_n(nsc_session_chunk_words(s, chunk), __ATOMIC_ACQUIRE) == 0;
}

/* @ticks: chunks claimed later are left out, as the copy may lack some of their predecessors. */
static void copy_chunk(const struct nsc_record_session *s, uint8_t *copy, uint32_t chunk,
                       uint64_t ticks)
{
    size_t at = (size_t)(s->data - s->base) + (size_t)chunk * s->chunk_bytes;
    /* The chunk's entry in the copy, which is still free. */
    struct nsc_live_chunk *to =
        (struct nsc_live_chunk *)(void *)(copy + ((uint8_t *)s->chunks - s->base)) + chunk;
    uint64_t state = state_of(s, chunk);
    struct nsc_live_chunk entry = s->chunks[chunk];

    if (!in_use(state) || entry.open_ticks > ticks)
        return;
    memcpy(copy + at, s->base + at, s->chunk_bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!same_owner(state, state_of(s, chunk)) || is_cleared(s, state, chunk) ||
        __atomic_load_n(&s->chunks[chunk].open_ticks, __ATOMIC_RELAXED) != entry.open_ticks)
        return; /* the copied data is invalid: the entry stays free */
    *to = entry;
    to->state = state;
}

static uint32_t list_used(const struct nsc_record_session *s, struct used *list)
{
    uint32_t i, n = 0;

    for (i = 0; i < s->chunks_max; i++)
        if (in_use(state_of(s, i)))
            list[n++] = (struct used){
                .open_ticks = __atomic_load_n(&s->chunks[i].open_ticks, __ATOMIC_RELAXED),
                .chunk = i};
    qsort(list, n, sizeof *list, compare_ages);
    return n;
}

int nsc_session_freeze(struct nsc_record_session *s)
{
    struct used *list = calloc(s->chunks_max, sizeof *list);
    size_t chunks_at = (size_t)((uint8_t *)s->chunks - s->base);
    size_t chunks_bytes = s->chunks_max * sizeof *s->chunks;
    uint8_t *copy = mmap(NULL, s->total_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t ticks = nsc_clock_reading_ticks();
    size_t tables_end = (size_t)(s->data - s->base);
    uint32_t count, i;

    if (s->overwritten != NULL)
        tables_end = (size_t)((uint8_t *)s->overwritten - s->base);
    if (list == NULL || copy == MAP_FAILED) {
        free(list);
        if (copy != MAP_FAILED)
            munmap(copy, s->total_bytes);
        return -ENOMEM;
    }
    /* Before the chunks: an overwrite after a chunk's copy must not count in this copy. */
    memcpy(copy + tables_end, s->base + tables_end, (size_t)(s->data - s->base) - tables_end);
    /* Oldest first, as these are overwritten first. */
    count = list_used(s, list);
    for (i = 0; i < count; i++)
        copy_chunk(s, copy, list[i].chunk, ticks);
    free(list);
    memcpy(copy, s->base, chunks_at);
    memcpy(copy + chunks_at + chunks_bytes, s->base + chunks_at + chunks_bytes,
           tables_end - chunks_at - chunks_bytes);
    if (mremap(copy, s->total_bytes, s->total_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, s->base) ==
        MAP_FAILED) {
        munmap(copy, s->total_bytes);
        return -ENOMEM;
    }
    close(s->fd);
    s->fd = -1;
    return 0;
}
