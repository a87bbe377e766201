/* malloc_samples.c - see malloc_samples.h. */
#include "metrics/malloc_samples.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/malloc_counts.h"
#include "trace/format/model.h"
#include "util/array.h"

enum {
    SLOTS = 16384,
    SWEEP = 256, /* number of slots checked per sweep */
};

/* Sums over the ended threads of a process. */
struct past {
    pid_t pid;
    uint64_t image;
    struct nsc_malloc_counts counts;
};

struct nsc_malloc_samples {
    int fd;
    size_t bytes;
    struct nsc_malloc_header *header;
    struct nsc_malloc_slot *slots;
    uint32_t high; /* all slots in use are below this index */
    uint32_t swept;
    struct past *pasts;
    uint32_t past_count, past_room;
    char path[64];
};

static uint64_t owner_of(pid_t pid, pid_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

static int make_memory(struct nsc_malloc_samples *h)
{
    h->bytes = sizeof *h->header + SLOTS * sizeof *h->slots;
    h->fd = memfd_create("nanoscope-malloc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (h->fd < 0)
        return -errno;
    /* Allocate all memory now and seal its size: accesses cannot raise SIGBUS. */
    if (ftruncate(h->fd, (off_t)h->bytes) != 0 || fallocate(h->fd, 0, 0, (off_t)h->bytes) != 0)
        return -errno;
    (void)fcntl(h->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    h->header = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (h->header == MAP_FAILED) {
        h->header = NULL;
        return -errno;
    }
    h->slots = (struct nsc_malloc_slot *)(h->header + 1);
    h->header->header_bytes = sizeof *h->header;
    h->header->slots_max = SLOTS;
    h->header->magic = NSC_MALLOC_MAGIC;
    snprintf(h->path, sizeof h->path, "/proc/%ld/fd/%d", (long)getpid(), h->fd);
    return 0;
}

int nsc_malloc_samples_create(struct nsc_malloc_samples **out, struct nsc_diag *diag)
{
    struct nsc_malloc_samples *h = calloc(1, sizeof *h);
    int error = -ENOMEM;

    if (h != NULL) {
        h->fd = -1;
        error = make_memory(h);
    }
    if (error != 0) {
        nsc_malloc_samples_free(h);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "cannot make shared memory to count calls of malloc: %s",
                            strerror(-error));
    }
    *out = h;
    return 0;
}

void nsc_malloc_samples_free(struct nsc_malloc_samples *h)
{
    if (h == NULL)
        return;
    if (h->header != NULL)
        munmap(h->header, h->bytes);
    if (h->fd >= 0)
        close(h->fd);
    free(h->pasts);
    free(h);
}

const char *nsc_malloc_samples_path(const struct nsc_malloc_samples *h)
{
    return h->path;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static uint64_t image_at(const struct nsc_malloc_samples *h, uint32_t slot)
{
    return __atomic_load_n(&h->slots[slot].image, __ATOMIC_ACQUIRE);
}

static uint64_t owner_at(const struct nsc_malloc_samples *h, uint32_t slot)
{
    return __atomic_load_n(&h->slots[slot].owner, __ATOMIC_ACQUIRE);
}

/* Slots are taken in order, except released ones that are reused. The first free slot from `high`
 * on ends the used part. */
static uint32_t in_use(const struct nsc_malloc_samples *h)
{
    uint32_t high = h->high;

    while (high < SLOTS && owner_at(h, high) != 0)
        high++;
    return high;
}

static void add_counts(struct nsc_malloc_counts *sum, const struct nsc_malloc_counts *more)
{
    sum->allocated_bytes += more->allocated_bytes;
    sum->freed_bytes += more->freed_bytes;
    sum->allocated_objects += more->allocated_objects;
    sum->freed_objects += more->freed_objects;
}

static struct nsc_malloc_counts read_slot(const struct nsc_malloc_samples *h, uint32_t slot)
{
    const struct nsc_malloc_slot *s = &h->slots[slot];

    /* Read the freed counts first: they then never exceed the allocated ones. */
    uint64_t freed_bytes = __atomic_load_n(&s->freed_bytes, __ATOMIC_RELAXED);
    uint64_t freed_objects = __atomic_load_n(&s->freed_objects, __ATOMIC_RELAXED);

    return (struct nsc_malloc_counts){
        .allocated_bytes = __atomic_load_n(&s->allocated_bytes, __ATOMIC_RELAXED),
        .freed_bytes = freed_bytes,
        .allocated_objects = __atomic_load_n(&s->allocated_objects, __ATOMIC_RELAXED),
        .freed_objects = freed_objects,
    };
}

/* The newest slot of a thread. It may have another one from before exec. */
static uint32_t newest_of(const struct nsc_malloc_samples *h, uint64_t owner)
{
    uint32_t i, high = in_use(h), found = NSC_NO_ID;

    for (i = 0; i < high; i++)
        if (owner_at(h, i) == owner && (found == NSC_NO_ID || image_at(h, i) > image_at(h, found)))
            found = i;
    return found;
}

bool nsc_malloc_samples_thread(const struct nsc_malloc_samples *h, uint32_t *slot, pid_t pid,
                               pid_t tid, struct nsc_malloc_counts *counts)
{
    uint64_t owner = owner_of(pid, tid);
    uint32_t found;

    if (*slot == NSC_NO_ID || owner_at(h, *slot) != owner) {
        found = newest_of(h, owner);
        if (found == NSC_NO_ID)
            return false;
        *slot = found;
    }
    *counts = read_slot(h, *slot);
    return true;
}

static struct past *past_of(const struct nsc_malloc_samples *h, pid_t pid, uint64_t image)
{
    for (uint32_t i = 0; i < h->past_count; i++)
        if (h->pasts[i].pid == pid && h->pasts[i].image == image)
            return &h->pasts[i];
    return NULL;
}

void nsc_malloc_samples_process(const struct nsc_malloc_samples *h, uint32_t slot,
                                struct nsc_malloc_counts *counts)
{
    uint64_t pid = owner_at(h, slot) >> 32, image = image_at(h, slot);
    const struct past *past = past_of(h, (pid_t)pid, image);
    struct nsc_malloc_counts sum = {0};
    uint32_t i, high = in_use(h);

    if (past != NULL)
        sum = past->counts;
    for (i = 0; i < high; i++) {
        struct nsc_malloc_counts one;

        if (owner_at(h, i) >> 32 != pid || image_at(h, i) != image)
            continue;
        one = read_slot(h, i);
        add_counts(&sum, &one);
    }
    *counts = sum;
}

/* ---- Releasing slots ------------------------------------------------------------------------- */

static struct past *add_past(struct nsc_malloc_samples *h, pid_t pid, uint64_t image)
{
    struct past *past = past_of(h, pid, image), *more;
    uint32_t i;

    if (past != NULL)
        return past;
    for (i = 0; i < h->past_count; i++)
        if (kill(h->pasts[i].pid, 0) != 0 && errno == ESRCH)
            break;
    more = nsc_array_grow(h->pasts, &h->past_room, i, sizeof *more);
    if (more == NULL)
        return NULL;
    h->pasts = more;
    if (i == h->past_count)
        h->past_count++;
    h->pasts[i] = (struct past){.pid = pid, .image = image};
    return &h->pasts[i];
}

static void give_back(struct nsc_malloc_samples *h, uint32_t slot, pid_t pid)
{
    struct nsc_malloc_counts counts = read_slot(h, slot);
    struct past *past = add_past(h, pid, image_at(h, slot));
    struct nsc_malloc_slot *s = &h->slots[slot];

    if (past != NULL)
        add_counts(&past->counts, &counts);
    if (slot >= h->high) /* it must still be read, although an earlier slot is free */
        h->high = slot + 1;
    __atomic_store_n(&s->allocated_bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->freed_bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->allocated_objects, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->freed_objects, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->image, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->owner, 0, __ATOMIC_RELEASE);
    if (slot < __atomic_load_n(&h->header->slot_hint, __ATOMIC_RELAXED))
        __atomic_store_n(&h->header->slot_hint, slot, __ATOMIC_RELAXED);
}

/* Whether the slot's thread has ended, or its program was replaced by exec. */
static bool is_over(const struct nsc_malloc_samples *h, uint32_t slot)
{
    uint64_t owner = owner_at(h, slot);
    pid_t pid = (pid_t)(owner >> 32), tid = (pid_t)owner;

    if (syscall(SYS_tgkill, pid, tid, 0) != 0 && errno == ESRCH)
        return true;
    return pid == tid && newest_of(h, owner) != slot; /* only the main thread survives exec */
}

void nsc_malloc_samples_release(struct nsc_malloc_samples *h, uint32_t slot, pid_t pid, pid_t tid)
{
    h->high = in_use(h);
    if (slot != NSC_NO_ID && owner_at(h, slot) == owner_of(pid, tid) && is_over(h, slot))
        give_back(h, slot, pid);
}

void nsc_malloc_samples_sweep(struct nsc_malloc_samples *h)
{
    uint32_t i;

    h->high = in_use(h);
    for (i = 0; i < SWEEP && i < h->high; i++) {
        uint64_t owner;

        if (h->swept >= h->high)
            h->swept = 0;
        owner = owner_at(h, h->swept);
        if (owner != 0 && is_over(h, h->swept))
            give_back(h, h->swept, (pid_t)(owner >> 32));
        h->swept++;
    }
}

uint32_t nsc_malloc_samples_in_use(const struct nsc_malloc_samples *h)
{
    return in_use(h);
}

uint32_t nsc_malloc_samples_uncounted(const struct nsc_malloc_samples *h)
{
    return __atomic_load_n(&h->header->uncounted, __ATOMIC_RELAXED);
}
