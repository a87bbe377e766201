/* cmd_verify.c - nanoscope verify: list the faults of traces. All checks are trace/'s. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/verify_options.h"
#include "trace/reader.h"
#include "util/text.h"
#include "util/units.h"

static void show(void *ctx, const struct nsc_diag *d)
{
    nsc_text_put(stdout, ctx);
    if (d->offset != NSC_DIAG_NO_OFFSET)
        printf(": offset %" PRIu64, d->offset);
    printf(": ");
    nsc_text_put(stdout, d->message);
    putchar('\n');
}

int nsc_cmd_verify(const struct nsc_cli_args *args)
{
    int status = NSC_CLI_OK;

    if (args->operand_count == 0)
        return nsc_cli_usage(args, "a trace is needed");
    for (size_t i = 0; i < args->operand_count; i++) {
        struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
        int faults = nsc_trace_verify(args->operands[i], show, args->operands[i], &diag);

        if (faults < 0)
            status = nsc_cli_fail_in(args->operands[i], &diag);
        else if (faults > 0)
            status = nsc_cli_error("%s: %s%d fault%s", args->operands[i],
                                   faults >= NSC_VERIFY_FAULTS_MAX ? "at least " : "", faults,
                                   nsc_units_plural((uint64_t)faults));
        else
            printf("%s: intact\n", args->operands[i]);
    }
    return status;
}
