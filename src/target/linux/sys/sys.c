/*
 * sys.c (Linux) - see linux/sys/sys.h. Part of the traced program: compiled without libc and vector
 * registers.
 */
#include "linux/sys/sys.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "linux/sys/syscall.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* since Linux 5.14 */
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE_BYTES_LEAST 4096

/* Search for free address space below a limit: minimum gap, maximum number of attempts, lowest
 * address. */
#define GAP_BYTES  (2u << 20)
#define PLACES_MAX 64
#define LOWEST     (uintptr_t)(64u << 20)

/* The kernel's layout, independent of libc's struct timespec. */
struct kernel_timespec {
    int64_t seconds;
    int64_t ns;
};

static int failed(long result)
{
    return result < 0 && result >= -4095;
}

int nsc_sys_open(const char *path, int writable)
{
    int flags = O_CLOEXEC | O_NOCTTY | (writable ? O_RDWR : O_RDONLY);

    return (int)nsc_syscall6(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

void nsc_sys_close(int fd)
{
    nsc_syscall3(SYS_close, fd, 0, 0);
}

long nsc_sys_read(int fd, void *to, size_t bytes)
{
    long n;

    do
        n = nsc_syscall3(SYS_read, fd, (long)to, (long)bytes);
    while (n == -EINTR);
    return n;
}

int64_t nsc_sys_size(int fd)
{
    return nsc_syscall3(SYS_lseek, fd, 0, 2 /* SEEK_END */);
}

long nsc_sys_read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    return nsc_syscall6(SYS_pread64, fd, (long)to, (long)bytes, (long)offset, 0, 0);
}

long nsc_sys_write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
    return nsc_syscall6(SYS_pwrite64, fd, (long)from, (long)bytes, (long)offset, 0, 0);
}

static void *map_at(uintptr_t at, size_t bytes, int protection, int flags, int fd)
{
    long got = nsc_syscall6(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, 0);

    return failed(got) ? NULL : (void *)got;
}

static void *map(size_t bytes, int flags, int fd)
{
    return map_at(0, bytes, PROT_READ | PROT_WRITE, flags, fd);
}

/* Map memory of which little will be used. In a program that locks its mappings with mlockall(), it
 * is not filled with pages. */
static void *map_lazily(uintptr_t at, size_t bytes, int flags, int fd)
{
    void *got = map_at(at, bytes, PROT_NONE, flags, fd);

    if (got == NULL)
        return NULL;
    nsc_syscall3(SYS_munlock, (long)got, (long)bytes, 0);
    if (nsc_sys_protect(got, bytes, NSC_SYS_READ | NSC_SYS_WRITE) == 0)
        return got;
    nsc_sys_unmap(got, bytes);
    return NULL;
}

