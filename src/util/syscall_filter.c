/* syscall_filter.c - see syscall_filter.h. */
#include "util/syscall_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#endif

enum { FEW = 4 };

#define CODE_MAX (sizeof((struct nsc_syscall_filter *)0)->code / sizeof(struct sock_filter))

void nsc_syscall_filter_emit(struct nsc_syscall_filter *f, uint16_t code, uint8_t if_true,
                             uint8_t if_false, uint32_t k)
{
    if (f->length < CODE_MAX)
        f->code[f->length++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(struct nsc_syscall_filter *f, size_t offset)
{
    nsc_syscall_filter_emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

void nsc_syscall_filter_load(struct nsc_syscall_filter *f, unsigned argument)
{
    load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

void nsc_syscall_filter_load_high(struct nsc_syscall_filter *f, unsigned argument)
{
    load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) + sizeof(uint32_t));
}

void nsc_syscall_filter_answer(struct nsc_syscall_filter *f, uint32_t action)
{
    nsc_syscall_filter_emit(f, BPF_RET | BPF_K, 0, 0, action);
}

static int compare_numbers(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* How many instructions search() makes. */
static size_t search_length(size_t count)
{
    return count <= FEW ? 2 * count
                        : 2 + search_length(count / 2) + search_length(count - count / 2);
}

/* By halves, as the kernel runs each possible number through the filter when it is installed. What
 * is none of the @numbers comes out behind. */
static void search(struct nsc_syscall_filter *f, const int *numbers, size_t count, uint32_t action)
{
    size_t half = count / 2;

    for (size_t i = 0; count <= FEW && i < count; i++) {
        nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)numbers[i]);
        nsc_syscall_filter_answer(f, action);
    }
    if (count <= FEW)
        return;
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JGE | BPF_K, (uint8_t)(search_length(half) + 1), 0,
                            (uint32_t)numbers[half]);
    search(f, numbers, half, action);
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JA, 0, 0, (uint32_t)search_length(count - half));
    search(f, numbers + half, count - half, action);
}

void nsc_syscall_filter_answer_each(struct nsc_syscall_filter *f, const int *numbers, size_t count,
                                    uint32_t action)
{
    int sorted[NSC_SYSCALL_NUMBERS_MAX];

    if (count > NSC_SYSCALL_NUMBERS_MAX) {
        f->length = CODE_MAX; /* it will not be installed */
        return;
    }
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    search(f, sorted, count, action);
}

void nsc_syscall_filter_answer_if(struct nsc_syscall_filter *f, int number, unsigned argument,
                                  uint32_t mask, uint32_t value, uint32_t met, uint32_t otherwise)
{
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)number);
    nsc_syscall_filter_load(f, argument);
    nsc_syscall_filter_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    nsc_syscall_filter_answer(f, met);
    nsc_syscall_filter_answer(f, otherwise);
}

void nsc_syscall_filter_begin(struct nsc_syscall_filter *f)
{
    f->length = 0;
#ifdef FILTER_ARCH
    load(f, offsetof(struct seccomp_data, arch));
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, FILTER_ARCH);
    nsc_syscall_filter_answer(f, SECCOMP_RET_KILL_PROCESS);
    load(f, offsetof(struct seccomp_data, nr));
    /* x86-64: numbers of the x32 ABI. */
    nsc_syscall_filter_emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    nsc_syscall_filter_answer(f, SECCOMP_RET_KILL_PROCESS);
#endif
}

int nsc_syscall_filter_install(struct nsc_syscall_filter *f, int all_threads)
{
#ifdef FILTER_ARCH
    struct sock_fprog program = {.len = f->length, .filter = f->code};
    unsigned flags = all_threads ? SECCOMP_FILTER_FLAG_TSYNC : 0;

    if (f->length == CODE_MAX)
        return -E2BIG;
    /* SPEC_ALLOW: older kernels slow the process down otherwise. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                &program) == 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0)
        return 0;
    return -errno;
#else
    (void)f;
    (void)all_threads;
    return -ENOSYS;
#endif
}
