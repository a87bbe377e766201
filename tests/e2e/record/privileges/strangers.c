/*
 * strangers.c - a program built for tracing that, once it is recorded, enters itself as 800 more
 * processes, and forks a child that makes no traced call and has 60,000 mappings.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "abi/live.h"
#include "session_memory.h"

enum { SLOTS = 800, MAPPINGS = 60000, FIRST_PROCESS = 1, FIRST_MODULE = 16 };

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

static void fork_stranger(void)
{
    if (fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    map_pages(MAPPINGS);
    for (;;)
        pause();
}

/* Copies the entries of this process and of its module. */
static void enter_processes(uint8_t *base)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)base;
    struct nsc_live_process *processes = (struct nsc_live_process *)(base + header->processes_off);
    struct nsc_live_module *modules = (struct nsc_live_module *)(base + header->modules_off);
    const struct nsc_live_module *own = modules;

    while (strstr(own->path, "strangers") == NULL)
        own++;
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct nsc_live_process *process = processes + FIRST_PROCESS + i;
        struct nsc_live_module *module = modules + FIRST_MODULE + i;

        process->pid = (uint32_t)getpid();
        process->start_ticks = own->load_ticks;
        __atomic_store_n(&process->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
        copy_module(module, own);
        module->process = FIRST_PROCESS + i;
        __atomic_store_n(&module->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
    }
}

int main(void)
{
    uint8_t *base;

    puts("ready");
    fflush(stdout);
    while ((base = session_memory()) == NULL)
        work();
    usleep(300000);
    fork_stranger();
    enter_processes(base);
    puts("lied");
    fflush(stdout);
    for (;;)
        work();
}
