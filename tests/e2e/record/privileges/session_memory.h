/* session_memory.h - the session's memory in this process, for hostile programs. */
#ifndef NSC_TESTS_E2E_RECORD_PRIVILEGES_SESSION_MEMORY_H
#define NSC_TESTS_E2E_RECORD_PRIVILEGES_SESSION_MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#endif
