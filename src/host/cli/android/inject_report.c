/* inject_report.c - see inject_report.h. */
#include "cli/android/inject_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"
#include "util/text/units.h"

/* ---- Text ------------------------------------------------------------------------------------ */

/* Descriptions of the reasons why methods are not recorded. */
static const char *const missing[NSC_INSTRUMENT_WHYS] = {
    [NSC_INSTRUMENT_ABSTRACT] = "without code",
    [NSC_INSTRUMENT_NATIVE] = "native",
    [NSC_INSTRUMENT_FILTERED] = "left out by name",
    [NSC_INSTRUMENT_SMALL] = "smaller than --min-size",
    [NSC_INSTRUMENT_SKIPPED] = "left out by --skip",
    [NSC_INSTRUMENT_LEFT] = "that cannot be rewritten",
};

static void field(const char *name)
{
    printf("  %-14s", name);
}

static void show_missing(const struct nsc_instrument_report *r)
{
    field("not recorded");
    for (unsigned why = 1; why < NSC_INSTRUMENT_WHYS; why++)
        if (r->methods[why] > 0)
            printf("%s %s, ", nsc_units_count(r->methods[why]).text, missing[why]);
    puts("all of Android's own");
}

/* Print "BEFORE -> AFTER (+12.3%)". */
static void show_growth(uint64_t before, uint64_t after)
{
    char was[NSC_UNITS_MAX], is[NSC_UNITS_MAX];

    printf("%s -> %s", nsc_units_format_bytes(was, before), nsc_units_format_bytes(is, after));
    if (before > 0)
        printf(" (%+.1f%%)", 100.0 * ((double)after - (double)before) / (double)before);
}

static void show_texts(const struct nsc_instrument_texts *texts, const char *none)
{
    if (texts->count == 0)
        fputs(none, stdout);
    for (size_t i = 0; i < texts->count; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        nsc_text_put(stdout, texts->at[i]);
    }
    putchar('\n');
}

static bool is_in(const struct nsc_instrument_texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->at[i], text) == 0)
            return true;
    return false;
}

static void show_permissions(const struct nsc_cli_inject *done)
{
    const struct nsc_instrument_texts *added = &done->report->permissions;

    field("permissions");
    show_texts(added, "none added");
    for (size_t i = 0; i < done->options->permission_count; i++) {
        if (is_in(added, done->options->permissions[i]))
            continue;
        field("");
        nsc_text_put(stdout, done->options->permissions[i]);
        puts(" was there already");
    }
}

static void show_libraries(const struct nsc_instrument_report *r)
{
    field("libraries");
    for (size_t i = 0; i < r->library_count; i++) {
        const char *abi = r->libraries[i].path + strlen("lib/");

        printf("%s%.*s", i > 0 ? ", " : "", (int)strcspn(abi, "/"), abi);
    }
    printf(" (%s)\n", r->library_count > 0 && r->libraries[0].stored ? "stored" : "deflated");
}

static void show_signature(const struct nsc_instrument_report *r)
{
    field("signature");
    if (r->signer_before == NULL)
        printf("%.16s (there was none)\n", r->signer);
    else if (strcmp(r->signer_before, r->signer) == 0)
        printf("%.16s, as before\n", r->signer);
    else
        printf("%.16s -> %.16s: an installed original must be uninstalled first, with its data\n",
               r->signer_before, r->signer);
}

static void show_calls(const struct nsc_instrument_report *r)
{
    field("calls");
    printf("%s place%s that call%s %s method%s", nsc_units_count(r->calls).text,
           nsc_units_plural(r->calls), r->calls == 1 ? "s" : "", nsc_units_count(r->called).text,
           nsc_units_plural(r->called));
    if (r->calls_left > 0)
        printf("; %s more %s not timed, as no register is free there",
               nsc_units_count(r->calls_left).text, r->calls_left == 1 ? "is" : "are");
    putchar('\n');
}

