/* cmd_inject.c - nanoscope inject: instrument the methods of an Android app. Parses the command
 * line; android/instrument/ rewrites the app. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "android/instrument/instrument.h"
#include "cli/android/inject_report.h"
#include "cli/android/install.h"
#include "cli/android/signing.h"
#include "cli/command.h"
#include "cli/inject_options.h"
#include "cli/progress.h"

/* Compiled patterns. options.only, options.except and options.calls point to them. */
struct patterns {
    struct nsc_pattern **at;
    size_t count;
};

/* The parsed command line. */
struct request {
    struct nsc_instrument_options options;
    struct patterns only, except, calls;
    char *output, *side_file; /* owned */
    const char **permissions; /* owned; the names are from the command line or from made */
    char **made;              /* owned with its strings: names with the prefix added */
    size_t made_count;
    struct nsc_cli_signing signing;
    struct nsc_crypto_key *key;
    bool report, json, install, yes, quiet;
};

/* Allocate all arrays for @most options, so that none needs to grow. */
static int begin(struct request *r, size_t most)
{
    size_t room = most + 1;

    *r = (struct request){
        .options = {.size = sizeof r->options},
        .only = {.at = calloc(room, sizeof *r->only.at)},
        .except = {.at = calloc(room, sizeof *r->except.at)},
        .calls = {.at = calloc(room, sizeof *r->calls.at)},
        .permissions = calloc(room, sizeof *r->permissions),
        .made = calloc(room, sizeof *r->made),
    };
    if (r->only.at == NULL || r->except.at == NULL || r->calls.at == NULL ||
        r->permissions == NULL || r->made == NULL)
        return nsc_cli_error("out of memory");
    return 0;
}

static void patterns_free(struct patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        nsc_pattern_free(p->at[i]);
    free(p->at);
}

static void end(struct request *r)
{
    patterns_free(&r->only);
    patterns_free(&r->except);
    patterns_free(&r->calls);
    for (size_t i = 0; i < r->made_count; i++)
        free(r->made[i]);
    free(r->made);
    free(r->permissions);
    free(r->output);
    free(r->side_file);
    nsc_crypto_key_free(r->key);
}

static int add_pattern(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct patterns *to)
{
    struct nsc_diag diag;

    if (nsc_pattern_compile(given->value, &to->at[to->count], &diag) != 0)
        return nsc_cli_usage(args, "%s", diag.message);
    to->count++;
    return 0;
}

/* Add a permission. A name without a dot gets the prefix "android.permission.". */
static int add_permission(const struct nsc_cli_args *args, const char *name, struct request *r)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

    if (*name == '\0' || name[strspn(name, letters)] != '\0')
        return nsc_cli_usage(args,
                             "--permission: a name like INTERNET or com.example.permission.X is "
                             "needed, not \"%s\"",
                             name);
    if (strchr(name, '.') == NULL) {
        if (asprintf(&r->made[r->made_count], "android.permission.%s", name) < 0)
            return nsc_cli_error("out of memory");
        name = r->made[r->made_count++];
    }
    r->permissions[r->options.permission_count++] = name;
    return 0;
}

static int take_skip(const struct nsc_cli_args *args, const char *list, unsigned *skip)
{
    static const struct {
        const char *word;
        unsigned bit;
    } kinds[] = {
        {"init", NSC_INSTRUMENT_SKIP_INIT},
        {"clinit", NSC_INSTRUMENT_SKIP_CLINIT},
        {"finalize", NSC_INSTRUMENT_SKIP_FINALIZE},
        {"synthetic", NSC_INSTRUMENT_SKIP_SYNTHETIC},
    };

    for (;;) {
        size_t bytes = strcspn(list, ","), i;

        for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (strlen(kinds[i].word) == bytes && memcmp(kinds[i].word, list, bytes) == 0)
                break;
        if (i == sizeof kinds / sizeof kinds[0])
            return nsc_cli_usage(args,
                                 "--skip takes init, clinit, finalize and synthetic, separated by "
                                 "commas, not \"%.*s\"",
                                 (int)bytes, list);
        *skip |= kinds[i].bit;
        if (list[bytes] == '\0')
            return 0;
        list += bytes + 1;
    }
}

static int take(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                struct request *r)
{
    uint64_t units;
    int status;

    switch ((enum nsc_inject_option)given->id) {
    case NSC_INJECT_OPT_OUTPUT:
        r->options.output = given->value;
        return 0;
    case NSC_INJECT_OPT_ONLY:
        return add_pattern(args, given, &r->only);
    case NSC_INJECT_OPT_EXCEPT:
        return add_pattern(args, given, &r->except);
    case NSC_INJECT_OPT_CALLS:
        return add_pattern(args, given, &r->calls);
    case NSC_INJECT_OPT_MIN_SIZE:
        status = nsc_cli_number(args, given, 0, UINT32_MAX, &units);
        if (status == 0)
            r->options.min_units = (uint32_t)units;
        return status;
    case NSC_INJECT_OPT_SKIP:
        return take_skip(args, given->value, &r->options.skip);
    case NSC_INJECT_OPT_MAPPING:
        r->options.mapping = given->value;
        return 0;
    case NSC_INJECT_OPT_NO_DEBUGGABLE:
        r->options.keep_debuggable = true;
        return 0;
    case NSC_INJECT_OPT_PERMISSION:
        return add_permission(args, given->value, r);
    case NSC_INJECT_OPT_KEYSTORE:
        r->signing.keystore = given->value;
        return 0;
    case NSC_INJECT_OPT_KEY_ALIAS:
        r->signing.alias = given->value;
        return 0;
    case NSC_INJECT_OPT_KEYSTORE_PASS:
        r->signing.password = given->value;
        return 0;
    case NSC_INJECT_OPT_REPORT:
        r->report = true;
        return 0;
    case NSC_INJECT_OPT_JSON:
        r->json = true;
        return 0;
    case NSC_INJECT_OPT_INSTALL:
        r->install = true;
        return 0;
    case NSC_INJECT_OPT_YES:
        r->yes = true;
        return 0;
    case NSC_INJECT_OPT_QUIET:
        r->quiet = true;
        return 0;
    }
    return 0;
}

