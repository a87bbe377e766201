/*
 * threads.c - the slow path of a hook: a thread's first event, a full chunk, a change of the ticks'
 * upper half; and sessions, which threads join at their next event.
 *
 * Hooks never wait: memory and entries of the table of threads are claimed by compare-and-swap.
 * Events that cannot be stored are counted.
 */
#include "android/bionic.h"
#include "android/recording.h"
#include "android/ticks.h"

#define CHUNK_MAX ((size_t)256 << 10)
#define MEMORY_LEAST                                                                               \
    ((size_t)8 << 20) /* a recording with less is not worthwhile if more is requested */
/* Amount of memory that is populated before it is claimed, and the step size. */
#define WARM_AHEAD ((size_t)16 << 20)
#define WARM_STEP  ((size_t)1 << 20)
#define WARM_NS                                                                                    \
    1000000 /* pause between checks while memory is being claimed; else ten times that */
/* A thread's entry lives until the third round of pthread destructors (both C libraries run four):
 * destructors of other libraries may call hooks. */
#define PASSES 3

struct nsc_jni_hot nsc_jni_table[1 << NSC_JNI_HOT_BITS];
struct nsc_jni_state nsc_jni;
static nsc_bionic_key thread_key;

static bool is_on(void)
{
    return __atomic_load_n(&nsc_jni.mode, __ATOMIC_RELAXED) == NSC_JNI_ON;
}

