/*
 * malloc_count.c - libnanoscope-malloc.so: interposes the program's allocator and counts
 * allocations and frees per thread.
 *
 * Preloaded by `record --memory` only. Runs inside every call of malloc: it never allocates, locks,
 * prints or changes errno. It makes system calls only at a thread's first call. Without the
 * recorder's memory it forwards every call uncounted.
 */
#include <stdbool.h>
#include <stddef.h>

#include "abi/malloc_counts.h"
#include "arch/arch.h"
#include "linux/sys/sys.h"

#define EXPORT      __attribute__((visibility("default")))
#define LIKELY(e)   __builtin_expect(!!(e), 1)
#define RTLD_NEXT   ((void *)-1l)
#define ERROR_NOMEM 12
#define BYTES_MAX   (1u << 26) /* maximum size of the shared memory */

extern char **environ;
int *__errno_location(void);
void *dlsym(void *handle, const char *name);

/* As libc declares them. */
EXPORT void *malloc(size_t bytes);
EXPORT void *calloc(size_t count, size_t bytes);
EXPORT void *realloc(void *old, size_t bytes);
EXPORT void *reallocarray(void *old, size_t count, size_t bytes);
EXPORT void free(void *at);
EXPORT int posix_memalign(void **out, size_t alignment, size_t bytes);
EXPORT void *aligned_alloc(size_t alignment, size_t bytes);
EXPORT void *memalign(size_t alignment, size_t bytes);
EXPORT void *valloc(size_t bytes);
EXPORT void *pvalloc(size_t bytes);

/* The interposed allocator. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*usable)(void *);
} next;

enum { UNKNOWN, COUNTING, NOT_COUNTING };
static int state; /* atomic */
static struct nsc_malloc_header *header;
static struct nsc_malloc_slot *slots;
static uint32_t slots_max;
static uint64_t image;

/* In a page that reads zero in forked children: their threads' slots still belong to the parent. */
static uint32_t always = 1;
static uint32_t *alive = &always;
static _Thread_local struct nsc_malloc_slot *mine;
/* For threads without a slot: never read. */
static struct nsc_malloc_slot nowhere;

/*
 * Memory for allocations while the interposed allocator is being looked up, made by the dynamic
 * linker in the thread that does the lookup. Never freed.
 */
static _Thread_local bool looking_up;
static _Alignas(16) uint8_t early[8192];
static size_t early_used; /* atomic */

static void *give_early(size_t bytes)
{
    size_t want = (bytes + 15) & ~(size_t)15, at;

    if (bytes > sizeof early)
        return NULL;
    at = __atomic_fetch_add(&early_used, want, __ATOMIC_RELAXED);
    return at + want <= sizeof early ? &early[at] : NULL;
}

static bool is_early(const void *at)
{
    return (uintptr_t)at - (uintptr_t)early < sizeof early;
}

/* Store the address of @name in @function. By memcpy(), because C has no cast from a pointer to an
 * object to a function pointer. */
static void look_up(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);

    __builtin_memcpy(function, &found, sizeof found);
}

/* Several threads may do this at once, with the same result. malloc is stored last, because it
 * marks the others as complete. */
static void find_next(void)
{
    void *(*found)(size_t);
    int saved = *__errno_location();

    looking_up = true;
    look_up("calloc", &next.calloc);
    look_up("realloc", &next.realloc);
    look_up("free", &next.free);
    look_up("posix_memalign", &next.posix_memalign);
    look_up("aligned_alloc", &next.aligned_alloc);
    look_up("memalign", &next.memalign);
    look_up("malloc_usable_size", &next.usable);
    look_up("malloc", &found);
    __atomic_store_n(&next.malloc, found, __ATOMIC_RELEASE);
    looking_up = false;
    *__errno_location() = saved;
}

/* Return false if this call comes from the lookup itself. */
static inline bool ready(void)
{
    if (LIKELY(__atomic_load_n(&next.malloc, __ATOMIC_ACQUIRE) != NULL))
        return true;
    if (looking_up)
        return false;
    find_next();
    return true;
}

/* ---- The thread's slot ----------------------------------------------------------------------- */

static const char *find_variable(const char *name)
{
    char **at;

    for (at = environ; at != NULL && *at != NULL; at++) {
        const char *entry = *at, *want = name;

        while (*want != 0 && *entry == *want) {
            entry++;
            want++;
        }
        if (*want == 0 && *entry == '=')
            return entry + 1;
    }
    return NULL;
}

/* Map and check the recorder's memory. Returns false if it is not valid. */
static bool map_slots(int fd)
{
    int64_t bytes = nsc_sys_size(fd);
    struct nsc_malloc_header *h;

    if (bytes < (int64_t)(sizeof *h + sizeof *slots) || bytes > BYTES_MAX)
        return false;
    h = nsc_sys_map_shared(fd, (size_t)bytes);
    if (h == NULL)
        return false;
    slots_max = h->slots_max;
    if (h->magic != NSC_MALLOC_MAGIC || h->header_bytes != sizeof *h || slots_max == 0 ||
        slots_max > ((size_t)bytes - sizeof *h) / sizeof *slots) {
        nsc_sys_unmap(h, (size_t)bytes);
        return false;
    }
    slots = (struct nsc_malloc_slot *)(h + 1);
    header = h;
    return true;
}

