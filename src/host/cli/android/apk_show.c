/* apk_show.c - prints the contents of an APK as text and as JSON; see apk_info.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/android/apk_info.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"
#include "util/text/units.h"

#define NAME_COLUMNS 18

static const struct nsc_table_column dex_columns[] = {
    {"name", "DEX FILE", NSC_TABLE_TEXT, 0},
    {"version", "VERSION", NSC_TABLE_TEXT, NSC_TABLE_RIGHT},
    {"classes", "CLASSES", NSC_TABLE_COUNT, 0},
    {"methods", "METHODS", NSC_TABLE_COUNT, 0},
    {"fields", "FIELDS", NSC_TABLE_COUNT, 0},
    {"types", "TYPES", NSC_TABLE_COUNT, 0},
    {"strings", "STRINGS", NSC_TABLE_COUNT, 0},
    {"bytes", "SIZE", NSC_TABLE_BYTES, 0},
};

static const struct nsc_table_column library_columns[] = {
    {"abi", "ABI", NSC_TABLE_TEXT, 0},
    {"bytes", "SIZE", NSC_TABLE_BYTES, 0},
    {"how", "HOW", NSC_TABLE_TEXT, NSC_TABLE_NO_JSON},
    {"segments", "SEGMENTS", NSC_TABLE_BYTES, NSC_TABLE_NO_JSON},
    {"pages", "16 KB", NSC_TABLE_TEXT, NSC_TABLE_NO_JSON},
    {"name", "LIBRARY", NSC_TABLE_TEXT, NSC_TABLE_LAST},
};

static const struct nsc_table_column size_columns[] = {
    {"part", "PART", NSC_TABLE_TEXT, 0},
    {"entries", "FILES", NSC_TABLE_COUNT, 0},
    {"packed_bytes", "PACKED", NSC_TABLE_BYTES, 0},
    {"bytes", "UNPACKED", NSC_TABLE_BYTES, 0},
    {"share", "SHARE", NSC_TABLE_SHARE, 0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void hex(const uint8_t *data, size_t bytes, char *out)
{
    for (size_t i = 0; i < bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", data[i]);
}

/* ---- Tables --------------------------------------------------------------------------------- */

static struct nsc_table *dex_table(const struct nsc_apk_info *info)
{
    struct nsc_table *t = nsc_table_new(dex_columns, COUNT(dex_columns));

    for (uint32_t i = 0; t != NULL && i < info->dex_count; i++) {
        const struct nsc_apk_dex *d = &info->dex[i];

        nsc_table_add_text(t, d->name);
        nsc_table_add_text(t, d->version);
        nsc_table_add(t, d->classes);
        nsc_table_add(t, d->methods);
        nsc_table_add(t, d->fields);
        nsc_table_add(t, d->types);
        nsc_table_add(t, d->strings);
        nsc_table_add(t, d->bytes);
    }
    return t;
}

/* How a library is stored, and the alignment of its offset in the archive. */
static const char *how_stored(const struct nsc_apk_library *l)
{
    return !l->stored                 ? "packed"
           : l->data_off % 16384 == 0 ? "stored at 16 KB"
           : l->data_off % 4096 == 0  ? "stored at 4 KB"
                                      : "stored, not aligned";
}

static struct nsc_table *library_table(const struct nsc_apk_info *info)
{
    static const char *const pages[] = {"yes", "no", "-"};
    struct nsc_table *t = nsc_table_new(library_columns, COUNT(library_columns));

    for (uint32_t i = 0; t != NULL && i < info->library_count; i++) {
        const struct nsc_apk_library *l = &info->libraries[i];

        nsc_table_add_text(t, l->abi);
        nsc_table_add(t, l->bytes);
        nsc_table_add_text(t, how_stored(l));
        if (l->align != 0)
            nsc_table_add(t, l->align);
        else
            nsc_table_add_nothing(t);
        nsc_table_add_text(t, pages[nsc_apk_info_pages(l)]);
        nsc_table_add_text(t, l->name);
    }
    return t;
}

