/*
 * categories.h - the option --categories FILE: rules that assign functions to categories.
 *
 * Called by report, query, open, and by the commands that write a page (export, diff).
 */
#ifndef NSC_CLI_COMMON_CATEGORIES_H
#define NSC_CLI_COMMON_CATEGORIES_H

#include "analyze/functions/category.h"

/**
 * nsc_cli_read_rules - read the built-in rules and those of a file.
 * @path: the file; NULL: the built-in rules only.
 * @out: receives the rules; free them with nsc_category_rules_free().
 * Returns 0 or an exit status after a message.
 */
int nsc_cli_read_rules(const char *path, struct nsc_category_rules **out);

/* Read rules as nsc_cli_read_rules(), and assign the functions of @t to categories. @out: receives
 * the result; free it with nsc_categories_free(). Returns 0 or an exit status after a message. */
int nsc_cli_sort_functions(const char *path, const struct nsc_trace *t, struct nsc_categories *out);

/* Read the text of a file of rules and check it. @text: receives what was checked; the caller frees
 * it. @bytes: receives its length. Returns 0 or an exit status after a message. */
int nsc_cli_read_rules_text(const char *path, char **text, size_t *bytes);

/* Check the rules of a file (NULL: none), then print the built-in rules and those of the file.
 * Returns an exit status, after a message on failure. */
int nsc_cli_print_rules(const char *path);

#endif
