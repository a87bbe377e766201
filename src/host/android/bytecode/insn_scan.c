/* insn_scan.c - see insn_scan.h. */
#include "android/bytecode/insn_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nsc_dex_scan(struct nsc_dex_scan *scan, const uint16_t *insns, uint32_t size, uint32_t *bad)
{
    uint32_t *at, *index, count = 0, unit = 0;

    at = malloc(((size_t)size + 1) * sizeof *at);
    index = malloc(((size_t)size + 1) * sizeof *index);
    if (at == NULL || index == NULL) {
        free(at);
        free(index);
        return -ENOMEM;
    }
    while (unit < size) {
        uint32_t units = nsc_dex_insn_units(insns + unit, size - unit);

        if (units == 0) {
            *bad = unit;
            free(at);
            free(index);
            return -EBADMSG;
        }
        at[count] = unit;
        for (uint32_t i = 0; i < units; i++)
            index[unit++] = count;
        count++;
    }
    at[count] = size;
    index[size] = count;
    *scan = (struct nsc_dex_scan){.count = count, .at = at, .index = index};
    return 0;
}

void nsc_dex_scan_free(struct nsc_dex_scan *scan)
{
    free(scan->at);
    free(scan->index);
    memset(scan, 0, sizeof *scan);
}
