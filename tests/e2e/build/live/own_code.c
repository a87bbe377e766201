/*
 * own_code.c - prints how many KiB of the pages that hold main() are no longer the file's: code
 * that somebody has written.
 */
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint64_t here = (uint64_t)(uintptr_t)&main, start, end, kib;
    char line[512];
    int inside = 0;
    FILE *f = fopen("/proc/self/smaps", "re");

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2)
            inside = here >= start && here < end;
        if (inside && sscanf(line, "Anonymous: %" SCNu64, &kib) == 1) {
            printf("%" PRIu64 "\n", kib);
            return 0;
        }
    }
    puts("unknown");
    return 1;
}
