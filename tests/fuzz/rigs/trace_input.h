/*
 * trace_input.h - a fuzzer's input as a .nst file. Its checksums are set right first, or no
 * mutation would get past them; now and then they are left wrong.
 */
#ifndef NSC_TESTS_FUZZ_RIGS_TRACE_INPUT_H
#define NSC_TESTS_FUZZ_RIGS_TRACE_INPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "fuzz/rigs/trace_mutator.h"
#include "trace/format/block.h"

static void mend_checksums(uint8_t *data, size_t bytes)
{
    size_t at = NSC_FORMAT_HEADER_BYTES;

    if (bytes < at + NSC_FORMAT_FOOTER_BYTES)
        return;
    nsc_span_put32(data + 60, nsc_base_crc32c(0, data, 60));
    while (bytes - at >= NSC_FORMAT_BLOCK_BYTES) {
        uint8_t *block = data + at;
        uint64_t stored = nsc_span_get64(block + 8);

        if (nsc_span_get32(block) != NSC_FORMAT_BLOCK_SYNC ||
            stored > bytes - at - NSC_FORMAT_BLOCK_BYTES)
            break;
        nsc_span_put32(block + 24, nsc_base_crc32c(0, block + NSC_FORMAT_BLOCK_BYTES, stored));
        nsc_span_put32(block + 28, nsc_base_crc32c(0, block, 28));
        at += NSC_FORMAT_BLOCK_BYTES + stored;
    }
    data += bytes - NSC_FORMAT_FOOTER_BYTES;
    nsc_span_put32(data + 8, nsc_base_crc32c(0, data, 8));
}

/* The path of a file with the input, the same one each time; NULL if it cannot be made. */
static const char *fuzz_trace_file(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    static char path[32];
    uint8_t *mended = malloc(bytes + 1);
    bool written;

    if (fd < 0) {
        fd = memfd_create("input", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (mended == NULL || fd < 0) {
        free(mended);
        return NULL;
    }
    memcpy(mended, data, bytes);
    if (bytes > 0 && data[bytes - 1] % 16 != 0)
        mend_checksums(mended, bytes);
    written = ftruncate(fd, 0) == 0 && pwrite(fd, mended, bytes, 0) == (ssize_t)bytes;
    free(mended);
    return written ? path : NULL;
}

#endif
