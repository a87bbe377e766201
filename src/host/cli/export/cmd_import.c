/* cmd_import.c - nanoscope import: convert another tool's file into a .nst trace. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "cli/import_options.h"
#include "cli/progress.h"
#include "formats/formats.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/units.h"

struct request {
    const char *input;
    const char *output; /* NULL: derived from the input's name */
    bool json;
    struct nsc_import_options options;
};

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    r->options.size = sizeof r->options;
    for (size_t i = 0; i < args->option_count; i++) {
        const char *value = args->options[i].value;
        int status = 0;

        switch ((enum nsc_import_option)args->options[i].id) {
        case NSC_IMPORT_OPT_OUTPUT:
            r->output = value;
            break;
        case NSC_IMPORT_OPT_FORMAT:
            status = nsc_cli_format(args, value, nsc_formats_import_name, &r->options.format);
            break;
        case NSC_IMPORT_OPT_NAME:
            r->options.name = value;
            break;
        case NSC_IMPORT_OPT_METHODS:
            r->options.methods = value;
            break;
        case NSC_IMPORT_OPT_FORCE:
            r->options.overwrite = true;
            break;
        case NSC_IMPORT_OPT_JSON:
            r->json = true;
            break;
        }
        if (status != 0)
            return status;
    }
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one file to import is needed");
    r->input = args->operands[0];
    if (r->output == NULL && strcmp(r->input, "-") == 0)
        return nsc_cli_usage(args, "standard input has no name: give -o");
    return 0;
}

static void show(const struct request *r, const char *output,
                 const struct nsc_import_result *result)
{
    char calls[NSC_UNITS_MAX], bytes[NSC_UNITS_MAX];
    struct nsc_json json;

    if (!r->json) {
        nsc_text_put(stdout, output);
        printf(": %s call%s in %" PRIu32 " thread%s, %s\n",
               nsc_units_format_count(calls, result->calls), nsc_units_plural(result->calls),
               result->threads, nsc_units_plural(result->threads),
               nsc_units_format_bytes(bytes, result->bytes));
        return;
    }
    nsc_json_begin(&json, stdout, false);
    nsc_json_text(&json, "output", output);
    nsc_json_text(&json, "format", result->format);
    nsc_json_u64(&json, "calls", result->calls);
    nsc_json_u64(&json, "threads", result->threads);
    nsc_json_u64(&json, "bytes", result->bytes);
    nsc_json_open_array(&json, "notes");
    for (uint32_t i = 0; i < result->notes.count; i++)
        nsc_json_text(&json, NULL, result->notes.line[i]);
    nsc_json_close_array(&json);
    nsc_json_end(&json);
}

static void tick(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "importing", done, total);
}

static int run(const struct request *r, const char *output)
{
    struct nsc_import_options options = r->options;
    struct nsc_import_result result;
    struct nsc_progress progress;
    struct nsc_diag diag;
    int error;

    options.progress = (struct nsc_formats_progress){tick, &progress};
    nsc_progress_begin(&progress);
    error = nsc_formats_import(r->input, output, &options, &result, &diag);
    nsc_progress_end(&progress);
    if (error != 0)
        return nsc_cli_fail(&diag);
    for (uint32_t i = 0; i < result.notes.count; i++)
        nsc_cli_warn("%s", result.notes.line[i]);
    if (result.notes.dropped > 0)
        nsc_cli_warn("%" PRIu32 " more remarks of this kind", result.notes.dropped);
    show(r, output, &result);
    return NSC_CLI_OK;
}

int nsc_cmd_import(const struct nsc_cli_args *args)
{
    struct request r = {0};
    char *output;
    int status = read_request(args, &r);

    if (status != 0)
        return status;
    output = r.output != NULL ? strdup(r.output) : nsc_formats_output_name(r.input, ".nst");
    if (output == NULL)
        return nsc_cli_error("out of memory");
    if (r.output == NULL)
        status = nsc_cli_begin_made_output(r.input, output, NSC_CLI_REPLACE_OUTPUT);
    if (status == 0) {
        nsc_cli_confine(output);
        status = run(&r, output);
    }
    free(output);
    return status;
}
