/* cmd_recover.c - nanoscope recover: write a complete trace from an incomplete one, with
 * formats/nst/nst_copy.h, or from a core dump, with record/recorder/core_recover.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/common/partial_trace.h"
#include "cli/common/reader_rights.h"
#include "cli/record/deliver.h"
#include "cli/recover_options.h"
#include "formats/nst/nst_copy.h"
#include "record/modules/function_names.h"
#include "record/recorder/core_recover.h"
#include "record/session/core_dump.h"
#include "util/os/partial_name.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/units.h"

/* The default name of the new trace. The caller frees it; NULL: out of memory. */
static char *output_for(const char *in)
{
    size_t bytes = nsc_partial_length(in, NULL);
    char *out = NULL;
    int n;

    if (bytes > 0)
        return strndup(in, bytes);
    bytes = strlen(in);
    if (bytes > 4 && strcmp(in + bytes - 4, ".nst") == 0)
        bytes -= 4;
    n = asprintf(&out, "%.*s.recovered.nst", (int)bytes, in);
    return n < 0 ? NULL : out;
}

/* Name the functions that the recorder had no time to name, from those modules on this machine that
 * are still the recorded builds. The others keep their addresses. Returns 0 or -errno. */
static int name_functions(struct nsc_trace *t, struct nsc_writer *w)
{
    struct nsc_names_table table = nsc_names_of_writer(w);

    return nsc_names_resolve_files(&table, t);
}

static void show_json(const char *out, const struct nsc_trace_info *info)
{
    struct nsc_json j;

    nsc_json_begin(&j, stdout, false);
    nsc_json_text(&j, "output", out);
    nsc_json_u64(&j, "calls", info->calls);
    nsc_json_u64(&j, "events", info->events);
    nsc_json_u64(&j, "lost", info->lost);
    nsc_json_u64(&j, "threads", info->system_threads);
    nsc_json_bool(&j, "input_complete", info->complete);
    nsc_json_text(&j, "warning", info->warning[0] != '\0' ? info->warning : NULL);
    nsc_json_end(&j);
}

/* Convert the .nst file @trace to @out. Returns an exit status. */
static int deliver(const char *trace, const char *out)
{
    struct nsc_diag diag;
    uint64_t bytes;

    if (nsc_deliver(-1, trace, out, false, &bytes, &diag) != 0)
        return nsc_cli_fail(&diag);
    if (diag.message[0] != 0)
        nsc_cli_warn("%s", diag.message);
    return NSC_CLI_OK;
}

static void print_result(const char *out, uint64_t calls, uint64_t threads)
{
    char text[NSC_UNITS_MAX], number[NSC_UNITS_MAX];

    nsc_text_put(stdout, out);
    printf(": %s call%s in %s thread%s\n", nsc_units_format_count(text, calls),
           nsc_units_plural(calls), nsc_units_format_count(number, threads),
           nsc_units_plural(threads));
}

static int recover(const char *in, const char *trace, const char *out, bool compress, bool json)
{
    struct nsc_writer_options options = {.size = sizeof options, .compress = compress};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_trace_info info;

    if (nsc_nst_recover(in, trace, &options, name_functions, &info, &diag) != 0)
        return nsc_cli_fail_in(in, &diag);
    if (info.warning[0] != '\0')
        nsc_cli_warn("%s: %s", in, info.warning);
    if (deliver(trace, out) != 0)
        return NSC_CLI_FAILED;
    if (json)
        show_json(out, &info);
    else
        print_result(out, info.calls, info.system_threads);
    return NSC_CLI_OK;
}

static void show_core_json(const char *out, const struct nsc_record_result *result)
{
    struct nsc_json j;

    nsc_json_begin(&j, stdout, false);
    nsc_json_text(&j, "output", out);
    nsc_json_u64(&j, "calls", result->calls);
    nsc_json_u64(&j, "lost", result->lost);
    nsc_json_u64(&j, "threads", result->threads);
    nsc_json_bool(&j, "input_complete", false);
    nsc_json_null(&j, "warning");
    nsc_json_end(&j);
}

static int recover_core(const char *in, const char *trace, const char *out, bool compress,
                        bool json)
{
    const struct nsc_record_options options = {
        .size = sizeof options, .output = trace, .compress = compress, .mode = NSC_RECORD_RING};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_record_result result;

    if (nsc_record_revive(in, &options, &result, &diag) != 0)
        return nsc_cli_fail_in(in, &diag);
    if (deliver(trace, out) != 0)
        return NSC_CLI_FAILED;
    if (json)
        show_core_json(out, &result);
    else
        print_result(out, result.calls, result.threads);
    return NSC_CLI_OK;
}

/* The output must not exist. Check this for one that needs conversion; the writer of a .nst file
 * checks it itself. Returns 0 or an exit status after a message. */
static int check_output(const char *out)
{
    struct nsc_diag diag;

    if (nsc_deliver_format(out) == NULL)
        return 0;
    if (nsc_deliver_check(out, &diag) != 0)
        return nsc_cli_fail(&diag);
    return access(out, F_OK) != 0 ? 0
                                  : nsc_cli_error("cannot write %s: it exists; remove it or choose "
                                                  "another name",
                                                  out);
}

int nsc_cmd_recover(const struct nsc_cli_args *args)
{
    const char *output = NULL;
    bool compress = false, json = false;
    char *made = NULL, *trace;
    int status = 0;

    for (size_t i = 0; i < args->option_count; i++) {
        switch ((enum nsc_recover_option)args->options[i].id) {
        case NSC_RECOVER_OPT_OUTPUT:
            output = args->options[i].value;
            break;
        case NSC_RECOVER_OPT_COMPRESS:
            compress = true;
            break;
        case NSC_RECOVER_OPT_JSON:
            json = true;
            break;
        }
    }
    if (args->operand_count != 1)
        return nsc_cli_usage(args, "one file is needed");
    if (output == NULL) {
        output = made = output_for(args->operands[0]);
        status = output == NULL ? nsc_cli_error("out of memory")
                                : nsc_cli_begin_made_output(args->operands[0], output,
                                                            NSC_CLI_REPLACE_NOTHING);
    }
    if (status != 0) {
        free(made);
        return status;
    }
    nsc_cli_confine(output);
    status = check_output(output);
    trace = nsc_deliver_from(output);
    if (status == 0 && trace == NULL)
        status = nsc_cli_error("out of memory");
    if (status == 0)
        status = (nsc_core_is_one(args->operands[0]) ? recover_core : recover)(
            args->operands[0], trace, output, compress, json);
    free(trace);
    free(made);
    return status;
}
