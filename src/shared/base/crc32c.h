/*
 * crc32c.h - CRC-32C, the Castagnoli checksum (RFC 3720, polynomial 0x1edc6f41 reflected).
 *
 * Used by trace/ for every block of a file. Uses the CPU's CRC instruction where there is one.
 */
#ifndef NSC_BASE_CRC32C_H
#define NSC_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * nsc_base_crc32c - compute the checksum of @bytes bytes at @data.
 * @crc: 0 for the first bytes, or the result for the preceding bytes to continue it.
 * Context: any thread, async-signal-safe, allocates nothing.
 */
uint32_t nsc_base_crc32c(uint32_t crc, const void *data, size_t bytes);

/* Same as nsc_base_crc32c(), without the CRC instruction: for CPUs that lack it, and for tests. */
uint32_t nsc_base_crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
