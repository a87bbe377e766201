/* emit_man.c - a manual source as a manual page in roff. */
#include <ctype.h>
#include <string.h>

#include "doc.h"

static void put_char(FILE *out, char c)
{
    if (c == '\\')
        fputs("\\e", out);
    else if (c == '-')
        fputs("\\-", out);
    else
        putc(c, out);
}

/* A paragraph: `code` becomes bold, *emphasis* italic. */
static void put_text(FILE *out, const char *text)
{
    char open = '\0';

    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == open && open != '\0') {
            fputs("\\fR", out);
            open = '\0';
        } else if (open == '\0' && *text == '`') {
            fputs("\\fB", out);
            open = *text;
        } else if (open == '\0' && *text == '*') {
            fputs("\\fI", out);
            open = *text;
        } else {
            put_char(out, *text);
        }
    }
    putc('\n', out);
}

static void put_code(FILE *out, const char *text)
{
    int at_start = 1;

    fputs(".RS 4\n.nf\n", out);
    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        at_start = *text == '\n';
        put_char(out, *text);
    }
    fputs(".fi\n.RE\n", out);
}

static void put_blocks(FILE *out, const struct blocks *blocks, const char *paragraph)
{
    for (size_t i = 0; i < blocks->count; i++) {
        const struct block *b = &blocks->at[i];

        if (b->kind == BLOCK_CODE) {
            fputs(i == 0 ? "" : ".PP\n", out);
            put_code(out, b->text);
        } else {
            fputs(b->kind == BLOCK_ITEM ? ".IP \\(bu 2\n" : i == 0 ? "" : paragraph, out);
            put_text(out, b->text);
        }
    }
}

static void put_option(FILE *out, const struct option *o)
{
    fputs(".TP\n", out);
    if (o->letter != '\0')
        fprintf(out, "\\fB\\-%c\\fR%s", o->letter, o->name != NULL ? ", " : "");
    if (o->name != NULL) {
        fputs("\\fB\\-\\-", out);
        for (const char *c = o->name; *c != '\0'; c++)
            put_char(out, *c);
        fputs("\\fR", out);
    }
    if (o->argument != NULL)
        fprintf(out, " \\fI%s\\fR", o->argument);
    putc('\n', out);
    put_blocks(out, &o->body, ".IP\n");
}

void emit_man(FILE *out, const struct doc *doc, const char *version)
{
    const char *dash = *doc->verb != '\0' ? "-" : "";

    fprintf(out, ".\\\" Made from %s: do not edit.\n", doc->path);
    fputs(".TH \"NANOSCOPE", out);
    fputs(dash, out);
    for (const char *c = doc->verb; *c != '\0'; c++)
        putc(toupper((unsigned char)*c), out);
    fprintf(out, "\" 1 \"\" \"nanoscope %s\" \"nanoscope\"\n.nh\n.ad l\n", version);
    fprintf(out, ".SH NAME\nnanoscope%s%s \\- ", dash, doc->verb);
    put_text(out, doc->summary);
    for (size_t i = 0; i < doc->section_count; i++) {
        const struct section *s = &doc->sections[i];
        /* Where people of manuals look for it; see man-pages(7). */
        const char *title = strcmp(s->title, "Usage") == 0 ? "Synopsis" : s->title;

        fputs(".SH ", out);
        for (const char *c = title; *c != '\0'; c++)
            putc(toupper((unsigned char)*c), out);
        putc('\n', out);
        put_blocks(out, &s->body, ".PP\n");
        for (size_t j = 0; j < s->option_count; j++)
            put_option(out, &s->options[j]);
    }
}