static void count_lost(uintptr_t *lost)
{
    __atomic_fetch_add(lost, 1, __ATOMIC_RELAXED);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static bool is_pinned(size_t at)
{
    size_t unit = at / NSC_JNI_UNIT;

    return (nsc_jni.pinned[unit / 8] >> (unit % 8) & 1) != 0;
}

/* Claim up to @wanted bytes of zeros, a multiple of NSC_JNI_UNIT; @got receives the size. NULL: no
 * memory is left. */
static void *claim_memory(size_t wanted, size_t *got)
{
    size_t used = __atomic_load_n(&nsc_jni.memory_bytes, __ATOMIC_RELAXED), bytes;
    bool pinned;

    do {
        if (used == nsc_jni.memory_room)
            return NULL;
        pinned = is_pinned(used);
        bytes = NSC_JNI_UNIT;
        while (!pinned && bytes < wanted && bytes < nsc_jni.memory_room - used &&
               !is_pinned(used + bytes))
            bytes += NSC_JNI_UNIT;
        if (!__atomic_compare_exchange_n(&nsc_jni.memory_bytes, &used, used + bytes, true,
                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            pinned = true; /* retry from the new value */
        else if (pinned)
            used += bytes;
    } while (pinned);
    *got = bytes;
    /* One fault for all pages, if the kernel supports it (5.14). */
    if (bytes > NSC_JNI_UNIT &&
        used + bytes > __atomic_load_n(&nsc_jni.warm_bytes, __ATOMIC_RELAXED))
        madvise(nsc_jni.memory + used, bytes, NSC_MADV_POPULATE_WRITE);
    return nsc_jni.memory + used;
}

/* Populate [@at, @at + @bytes). The content stays, even if other threads write there meanwhile. */
static void warm(uint8_t *at, size_t bytes)
{
    if (madvise(at, bytes, NSC_MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < bytes; i += NSC_JNI_UNIT)
        __atomic_fetch_or((uint32_t *)(void *)(at + i), 0, __ATOMIC_RELAXED);
}

void *nsc_jni_warm_memory(void *unused)
{
    struct nsc_bionic_time busy = {0, WARM_NS}, idle = {0, 10 * WARM_NS};
    uint32_t session = nsc_jni.session;
    size_t done = 0, used, bytes;

    prctl(NSC_PR_SET_NAME, "nanoscope pages");
    while (is_on() && nsc_jni.session == session) {
        used = __atomic_load_n(&nsc_jni.memory_bytes, __ATOMIC_RELAXED);
        done = used > done ? used : done;
        bytes = nsc_jni.memory_room - done < WARM_STEP ? nsc_jni.memory_room - done : WARM_STEP;
        if (bytes == 0)
            break;
        if (done - used >= WARM_AHEAD) {
            nanosleep(&idle, NULL);
            continue;
        }
        warm(nsc_jni.memory + done, bytes);
        done += bytes;
        __atomic_store_n(&nsc_jni.warm_bytes, done, __ATOMIC_RELAXED);
        if (done - used >= WARM_AHEAD)
            nanosleep(&busy, NULL);
    }
    return unused;
}

/* Let the thread record at @hot, unless the session has ended meanwhile. The thread that ends a
 * session changes the mode first, then clears all limits. */
static bool arm(struct nsc_jni_hot *hot, uintptr_t limit)
{
    __atomic_store_n(&hot->limit, limit, __ATOMIC_RELAXED);
    if (hot != &hot->thread->own)
        __atomic_store_n(&hot->owner, nsc_jni_self(), __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (is_on())
        return true;
    __atomic_store_n(&hot->limit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&hot->owner, 0, __ATOMIC_RELAXED);
    return false;
}

/* Continue in a new chunk, four times as large as the previous one. */
static bool next_chunk(struct nsc_jni_thread *thread, struct nsc_jni_hot *hot, uint32_t high)
{
    struct nsc_jni_chunk *last = thread->chunk, *chunk;
    size_t wanted = last == NULL ? NSC_JNI_UNIT : (size_t)last->bytes * 4, bytes = 0;

    __atomic_store_n(&hot->limit, 0, __ATOMIC_RELAXED);
    chunk = claim_memory(wanted < CHUNK_MAX ? wanted : CHUNK_MAX, &bytes);
    if (chunk == NULL)
        return false;
    chunk->bytes = (uint32_t)bytes;
    chunk->high = high;
    thread->chunk = chunk;
    __atomic_store_n(last == NULL ? &thread->first : &last->next, chunk, __ATOMIC_RELEASE);
    hot->high = high;
    hot->at = (uintptr_t)(chunk + 1);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    return arm(hot, (uintptr_t)chunk + bytes);
}

/* ---- Events ------------------------------------------------------------------------------- */

/* Join the session. */
static void join(struct nsc_jni_thread *thread, struct nsc_jni_hot *hot, uint64_t ticks)
{
    __atomic_store_n(&hot->limit, 0, __ATOMIC_RELAXED);
    thread->first = thread->chunk = NULL;
    thread->start_ticks = ticks;
    __atomic_store_n(&thread->session, nsc_jni.session, __ATOMIC_RELEASE);
}

/* Write an event, and before it the escapes that a reader needs first. @at: reserved slot, 0 = none
 * yet. */
static void emit(struct nsc_jni_thread *thread, struct nsc_jni_hot *hot, uintptr_t at,
                 uint64_t ticks, uint32_t code)
{
    uint32_t high = (uint32_t)(ticks >> 32);

    for (;; at = nsc_jni_reserve(hot)) {
        uint32_t untold = (uint32_t)thread->lost - thread->told;

        if (at == 0 && hot->limit != 0)
            continue;
        if (at == 0 || at >= hot->limit) {
            if (next_chunk(thread, hot, high))
                continue;
            if (is_on())
                count_lost(&thread->lost);
            return;
        }
        if (hot->high != high) {
            nsc_jni_store(at, NSC_APP_ESC_CLOCK, high);
            hot->high = high;
        } else if (untold > 0) {
            nsc_jni_store(at, NSC_APP_ESC_LOST, untold);
            thread->told += untold;
        } else {
            nsc_jni_store(at, code, (uint32_t)ticks);
            return;
        }
    }
}

void nsc_jni_slow(struct nsc_jni_hot *hot, uintptr_t at, uint64_t ticks, uint32_t code)
{
    struct nsc_jni_thread *thread = hot->thread;

    if (!is_on() || thread == NULL)
        return;
    if (thread->busy != 0) { /* this is a signal handler that interrupted the slow path */
        count_lost(&thread->lost);
        return;
    }
    __atomic_store_n(&thread->busy, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (is_on()) { /* from here on no new session begins until busy is cleared */
        if (thread->session != nsc_jni.session) {
            join(thread, hot, ticks);
            at = 0;
        }
        emit(thread, hot, at, ticks, code);
    }
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

/* ---- Threads ------------------------------------------------------------------------------ */

static struct nsc_jni_thread *claim_thread(void)
{
    uint32_t free_life, at;

    do {
        if (__atomic_load_n(&nsc_jni.threads_next, __ATOMIC_RELAXED) >= NSC_JNI_THREADS_MAX)
            return NULL;
        at = __atomic_fetch_add(&nsc_jni.threads_next, 1, __ATOMIC_RELAXED);
        free_life = NSC_JNI_FREE;
    } while (at < NSC_JNI_THREADS_MAX &&
             !__atomic_compare_exchange_n(&nsc_jni.threads[at].life, &free_life, NSC_JNI_ALIVE,
                                          false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    return at < NSC_JNI_THREADS_MAX ? &nsc_jni.threads[at] : NULL;
}

/* Give the calling thread an entry, and its place in the table if that is free. */
static struct nsc_jni_thread *begin_thread(void)
{
    struct nsc_jni_thread *thread = claim_thread(), *nobody = NULL;
    struct nsc_jni_hot *place = nsc_jni_place(nsc_jni_self());

    if (thread == NULL)
        return NULL;
    thread->session = 0;
    thread->passes = 0;
    thread->busy = 0;
    thread->lost = 0;
    thread->told = 0;
    thread->chunk = thread->first = NULL;
    thread->tid = gettid();
    thread->own.thread = thread;
    thread->hot = &thread->own;
    if (__atomic_compare_exchange_n(&place->thread, &nobody, thread, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        thread->hot = place;
    thread->hot->limit = 0;
    if (pthread_setspecific(thread_key, thread) == 0)
        return thread;
    /* The thread's end would not be reported. */
    if (thread->hot == place)
        __atomic_store_n(&place->thread, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->life, NSC_JNI_FREE, __ATOMIC_RELEASE);
    return NULL;
}

void nsc_jni_stranger(uint32_t code)
{
    struct nsc_jni_thread *thread;

    if (NSC_JNI_LIKELY(!is_on()))
        return;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    thread = pthread_getspecific(thread_key);
    if (thread == NULL)
        thread = begin_thread();
    if (thread == NULL)
        count_lost(&nsc_jni.lost);
    else
        nsc_jni_slow(thread->hot, 0, nsc_jni_ticks(), code);
}

/* Destructor of the key: runs when the thread ends. */
static void end_thread(void *context)
{
    struct nsc_jni_thread *thread = context;
    struct nsc_jni_hot *hot = thread->hot;

    if (++thread->passes < PASSES && pthread_setspecific(thread_key, thread) == 0)
        return;
    __atomic_store_n(&hot->owner, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&hot->limit, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_ACQ_REL);
    thread->end_ticks = nsc_jni_ticks();
    memset(thread->name, 0, sizeof thread->name);
    prctl(NSC_PR_GET_NAME, thread->name);
    if (hot != &thread->own)
        __atomic_store_n(&hot->thread, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->life, NSC_JNI_DEAD, __ATOMIC_RELEASE);
}

bool nsc_jni_threads_begin(void)
{
    void (*child)(void) = nsc_jni_session_drop;

    if (pthread_key_create(&thread_key, end_thread) != 0)
        return false;
    if (pthread_atfork != NULL)
        pthread_atfork(NULL, NULL, child);
    else if (__register_atfork != NULL)
        __register_atfork(NULL, NULL, child, NULL);
    return true;
}

/* ---- Sessions ----------------------------------------------------------------------------- */

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, NSC_PROT_READ_WRITE, NSC_MAP_OF_ITS_OWN, -1, 0);

    return at == (void *)-1 ? NULL : at;
}

/* Map memory for events: less than @bytes if the address space is short. */
static void map_memory(size_t bytes)
{
    while ((nsc_jni.memory = map(bytes)) == NULL && bytes > MEMORY_LEAST)
        bytes = bytes / 2 / NSC_JNI_UNIT * NSC_JNI_UNIT;
    nsc_jni.memory_room = nsc_jni.memory != NULL ? bytes : 0;
}

static bool map_all(size_t bytes)
{
    if (nsc_jni.threads == NULL)
        nsc_jni.threads = map(NSC_JNI_THREADS_MAX * sizeof *nsc_jni.threads);
    if (nsc_jni.pinned == NULL)
        nsc_jni.pinned = map(bytes / NSC_JNI_UNIT / 8 + 1);
    if (nsc_jni.memory == NULL)
        map_memory(bytes);
    if (nsc_jni.threads == NULL || nsc_jni.pinned == NULL || nsc_jni.memory == NULL)
        return false;
    madvise(nsc_jni.memory, nsc_jni.memory_room, NSC_MADV_DONTDUMP);
    return true;
}

/* Wait until no thread is in the slow path, which takes microseconds. Returns false after a
 * timeout. */
static bool is_quiet(void)
{
    struct nsc_bionic_time pause = {0, 1000000};
    uint32_t at = 0;

    for (int i = 0; i < 500; i++) {
        while (at < NSC_JNI_THREADS_MAX &&
               (__atomic_load_n(&nsc_jni.threads[at].life, __ATOMIC_ACQUIRE) != NSC_JNI_ALIVE ||
                __atomic_load_n(&nsc_jni.threads[at].busy, __ATOMIC_ACQUIRE) == 0))
            at++;
        if (at == NSC_JNI_THREADS_MAX)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/*
 * Pin the last chunk of a living thread until the thread joins the new session. The thread may have
 * been stopped while it writes an event, and may complete it at any later time.
 */
static void pin(const struct nsc_jni_thread *thread)
{
    size_t at, end;

    if (thread->chunk == NULL)
        return;
    at = (size_t)((uint8_t *)thread->chunk - nsc_jni.memory);
    for (end = at + thread->chunk->bytes; at < end; at += NSC_JNI_UNIT)
        nsc_jni.pinned[at / NSC_JNI_UNIT / 8] |= (uint8_t)(1u << (at / NSC_JNI_UNIT % 8));
}

/*
 * Zero [@from, @to). The kernel discards whole pages, of up to NSC_JNI_PAGE_MAX, and refuses if the
 * app has locked its memory. The partial pages are written instead.
 */
static void clear(size_t from, size_t to)
{
    size_t mask = NSC_JNI_PAGE_MAX - 1, first = (from + mask) & ~mask, last = to & ~mask;

    if (first >= last || madvise(nsc_jni.memory + first, last - first, NSC_MADV_DONTNEED) != 0) {
        memset(nsc_jni.memory + from, 0, to - from);
        return;
    }
    memset(nsc_jni.memory + from, 0, first - from);
    memset(nsc_jni.memory + last, 0, to - last);
}

/* Zero all memory that is not pinned; costs almost nothing. */
static void clear_memory(void)
{
    static size_t used; /* by any session: memory that was pinned then may be free now */
    size_t from = 0;

    if (nsc_jni.memory_bytes > used)
        used = nsc_jni.memory_bytes;
    for (size_t at = 0; at <= used; at += NSC_JNI_UNIT) {
        if (at < used && !is_pinned(at))
            continue;
        if (at > from)
            clear(from, at);
        from = at + NSC_JNI_UNIT;
    }
}

const char *nsc_jni_session_begin(size_t bytes)
{
    if (!map_all(bytes))
        return "no memory";
    if (!is_quiet())
        return "a thread has been stopped within a hook";
    memset(nsc_jni.pinned, 0, nsc_jni.memory_room / NSC_JNI_UNIT / 8 + 1);
    for (uint32_t i = 0; i < NSC_JNI_THREADS_MAX; i++) {
        struct nsc_jni_thread *thread = &nsc_jni.threads[i];
        uint32_t life = __atomic_load_n(&thread->life, __ATOMIC_ACQUIRE);

        if (life == NSC_JNI_ALIVE) {
            pin(thread);
            thread->lost =
                0; /* before anything counts: after it has joined, a signal handler may */
            thread->told = 0;
        } else if (life == NSC_JNI_DEAD) {
            __atomic_store_n(&thread->life, NSC_JNI_FREE, __ATOMIC_RELEASE);
        }
    }
    clear_memory();
    nsc_jni.memory_bytes = 0;
    nsc_jni.warm_bytes = 0;
    nsc_jni.threads_next = 0;
    nsc_jni.lost = 0;
    nsc_jni.session++;
    return NULL;
}

void nsc_jni_session_end(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (size_t i = 0; i < sizeof nsc_jni_table / sizeof nsc_jni_table[0]; i++) {
        if (nsc_jni_table[i].owner == 0)
            continue;
        __atomic_store_n(&nsc_jni_table[i].owner, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&nsc_jni_table[i].limit, 0, __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; nsc_jni.threads != NULL && i < NSC_JNI_THREADS_MAX; i++)
        if (nsc_jni.threads[i].own.limit != 0)
            __atomic_store_n(&nsc_jni.threads[i].own.limit, 0, __ATOMIC_RELAXED);
}

void nsc_jni_session_drop(void)
{
    __atomic_store_n(&nsc_jni.mode, NSC_JNI_NEVER, __ATOMIC_RELAXED);
    nsc_jni_session_end();
}
