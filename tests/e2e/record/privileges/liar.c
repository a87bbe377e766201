/*
 * liar.c - a program built for tracing that, once it is recorded, writes into the session's memory
 * that another process takes part: one that it names by number, with a module of its own choice.
 *
 * usage: liar VICTIM_PID MODULE_FILE TEXT_START TEXT_END BIAS BUILD_ID [FILLERS [MAPPINGS]]
 *
 * TEXT_START, TEXT_END, BIAS and BUILD_ID are hexadecimal. VICTIM_PID 0 is the liar itself. FILLERS
 * modules of /bin/true come before the named one; with MAPPINGS they are modules of the named file,
 * and the liar has that many mappings. TEXT_START "session" is a page of the session's memory
 * itself.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/live.h"
#include "session_memory.h"

#define FILLER_STRIDE 0x1000000ull /* between the code of one filler and the next */

static void add_module(struct nsc_live_module *module, const char *path, uint64_t start,
                       uint64_t end, uint64_t load_ticks)
{
    snprintf(module->path, sizeof module->path, "%s", path);
    module->process = 5;
    module->hooks = 1u << NSC_LIVE_HOOK_SLED;
    module->site_count = 1;
    module->text_start = start;
    module->text_end = end;
    module->load_ticks = load_ticks;
    __atomic_store_n(&module->sleds_ready, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&module->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

static void lie(uint8_t *base, char **argv)
{
    unsigned fillers = argv[7] != NULL ? (unsigned)strtoul(argv[7], NULL, 10) : 0;
    const char *filler = fillers > 0 && argv[8] != NULL ? argv[2] : "/bin/true";
    bool in_session = strcmp(argv[3], "session") == 0;
    uint64_t start = in_session ? (uintptr_t)base + 8192 : strtoull(argv[3], NULL, 16);
    uint64_t end = in_session ? start + 4096 : strtoull(argv[4], NULL, 16);
    struct nsc_live_header *header = (struct nsc_live_header *)base;
    struct nsc_live_process *process =
        (struct nsc_live_process *)(base + header->processes_off) + 5;
    struct nsc_live_module *module = (struct nsc_live_module *)(base + header->modules_off) + 9;
    size_t i;

    process->pid = (uint32_t)strtoul(argv[1], NULL, 10);
    if (process->pid == 0)
        process->pid = (uint32_t)getpid();
    process->start_ticks = header->clock[0].ticks;
    __atomic_store_n(&process->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
    for (i = 0; i < fillers; i++, module++) {
        module->build_id_bytes = filler == argv[2] ? 0 : sizeof i;
        memcpy(module->build_id, &i, sizeof i);
        add_module(module, filler, start + (i + 1) * FILLER_STRIDE, end + (i + 1) * FILLER_STRIDE,
                   header->clock[0].ticks);
    }
    module->bias = in_session ? start : strtoull(argv[5], NULL, 16);
    for (i = 0; i < strlen(argv[6]) / 2; i++)
        sscanf(argv[6] + 2 * i, "%2hhx", &module->build_id[i]);
    module->build_id_bytes = (uint32_t)i;
    add_module(module, argv[2], start, end, header->clock[0].ticks);
}

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

int main(int argc, char **argv)
{
    uint8_t *base;

    if (argc < 7)
        return 2;
    puts("ready");
    fflush(stdout);
    while ((base = session_memory()) == NULL)
        work();
    if (argc > 8)
        map_pages(strtoul(argv[8], NULL, 10));
    lie(base, argv);
    puts("lied");
    fflush(stdout);
    for (;;)
        work();
}
