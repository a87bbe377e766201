/* confine.c - see confine.h. */
#include "util/privileges/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/os/write_all.h"
#include "util/privileges/inherited.h"
#include "util/privileges/seccomp.h"

static void limit(int resource, rlim_t value)
{
    struct rlimit l = {value, value}, now;

    if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max < value)
        l = (struct rlimit){now.rlim_max, now.rlim_max};
    (void)setrlimit((__rlimit_resource_t)resource, &l);
}

static void limit_memory(uint64_t bytes)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    unsigned long long pages;

    if (statm != NULL && fscanf(statm, "%llu", &pages) == 1)
        limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)bytes);
    if (statm != NULL)
        fclose(statm);
}

/* If memory runs out, the kernel should kill this child, not its parent. */
static void offer_to_oom_killer(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)nsc_write_all(fd, "1000", 4);
        close(fd);
    }
}

/* Must follow the change of user, which resets both settings. */
static void tie_to_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)prctl(PR_SET_DUMPABLE, 0); /* no core file, no ptrace by processes of that user */
}

int nsc_confine_enter(const struct nsc_confine *c)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGSYS};
    static const int of_parent[] = {SIGINT, SIGTERM, SIGHUP}; /* whose handlers may pass them on */
    int error;

    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    for (size_t i = 0; i < sizeof of_parent / sizeof of_parent[0]; i++)
        signal(of_parent[i], SIG_IGN);
    nsc_inherited_drop(c->keep, NSC_CONFINE_KEEP_MAX, c->shared);
    offer_to_oom_killer();
    limit_memory(c->memory_bytes);
    limit(RLIMIT_CPU, c->cpu_seconds);
    error = c->credentials != NULL ? nsc_credentials_assume(c->credentials) : 0;
    tie_to_parent();
    return error;
}

/* ---- The filter ------------------------------------------------------------------------------ */

#ifdef NSC_SECCOMP_ARCH

static const int allowed[] = {
    SYS_read,
    SYS_pread64,
    SYS_write,
    SYS_lseek,
    SYS_readv,
    SYS_preadv,
    SYS_writev,
    SYS_fstat,
    SYS_close,
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_sched_yield,
    SYS_sched_getaffinity, /* how many processors: malloc */
    SYS_sysinfo,           /* how much memory: qsort */
    SYS_getpid,
    SYS_gettid,
    SYS_exit,
    SYS_exit_group,
#ifdef SYS_time
    SYS_time,
#endif
};

/* Refused with EACCES: libraries continue without the file. */
static const int named_files[] = {
    SYS_openat, SYS_openat2, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_statx,
    SYS_getcwd, SYS_chdir,
#ifdef SYS_open
    SYS_open,   SYS_access,  SYS_readlink,  SYS_stat,       SYS_lstat,      SYS_creat,
#endif
};

static const int hostile[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_sendto,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_io_uring_setup,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_pidfd_getfd,
    SYS_setns,
    SYS_unshare,
    SYS_mount,
    SYS_setuid,
    SYS_setresuid,
};

enum { REFUSE = NSC_SECCOMP_FAIL };

/* Memory: private, never executable. Open files may be mapped: libdw reads files that way. */
static void answer_mmap(struct nsc_seccomp *f)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, SYS_mmap);
    nsc_seccomp_load_low(f, 2);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JSET | BPF_K, 4, 0, PROT_EXEC);
    nsc_seccomp_load_low(f, 3);
    nsc_seccomp_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf); /* MAP_TYPE */
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, MAP_PRIVATE);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
    nsc_seccomp_answer(f, REFUSE | EACCES);
}

/* prlimit64() may only read limits, as getrlimit() does. */
static void answer_limits(struct nsc_seccomp *f)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 6, SYS_prlimit64);
    nsc_seccomp_load_low(f, 2);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0);
    nsc_seccomp_load_high(f, 2);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
    nsc_seccomp_answer(f, REFUSE | EPERM);
}

static void write_filter(struct nsc_seccomp *f)
{
    uint32_t self = (uint32_t)getpid();

    nsc_seccomp_begin(f);
    NSC_SECCOMP_ANSWER_EACH(f, allowed, SECCOMP_RET_ALLOW);
    answer_mmap(f);
    nsc_seccomp_answer_if(f, SYS_mprotect, 2, PROT_EXEC, 0, REFUSE | EACCES);
    nsc_seccomp_answer_if(f, SYS_newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH,
                          REFUSE | EACCES); /* fstat() */
    nsc_seccomp_answer_if(f, SYS_fcntl, 1, ~(uint32_t)(F_GETFD | F_GETFL), 0,
                          REFUSE | EPERM); /* 0, 1, 2, 3 */
    answer_limits(f);
    nsc_seccomp_answer_if(f, SYS_tgkill, 0, ~0u, self, SECCOMP_RET_KILL_PROCESS); /* abort() */
    nsc_seccomp_answer_if(f, SYS_kill, 0, ~0u, self, SECCOMP_RET_KILL_PROCESS);
    NSC_SECCOMP_ANSWER_EACH(f, named_files, REFUSE | EACCES);
    NSC_SECCOMP_ANSWER_EACH(f, hostile, SECCOMP_RET_KILL_PROCESS);
    nsc_seccomp_answer(f, REFUSE | ENOSYS);
}

static int install_filter(void)
{
    struct nsc_seccomp f = {.length = 0};

    write_filter(&f);
    return nsc_seccomp_install(&f);
}

#else

static int install_filter(void)
{
    return -ENOSYS;
}

#endif

int nsc_confine_seal(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    limit(RLIMIT_NOFILE, 0); /* descriptors that are open stay usable */
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_CORE, 0);
    (void)syscall(SYS_capset, &head, none);
    tie_to_parent();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    return install_filter();
}
