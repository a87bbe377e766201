/*
 * fuzz_code.c - any bytes as a code item with debug information: refused, or written as it was
 * read; renumbered and hooked it can still be read.
 *
 * The first byte chooses what is done; the second says how many bytes of the end are debug
 * information.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "android/bytecode/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t call_id(void *context, uint8_t opcode, uint32_t method)
{
    (void)context;
    return (opcode + method) % 3 == 0 ? method + 1 : 0;
}

/* What was made is read again. */
static void again(const struct nsc_dex_code *code)
{
    struct nsc_buffer out = {0};
    struct nsc_dex_code read;

    nsc_dex_code_write(code, &out);
    if (out.failed || nsc_dex_code_bytes(out.data, out.used) != out.used ||
        nsc_dex_code_read(&read, out.data, out.used, code->debug, code->debug_bytes, NULL) != 0)
        abort();
    if (read.size != code->size || read.try_count != code->try_count ||
        memcmp(read.insns, code->insns, (size_t)code->size * 2) != 0)
        abort();
    nsc_dex_code_free(&read);
    nsc_buffer_free(&out);
}

static int remap(struct nsc_dex_code *code)
{
    static uint32_t map[65536];
    struct nsc_dex_maps maps = {map, map, map, map, map, 65536, 65536, 65536, 65536, 65536};

    for (uint32_t i = 0; i < 65536; i++)
        map[i] = i + i / 64;
    return nsc_dex_code_remap(code, &maps, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_dex_hook hook = {.enter = 60000, .exit = 60001, .throwable = 3};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;
    char shorty[300];
    uint8_t how;
    size_t debug;

    if (size < 2)
        return 0;
    how = data[0];
    debug = data[1] < size - 2 ? data[1] : size - 2;
    data += 2;
    size -= 2;
    if (nsc_dex_code_read(&code, data, size - debug, debug > 0 ? data + size - debug : NULL, debug,
                          &diag) != 0) {
        if (diag.message[0] == '\0' || strchr(diag.message, '\n') != NULL)
            abort();
        return 0;
    }
    again(&code);
    if ((how & 1) != 0 && remap(&code) != 0) {
        nsc_dex_code_free(&code);
        return 0;
    }
    hook.id = how & 2 ? how * 1000u : 0;
    hook.is_static = true;
    hook.catch_all = (how & 4) != 0;
    hook.call_id = how & 8 ? call_id : NULL;
    memset(shorty, 'I', sizeof shorty);
    shorty[code.ins < 290 ? code.ins + 1 : 290] = '\0';
    hook.shorty = shorty;
    if (nsc_dex_code_hook(&code, &hook, &done) != 0)
        abort();
    if (done.refused >= NSC_DEX_REFUSALS)
        abort();
    again(&code);
    nsc_dex_code_free(&code);
    return 0;
}
