/* session.c - see session.h. */
#include "record/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "process/procfs/maps.h"
#include "record/session/available_memory.h"
#include "record/session/memory_fault.h"

enum {
    PAGE = 4096,
    PROCESSES_MAX = 4096,
    MODULES_MAX = 4096,
    THREADS_MAX = 16384,
    FILTER_BYTES = 1 << 20,
    CHUNK_BYTES = 64 << 10,
    CHUNK_BYTES_MIN = 16 << 10, /* small buffers get smaller chunks, so that threads can share */
    CHUNKS_WANTED = 16,
};

/* Limit for all chunks together, if all of them had their pages. */
#define CHUNKS_MAX_BYTES (1ull << 30)
/* Limit for data that wait to be drained. They bridge delays of the recorder: about 70 ms of one
 * thread that does nothing but call. With the writer's own limit this keeps the recorder within 256
 * MiB. */
#define KEPT_MAX_BYTES   (128ull << 20)
/* Chunks may take this fraction (1/n) of the available memory. */
#define MEMORY_PART      4

#ifndef F_SEAL_EXEC /* glibc 2.38, Linux 6.3 */
#define F_SEAL_EXEC 0x0020
#endif

#if defined(__x86_64__)
enum { EXIT_BIT = 47 };
#else
enum { EXIT_BIT = 0 };
#endif

static uint64_t align_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) & ~(to - 1);
}

/* Computes the offsets of the tables; returns the total size. */
static uint64_t lay_out(const struct nsc_record_session *s, struct nsc_live_header *h)
{
    uint64_t at = PAGE;

    h->processes_off = at;
    at = align_up(at + (uint64_t)s->processes_max * sizeof *s->processes, PAGE);
    h->modules_off = at;
    at = align_up(at + (uint64_t)s->modules_max * sizeof *s->modules, PAGE);
    h->threads_off = at;
    at = align_up(at + (uint64_t)s->threads_max * sizeof *s->threads, PAGE);
    h->chunks_off = at;
    at = align_up(at + (uint64_t)s->chunks_max * sizeof *s->chunks, PAGE);
    h->filter_off = at;
    at = align_up(at + s->filter_bytes, PAGE);
    if (s->ring) { /* next to the chunks: snapshot_copy.c copies it separately from the tables
                      before it */
        h->overwritten_page = (uint32_t)(at / PAGE);
        at += (uint64_t)s->threads_max * sizeof *s->overwritten;
    }
    at = align_up(at, s->chunk_bytes);
    h->data_off = at;
    return at + (uint64_t)s->chunks_max * s->chunk_bytes;
}

/*
 * Limit for the size of the region. RLIMIT_FSIZE applies to memory files too. Where address space
 * is limited, the pool's possible growth may claim only a quarter of it.
 */
static uint64_t room(void)
{
    struct rlimit limit;
    uint64_t most = UINT64_MAX;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_max != RLIM_INFINITY)
        most = limit.rlim_max;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / 4 < most)
        most = limit.rlim_cur / 4;
    return most;
}

static void obey_limits(struct nsc_record_session *s)
{
    struct nsc_live_header scratch;
    uint64_t most = room();

    while (s->chunks_max > s->chunk_count && lay_out(s, &scratch) > most) {
        s->pool_max = s->pool_max / 2 > s->chunk_count ? s->pool_max / 2 : s->chunk_count;
        s->home_count /= 2;
        s->chunks_max = s->pool_max + s->home_count;
    }
    if (s->kept > s->pool_max)
        s->kept = s->pool_max;
}

/* The seals of a memory file, or -1. Ignores F_SEAL_EXEC, which the system may set by itself
 * (vm.memfd_noexec) and which only forbids execution. */
static int get_seals(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 ? seals & ~F_SEAL_EXEC : -1;
}

/*
 * Seals the file's size: truncation by a program would raise SIGBUS in all others and in the
 * recorder. Fails if others changed the size, or added seals of their own, before these took
 * effect.
 */
static int seal_size(int fd, uint64_t bytes)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    struct stat st;

    if (fcntl(fd, F_ADD_SEALS, seals) != 0 || fstat(fd, &st) != 0)
        return -errno;
    return get_seals(fd) == seals && (uint64_t)st.st_size == bytes ? 0 : -EPERM;
}

