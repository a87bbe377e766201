/* emit_c.c - a command's options as C: ids for its own file, tables and help text for main.c. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "doc.h"

#define HELP_COLUMNS 80
#define HELP_INDENT  24 /* column at which an option's text begins */

/* Upper case identifier of an option: its long name, or its letter. */
static void option_identifier(const struct option *o, char *out, size_t bytes)
{
    const char letter[2] = {o->letter, '\0'};

    doc_identifier(o->name != NULL ? o->name : letter, out, bytes);
    for (; *out != '\0'; out++)
        *out = (char)toupper((unsigned char)*out);
}

void emit_header(FILE *out, const struct doc *doc)
{
    const struct section *s = doc_section(doc, "Options");
    char verb[64], upper[64], name[64];

    doc_identifier(doc->verb, verb, sizeof verb);
    doc_identifier(doc->verb, upper, sizeof upper);
    for (char *c = upper; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    fprintf(out, "/* Made from %s: do not edit. */\n", doc->path);
    fprintf(out, "#ifndef NSC_CLI_%s_OPTIONS_H\n#define NSC_CLI_%s_OPTIONS_H\n\n", upper, upper);
    if (s != NULL && s->option_count != 0) {
        fprintf(out, "/* Option ids, for a switch: -Wswitch-enum finds the one not handled. */\n");
        fprintf(out, "enum nsc_%s_option {\n", verb);
        for (size_t i = 0; i < s->option_count; i++) {
            option_identifier(&s->options[i], name, sizeof name);
            fprintf(out, "    NSC_%s_OPT_%s = %zu,\n", upper, name, i + 1);
        }
        fprintf(out, "};\n\n");
    }
    fprintf(out, "struct nsc_cli_args;\nint nsc_cmd_%s(const struct nsc_cli_args *args);\n\n",
            verb);
    fprintf(out, "#endif\n");
}

/* One line of help as an element of a C array of strings. */
static void put_line(FILE *out, const char *line, size_t bytes)
{
    while (bytes != 0 && line[bytes - 1] == ' ')
        bytes--;
    fputs("    \"", out);
    for (size_t i = 0; i < bytes; i++) {
        if (line[i] == '"' || line[i] == '\\')
            putc('\\', out);
        putc(line[i], out);
    }
    fputs("\",\n", out);
}

/* Wrap @text, without its markup, from @indent on; @head stands in the first line's indent. */
static void put_text(FILE *out, const char *head, const char *text, size_t indent)
{
    char line[HELP_COLUMNS + 256];
    size_t column = strlen(head), start;
    bool code = false; /* between backquotes, where * is itself */

    memset(line, ' ', sizeof line);
    memcpy(line, head, column);
    if (column + 2 > indent && column != 0) {
        put_line(out, line, column);
        memset(line, ' ', sizeof line);
    }
    column = start = indent;
    while (*text != '\0') {
        char word[128];
        size_t n = 0;

        for (; *text != '\0' && *text != ' ' && n < sizeof word; text++) {
            if (*text == '`')
                code = !code;
            else if (code || *text != '*')
                word[n++] = *text;
        }
        text += strspn(text, " ");
        if (column != start && column + 1 + n > HELP_COLUMNS) {
            put_line(out, line, column);
            memset(line, ' ', sizeof line);
            column = indent;
        }
        if (column != start)
            column++;
        memcpy(line + column, word, n);
        column += n;
    }
    put_line(out, line, column);
}

/* Lines of @text as they are; @first stands before the first, @indent before the others. */
static void put_code(FILE *out, const char *text, const char *first, const char *indent)
{
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        char line[512];
        int n = snprintf(line, sizeof line, "%s%.*s", first, (int)bytes, text);

        put_line(out, line, strlen(line) < (size_t)n ? strlen(line) : (size_t)n);
        text += bytes + (text[bytes] == '\n');
        first = indent;
    }
}

static void put_option(FILE *out, const struct option *o)
{
    char head[160] = "  ", letter[4] = "";

    if (o->letter != '\0')
        snprintf(letter, sizeof letter, "-%c%c", o->letter, o->name != NULL ? ',' : '\0');
    snprintf(head, sizeof head, o->name != NULL ? "  %-3s %s%s%s%s" : "  %s%s%s%s%s", letter,
             o->name != NULL ? "--" : "", o->name != NULL ? o->name : "",
             o->argument != NULL ? " " : "", o->argument != NULL ? o->argument : "");
    for (size_t i = 0; i < o->body.count; i++)
        if (i == 0 || strncmp(o->body.at[i].text, "Values:", 7) == 0)
            put_text(out, i == 0 ? head : "", o->body.at[i].text, HELP_INDENT);
}

