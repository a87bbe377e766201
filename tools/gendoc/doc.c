/* doc.c - reads a manual source; see doc.h for its form. */
#include "doc.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct doc *doc;
    size_t line;
    struct blocks *body; /* where paragraphs go now; NULL before the first section */
    bool joined;         /* the line before belongs to the last block */
};

void doc_die(const char *path, const char *message)
{
    fprintf(stderr, "%s: %s\n", path, message);
    exit(1);
}

static void bad(const struct parser *p, const char *message)
{
    fprintf(stderr, "%s:%zu: %s\n", p->doc->path, p->line, message);
    exit(1);
}

/* The old memory with room for one element more; the element is zero. */
static void *grown(void *old, size_t count, size_t bytes)
{
    char *at = realloc(old, (count + 1) * bytes);

    if (at == NULL)
        doc_die("gendoc", "out of memory");
    memset(at + count * bytes, 0, bytes);
    return at;
}

/* All text of all documents. It lives as long as the program. */
static char text_memory[1 << 21];
static size_t text_used;

static char *text_room(size_t bytes)
{
    char *at = text_memory + text_used;

    if (bytes > sizeof text_memory - text_used)
        doc_die("gendoc", "the manual is larger than text_memory");
    text_used += bytes;
    return at;
}

static char *copied(const char *text, size_t bytes)
{
    char *at = text_room(bytes + 1);

    memcpy(at, text, bytes);
    at[bytes] = '\0';
    return at;
}

/* a + between + b, in new memory. */
static char *appended(const char *a, const char *between, const char *b)
{
    size_t bytes = strlen(a) + strlen(between) + strlen(b) + 1;
    char *at = text_room(bytes);

    snprintf(at, bytes, "%s%s%s", a, between, b);
    return at;
}

void doc_identifier(const char *verb, char *out, size_t bytes)
{
    size_t n = 0;

    for (; *verb != '\0' && n + 1 < bytes; verb++)
        out[n++] = (char)(*verb == '+' ? 'x' : *verb == '-' ? '_' : *verb);
    out[n] = '\0';
}

const struct section *doc_section(const struct doc *doc, const char *title)
{
    for (size_t i = 0; i < doc->section_count; i++)
        if (strcmp(doc->sections[i].title, title) == 0)
            return &doc->sections[i];
    return NULL;
}

static struct section *new_section(struct doc *doc, const char *title)
{
    struct section *s;

    doc->sections = grown(doc->sections, doc->section_count, sizeof *doc->sections);
    s = &doc->sections[doc->section_count++];
    s->title = copied(title, strlen(title));
    return s;
}

static void add_block(struct parser *p, enum block_kind kind, const char *text)
{
    struct blocks *b = p->body;
    struct block *last;

    if (b == NULL)
        bad(p, "text before the first section");
    last = b->count != 0 ? &b->at[b->count - 1] : NULL;
    if (kind == BLOCK_CODE && last != NULL && last->kind == BLOCK_CODE) {
        last->text = appended(last->text, p->joined ? "" : "\n", appended(text, "\n", ""));
    } else if (kind == BLOCK_TEXT && p->joined && last != NULL && last->kind != BLOCK_CODE) {
        last->text = appended(last->text, " ", text);
    } else {
        b->at = grown(b->at, b->count, sizeof *b->at);
        last = &b->at[b->count++];
        last->kind = kind;
        last->text = appended(text, kind == BLOCK_CODE ? "\n" : "", "");
    }
    p->joined = true;
}

/* "-x, --long ARGUMENT", "--long", "-x ARGUMENT" */
static void parse_option(struct parser *p, const char *text)
{
    struct section *s = &p->doc->sections[p->doc->section_count - 1];
    struct option *o;
    size_t bytes;

    s->options = grown(s->options, s->option_count, sizeof *s->options);
    o = &s->options[s->option_count++];
    if (text[0] == '-' && isalnum((unsigned char)text[1])) {
        o->letter = text[1];
        text += 2;
        if (strncmp(text, ", ", 2) == 0)
            text += 2;
    }
    if (strncmp(text, "--", 2) == 0) {
        bytes = strcspn(text, " ");
        o->name = copied(text + 2, bytes - 2);
        text += bytes;
    }
    if (o->letter == '\0' && o->name == NULL)
        bad(p, "an option is written \"### -x, --long ARGUMENT\"");
    if (*text == ' ')
        o->argument = copied(text + 1, strlen(text + 1));
    else if (*text != '\0')
        bad(p, "a space and the argument's name, or nothing, after the option's name");
    p->body = &o->body;
}

/* The list of words in backquotes that follows "Values:", up to the end of that sentence. */
static void note_values(struct option *o)
{
    for (size_t i = 0; i < o->body.count; i++) {
        const char *at = strstr(o->body.at[i].text, "Values:");

        if (at == NULL)
            continue;
        at += strlen("Values:");
        while (*(at += strspn(at, ", \n")) == '`') {
            size_t bytes = strcspn(at + 1, "`");
            char *word = copied(at + 1, bytes);

            o->values = o->values == NULL ? word : appended(o->values, " ", word);
            at += bytes + 1;
            if (*at != '\0')
                at++;
        }
    }
}

