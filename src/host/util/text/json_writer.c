/*
 * json_writer.c - the streaming JSON writer; see json_writer.h.
 *
 * Must not allocate.
 */
#include "util/text/json_writer.h"

#include <inttypes.h>
#include <math.h>

#include "util/text/escape.h"
#include "util/text/units.h"

static void indent(struct nsc_json *j)
{
    if (j->compact)
        return;
    putc('\n', j->out);
    for (unsigned i = 0; i < j->depth; i++)
        fputs("  ", j->out);
}

/* Write what precedes a value: a comma unless it is the first of its group, and its key. */
static void lead_in(struct nsc_json *j, const char *key)
{
    if (j->has_siblings)
        putc(',', j->out);
    if (j->depth > 0)
        indent(j);
    if (key) {
        nsc_text_put_json(j->out, key);
        fputs(j->compact ? ":" : ": ", j->out);
    }
    j->has_siblings = true;
}

static void open_group(struct nsc_json *j, const char *key, char mark)
{
    lead_in(j, key);
    putc(mark, j->out);
    j->depth++;
    j->has_siblings = false;
}

static void close_group(struct nsc_json *j, char mark)
{
    j->depth--;
    if (j->has_siblings)
        indent(j);
    putc(mark, j->out);
    j->has_siblings = true;
}

void nsc_json_begin(struct nsc_json *j, FILE *out, bool compact)
{
    *j = (struct nsc_json){.out = out, .compact = compact};
    nsc_json_open_object(j, NULL);
}

void nsc_json_end(struct nsc_json *j)
{
    nsc_json_close_object(j);
    putc('\n', j->out);
}

void nsc_json_open_object(struct nsc_json *j, const char *key)
{
    open_group(j, key, '{');
}

void nsc_json_close_object(struct nsc_json *j)
{
    close_group(j, '}');
}

void nsc_json_open_array(struct nsc_json *j, const char *key)
{
    open_group(j, key, '[');
}

void nsc_json_close_array(struct nsc_json *j)
{
    close_group(j, ']');
}

void nsc_json_text(struct nsc_json *j, const char *key, const char *value)
{
    if (value == NULL) {
        nsc_json_null(j, key);
        return;
    }
    lead_in(j, key);
    nsc_text_put_json(j->out, value);
}

void nsc_json_u64(struct nsc_json *j, const char *key, uint64_t value)
{
    lead_in(j, key);
    fprintf(j->out, "%" PRIu64, value);
}

void nsc_json_u64_or_null(struct nsc_json *j, const char *key, bool known, uint64_t value)
{
    if (known)
        nsc_json_u64(j, key, value);
    else
        nsc_json_null(j, key);
}

void nsc_json_i64(struct nsc_json *j, const char *key, int64_t value)
{
    lead_in(j, key);
    fprintf(j->out, "%" PRId64, value);
}

void nsc_json_bool(struct nsc_json *j, const char *key, bool value)
{
    lead_in(j, key);
    fputs(value ? "true" : "false", j->out);
}

void nsc_json_null(struct nsc_json *j, const char *key)
{
    lead_in(j, key);
    fputs("null", j->out);
}

void nsc_json_real(struct nsc_json *j, const char *key, double value, int decimals)
{
    if (!isfinite(value)) {
        nsc_json_null(j, key);
        return;
    }
    lead_in(j, key);
    fprintf(j->out, "%.*f", decimals, value);
}

void nsc_json_double(struct nsc_json *j, const char *key, double value)
{
    char text[NSC_UNITS_MAX];

    if (!isfinite(value)) {
        nsc_json_null(j, key);
        return;
    }
    lead_in(j, key);
    fputs(nsc_units_format_double(text, value), j->out);
}
