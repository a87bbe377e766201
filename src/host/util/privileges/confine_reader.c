/* confine_reader.c - see confine_reader.h. */
#include "util/privileges/confine_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/securebits.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/privileges/landlock.h"
#include "util/privileges/seccomp.h"

/* ---- Capabilities ---------------------------------------------------------------------------- */

#define BIT(capability) (UINT64_C(1) << (capability))

static uint64_t needed(const struct nsc_confine_reader *r)
{
    uint64_t kept = BIT(CAP_DAC_READ_SEARCH); /* root reads everybody's traces */

    if (r->output != NULL) /* FOWNER: replace another user's file in a folder like /tmp */
        kept |= BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER);
    if (r->serves)
        kept |= BIT(CAP_NET_BIND_SERVICE);
    return kept;
}

static void drop_capabilities(uint64_t kept)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &head, sets) != 0 || (sets[0].permitted | sets[1].permitted) == 0)
        return;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    /* An exec as root does not restore capabilities. Emptying the bounding set takes 41 calls and
     * 60 us, and adds nothing: no_new_privs ignores capabilities of executable files. */
    (void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].permitted &= (uint32_t)(kept >> (32 * i));
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    (void)syscall(SYS_capset, &head, sets);
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* The folder of @path, which need not exist; to be freed. */
static char *folder_of(const char *path)
{
    size_t bytes = strlen(path);
    const char *slash;

    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    slash = memrchr(path, '/', bytes);
    return slash != NULL ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
}

/* By Landlock, where the kernel has it. */
static void restrict_files(const struct nsc_confine_reader *r)
{
    char *folder = r->output != NULL ? folder_of(r->output) : NULL;
    const struct nsc_landlock_folder folders[] = {{.path = r->scratch},
                                                  {.path = folder, .holds_outputs = true}};

    if (folder != NULL || r->output == NULL)
        (void)nsc_landlock_restrict(folders, folder != NULL ? 2 : 1);
    free(folder);
}

/* ---- The filter ------------------------------------------------------------------------------ */

#ifdef NSC_SECCOMP_ARCH

/* Numbers from 424 on are the same on all processors. Headers of the C library may be older. */
enum { MOUNT_SETATTR = 442, QUOTACTL_FD = 443, PROCESS_MRELEASE = 448, LAST_KNOWN = 450 };

enum { REFUSE = NSC_SECCOMP_FAIL };

#define TERMINAL_GET 0x802c542au /* TCGETS2; not defined in the C library's headers */

static const int foreign[] = {
    /* other programs, processes and machines */
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_process_madvise,
    PROCESS_MRELEASE,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_sched_setaffinity,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_connect,
    /* other users */
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    /* shared memory, semaphores and messages of other processes */
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semctl,
    SYS_semop,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgctl,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_mq_open,
    SYS_mq_unlink,
    /* mounts and namespaces */
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    MOUNT_SETATTR,
    SYS_quotactl,
    QUOTACTL_FD,
    SYS_swapon,
    SYS_swapoff,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_acct,
    /* settings of the kernel, and interfaces with a large attack surface */
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_syslog,
    SYS_vhangup,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
    /* owners, modes and attributes of files; special files */
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_utimensat,
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_mknod,
    SYS_symlink,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
};

/* Changes of folders, for commands without an output. */
static const int changes[] = {
    SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_truncate,
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_rename
    SYS_rename,    SYS_link,   SYS_unlink,   SYS_mkdir,   SYS_rmdir,    SYS_creat,
#endif
};

/* A filter cannot inspect their arguments, which are in memory. Callers fall back to older calls on
 * ENOSYS. */
static const int unreadable[] = {SYS_clone3, SYS_openat2};

static const int sockets[] = {SYS_socket, SYS_bind, SYS_listen};

struct numbers {
    int at[NSC_SECCOMP_NUMBERS_MAX];
    size_t count;
};

static void add(struct numbers *to, const int *numbers, size_t count)
{
    memcpy(to->at + to->count, numbers, count * sizeof *numbers);
    to->count += count;
}

/* One list takes fewer steps than several. */
static void answer_numbers(struct nsc_seccomp *f, const struct nsc_confine_reader *r)
{
    struct numbers refused = {.count = 0};

    _Static_assert(sizeof foreign + sizeof changes + sizeof sockets <= sizeof refused.at, "room");
    add(&refused, foreign, sizeof foreign / sizeof *foreign);
    if (r->output == NULL)
        add(&refused, changes, sizeof changes / sizeof *changes);
    if (!r->serves)
        add(&refused, sockets, sizeof sockets / sizeof *sockets);
    nsc_seccomp_answer_each(f, refused.at, refused.count, REFUSE | EPERM);
}

/* Call @number with open flags in @argument: for reading, or for a temporary file without a name,
 * which cannot get a name without linkat(). */
