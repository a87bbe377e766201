/*
 * cmd_run.c - nanoscope run: execute a program that listens for a recorder.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/control.h"
#include "cli/command.h"
#include "cli/run_options.h"
#include "process/find/endpoint_client.h"
#include "record/session/spawn_program.h"

int nsc_cmd_run(const struct nsc_cli_args *args)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    char *path;
    int error;

    if (args->operand_count == 0)
        return nsc_cli_usage(args, "a program to run is needed");
    nsc_endpoint_sweep();
    error = nsc_spawn_find(args->operands[0], &path, &diag);
    if (error == 0) {
        if (setenv(NSC_CONTROL_LISTEN_ENV, "1", 1) == 0)
            execvp(path, args->operands); /* also runs scripts without a #! line */
        error = -errno;
        nsc_diag_set(&diag, NSC_DIAG_NO_OFFSET, error, "cannot run %s: %s", path, strerror(-error));
        free(path);
    }
    nsc_cli_fail(&diag);
    switch (error) {
    case -ENOENT:
        return NSC_CLI_NOT_FOUND;
    case -ENOMEM:
        return NSC_CLI_RECORD;
    default:
        return NSC_CLI_NOT_EXECUTABLE;
    }
}