static void show_summary(const struct nsc_cli_inject *done)
{
    const struct nsc_instrument_report *r = done->report;
    char took[NSC_UNITS_MAX];

    nsc_text_put(stdout, done->options->output);
    printf(": %s method%s of ", nsc_units_count(r->methods[NSC_INSTRUMENT_RECORDED]).text,
           nsc_units_plural(r->methods[NSC_INSTRUMENT_RECORDED]));
    nsc_text_put(stdout, r->package);
    printf(" %s recorded (%s)\n", r->methods[NSC_INSTRUMENT_RECORDED] == 1 ? "is" : "are",
           nsc_units_format_ns(took, r->ns));
    show_missing(r);
    if (done->options->calls.count > 0)
        show_calls(r);
    field("size");
    show_growth(r->bytes_before, r->bytes_after);
    printf("; code ");
    show_growth(r->dex_bytes_before, r->dex_bytes_after);
    putchar('\n');
    field("debuggable");
    puts(r->debuggable ? r->was_debuggable ? "yes, as before" : "yes; it was not" : "no");
    show_permissions(done);
    show_libraries(r);
    show_signature(r);
    if (done->options->side_file != NULL) {
        field("methods");
        nsc_text_put(stdout, done->options->side_file);
        printf(", build %s\n", r->fingerprint);
    }
}

