/*
 * doc.h - a command's manual source (docs/man/nanoscope-<verb>.md) in memory.
 *
 * Read once by doc.c, rendered by the emit_*.c files. A build-time program that ends in a moment:
 * nothing is freed, and anything unexpected in the input ends it with "file:line: message".
 *
 * The input is a strict subset of Markdown:
 *   # nanoscope verb - summary
 *   <!-- setting -->                    settings for the parser of the command line, see doc_flags
 *   <!-- options from NAME -->          among options: those that NAME.md holds
 *   ## Usage                            indented lines, one form of the command each
 *   ## Options                          one "### -x, --long ARGUMENT" a piece, then paragraphs
 *   ## Anything else                    paragraphs, "- " items, indented code
 * with `code` and *emphasis* inside paragraphs.
 */
#ifndef NSC_TOOLS_GENDOC_DOC_H
#define NSC_TOOLS_GENDOC_DOC_H

#include <stddef.h>
#include <stdio.h>

enum block_kind { BLOCK_TEXT, BLOCK_ITEM, BLOCK_CODE };

struct block {
    enum block_kind kind;
    char *text; /* TEXT, ITEM: lines joined by spaces. CODE: lines with their newlines */
};

struct blocks {
    struct block *at;
    size_t count;
};

struct option {
    char letter;    /* 0 if there is none */
    char *name;     /* without the dashes; NULL for an option that has a letter only */
    char *argument; /* NULL if it takes none */
    char *values;   /* words that may stand for the argument, separated by spaces, or NULL */
    struct blocks body;
};

struct section {
    char *title;
    struct blocks body;
    struct option *options;
    size_t option_count;
};

enum doc_flags {
    DOC_STOP_AT_OPERAND = 1, /* <!-- options end at the first operand --> */
    DOC_PASS_UNKNOWN = 2,    /* <!-- unknown options are operands --> */
};

struct doc {
    char *path;
    char *verb; /* empty for nanoscope.md itself */
    char *summary;
    unsigned flags;
    struct section *sections;
    size_t section_count;
};

/* Read @path; ends the program if it cannot. <!-- options as VERB --> takes the Options section of
 * the neighbouring file of that verb. */
struct doc *doc_read(const char *path);
/* The section of that title, or NULL. */
const struct section *doc_section(const struct doc *doc, const char *title);
/* Identifier made of a verb: "c++" gives "cxx". @out has room for @bytes. */
void doc_identifier(const char *verb, char *out, size_t bytes);
/* "file: message", then exit 1. */
void doc_die(const char *path, const char *message) __attribute__((noreturn));

void emit_header(FILE *out, const struct doc *doc);
void emit_commands(FILE *out, const struct doc *overview, struct doc *const *docs, size_t count);
void emit_man(FILE *out, const struct doc *doc, const char *version);
void emit_bash(FILE *out, struct doc *const *docs, size_t count);
void emit_zsh(FILE *out, struct doc *const *docs, size_t count);

#endif
