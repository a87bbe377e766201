/*
 * Fuzzes what the recorder reads from the confined child that parses another user's file: the child
 * may have been taken over, so the bytes may be any.
 *
 * Build and run: make fuzz
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/digest.h"
#include "symbols/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Everything that the recorder may use lies within the digest. */
static void use(const struct nsc_digest *digest, const struct nsc_symtab *table)
{
    size_t sum = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct nsc_symtab_entry *entry = &table->entries[i];

        must(strlen(table->strings + entry->name) == entry->name_bytes);
        must(nsc_symtab_find(table, entry->va) < table->count);
        must(nsc_symtab_whole(table, (uint32_t)i) < table->count);
    }
    for (uint64_t i = 0; i < digest->head.site_count; i++)
        sum += digest->sites[i].va;
    must(digest->head.build_id_bytes <= sizeof digest->head.build_id);
    must(sum != 1 || digest->head.site_count > 0);
}

/* Makes the parts fit together, as far as there is room: else hardly any input is read beyond its
 * head. */
static void mend(uint8_t *bytes, size_t length)
{
    struct nsc_digest_head *head = (struct nsc_digest_head *)(void *)bytes;
    struct nsc_symtab_entry *entries = (struct nsc_symtab_entry *)(void *)(head + 1);
    uint64_t left = length - sizeof *head, before = 0, at = 0;
    uint8_t *names;

    head->error = 0;
    head->build_id_bytes %= NSC_ELF_BUILD_ID_MAX + 1;
    head->entry_count %= left / (sizeof *entries + 2) + 1;
    left -= head->entry_count * sizeof *entries;
    head->site_count %= (left - 2 * head->entry_count) / sizeof(struct nsc_symbols_site) + 1;
    left -= head->site_count * sizeof(struct nsc_symbols_site);
    head->string_bytes = left;
    names = bytes + length - left;
    for (uint64_t i = 0; i < head->entry_count; i++) {
        struct nsc_symtab_entry *e = &entries[i];
        uint64_t room = left - at - 2 * (head->entry_count - i - 1);

        e->va = before + 1 + e->va % 4096;
        e->end = e->va + 1 + e->end % 65536;
        before = e->va;
        e->name = (uint32_t)at;
        e->name_bytes =
            (uint32_t)(i + 1 == head->entry_count ? room - 1 : 1 + e->name_bytes % (room - 1));
        for (uint32_t k = 0; k < e->name_bytes; k++)
            names[at + k] = names[at + k] == 0 ? 'x' : names[at + k];
        at += e->name_bytes;
        names[at++] = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_digest digest = {0};
    struct nsc_symtab table = {0};
    uint8_t *copy = malloc(bytes + 1); /* of its own, so that a step beyond the end is seen */
    int error;

    if (copy == NULL)
        return 0;
    memcpy(copy, data, bytes);
    if (bytes >= sizeof(struct nsc_digest_head) && data[bytes - 1] % 4 != 0)
        mend(copy, bytes);
    error = nsc_digest_read(copy, bytes, &digest, &table, &diag);
    must(error == 0 || diag.message[0] != '\0');
    if (error == 0)
        use(&digest, &table);
    free(copy);
    return 0;
}
