/*
 * doctor_machine.c - checks the timer's quality and this machine's limits for recording. Tries
 * operations instead of relying on documented settings. Releases everything that it creates.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cli/doctor/doctor.h"
#include "metrics/perf_event.h"
#include "record/session/clock_reading.h"
#include "record/session/session.h"

#define NS_PER_S   1000000000ull
/* The buffer size of `record` without --buffer: see docs/adr/002-live-buffers.md. */
#define POOL_BYTES (32ull << 20)

#define WINDOWS      4
#define WINDOW_NS    20000000ull
#define PPM_UNSTEADY 200.0

static uint64_t raw_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Read CLOCK_MONOTONIC_RAW and the timer at the same instant: the tightest of 20 tries. */
static void sample(uint64_t *ns, uint64_t *at)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 20; i++) {
        uint64_t before = nsc_clock_reading_ticks();
        uint64_t now = raw_ns();
        uint64_t after = nsc_clock_reading_ticks();

        if (after - before < best) {
            best = after - before;
            *ns = now;
            *at = before + best / 2;
        }
    }
}

/* Cost of one timer read in ns: the minimum over 50 batches of 1000 reads. */
static double reading_ns(double ticks_per_ns)
{
    uint64_t best = UINT64_MAX;

    for (int batch = 0; batch < 50; batch++) {
        uint64_t start = nsc_clock_reading_ticks();
        uint64_t took;

        for (int i = 0; i < 1000; i++)
            (void)nsc_clock_reading_ticks();
        took = nsc_clock_reading_ticks() - start;
        best = took < best ? took : best;
    }
    return (double)best / 1001.0 / ticks_per_ns;
}

static void measure_timer(struct nsc_doctor *d)
{
    double least = 1e30, most = 0, sum = 0, ppm;
    uint64_t ns0 = 0, at0 = 0;

    sample(&ns0, &at0);
    for (int i = 0; i < WINDOWS; i++) {
        struct timespec pause = {.tv_nsec = (long)WINDOW_NS};
        uint64_t ns = 0, at = 0;
        double rate;

        nanosleep(&pause, NULL);
        sample(&ns, &at);
        rate = (double)(at - at0) / (double)(ns - ns0);
        least = rate < least ? rate : least;
        most = rate > most ? rate : most;
        sum += rate;
        ns0 = ns;
        at0 = at;
    }
    ppm = (most - least) / least * 1e6;
    nsc_doctor_add(d, "timer", "frequency", ppm < PPM_UNSTEADY ? NSC_DOCTOR_OK : NSC_DOCTOR_NOTE,
                   NULL, "%.3f MHz, differs by %.1f ppm between %d windows of %d ms%s",
                   sum / WINDOWS * 1e3, ppm, WINDOWS, (int)(WINDOW_NS / 1000000),
                   ppm < PPM_UNSTEADY ? "" : ": durations are that uncertain");
    nsc_doctor_add(d, "timer", "cost", NSC_DOCTOR_OK, NULL,
                   "%.1f ns a reading; a recorded call reads it twice", reading_ns(sum / WINDOWS));
}

#if defined(__x86_64__)
static void check_invariant(struct nsc_doctor *d)
{
    unsigned a = 0, b = 0, c = 0, features = 0;
    bool invariant =
        __get_cpuid(0x80000007, &a, &b, &c, &features) != 0 && (features & (1u << 8)) != 0;

    if (invariant)
        nsc_doctor_add(d, "timer", "invariant TSC", NSC_DOCTOR_OK, NULL,
                       "runs at one speed in every power state");
    else
        nsc_doctor_add(d, "timer", "invariant TSC", NSC_DOCTOR_NOTE,
                       "cpupower frequency-set -g performance",
                       "the processor does not promise one speed; durations follow its frequency");
}

static void check_clocksource(struct nsc_doctor *d)
{
    char name[64] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (f == NULL)
        return;
    if (fgets(name, sizeof name, f) == NULL)
        name[0] = '\0';
    fclose(f);
    name[strcspn(name, "\n")] = '\0';
    /* kvm-clock and Hyper-V's page are the TSC, scaled by the host. */
    if (strcmp(name, "tsc") == 0 || strcmp(name, "kvm-clock") == 0 ||
        strncmp(name, "hyperv", 6) == 0)
        nsc_doctor_add(d, "timer", "clock source", NSC_DOCTOR_OK, NULL, "%s", name);
    else
        nsc_doctor_add(d, "timer", "clock source", NSC_DOCTOR_NOTE,
                       "dmesg | grep -i tsc    says why; 'tsc=reliable' on the kernel's command "
                       "line overrules it",
                       "%s: the kernel does not trust the TSC, which may differ between processors",
                       name);
}
#endif

static void fail(struct nsc_doctor *d, const char *name, const char *remedy, const char *what,
                 int error)
{
    d->machine_fails = true;
    nsc_doctor_add(d, "limit", name, NSC_DOCTOR_FAIL, remedy, "%s: %s", what, strerror(error));
}

