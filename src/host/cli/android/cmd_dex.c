/* cmd_dex.c - nanoscope dex: show the contents of DEX files, or write a DEX file anew. */
#include <errno.h>
#include <stdio.h>

#include "android/dex/dex.h"
#include "android/zip/zip_reader.h"
#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "cli/dex_options.h"
#include "util/os/whole_file.h"
#include "util/text/table.h"
#include "util/text/units.h"

#define INPUT_MAX ((size_t)2 << 30)

static const struct nsc_table_column columns[] = {
    {"file", "FILE", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"version", "DEX", NSC_TABLE_TEXT, 0},
    {"bytes", "SIZE", NSC_TABLE_BYTES, 0},
    {"classes", "CLASSES", NSC_TABLE_COUNT, 0},
    {"code_items", "CODE", NSC_TABLE_COUNT, 0},
    {"strings", "STRINGS", NSC_TABLE_COUNT, 0},
    {"types", "TYPES", NSC_TABLE_COUNT, 0},
    {"protos", "PROTOS", NSC_TABLE_COUNT, 0},
    {"fields", "FIELDS", NSC_TABLE_COUNT, 0},
    {"methods", "METHODS", NSC_TABLE_COUNT, 0},
    {"free_methods", "FREE", NSC_TABLE_COUNT, 0},
    {"free_types", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"free_fields", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"free_protos", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"call_sites", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"method_handles", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"hidden_api_bytes", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"loose_bytes", "", NSC_TABLE_COUNT, NSC_TABLE_NO_HUMAN},
    {"checksum", "ADLER", NSC_TABLE_TEXT, 0},
    {"signature", "SHA-1", NSC_TABLE_TEXT, 0},
};

static void add_row(struct nsc_table *t, const char *name, const struct nsc_dex *dex)
{
    const struct nsc_dex_room room = nsc_dex_room(dex);
    char version[8];

    snprintf(version, sizeof version, "%03u", dex->version);
    nsc_table_add_text(t, name);
    nsc_table_add_text(t, version);
    nsc_table_add(t, dex->file_bytes);
    nsc_table_add(t, dex->class_count);
    nsc_table_add(t, dex->code_count);
    nsc_table_add(t, dex->string_count);
    nsc_table_add(t, dex->type_count);
    nsc_table_add(t, dex->proto_count);
    nsc_table_add(t, dex->field_count);
    nsc_table_add(t, dex->method_count);
    nsc_table_add(t, room.methods);
    nsc_table_add(t, room.types);
    nsc_table_add(t, room.fields);
    nsc_table_add(t, room.protos);
    nsc_table_add(t, dex->call_site_count);
    nsc_table_add(t, dex->handle_count);
    nsc_table_add(t, dex->hidden.bytes);
    nsc_table_add(t, dex->loose_bytes);
    nsc_table_add_text(t, dex->checksum_ok ? "ok" : "wrong");
    nsc_table_add_text(t, dex->signature_ok ? "ok" : "wrong");
}

/* Returns an exit status, after a message on failure. */
static int add_bytes(struct nsc_table *t, const char *name, const void *data, size_t bytes)
{
    struct nsc_dex *dex;
    struct nsc_diag diag;

    if (nsc_dex_read(data, bytes, &dex, &diag) != 0)
        return nsc_cli_fail_in(name, &diag);
    if (dex->loose_bytes != 0)
        nsc_cli_warn("%s: %llu byte%s belong%s to nothing that the map lists", name,
                     (unsigned long long)dex->loose_bytes, nsc_units_plural(dex->loose_bytes),
                     dex->loose_bytes == 1 ? "s" : "");
    add_row(t, name, dex);
    nsc_dex_free(dex);
    return NSC_CLI_OK;
}

static bool is_dex_name(const char *name)
{
    size_t bytes = strlen(name);

    return bytes > 4 && strcmp(name + bytes - 4, ".dex") == 0;
}

/* Add all DEX files of an archive. Returns an exit status, after a message on failure. */
static int add_archive(struct nsc_table *t, const char *path)
{
    int status = NSC_CLI_OK, found = 0;
    struct nsc_diag diag;
    struct nsc_zip *zip;

    if (nsc_zip_open(path, &zip, &diag) != 0)
        return nsc_cli_fail_in(path, &diag);
    for (uint32_t i = 0; i < nsc_zip_count(zip); i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(zip, i);
        uint8_t *data = NULL;
        char name[4096];
        size_t bytes;

        if (!is_dex_name(e->name))
            continue;
        found++;
        snprintf(name, sizeof name, "%s!%s", path, e->name);
        if (nsc_zip_read(zip, e, INPUT_MAX, &data, &bytes, &diag) != 0)
            status = nsc_cli_fail_in(path, &diag);
        else if (add_bytes(t, name, data, bytes) != NSC_CLI_OK)
            status = NSC_CLI_FAILED;
        free(data);
    }
    nsc_zip_close(zip);
    return found == 0 ? nsc_cli_error("%s: there is no DEX file in this archive", path) : status;
}

