/* without_zstd.c - stub of trace/zstd/unpack_block.h for the WebAssembly module: no zstd. */
#include <errno.h>

#include "trace/zstd/unpack_block.h"

int nsc_unpack(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    (void)to;
    (void)to_bytes;
    (void)from;
    (void)from_bytes;
    return -EPROTO;
}
