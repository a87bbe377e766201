/* cmd_doctor.c - nanoscope doctor: print what the doctor_*.c files find. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor_options.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"

static const char *const status_names[] = {"ok", "note", "fail"};

void nsc_doctor_add(struct nsc_doctor *d, const char *area, const char *name,
                    enum nsc_doctor_status status, const char *remedy, const char *format, ...)
{
    struct nsc_doctor_finding *f = &d->at[d->count];
    va_list ap;

    if (d->count == NSC_DOCTOR_FINDINGS)
        return;
    d->count++;
    f->area = area;
    f->status = status;
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy != NULL ? remedy : "");
    va_start(ap, format);
    vsnprintf(f->detail, sizeof f->detail, format, ap);
    va_end(ap);
}

static void print_json(const struct nsc_doctor *d, bool works)
{
    struct nsc_json j;

    nsc_json_begin(&j, stdout, false);
    nsc_json_bool(&j, "recording_works", works);
    nsc_json_open_array(&j, "findings");
    for (size_t i = 0; i < d->count; i++) {
        const struct nsc_doctor_finding *f = &d->at[i];

        nsc_json_open_object(&j, NULL);
        nsc_json_text(&j, "area", f->area);
        nsc_json_text(&j, "name", f->name);
        nsc_json_text(&j, "status", status_names[f->status]);
        nsc_json_text(&j, "detail", f->detail);
        nsc_json_text(&j, "remedy", f->remedy[0] != '\0' ? f->remedy : NULL);
        nsc_json_close_object(&j);
    }
    nsc_json_close_array(&j);
    nsc_json_end(&j);
}

static void print_people(const struct nsc_doctor *d, bool works)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    bool colour = nsc_text_wants_colour(stdout);
    const char *area = "";
    bool some_fail = false;

    for (size_t i = 0; i < d->count; i++) {
        const struct nsc_doctor_finding *f = &d->at[i];

        some_fail |= f->status == NSC_DOCTOR_FAIL;
        if (strcmp(area, f->area) != 0)
            printf("%s%s\n", i != 0 ? "\n" : "", f->area);
        area = f->area;
        printf("  %s%-5s%s %-22s ", colour ? colours[f->status] : "", status_names[f->status],
               colour ? "\033[0m" : "", f->name);
        nsc_text_put(stdout, f->detail);
        putchar('\n');
        if (f->remedy[0] != '\0')
            printf("        -> %s\n", f->remedy);
    }
    if (!works)
        puts("\nPrograms cannot be recorded here: see the lines that say fail.");
    else if (some_fail)
        puts("\nPrograms can be built and recorded here, but not in every way: see the lines that "
             "say fail.");
    else
        puts("\nPrograms can be built and recorded here.");
}

int nsc_cmd_doctor(const struct nsc_cli_args *args)
{
    struct nsc_doctor *d;
    bool json = false;
    bool works;

    for (size_t i = 0; i < args->option_count; i++) {
        switch ((enum nsc_doctor_option)args->options[i].id) {
        case NSC_DOCTOR_OPT_JSON:
            json = true;
            break;
        }
    }
    if (args->operand_count != 0)
        return nsc_cli_usage(args, "unexpected argument '%s'", args->operands[0]);
    d = calloc(1, sizeof *d);
    if (d == NULL)
        return nsc_cli_error("out of memory");
    nsc_doctor_build(d);
    nsc_doctor_machine(d);
    nsc_doctor_running(d);
    works = d->some_hook_works && !d->machine_fails;
    if (json)
        print_json(d, works);
    else
        print_people(d, works);
    free(d);
    return works ? NSC_CLI_OK : NSC_CLI_FAILED;
}
