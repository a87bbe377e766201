/* zero_pages.c - see zero_pages.h. */
#include "util/os/zero_pages.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Below this size, clearing memory is faster than mmap(). */
#define SMALL ((size_t)128 << 10)

void *nsc_pages_new(size_t bytes)
{
    void *memory;

    if (bytes < SMALL)
        return calloc(1, bytes);
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void nsc_pages_free(void *memory, size_t bytes)
{
    if (bytes < SMALL)
        free(memory);
    else if (memory != NULL)
        munmap(memory, bytes);
}