static void answer_open(struct nsc_seccomp *f, int number, unsigned argument)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)number);
    nsc_seccomp_load_low(f, argument);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JSET | BPF_K, 2, 0, O_TMPFILE & ~O_DIRECTORY);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, O_ACCMODE | O_CREAT | O_TRUNC);
    nsc_seccomp_answer(f, REFUSE | EACCES);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
}

/* Allows any signal to this process, signal 0 (does the process exist?), and SIGKILL, by which
 * nsc_child_end() ends a child. Landlock refuses SIGKILL for processes that are no children. */
static void answer_kill(struct nsc_seccomp *f, uint32_t self)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, SYS_kill);
    nsc_seccomp_load_low(f, 1);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 0);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 3, 0, SIGKILL);
    nsc_seccomp_load_low(f, 0);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, self);
    nsc_seccomp_answer(f, REFUSE | EPERM);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
}

#define ANSWER_VALUE(f, number, argument, values, action_in, action_else)                          \
    nsc_seccomp_answer_value((f), (number), (argument), (values),                                  \
                             sizeof(values) / sizeof((values)[0]), (action_in), (action_else))

/* Calls that are allowed or refused by their arguments. */
static void answer_arguments(struct nsc_seccomp *f)
{
    static const uint32_t terminal[] = {TCGETS,    TERMINAL_GET, TIOCGWINSZ,
                                        TIOCGPGRP, FIONREAD,     FIONBIO};
    static const uint32_t signals[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY};
    uint32_t self = (uint32_t)getpid();

    /* TIOCSTI, among others, is refused: it types a command into the user's shell. */
    ANSWER_VALUE(f, SYS_ioctl, 1, terminal, SECCOMP_RET_ALLOW, REFUSE | ENOTTY);
    ANSWER_VALUE(f, SYS_fcntl, 1, signals, REFUSE | EPERM, SECCOMP_RET_ALLOW);
    answer_kill(f, self);
    nsc_seccomp_answer_if(f, SYS_tgkill, 0, ~0u, self, REFUSE | EPERM);
    nsc_seccomp_answer_if(f, SYS_prlimit64, 0, ~0u, 0, REFUSE | EPERM);
    nsc_seccomp_answer_if(f, SYS_clone, 0,
                          CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                              CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
                          0, REFUSE | EPERM);
}

/* The loaded value is the socket's family. If it is @family, allows @type with @protocol or 0 (the
 * family's default), and refuses all else. For other families, continues with the next rule. */
enum { FAMILY_INSTRUCTIONS = 9 };
static void answer_family(struct nsc_seccomp *f, uint32_t family, uint32_t type, uint32_t protocol)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, FAMILY_INSTRUCTIONS - 1, family);
    nsc_seccomp_load_low(f, 1);
    nsc_seccomp_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK));
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, type);
    nsc_seccomp_load_low(f, 2);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, protocol);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
    nsc_seccomp_answer(f, REFUSE | EACCES);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
}

/* The server listens by TCP and asks the kernel about connections by netlink. It neither connects
 * nor sends to an address: datagrams and TCP Fast Open need no connect(). */
static void answer_sockets(struct nsc_seccomp *f)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 2 * FAMILY_INSTRUCTIONS + 2, SYS_socket);
    nsc_seccomp_load_low(f, 0);
    answer_family(f, AF_INET, SOCK_STREAM, IPPROTO_TCP);
    answer_family(f, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
    nsc_seccomp_answer(f, REFUSE | EACCES);
    nsc_seccomp_answer_if(f, SYS_sendto, 3, MSG_FASTOPEN, 0, REFUSE | EPERM);
    nsc_seccomp_answer_if(f, SYS_sendmsg, 2, MSG_FASTOPEN, 0, REFUSE | EPERM);
    nsc_seccomp_answer_if(f, SYS_sendmmsg, 3, MSG_FASTOPEN, 0, REFUSE | EPERM);
}

static void write_filter(struct nsc_seccomp *f, const struct nsc_confine_reader *r)
{
    nsc_seccomp_begin(f);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN);
    nsc_seccomp_answer(f, REFUSE | ENOSYS);
    answer_numbers(f, r);
    nsc_seccomp_answer_each(f, unreadable, sizeof unreadable / sizeof *unreadable, REFUSE | ENOSYS);
    if (r->output == NULL) {
        answer_open(f, SYS_openat, 2);
#ifdef SYS_open
        answer_open(f, SYS_open, 1);
#endif
    }
    if (r->serves)
        answer_sockets(f);
    answer_arguments(f);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
}

static int install_filter(const struct nsc_confine_reader *r)
{
    struct nsc_seccomp f = {.length = 0};

    write_filter(&f, r);
    return nsc_seccomp_install(&f);
}

#else

static int install_filter(const struct nsc_confine_reader *r)
{
    (void)r;
    return -ENOSYS;
}

#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

int nsc_confine_reader(const struct nsc_confine_reader *r)
{
    drop_capabilities(needed(r));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    if (SANITIZED) /* they start a tracer and a symbolizer at exit */
        return -ENOSYS;
    restrict_files(r);
    return install_filter(r);
}
