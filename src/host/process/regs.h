/*
 * regs.h - what a thread's registers have to be for it to make a call, and to go on afterwards.
 *
 * Private to reach/; one implementation a processor, in regs.c.
 */
#ifndef NSC_PROCESS_REGS_H
#define NSC_PROCESS_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

struct nsc_regs {
    struct user_regs_struct raw;
};

/* A system call that a thread was seen to wait in: what /proc/PID/task/TID/syscall tells. */
struct nsc_regs_waits {
    long number; /* -1: in none */
    uint64_t arguments[6];
    uint64_t sp, pc;
};

/* Is it code of our own kind (not 32-bit) that runs there? */
bool nsc_regs_native(const struct nsc_regs *regs);
uint64_t nsc_regs_pc(const struct nsc_regs *regs);
void nsc_regs_set_pc(struct nsc_regs *regs, uint64_t pc);

/**
 * nsc_regs_call - make them those of a thread that has just called @function.
 * @return_slot: receives the address of the word of the stack that has to hold the return address,
 * 0; stays 0 where a register does.
 *
 * The stack below the red zone is used. The kernel takes the thread for one that is in no system
 * call.
 */
void nsc_regs_call(struct nsc_regs *regs, uint64_t function, const uint64_t arguments[2],
                   uint64_t *return_slot);
int64_t nsc_regs_result(const struct nsc_regs *regs);

/**
 * nsc_regs_again - a system call that gave EINTR because the thread was stopped is to be made
 * again.
 * @regs: of the stopped thread, to be put back.
 * @waits: in which system call it was seen before it was stopped.
 * @signal_waits: a signal that the thread does not block is pending.
 *
 * Does nothing for a call that the kernel begins again by itself, and for one that may have done
 * something.
 */
void nsc_regs_again(struct nsc_regs *regs, const struct nsc_regs_waits *waits, bool signal_waits);

/* Is @number a system call that gives EINTR to whoever is stopped, and may be made again? */
bool nsc_regs_repeats(long number);

#endif