void *nsc_sys_map_shared_below(int fd, size_t bytes, const void *limit)
{
    uintptr_t place = bytes + GAP_BYTES, at = (uintptr_t)limit & ~(uintptr_t)(GAP_BYTES - 1);
    void *got = NULL;
    int i;

    for (i = 0; got == NULL && i < PLACES_MAX && at > place + LOWEST; i++) {
        at = (at - place) & ~(uintptr_t)(GAP_BYTES - 1);
        got = map_lazily(at, bytes, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
        if (got != NULL && (uintptr_t)got > at) { /* the kernel does not know NOREPLACE */
            nsc_sys_unmap(got, bytes);
            got = NULL;
        }
    }
    if (got == NULL)
        got = map_lazily(0, bytes, MAP_SHARED, fd);
    if (got != NULL) /* keep it out of core dumps */
        nsc_syscall3(SYS_madvise, (long)got, (long)bytes, MADV_DONTDUMP);
    return got;
}

void *nsc_sys_map_shared(int fd, size_t bytes)
{
    return nsc_sys_map_shared_below(fd, bytes, NULL);
}

void *nsc_sys_map_private(size_t bytes)
{
    return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void nsc_sys_dump(void *at, size_t bytes)
{
    nsc_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_DODUMP);
}

void nsc_sys_unmap(void *at, size_t bytes)
{
    nsc_syscall3(SYS_munmap, (long)at, (long)bytes, 0);
}

void nsc_sys_map_zeros_over(void *at, size_t bytes)
{
    void *zeros = map_lazily(0, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

    /* In one step, because other threads may store there at any time. */
    if (zeros != NULL && failed(nsc_syscall6(SYS_mremap, (long)zeros, (long)bytes, (long)bytes,
                                             MREMAP_MAYMOVE | MREMAP_FIXED, (long)at, 0)))
        nsc_sys_unmap(zeros, bytes);
}

void nsc_sys_discard(void *at, size_t bytes)
{
    nsc_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_DONTNEED);
}

int nsc_sys_map_code(uint64_t at, size_t bytes)
{
    enum { FIXED_NOREPLACE = 0x100000 }; /* since Linux 4.17; on older kernels only a hint */
    long got = nsc_syscall6(SYS_mmap, (long)at, (long)bytes, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | FIXED_NOREPLACE, -1, 0);

    if (failed(got))
        return (int)got;
    if ((uint64_t)got == at)
        return 0;
    nsc_syscall3(SYS_munmap, got, (long)bytes, 0);
    return -EEXIST;
}

int nsc_sys_is_mapped(uint64_t at)
{
    unsigned char there;

    return nsc_syscall3(SYS_mincore, (long)(at & ~(uint64_t)(PAGE_BYTES_LEAST - 1)), 1,
                        (long)&there) == 0;
}

void nsc_sys_map_pages(void *at, size_t bytes)
{
    nsc_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_POPULATE_READ);
}

int nsc_sys_wipe_on_fork(void *at, size_t bytes)
{
    return (int)nsc_syscall3(SYS_madvise, (long)at, (long)bytes, MADV_WIPEONFORK);
}

int nsc_sys_protect(void *at, size_t bytes, int protection)
{
    int flags = 0;

    if (protection & NSC_SYS_READ)
        flags |= PROT_READ;
    if (protection & NSC_SYS_WRITE)
        flags |= PROT_WRITE;
    if (protection & NSC_SYS_EXEC)
        flags |= PROT_EXEC;
    return (int)nsc_syscall3(SYS_mprotect, (long)at, (long)bytes, flags);
}

int nsc_sys_address_space_limited(void)
{
    struct rlimit limit;

    return nsc_syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0) == 0 &&
           limit.rlim_cur != RLIM_INFINITY;
}

/* Read one entry of the auxiliary vector; -1 if it is not available. */
static int64_t auxiliary(uint64_t wanted)
{
    Elf64_auxv_t pair;
    int fd = nsc_sys_open("/proc/self/auxv", 0);
    int64_t value = -1;

    if (fd < 0)
        return -1;
    while (nsc_sys_read(fd, &pair, sizeof(pair)) == (long)sizeof(pair) && pair.a_type != AT_NULL) {
        if (pair.a_type == wanted) {
            value = (int64_t)pair.a_un.a_val;
            break;
        }
    }
    nsc_sys_close(fd);
    return value;
}

size_t nsc_sys_page_bytes(void)
{
#ifdef __x86_64__
    return PAGE_BYTES_LEAST; /* always; saves system calls in programs that are not recorded */
#else
    int64_t bytes = auxiliary(AT_PAGESZ);

    return bytes > 0 ? (size_t)bytes : PAGE_BYTES_LEAST;
#endif
}

int nsc_sys_privileged(void)
{
    return auxiliary(AT_SECURE) != 0;
}

int nsc_sys_ids_differ(void)
{
    uint32_t users[3] = {0, 1, 2}, groups[3] = {0, 1, 2};

    nsc_syscall3(SYS_getresuid, (long)&users[0], (long)&users[1], (long)&users[2]);
    nsc_syscall3(SYS_getresgid, (long)&groups[0], (long)&groups[1], (long)&groups[2]);
    return users[0] != users[1] || users[1] != users[2] || groups[0] != groups[1] ||
           groups[1] != groups[2];
}

