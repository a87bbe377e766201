/* crc32c.c - see crc32c.h. The portable form is slicing-by-8: eight bytes a step, eight tables. */
#include "base/crc32c.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

typedef uint32_t crc_function(uint32_t crc, const uint8_t *at, size_t bytes);

static uint32_t tables[8][256];
static atomic_int tables_ready;

/* Two threads may fill the tables at the same time: both write the same values. */
static void fill_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL : 0);
        tables[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++)
            tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
    atomic_store_explicit(&tables_ready, 1, memory_order_release);
}

static uint32_t crc_portable(uint32_t crc, const uint8_t *at, size_t bytes)
{
    if (atomic_load_explicit(&tables_ready, memory_order_acquire) == 0)
        fill_tables();
    for (; bytes >= 8; at += 8, bytes -= 8) {
        crc ^=
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = tables[7][crc & 0xff] ^ tables[6][(crc >> 8) & 0xff] ^ tables[5][(crc >> 16) & 0xff] ^
              tables[4][crc >> 24] ^ tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^
              tables[0][at[7]];
    }
    for (; bytes > 0; at++, bytes--)
        crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xff];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_machine(uint32_t crc, const uint8_t *at,
                                                              size_t bytes)
{
    uint64_t wide = crc;

    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; bytes > 0; at++, bytes--)
        crc = __builtin_ia32_crc32qi(crc, *at);
    return crc;
}

static int machine_has_crc(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__) && defined(__linux__)
__attribute__((target("+crc"))) static uint32_t crc_machine(uint32_t crc, const uint8_t *at,
                                                            size_t bytes)
{
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;

        memcpy(&word, at, sizeof word);
        crc = __crc32cd(crc, word);
    }
    for (; bytes > 0; at++, bytes--)
        crc = __crc32cb(crc, *at);
    return crc;
}

static int machine_has_crc(void)
{
    return (getauxval(AT_HWCAP) & (1u << 7)) != 0; /* HWCAP_CRC32 */
}
#else
#define crc_machine crc_portable

static int machine_has_crc(void)
{
    return 0;
}
#endif

uint32_t nsc_base_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    static crc_function *_Atomic chosen;
    crc_function *function = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (function == NULL) {
        function = machine_has_crc() ? crc_machine : crc_portable;
        atomic_store_explicit(&chosen, function, memory_order_relaxed);
    }
    return ~function(~crc, data, bytes);
}

uint32_t nsc_base_crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
    return ~crc_portable(~crc, data, bytes);
}