/* Length of @path in bytes without @suffix. */
static size_t stem(const char *path, const char *suffix)
{
    size_t bytes = strlen(path), less = strlen(suffix);

    return bytes > less && strcasecmp(path + bytes - less, suffix) == 0 ? bytes - less : bytes;
}

/* Set the paths of the input, the output and the method table beside it. Returns 0 or an exit
 * status. */
static int take_files(const struct nsc_cli_args *args, struct request *r)
{
    struct nsc_instrument_options *o = &r->options;

    if (args->operand_count == 0)
        return nsc_cli_usage(args, "an APK is needed");
    if (args->operand_count > 2 || (args->operand_count == 2 && o->output != NULL))
        return nsc_cli_usage(args, "one input and one output are needed, not \"%s\"",
                             args->operands[args->operand_count - 1]);
    o->input = args->operands[0];
    if (args->operand_count == 2)
        o->output = args->operands[1];
    if (o->output == NULL) {
        if (asprintf(&r->output, "%.*s-traced.apk", (int)stem(o->input, ".apk"), o->input) < 0)
            return nsc_cli_error("out of memory");
        o->output = r->output;
        if (nsc_cli_begin_made_output(o->input, o->output, NSC_CLI_REPLACE_OUTPUT) != 0)
            return NSC_CLI_FAILED;
    }
    /* Standard output can carry only the app. It contains the method table too. */
    if (strcmp(o->output, "-") == 0) {
        if (r->install || r->report || r->json)
            return nsc_cli_usage(args, "--install, --report and --json want an output with a name");
        r->quiet = true;
        return 0;
    }
    if (asprintf(&r->side_file, "%.*s.methods", (int)stem(o->output, ".apk"), o->output) < 0)
        return nsc_cli_error("out of memory");
    o->side_file = r->side_file;
    return 0;
}

/* Parse the whole command line. Returns 0 or an exit status. */
static int understand(const struct nsc_cli_args *args, struct request *r)
{
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = take(args, &args->options[i], r);
    if (status == 0)
        status = take_files(args, r);
    r->options.only = (struct nsc_instrument_patterns){
        (const struct nsc_pattern *const *)r->only.at, r->only.count};
    r->options.except = (struct nsc_instrument_patterns){
        (const struct nsc_pattern *const *)r->except.at, r->except.count};
    r->options.calls = (struct nsc_instrument_patterns){
        (const struct nsc_pattern *const *)r->calls.at, r->calls.count};
    r->options.permissions = r->permissions;
    return status;
}

static void on_progress(void *context, uint64_t done, uint64_t total)
{
    nsc_progress_show(context, "rewriting", done, total);
}

/* Returns an exit status. */
static int inject(struct request *r, struct nsc_instrument_report *report)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_progress progress = {0};
    int error;

    if (!r->quiet)
        nsc_progress_begin(&progress);
    r->options.progress = on_progress;
    r->options.context = &progress;
    error = nsc_instrument_app(&r->options, report, &diag);
    nsc_progress_end(&progress);
    return error == 0 ? 0 : nsc_cli_fail_in(r->options.input, &diag);
}

static int rewrite(struct request *r)
{
    struct nsc_instrument_report report = {0};
    const struct nsc_cli_inject done = {&r->options, &report};
    int status;

    status = inject(r, &report);
    for (size_t i = 0; status == 0 && i < report.warnings.count; i++)
        nsc_cli_warn("%s", report.warnings.at[i]);
    if (status == 0 && r->json)
        nsc_cli_inject_json(&done);
    else if (status == 0 && !r->quiet)
        status = nsc_cli_inject_show(&done, r->report);
    if (status == 0 && r->install)
        status = nsc_cli_install(r->options.output, report.package, r->yes, r->quiet || r->json);
    nsc_instrument_report_free(&report);
    return status;
}

int nsc_cmd_inject(const struct nsc_cli_args *args)
{
    char libraries[PATH_MAX];
    struct request r;
    int status = begin(&r, args->option_count);

    if (status == 0)
        status = understand(args, &r);
    if (status == 0 && nsc_cli_libdir(libraries, sizeof libraries - sizeof "/android") != 0)
        status = nsc_cli_error("cannot find the folder of nanoscope's own libraries");
    if (status == 0)
        status = nsc_cli_signing_key(args, &r.signing, &r.key);
    r.options.key = r.key;
    if (status == 0) {
        memcpy(libraries + strlen(libraries), "/android", sizeof "/android");
        r.options.libraries = libraries;
        status = rewrite(&r);
    }
    end(&r);
    return status;
}