static struct nsc_table *size_table(const struct nsc_apk_info *info)
{
    uint64_t whole = nsc_zip_layout(info->zip)->file_bytes, packed = 0;
    struct nsc_table *t = nsc_table_new(size_columns, COUNT(size_columns));

    for (unsigned i = 0; t != NULL && i < NSC_APK_PARTS; i++) {
        const struct nsc_apk_size *s = &info->sizes[i];

        packed += s->packed;
        if (s->entries == 0)
            continue;
        nsc_table_add_text(t, nsc_apk_info_part((enum nsc_apk_part)i));
        nsc_table_add(t, s->entries);
        nsc_table_add(t, s->packed);
        nsc_table_add(t, s->bytes);
        nsc_table_add_share(t, s->packed, whole);
    }
    if (t == NULL)
        return NULL;
    nsc_table_add_text(t, "archive");
    nsc_table_add_nothing(t);
    nsc_table_add(t, whole - packed);
    nsc_table_add_nothing(t);
    nsc_table_add_share(t, whole - packed, whole);
    return t;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void line(const char *name, const char *value)
{
    size_t columns = nsc_text_put(stdout, name);

    printf("%*s", columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 1, "");
    nsc_text_put(stdout, value);
    putchar('\n');
}

static void show_app(const struct nsc_apk_info *info)
{
    const struct nsc_manifest *m = &info->manifest;
    const char *name = m->version_name != NULL ? m->version_name : "";
    char text[400];

    line("package", m->package != NULL ? m->package : "-");
    if (m->split != NULL)
        line("split", m->split);
    if (m->has_version_code)
        snprintf(text, sizeof text, "%.300s%s%" PRIu64 "%s", name, *name != 0 ? " (" : "",
                 m->version_code, *name != 0 ? ")" : "");
    else
        snprintf(text, sizeof text, "%.300s", *name != 0 ? name : "-");
    line("version", text);
    snprintf(text, sizeof text, "from SDK %" PRIu32 ", made for SDK %" PRIu32, m->min_sdk,
             m->target_sdk);
    line("Android", text);
    line("debuggable", m->debuggable == NSC_MANIFEST_TRUE ? "yes" : "no");
    if (info->library_count > 0)
        line("native libraries", m->extract_native_libs == NSC_MANIFEST_FALSE
                                     ? "mapped from the APK (extractNativeLibs=false)"
                                     : "unpacked when installed");
    for (uint32_t i = 0; i < m->permission_count; i++)
        line(i == 0 ? "permissions" : "", m->permissions[i]);
    if (m->permission_count == 0)
        line("permissions", "none");
}

/* Whether this is the first signer with its certificate. */
static bool is_first(const struct nsc_apk_signatures *s, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (memcmp(s->signers[i].certificate.sha256, s->signers[index].certificate.sha256, 32) == 0)
            return false;
    return true;
}

/* Print each signer once, with its schemes. Usually one signer uses all schemes. */
static void show_signers(const struct nsc_apk_signatures *s)
{
    char schemes[64], digest[65], text[400];

    for (uint32_t i = 0; i < s->count; i++) {
        const struct nsc_crypto_certificate *c = &s->signers[i].certificate;
        size_t used = 0;

        if (!is_first(s, i))
            continue;
        for (unsigned scheme = 0; scheme < NSC_APK_SCHEMES && used < sizeof schemes; scheme++)
            for (uint32_t k = i; k < s->count; k++)
                if (s->signers[k].scheme == scheme &&
                    memcmp(s->signers[k].certificate.sha256, c->sha256, 32) == 0 &&
                    used < sizeof schemes)
                    used += (size_t)snprintf(schemes + used, sizeof schemes - used, "%s%s",
                                             used > 0 ? ", " : "",
                                             nsc_apk_scheme_name((enum nsc_apk_scheme_kind)scheme));
        hex(c->sha256, sizeof c->sha256, digest);
        snprintf(text, sizeof text, "%s (%s)", c->subject, schemes);
        line("signed by", text);
        snprintf(text, sizeof text, "SHA-256 %s", digest);
        line("", text);
    }
}

/* Print the schemes ("v1, v2"), a line for each invalid signature, then the signers. */
static void show_signatures(const struct nsc_apk_info *info)
{
    char text[640] = "";

    if (!info->looked_at_signatures) {
        line("signatures", info->no_signatures);
        return;
    }
    for (unsigned i = 0; i < NSC_APK_SCHEMES; i++) {
        const struct nsc_apk_scheme *s = &info->signatures.schemes[i];
        size_t used = strlen(text);

        if (s->present)
            snprintf(text + used, sizeof text - used, "%s%s%s", used > 0 ? ", " : "",
                     nsc_apk_scheme_name((enum nsc_apk_scheme_kind)i), s->valid ? "" : " (wrong)");
    }
    line("signatures", text[0] != 0 ? text : "none");
    for (unsigned i = 0; i < NSC_APK_SCHEMES; i++) {
        const struct nsc_apk_scheme *s = &info->signatures.schemes[i];

        if (!s->present || s->valid)
            continue;
        snprintf(text, sizeof text, "%s is wrong: %s",
                 nsc_apk_scheme_name((enum nsc_apk_scheme_kind)i), s->diag.message);
        line("", text);
    }
    show_signers(&info->signatures);
}

static void show_injected(const struct nsc_apk_info *info)
{
    char text[160], count[NSC_UNITS_MAX];

    if (!info->injected) {
        line("injected", "no");
        return;
    }
    nsc_units_format_count(count, info->methods);
    snprintf(text, sizeof text, "yes: %s method%s, build %s", count,
             nsc_units_plural(info->methods), info->build);
    line("injected", text);
}

/* Print and free a table. Returns an exit status, without a message. */
static int write_table(struct nsc_table *t)
{
    int error = t != NULL ? 0 : -1;

    if (error == 0 && nsc_table_rows(t) > 0) {
        putchar('\n');
        error = nsc_table_write(t, NSC_TABLE_ALIGNED, stdout);
    }
    nsc_table_free(t);
    return error == 0 ? NSC_CLI_OK : NSC_CLI_FAILED;
}

int nsc_apk_info_show(const struct nsc_apk_info *info)
{
    char bytes[NSC_UNITS_MAX];
    int status = NSC_CLI_OK;

    show_app(info);
    show_signatures(info);
    show_injected(info);
    line("size", nsc_units_format_bytes(bytes, nsc_zip_layout(info->zip)->file_bytes));
    status |= write_table(dex_table(info));
    status |= write_table(library_table(info));
    status |= write_table(size_table(info));
    return status == 0 ? NSC_CLI_OK : nsc_cli_error("out of memory");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_flag(struct nsc_json *j, const char *key, enum nsc_manifest_flag flag)
{
    if (flag != NSC_MANIFEST_UNSET)
        nsc_json_bool(j, key, flag == NSC_MANIFEST_TRUE);
    else
        nsc_json_null(j, key);
}

static void json_app(struct nsc_json *j, const struct nsc_manifest *m)
{
    nsc_json_text(j, "package", m->package);
    nsc_json_text(j, "split", m->split);
    nsc_json_text(j, "version_name", m->version_name);
    nsc_json_u64_or_null(j, "version_code", m->has_version_code, m->version_code);
    nsc_json_u64(j, "min_sdk", m->min_sdk);
    nsc_json_u64(j, "target_sdk", m->target_sdk);
    json_flag(j, "debuggable", m->debuggable);
    json_flag(j, "extract_native_libs", m->extract_native_libs);
    nsc_json_open_array(j, "permissions");
    for (uint32_t i = 0; i < m->permission_count; i++)
        nsc_json_text(j, NULL, m->permissions[i]);
    nsc_json_close_array(j);
}

static void json_signer(struct nsc_json *j, const struct nsc_apk_signer *s)
{
    static const char *const kinds[] = {"RSA", "EC", NULL};
    char digest[65];

    hex(s->certificate.sha256, sizeof s->certificate.sha256, digest);
    nsc_json_open_object(j, NULL);
    nsc_json_text(j, "certificate_sha256", digest);
    nsc_json_text(j, "subject", s->certificate.subject);
    nsc_json_text(j, "key", kinds[s->certificate.kind]);
    nsc_json_u64(j, "key_bits", s->certificate.bits);
    nsc_json_i64(j, "valid_from_s", s->certificate.begins_s);
    nsc_json_i64(j, "valid_to_s", s->certificate.ends_s);
    nsc_json_close_object(j);
}

static void json_signatures(struct nsc_json *j, const struct nsc_apk_info *info)
{
    if (!info->looked_at_signatures) {
        nsc_json_null(j, "signatures");
        return;
    }
    nsc_json_open_array(j, "signatures");
    for (unsigned i = 0; i < NSC_APK_SCHEMES; i++) {
        const struct nsc_apk_scheme *s = &info->signatures.schemes[i];

        if (!s->present)
            continue;
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "scheme", nsc_apk_scheme_name((enum nsc_apk_scheme_kind)i));
        nsc_json_bool(j, "valid", s->valid);
        nsc_json_text(j, "error", s->valid ? NULL : s->diag.message);
        nsc_json_open_array(j, "signers");
        for (uint32_t k = 0; k < info->signatures.count; k++)
            if (info->signatures.signers[k].scheme == i)
                json_signer(j, &info->signatures.signers[k]);
        nsc_json_close_array(j);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

static void json_injected(struct nsc_json *j, const struct nsc_apk_info *info)
{
    if (!info->injected) {
        nsc_json_null(j, "injected");
        return;
    }
    nsc_json_open_object(j, "injected");
    nsc_json_u64(j, "methods", info->methods);
    nsc_json_text(j, "build", info->build);
    nsc_json_close_object(j);
}

static void json_libraries(struct nsc_json *j, const struct nsc_apk_info *info)
{
    nsc_json_open_array(j, "libraries");
    for (uint32_t i = 0; i < info->library_count; i++) {
        const struct nsc_apk_library *l = &info->libraries[i];
        enum nsc_apk_pages pages = nsc_apk_info_pages(l);

        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "name", l->name);
        nsc_json_text(j, "abi", l->abi);
        nsc_json_u64(j, "bytes", l->bytes);
        nsc_json_bool(j, "stored", l->stored);
        nsc_json_u64(j, "offset", l->data_off);
        nsc_json_u64_or_null(j, "segment_align", l->align != 0, l->align);
        if (pages == NSC_APK_PAGES_DOES_NOT_MATTER)
            nsc_json_null(j, "pages_16k");
        else
            nsc_json_bool(j, "pages_16k", pages == NSC_APK_PAGES_GOOD);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

/* Write and free a table. Returns an exit status, without a message. */
static int json_table(struct nsc_json *j, const char *key, struct nsc_table *t)
{
    int error = t != NULL ? nsc_table_write_json(t, j, key) : -1;

    nsc_table_free(t);
    return error == 0 ? NSC_CLI_OK : NSC_CLI_FAILED;
}

int nsc_apk_info_show_json(const struct nsc_apk_info *info)
{
    struct nsc_json j;
    int status = NSC_CLI_OK;

    nsc_json_begin(&j, stdout, false);
    json_app(&j, &info->manifest);
    json_signatures(&j, info);
    json_injected(&j, info);
    nsc_json_u64(&j, "bytes", nsc_zip_layout(info->zip)->file_bytes);
    status |= json_table(&j, "dex_files", dex_table(info));
    json_libraries(&j, info);
    status |= json_table(&j, "parts", size_table(info));
    nsc_json_end(&j);
    return status == 0 ? NSC_CLI_OK : nsc_cli_error("out of memory");
}
