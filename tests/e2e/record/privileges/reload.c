/*
 * reload.c - a program that closes a traced plugin and maps other code in its place, while the
 * session's memory still says that the plugin is loaded there. usage: reload PLUGIN FILE
 *
 * The other code is FILE, with the bytes that the plugin had while its hooks were enabled. Prints
 * "loaded"; after SIGUSR1 replaces the plugin and prints "replaced"; after SIGUSR1 again prints
 * "unchanged" or "changed".
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/live.h"
#include "session_memory.h"

#define SPARE 60 /* a free entry of the table of modules */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static void say(const char *text)
{
    puts(text);
    fflush(stdout);
}

static void await(int count)
{
    while (signals < count)
        usleep(10000);
}

/* As the runtime would, but nothing marks this entry as unloaded. */
static void enter_again(uint8_t *base, const char *plugin)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)base;
    struct nsc_live_module *modules = (struct nsc_live_module *)(base + header->modules_off);
    struct nsc_live_module *spare = modules + SPARE, *real = modules;

    while (real < spare && strcmp(real->path, plugin) != 0)
        real++;
    copy_module(spare, real);
    __atomic_store_n(&spare->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

/* Finds the mapping that contains @address. */
static size_t find_mapping(uintptr_t address, uint8_t **start)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t first = 0, last = 0;
    char line[512];

    while (fgets(line, sizeof line, maps) != NULL && sscanf(line, "%zx-%zx", &first, &last) == 2 &&
           address >= last)
        ;
    fclose(maps);
    *start = (uint8_t *)first;
    return last - first;
}

int main(int argc, char **argv)
{
    void *plugin = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    int (*work)(int) = plugin != NULL ? (int (*)(int))(uintptr_t)dlsym(plugin, "work") : NULL;
    int file = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0755) : -1;
    uint8_t *base = session_memory(), *text;
    size_t bytes;
    void *code;

    if (work == NULL || file < 0 || base == NULL)
        return 2;
    signal(SIGUSR1, on_signal);
    work(1000);
    enter_again(base, argv[1]);
    say("loaded");
    await(1);
    bytes = find_mapping((uintptr_t)work, &text);
    if (write(file, text, bytes) != (ssize_t)bytes)
        return 3;
    dlclose(plugin);
    code = mmap(text, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0);
    say(code == text ? "replaced" : "not replaced");
    await(2);
    plugin = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    say(memcmp(text, plugin, bytes) == 0 ? "unchanged" : "changed");
    return 0;
}