/* Raises the soft limit while the file gets its size. The size then never changes. */
static int set_size(int fd, uint64_t bytes)
{
    struct rlimit old, raised;
    int error = 0;

    if (getrlimit(RLIMIT_FSIZE, &old) != 0)
        return -errno;
    raised = old;
    raised.rlim_cur = raised.rlim_max;
    if (bytes > raised.rlim_max)
        return -EFBIG; /* trying would raise SIGXFSZ */
    setrlimit(RLIMIT_FSIZE, &raised);
    if (ftruncate(fd, (off_t)bytes) != 0)
        error = -errno;
    setrlimit(RLIMIT_FSIZE, &old);
    return error != 0 ? error : seal_size(fd, bytes);
}

static int add_pages(int fd, uint64_t offset, uint64_t bytes)
{
    int error;

    do
        error = fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0 ? 0 : -errno;
    while (error == -EINTR);
    return error;
}

/*
 * Writes zeros into new pages now. The kernel maps many pages around a fault only if they were
 * written before. Otherwise the program takes a fault every 4 KiB, which costs more than its
 * events.
 */
static void touch_pages(uint8_t *at, uint64_t bytes)
{
    (void)madvise(at, bytes, MADV_POPULATE_WRITE); /* Linux 5.14; else only slower */
}

/*
 * True if this is an empty memory file of user @owner without a name or seals, open for reading and
 * writing. The owner could do to such a file whatever the recorder does. Only files in memory have
 * seals, and only a memfd_create() file starts without one.
 */
