/*
 * tau.c - write a trace as TAU profiles: a folder with a file profile.N.C.T for each thread, where
 * N is the node (process), C the context (always 0) and T the thread. Called through exporters.c.
 *
 * Source: the TAU reference guide and the profile reader of its pprof.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/export/call_pairs.h"
#include "formats/export/export.h"
#include "formats/export/folder_output.h"
#include "util/text/name_text.h"

/* Writes a time in microseconds with three decimals, and a blank. */
static void put_time(struct nsc_output *out, uint64_t ns)
{
    char text[40];

    snprintf(text, sizeof text, "%llu.%03u ", (unsigned long long)(ns / 1000),
             (unsigned)(ns % 1000));
    nsc_output_text(out, text);
}

static int put_function(struct nsc_export *job, struct nsc_output *out, uint32_t id,
                        const struct nsc_call_pairs_function *f)
{
    const struct nsc_cooked *name = nsc_export_name(job, id);

    if (name == NULL)
        return -ENOMEM;
    nsc_output_text(out, "\"");
    nsc_output_put(out, name->text, name->bytes);
    nsc_output_text(out, "\" ");
    nsc_output_u64(out, f->calls);
    nsc_output_text(out, " ");
    nsc_output_u64(out, f->callees);
    nsc_output_text(out, " ");
    put_time(out, nsc_clock_span_ns(job->clock, f->self_ticks));
    put_time(out, nsc_clock_span_ns(job->clock, f->total_ticks));
    nsc_output_text(out, "0 GROUP=\"TAU_USER\"\n");
    return 0;
}

static int put_profile(struct nsc_export *job, struct nsc_output *out,
                       const struct nsc_call_pairs *t)
{
    uint32_t count = 0;
    int error = 0;

    for (uint32_t i = 0; i < job->info->function_count; i++)
        count += t->functions[i].calls > 0;
    nsc_output_u64(out, count);
    nsc_output_text(out, " templated_functions_MULTI_TIME\n"
                         "# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute>"
                         "<name>Metric Name</name><value>TIME</value></attribute></metadata>\n");
    for (uint32_t i = 0; i < job->info->function_count && error == 0; i++)
        if (t->functions[i].calls > 0)
            error = put_function(job, out, i, &t->functions[i]);
    nsc_output_text(out, "0 aggregates\n0 userevents\n");
    return error;
}

/* Index of a thread within its process, from 0. */
static uint32_t number_in_process(const struct nsc_export *job, uint32_t thread)
{
    uint32_t process = nsc_trace_thread(job->trace, thread)->process, number = 0;

    for (uint32_t i = 0; i < thread; i++)
        number += nsc_trace_thread(job->trace, i)->process == process;
    return number;
}

static int export_thread(struct nsc_folder *folder, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_export *job = folder->job;
    struct nsc_call_pairs tally = {0};
    struct nsc_output *out;
    char name[64];
    uint64_t calls = job->result->calls;
    int error = nsc_call_pairs_take(&tally, job, thread, diag);

    if (error == 0 && job->result->calls > calls) {
        snprintf(name, sizeof name, "profile.%u.0.%u",
                 nsc_trace_thread(job->trace, thread)->process, number_in_process(job, thread));
        error = nsc_folder_open(folder, name, &out, diag);
        if (error == 0) {
            if (put_profile(job, out, &tally) != 0)
                error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
            error = nsc_folder_close(folder, out, error, diag);
        }
    }
    nsc_call_pairs_free(&tally);
    return error;
}

/* Replaces quotation marks in a name, because the next one ends it. */
static char *cook_name(const char *name, size_t *bytes)
{
    char *line = nsc_names_line(name[0] != '\0' ? name : "(no name)", bytes);
    char *text = line != NULL ? nsc_names_replace(line, "\"", '\'', bytes) : NULL;

    free(line);
    return text;
}

static int export_tau(struct nsc_export *job, struct nsc_diag *diag)
{
    struct nsc_folder folder;
    int error = nsc_folder_create(&folder, job, diag);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = export_thread(&folder, i, diag);
    nsc_export_note_unmarked(job, "TAU's profile");
    nsc_export_note_left_out(job, "TAU's profile", ~0u);
    return nsc_folder_publish(&folder, error, diag);
}

static const char *const tau_suffixes[] = {".tau", NULL};

const struct nsc_exporter nsc_tau_exporter = {
    .name = "tau",
    .suffixes = tau_suffixes,
    .form = NSC_FORM_FOLDER,
    .cook = cook_name,
    .run = export_tau,
};
