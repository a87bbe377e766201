/*
 * syscall_filter.h - make a filter of system calls (seccomp) and install it.
 *
 * Called by util/confine*.c. A filter is a list of tests; the first one that holds says what
 * becomes of the call: SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, or NSC_SYSCALL_REFUSE with an
 * errno.
 */
#ifndef NSC_UTIL_SYSCALL_FILTER_H
#define NSC_UTIL_SYSCALL_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_SYSCALL_REFUSE SECCOMP_RET_ERRNO /* plus the errno */

/* Of one test, as half of its instructions must be in reach of a jump. */
#define NSC_SYSCALL_NUMBERS_MAX 160

struct nsc_syscall_filter {
    struct sock_filter code[512];
    unsigned short length;
};

/* First of all: calls by other tables of numbers kill the process. */
void nsc_syscall_filter_begin(struct nsc_syscall_filter *f);
/* One instruction, as in linux/filter.h. */
void nsc_syscall_filter_emit(struct nsc_syscall_filter *f, uint16_t code, uint8_t if_true,
                             uint8_t if_false, uint32_t k);
/* Load the low half of argument @argument. The number of the call must be loaded again before the
 * next test. */
void nsc_syscall_filter_load(struct nsc_syscall_filter *f, unsigned argument);
/* The same for the high half. */
void nsc_syscall_filter_load_high(struct nsc_syscall_filter *f, unsigned argument);
/* What becomes of all that comes here. */
void nsc_syscall_filter_answer(struct nsc_syscall_filter *f, uint32_t action);
/* What becomes of the calls with these numbers, NSC_SYSCALL_NUMBERS_MAX at most. */
void nsc_syscall_filter_answer_each(struct nsc_syscall_filter *f, const int *numbers, size_t count,
                                    uint32_t action);
/* Call @number: @met where (@argument & @mask) == @value, else @otherwise. */
void nsc_syscall_filter_answer_if(struct nsc_syscall_filter *f, int number, unsigned argument,
                                  uint32_t mask, uint32_t value, uint32_t met, uint32_t otherwise);
/* For this thread, for good. @all_threads: for all of the process. Needs no_new_privs or
 * CAP_SYS_ADMIN. 0, or -errno: -ENOSYS for this processor or kernel, -E2BIG. */
int nsc_syscall_filter_install(struct nsc_syscall_filter *f, int all_threads);

#endif
