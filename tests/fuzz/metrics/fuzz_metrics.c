/*
 * Fuzzes what the sampling of threads reads: the ring of perf_event_open, and the files in /proc,
 * into which a program can put names. The first byte says which; nothing may be read beyond the
 * input, and the ring's tail must come to its head.
 *
 * Build and run: make fuzz
 */
#include <stdlib.h>
#include <string.h>

#include "metrics/perf_ring.h"
#include "metrics/proc_thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { RING_BYTES = 512 };

/* Any content, any place of tail and head. */
static void run_ring(const uint8_t *data, size_t bytes)
{
    uint8_t *memory = calloc(1, RING_BYTES);
    struct nsc_ring_record record;
    struct nsc_ring ring = {.data = memory, .bytes = RING_BYTES};
    unsigned records = 0;

    if (memory == NULL || bytes < 4) {
        free(memory);
        return;
    }
    ring.tail = (uint64_t)data[0] * 8;
    ring.head = ring.tail + data[1] + (uint64_t)(data[2] & 3) * 256;
    memcpy(memory, data + 4, bytes - 4 < RING_BYTES ? bytes - 4 : RING_BYTES);
    while (nsc_ring_next(&ring, &record) > 0)
        if (++records > RING_BYTES / 8)
            abort();
    if (ring.tail != ring.head)
        abort();
    free(memory);
}

static void run_text(uint8_t which, const uint8_t *data, size_t bytes)
{
    struct nsc_proc_look look;
    uint64_t a, b, c;
    char *text = malloc(bytes + 1);

    if (text == NULL)
        return;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    switch (which % 4) {
    case 0:
        nsc_proc_parse_stat(text, 10000000, &look);
        break;
    case 1:
        nsc_proc_parse_schedstat(text, &a, &b, &c);
        break;
    case 2:
        nsc_proc_parse_switches(text, &a);
        break;
    default:
        nsc_proc_parse_syscall(text);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0)
        return 0;
    if (data[0] < 128)
        run_ring(data + 1, bytes - 1);
    else
        run_text(data[0], data + 1, bytes - 1);
    return 0;
}
