/*
 * sha1.h - SHA-1, for the header of a dex file.
 *
 * Called by dex_read.c and dex_write.c. Uses libcrypto if it is installed, since it uses the CPU's
 * SHA instructions; else our own implementation, which is slower by half.
 */
#ifndef NSC_ANDROID_DEX_SHA1_H
#define NSC_ANDROID_DEX_SHA1_H

#include <stddef.h>
#include <stdint.h>

#define NSC_SHA1_BYTES 20u

/* Context: any thread. */
void nsc_sha1(const void *data, size_t bytes, uint8_t out[NSC_SHA1_BYTES]);
/* The same, always by our own implementation. */
void nsc_sha1_plain(const void *data, size_t bytes, uint8_t out[NSC_SHA1_BYTES]);

#endif
