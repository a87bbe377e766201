/* confine_reader.c - see confine_reader.h. */
#include "util/confine_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/syscall_filter.h"

/* Sanitizers end with a search for leaks, for which they trace the process. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

enum { REFUSE = NSC_SYSCALL_REFUSE | EPERM };

/* For programs, other processes, the machine. */
static const int others[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_personality,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_init_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_syslog,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_perf_event_open,
    SYS_open_by_handle_at,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_openat2, /* what it asks for cannot be looked at: callers have another way */
#ifdef SYS_finit_module
    SYS_finit_module,
#endif
#ifdef SYS_bpf
    SYS_bpf,
#endif
#ifdef SYS_userfaultfd
    SYS_userfaultfd,
#endif
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
#ifdef SYS_pidfd_send_signal
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_open_tree
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsmount,
#endif
};

static const int networks[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen};

/* Files, by their names. */
static const int changes[] = {
    SYS_renameat, SYS_renameat2, SYS_linkat,    SYS_symlinkat,   SYS_mkdirat,      SYS_mknodat,
    SYS_truncate, SYS_fchmod,    SYS_fchmodat,  SYS_fchown,      SYS_fchownat,     SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#ifdef SYS_open
    SYS_creat,    SYS_rename,    SYS_link,      SYS_symlink,     SYS_mkdir,        SYS_mknod,
    SYS_chmod,    SYS_chown,     SYS_lchown,    SYS_utime,       SYS_utimes,       SYS_futimesat,
#endif
};

static const int removals[] = {
    SYS_unlinkat,
#ifdef SYS_open
    SYS_unlink,
    SYS_rmdir,
#endif
};

struct numbers {
    int of[NSC_SYSCALL_NUMBERS_MAX];
    size_t count;
};

#define ADD(n, list) add((n), (list), sizeof(list) / sizeof((list)[0]))

static void add(struct numbers *n, const int *list, size_t count)
{
    for (size_t i = 0; i < count && n->count < NSC_SYSCALL_NUMBERS_MAX; i++)
        n->of[n->count++] = list[i];
}

static void list_refused(struct numbers *n, unsigned needs)
{
    n->count = 0;
    ADD(n, others);
    if ((needs & NSC_CONFINE_SERVES) == 0)
        ADD(n, networks);
    if ((needs & NSC_CONFINE_WRITES) == 0)
        ADD(n, changes);
    if ((needs & (NSC_CONFINE_WRITES | NSC_CONFINE_SERVES)) == 0)
        ADD(n, removals);
}

_Static_assert(sizeof others + sizeof networks + sizeof changes + sizeof removals <=
                   NSC_SYSCALL_NUMBERS_MAX * sizeof(int),
               "all of them have room");

/* Calls that open a file: for reading, or without a name. */
static void refuse_writing(struct nsc_syscall_filter *f, int number, unsigned argument)
{
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, (uint32_t)number);
    nsc_syscall_filter_load(f, argument);
    nsc_syscall_filter_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0,
                            O_TMPFILE | O_ACCMODE | O_CREAT | O_TRUNC);
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, O_TMPFILE | O_RDWR);
    nsc_syscall_filter_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, O_ACCMODE | O_CREAT | O_TRUNC);
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, O_RDONLY);
    nsc_syscall_filter_answer(f, SECCOMP_RET_ALLOW);
    nsc_syscall_filter_answer(f, REFUSE);
}

static void write_filter(struct nsc_syscall_filter *f, unsigned needs)
{
    uint32_t self = (uint32_t)getpid();
    struct numbers refused;

    list_refused(&refused, needs);
    nsc_syscall_filter_begin(f);
    nsc_syscall_filter_answer_each(f, refused.of, refused.count, REFUSE);
    if ((needs & NSC_CONFINE_WRITES) == 0) {
        refuse_writing(f, SYS_openat, 2);
#ifdef SYS_open
        refuse_writing(f, SYS_open, 1);
#endif
    }
    /* Text that a terminal would take for the user's typing. */
    nsc_syscall_filter_answer_if(f, SYS_ioctl, 1, ~0u, TIOCSTI, REFUSE, SECCOMP_RET_ALLOW);
    nsc_syscall_filter_answer_if(f, SYS_tgkill, 0, ~0u, self, SECCOMP_RET_ALLOW, REFUSE);
    nsc_syscall_filter_answer(f, SECCOMP_RET_ALLOW);
}

/* Root reads everybody's files as before, and writes to them if it is to write. */
static void drop_capabilities(unsigned needs)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    uint32_t kept = 1u << CAP_DAC_READ_SEARCH;

    if ((needs & NSC_CONFINE_WRITES) != 0)
        kept |= 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_FSETID | 1u << CAP_CHOWN;
    if (syscall(SYS_capget, &head, sets) != 0)
        return;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].effective &= i == 0 ? kept : 0;
        sets[i].permitted &= i == 0 ? kept : 0;
        sets[i].inheritable = 0;
    }
    (void)syscall(SYS_capset, &head, sets);
}

void nsc_confine_reader(unsigned needs)
{
    struct nsc_syscall_filter filter;

    drop_capabilities(needs);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    write_filter(&filter, needs);
    if (!SANITIZED)
        (void)nsc_syscall_filter_install(&filter, 1);
}