int nsc_sys_main_stack(uint64_t *start, uint64_t *end)
{
    enum { MARGIN = 16 << 20 }; /* arguments, and the kernel's guard gap below the stack */
    const uint64_t most = 1ull << 34;
    int64_t inside = auxiliary(AT_RANDOM);
    struct rlimit limit;

    if (inside <= 0 || nsc_syscall6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) < 0)
        return -1;
    *end = (uint64_t)inside + MARGIN;
    *start = (uint64_t)inside - MARGIN - (limit.rlim_cur < most ? limit.rlim_cur : most);
    return 0;
}

uint32_t nsc_sys_pid(void)
{
    return (uint32_t)nsc_syscall3(SYS_getpid, 0, 0, 0);
}
uint32_t nsc_sys_tid(void)
{
    return (uint32_t)nsc_syscall3(SYS_gettid, 0, 0, 0);
}

/* Read decimal digits; returns the position after them. */
static const char *read_number(const char *at, uint32_t *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint32_t)(*at - '0');
    return at;
}

/* The link /proc/thread-self reads `pid/task/tid`. */
int nsc_sys_ids_in_proc(uint32_t *pid, uint32_t *tid)
{
    static const char between[] = "/task/";
    char link[48];
    const char *at = link;
    long n = nsc_syscall6(SYS_readlinkat, AT_FDCWD, (long)"/proc/thread-self", (long)link,
                          (long)sizeof(link) - 1, 0, 0);
    uint32_t ids[2];
    unsigned i;

    if (n <= 0)
        return -1;
    link[n] = 0;
    at = read_number(at, &ids[0]);
    for (i = 0; between[i] != 0; i++)
        if (*at++ != between[i])
            return -1;
    read_number(at, &ids[1]);
    *pid = ids[0];
    *tid = ids[1];
    return 0;
}

void nsc_sys_thread_name(char name[16])
{
    int i;

    for (i = 0; i < 16; i++)
        name[i] = 0;
    nsc_syscall3(SYS_prctl, PR_GET_NAME, (long)name, 0);
    name[15] = 0;
}

void nsc_sys_sleep_ns(uint32_t ns)
{
    struct kernel_timespec time = {0, (int64_t)ns};

    nsc_syscall3(SYS_nanosleep, (long)&time, 0, 0);
}

int nsc_sys_process_lives(uint32_t pid)
{
    struct kernel_timespec none = {0, 0};
    struct pollfd ended;
    long fd = nsc_syscall3(SYS_pidfd_open, (long)pid, 0, 0), result;

    if (fd < 0)
        return fd != -ESRCH && nsc_syscall3(SYS_kill, (long)pid, 0, 0) != -ESRCH;
    ended.fd = (int)fd;
    ended.events = POLLIN;
    result = nsc_syscall6(SYS_ppoll, (long)&ended, 1, (long)&none, 0, 0, 0);
    nsc_sys_close((int)fd);
    return result == 0;
}

int nsc_sys_thread_ended(uint32_t pid, uint32_t tid)
{
    return nsc_syscall3(SYS_tgkill, (long)pid, (long)tid, 0) == -ESRCH;
}

uint64_t nsc_sys_block_signals(void)
{
    uint64_t all = ~0ull, old = 0;

    nsc_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&old, sizeof(all), 0,
                 0);
    return old;
}

void nsc_sys_set_signals(uint64_t mask)
{
    nsc_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&mask, 0, sizeof(mask), 0, 0);
}

int nsc_sys_sync_cores(void)
{
    enum { SYNC_CORE = 1 << 5, REGISTER_SYNC_CORE = 1 << 6 }; /* private, expedited */
    long result = nsc_syscall3(SYS_membarrier, SYNC_CORE, 0, 0);

    if (result == -EPERM && nsc_syscall3(SYS_membarrier, REGISTER_SYNC_CORE, 0, 0) == 0)
        result = nsc_syscall3(SYS_membarrier, SYNC_CORE, 0, 0);
    return result == 0 ? 0 : -ENOSYS;
}

int nsc_sys_raise_fd(int fd)
{
    static const int from[] = {500, 100, 20};
    size_t i;

    for (i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        long high = nsc_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from[i]);

        if (high >= 0) {
            nsc_sys_close(fd);
            return (int)high;
        }
    }
    return fd;
}

/* Open the same file by its name for reading and writing; returns a descriptor or a negative
 * errno. */