static void put_help(FILE *out, const struct doc *doc)
{
    const struct section *usage = doc_section(doc, "Usage");
    const struct section *options = doc_section(doc, "Options");
    const struct section *examples = doc_section(doc, "Examples");

    for (size_t i = 0; i < usage->body.count; i++)
        put_code(out, usage->body.at[i].text, i == 0 ? "usage: " : "       ", "       ");
    put_line(out, "", 0);
    put_text(out, "", doc->summary, 0);
    put_line(out, "", 0);
    put_line(out, "options:", 8);
    for (size_t i = 0; options != NULL && i < options->option_count; i++)
        put_option(out, &options->options[i]);
    put_text(out, "      --help", "this text", HELP_INDENT);
    put_line(out, "", 0);
    put_line(out, "examples:", 9);
    for (size_t i = 0; i < examples->body.count; i++) {
        const struct block *b = &examples->body.at[i];

        if (b->kind == BLOCK_CODE)
            put_code(out, b->text, "    ", "    ");
        else
            put_text(out, "", b->text, 2);
    }
}

static void emit_command(FILE *out, const struct doc *doc)
{
    const struct section *s = doc_section(doc, "Options");
    char verb[64];

    doc_identifier(doc->verb, verb, sizeof verb);
    fprintf(out, "static const char *const help_%s[] = {\n", verb);
    put_help(out, doc);
    fprintf(out, "    NULL,\n};\n\nstatic const struct nsc_cli_option options_%s[] = {\n", verb);
    for (size_t i = 0; s != NULL && i < s->option_count; i++) {
        const struct option *o = &s->options[i];

        fprintf(out, "    {%zu, ", i + 1);
        fprintf(out, o->letter != '\0' ? "'%c', " : "0, ", o->letter);
        fprintf(out, o->name != NULL ? "\"%s\", " : "NULL, ", o->name);
        fprintf(out, o->argument != NULL ? "\"%s\"},\n" : "NULL},\n", o->argument);
    }
    fprintf(out, "    {0, 0, NULL, NULL},\n};\n\n");
}

static const struct doc *find(struct doc *const *docs, size_t count, const char *verb)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(docs[i]->verb, verb) == 0)
            return docs[i];
    return NULL;
}

/* The overview's "## Commands" lists groups (paragraphs) and verbs (items), in the order shown. */
static void put_overview(FILE *out, const struct doc *overview, struct doc *const *docs,
                         size_t count)
{
    const struct section *s = doc_section(overview, "Commands");
    const char *group = NULL; /* heading that waits for its first verb */

    fprintf(out, "const char *const nsc_cli_overview[] = {\n");
    put_line(out, "usage: nanoscope COMMAND [options] ...", 38);
    put_line(out, "", 0);
    put_text(out, "", overview->summary, 0);
    for (size_t i = 0; i < s->body.count; i++) {
        const struct block *b = &s->body.at[i];
        const struct doc *doc = b->kind == BLOCK_ITEM ? find(docs, count, b->text) : NULL;
        char head[64];

        if (b->kind == BLOCK_TEXT) {
            group = b->text;
        } else if (doc != NULL) {
            if (group != NULL) {
                put_line(out, "", 0);
                put_text(out, "", group, 0);
                group = NULL;
            }
            snprintf(head, sizeof head, "  %s", doc->verb);
            put_text(out, head, doc->summary, 14);
        }
    }
    put_line(out, "", 0);
    put_text(out, "", "nanoscope COMMAND --help explains a command, man nanoscope all of it.", 0);
    fprintf(out, "    NULL,\n};\n\n");
}

void emit_commands(FILE *out, const struct doc *overview, struct doc *const *docs, size_t count)
{
    const struct section *s = doc_section(overview, "Commands");
    char verb[64];

    if (s == NULL)
        doc_die(overview->path, "section \"## Commands\" is missing");
    fprintf(out, "/* Made from docs/man: do not edit. */\n#include \"cli/command.h\"\n");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "#include \"cli/%s_options.h\"\n", docs[i]->verb);
    putc('\n', out);
    for (size_t i = 0; i < count; i++) {
        size_t listed = 0;

        for (size_t j = 0; j < s->body.count; j++)
            listed +=
                s->body.at[j].kind == BLOCK_ITEM && strcmp(s->body.at[j].text, docs[i]->verb) == 0;
        if (listed != 1)
            doc_die(docs[i]->path,
                    "its verb must stand once under \"## Commands\" of nanoscope.md");
        emit_command(out, docs[i]);
    }
    put_overview(out, overview, docs, count);
    fprintf(out, "const struct nsc_cli_command nsc_cli_commands[] = {\n");
    for (size_t i = 0; i < count; i++) {
        doc_identifier(docs[i]->verb, verb, sizeof verb);
        fprintf(out, "    {\"%s\", help_%s, options_%s, %uu, nsc_cmd_%s},\n", docs[i]->verb, verb,
                verb, docs[i]->flags, verb);
    }
    fprintf(out, "    {NULL, NULL, NULL, 0, NULL},\n};\n");
}