/* Create a session as `record` does, open it by the path that a traced program gets, and map it. */
static void check_memory(struct nsc_doctor *d)
{
    const struct nsc_session_options options = {.buffer_bytes = POOL_BYTES};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_record_session session;
    void *map = MAP_FAILED;
    int fd, error = nsc_session_create(&options, &session, &diag);

    if (error != 0) {
        d->machine_fails = true;
        nsc_doctor_add(d, "limit", "shared memory", NSC_DOCTOR_FAIL,
                       error == -EFBIG ? "ulimit -f unlimited"
                                       : "free some memory, raise the container's limit, or "
                                         "ulimit -v unlimited",
                       "%s", diag.message);
        return;
    }
    fd = open(session.path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        fail(d, "/proc", "mount -t proc proc /proc", "a session cannot be opened by its path",
             errno);
    else if ((map = mmap(NULL, session.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
             MAP_FAILED)
        fail(d, "address space", "ulimit -v unlimited", "a program cannot map a session", errno);
    else
        nsc_doctor_add(d, "limit", "shared memory", NSC_DOCTOR_OK, NULL,
                       "memory file of %zu MiB made, opened through /proc, mapped",
                       session.total_bytes >> 20);
    if (map != MAP_FAILED)
        munmap(map, session.total_bytes);
    if (fd >= 0)
        close(fd);
    nsc_session_destroy(&session);
}

/* Warn about a limit on address space, which limits the growth of the buffer pool. */
static void check_address_space(struct nsc_doctor *d)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        nsc_doctor_add(d, "limit", "address space", NSC_DOCTOR_NOTE, "ulimit -v unlimited",
                       "%" PRIu64 " MiB (RLIMIT_AS): with many threads events may be lost, as the "
                       "pool can grow to a quarter of that only",
                       (uint64_t)limit.rlim_cur >> 20);
}

static void check_kernel(struct nsc_doctor *d)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long pidfd = syscall(SYS_pidfd_open, getpid(), 0);

    if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0)
        nsc_doctor_add(d, "limit", "MADV_WIPEONFORK", NSC_DOCTOR_NOTE,
                       "Linux 4.14 or newer is needed", "forked children are not traced: %s",
                       strerror(errno));
    if (page != MAP_FAILED)
        munmap(page, 4096);
    if (pidfd < 0)
        fail(d, "pidfd_open", "Linux 5.3 or newer is needed", "the end of a program is not seen",
             errno);
    else
        close((int)pidfd);
}

/* The value of kernel.perf_event_paranoid, or -1. */
static int perf_paranoid(void)
{
    FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = -1;

    if (f != NULL && fscanf(f, "%d", &level) != 1)
        level = -1;
    if (f != NULL)
        fclose(f);
    return level;
}

/* Check which perf events `record --ext perf_timer` can use. */
static void check_perf(struct nsc_doctor *d)
{
    int error, level = perf_paranoid();
    const char *remedy = level > 2 ? "sysctl kernel.perf_event_paranoid=2"
                                   : "in a container: start it with --security-opt "
                                     "seccomp=unconfined, or a profile with perf_event_open";

    switch (nsc_perf_probe(&error)) {
    case NSC_PERF_ALL:
        nsc_doctor_add(d, "limit", "perf_event_open", NSC_DOCTOR_OK, NULL,
                       "samples and thread states as the kernel sees them");
        return;
    case NSC_PERF_USER:
        nsc_doctor_add(d, "limit", "perf_event_open", NSC_DOCTOR_NOTE,
                       "sysctl kernel.perf_event_paranoid=1",
                       "of user mode only (perf_event_paranoid is %d): samples within system calls "
                       "are taken by looking there, at up to 10 us each",
                       level);
        return;
    case NSC_PERF_NONE:
        nsc_doctor_add(d, "limit", "perf_event_open", NSC_DOCTOR_NOTE,
                       error == -ENOSYS ? "a kernel with CONFIG_PERF_EVENTS is needed" : remedy,
                       "%s: samples and thread states come from /proc, coarsely", strerror(-error));
        return;
    }
}

static void check_file_size(struct nsc_doctor *d)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        nsc_doctor_add(d, "limit", "file size", NSC_DOCTOR_OK, NULL, "no limit");
    else
        nsc_doctor_add(d, "limit", "file size", NSC_DOCTOR_NOTE, "ulimit -f unlimited",
                       "a trace cannot grow beyond %" PRIu64 " bytes (RLIMIT_FSIZE)",
                       (uint64_t)limit.rlim_cur);
}

static void check_processors(struct nsc_doctor *d)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    if (count > 1)
        nsc_doctor_add(d, "limit", "processors", NSC_DOCTOR_OK, NULL,
                       "%ld: recorder and program run side by side", count);
    else
        nsc_doctor_add(d, "limit", "processors", NSC_DOCTOR_NOTE, NULL,
                       "one: the recorder takes time from the program, and a busy one may lose "
                       "events (see the recording's summary line)");
}

void nsc_doctor_machine(struct nsc_doctor *d)
{
#if defined(__x86_64__)
    check_invariant(d);
    check_clocksource(d);
#endif
    measure_timer(d);
    check_memory(d);
    check_address_space(d);
    check_kernel(d);
    check_perf(d);
    check_file_size(d);
    check_processors(d);
}
