/* memory_fault.c - see memory_fault.h. */
#include "record/session/memory_fault.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t guarded, guarded_end, page_bytes;
static volatile sig_atomic_t happened;
static struct sigaction before;

/* Maps a private page of zeros at the fault; the instruction is then restarted. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, page = at & ~(page_bytes - 1);

    (void)context;
    if (at < guarded || at >= guarded_end ||
        mmap((void *)page, /* NOLINT(performance-no-int-to-ptr): the kernel tells a number */
             page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        sigaction(number, &before, NULL); /* faults again, unhandled */
    happened = 1;
}

void nsc_memory_fault_guard(void *memory, size_t bytes)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (guarded != 0)
        return;
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    guarded = (uintptr_t)memory;
    guarded_end = guarded + bytes;
    happened = 0;
    sigaction(SIGBUS, &action, &before);
}

void nsc_memory_fault_end(const void *memory)
{
    if (guarded != (uintptr_t)memory || memory == NULL)
        return;
    sigaction(SIGBUS, &before, NULL);
    guarded = guarded_end = 0;
}

bool nsc_memory_fault_happened(void)
{
    return happened != 0;
}
