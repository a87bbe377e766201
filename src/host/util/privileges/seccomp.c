/* seccomp.c - see seccomp.h. */
#include "util/privileges/seccomp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GROUP = 8 };

void nsc_seccomp_emit(struct nsc_seccomp *f, uint16_t code, uint8_t if_true, uint8_t if_false,
                      uint32_t k)
{
    if (f->length < sizeof f->code / sizeof f->code[0])
        f->code[f->length++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(struct nsc_seccomp *f, size_t offset)
{
    nsc_seccomp_emit(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

void nsc_seccomp_answer(struct nsc_seccomp *f, uint32_t action)
{
    nsc_seccomp_emit(f, BPF_RET | BPF_K, 0, 0, action);
}

/* Both processors are little-endian. */
void nsc_seccomp_load_low(struct nsc_seccomp *f, unsigned argument)
{
    load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

void nsc_seccomp_load_high(struct nsc_seccomp *f, unsigned argument)
{
    load(f, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) + sizeof(uint32_t));
}

#ifdef NSC_SECCOMP_ARCH
void nsc_seccomp_begin(struct nsc_seccomp *f)
{
    load(f, offsetof(struct seccomp_data, arch));
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NSC_SECCOMP_ARCH);
    nsc_seccomp_answer(f, SECCOMP_RET_KILL_PROCESS);
    load(f, offsetof(struct seccomp_data, nr));
    /* x86-64: numbers of the x32 ABI */
    nsc_seccomp_emit(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    nsc_seccomp_answer(f, SECCOMP_RET_KILL_PROCESS);
}
#endif

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The kernel evaluates the filter for every system call number when it is installed. Sorted groups
 * keep that short: most numbers skip most groups. */
void nsc_seccomp_answer_each(struct nsc_seccomp *f, const int *numbers, size_t count,
                             uint32_t action)
{
    int sorted[NSC_SECCOMP_NUMBERS_MAX];
    /* Positions of instructions, counted from here. */
    size_t answer = count + 2 * ((count + GROUP - 1) / GROUP) + 1, at = 0;

    memcpy(sorted, numbers, count * sizeof *numbers);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t from = 0; from < count; from += GROUP) {
        size_t to = count - from < GROUP ? count : from + GROUP;

        nsc_seccomp_emit(f, BPF_JMP | BPF_JGT | BPF_K, (uint8_t)(to - from + 1), 0,
                         (uint32_t)sorted[to - 1]);
        at++;
        for (size_t i = from; i < to; i++, at++)
            nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(answer - at - 1), 0,
                             (uint32_t)sorted[i]);
        nsc_seccomp_emit(f, BPF_JMP | BPF_JA, 0, 0, (uint32_t)(answer - at));
        at++;
    }
    nsc_seccomp_emit(f, BPF_JMP | BPF_JA, 0, 0, 1);
    nsc_seccomp_answer(f, action);
}

void nsc_seccomp_answer_if(struct nsc_seccomp *f, int number, unsigned argument, uint32_t mask,
                           uint32_t value, uint32_t action)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)number);
    nsc_seccomp_load_low(f, argument);
    nsc_seccomp_emit(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    nsc_seccomp_answer(f, SECCOMP_RET_ALLOW);
    nsc_seccomp_answer(f, action);
}

void nsc_seccomp_answer_value(struct nsc_seccomp *f, int number, unsigned argument,
                              const uint32_t *values, size_t count, uint32_t action_in,
                              uint32_t action_else)
{
    nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)(count + 3), (uint32_t)number);
    nsc_seccomp_load_low(f, argument);
    for (size_t i = 0; i < count; i++)
        nsc_seccomp_emit(f, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(count - i), 0, values[i]);
    nsc_seccomp_answer(f, action_else);
    nsc_seccomp_answer(f, action_in);
}

int nsc_seccomp_install(struct nsc_seccomp *f)
{
    struct sock_fprog program = {.len = f->length, .filter = f->code};

    if (f->length == sizeof f->code / sizeof f->code[0])
        return -E2BIG;
    /* SPEC_ALLOW: without it older kernels disable speculation and slow the process down. It holds
     * no secrets that an attacker in the same process could not read directly. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) ==
            0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return 0;
    return -errno;
}