/* The file of a name with something in front, beside the one that is read. */
static char *neighbour(const struct parser *p, const char *prefix, const char *name)
{
    const char *slash = strrchr(p->doc->path, '/');
    char *folder = copied(p->doc->path, slash == NULL ? 0 : (size_t)(slash - p->doc->path) + 1);

    return appended(appended(folder, prefix, name), ".md", "");
}

/* Take the options of another verb. */
static void borrow_options(struct parser *p, const char *verb)
{
    const struct section *theirs =
        doc_section(doc_read(neighbour(p, "nanoscope-", verb)), "Options");

    if (theirs == NULL)
        bad(p, "that verb has no options");
    *new_section(p->doc, "Options") = *theirs;
}

static void parse_file(struct parser *p, const char *path);

/* Go on with the options in another file, which is no verb's, then with this one. */
static void include_options(struct parser *p, const char *name)
{
    char *path = p->doc->path;
    size_t line = p->line;

    parse_file(p, neighbour(p, "", name));
    p->doc->path = path;
    p->line = line;
}

static void parse_setting(struct parser *p, char *text)
{
    char *end = strstr(text, " -->");

    if (end == NULL || end[4] != '\0')
        bad(p, "a setting is one line: <!-- ... -->");
    *end = '\0';
    if (strcmp(text, "options end at the first operand") == 0)
        p->doc->flags |= DOC_STOP_AT_OPERAND;
    else if (strcmp(text, "unknown options are operands") == 0)
        p->doc->flags |= DOC_PASS_UNKNOWN;
    else if (strncmp(text, "options as ", 11) == 0)
        borrow_options(p, text + 11);
    else if (strncmp(text, "options from ", 13) == 0)
        include_options(p, text + 13);
    else
        bad(p, "unknown setting");
}

static void parse_title(struct parser *p, const char *text)
{
    const char *dash = strstr(text, " - ");

    if (p->doc->summary != NULL || strncmp(text, "nanoscope", 9) != 0 || dash == NULL)
        bad(p, "the title is \"# nanoscope verb - summary\", once");
    text += 9;
    if (*text == ' ' && text < dash)
        text++;
    p->doc->verb = copied(text, (size_t)(dash - text));
    p->doc->summary = copied(dash + 3, strlen(dash + 3));
}

static void parse_line(struct parser *p, char *line)
{
    if (strncmp(line, "# ", 2) == 0) {
        parse_title(p, line + 2);
    } else if (p->doc->summary == NULL) {
        bad(p, "the first line is \"# nanoscope verb - summary\"");
    } else if (strncmp(line, "## ", 3) == 0) {
        p->body = &new_section(p->doc, line + 3)->body;
    } else if (strncmp(line, "### ", 4) == 0) {
        if (p->body == NULL || doc_section(p->doc, "Options") == NULL ||
            strcmp(p->doc->sections[p->doc->section_count - 1].title, "Options") != 0)
            bad(p, "### is for options, under ## Options");
        parse_option(p, line + 4);
    } else if (strncmp(line, "<!-- ", 5) == 0) {
        parse_setting(p, line + 5);
    } else if (strncmp(line, "    ", 4) == 0) {
        add_block(p, BLOCK_CODE, line + 4);
        return;
    } else if (strncmp(line, "- ", 2) == 0) {
        add_block(p, BLOCK_ITEM, line + 2);
        return;
    } else if (line[0] != '\0' && strchr("#|>", line[0]) != NULL) {
        bad(p, "this piece of Markdown is not part of the form (see tools/gendoc/doc.h)");
    } else if (line[0] != '\0') {
        add_block(p, BLOCK_TEXT, line + strspn(line, " "));
        return;
    }
    p->joined = false;
}

static void parse_file(struct parser *p, const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;

    p->doc->path = copied(path, strlen(path));
    p->line = 0;
    if (in == NULL)
        doc_die(path, "cannot be opened");
    while (getline(&line, &room, in) >= 0) {
        p->line++;
        line[strcspn(line, "\n")] = '\0';
        parse_line(p, line);
    }
    free(line);
    fclose(in);
}

static void check_whole(const struct doc *doc)
{
    static const char *const needed[] = {"Usage", "Examples", "Exit status"};

    if (doc->summary == NULL)
        doc_die(doc->path, "empty");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (doc_section(doc, needed[i]) == NULL) {
            fprintf(stderr, "%s: section \"## %s\" is missing\n", doc->path, needed[i]);
            exit(1);
        }
}

struct doc *doc_read(const char *path)
{
    static struct doc documents[64];
    static size_t document_count;
    struct parser p = {.doc = &documents[document_count++]};

    if (document_count == sizeof documents / sizeof documents[0])
        doc_die(path, "one file too many for documents[]");
    parse_file(&p, path);
    check_whole(p.doc);
    for (size_t i = 0; i < p.doc->section_count; i++)
        for (size_t j = 0; j < p.doc->sections[i].option_count; j++)
            note_values(&p.doc->sections[i].options[j]);
    return p.doc;
}
