/* symtab.c - see symtab.h. */
#include "symbols/symtab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbol_suffix.h"
#include "util/search.h"

static const char *name_of(const struct nsc_symtab *t, const struct nsc_symtab_entry *e)
{
    return t->strings + e->name;
}

/* End of the section that contains @va: the limit of a symbol without size. */
static uint64_t section_end(const struct nsc_elf *elf, uint32_t index, uint64_t va)
{
    const Elf64_Shdr *s;

    if (index >= elf->section_count)
        return va + 1;
    s = &elf->sections[index];
    if (va < s->sh_addr || va - s->sh_addr >= s->sh_size)
        return va + 1;
    return s->sh_size > UINT64_MAX - s->sh_addr ? UINT64_MAX : s->sh_addr + s->sh_size;
}

/* Fill @e from @sym. Returns false if it is not a function defined in this file. */
static bool take_symbol(const Elf64_Sym *sym, const char *strings, size_t strings_bytes,
                        struct nsc_symtab_entry *e)
{
    unsigned type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);
    const char *name;
    size_t length;

    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF ||
        sym->st_value == 0 || sym->st_value == UINT64_MAX || sym->st_name >= strings_bytes)
        return false;
    name = strings + sym->st_name;
    length = strlen(name);
    if (length == 0)
        return false;
    e->va = sym->st_value;
    e->name = sym->st_name;
    e->name_bytes = (uint32_t)length;
    e->rank = bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 0 : bind == STB_LOCAL ? 1 : 2;
    e->cold = nsc_suffix_is_cold(name, length);
    if (sym->st_size == 0)
        e->end = 0; /* set by link_entries(); until then `outer` holds the section index */
    else
        e->end = sym->st_size > UINT64_MAX - e->va ? UINT64_MAX : e->va + sym->st_size;
    e->outer = e->end == 0 ? sym->st_shndx : NSC_TABLE_NONE;
    return true;
}

static int compare_entries(const void *left, const void *right, void *strings)
{
    const struct nsc_symtab_entry *a = left, *b = right;
    const char *text = strings;

    if (a->va != b->va)
        return a->va < b->va ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->name_bytes != b->name_bytes)
        return a->name_bytes < b->name_bytes ? -1 : 1;
    return strcmp(text + a->name, text + b->name);
}

static bool is_sorted(const struct nsc_symtab_entry *e, size_t count, void *strings)
{
    for (size_t i = 1; i < count; i++)
        if (compare_entries(&e[i - 1], &e[i], strings) > 0)
            return false;
    return true;
}

/* Keep the preferred name of each address, with the largest extent of its aliases. */
static void drop_aliases(struct nsc_symtab *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->count; i++) {
        struct nsc_symtab_entry *last = kept > 0 ? &t->entries[kept - 1] : NULL;

        if (last == NULL || last->va != t->entries[i].va)
            t->entries[kept++] = t->entries[i];
        else if (t->entries[i].end > last->end)
            last->end = t->entries[i].end;
    }
    t->count = kept;
}

/*
 * Set the ends of symbols without size, then link each entry to the nearest earlier one that
 * extends beyond its start. For any address, the entries that cover it are on the chain of outer
 * links from the last entry that starts at or before it, innermost first.
 */
static void link_entries(struct nsc_symtab *t, const struct nsc_elf *elf)
{
    struct nsc_symtab_entry *e = t->entries;

    for (size_t i = 0; i < t->count; i++) {
        uint32_t outer;

        if (e[i].end == 0) {
            e[i].end = section_end(elf, e[i].outer, e[i].va);
            if (i + 1 < t->count && e[i + 1].va < e[i].end)
                e[i].end = e[i + 1].va;
        }
        outer = i == 0 ? NSC_TABLE_NONE : (uint32_t)(i - 1);
        while (outer != NSC_TABLE_NONE && e[outer].end <= e[i].va)
            outer = e[outer].outer;
        e[i].outer = outer;
    }
}

static int compare_names(const void *left, const void *right, void *table)
{
    const struct nsc_symtab *t = table;
    const struct nsc_symtab_entry *a = &t->entries[*(const uint32_t *)left];
    const struct nsc_symtab_entry *b = &t->entries[*(const uint32_t *)right];
    int order = strcmp(name_of(t, a), name_of(t, b));

    if (order != 0)
        return order;
    return a->va < b->va ? -1 : a->va > b->va;
}

static int index_names(struct nsc_symtab *t)
{
    size_t cold = 0;

    for (size_t i = 0; i < t->count; i++)
        cold += t->entries[i].cold;
    if (cold == 0 || cold == t->count)
        return 0;
    t->by_name = malloc((t->count - cold) * sizeof *t->by_name);
    if (t->by_name == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->count; i++)
        if (!t->entries[i].cold)
            t->by_name[t->by_name_count++] = (uint32_t)i;
    qsort_r(t->by_name, t->by_name_count, sizeof *t->by_name, compare_names, t);
    return 0;
}

/* Names may overlap, as the end of one can be another. Returns false if they do so beyond reason: a
 * million symbols that share one long name would take hours. */
