/*
 * session.c - joining a session, forked children, and noticing that the recorder is gone. Called
 * from constructors and from the slow path; see session.h for the rules that hold here.
 */
#include "runtime/session.h"

#include "arch/arch.h"
#include "os/os.h"
#include "runtime/module.h"

#define PAGE_BYTES      4096u
#define CHUNK_BYTES_MIN 8192u
/* Looks, a second apart at least, at a heartbeat that stands still, after which the recorder counts
 * as dead. So many because a recorder that is stopped, or that waits for a disk, comes back and
 * wants the losses counted. Counting looks keeps a suspended machine from looking like one long
 * silence. */
#define STRIKES_MAX     120

struct nsc_session nsc_session;

/* Of libc or the program; weak, so that the runtime links without either. */
extern char **environ __attribute__((weak));

static const char *live_path(void)
{
    static const char name[] = NSC_LIVE_ENV "=";
    char **entry;

    if (&environ == NULL || environ == NULL)
        return NULL;
    for (entry = environ; *entry != NULL; entry++) {
        size_t i = 0;

        while (name[i] != 0 && (*entry)[i] == name[i])
            i++;
        if (name[i] == 0)
            return *entry + i;
    }
    return NULL;
}

/* Whether @count entries of @bytes at @offset lie inside the region, and aligned. */
static int table_fits(uint64_t offset, uint64_t count, uint64_t bytes, uint64_t total)
{
    return count > 0 && offset >= sizeof(struct nsc_live_header) && offset % 8 == 0 &&
           offset <= total && count <= (total - offset) / bytes;
}

static int header_valid(const struct nsc_live_header *h, uint64_t total)
{
    return h->magic == NSC_LIVE_MAGIC && h->version == NSC_LIVE_VERSION &&
           h->header_bytes >= sizeof(*h) && h->total_bytes == total && h->event_bytes == 16 &&
           h->exit_bit == NSC_ARCH_EXIT_BIT && h->chunk_bytes >= CHUNK_BYTES_MIN &&
           (h->chunk_bytes & (h->chunk_bytes - 1)) == 0 && h->chunks_max < NSC_CHUNKS_MAX &&
           table_fits(h->processes_off, h->processes_max, sizeof(struct nsc_live_process), total) &&
           table_fits(h->modules_off, h->modules_max, sizeof(struct nsc_live_module), total) &&
           table_fits(h->threads_off, h->threads_max, sizeof(struct nsc_live_thread), total) &&
           table_fits(h->chunks_off, h->chunks_max, sizeof(struct nsc_live_chunk), total) &&
           table_fits(h->data_off, h->chunks_max, h->chunk_bytes, total) &&
           h->data_off % PAGE_BYTES == 0 && h->filter_off <= total &&
           h->filter_bytes <= total - h->filter_off;
}

/* Where address space is limited, the program is to have it: no room for chunks yet to come. */
static size_t bytes_to_map(const struct nsc_live_header *h)
{
    uint32_t chunks = NSC_LOAD(&h->chunk_count);

    if (chunks >= h->chunks_max || !nsc_os_address_space_limited())
        return (size_t)h->total_bytes;
    return (size_t)(h->data_off + (uint64_t)chunks * h->chunk_bytes);
}

/* @bytes: receives how much of the session is mapped. */
static struct nsc_live_header *map_session(const char *path, size_t *bytes)
{
    struct nsc_live_header *header = NULL;
    int fd = nsc_os_open(path, 1);
    int64_t total;

    if (fd < 0)
        return NULL;
    total = nsc_os_size(fd);
    *bytes = 0;
    if (total >= (int64_t)PAGE_BYTES)
        header = nsc_os_map_shared(fd, PAGE_BYTES);
    if (header != NULL) {
        if (header_valid(header, (uint64_t)total))
            *bytes = bytes_to_map(header);
        nsc_os_unmap(header, PAGE_BYTES);
        header = *bytes != 0 ? nsc_os_map_shared(fd, *bytes) : NULL;
    }
    nsc_os_close(fd);
    return header;
}

int64_t nsc_slot_claim(uint32_t *state, size_t stride, uint32_t max, uint32_t *hint)
{
    uint32_t from = NSC_LOAD(hint);
    uint32_t i;

    for (i = 0; i < max; i++) {
        uint32_t at = (uint32_t)(((uint64_t)from + i) % max);
        uint32_t *word = (uint32_t *)(void *)((char *)state + at * stride);

        if (NSC_LOAD(word) == NSC_LIVE_FREE && nsc_cas32(word, NSC_LIVE_FREE, NSC_LIVE_CLAIMED)) {
            NSC_STORE(hint, at + 1);
            return at;
        }
    }
    return -1;
}

/*
 * Who we are for the recorder, whose /proc the session's path is in. Asked at the start and by the
 * first process of a pid namespace, whose children are abroad, too.
 */
static void identify(uint32_t ppid)
{
    struct nsc_session *s = &nsc_session;
    uint32_t own = nsc_os_pid(), pid, tid;

    s->pid = own;
    if ((ppid == 0 || own == 1 || s->abroad) && nsc_os_ids_in_proc(&pid, &tid) == 0) {
        s->abroad = pid != own;
        s->pid = pid;
    }
}

/* Takes a process slot; @ppid is 0 for a program that was not forked from a recorded one. */
static int join(uint32_t ppid)
{
    struct nsc_session *s = &nsc_session;
    struct nsc_live_process *p;
    int64_t at = nsc_slot_claim(&s->processes->state, sizeof(*p), s->processes_max,
                                &s->header->process_hint);

    if (at < 0)
        return 0;
    p = s->processes + at;
    s->process = (uint32_t)at;
    identify(ppid);
    p->pid = s->pid;
    p->ppid = ppid;
    p->problems = 0;
    p->start_ticks = nsc_arch_ticks();
    p->lost = 0;
    NSC_STORE(&p->state, NSC_LIVE_LIVE);
    return 1;
}

