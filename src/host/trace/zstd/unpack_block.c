/* unpack_block.c - see unpack_block.h. */
#include "trace/zstd/unpack_block.h"

#include <errno.h>
#include <zstd.h>

int nsc_unpack(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
    size_t n = ZSTD_decompress(to, to_bytes, from, from_bytes);

    return ZSTD_isError(n) || n != to_bytes ? -EBADMSG : 0;
}
