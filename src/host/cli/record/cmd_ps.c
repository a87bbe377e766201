/*
 * cmd_ps.c - nanoscope ps: list the running programs that are built for tracing.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ps_options.h"
#include "process/find/endpoint_client.h"
#include "process/find/process_find.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"

static const char *how(const struct nsc_process_target *t)
{
    if (t->reason[0] != 0)
        return NULL;
    return t->endpoint ? "endpoint" : "ptrace";
}

static int print_json(const struct nsc_process_target *list, size_t count)
{
    struct nsc_json j;

    nsc_json_begin(&j, stdout, false);
    nsc_json_open_array(&j, "processes");
    for (size_t i = 0; i < count; i++) {
        const struct nsc_process_target *t = &list[i];

        nsc_json_open_object(&j, NULL);
        nsc_json_u64(&j, "pid", (uint64_t)t->pid);
        nsc_json_u64(&j, "uid", t->uid);
        nsc_json_text(&j, "name", t->name);
        nsc_json_u64(&j, "threads", t->threads);
        nsc_json_text(&j, "how", how(t));
        nsc_json_text(&j, "reason", t->reason[0] != 0 ? t->reason : NULL);
        nsc_json_u64_or_null(&j, "recorder", t->recorder != 0, (uint64_t)t->recorder);
        nsc_json_text(&j, "output", t->output);
        nsc_json_close_object(&j);
    }
    nsc_json_close_array(&j);
    nsc_json_end(&j);
    return NSC_CLI_OK;
}

static void add_user(struct nsc_table *table, uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    char number[32];

    snprintf(number, sizeof number, "%lu", (unsigned long)uid);
    nsc_table_add_text(table, user != NULL ? user->pw_name : number);
}

static void add_state(struct nsc_table *table, const struct nsc_process_target *t)
{
    char state[4200];

    if (t->recorder == 0)
        snprintf(state, sizeof state, "idle");
    else
        snprintf(state, sizeof state, "recorded by %ld%s%s", (long)t->recorder,
                 t->output != NULL ? " -> " : "", t->output != NULL ? t->output : "");
    nsc_table_add_text(table, state);
}

static void add_how(struct nsc_table *table, const struct nsc_process_target *t)
{
    char text[sizeof t->reason + 16];

    snprintf(text, sizeof text, "%s%s", how(t) != NULL ? how(t) : "no: ", t->reason);
    nsc_table_add_text(table, text);
}

static int print_table(const struct nsc_process_target *list, size_t count)
{
    bool root = geteuid() == 0;
    const struct nsc_table_column columns[] = {
        {.key = "pid", .title = "PID", .kind = NSC_TABLE_NUMBER},
        {.key = "user", .title = "USER", .flags = root ? 0 : NSC_TABLE_NO_HUMAN},
        {.key = "name", .title = "NAME"},
        {.key = "threads", .title = "THREADS", .kind = NSC_TABLE_COUNT},
        {.key = "state", .title = "STATE"},
        {.key = "how", .title = "HOW"},
    };
    struct nsc_table *table = nsc_table_new(columns, sizeof columns / sizeof columns[0]);
    int error;

    if (table == NULL)
        return nsc_cli_error("out of memory");
    for (size_t i = 0; i < count; i++) {
        nsc_table_add(table, (uint64_t)list[i].pid);
        add_user(table, list[i].uid);
        nsc_table_add_text(table, list[i].name);
        nsc_table_add(table, list[i].threads);
        add_state(table, &list[i]);
        add_how(table, &list[i]);
    }
    error = nsc_table_write(table, NSC_TABLE_ALIGNED, stdout);
    nsc_table_free(table);
    return error != 0 ? nsc_cli_error("cannot write the list") : NSC_CLI_OK;
}

int nsc_cmd_ps(const struct nsc_cli_args *args)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_process_target *list;
    bool json = false;
    int incomplete, status;
    size_t count;

    for (size_t i = 0; i < args->option_count; i++) {
        switch ((enum nsc_ps_option)args->options[i].id) {
        case NSC_PS_OPT_JSON:
            json = true;
            break;
        }
    }
    if (args->operand_count != 0)
        return nsc_cli_usage(args, "unexpected argument '%s'", args->operands[0]);
    nsc_endpoint_sweep();
    incomplete = nsc_process_list(&list, &count, &diag);
    if (incomplete < 0)
        return nsc_cli_fail(&diag);
    if (incomplete)
        nsc_cli_warn("some processes may be missing: the kernel does not tell about them in time");
    if (json) {
        status = print_json(list, count);
    } else if (count == 0) {
        puts(geteuid() == 0 ? "No program that is built for tracing runs here."
                            : "No program of this user that is built for tracing runs here.");
        status = NSC_CLI_OK;
    } else {
        status = print_table(list, count);
    }
    nsc_process_list_free(list, count);
    return status;
}