/* Which chunks are the pool's, which the threads' own; @mapped: chunks that are mapped. */
static void divide_chunks(struct nsc_session *s, const struct nsc_live_header *h, uint32_t mapped)
{
    uint32_t homes = h->home_count < h->chunks_max ? h->home_count : 0;

    s->chunks_max = mapped;
    s->home_first = h->chunks_max - homes;
    s->home_count = mapped == h->chunks_max ? homes : 0;
    s->pool_max = mapped < s->home_first ? mapped : s->home_first;
}

/* A first event on a page would cost a fault, more than a hundred events: take them all now (about
 * 0.1 ms per MiB). Only of chunks that have pages: others would get them by it. Chunks that the
 * recorder adds later are met by touch_chunk(). */
static void map_pool(const struct nsc_session *s)
{
    uint32_t backed = NSC_LOAD(&s->header->chunks_backed);

    if (backed > s->pool_max)
        backed = s->pool_max;
    nsc_os_map_pages(s->data, (size_t)backed * s->chunk_bytes);
}

static int start(void)
{
    struct nsc_session *s = &nsc_session;
    const char *path = live_path();
    struct nsc_live_header *h;
    uint8_t *base;
    size_t bytes, wiped_bytes;

    if (path == NULL || nsc_os_privileged())
        return 0;
    h = map_session(path, &bytes);
    if (h == NULL)
        return 0;
    base = (uint8_t *)h;
    s->processes = (struct nsc_live_process *)(void *)(base + h->processes_off);
    s->modules = (struct nsc_live_module *)(void *)(base + h->modules_off);
    s->threads = (struct nsc_live_thread *)(void *)(base + h->threads_off);
    s->chunks = (struct nsc_live_chunk *)(void *)(base + h->chunks_off);
    s->filter = base + h->filter_off;
    s->data = base + h->data_off;
    s->processes_max = h->processes_max;
    s->modules_max = h->modules_max;
    s->threads_max = h->threads_max;
    s->chunk_bytes = h->chunk_bytes;
    divide_chunks(s, h, (uint32_t)((bytes - h->data_off) / s->chunk_bytes));
    s->filter_bytes = h->filter_bytes;
    s->generation = 1;
    s->header = h;
    if (!join(0)) {
        s->header = NULL;
        nsc_os_unmap(h, bytes);
        return 0;
    }
    map_pool(s);
    wiped_bytes = sizeof(uint64_t) * NSC_END_STRIDE * (1 + (size_t)s->threads_max);
    s->wiped = nsc_os_map_private(wiped_bytes);
    if (s->wiped == NULL || nsc_os_wipe_on_fork(s->wiped, wiped_bytes) < 0) {
        /* A child could not tell that it is one: record nothing rather than mix processes. */
        __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_STATE,
                          __ATOMIC_RELAXED);
        return 0;
    }
    NSC_STORE(&s->wiped[0], (uint64_t)NSC_PRESENCE_JOINED);
    return 1;
}

int nsc_session_start(void)
{
    enum { UNTRIED, TRYING, NO, YES };
    static uint32_t tried;
    uint32_t state;

    if (NSC_LOAD(&tried) == UNTRIED && nsc_cas32(&tried, UNTRIED, TRYING)) {
        int started = start();

        NSC_STORE(&nsc_session.off, (uint32_t)!started);
        NSC_STORE(&tried, (uint32_t)(started ? YES : NO));
    }
    /* Two threads in constructors at once: dlopen holds a lock, so this hardly ever waits. */
    while ((state = NSC_LOAD(&tried)) == TRYING)
        nsc_os_sleep_ns(100000);
    return state == YES;
}

int nsc_session_present(void)
{
    struct nsc_session *s = &nsc_session;

    if (s->header == NULL || NSC_LOAD(&s->off))
        return 0;
    if (NSC_LOAD(&s->wiped[0]) == NSC_PRESENCE_JOINED)
        return 1;
    if (!nsc_cas64(&s->wiped[0], NSC_PRESENCE_FORKED, NSC_PRESENCE_JOINING)) {
        NSC_ADD(&s->header->lost_unattributed, 1); /* another thread, or we ourselves, just join */
        return 0;
    }
    if (NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN || !join(s->pid)) {
        NSC_ADD(&s->header->lost_unattributed, 1);
        NSC_STORE(&s->off, 1);
        return 0;
    }
    s->generation++;
    nsc_modules_publish_again();
    NSC_STORE(&s->wiped[0], (uint64_t)NSC_PRESENCE_JOINED);
    return 1;
}

int nsc_session_gone(void)
{
    struct nsc_session *s = &nsc_session;
    uint64_t heartbeat = NSC_LOAD(&s->header->heartbeat);
    uint64_t now = nsc_arch_ticks();

    if (NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN) {
        NSC_STORE(&s->off, 1);
        return 1;
    }
    /* Threads race for these words; the worst that comes of it is a strike too many or too few. */
    if (heartbeat != s->seen_heartbeat || s->seen_ticks == 0) {
        s->seen_heartbeat = heartbeat;
        s->seen_ticks = now;
        s->strikes = 0;
    } else if (now - s->seen_ticks > NSC_ARCH_STALE_TICKS) {
        s->seen_ticks = now;
        if (++s->strikes >= STRIKES_MAX) {
            __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_STALLED,
                              __ATOMIC_RELAXED);
            NSC_STORE(&s->off, 1);
            return 1;
        }
    }
    return 0;
}
