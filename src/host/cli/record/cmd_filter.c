/*
 * cmd_filter.c - nanoscope filter: change the filter of a running recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/filter_options.h"
#include "cli/record/running.h"

/* The options as they are sent to the recorder: see nsc_filter_read(). */
struct text {
    char *bytes;
    size_t count;
};

static int add_option(struct text *text, const struct nsc_cli_given *given)
{
    size_t name = strlen(given->name), value = strlen(given->value);
    char *longer = realloc(text->bytes, text->count + name + value + 2);

    if (longer == NULL)
        return nsc_cli_error("out of memory");
    text->bytes = longer;
    memcpy(longer + text->count, given->name, name);
    longer[text->count + name] = '=';
    memcpy(longer + text->count + name + 1, given->value, value + 1);
    text->count += name + value + 2;
    return 0;
}

static int send_filter(const char *process, const struct text *text)
{
    struct nsc_command_entry entry;
    struct nsc_command_reply reply;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = nsc_cli_running(process, &entry);

    if (status != 0)
        return status;
    if (nsc_command_call(entry.path, NSC_COMMAND_FILTER, text->bytes, text->count, NULL, NULL,
                         &reply, &diag) != 0)
        return nsc_cli_fail(&diag);
    if (reply.error != 0)
        return nsc_cli_error("%s", reply.message);
    if (reply.message[0] != 0)
        nsc_cli_warn("%s", reply.message);
    return NSC_CLI_OK;
}

int nsc_cmd_filter(const struct nsc_cli_args *args)
{
    struct nsc_filter filter = {0};
    struct text text = {0};
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    const char *process = NULL;
    int status = 0;
    size_t i;

    for (i = 0; i < args->option_count && status == 0; i++) {
        const struct nsc_cli_given *given = &args->options[i];
        int error;

        if (given->id == NSC_FILTER_OPT_PROCESS) {
            process = given->value;
            continue;
        }
        error = nsc_filter_add(&filter, given->name, given->value, &diag);
        if (error != 0)
            status =
                error == -ENOMEM ? nsc_cli_fail(&diag) : nsc_cli_usage(args, "%s", diag.message);
        else
            status = add_option(&text, given);
    }
    if (status == 0 && args->operand_count != 0)
        status = nsc_cli_usage(args, "\"%s\" is not expected: patterns come behind -F and -N",
                               args->operands[0]);
    if (status == 0 && nsc_filter_check(&filter, &diag) != 0)
        status = nsc_cli_usage(args, "%s", diag.message);
    if (status == 0)
        status = send_filter(process, &text);
    nsc_filter_free(&filter);
    free(text.bytes);
    return status;
}