static int open_again(int fd)
{
    char path[sizeof("/proc/self/fd/") + 10] = "/proc/self/fd/";
    char *at = path + sizeof("/proc/self/fd/") - 1;
    int scale = 1;

    while (fd / scale >= 10)
        scale *= 10;
    for (; scale > 0; scale /= 10)
        *at++ = (char)('0' + fd / scale % 10);
    *at = 0;
    return nsc_sys_open(path, 1);
}

/* Reopen @fd by its name and close @fd. The kernel counts users of a file only if it was opened by
 * name (nsc_session_alone() in record/session/session.h). Without /proc, returns @fd itself. */
static int open_by_name(int fd)
{
    int named = open_again(fd);

    if (named < 0)
        return fd;
    nsc_sys_close(fd);
    return named;
}

int nsc_sys_open_memory(const char *path, const uint64_t *inode)
{
    int place = (int)nsc_syscall6(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_CLOEXEC, 0, 0, 0);
    int fd = place;

    if (place < 0)
        return place;
    fd = nsc_sys_is_own_memory(place, inode) ? open_again(place) : -EPERM;
    nsc_sys_close(place);
    return fd;
}

int nsc_sys_memory_file(void)
{
    long fd = nsc_syscall3(SYS_memfd_create, (long)"nanoscope", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);

    return fd < 0 ? (int)fd : nsc_sys_raise_fd(open_by_name((int)fd));
}

int nsc_sys_pipe(int *reads, int *writes)
{
    int ends[2];
    long error = nsc_syscall3(SYS_pipe2, (long)ends, O_CLOEXEC, 0);

    if (error < 0)
        return (int)error;
    *reads = nsc_sys_raise_fd(ends[0]);
    *writes = nsc_sys_raise_fd(ends[1]);
    return 0;
}

int nsc_sys_readable(int fd, uint32_t ms)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    struct kernel_timespec time = {.seconds = ms / 1000, .ns = (int64_t)(ms % 1000) * 1000000};
    long n;

    /* The kernel subtracts the elapsed time from @time. */
    do
        n = nsc_syscall6(SYS_ppoll, (long)&look, 1, (long)&time, 0, 8, 0);
    while (n == -EINTR);
    return (int)n;
}

/* A buffered reader of characters, for /proc/self/maps. */
struct reader {
    int fd;
    long have, at;
    char buffer[512];
};

static int next_char(struct reader *r)
{
    if (r->at == r->have) {
        r->have = nsc_sys_read(r->fd, r->buffer, sizeof(r->buffer));
        r->at = 0;
        if (r->have <= 0) {
            r->have = 0;
            return -1;
        }
    }
    return (unsigned char)r->buffer[r->at++];
}

/* Read hexadecimal digits into @value; returns the character after them. */
static int next_hex(struct reader *r, uintptr_t *value)
{
    int c;

    *value = 0;
    for (;;) {
        c = next_char(r);
        if (c >= '0' && c <= '9')
            *value = *value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return c;
    }
}

/* A line is `start-end perms offset device inode   path`. */
void nsc_sys_map_path(uintptr_t address, char *to, size_t bytes)
{
    struct reader r; /* not initialised as a whole: the compiler would call memset for its buffer */
    uintptr_t start, end;
    size_t length = 0;
    int c, found = 0;

    r.fd = nsc_sys_open("/proc/self/maps", 0);
    r.have = r.at = 0;
    to[0] = 0;
    if (r.fd < 0)
        return;
    while (!found) {
        c = next_hex(&r, &start);
        if (c != '-' || next_hex(&r, &end) < 0)
            break;
        found = address >= start && address < end;
        while (!found && c >= 0 && c != '\n')
            c = next_char(&r);
    }
    /* The path begins at the first slash of the line. */
    c = found ? next_char(&r) : -1;
    while (c >= 0 && c != '\n' && c != '/')
        c = next_char(&r);
    while (c >= 0 && c != '\n' && length + 1 < bytes) {
        to[length++] = (char)c;
        c = next_char(&r);
    }
    to[c == '\n' ? length : 0] = 0;
    nsc_sys_close(r.fd);
}