static bool open_memory(void)
{
    const char *path = find_variable(NSC_MALLOC_ENV);
    int fd = path != NULL && !nsc_sys_privileged() ? nsc_sys_open_memory(path, NULL) : -1;
    uint32_t *page;
    bool mapped;

    if (fd < 0)
        return false;
    mapped = map_slots(fd);
    nsc_sys_close(fd);
    if (!mapped)
        return false;
    page = nsc_sys_map_private(nsc_sys_page_bytes());
    if (page == NULL || nsc_sys_wipe_on_fork(page, nsc_sys_page_bytes()) != 0)
        return false;
    *page = 1;
    alive = page;
    image = nsc_arch_ticks();
    return true;
}

/* Claim a slot: at the thread's first call, or at the first one after a fork. */
static __attribute__((noinline)) struct nsc_malloc_slot *take_slot(void)
{
    uint32_t pid = 0, tid = 0, from, i;
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

    if (now == UNKNOWN)
        return &nowhere;
    __atomic_store_n(alive, 1, __ATOMIC_RELAXED);
    mine = &nowhere;
    if (now == NOT_COUNTING || nsc_sys_ids_in_proc(&pid, &tid) != 0)
        return mine;
    from = __atomic_load_n(&header->slot_hint, __ATOMIC_RELAXED);
    for (i = 0; i < slots_max; i++) {
        struct nsc_malloc_slot *slot = &slots[(from + i) % slots_max];
        uint64_t nobody = 0;

        if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) != 0 ||
            !__atomic_compare_exchange_n(&slot->owner, &nobody, (uint64_t)pid << 32 | tid, false,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&header->slot_hint, (from + i + 1) % slots_max, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->image, image, __ATOMIC_RELEASE);
        mine = slot;
        return slot;
    }
    __atomic_fetch_add(&header->uncounted, 1, __ATOMIC_RELAXED);
    return mine;
}

/* Calls before this, of libraries that are initialised earlier, are not counted. */
__attribute__((constructor)) static void begin(void)
{
    __atomic_store_n(&state, open_memory() ? COUNTING : NOT_COUNTING, __ATOMIC_RELEASE);
    /* Claim the slot even if the thread never calls malloc: the counts before exec are over. */
    take_slot();
}

static inline struct nsc_malloc_slot *my_slot(void)
{
    struct nsc_malloc_slot *slot = mine;

    if (LIKELY(slot != NULL && __atomic_load_n(alive, __ATOMIC_RELAXED) != 0))
        return slot;
    return take_slot();
}

/* Only this thread writes the number. */
static inline void add(uint64_t *number, uint64_t more)
{
    __atomic_store_n(number, *number + more, __ATOMIC_RELAXED);
}

/* Count the allocation @at; NULL: it failed. Returns @at. */
static inline void *given(void *at)
{
    struct nsc_malloc_slot *slot;

    if (at == NULL)
        return NULL;
    slot = my_slot();
    add(&slot->allocated_bytes, next.usable(at));
    add(&slot->allocated_objects, 1);
    return at;
}

/* Count the free of an object of @bytes. */
static inline void taken(size_t bytes)
{
    struct nsc_malloc_slot *slot = my_slot();

    add(&slot->freed_bytes, bytes);
    add(&slot->freed_objects, 1);
}

/* ---- The allocator's functions --------------------------------------------------------------- */

void *malloc(size_t bytes)
{
    return ready() ? given(next.malloc(bytes)) : give_early(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;

    if (ready())
        return given(next.calloc(count, bytes));
    /* The memory is still zero, because no part of it is reused. */
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : give_early(all);
}

void free(void *at)
{
    if (at == NULL || is_early(at) || !ready())
        return;
    taken(next.usable(at));
    next.free(at);
}

/* Move early memory to the allocator. The old size is not known, so all bytes up to the end of the
 * early memory, at most @bytes, are copied. */
static void *move_early(const uint8_t *old, size_t bytes)
{
    size_t most = (size_t)(early + sizeof early - old);
    uint8_t *to = malloc(bytes);

    for (size_t i = 0; to != NULL && i < bytes && i < most; i++)
        to[i] = old[i];
    return to;
}

void *realloc(void *old, size_t bytes)
{
    size_t before;
    void *at;

    if (old == NULL)
        return malloc(bytes);
    if (is_early(old) || !ready())
        return move_early(old, bytes);
    before = next.usable(old);
    at = next.realloc(old, bytes);
    if (at != NULL || bytes == 0) /* glibc frees the object when the new size is 0 */
        taken(before);
    return given(at);
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        *__errno_location() = ERROR_NOMEM;
        return NULL;
    }
    return realloc(old, all);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    int error = ready() ? next.posix_memalign(out, alignment, bytes) : ERROR_NOMEM;

    if (error == 0)
        given(*out);
    return error;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return ready() ? given(next.aligned_alloc(alignment, bytes)) : NULL;
}

void *memalign(size_t alignment, size_t bytes)
{
    return ready() ? given(next.memalign(alignment, bytes)) : NULL;
}

void *valloc(size_t bytes)
{
    return memalign(nsc_sys_page_bytes(), bytes);
}

void *pvalloc(size_t bytes)
{
    size_t page = nsc_sys_page_bytes();

    if (bytes > SIZE_MAX - page) {
        *__errno_location() = ERROR_NOMEM;
        return NULL;
    }
    return memalign(page, (bytes + page - 1) / page * page);
}
