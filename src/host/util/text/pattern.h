/*
 * pattern.h - name patterns as people write them: globs, and regular expressions between slashes.
 *
 * Used by filters (record) and reports. Must not print.
 *
 * Glob:    `*` any run of characters, `?` any one, `[abc]`, `[a-z]`, `[!a-z]` one of a set, `\`
 * takes the next character as it is. It must match a whole form of the name. For a C++ function all
 * of these forms count: "void ns::f<int>(int)", "ns::f<int>(int)" and "ns::f<int>". /regex/: POSIX
 * extended; matches anywhere in the full name, anchored with ^ and $.
 */
#ifndef NSC_UTIL_TEXT_PATTERN_H
#define NSC_UTIL_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

struct nsc_pattern; /* one compiled pattern */

/**
 * nsc_pattern_compile - prepare a pattern.
 * @pattern: see above; copied.
 * @out: receives the pattern; release with nsc_pattern_free().
 * Returns 0, -EINVAL (with a @diag that names the fault and its place where known) or -ENOMEM.
 */
int nsc_pattern_compile(const char *pattern, struct nsc_pattern **out, struct nsc_diag *diag);
void nsc_pattern_free(struct nsc_pattern *m);

/* Does the pattern match the (demangled) name? O(pattern * name) for globs. */
bool nsc_pattern_test(const struct nsc_pattern *m, const char *name);
/* The same for a text that is no function's name: a glob must match all of it. */
bool nsc_pattern_test_text(const struct nsc_pattern *m, const char *text);
/* The same for @length bytes of a text; not for regular expressions. */
bool nsc_pattern_test_span(const struct nsc_pattern *m, const char *text, size_t length);
/* The same for a path: a glob must match all of it or all that follows one of its slashes, so that
 * `*.c` and `src/a.c` fit /home/me/src/a.c. */
bool nsc_pattern_test_path(const struct nsc_pattern *m, const char *path);
/* The text that the pattern was made from; owned by @m. */
const char *nsc_pattern_text(const struct nsc_pattern *m);
bool nsc_pattern_is_regex(const struct nsc_pattern *m);

/**
 * nsc_pattern_name_span - the part of a demangled name without return type and parameters.
 * @start, @length: receive the part; for "void ns::f<int>(int) const" that is "ns::f<int>".
 */
void nsc_pattern_name_span(const char *name, size_t *start, size_t *length);

#endif