static bool is_empty_memory(int fd, uid_t owner)
{
    int flags = fcntl(fd, F_GETFL);
    struct statfs fs;
    struct stat st;

    return flags >= 0 && (flags & (O_ACCMODE | O_PATH)) == O_RDWR && get_seals(fd) == 0 &&
           fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 && st.st_size == 0 &&
           st.st_uid == owner && fstatfs(fd, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* Opens the memory file by its path: nsc_session_alone() works only for such a descriptor. */
static int open_memory(const struct nsc_session_options *options, int *out)
{
    int made = options->memory, fd;
    char path[64];

    if (made == 0)
        made = memfd_create(NSC_MAPS_MEMORY_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    else if (!is_empty_memory(made, options->memory_owner)) {
        close(made);
        return -EPERM;
    }
    if (made < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", made);
    fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* do not wait for a lease to end */
    if (fd < 0 && options->memory != 0) {
        /* Through an open file that it shares, a program could have the kernel signal this process:
         * leases make this process its owner. */
        close(made);
        return -EPERM;
    }
    if (fd >= 0)
        close(made);
    *out = fd >= 0 ? fd : made;
    return 0;
}

static void fill_header(const struct nsc_record_session *s, struct nsc_live_header *h,
                        const struct nsc_session_options *options)
{
    h->version = NSC_LIVE_VERSION;
    h->header_bytes = sizeof *h;
    h->total_bytes = s->total_bytes;
    h->event_bytes = 16;
    h->exit_bit = s->exit_bit;
    h->flags = (options->filter ? NSC_LIVE_FLAG_FILTER : 0) |
               (options->entry_timing ? NSC_LIVE_FLAG_ENTRY_TIMING : 0) |
               (options->rewind ? NSC_LIVE_FLAG_REWIND : 0) |
               (options->dump ? NSC_LIVE_FLAG_DUMP : 0);
    h->sample_ns = options->sample_ns;
    h->recorder_pid = (uint32_t)getpid();
    h->recorder_state = NSC_LIVE_RECORDER_OPEN;
    h->processes_max = s->processes_max;
    h->modules_max = s->modules_max;
    h->threads_max = s->threads_max;
    h->chunks_max = s->chunks_max;
    h->chunk_bytes = s->chunk_bytes;
    h->filter_bytes = s->filter_bytes;
    h->chunk_count = s->chunk_count;
    h->home_count = s->home_count;
    h->chunks_free = s->chunk_count;
    h->chunks_backed = s->backed;
    h->magic = NSC_LIVE_MAGIC;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Chooses the numbers of chunks if the user did not give a size. All together may take a quarter of
 * the available memory, 1 GiB at most: half for the pool, half for home chunks. Without overcommit,
 * all chunks have pages before they can be claimed.
 */
static void divide_memory(struct nsc_record_session *s)
{
    uint64_t most = least(nsc_memory_available("") / MEMORY_PART, CHUNKS_MAX_BYTES);
    uint32_t half = (uint32_t)(most / 2 / s->chunk_bytes);

    s->promised = nsc_memory_promised("");
    if (half < CHUNKS_WANTED)
        half = CHUNKS_WANTED;
    s->kept = (uint32_t)least(half, KEPT_MAX_BYTES / s->chunk_bytes);
    s->backed = (uint32_t)least(s->chunk_count, s->kept);
    s->chunk_count = s->promised ? s->kept : s->backed;
    s->pool_max = s->promised ? half : s->kept;
    s->home_count = s->promised ? half : 0;
}

static void choose_sizes(const struct nsc_session_options *options, struct nsc_record_session *s)
{
    uint64_t bytes = least(options->buffer_bytes, CHUNKS_MAX_BYTES);

    s->processes_max = PROCESSES_MAX;
    s->modules_max = MODULES_MAX;
    s->threads_max = THREADS_MAX;
    s->filter_bytes = FILTER_BYTES;
    s->exit_bit = EXIT_BIT;
    s->fixed = options->fixed;
    s->entry_timing = options->entry_timing;
    s->rewind = options->rewind;
    s->ring = options->ring;
    s->chunk_bytes = CHUNK_BYTES;
    while (s->chunk_bytes > CHUNK_BYTES_MIN && bytes / s->chunk_bytes < CHUNKS_WANTED)
        s->chunk_bytes /= 2;
    s->chunk_count = (uint32_t)(bytes / s->chunk_bytes);
    if (s->chunk_count < 2)
        s->chunk_count = 2;
    s->pool_max = s->kept = s->backed = s->chunk_count;
    if (!s->fixed)
        divide_memory(s);
    s->chunks_max = s->pool_max + s->home_count;
}

static int map_memory(struct nsc_record_session *s, const struct nsc_live_header *h)
{
    void *base;
    int error = set_size(s->fd, s->total_bytes);

    if (error == 0)
        error = add_pages(s->fd, 0, h->data_off + (uint64_t)s->backed * s->chunk_bytes);
    if (error != 0)
        return error;
    base = mmap(NULL, s->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    s->base = base;
    nsc_memory_fault_guard(base, s->total_bytes); /* the program may have the file mapped too */
    touch_pages(s->base, h->data_off + (uint64_t)s->backed * s->chunk_bytes);
    s->header = base;
    *s->header = *h;
    s->processes = (void *)(s->base + h->processes_off);
    s->modules = (void *)(s->base + h->modules_off);
    s->threads = (void *)(s->base + h->threads_off);
    s->chunks = (void *)(s->base + h->chunks_off);
    s->filter = s->base + h->filter_off;
    s->data = s->base + h->data_off;
    if (s->ring)
        s->overwritten = (void *)(s->base + (uint64_t)h->overwritten_page * PAGE);
    return 0;
}

int nsc_session_create(const struct nsc_session_options *options,
                       struct nsc_record_session *session, struct nsc_diag *diag)
{
    struct nsc_record_session s = {.fd = -1};
    struct nsc_live_header header = {0};
    int error;

    choose_sizes(options, &s);
    obey_limits(&s);
    s.total_bytes = lay_out(&s, &header);
    fill_header(&s, &header, options);
    error = open_memory(options, &s.fd);
    if (error == -EPERM && options->memory != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                            "the program returned a descriptor that is no empty memory file of "
                            "its own: its runtime is not nanoscope's, nothing was changed");
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error, "cannot make shared memory: %s",
                            strerror(-error));
    error = map_memory(&s, &header);
    if (error != 0) {
        close(s.fd);
        if (error == -EPERM)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                                "the program changed the session's memory while it was laid out: "
                                "its runtime is not nanoscope's");
        if (error == -EFBIG)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                                "cannot make %llu MiB of shared memory: the limit on file sizes "
                                "counts for it (ulimit -Hf)",
                                (unsigned long long)(s.total_bytes >> 20));
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -error,
                            "cannot allocate %llu MiB of shared memory: %s (a smaller --buffer "
                            "needs less)",
                            (unsigned long long)s.backed * s.chunk_bytes >> 20, strerror(-error));
    }
    snprintf(s.path, sizeof s.path, "/proc/%ld/fd/%d", (long)getpid(), s.fd);
    *session = s;
    return 0;
}

void nsc_session_hold_events(struct nsc_record_session *session)
{
    __atomic_fetch_or(&session->header->flags, NSC_LIVE_FLAG_HOLD, __ATOMIC_RELEASE);
}

void nsc_session_take_events(struct nsc_record_session *session)
{
    __atomic_fetch_and(&session->header->flags, ~NSC_LIVE_FLAG_HOLD, __ATOMIC_RELEASE);
}

bool nsc_session_holds_events(const struct nsc_record_session *session)
{
    uint32_t flags = __atomic_load_n(&session->header->flags, __ATOMIC_ACQUIRE);

    return (flags & NSC_LIVE_FLAG_HOLD) != 0;
}

void nsc_session_close(struct nsc_record_session *session)
{
    __atomic_store_n(&session->header->recorder_state, NSC_LIVE_RECORDER_CLOSED, __ATOMIC_RELEASE);
}

void nsc_session_empty(struct nsc_record_session *session)
{
    (void)fallocate(session->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    (off_t)session->total_bytes);
}

void nsc_session_destroy(struct nsc_record_session *session)
{
    nsc_memory_fault_end(session->base);
    munmap(session->base, session->total_bytes);
    close(session->fd);
    session->fd = -1;
}

/* Take a write lease and end it: the kernel grants one only if no other process has the file open
 * or mapped for writing. Returns 0 or an errno. */
static int try_lease(const struct nsc_record_session *session)
{
    if (fcntl(session->fd, F_SETLEASE, F_WRLCK) != 0)
        return errno;
    fcntl(session->fd, F_SETLEASE, F_UNLCK);
    return 0;
}

bool nsc_session_alone(const struct nsc_record_session *session)
{
    return try_lease(session) != EAGAIN;
}

bool nsc_session_surely_alone(const struct nsc_record_session *session)
{
    return try_lease(session) == 0;
}

bool nsc_session_is_mapped(const struct nsc_record_session *session, pid_t pid)
{
    struct stat st;

    return fstat(session->fd, &st) == 0 && nsc_maps_have_memory(pid, st.st_dev, st.st_ino);
}

static uint64_t chunk_offset(const struct nsc_record_session *session, uint32_t chunk)
{
    return (uint64_t)(session->data - session->base) + (uint64_t)chunk * session->chunk_bytes;
}

/* Allocates the pages of the chunks after the pool, up to chunk number @count. */
static bool back_chunks(struct nsc_record_session *session, uint32_t count)
{
    uint64_t at = chunk_offset(session, session->chunk_count);
    uint64_t bytes = chunk_offset(session, count) - at;

    if (add_pages(session->fd, at, bytes) != 0)
        return false;
    touch_pages(session->base + at, bytes);
    session->backed = count;
    __atomic_store_n(&session->header->chunks_backed, count, __ATOMIC_RELEASE);
    return true;
}

/* Where the system overcommits memory, pages are allocated on first touch: allocating here takes
 * 0.3 ms per MiB, while threads wait for chunks. */
void nsc_session_grow(struct nsc_record_session *session)
{
    uint32_t old = session->chunk_count, most = session->pool_max;
    uint32_t count = old <= most / 2 ? old * 2 : most;

    if (session->fixed || old >= most)
        return;
    if (!session->promised && !back_chunks(session, count)) {
        session->fixed = true; /* out of memory: keep the present size */
        return;
    }
    session->chunk_count = count;
    __atomic_store_n(&session->header->chunk_hint, old, __ATOMIC_RELAXED);
    __atomic_store_n(&session->header->chunk_count, count, __ATOMIC_RELEASE);
    __atomic_fetch_add(&session->header->chunks_free, count - old, __ATOMIC_RELAXED);
}

uint32_t nsc_session_chunk_end(const struct nsc_record_session *session, uint32_t chunk,
                               uint32_t from)
{
    off_t start = (off_t)chunk_offset(session, chunk), end = start + session->chunk_bytes;
    off_t at = start + from, hole;

    /* Loops only if all slots of a page are reserved and not yet filled. */
    do {
        hole = lseek(session->fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= end) /* on failure: all of it may be data */
            return session->chunk_bytes;
        at = lseek(session->fd, hole, SEEK_DATA);
    } while (at >= 0 && at < end);
    return (uint32_t)(hole - start);
}

bool nsc_session_punch(const struct nsc_record_session *session, uint32_t chunk, uint32_t bytes)
{
    return fallocate(session->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)chunk_offset(session, chunk), (off_t)bytes) == 0;
}

void nsc_session_let_go(const struct nsc_record_session *session)
{
    uint64_t at = chunk_offset(session, session->kept);

    (void)madvise(session->base + at, session->total_bytes - at, MADV_DONTNEED);
}

uint64_t nsc_session_bytes(const struct nsc_record_session *session)
{
    struct stat st;

    return fstat(session->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}
