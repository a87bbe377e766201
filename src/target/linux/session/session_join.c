/*
 * session_join.c - joins a session: see session_join.h. The header is copied before it is checked,
 * because its creator can change it at any time.
 */
#include "linux/session/session_join.h"

#include <errno.h>

#include "abi/live_check.h"
#include "arch/arch.h"
#include "linux/session/cpu_timer.h"
#include "linux/sys/sys.h"

/* Bytes to map. Where address space is limited, leave it to the program: map only the chunks that
 * exist now. */
static size_t bytes_to_map(const struct nsc_live_header *h)
{
    uint32_t chunks = h->chunk_count;

    if (chunks >= h->chunks_max || !nsc_sys_address_space_limited())
        return (size_t)h->total_bytes;
    return (size_t)(h->data_off + (uint64_t)chunks * h->chunk_bytes);
}

static int header_valid(const struct nsc_live_header *h, uint64_t total)
{
    return nsc_live_header_fits(h) && h->total_bytes == total && h->exit_bit == NSC_ARCH_EXIT_BIT &&
           h->recorder_state == NSC_LIVE_RECORDER_OPEN;
}

/* Copy and check the current header. */
static int read_header(int fd, struct nsc_live_header *to)
{
    int64_t total = nsc_sys_size(fd);
    long n;

    if (total < 0)
        return (int)total;
    n = nsc_sys_read_at(fd, to, sizeof(*to), 0);
    if (n < 0)
        return (int)n;
    return n == (long)sizeof(*to) && header_valid(to, (uint64_t)total) ? 0 : -EINVAL;
}

int64_t nsc_session_slot_claim(uint32_t *state, size_t stride, uint32_t max, uint32_t *hint)
{
    uint32_t from = NSC_LOAD(hint);
    uint32_t i;

    for (i = 0; i < max; i++) {
        uint32_t at = (uint32_t)(((uint64_t)from + i) % max);
        uint32_t *word = (uint32_t *)(void *)((char *)state + at * stride);

        if (NSC_LOAD(word) == NSC_LIVE_FREE &&
            nsc_session_cas32(word, NSC_LIVE_FREE, NSC_LIVE_CLAIMED)) {
            NSC_STORE(hint, at + 1);
            return at;
        }
    }
    return -1;
}

/*
 * Determine this process's pid for the recorder, which resolves the session's path in its own
 * /proc. Done at the start, and by the first process of a new pid namespace, whose children are in
 * that namespace, too.
 */
static void identify(struct nsc_target_session *s, uint32_t ppid)
{
    uint32_t own = nsc_sys_pid(), pid, tid;

    s->pid = own;
    if ((ppid == 0 || own == 1 || s->abroad) && nsc_sys_ids_in_proc(&pid, &tid) == 0) {
        s->abroad = pid != own;
        s->pid = pid;
    }
}

int nsc_session_register(struct nsc_target_session *s, uint32_t ppid)
{
    struct nsc_live_process *p;
    int64_t at = nsc_session_slot_claim(&s->processes->state, sizeof(*p), s->processes_max,
                                        &s->header->process_hint);

    if (at < 0)
        return 0;
    p = s->processes + at;
    s->process = (uint32_t)at;
    identify(s, ppid);
    p->pid = s->pid;
    p->ppid = ppid;
    p->problems = 0;
    p->start_ticks = nsc_arch_ticks();
    p->lost = 0;
    p->hooks_off_at = (uint64_t)(uintptr_t)&nsc_runtime_off;
    NSC_STORE(&p->state, NSC_LIVE_LIVE);
    return 1;
}

/* Compute which chunks belong to the pool and which are home chunks. @mapped: number of mapped
 * chunks. */
static void divide_chunks(struct nsc_target_session *s, const struct nsc_live_header *h,
                          uint32_t mapped)
{
    s->chunks_max = mapped;
    s->home_first = h->chunks_max - h->home_count;
    s->home_count = mapped == h->chunks_max ? h->home_count : 0;
    s->pool_max = mapped < s->home_first ? mapped : s->home_first;
}

/* A first event on a page would cost a page fault, more than a hundred events: prefault all pages
 * now (about 0.1 ms per MiB). Only those of chunks that have pages: prefaulting would allocate the
 * others. touch_chunk() does it for chunks that the recorder adds later. */
void nsc_session_map_pool(const struct nsc_target_session *s)
{
    uint32_t backed = NSC_LOAD(&s->header->chunks_backed);

    if (backed > s->pool_max)
        backed = s->pool_max;
    nsc_sys_map_pages(s->data, (size_t)backed * s->chunk_bytes);
}

/* Compute the addresses of the tables from the copied header @h. */
static void find_tables(struct nsc_target_session *s, const struct nsc_live_header *h)
{
    uint8_t *base = (uint8_t *)s->header;
    uint64_t overwritten_at = nsc_live_overwritten_at(h);

    s->processes = (struct nsc_live_process *)(void *)(base + h->processes_off);
    s->modules = (struct nsc_live_module *)(void *)(base + h->modules_off);
    s->threads = (struct nsc_live_thread *)(void *)(base + h->threads_off);
    s->chunks = (struct nsc_live_chunk *)(void *)(base + h->chunks_off);
    if (overwritten_at != 0)
        s->overwritten = (struct nsc_live_overwritten *)(void *)(base + overwritten_at);
    s->filter = base + h->filter_off;
    s->data = base + h->data_off;
    s->processes_max = h->processes_max;
    s->modules_max = h->modules_max;
    s->threads_max = h->threads_max;
    s->chunk_bytes = h->chunk_bytes;
    s->filter_bytes = h->filter_bytes;
    s->flags = h->flags;
    s->recorder_pid = h->recorder_pid;
    divide_chunks(s, h, (uint32_t)((s->bytes - h->data_off) / s->chunk_bytes));
}

/* The process slot is claimed before private memory, so that the recorder can learn of problems. */
static int register_process(struct nsc_target_session *s)
{
    size_t wiped_bytes = nsc_session_wiped_bytes(s);

    if (!nsc_session_register(s, 0))
        return -ENOSPC;
    s->wiped = nsc_sys_map_private(wiped_bytes);
    if (s->wiped == NULL || nsc_sys_wipe_on_fork(s->wiped, wiped_bytes) < 0) {
        /* A forked child could not detect that it is one: record nothing rather than mix
         * processes. */
        __atomic_fetch_or(&s->processes[s->process].problems, NSC_LIVE_PROBLEM_STATE,
                          __ATOMIC_RELAXED);
        return -ENOSYS;
    }
    NSC_STORE(&s->wiped[0], (uint64_t)NSC_PRESENCE_JOINED);
    return 0;
}

int nsc_session_join(struct nsc_target_session *s, int fd, const void *below,
                     void (*tick)(uint64_t value, int timer))
{
    struct nsc_live_header h;
    int result = read_header(fd, &h);

    if (result < 0)
        return result;
    s->bytes = bytes_to_map(&h);
    s->header = nsc_sys_map_shared_below(fd, s->bytes, below);
    if (s->header == NULL)
        return -ENOMEM;
    if ((h.flags & NSC_LIVE_FLAG_DUMP) != 0)
        nsc_sys_dump(s->header, s->bytes);
    find_tables(s, &h);
    result = register_process(s);
    if (result == 0)
        nsc_cpu_timer_prepare(s, h.sample_ns, tick);
    if (result < 0) {
        if (s->wiped != NULL)
            nsc_sys_unmap(s->wiped, nsc_session_wiped_bytes(s));
        nsc_sys_unmap(s->header, s->bytes);
        s->wiped = NULL;
        s->header = NULL;
    }
    return result;
}
