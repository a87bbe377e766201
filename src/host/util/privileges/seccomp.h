/*
 * seccomp.h - build a system call filter and install it.
 *
 * Called by confine.c and confine_reader.c, which decide what to allow. Each function appends
 * instructions to the filter; the first answer that applies to a call decides. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_SECCOMP_H
#define NSC_UTIL_PRIVILEGES_SECCOMP_H

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define NSC_SECCOMP_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NSC_SECCOMP_ARCH AUDIT_ARCH_AARCH64
#endif

/* Action: the call fails with an error, as in NSC_SECCOMP_FAIL | EPERM. */
enum { NSC_SECCOMP_FAIL = SECCOMP_RET_ERRNO };

struct nsc_seccomp {
    struct sock_filter code[512];
    unsigned short length;
};

/* Append one instruction of linux/filter.h. */
void nsc_seccomp_emit(struct nsc_seccomp *f, uint16_t code, uint8_t if_true, uint8_t if_false,
                      uint32_t k);
/* Append an answer: SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, NSC_SECCOMP_FAIL | errno. */
void nsc_seccomp_answer(struct nsc_seccomp *f, uint32_t action);
/* Load the lower or upper 32 bits of an argument in place of the call's number. */
void nsc_seccomp_load_low(struct nsc_seccomp *f, unsigned argument);
void nsc_seccomp_load_high(struct nsc_seccomp *f, unsigned argument);

#ifdef NSC_SECCOMP_ARCH
/* Must come first: loads the call's number. System calls of another ABI (32 bits, x32) kill. */
void nsc_seccomp_begin(struct nsc_seccomp *f);
#endif

#define NSC_SECCOMP_NUMBERS_MAX 200 /* jumps reach 255 instructions */

/* Answer @action to the calls @numbers, at most NSC_SECCOMP_NUMBERS_MAX. */
void nsc_seccomp_answer_each(struct nsc_seccomp *f, const int *numbers, size_t count,
                             uint32_t action);
#define NSC_SECCOMP_ANSWER_EACH(f, numbers, action)                                                \
    nsc_seccomp_answer_each((f), (numbers), sizeof(numbers) / sizeof((numbers)[0]), (action))

/* Call @number: allow if the lower 32 bits of @argument, masked, equal @value; else @action. */
void nsc_seccomp_answer_if(struct nsc_seccomp *f, int number, unsigned argument, uint32_t mask,
                           uint32_t value, uint32_t action);
/* Call @number: @action_in if the lower 32 bits of @argument are one of @values; else
 * @action_else. */
void nsc_seccomp_answer_value(struct nsc_seccomp *f, int number, unsigned argument,
                              const uint32_t *values, size_t count, uint32_t action_in,
                              uint32_t action_else);

/* Install the filter for the calling thread and threads that it starts later, permanently. Needs
 * no_new_privs. Returns 0, -E2BIG (the filter is too long), or -errno: the kernel or emulator has
 * no seccomp. */
int nsc_seccomp_install(struct nsc_seccomp *f);

#endif
