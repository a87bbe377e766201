/* cmd_verify.c - nanoscope verify: list the faults of traces. The checks are in trace/. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/common/reader_rights.h"
#include "cli/verify_options.h"
#include "trace/read/reader.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/units.h"

/* One trace being checked. */
struct check {
    const char *path;
    struct nsc_json *json; /* NULL: print lines */
};

static void show(void *context, const struct nsc_diag *d)
{
    const struct check *c = context;

    if (c->json != NULL) {
        nsc_json_open_object(c->json, NULL);
        nsc_json_u64_or_null(c->json, "offset", d->offset != NSC_DIAG_NO_OFFSET, d->offset);
        nsc_json_text(c->json, "message", d->message);
        nsc_json_close_object(c->json);
        return;
    }
    nsc_text_put(stdout, c->path);
    if (d->offset != NSC_DIAG_NO_OFFSET)
        printf(": offset %" PRIu64, d->offset);
    printf(": ");
    nsc_text_put(stdout, d->message);
    putchar('\n');
}

/* Check a trace and print the result as a JSON object. Returns an exit status. */
static int verify_json(struct check *c)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int faults;

    nsc_json_open_object(c->json, NULL);
    nsc_json_text(c->json, "file", c->path);
    nsc_json_open_array(c->json, "faults");
    faults = nsc_trace_verify(c->path, show, c, &diag);
    nsc_json_close_array(c->json);
    nsc_json_bool(c->json, "intact", faults == 0);
    nsc_json_text(c->json, "error", faults < 0 ? diag.message : NULL);
    nsc_json_close_object(c->json);
    return faults == 0 ? NSC_CLI_OK : NSC_CLI_FAILED;
}

/* Check a trace and print the result as lines and messages. Returns an exit status. */
static int verify_lines(struct check *c)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int faults = nsc_trace_verify(c->path, show, c, &diag);

    if (faults < 0)
        return nsc_cli_fail_in(c->path, &diag);
    if (faults > 0)
        return nsc_cli_error("%s: %s%d fault%s", c->path,
                             faults >= NSC_VERIFY_FAULTS_MAX ? "at least " : "", faults,
                             nsc_units_plural((uint64_t)faults));
    nsc_text_put(stdout, c->path);
    puts(": intact");
    return NSC_CLI_OK;
}

int nsc_cmd_verify(const struct nsc_cli_args *args)
{
    struct nsc_json json;
    struct check check = {0};
    int status = NSC_CLI_OK;

    for (size_t i = 0; i < args->option_count; i++)
        if (args->options[i].id == NSC_VERIFY_OPT_JSON)
            check.json = &json;
    if (args->operand_count == 0)
        return nsc_cli_usage(args, "a trace is needed");
    nsc_cli_confine(NULL);
    if (check.json != NULL) {
        nsc_json_begin(&json, stdout, false);
        nsc_json_open_array(&json, "files");
    }
    for (size_t i = 0; i < args->operand_count; i++) {
        check.path = args->operands[i];
        if ((check.json != NULL ? verify_json(&check) : verify_lines(&check)) != 0)
            status = NSC_CLI_FAILED;
    }
    if (check.json != NULL) {
        nsc_json_close_array(&json);
        nsc_json_bool(&json, "intact", status == 0);
        nsc_json_end(&json);
    }
    return status;
}
