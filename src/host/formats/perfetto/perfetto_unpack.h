/*
 * perfetto_unpack.h - decompress the data of compressed packets of a Perfetto trace. Called by
 * perfetto_import.c. Does not interpret packets.
 */
#ifndef NSC_FORMATS_PERFETTO_PERFETTO_UNPACK_H
#define NSC_FORMATS_PERFETTO_PERFETTO_UNPACK_H

#include "util/protobuf.h"

/*
 * Decompress zlib or zstd data. @bytes: receives the length. Return a buffer for free(), also if
 * the length is 0. Return NULL if the data is damaged, cut, or decompresses to more than @limit
 * bytes, or when out of memory.
 */
uint8_t *nsc_perfetto_inflate(struct nsc_span data, size_t limit, size_t *bytes);
uint8_t *nsc_perfetto_unzstd(struct nsc_span data, size_t limit, size_t *bytes);

#endif
