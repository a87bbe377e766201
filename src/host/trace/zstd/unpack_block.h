/*
 * unpack_block.h - the payload of a compressed block as it was: the one place where reading needs
 * zstd.
 *
 * Called by block.c. unpack_block.c does it; where there is no such library (the page's module)
 * src/host/viewer/wasm/without_zstd.c stands in and says so.
 */
#ifndef NSC_TRACE_ZSTD_UNPACK_BLOCK_H
#define NSC_TRACE_ZSTD_UNPACK_BLOCK_H

#include <stddef.h>

/**
 * nsc_unpack - decompress one zstd frame.
 * @to: room for exactly @to_bytes.
 * @from: the frame; any bytes, nothing is trusted.
 * Returns 0, -EBADMSG (no frame of that size), or -EPROTO (this build cannot).
 */
int nsc_unpack(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