static int show_dex_table(const struct nsc_instrument_report *r)
{
    static const struct nsc_table_column columns[] = {
        {"name", "DEX", NSC_TABLE_TEXT, 0},
        {"methods", "RECORDED", NSC_TABLE_COUNT, 0},
        {"without_code", "WITHOUT CODE", NSC_TABLE_COUNT, 0},
        {"left_out", "LEFT OUT", NSC_TABLE_COUNT, 0},
        {"left_alone", "LEFT ALONE", NSC_TABLE_COUNT, 0},
        {"bytes_before", "BEFORE", NSC_TABLE_BYTES, 0},
        {"bytes_after", "AFTER", NSC_TABLE_BYTES, 0},
        {"reason", "", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    };
    struct nsc_table *t = nsc_table_new(columns, sizeof columns / sizeof columns[0]);
    int error;

    if (t == NULL)
        return nsc_cli_error("out of memory");
    for (size_t i = 0; i < r->dex_count; i++) {
        const struct nsc_instrument_dex *d = &r->dex[i];
        const uint32_t *n = d->methods;

        nsc_table_add_text(t, d->name);
        nsc_table_add(t, n[NSC_INSTRUMENT_RECORDED]);
        nsc_table_add(t, n[NSC_INSTRUMENT_ABSTRACT] + n[NSC_INSTRUMENT_NATIVE]);
        nsc_table_add(t, n[NSC_INSTRUMENT_FILTERED] + n[NSC_INSTRUMENT_SMALL] +
                             n[NSC_INSTRUMENT_SKIPPED]);
        nsc_table_add(t, n[NSC_INSTRUMENT_LEFT]);
        nsc_table_add(t, d->bytes_before);
        nsc_table_add(t, d->bytes_after);
        nsc_table_add_text(t, d->left != NULL ? d->left : "");
    }
    nsc_table_add_text(t, r->hook_name);
    for (unsigned i = 0; i < 5; i++)
        nsc_table_add(t, 0);
    nsc_table_add(t, r->hook_bytes);
    nsc_table_add_text(t, "(added: the hooks)");
    putchar('\n');
    error = nsc_table_write(t, NSC_TABLE_ALIGNED, stdout);
    nsc_table_free(t);
    return error == -ENOMEM ? nsc_cli_error("out of memory") : 0;
}

static void show_left(const struct nsc_instrument_report *r)
{
    if (r->left_count > 0)
        puts("\nMethods that cannot be rewritten and are not recorded:");
    for (size_t i = 0; i < r->left_count; i++) {
        fputs("  ", stdout);
        nsc_text_put(stdout, r->left[i].signature);
        fputs(": ", stdout);
        nsc_text_put(stdout, r->left[i].reason);
        putchar('\n');
    }
}

static void show_parts(const struct nsc_instrument_report *r)
{
    if (r->part_count > 0)
        puts("\nMethods that are recorded in part:");
    for (size_t i = 0; i < r->part_count; i++) {
        const struct nsc_instrument_part *p = &r->parts[i];

        fputs("  ", stdout);
        nsc_text_put(stdout, p->signature);
        if (p->calls_left > 0)
            printf(": %s call%s not timed (no register is free)",
                   nsc_units_count(p->calls_left).text, p->calls_left == 1 ? " is" : "s are");
        if (p->held > 0)
            printf("%s its end is not seen if one of %s instruction%s throws (a monitor is held)",
                   p->calls_left > 0 ? ";" : ":", nsc_units_count(p->held).text,
                   nsc_units_plural(p->held));
        putchar('\n');
    }
}

int nsc_cli_inject_show(const struct nsc_cli_inject *done, bool all)
{
    int status;

    show_summary(done);
    if (!all)
        return NSC_CLI_OK;
    status = show_dex_table(done->report);
    show_left(done->report);
    show_parts(done->report);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_methods(struct nsc_json *j, const uint32_t methods[NSC_INSTRUMENT_WHYS])
{
    nsc_json_open_object(j, "methods");
    for (unsigned why = 0; why < NSC_INSTRUMENT_WHYS; why++)
        nsc_json_u64(j, nsc_instrument_why_word(why), methods[why]);
    nsc_json_close_object(j);
}

static void json_texts(struct nsc_json *j, const char *key,
                       const struct nsc_instrument_texts *texts)
{
    nsc_json_open_array(j, key);
    for (size_t i = 0; i < texts->count; i++)
        nsc_json_text(j, NULL, texts->at[i]);
    nsc_json_close_array(j);
}

static void json_dex(struct nsc_json *j, const struct nsc_instrument_report *r)
{
    nsc_json_open_array(j, "dex");
    for (size_t i = 0; i < r->dex_count; i++) {
        const struct nsc_instrument_dex *d = &r->dex[i];

        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "name", d->name);
        nsc_json_u64(j, "bytes_before", d->bytes_before);
        nsc_json_u64(j, "bytes_after", d->bytes_after);
        json_methods(j, d->methods);
        nsc_json_u64(j, "calls", d->calls);
        nsc_json_u64(j, "calls_left", d->calls_left);
        nsc_json_u64(j, "held", d->held);
        nsc_json_text(j, "left_alone", d->left);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_open_object(j, "hooks");
    nsc_json_text(j, "name", r->hook_name);
    nsc_json_u64(j, "bytes", r->hook_bytes);
    nsc_json_close_object(j);
}

static void json_lists(struct nsc_json *j, const struct nsc_instrument_report *r)
{
    nsc_json_open_array(j, "left_alone");
    for (size_t i = 0; i < r->left_count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "method", r->left[i].signature);
        nsc_json_text(j, "reason", r->left[i].reason);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_open_array(j, "recorded_in_part");
    for (size_t i = 0; i < r->part_count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "method", r->parts[i].signature);
        nsc_json_u64(j, "calls_left", r->parts[i].calls_left);
        nsc_json_u64(j, "held", r->parts[i].held);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_open_array(j, "libraries");
    for (size_t i = 0; i < r->library_count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "path", r->libraries[i].path);
        nsc_json_u64(j, "bytes", r->libraries[i].bytes);
        nsc_json_bool(j, "stored", r->libraries[i].stored);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

void nsc_cli_inject_json(const struct nsc_cli_inject *done)
{
    const struct nsc_instrument_report *r = done->report;
    struct nsc_json j;

    nsc_json_begin(&j, stdout, false);
    nsc_json_text(&j, "input", done->options->input);
    nsc_json_text(&j, "output", done->options->output);
    nsc_json_text(&j, "table", done->options->side_file);
    nsc_json_text(&j, "build", r->fingerprint);
    nsc_json_text(&j, "package", r->package);
    json_methods(&j, r->methods);
    nsc_json_u64(&j, "called_methods", r->called);
    nsc_json_u64(&j, "calls", r->calls);
    nsc_json_u64(&j, "calls_left", r->calls_left);
    nsc_json_u64(&j, "held", r->held);
    nsc_json_u64(&j, "bytes_before", r->bytes_before);
    nsc_json_u64(&j, "bytes_after", r->bytes_after);
    nsc_json_u64(&j, "dex_bytes_before", r->dex_bytes_before);
    nsc_json_u64(&j, "dex_bytes_after", r->dex_bytes_after);
    json_dex(&j, r);
    json_lists(&j, r);
    json_texts(&j, "permissions_added", &r->permissions);
    nsc_json_bool(&j, "debuggable_before", r->was_debuggable);
    nsc_json_bool(&j, "debuggable", r->debuggable);
    nsc_json_text(&j, "signer_before", r->signer_before);
    nsc_json_text(&j, "signer", r->signer);
    json_texts(&j, "warnings", &r->warnings);
    nsc_json_real(&j, "seconds", (double)r->ns / 1e9, 3);
    nsc_json_end(&j);
}
