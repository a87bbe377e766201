/*
 * callgrind.c - write a trace as a profile in callgrind's format, for callgrind_annotate and
 * KCachegrind. Called through exporters.c.
 *
 * The profile has the self time of each function, and the inclusive time of its calls by callee.
 * Call sites are not recorded, so all costs are at the function's first line. callgrind_annotate
 * computes a function's inclusive time from its callers only. Functions without a caller are
 * therefore called by a synthetic function "(root)".
 * Source: Valgrind's manual, "Callgrind Format Specification".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/call_pairs.h"
#include "formats/export/export.h"
#include "util/text/name_text.h"

struct callgrind {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_call_pairs tally;
    bool *named; /* by function id: its name has been written with its number */
};

static void put_text(struct callgrind *c, const char *text)
{
    nsc_output_text(c->out, text);
}

static void put_number(struct callgrind *c, uint64_t value, char end)
{
    nsc_output_u64(c->out, value);
    *nsc_output_room(c->out, 1) = (uint8_t)end;
    c->out->at++;
}

/* Writes a line `key=path`. Readers take a name that begins with a parenthesis for a number, so
 * "./" is put before it. */
static int put_path(struct callgrind *c, const char *key, const char *path)
{
    size_t bytes;
    char *clean = nsc_names_line(path[0] != '\0' ? path : "???", &bytes);

    if (clean == NULL)
        return -ENOMEM;
    put_text(c, key);
    if (clean[0] == '(')
        put_text(c, "./");
    nsc_output_put(c->out, clean, bytes);
    put_text(c, "\n");
    free(clean);
    return 0;
}

/* Writes three lines that identify a function. @keys: for its module, file and name. */
static int put_function(struct callgrind *c, const char *const keys[3], uint32_t id)
{
    const struct nsc_function *f = nsc_trace_function(c->job->trace, id);
    const struct nsc_cooked *name = nsc_export_name(c->job, id);
    const char *module =
        f->module != NSC_NO_ID ? nsc_trace_module(c->job->trace, f->module)->path : "";

    if (name == NULL || put_path(c, keys[0], module) != 0 || put_path(c, keys[1], f->file) != 0)
        return -ENOMEM;
    put_text(c, keys[2]);
    put_text(c, "(");
    nsc_output_u64(c->out, name->number + 2ull);
    put_text(c, ")");
    if (!c->named[id]) {
        put_text(c, " ");
        nsc_output_put(c->out, name->text, name->bytes);
    }
    put_text(c, "\n");
    c->named[id] = true;
    return 0;
}

static int put_pair(struct callgrind *c, const struct nsc_call_pair *pair)
{
    static const char *const keys[] = {"cob=", "cfi=", "cfn="};

    if (put_function(c, keys, pair->callee) != 0)
        return -ENOMEM;
    put_text(c, "calls=");
    put_number(c, pair->calls, ' ');
    put_number(c, nsc_trace_function(c->job->trace, pair->callee)->line, '\n');
    put_number(
        c, pair->caller != NSC_NO_ID ? nsc_trace_function(c->job->trace, pair->caller)->line : 0,
        ' ');
    put_number(c, nsc_clock_span_ns(c->job->clock, pair->ticks), '\n');
    return 0;
}

/* Writes the pairs of one caller, starting with *@next, which is advanced. */
static int put_pairs(struct callgrind *c, uint32_t caller, uint32_t *next)
{
    for (; *next < c->tally.pair_count && c->tally.pairs[*next].caller == caller; ++*next)
        if (put_pair(c, &c->tally.pairs[*next]) != 0)
            return -ENOMEM;
    return 0;
}

static int put_profile(struct callgrind *c)
{
    static const char *const keys[] = {"ob=", "fl=", "fn="};
    const struct nsc_call_pairs *t = &c->tally;
    uint64_t sum_ns = 0;
    uint32_t pair = 0;

    put_text(c, "# callgrind format\nversion: 1\ncreator: nanoscope " NSC_VERSION "\n"
                "positions: line\nevents: ns\n");
    for (uint32_t i = 0; t->functions != NULL && i < c->job->info->function_count; i++) {
        uint64_t ns = nsc_clock_span_ns(c->job->clock, t->functions[i].self_ticks);

        if (t->functions[i].calls == 0)
            continue;
        put_text(c, "\n");
        if (put_function(c, keys, i) != 0)
            return -ENOMEM;
        put_number(c, nsc_trace_function(c->job->trace, i)->line, ' ');
        put_number(c, ns, '\n');
        sum_ns += ns;
        if (put_pairs(c, i, &pair) != 0)
            return -ENOMEM;
    }
    put_text(c, "\nob=???\nfl=???\nfn=(1) (root)\n0 0\n");
    if (put_pairs(c, NSC_NO_ID, &pair) != 0)
        return -ENOMEM;
    put_text(c, "\ntotals: ");
    put_number(c, sum_ns, '\n');
    return 0;
}

static char *cook_name(const char *name, size_t *bytes)
{
    return nsc_names_line(name[0] != '\0' ? name : "(no name)", bytes);
}

static int export_callgrind(struct nsc_export *job, struct nsc_diag *diag)
{
    struct callgrind c = {.job = job};
    int error = nsc_output_create(job->path, job->gzip, &c.out, diag);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = nsc_call_pairs_take(&c.tally, job, i, diag);
    nsc_call_pairs_sort(&c.tally);
    c.named = calloc((size_t)job->info->function_count + 1, sizeof *c.named);
    if (error == 0 && (c.named == NULL || put_profile(&c) != 0))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    nsc_export_note_unmarked(job, "callgrind's format");
    nsc_export_note_left_out(job, "callgrind's format", ~0u);
    nsc_call_pairs_free(&c.tally);
    free(c.named);
    return nsc_export_publish(job, c.out, error, diag);
}

static bool sniff_callgrind(const uint8_t *bytes, size_t count)
{
    static const char start[] = "# callgrind format\n";

    return count >= sizeof start - 1 && memcmp(bytes, start, sizeof start - 1) == 0;
}

static const char *const callgrind_suffixes[] = {".callgrind", NULL};

const struct nsc_exporter nsc_callgrind_exporter = {
    .name = "callgrind",
    .suffixes = callgrind_suffixes,
    .sniff = sniff_callgrind,
    .cook = cook_name,
    .run = export_callgrind,
};
