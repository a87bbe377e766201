/* timed_modules.c - see timed_modules.h; docs/format.md 6, `timing`. */
#include "record/modules/timed_modules.h"

#include "abi/live.h"
#include "trace/write/writer.h"
#include "util/buffer.h"

/* A module with both kinds does not count: the kind of each function is unknown. */
static bool in_full(const struct nsc_module_file *file)
{
    return file->kinds != 0 && (file->kinds & 1u << NSC_LIVE_HOOK_SLED) == 0;
}

void nsc_timed_modules_note(struct nsc_modules *modules, uint32_t index, uint32_t hooks)
{
    struct nsc_module_file *noted = modules->files[index];
    bool before = in_full(noted);
    struct nsc_buffer list = {0};

    noted->kinds |= hooks;
    if (in_full(noted) == before)
        return;
    for (uint32_t i = 0; i < modules->count; i++)
        if (in_full(modules->files[i]))
            nsc_writer_put_timed(&list, modules->files[i]->id);
    nsc_buffer_bytes(&list, "", 1);
    /* If memory runs out the list stays too short: exact exit times are then reported as bounds. */
    if (!list.failed)
        nsc_writer_meta(modules->writer, NSC_META_TIMED_FULL, (const char *)list.data);
    nsc_buffer_free(&list);
}

void nsc_timed_modules_end(const struct nsc_modules *modules, struct nsc_record_result *result)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        result->modules_hooked += modules->files[i]->kinds != 0;
        result->modules_in_full += in_full(modules->files[i]);
    }
    if (result->modules_in_full > 0 && result->modules_in_full == result->modules_hooked)
        nsc_writer_meta(modules->writer, NSC_META_TIMING, NSC_TIMING_FULL);
}
