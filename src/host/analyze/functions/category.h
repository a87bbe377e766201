/*
 * category.h - categories of functions: rules, and the category of each function of a trace.
 *
 * Called by cli/, viewer/engine/ and query/. A rule is a line of text
 * (docs/man/nanoscope-report.md):
 *
 *     prefix std:: -> C++ standard library
 *     name /^lua[A-Z]_/ -> interpreter
 *     module libc.so* -> libc
 *     file /home/me/app/ui/[a-z]*.cc -> View code
 *
 * The last rule that matches applies. Built-in rules come before those of a file.
 */
#ifndef NSC_ANALYZE_FUNCTIONS_CATEGORY_H
#define NSC_ANALYZE_FUNCTIONS_CATEGORY_H

#include "trace/read/reader.h"

#define NSC_CATEGORY_OTHER     0u /* "other": no rule matches */
#define NSC_CATEGORIES_MAX     256u
#define NSC_CATEGORY_RULES_MAX 4096u

struct nsc_category_rules;

/* The text of the built-in rules. */
const char *nsc_category_ready_rules(void);

/**
 * nsc_category_rules_read - read the built-in rules, followed by those of a text.
 * @text, @bytes: any bytes; NULL: only the built-in rules.
 * @out: receives the rules; free with nsc_category_rules_free().
 * Returns 0, -EINVAL with a @diag that names the line, or -ENOMEM.
 */
int nsc_category_rules_read(const char *text, size_t bytes, struct nsc_category_rules **out,
                            struct nsc_diag *diag);
void nsc_category_rules_free(struct nsc_category_rules *rules);

/* The categories of one trace's functions. */
struct nsc_categories {
    char **names; /* by category; 0 is "other". Other categories without functions are omitted. */
    uint32_t count;
    uint8_t *of_function; /* by function id; an alias has the category of its canonical function */
};

/**
 * nsc_categories_make - find the category of each function.
 * @out: filled on success; free with nsc_categories_free().
 * Categories beyond NSC_CATEGORIES_MAX count as "other". Returns 0 or -ENOMEM.
 */
int nsc_categories_make(const struct nsc_category_rules *rules, const struct nsc_trace *t,
                        struct nsc_categories *out);
void nsc_categories_free(struct nsc_categories *categories);

#endif