static bool fill(struct nsc_symtab *t, const uint8_t *symbols, size_t symbol_count,
                 size_t strings_bytes)
{
    uint64_t left = (uint64_t)strings_bytes * 4 + (1 << 20);
    uint32_t group = 0;

    for (size_t i = 0; i < symbol_count; i++) {
        struct nsc_symtab_entry *e = &t->entries[t->count];
        Elf64_Sym sym;

        memcpy(&sym, symbols + i * sizeof sym, sizeof sym);
        if (ELF64_ST_TYPE(sym.st_info) == STT_FILE)
            group++;
        else if (take_symbol(&sym, t->strings, strings_bytes, e)) {
            if (e->name_bytes > left)
                return false;
            left -= e->name_bytes;
            e->group = group;
            t->count++;
        }
    }
    return true;
}

static int read_strings(const struct nsc_elf *elf, const Elf64_Shdr *section, struct nsc_symtab *t,
                        size_t *bytes, struct nsc_diag *diag)
{
    uint8_t *data;
    int rc;

    if (section->sh_link >= elf->section_count ||
        elf->sections[section->sh_link].sh_type != SHT_STRTAB)
        return nsc_diag_set(diag, section->sh_offset, EBADMSG,
                            "%s: a symbol table without its strings", elf->path);
    rc = nsc_elf_read(elf, &elf->sections[section->sh_link], &data, bytes, diag);
    if (rc == 0)
        t->strings = (char *)data;
    return rc;
}

int nsc_symtab_read(const struct nsc_elf *elf, const Elf64_Shdr *section, struct nsc_symtab *table,
                    struct nsc_diag *diag)
{
    struct nsc_symtab t = {0};
    size_t symbol_count, bytes, strings_bytes = 0;
    uint8_t *symbols;
    int rc = nsc_elf_read(elf, section, &symbols, &bytes, diag);

    if (rc < 0)
        return rc;
    symbol_count = bytes / sizeof(Elf64_Sym);
    rc = symbol_count >= UINT32_MAX
             ? nsc_diag_set(diag, section->sh_offset, EBADMSG, "%s: too many symbols", elf->path)
             : read_strings(elf, section, &t, &strings_bytes, diag);
    if (rc == 0) {
        t.entries = malloc((symbol_count + 1) * sizeof *t.entries);
        if (t.entries == NULL)
            rc = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", elf->path);
    }
    if (rc == 0) {
        if (!fill(&t, symbols, symbol_count, strings_bytes))
            rc = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: its symbols share long names",
                              elf->path);
    }
    if (rc == 0) {
        if (!is_sorted(t.entries, t.count, t.strings))
            qsort_r(t.entries, t.count, sizeof *t.entries, compare_entries, t.strings);
        drop_aliases(&t);
        link_entries(&t, elf);
        rc = index_names(&t);
    }
    free(symbols);
    if (rc < 0)
        nsc_symtab_free(&t);
    else
        *table = t;
    return rc;
}

void nsc_symtab_free(struct nsc_symtab *table)
{
    free(table->entries);
    free(table->strings);
    free(table->by_name);
    *table = (struct nsc_symtab){0};
}

uint32_t nsc_symtab_find(const struct nsc_symtab *table, uint64_t va)
{
    size_t next = NSC_PARTITION_POINT(i, table->count, table->entries[i].va <= va);
    uint32_t at = next == 0 ? NSC_TABLE_NONE : (uint32_t)(next - 1);

    while (at != NSC_TABLE_NONE && va >= table->entries[at].end)
        at = table->entries[at].outer;
    return at;
}

/* First position in by_name whose name is not less than the @length bytes of @name. */
static size_t lower_bound(const struct nsc_symtab *t, const char *name, size_t length)
{
    /* Equal in the first bytes: the other name is the same or longer, so not below. */
    return NSC_PARTITION_POINT(i, t->by_name_count,
                               strncmp(name_of(t, &t->entries[t->by_name[i]]), name, length) < 0);
}

uint32_t nsc_symtab_whole(const struct nsc_symtab *table, uint32_t index)
{
    const struct nsc_symtab_entry *e = &table->entries[index];
    const char *name = name_of(table, e);
    size_t length = nsc_suffix_without_cold(name, e->name_bytes);
    uint32_t found = NSC_TABLE_NONE;
    unsigned candidates = 0;

    if (!e->cold)
        return index;
    if (table->is_settled)
        return e->group;
    for (size_t i = lower_bound(table, name, length); i < table->by_name_count; i++) {
        const struct nsc_symtab_entry *other = &table->entries[table->by_name[i]];

        if (other->name_bytes != length || strncmp(name_of(table, other), name, length) != 0)
            break;
        candidates++;
        /* Prefer a static function of the same source file, else the global one, which is unique.
         */
        if (other->rank == 1 && other->group == e->group)
            return table->by_name[i];
        if (found == NSC_TABLE_NONE || table->entries[found].rank == 1)
            found = table->by_name[i];
    }
    if (found == NSC_TABLE_NONE || (candidates > 1 && table->entries[found].rank == 1))
        return index; /* several static functions of that name elsewhere: ambiguous */
    return found;
}
