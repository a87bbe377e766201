/* cmd_export.c - nanoscope export: write a trace in another tool's format. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/categories.h"
#include "cli/common/export_own.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/export_options.h"
#include "cli/progress.h"
#include "formats/formats.h"
#include "util/privileges/input_rights.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/units.h"

struct request {
    const char *input;
    const char *output;     /* NULL: derived from the input's name */
    const char *format;     /* NULL: derived from the output's name */
    const char *categories; /* file of rules, or NULL */
    struct nsc_page_rules rules;
    bool json;
    struct nsc_cli_view view;
    struct nsc_export_options options;
};

/* The format with @index: first those of other tools, then our own. NULL after the last. */
static const char *format_name(unsigned index)
{
    unsigned foreign = 0;

    while (nsc_formats_export_name(foreign) != NULL)
        foreign++;
    return index < foreign ? nsc_formats_export_name(index) : nsc_cli_own_format(index - foreign);
}

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct request *r)
{
    static const char *const weights[] = {"self", "calls", NULL};
    unsigned weight = 0;
    uint64_t depth = 0;
    int status = 0;

    switch (given->id) {
    case NSC_EXPORT_OPT_OUTPUT:
        r->output = given->value;
        break;
    case NSC_EXPORT_OPT_FORMAT:
        return nsc_cli_format(args, given->value, format_name, &r->format);
    case NSC_EXPORT_OPT_GZIP:
        r->options.gzip = true;
        break;
    case NSC_EXPORT_OPT_WEIGHT:
        status = nsc_cli_choice(args, given, weights, &weight);
        r->options.weight = weight == 1 ? NSC_WEIGHT_CALLS : NSC_WEIGHT_SELF;
        break;
    case NSC_EXPORT_OPT_PER_THREAD:
        r->options.per_thread = true;
        break;
    case NSC_EXPORT_OPT_DEPTH:
        status = nsc_cli_number(args, given, 1, 1u << 20, &depth);
        r->options.max_depth = (uint32_t)depth;
        break;
    case NSC_EXPORT_OPT_CATEGORIES:
        r->categories = given->value;
        break;
    case NSC_EXPORT_OPT_JSON:
        r->json = true;
        break;
    default:
        return nsc_cli_view_option(args, given, &r->view);
    }
    return status;
}

/* Reject options that do not apply to the format. Returns 0 or NSC_CLI_USAGE. */
static int check_options(const struct nsc_cli_args *args, const char *format)
{
    bool stacks = strcmp(format, "folded") == 0 || strcmp(format, "pprof") == 0;
    bool deep = stacks || strcmp(format, "pdf") == 0;

    for (size_t i = 0; i < args->option_count; i++) {
        int id = args->options[i].id;

        if (!stacks && (id == NSC_EXPORT_OPT_WEIGHT || id == NSC_EXPORT_OPT_PER_THREAD))
            return nsc_cli_usage(args, "--%s is for folded and pprof, not for %s",
                                 args->options[i].name, format);
        if (!deep && id == NSC_EXPORT_OPT_DEPTH)
            return nsc_cli_usage(args, "--depth is for folded, pprof and pdf, not for %s", format);
        if (id == NSC_EXPORT_OPT_CATEGORIES && strcmp(format, "html") != 0)
            return nsc_cli_usage(args, "--categories is for html, not for %s", format);
    }
    return 0;
}

/* Reject outputs that the format does not support, before the trace is read. Returns 0 or
 * NSC_CLI_USAGE. */
static int check_output(const struct nsc_cli_args *args, const struct request *r)
{
    const char *output = r->output != NULL ? r->output : "";
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};

    if (nsc_cli_own_suffix(r->format) != NULL && r->options.gzip)
        return nsc_cli_usage(args, "%s is not compressed by --gzip", r->format);
    if (nsc_formats_export_check(r->format, output, r->options.gzip, &diag) != 0 ||
        nsc_cli_own_check(r->format, output, &diag) != 0)
        return nsc_cli_usage(args, "%s", diag.message);
    if (r->output == NULL && strcmp(r->input, "-") == 0)
        return nsc_cli_usage(args, "standard input has no name: give -o");
    if (strcmp(output, "-") == 0 && (r->options.gzip || nsc_formats_export_is_binary(r->format)) &&
        !nsc_cli_binary_allowed(STDOUT_FILENO))
        return nsc_cli_usage(args, "binary data does not go to a terminal: redirect, or give -o");
    return 0;
}

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    int status = 0;

    r->options.size = sizeof r->options;
    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], r);
    if (status != 0)
        return status;
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one trace is needed");
    r->input = args->operands[0];
    if (r->format == NULL && r->output != NULL)
        r->format = nsc_formats_guess(r->output);
    if (r->format == NULL && r->output != NULL)
        r->format = nsc_cli_own_guess(r->output);
    if (r->format == NULL)
        return nsc_cli_format(args, NULL, format_name, &r->format);
    status = check_options(args, r->format);
    return status == 0 ? check_output(args, r) : status;
}

