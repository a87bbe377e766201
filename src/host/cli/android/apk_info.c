/* apk_info.c - collects the contents of an APK; see apk_info.h. */
#include "cli/android/apk_info.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "util/array.h"
#include "util/sort.h"

#define MANIFEST     "AndroidManifest.xml"
#define MANIFEST_MAX (64u << 20)
#define DEX_HEAD     112u
#define LIBRARY_HEAD 4096u /* its ELF header and program headers */
#define PAGE_16K     16384u
#define METHODS_HEAD 128u
#define ENDS_HERE    (-ECANCELED) /* stops reading an entry; not an error */

/* ---- Beginnings of entries ------------------------------------------------------------------ */

/* The first bytes of an entry, up to @room. */
struct head {
    uint8_t *data;
    size_t used, room;
    uint64_t lines; /* in the whole entry, if to_the_end */
    bool to_the_end;
};

static int into_head(void *context, const uint8_t *data, size_t bytes)
{
    struct head *h = context;
    size_t part = h->room - h->used < bytes ? h->room - h->used : bytes;

    memcpy(h->data + h->used, data, part);
    h->used += part;
    for (size_t i = 0; h->to_the_end && i < bytes; i++)
        h->lines += data[i] == '\n';
    return h->used == h->room && !h->to_the_end ? ENDS_HERE : 0;
}

static int read_head(const struct nsc_zip *z, const struct nsc_zip_entry *e, struct head *h,
                     struct nsc_diag *diag)
{
    int error = nsc_zip_stream(z, e, into_head, h, diag);

    return error == ENDS_HERE ? 0 : error;
}

/* ---- Manifest ------------------------------------------------------------------------------- */

static int read_manifest(struct nsc_apk_info *info, struct nsc_diag *diag)
{
    const struct nsc_zip_entry *e = nsc_zip_find(info->zip, MANIFEST);
    const char *path = nsc_zip_path(info->zip);
    struct nsc_axml *x = NULL;
    uint8_t *data = NULL;
    size_t bytes = 0;
    int error;

    if (e == NULL && nsc_zip_find(info->zip, "BundleConfig.pb") != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "%s is an app bundle: let bundletool make APKs of it", path);
    if (e == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "%s is no APK: it has no " MANIFEST,
                            path);
    error = nsc_zip_read(info->zip, e, MANIFEST_MAX, &data, &bytes, diag);
    if (error == 0) {
        struct nsc_diag inner = {.offset = NSC_DIAG_NO_OFFSET};

        error = nsc_axml_read(data, bytes, &x, &inner);
        if (error == 0)
            error = nsc_manifest_read(x, &info->manifest, &inner);
        if (error != 0)
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%.200s: " MANIFEST ": %.200s", path,
                         inner.message);
    }
    nsc_axml_free(x);
    free(data);
    return error;
}

/* ---- Dex files ------------------------------------------------------------------------------ */

/* The number of a DEX file: 1 for classes.dex, 2 for classes2.dex, ...; 0 for another name. */
static unsigned dex_number(const char *name)
{
    char *end;
    unsigned long n;

    if (strcmp(name, "classes.dex") == 0)
        return 1;
    if (strncmp(name, "classes", 7) != 0 || name[7] < '1' || name[7] > '9')
        return 0;
    n = strtoul(name + 7, &end, 10);
    return strcmp(end, ".dex") == 0 && n >= 2 && n < 100000 ? (unsigned)n : 0;
}

