/*
 * categories.h - the option --categories FILE of report, query, open and whatever writes a page:
 * rules that sort functions.
 */
#ifndef NSC_CLI_COMMON_CATEGORIES_H
#define NSC_CLI_COMMON_CATEGORIES_H

#include "analyze/functions/category.h"

/**
 * nsc_cli_read_rules - the ready rules and those of a file.
 * @path: NULL: the ready ones alone.
 * Returns 0 or an exit status after a message. nsc_category_rules_free() frees them.
 */
int nsc_cli_read_rules(const char *path, struct nsc_category_rules **out);

/* The same, and what they say of a trace: nsc_categories_free() frees that. */
int nsc_cli_sort_functions(const char *path, const struct nsc_trace *t, struct nsc_categories *out);

/* The text of a file, once its rules are found right; free() it. Returns 0 or an exit status after
 * a message. */
int nsc_cli_read_rules_text(const char *path, char **text, size_t *bytes);

/* Print the ready rules and, behind them, those of a file (NULL: none), once they are found right.
 * Returns an exit status. */
int nsc_cli_print_rules(const char *path);

#endif
