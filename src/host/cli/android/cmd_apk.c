/* cmd_apk.c - nanoscope apk: show the contents of an Android app, or sign it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "android/apk/apk_build.h"
#include "cli/android/apk_info.h"
#include "cli/android/signing.h"
#include "cli/apk_options.h"
#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "util/privileges/input_rights.h"
#include "util/text/escape.h"
#include "util/text/units.h"

struct request {
    const struct nsc_cli_args *args;
    const char *input, *output; /* output: NULL if not given */
    struct nsc_cli_signing signing;
    bool json;
};

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    *r = (struct request){.args = args};
    for (size_t i = 0; i < args->option_count; i++) {
        const char *value = args->options[i].value;

        switch ((enum nsc_apk_option)args->options[i].id) {
        case NSC_APK_OPT_OUTPUT:
            r->output = value;
            break;
        case NSC_APK_OPT_KEYSTORE:
            r->signing.keystore = value;
            break;
        case NSC_APK_OPT_KEY_ALIAS:
            r->signing.alias = value;
            break;
        case NSC_APK_OPT_KEYSTORE_PASS:
            r->signing.password = value;
            break;
        case NSC_APK_OPT_JSON:
            r->json = true;
            break;
        }
    }
    if (args->operand_count == 0)
        return nsc_cli_usage(args, "info or sign is needed");
    if (strcmp(args->operands[0], "info") != 0 && strcmp(args->operands[0], "sign") != 0)
        return nsc_cli_usage(args, "info or sign is needed, not \"%s\"", args->operands[0]);
    if (args->operand_count != 2)
        return nsc_cli_usage(args, "one APK is needed");
    r->input = args->operands[1];
    return 0;
}

/* ---- info ----------------------------------------------------------------------------------- */

static int run_info(const struct request *r)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_apk_info info;
    struct nsc_zip *z = NULL;
    int status;

    if (r->output != NULL || r->signing.keystore != NULL || r->signing.alias != NULL ||
        r->signing.password != NULL)
        return nsc_cli_usage(r->args, "info takes no option but --json");
    nsc_cli_confine(NULL);
    if (nsc_zip_open(r->input, &z, &diag) != 0)
        return nsc_cli_fail_in(r->input, &diag);
    if (nsc_apk_info_gather(z, &info, &diag) != 0) {
        nsc_zip_close(z);
        return nsc_cli_fail_in(r->input, &diag);
    }
    status = r->json ? nsc_apk_info_show_json(&info) : nsc_apk_info_show(&info);
    nsc_apk_info_free(&info);
    nsc_zip_close(z);
    return status;
}

/* ---- sign ----------------------------------------------------------------------------------- */

/* "app-signed.apk" for "app.apk". The caller frees it; NULL: out of memory. */
static char *default_output(const char *input)
{
    size_t bytes = strlen(input);
    char *out;

    if (bytes > 4 && strcmp(input + bytes - 4, ".apk") == 0)
        bytes -= 4;
    return asprintf(&out, "%.*s-signed.apk", (int)bytes, input) < 0 ? NULL : out;
}

static int copy_all(struct nsc_apk_build *b, const struct nsc_zip *z, struct nsc_diag *diag)
{
    int error = nsc_apk_build_comment(b, z, diag);

    for (uint32_t i = 0; error == 0 && i < nsc_zip_count(z); i++)
        error = nsc_apk_build_copy(b, z, nsc_zip_at(z, i), diag);
    return error;
}

/* Sign the archive @z into @output. */
static int sign(const struct request *r, const struct nsc_zip *z, const char *output,
                const struct nsc_crypto_key *key)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_apk_build_result result;
    struct nsc_apk_build *b = NULL;
    char bytes[NSC_UNITS_MAX];

    if (nsc_apk_build_create(output, key, &b, &diag) != 0)
        return nsc_cli_fail(&diag);
    if (copy_all(b, z, &diag) != 0) {
        nsc_apk_build_abandon(b);
        return nsc_cli_fail_in(r->input, &diag);
    }
    if (nsc_apk_build_finish(b, NULL, &result, &diag) != 0)
        return nsc_cli_fail_in(r->input, &diag);
    if (strcmp(output, "-") == 0)
        return NSC_CLI_OK;
    nsc_text_put(stdout, output);
    printf(": %s, signed with v1, v2 and v3\n", nsc_units_format_bytes(bytes, result.bytes));
    return NSC_CLI_OK;
}

static int sign_to(const struct request *r, const char *output)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_crypto_key *key = NULL;
    struct nsc_zip *z = NULL;
    int status;

    if (nsc_zip_open(r->input, &z, &diag) != 0)
        return nsc_cli_fail_in(r->input, &diag);
    nsc_input_rights_allow(nsc_zip_fd(z), output);
    if (nsc_zip_find(z, "AndroidManifest.xml") == NULL)
        status = nsc_cli_error("%s is no APK: it has no AndroidManifest.xml", r->input);
    else
        status = nsc_cli_signing_key(r->args, &r->signing, &key);
    if (status == 0)
        status = sign(r, z, output, key);
    if (key != NULL)
        nsc_crypto_key_free(key);
    nsc_zip_close(z);
    return status;
}

static int run_sign(const struct request *r)
{
    char *made = NULL;
    const char *output = r->output;
    int status = 0;

    if (r->json)
        return nsc_cli_usage(r->args, "--json belongs to info");
    if (output == NULL)
        output = made = default_output(r->input);
    if (output == NULL)
        return nsc_cli_error("out of memory");
    if (strcmp(output, "-") == 0 && !nsc_cli_binary_allowed(STDOUT_FILENO))
        return nsc_cli_usage(r->args, "an APK is not for a terminal: give -o FILE, or redirect");
    if (made != NULL)
        status = nsc_cli_begin_made_output(r->input, made, NSC_CLI_REPLACE_OUTPUT);
    if (status == 0)
        status = sign_to(r, output);
    free(made);
    return status;
}

int nsc_cmd_apk(const struct nsc_cli_args *args)
{
    struct request r;
    int status = read_request(args, &r);

    if (status != 0)
        return status;
    return strcmp(args->operands[0], "info") == 0 ? run_info(&r) : run_sign(&r);
}
