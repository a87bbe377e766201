/* cmd_axml.c - nanoscope axml: show and change compiled XML. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "android/apk/apk_build.h"
#include "android/axml/axml.h"
#include "android/axml/dump.h"
#include "android/axml/element_path.h"
#include "android/zip/zip_reader.h"
#include "cli/axml_options.h"
#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "util/os/whole_file.h"
#include "util/privileges/input_rights.h"
#include "util/text/json_writer.h"

#define INPUT_MAX (256u << 20) /* bytes of XML */
#define MANIFEST  "AndroidManifest.xml"

struct request {
    const struct nsc_cli_args *args;
    const char *input, *output; /* output: NULL if not given */
    const char *entry;          /* NULL if not given */
    bool json;
    bool changes; /* --add or --remove was given */
};

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    r->args = args;
    for (size_t i = 0; i < args->option_count; i++) {
        const char *value = args->options[i].value;

        switch ((enum nsc_axml_option)args->options[i].id) {
        case NSC_AXML_OPT_OUTPUT:
            r->output = value;
            break;
        case NSC_AXML_OPT_ENTRY:
            r->entry = value;
            break;
        case NSC_AXML_OPT_JSON:
            r->json = true;
            break;
        case NSC_AXML_OPT_ADD:
        case NSC_AXML_OPT_REMOVE:
            r->changes = true;
            break;
        }
    }
    if (args->operand_count < 1)
        return nsc_cli_usage(args, "dump or set is needed");
    if (args->operand_count < 2)
        return nsc_cli_usage(args, "a file is needed");
    r->input = args->operands[1];
    return 0;
}

/* ---- Input
 * --------------------------------------------------------------------------------------- */

/* The entry of an archive to read or change. */
static const char *entry_of(const struct request *r)
{
    return r->entry != NULL ? r->entry : MANIFEST;
}

static int read_entry(const struct nsc_zip *zip, const char *entry, struct nsc_axml **x,
                      struct nsc_diag *diag)
{
    const struct nsc_zip_entry *e = nsc_zip_find(zip, entry);
    uint8_t *data = NULL;
    size_t bytes = 0;
    int error;

    if (e == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "%s has no %s", nsc_zip_path(zip),
                            entry);
    error = nsc_zip_read(zip, e, INPUT_MAX, &data, &bytes, diag);
    if (error == 0)
        error = nsc_axml_read(data, bytes, x, diag);
    free(data);
    return error;
}

/* Whether the file starts with the magic of a ZIP archive. False if @fd is not seekable. */
static bool is_archive(int fd)
{
    char magic[4];

    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           memcmp(magic, "PK\3\4", sizeof magic) == 0;
}

/* @zip: receives the archive, if the input is one. Returns 0 or -errno with @diag. */
static int read_input(const struct request *r, struct nsc_axml **x, struct nsc_zip **zip,
                      struct nsc_diag *diag)
{
    struct nsc_buffer bytes = {0};
    int fd = strcmp(r->input, "-") == 0 ? STDIN_FILENO : open(r->input, O_RDONLY | O_CLOEXEC);
    int error;

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", r->input,
                            strerror(errno));
    nsc_input_rights_allow(fd, r->input); /* where it is the output, too */
    if (fd != STDIN_FILENO && is_archive(fd)) {
        error = nsc_zip_open_fd(fd, r->input, zip, diag);
        return error != 0 ? error : read_entry(*zip, entry_of(r), x, diag);
    }
    if (r->entry != NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                             "%s is no APK, so there is no %s in it", r->input, r->entry);
    else
        error = nsc_whole_file_read_open(fd, r->input, INPUT_MAX, &bytes, diag);
    if (error == 0)
        error = nsc_axml_read(bytes.data, bytes.used, x, diag);
    nsc_buffer_free(&bytes);
    if (fd != STDIN_FILENO)
        close(fd);
    return error;
}

/* ---- Dump
 * ---------------------------------------------------------------------------------------- */

static int dump(const struct request *r)
{
    struct nsc_axml *x = NULL;
    struct nsc_zip *zip = NULL;
    struct nsc_json json;
    struct nsc_diag diag;
    int error;

    if (r->args->operand_count > 2)
        return nsc_cli_usage(r->args, "dump takes one file");
    if (r->output != NULL || r->changes)
        return nsc_cli_usage(r->args, "dump changes nothing: -o, --add and --remove are for set");
    nsc_cli_confine(NULL);
    error = read_input(r, &x, &zip, &diag);
    nsc_zip_close(zip);
    if (error != 0)
        return nsc_cli_fail_in(r->input, &diag);
    if (r->json) {
        nsc_json_begin(&json, stdout, false);
        error = nsc_axml_dump_json(x, &json);
        nsc_json_end(&json);
    } else {
        error = nsc_axml_dump(x, stdout);
    }
    nsc_axml_free(x);
    return error != 0 ? nsc_cli_error("out of memory") : NSC_CLI_OK;
}

