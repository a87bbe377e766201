/* categories.c - see categories.h. */
#include "cli/common/categories.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "util/text/escape.h"

#define FILE_BYTES_MAX (1u << 20)

/* Read the whole file. The caller frees @text. Returns 0 or an exit status after a message. */
static int read_file(const char *path, char **text, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    char *read = file != NULL ? malloc(FILE_BYTES_MAX + 1) : NULL;
    int status = 0;

    if (file == NULL)
        return nsc_cli_error("--categories: %s: %s", path, strerror(errno));
    if (read != NULL) {
        *bytes = fread(read, 1, FILE_BYTES_MAX + 1, file);
        if (ferror(file) != 0)
            status = nsc_cli_error("--categories: %s: %s", path, strerror(errno));
        else if (*bytes > FILE_BYTES_MAX)
            status = nsc_cli_error("--categories: %s is longer than 1 MiB: it is no file of rules",
                                   path);
    } else {
        status = nsc_cli_error("out of memory");
    }
    fclose(file);
    if (status == 0)
        *text = read;
    else
        free(read);
    return status;
}

/* Read the file and parse what was read. @path NULL: the built-in rules, without a text. Returns 0,
 * or an exit status after a message, with nothing to free. */
static int read_and_parse(const char *path, char **text, size_t *bytes,
                          struct nsc_category_rules **rules)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int status = 0;

    *text = NULL;
    *bytes = 0;
    if (path != NULL)
        status = read_file(path, text, bytes);
    if (status == 0 && nsc_category_rules_read(*text, *bytes, rules, &diag) != 0) {
        status = nsc_cli_error("--categories: %s: %s", path != NULL ? path : "", diag.message);
        free(*text);
        *text = NULL;
    }
    return status;
}

int nsc_cli_read_rules(const char *path, struct nsc_category_rules **out)
{
    size_t bytes;
    char *text;
    int status = read_and_parse(path, &text, &bytes, out);

    if (status == 0)
        free(text);
    return status;
}

int nsc_cli_sort_functions(const char *path, const struct nsc_trace *t, struct nsc_categories *out)
{
    struct nsc_category_rules *rules;
    int status = nsc_cli_read_rules(path, &rules);

    if (status != 0)
        return status;
    if (nsc_categories_make(rules, t, out) != 0)
        status = nsc_cli_error("out of memory");
    nsc_category_rules_free(rules);
    return status;
}

int nsc_cli_read_rules_text(const char *path, char **text, size_t *bytes)
{
    struct nsc_category_rules *rules;
    int status = read_and_parse(path, text, bytes, &rules);

    if (status == 0)
        nsc_category_rules_free(rules);
    return status;
}

/* Print a text of several lines; its control characters may not reach a terminal. */
static void print_lines(char *text, size_t bytes)
{
    char *line = text, *end;

    text[bytes] = 0;
    for (; *line != 0; line = end) {
        end = line + strcspn(line, "\n");
        if (*end != 0)
            *end++ = 0;
        nsc_text_put(stdout, line);
        putchar('\n');
    }
}

int nsc_cli_print_rules(const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    int status = path != NULL ? nsc_cli_read_rules_text(path, &text, &bytes) : 0;

    if (status != 0)
        return status;
    fputs(nsc_category_ready_rules(), stdout);
    if (path != NULL) {
        fputs("\n# ", stdout);
        nsc_text_put(stdout, path);
        putchar('\n');
        print_lines(text, bytes);
    }
    free(text);
    return 0;
}
