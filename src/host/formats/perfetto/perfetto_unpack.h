/*
 * perfetto_unpack.h - what compressed packets of a Perfetto trace hold. Called by
 * perfetto_import.c; it knows nothing of packets.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_UNPACK_H
#define NSC_FORMATS_PERFETTO_PERFETTO_UNPACK_H

#include "util/protobuf.h"

/*
 * All of zlib's, or zstd's, data: at least one byte of memory for free(), with its length in
 * @bytes. NULL when it is damaged, cut, of more than @limit bytes, or there is no memory.
 */
uint8_t *nsc_perfetto_inflate(struct nsc_span data, size_t limit, size_t *bytes);
uint8_t *nsc_perfetto_unzstd(struct nsc_span data, size_t limit, size_t *bytes);

#endif
