/* perf_event.c - see perf_event.h. */
#include "metrics/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const uint64_t events[NSC_METRICS_COUNTERS] = {
    [NSC_METRICS_CPU_NS] = PERF_COUNT_SW_TASK_CLOCK,
    [NSC_METRICS_FAULTS_MINOR] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
    [NSC_METRICS_FAULTS_MAJOR] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
    [NSC_METRICS_SWITCHES] = PERF_COUNT_SW_CONTEXT_SWITCHES,
};

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Open the event of counter @i, disabled; the leader samples. Returns a descriptor or -errno. */
static int open_event(unsigned i, pid_t tid, int leader, uint64_t interval_ns,
                      enum nsc_perf_access access)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = events[i],
        .read_format = PERF_FORMAT_GROUP,
        .exclude_kernel = access != NSC_PERF_ALL,
        .exclude_hv = 1,
        .use_clockid = 1, /* the whole group must use the same clock */
        .clockid = CLOCK_MONOTONIC,
    };
    long fd;

    if (i == 0) {
        attr.disabled = 1;
        attr.sample_period = interval_ns;
        attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
        attr.sample_id_all = 1;
        attr.context_switch = 1;
        /* The ring is polled: no wake-ups are needed. */
        attr.watermark = 1;
        attr.wakeup_watermark = UINT32_MAX;
    }
    fd = syscall(SYS_perf_event_open, &attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd >= 0 ? (int)fd : -errno;
}

enum nsc_perf_access nsc_perf_probe(int *error)
{
    static const enum nsc_perf_access tries[] = {NSC_PERF_ALL, NSC_PERF_USER};

    *error = 0;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        int fd = open_event(0, 0, -1, 1000000, tries[i]);

        if (fd >= 0) {
            close(fd);
            return tries[i];
        }
        *error = fd;
    }
    return NSC_PERF_NONE;
}

static int map_ring(struct nsc_perf *perf, unsigned pages)
{
    int error = -ENOMEM;

    for (; pages > 0; pages /= 2) {
        perf->map_bytes = (1 + (size_t)pages) * page_bytes();
        perf->map =
            mmap(NULL, perf->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, perf->fds[0], 0);
        if (perf->map != MAP_FAILED)
            return 0;
        error = -errno;
    }
    perf->map = NULL;
    return error;
}

int nsc_perf_open(struct nsc_perf *perf, pid_t tid, uint64_t interval_ns,
                  enum nsc_perf_access access, unsigned ring_pages)
{
    struct nsc_perf p = {.map = NULL};
    int error = 0;
    unsigned i;

    for (i = 0; i < NSC_METRICS_COUNTERS; i++)
        p.fds[i] = -1;
    for (i = 0; i < NSC_METRICS_COUNTERS && error == 0; i++) {
        p.fds[i] = open_event(i, tid, i == 0 ? -1 : p.fds[0], interval_ns, access);
        if (p.fds[i] < 0)
            error = p.fds[i];
    }
    if (error == 0)
        error = map_ring(&p, ring_pages);
    if (error == 0 && ioctl(p.fds[0], PERF_EVENT_IOC_ENABLE, 0) != 0)
        error = -errno;
    if (error != 0) {
        nsc_perf_close(&p);
        return error;
    }
    *perf = p;
    return 0;
}

void nsc_perf_close(struct nsc_perf *perf)
{
    unsigned i;

    if (perf->map != NULL)
        munmap(perf->map, perf->map_bytes);
    perf->map = NULL;
    for (i = 0; i < NSC_METRICS_COUNTERS; i++)
        if (perf->fds[i] >= 0)
            close(perf->fds[i]);
}

struct nsc_ring nsc_perf_ring(const struct nsc_perf *perf)
{
    const struct perf_event_mmap_page *page = perf->map;
    size_t header = page_bytes();

    return (struct nsc_ring){
        .data = (const uint8_t *)perf->map + header,
        .bytes = perf->map_bytes - header,
        .tail = page->data_tail,
        .head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
    };
}

void nsc_perf_done(struct nsc_perf *perf, const struct nsc_ring *ring)
{
    struct perf_event_mmap_page *page = perf->map;

    __atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

int nsc_perf_read(const struct nsc_perf *perf, uint64_t counters[NSC_METRICS_COUNTERS])
{
    uint64_t values[1 + NSC_METRICS_COUNTERS]; /* preceded by their number */
    ssize_t got = read(perf->fds[0], values, sizeof values);

    if (got < 0)
        return -errno;
    if (got != (ssize_t)sizeof values || values[0] != NSC_METRICS_COUNTERS)
        return -EIO;
    memcpy(counters, &values[1], sizeof *counters * NSC_METRICS_COUNTERS);
    return 0;
}
