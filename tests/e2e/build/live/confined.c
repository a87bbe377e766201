/*
 * Runs a program under a policy that gets in the way of writing sleds.
 *
 * usage: confined [mdwe | nowrite | neither | nobarrier] PROGRAM ...
 *   mdwe     memory that was writable cannot become executable (exit status 77: kernel too old)
 *   nowrite  /proc/self/mem cannot be written to
 *   neither  nor can memory be made executable
 *   nobarrier  membarrier is refused, so that code that others run cannot be changed
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define NUMBER   offsetof(struct seccomp_data, nr)
#define THIRD    offsetof(struct seccomp_data, args[2])
#define REFUSE   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define ALLOW    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)

static int filter(int neither)
{
    struct sock_filter code[] = {
        LOAD(NUMBER), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
        REFUSE,       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        LOAD(THIRD),  BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, neither ? PROT_EXEC : 0, 0, 1),
        REFUSE,       ALLOW,
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int filter_barrier(void)
{
    struct sock_filter code[] = {
        LOAD(NUMBER),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        REFUSE,
        ALLOW,
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "mdwe") == 0) {
        if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
            return 77;
    } else if (strcmp(argv[1], "nobarrier") == 0) {
        if (filter_barrier() != 0)
            return 77;
    } else if (filter(strcmp(argv[1], "neither") == 0) != 0) {
        return 77;
    }
    execv(argv[2], argv + 2);
    return 1;
}
