/* session_memory.h - the session's memory in this process, and other means of hostile programs. */
#ifndef NSC_TESTS_E2E_RECORD_PRIVILEGES_SESSION_MEMORY_H
#define NSC_TESTS_E2E_RECORD_PRIVILEGES_SESSION_MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/live.h"

/* Where it begins; NULL: this process is not recorded. */
static inline void *session_memory(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t start = 0;
    char line[512];

    while (start == 0 && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:nanoscope") != NULL && strstr(line, " 00000000 ") != NULL)
            start = strtoull(line, NULL, 16);
    fclose(maps);
    return (void *)start;
}

/* All but the state, which the caller sets last. */
static inline void copy_module(struct nsc_live_module *to, const struct nsc_live_module *from)
{
    memcpy((uint8_t *)to + sizeof to->state, (const uint8_t *)from + sizeof from->state,
           sizeof *to - sizeof to->state);
}

/* Makes @count mappings. */
static inline void map_pages(size_t count)
{
    size_t page = 4096, i;
    uint8_t *pages =
        mmap(NULL, count * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    for (i = 0; pages != MAP_FAILED && i < count; i += 2)
        (void)mprotect(pages + i * page, page, PROT_READ | PROT_WRITE);
}

#endif
