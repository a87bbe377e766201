/* thread_pick.c - see thread_pick.h. */
#include "process/call/thread_pick.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "process/procfs/procfs.h"
#include "process/procfs/seccomp_state.h"

/* Return true for a restartable call without a timeout, which a restart would otherwise reset. */
static bool without_timeout(const struct nsc_regs_waits *waits)
{
    switch (waits->number) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return (int)waits->arguments[3] < 0;
    case SYS_epoll_pwait2:
    case SYS_semtimedop:
        return waits->arguments[3] == 0;
    case SYS_rt_sigtimedwait:
        return waits->arguments[2] == 0;
    case SYS_semop:
    case SYS_msgrcv:
        return true;
    default:
        return false;
    }
}

enum nsc_pick_rank nsc_pick_rank(const struct nsc_regs_waits *waits)
{
    switch (waits->number) {
#if defined(__x86_64__) /* elsewhere their timeout starts anew, see regs.c */
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
#endif
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_pause:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_futex:
    case SYS_rt_sigsuspend:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
    case SYS_restart_syscall:
        return NSC_PICK_WAITS;
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_recvfrom: /* MSG_WAITALL */
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_copy_file_range:
    case SYS_connect:
    case SYS_close:
        return NSC_PICK_PARTIAL;
    default:
        if (without_timeout(waits))
            return NSC_PICK_WAITS;
        return nsc_regs_repeats(waits->number) ? NSC_PICK_REPEATS : NSC_PICK_OTHER;
    }
}

void nsc_pick_parse(const char *text, struct nsc_regs_waits *waits)
{
    char *end;

    *waits = (struct nsc_regs_waits){.number = -1};
    if (*text != '-' && (*text < '0' || *text > '9'))
        return; /* "running" */
    waits->number = strtol(text, &end, 10);
    for (int i = 0; waits->number >= 0 && i < 6; i++)
        waits->arguments[i] = strtoull(end, &end, 16);
    waits->sp = strtoull(end, &end, 16);
    waits->pc = strtoull(end, NULL, 16);
}

/* Examine a thread. Returns false if it cannot be called in. */
static bool look(pid_t pid, pid_t tid, struct nsc_pick *pick)
{
    struct nsc_seccomp_state confined;
    char name[64], text[512];
    char state;

    snprintf(name, sizeof name, "task/%ld/stat", (long)tid);
    if (nsc_procfs_read(pid, name, text, sizeof text) <= 0)
        return false;
    state = nsc_procfs_state(text);
    *pick = (struct nsc_pick){.tid = tid, .rank = NSC_PICK_RUNS, .waits = {.number = -1}};
    pick->confined = nsc_seccomp_state_read(tid, &confined) && confined.mode != 0;
    if (state == 'R' || state == 'T')
        return true;
    if (state != 'S')
        return false;
    snprintf(name, sizeof name, "task/%ld/syscall", (long)tid);
    pick->rank = NSC_PICK_OTHER;
    if (nsc_procfs_read(pid, name, text, sizeof text) <= 0)
        return true; /* a kernel without this file */
    nsc_pick_parse(text, &pick->waits);
    pick->rank = pick->waits.number >= 0 ? nsc_pick_rank(&pick->waits) : NSC_PICK_RUNS;
    return true;
}

static int by_rank(const void *a, const void *b)
{
    const struct nsc_pick *x = a, *y = b;

    if (x->confined != y->confined)
        return x->confined ? 1 : -1;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->tid > y->tid) - (x->tid < y->tid);
}

int nsc_pick_threads(pid_t pid, struct nsc_pick *picks, size_t max)
{
    const struct dirent *entry;
    char path[64];
    size_t count = 0;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    if (tasks == NULL)
        return -ESRCH;
    while (count < max && (entry = readdir(tasks)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid <= 0 || !look(pid, tid, &picks[count]))
            continue;
        count++;
        if (picks[count - 1].rank == NSC_PICK_WAITS && !picks[count - 1].confined)
            break; /* no thread is better */
    }
    closedir(tasks);
    qsort(picks, count, sizeof *picks, by_rank);
    return (int)count;
}
