/*
 * crc32c.h - the Castagnoli checksum (RFC 3720, polynomial 0x1edc6f41 reflected) of a byte string.
 *
 * Used by trace/ for every block of a file. Uses the processor's instruction where there is one.
 */
#ifndef NSC_BASE_CRC32C_H
#define NSC_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * nsc_base_crc32c - checksum of @bytes bytes at @data.
 * @crc: 0 to begin, or the result for the bytes before, to go on.
 * Context: any thread, async-signal-safe, allocates nothing.
 */
uint32_t nsc_base_crc32c(uint32_t crc, const void *data, size_t bytes);

/* The portable form of the same, for machines without the instruction and for tests. */
uint32_t nsc_base_crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
