/*
 * unpack_block.h - decompress the payload of a block: the only place where the reader needs zstd.
 *
 * Called by block.c. Implemented by unpack_block.c. Builds without libzstd (the page's WebAssembly
 * module) use src/host/viewer/wasm/without_zstd.c instead, which returns -EPROTO.
 */
#ifndef NSC_TRACE_ZSTD_UNPACK_BLOCK_H
#define NSC_TRACE_ZSTD_UNPACK_BLOCK_H

#include <stddef.h>

/**
 * nsc_unpack - decompress one zstd frame.
 * @to: room for exactly @to_bytes.
 * @from: the frame; untrusted.
 * Returns 0, -EBADMSG (not a valid frame of that size), or -EPROTO (built without zstd).
 */
int nsc_unpack(void *to, size_t to_bytes, const void *from, size_t from_bytes);

#endif
