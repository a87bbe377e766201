/* memory_fault.c - see memory_fault.h. */
#include "record/memory_fault.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE_MAX = 65536 }; /* of AArch64; the memory is a multiple of it */

static uintptr_t guarded, guarded_end;
static volatile sig_atomic_t happened;
static struct sigaction before;

/* Puts a private page of zeros there: the instruction goes on. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(uintptr_t)(PAGE_MAX - 1);

    (void)context;
    if (page < guarded)
        page = guarded;
    if (at < guarded || at >= guarded_end ||
        mmap((void *)page, /* NOLINT(performance-no-int-to-ptr): the kernel tells a number */
             guarded_end - page < PAGE_MAX ? guarded_end - page : PAGE_MAX, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        sigaction(number, &before, NULL); /* it faults once more, and ends as before */
    happened = 1;
}

void nsc_memory_fault_guard(void *memory, size_t bytes)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    guarded = (uintptr_t)memory;
    guarded_end = guarded + bytes;
    happened = 0;
    sigaction(SIGBUS, &action, &before);
}

void nsc_memory_fault_end(void)
{
    if (guarded_end == 0)
        return;
    sigaction(SIGBUS, &before, NULL);
    guarded = guarded_end = 0;
}

bool nsc_memory_fault_happened(void)
{
    return happened != 0;
}