static void show_json(const char *output, const struct nsc_export_result *result)
{
    struct nsc_json json;

    nsc_json_begin(&json, strcmp(output, "-") == 0 ? stderr : stdout, false);
    nsc_json_text(&json, "output", output);
    nsc_json_text(&json, "format", result->format);
    nsc_json_u64(&json, "calls", result->calls);
    nsc_json_u64(&json, "bounds", result->bounds);
    nsc_json_u64(&json, "clipped", result->clipped);
    nsc_json_u64(&json, "lost", result->lost);
    nsc_json_u64(&json, "threads", result->threads);
    nsc_json_u64(&json, "files", result->files);
    nsc_json_u64(&json, "bytes", result->bytes);
    nsc_json_open_array(&json, "notes");
    for (uint32_t i = 0; i < result->notes.count; i++)
        nsc_json_text(&json, NULL, result->notes.line[i]);
    nsc_json_close_array(&json);
    nsc_json_end(&json);
}

static void show(const struct request *r, const char *output,
                 const struct nsc_export_result *result)
{
    char calls[NSC_UNITS_MAX], bytes[NSC_UNITS_MAX];

    /* JSON contains the notes too. If the output is "-", it goes to stderr, without warnings. */
    for (uint32_t i = 0; i < result->notes.count && !(r->json && strcmp(output, "-") == 0); i++)
        nsc_cli_warn("%s", result->notes.line[i]);
    if (r->json)
        show_json(output, result);
    else if (strcmp(output, "-") != 0) {
        nsc_text_put(stdout, output);
        printf(": %s call%s of %" PRIu32 " thread%s, %s in %" PRIu32 " file%s\n",
               nsc_units_format_count(calls, result->calls), nsc_units_plural(result->calls),
               result->threads, nsc_units_plural(result->threads),
               nsc_units_format_bytes(bytes, result->bytes), result->files,
               nsc_units_plural(result->files));
    }
}

static void tick(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "exporting", done, total);
}

static int export_trace(const struct request *r, const char *output)
{
    const struct nsc_selection *selection = &r->view.selection;
    struct nsc_export_options options = r->options;
    struct nsc_export_result result;
    struct nsc_progress progress;
    struct nsc_diag diag;
    int error;

    options.from_ticks = selection->from_ticks;
    options.to_ticks = selection->to_ticks;
    options.threads = selection->threads;
    options.hidden = selection->hidden;
    options.progress = (struct nsc_formats_progress){tick, &progress};
    nsc_progress_begin(&progress);
    if (nsc_cli_own_suffix(r->format) != NULL)
        error = nsc_cli_export_own(r->view.trace, selection, r->format, &r->rules, output,
                                   &options.progress, &result, &diag);
    else
        error = nsc_formats_export(r->view.trace, r->format, output, &options, &result, &diag);
    nsc_progress_end(&progress);
    if (error != 0)
        return nsc_cli_fail_in(nsc_trace_name(r->view.trace), &diag);
    show(r, output, &result);
    return NSC_CLI_OK;
}

/* The trace's name with the format's suffix, in the current folder. */
static char *default_output(const struct request *r)
{
    const char *own = nsc_cli_own_suffix(r->format);
    const char *suffix = own != NULL ? own : nsc_formats_export_suffix(r->format);
    char *with_gz, *name;

    if (!r->options.gzip)
        return nsc_formats_output_name(r->input, suffix);
    if (asprintf(&with_gz, "%s.gz", suffix) < 0)
        return NULL;
    name = nsc_formats_output_name(r->input, with_gz);
    free(with_gz);
    return name;
}

int nsc_cmd_export(const struct nsc_cli_args *args)
{
    struct request r = {0};
    char *output = NULL;
    int status = read_request(args, &r);

    if (status == 0 && r.categories != NULL)
        status = nsc_cli_read_rules_text(r.categories, &r.rules.text, &r.rules.bytes);
    if (status == 0) {
        output = r.output != NULL ? strdup(r.output) : default_output(&r);
        if (output == NULL)
            status = nsc_cli_error("out of memory");
        else if (r.output == NULL)
            status = nsc_cli_begin_made_output(r.input, output, NSC_CLI_REPLACE_OUTPUT);
    }
    if (status == 0) {
        nsc_cli_confine(output);
        status = nsc_cli_view_open(args, 0, &r.view);
    }
    if (status == 0) {
        nsc_input_rights_allow(nsc_trace_fd(r.view.trace), output);
        if (nsc_cli_is_input(r.input, output))
            status = nsc_cli_error("%s is the trace itself: name another output with -o", output);
        else
            status = export_trace(&r, output);
        nsc_cli_view_close(&r.view);
    }
    free(output);
    free(r.rules.text);
    return status;
}