static int take_dex(struct nsc_apk_info *info, const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    uint8_t p[DEX_HEAD] = {0};
    struct head head = {.data = p, .room = sizeof p};
    struct nsc_apk_dex *d;
    int error = read_head(info->zip, e, &head, diag);

    if (error != 0)
        return error;
    if (head.used < sizeof p || memcmp(p, "dex\n", 4) != 0)
        return nsc_diag_set(diag, e->data_off, EBADMSG, "%.200s is no dex file", e->name);
    d = nsc_array_grow(info->dex, &info->dex_room, info->dex_count, sizeof *d);
    if (d == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    info->dex = d;
    d += info->dex_count++;
    *d = (struct nsc_apk_dex){.name = e->name,
                              .strings = nsc_span_get32(p + 56),
                              .types = nsc_span_get32(p + 64),
                              .fields = nsc_span_get32(p + 80),
                              .methods = nsc_span_get32(p + 88),
                              .classes = nsc_span_get32(p + 96),
                              .bytes = e->bytes};
    for (unsigned i = 0; i < 3; i++)
        d->version[i] = (char)(p[4 + i] >= '0' && p[4 + i] <= '9' ? p[4 + i] : '?');
    return 0;
}

static int compare_dex(const void *a, const void *b, void *context)
{
    const struct nsc_apk_dex *x = a, *y = b;
    unsigned m = dex_number(x->name), n = dex_number(y->name);

    (void)context;
    return m < n ? -1 : m > n;
}

/* ---- Libraries ------------------------------------------------------------------------------ */

/* Read the ELF class and the least alignment of the PT_LOAD segments. */
static void read_segments(struct nsc_apk_library *l, const uint8_t *p, size_t bytes)
{
    uint64_t at;
    uint16_t size, count;

    if (bytes < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 || p[EI_DATA] != ELFDATA2LSB)
        return;
    l->is_elf = true;
    l->is_64 = p[EI_CLASS] == ELFCLASS64;
    at = l->is_64 ? nsc_span_get64(p + 32) : nsc_span_get32(p + 28);
    size = nsc_span_get16(p + (l->is_64 ? 54 : 42));
    count = nsc_span_get16(p + (l->is_64 ? 56 : 44));
    for (uint16_t i = 0; i < count; i++, at += size) {
        size_t wanted = l->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
        uint64_t align;

        if (size < wanted || at > bytes || bytes - at < wanted)
            return;
        if (nsc_span_get32(p + at) != PT_LOAD)
            continue;
        align = l->is_64 ? nsc_span_get64(p + at + 48) : nsc_span_get32(p + at + 28);
        if (l->align == 0 || align < l->align)
            l->align = align;
    }
}

/* lib/ABI/FILE.so */
static bool is_library(const char *name)
{
    const char *slash = strncmp(name, "lib/", 4) == 0 ? strchr(name + 4, '/') : NULL;
    size_t bytes = strlen(name);

    return slash != NULL && strchr(slash + 1, '/') == NULL && bytes > 3 &&
           strcmp(name + bytes - 3, ".so") == 0;
}

static int take_library(struct nsc_apk_info *info, const struct nsc_zip_entry *e,
                        struct nsc_diag *diag)
{
    uint8_t p[LIBRARY_HEAD];
    struct head head = {.data = p, .room = sizeof p};
    struct nsc_apk_library *l;
    int error = read_head(info->zip, e, &head, diag);

    if (error != 0)
        return error;
    l = nsc_array_grow(info->libraries, &info->library_room, info->library_count, sizeof *l);
    if (l == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    info->libraries = l;
    l += info->library_count++;
    *l = (struct nsc_apk_library){.name = e->name,
                                  .stored = e->method == NSC_ZIP_STORED,
                                  .bytes = e->bytes,
                                  .data_off = e->data_off};
    for (size_t i = 0; e->name[4 + i] != '/' && i + 1 < sizeof l->abi; i++)
        l->abi[i] = e->name[4 + i];
    read_segments(l, p, head.used);
    return 0;
}

enum nsc_apk_pages nsc_apk_info_pages(const struct nsc_apk_library *l)
{
    if (!l->is_elf || !l->is_64)
        return NSC_APK_PAGES_DOES_NOT_MATTER;
    return l->align >= PAGE_16K && l->align % PAGE_16K == 0 &&
                   (!l->stored || l->data_off % PAGE_16K == 0)
               ? NSC_APK_PAGES_GOOD
               : NSC_APK_PAGES_BAD;
}

/* ---- All entries ---------------------------------------------------------------------------- */

static int take_methods(struct nsc_apk_info *info, const struct nsc_zip_entry *e,
                        struct nsc_diag *diag)
{
    char p[METHODS_HEAD + 1] = {0};
    struct head head = {.data = (uint8_t *)p, .room = METHODS_HEAD, .to_the_end = true};
    const char *build;
    int error = read_head(info->zip, e, &head, diag);

    if (error != 0)
        return error;
    build = strstr(p, "\nbuild ");
    if (strncmp(p, NSC_METHODS_MAGIC "\n", sizeof NSC_METHODS_MAGIC) != 0 || build == NULL ||
        head.lines < 2)
        return 0;
    info->injected = true;
    info->methods = head.lines - 2;
    build += 7;
    for (size_t i = 0; i + 1 < sizeof info->build && build[i] > ' '; i++)
        info->build[i] = build[i];
    return 0;
}

static bool is_under(const char *name, const char *folder)
{
    return strncmp(name, folder, strlen(folder)) == 0;
}

static enum nsc_apk_part part_of(const char *name)
{
    if (dex_number(name) != 0)
        return NSC_APK_PART_DEX;
    if (is_under(name, "lib/"))
        return NSC_APK_PART_LIBRARIES;
    if (is_under(name, "res/") || strcmp(name, "resources.arsc") == 0)
        return NSC_APK_PART_RESOURCES;
    if (is_under(name, "assets/"))
        return NSC_APK_PART_ASSETS;
    return is_under(name, "META-INF/") ? NSC_APK_PART_META : NSC_APK_PART_OTHER;
}

const char *nsc_apk_info_part(enum nsc_apk_part part)
{
    static const char *const names[] = {"dex",    "libraries", "resources",
                                        "assets", "META-INF",  "other"};

    return names[part];
}

static int take_entry(struct nsc_apk_info *info, const struct nsc_zip_entry *e,
                      struct nsc_diag *diag)
{
    struct nsc_apk_size *size = &info->sizes[part_of(e->name)];

    size->entries++;
    size->packed += e->packed_bytes;
    size->bytes += e->bytes;
    if (dex_number(e->name) != 0)
        return take_dex(info, e, diag);
    if (is_library(e->name))
        return take_library(info, e, diag);
    return strcmp(e->name, NSC_METHODS_ASSET) == 0 ? take_methods(info, e, diag) : 0;
}

static int verify(struct nsc_apk_info *info, struct nsc_diag *diag)
{
    int error = nsc_apk_verify(info->zip, &info->signatures, diag);

    info->looked_at_signatures = error == 0;
    if (error != -ENOSYS)
        return error;
    snprintf(info->no_signatures, sizeof info->no_signatures, "%.250s", diag->message);
    return 0;
}

int nsc_apk_info_gather(const struct nsc_zip *z, struct nsc_apk_info *out, struct nsc_diag *diag)
{
    int error;

    *out = (struct nsc_apk_info){.zip = z};
    error = read_manifest(out, diag);
    for (uint32_t i = 0; error == 0 && i < nsc_zip_count(z); i++)
        error = take_entry(out, nsc_zip_at(z, i), diag);
    if (error == 0)
        error = verify(out, diag);
    if (error != 0) {
        nsc_apk_info_free(out);
        return error;
    }
    nsc_sort(out->dex, out->dex_count, sizeof *out->dex, compare_dex, NULL);
    return 0;
}

void nsc_apk_info_free(struct nsc_apk_info *info)
{
    nsc_manifest_free(&info->manifest);
    nsc_apk_signatures_free(&info->signatures);
    free(info->dex);
    free(info->libraries);
    *info = (struct nsc_apk_info){0};
}
