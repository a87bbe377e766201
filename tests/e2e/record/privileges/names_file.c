/*
 * names_file.c - a program of root's whose child gives up its user, then writes into the session's
 * memory that the parent has loaded the module PATH. usage: names_file PATH [hidden]
 * hidden: the child's first thread ends before; /proc/PID/maps is empty then.
 */
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/live.h"
#include "session_memory.h"

#define START 0x10000000000ull /* no code is there */

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

/* Of the process in the first slot: the parent. */
static void name_file(uint8_t *base, const char *path)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)base;
    struct nsc_live_module *module = (struct nsc_live_module *)(base + header->modules_off);

    while (__atomic_load_n(&module->state, __ATOMIC_ACQUIRE) != NSC_LIVE_FREE)
        module++;
    snprintf(module->path, sizeof module->path, "%s", path);
    module->process = 0;
    module->hooks = 1u << NSC_LIVE_HOOK_SLED;
    module->text_start = module->bias = START;
    module->text_end = START + 4096;
    module->load_ticks = header->clock[0].ticks;
    __atomic_store_n(&module->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

static uint8_t *base;

static void *lie(void *path)
{
    usleep(300000);
    name_file(base, path);
    usleep(500000);
    _exit(0);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pid_t child;

    base = session_memory();
    if (argc < 2 || base == NULL)
        return 2;
    work();
    child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
            setresuid(65534, 65534, 65534) != 0)
            _exit(3);
        if (argc == 2)
            lie(argv[1]);
        if (pthread_create(&thread, NULL, lie, argv[1]) == 0)
            pthread_exit(NULL);
        _exit(4);
    }
    waitpid(child, NULL, 0);
    return 0;
}
