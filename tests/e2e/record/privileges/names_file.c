/*
 * names_file.c - a program of root's whose child gives up its user, then writes into the session's
 * memory that the parent has loaded the module PATH. usage: names_file PATH [hidden|code|shared]
 *
 * hidden: the child's first thread ends before; /proc/PID/maps is empty then.
 * code: the module is where the parent's code is, and the child says first that it has loaded PATH
 * itself, so that the recorder opens PATH. The parent says when the answer to its question changes.
 * shared: the parent has mapped PATH, a table of its own that its children can write, too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/live.h"
#include "guarded_call.h"
#include "session_memory.h"

#define START  0x10000000000ull /* no code is there */
#define PARENT 0                /* its process slot */

extern const char _init[], etext[]; /* the code's start and end */

/* Returns this process's slot. The runtime has claimed one if hooks were enabled before the fork;
 * otherwise claims a free one. */
static uint32_t own_slot(uint8_t *memory)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)memory;
    struct nsc_live_process *processes =
        (struct nsc_live_process *)(memory + header->processes_off);
    uint32_t slot = 0;

    while (processes[slot].state != NSC_LIVE_FREE && processes[slot].pid != (uint32_t)getpid())
        slot++;
    if (processes[slot].state == NSC_LIVE_FREE) {
        processes[slot].pid = (uint32_t)getpid();
        processes[slot].start_ticks = header->clock[0].ticks;
        __atomic_store_n(&processes[slot].state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
    }
    return slot;
}

static void name_file(uint8_t *base, uint32_t process, const char *path, uint64_t start,
                      uint64_t end, uint64_t bias)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)base;
    struct nsc_live_module *module = (struct nsc_live_module *)(base + header->modules_off);

    while (__atomic_load_n(&module->state, __ATOMIC_ACQUIRE) != NSC_LIVE_FREE)
        module++;
    snprintf(module->path, sizeof module->path, "%s", path);
    module->process = process;
    module->hooks = 1u << NSC_LIVE_HOOK_SLED;
    module->site_count = 1;
    module->text_start = start;
    module->text_end = end;
    module->bias = bias;
    module->load_ticks = header->clock[0].ticks;
    __atomic_store_n(&module->sleds_ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&module->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

static uint8_t *base;
static uint64_t start = START;
static int at_code;

static void *lie(void *path)
{
    usleep(300000);
    if (!at_code) {
        name_file(base, PARENT, path, start, start + 4096, start);
    } else {
        name_file(base, own_slot(base), path, START, START + 4096, START);
        usleep(300000);
        name_file(base, PARENT, path, (uintptr_t)_init, (uintptr_t)etext, 0);
        usleep(1000000);
    }
    usleep(500000);
    _exit(0);
}

int main(int argc, char **argv)
{
    int hidden = argc > 2 && strcmp(argv[2], "hidden") == 0;
    pthread_t thread;
    pid_t child;

    at_code = argc > 2 && strcmp(argv[2], "code") == 0;
    if (argc < 2)
        return 2;
    puts("ready");
    fflush(stdout);
    while ((base = session_memory()) == NULL)
        usleep(1000);
    if (argc > 2 && strcmp(argv[2], "shared") == 0)
        start = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                open(argv[1], O_RDWR), 0);
    child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
            setresuid(65534, 65534, 65534) != 0)
            _exit(3);
        if (!hidden)
            lie(argv[1]);
        if (pthread_create(&thread, NULL, lie, argv[1]) == 0)
            pthread_exit(NULL);
        _exit(4);
    }
    while (waitpid(child, NULL, WNOHANG) == 0 && ask() == 0)
        usleep(1000);
    puts(ask() != 0 ? "entered" : "over");
    return 0;
}