static bool is_archive(const char *path)
{
    FILE *f = fopen(path, "rb");
    char magic[4];
    bool is = f != NULL && fread(magic, sizeof magic, 1, f) == 1 &&
              memcmp(magic, "PK\3\4", sizeof magic) == 0;

    if (f != NULL)
        fclose(f);
    return is;
}

static int add_file(struct nsc_table *t, const char *path)
{
    struct nsc_buffer content = {0};
    struct nsc_diag diag;
    int status;

    if (strcmp(path, "-") != 0 && is_archive(path))
        return add_archive(t, path);
    if (nsc_whole_file_read(path, INPUT_MAX, &content, &diag) != 0)
        status = nsc_cli_fail(&diag);
    else
        status = add_bytes(t, path, content.data, content.used);
    nsc_buffer_free(&content);
    return status;
}

static int info(const struct nsc_cli_args *args, bool as_json)
{
    struct nsc_table *table;
    struct nsc_json json;
    int status = NSC_CLI_OK, error;

    if (args->operand_count < 2)
        return nsc_cli_usage(args, "a DEX file or an APK is needed");
    nsc_cli_confine(NULL);
    table = nsc_table_new(columns, sizeof columns / sizeof columns[0]);
    if (table == NULL)
        return nsc_cli_error("out of memory");
    for (size_t i = 1; i < args->operand_count; i++)
        if (add_file(table, args->operands[i]) != NSC_CLI_OK)
            status = NSC_CLI_FAILED;
    if (as_json) {
        nsc_json_begin(&json, stdout, false);
        error = nsc_table_write_json(table, &json, "files");
        nsc_json_end(&json);
    } else {
        error = nsc_table_rows(table) == 0 ? 0 : nsc_table_write(table, NSC_TABLE_ALIGNED, stdout);
    }
    nsc_table_free(table);
    if (error == -ENOMEM)
        return nsc_cli_error("out of memory");
    return status;
}

static int copy(const struct nsc_cli_args *args)
{
    struct nsc_buffer in = {0}, out = {0};
    struct nsc_dex *dex = NULL;
    struct nsc_diag diag;
    int status;

    if (args->operand_count != 3)
        return nsc_cli_usage(args, "copy takes two files, IN and OUT");
    nsc_cli_confine(args->operands[2]);
    if (nsc_whole_file_read(args->operands[1], INPUT_MAX, &in, &diag) != 0)
        status = nsc_cli_fail(&diag);
    else if (nsc_dex_read(in.data, in.used, &dex, &diag) != 0)
        status = nsc_cli_fail_in(args->operands[1], &diag);
    else if (dex->loose_bytes != 0)
        status =
            nsc_cli_error("%s: %llu byte%s belong%s to nothing that the map lists, and would "
                          "be lost",
                          args->operands[1], (unsigned long long)dex->loose_bytes,
                          nsc_units_plural(dex->loose_bytes), dex->loose_bytes == 1 ? "s" : "");
    else
        status = nsc_dex_write(dex, &out, &diag) == 0 &&
                         nsc_whole_file_write(args->operands[2], &out, &diag) == 0
                     ? NSC_CLI_OK
                     : nsc_cli_fail(&diag);
    nsc_dex_free(dex);
    nsc_buffer_free(&in);
    nsc_buffer_free(&out);
    return status;
}

int nsc_cmd_dex(const struct nsc_cli_args *args)
{
    bool as_json = false;

    for (size_t i = 0; i < args->option_count; i++)
        if (args->options[i].id == NSC_DEX_OPT_JSON)
            as_json = true;
    if (args->operand_count == 0)
        return nsc_cli_usage(args, "info or copy is needed");
    if (strcmp(args->operands[0], "info") == 0)
        return info(args, as_json);
    if (strcmp(args->operands[0], "copy") != 0)
        return nsc_cli_usage(args, "info or copy is needed, not \"%s\"", args->operands[0]);
    if (as_json)
        return nsc_cli_usage(args, "copy prints nothing: --json is for info");
    return copy(args);
}
