/*
 * pattern.h - name patterns of options: globs, and regular expressions between slashes.
 *
 * Used by call filters (record) and reports. Must not print.
 *
 * Glob: `*` is any run of characters, `?` any one character, `[abc]`, `[a-z]` and `[!a-z]` one of a
 * set; `\` quotes the next character. A glob must match the whole name. For a C++ function it may
 * match any of these forms: "void ns::f<int>(int)", "ns::f<int>(int)" and "ns::f<int>".
 *
 * /regex/: POSIX extended. It may match anywhere in the full name; ^ and $ anchor it.
 */
#ifndef NSC_UTIL_TEXT_PATTERN_H
#define NSC_UTIL_TEXT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

struct nsc_pattern; /* one compiled pattern */

/**
 * nsc_pattern_compile - compile a pattern.
 * @pattern: see above; copied.
 * @out: receives the pattern; release with nsc_pattern_free().
 * Returns 0, -EINVAL (@diag names the fault, and its offset where known) or -ENOMEM.
 */
int nsc_pattern_compile(const char *pattern, struct nsc_pattern **out, struct nsc_diag *diag);
void nsc_pattern_free(struct nsc_pattern *m);

/* Return true if the pattern matches a (demangled) function name. O(pattern * name) for globs. */
bool nsc_pattern_test(const struct nsc_pattern *m, const char *name);
/* Match a text that is not a function name: a glob must match all of it. */
bool nsc_pattern_test_text(const struct nsc_pattern *m, const char *text);
/* Match @length bytes of a text. Always false for regular expressions. */
bool nsc_pattern_test_span(const struct nsc_pattern *m, const char *text, size_t length);
/* Match a path: a glob must match all of it, or the whole rest after one of its slashes. So `*.c`
 * and `src/a.c` match /home/me/src/a.c. */
bool nsc_pattern_test_path(const struct nsc_pattern *m, const char *path);
/* Return the text that the pattern was compiled from; owned by @m. */
const char *nsc_pattern_text(const struct nsc_pattern *m);
bool nsc_pattern_is_regex(const struct nsc_pattern *m);

/**
 * nsc_pattern_name_span - find the name proper in a demangled name: no return type, no parameters.
 * @start, @length: receive its position in bytes; "ns::f<int>" in "void ns::f<int>(int) const".
 */
void nsc_pattern_name_span(const char *name, size_t *start, size_t *length);

#endif
