/*
 * regs.h - compute the registers of a thread for a call, and to continue after it.
 *
 * Private to process/. regs.c has one implementation per CPU architecture.
 */
#ifndef NSC_PROCESS_CALL_REGS_H
#define NSC_PROCESS_CALL_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

struct nsc_regs {
    struct user_regs_struct raw;
};

/* The system call that a thread waits in, from /proc/PID/task/TID/syscall. */
struct nsc_regs_waits {
    long number; /* -1: none */
    uint64_t arguments[6];
    uint64_t sp, pc;
};

/* Return true if the thread runs 64-bit code. */
bool nsc_regs_native(const struct nsc_regs *regs);
uint64_t nsc_regs_pc(const struct nsc_regs *regs);
void nsc_regs_set_pc(struct nsc_regs *regs, uint64_t pc);

/**
 * nsc_regs_call - set the registers as after a call of @function with return address 0.
 * @return_slot: receives the address of the stack word where the caller must store the return
 *               address, 0. Receives 0 on architectures that keep it in a register.
 *
 * Uses the stack below the red zone. Marks the thread as not in a system call, so that the kernel
 * does not restart one.
 */
void nsc_regs_call(struct nsc_regs *regs, uint64_t function, const uint64_t arguments[2],
                   uint64_t *return_slot);
int64_t nsc_regs_result(const struct nsc_regs *regs);

/**
 * nsc_regs_again - make a thread restart a system call that failed with EINTR due to the stop.
 * @regs: registers of the stopped thread, to be restored; modified.
 * @waits: the system call that the thread waited in before it was stopped.
 * @signal_waits: a signal that the thread does not block is pending.
 *
 * Does nothing for calls that the kernel restarts itself, and for calls that may have had an
 * effect.
 */
void nsc_regs_again(struct nsc_regs *regs, const struct nsc_regs_waits *waits, bool signal_waits);

/* Return true if system call @number fails with EINTR when its thread is stopped, and can be
 * repeated. */
bool nsc_regs_repeats(long number);

#endif