/* ---- Set
 * ----------------------------------------------------------------------------------------- */

/* Apply the changes of all options with the id @option. */
static int change_all(const struct request *r, enum nsc_axml_option option, struct nsc_axml *x,
                      int (*change)(struct nsc_axml *x, const char *what, struct nsc_diag *diag),
                      struct nsc_diag *diag)
{
    int error = 0;

    for (size_t i = 0; i < r->args->option_count && error == 0; i++)
        if (r->args->options[i].id == (int)option)
            error = change(x, r->args->options[i].value, diag);
    return error;
}

static int change(const struct request *r, struct nsc_axml *x, struct nsc_diag *diag)
{
    int error = change_all(r, NSC_AXML_OPT_REMOVE, x, nsc_axml_remove_path, diag);

    if (error == 0)
        error = change_all(r, NSC_AXML_OPT_ADD, x, nsc_axml_add_path, diag);
    for (size_t i = 2; i < r->args->operand_count && error == 0; i++)
        error = nsc_axml_set_path(x, r->args->operands[i], diag);
    return error;
}

/* Write the archive with new content for one entry. Does not sign it: `nanoscope apk sign` does. */
static int deliver_archive(const struct nsc_zip *zip, const char *entry, const char *path,
                           const struct nsc_buffer *bytes, struct nsc_diag *diag)
{
    const struct nsc_zip_entry *old = nsc_zip_find(zip, entry);
    struct nsc_apk_build *build = NULL;
    int error = nsc_apk_build_create(path, NULL, &build, diag);

    for (uint32_t i = 0; i < nsc_zip_count(zip) && error == 0; i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(zip, i);

        if (e == old)
            error = nsc_apk_build_add(build, e->name, (enum nsc_zip_method)e->method, bytes->data,
                                      bytes->used, diag);
        else
            error = nsc_apk_build_copy(build, zip, e, diag);
    }
    if (error == 0)
        error = nsc_apk_build_comment(build, zip, diag);
    if (error == 0)
        return nsc_apk_build_finish(build, NULL, NULL, diag);
    nsc_apk_build_abandon(build);
    return error;
}

static int set_all(const struct request *r, const char *output, bool *unsigned_apk,
                   struct nsc_diag *diag)
{
    struct nsc_buffer bytes = {0};
    struct nsc_axml *x = NULL;
    struct nsc_zip *zip = NULL;
    int error = read_input(r, &x, &zip, diag);

    if (error == 0 && zip != NULL && r->output == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                             "%s loses its signature when it is changed: give -o for the new APK",
                             r->input);
    if (error == 0)
        error = change(r, x, diag);
    if (error == 0)
        error = nsc_axml_write(x, &bytes, diag);
    nsc_axml_free(x);
    if (error == 0)
        error = zip == NULL ? nsc_whole_file_write(output, &bytes, diag)
                            : deliver_archive(zip, entry_of(r), output, &bytes, diag);
    *unsigned_apk = zip != NULL;
    nsc_zip_close(zip);
    nsc_buffer_free(&bytes);
    return error;
}

static int set(const struct request *r)
{
    const char *output = r->output != NULL ? r->output : r->input;
    bool unsigned_apk = false;
    struct nsc_diag diag;

    if (r->json)
        return nsc_cli_usage(r->args, "--json is for dump");
    if (r->args->operand_count < 3 && !r->changes)
        return nsc_cli_usage(r->args, "nothing to change: give PATH@ATTRIBUTE=VALUE");
    if (strcmp(output, "-") == 0 && !nsc_cli_binary_allowed(STDOUT_FILENO))
        return nsc_cli_usage(r->args, "compiled XML does not go to a terminal: give -o FILE");
    if (r->output == NULL && strcmp(r->input, "-") != 0 &&
        nsc_cli_begin_made_output(r->input, output, NSC_CLI_REPLACE_INPUT) != 0)
        return NSC_CLI_FAILED;
    nsc_cli_confine(output);
    if (set_all(r, output, &unsigned_apk, &diag) != 0)
        return nsc_cli_fail_in(r->input, &diag);
    if (unsigned_apk)
        nsc_cli_warn("%s is not signed: nanoscope apk sign does that", output);
    return NSC_CLI_OK;
}

int nsc_cmd_axml(const struct nsc_cli_args *args)
{
    struct request r = {0};
    int status = read_request(args, &r);

    if (status != 0)
        return status;
    if (strcmp(args->operands[0], "dump") == 0)
        return dump(&r);
    if (strcmp(args->operands[0], "set") == 0)
        return set(&r);
    return nsc_cli_usage(args, "no such thing to do: %s (dump or set)", args->operands[0]);
}
