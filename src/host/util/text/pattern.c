/* pattern.c - see pattern.h. */
#include "util/text/pattern.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct nsc_pattern {
    char *text;
    bool is_regex;
    regex_t regex;
};

/* Return the end of the set that starts at the '[' @p, one past its ']', or NULL if unclosed. */
static const char *set_end(const char *p)
{
    p++;
    if (*p == '!' || *p == '^')
        p++;
    if (*p == ']') /* a ] in first position is a member */
        p++;
    while (*p != 0 && *p != ']')
        p++;
    return *p == ']' ? p + 1 : NULL;
}

static bool in_set(const char *p, const char *end, char c)
{
    bool negated = p[1] == '!' || p[1] == '^', found = false;
    unsigned char want = (unsigned char)c;

    for (p += negated ? 2 : 1; p < end - 1; p++) {
        unsigned char low = (unsigned char)*p, high = low;

        if (p[1] == '-' && p + 2 < end - 1) {
            high = (unsigned char)p[2];
            p += 2;
        }
        found |= want >= low && want <= high;
    }
    return found != negated;
}

/* Matches one pattern element (not a star) against @c; @next receives the pattern after it. */
static bool match_one(const char *p, char c, const char **next)
{
    if (*p == '[') {
        *next = set_end(p);
        return in_set(p, *next, c);
    }
    if (*p == '\\' && p[1] != 0)
        p++;
    else if (*p == '?') {
        *next = p + 1;
        return true;
    }
    *next = p + 1;
    return *p == c;
}

/* Greedy, backtracks only to the last star: a later star makes earlier ones final. Therefore the
 * cost is not exponential. */
static bool glob(const char *p, const char *name, size_t length)
{
    const char *star = NULL, *next;
    size_t i = 0, star_at = 0;

    while (i < length) {
        if (*p == '*') {
            star = ++p;
            star_at = i;
        } else if (*p != 0 && match_one(p, name[i], &next)) {
            p = next;
            i++;
        } else if (star != NULL) {
            p = star;
            i = ++star_at;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return *p == 0;
}

static int check_glob(const char *pattern, struct nsc_diag *diag)
{
    for (const char *p = pattern; *p != 0; p++) {
        if (*p == '\\' && p[1] == 0)
            return nsc_diag_set(diag, (uint64_t)(p - pattern), EINVAL,
                                "pattern '%s' ends in a backslash; write \\\\ for one", pattern);
        if (*p == '\\')
            p++;
        else if (*p == '[') {
            const char *end = set_end(p);

            if (end == NULL)
                return nsc_diag_set(diag, (uint64_t)(p - pattern), EINVAL,
                                    "pattern '%s' has a [ without its ]; write \\[ for a plain one",
                                    pattern);
            p = end - 1;
        }
    }
    return 0;
}

/*
 * Reject regular expressions with nested or many repetitions: regcomp() expands them without bound.
 * No name needs more repeated groups, or more copies by {n,m}, than these limits. Returns the
 * reason, or NULL if the expression is acceptable.
 */
static const char *too_repetitive(const char *regex)
{
    enum { GROUPS_MOST = 8, COPIES_MOST = 1000 };
    unsigned long groups = 0, copies = 1;
    const char *p;

    for (p = regex; *p != 0; p++) {
        bool repeats = strchr("*+?{", *p) != NULL;

        if (*p == '\\' && p[1] != 0) {
            p++;
            continue;
        }
        if (*p == '[') {
            const char *end = set_end(p);

            p = end != NULL ? end - 1 : p;
            continue;
        }
        /* A ? after a repetition is harmless; Perl uses it for non-greedy matches. */
        if (repeats && *p != '?' && p > regex && strchr("*+?{}", p[-1]) != NULL)
            return "a repetition of a repetition";
        if (repeats && p > regex && p[-1] == ')' && ++groups > GROUPS_MOST)
            return "too many repeated groups";
        if (*p == '{') {
            unsigned long from = strtoul(p + 1, NULL, 10), to = 0;
            const char *comma = p + 1 + strspn(p + 1, "0123456789");

            if (*comma == ',')
                to = strtoul(comma + 1, NULL, 10);
            copies *= 1 + (to > from ? to : from);
            if (from > COPIES_MOST || to > COPIES_MOST || copies > COPIES_MOST)
                return "too many repetitions";
        }
    }
    return NULL;
}

static int compile_regex(struct nsc_pattern *m, const char *pattern, struct nsc_diag *diag)
{
    size_t length = strlen(pattern);
    const char *too_much;
    char *body, why[160];
    int rc;

    if (length < 3)
        return nsc_diag_set(diag, 0, EINVAL, "pattern '%s' is an empty regular expression",
                            pattern);
    body = strndup(pattern + 1, length - 2);
    if (body == NULL)
        return nsc_diag_set(diag, 0, ENOMEM, "out of memory");
    too_much = too_repetitive(body);
    if (too_much != NULL) {
        free(body);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "pattern '%s' has %s in its regular expression", pattern, too_much);
    }
    rc = regcomp(&m->regex, body, REG_EXTENDED | REG_NOSUB);
    free(body);
    if (rc == 0) {
        m->is_regex = true;
        return 0;
    }
    regerror(rc, &m->regex, why, sizeof why);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, rc == REG_ESPACE ? ENOMEM : EINVAL,
                        "pattern '%s' is no valid regular expression: %s", pattern, why);
}

int nsc_pattern_compile(const char *pattern, struct nsc_pattern **out, struct nsc_diag *diag)
{
    size_t length = strlen(pattern);
    struct nsc_pattern *m;
    int rc;

    if (length == 0)
        return nsc_diag_set(diag, 0, EINVAL, "an empty pattern matches no function");
    m = calloc(1, sizeof *m);
    if (m == NULL || (m->text = strdup(pattern)) == NULL) {
        free(m);
        return nsc_diag_set(diag, 0, ENOMEM, "out of memory");
    }
    if (length >= 2 && pattern[0] == '/' && pattern[length - 1] == '/')
        rc = compile_regex(m, pattern, diag);
    else
        rc = check_glob(pattern, diag);
    if (rc < 0) {
        nsc_pattern_free(m);
        return rc;
    }
    *out = m;
    return 0;
}

void nsc_pattern_free(struct nsc_pattern *m)
{
    if (m == NULL)
        return;
    if (m->is_regex)
        regfree(&m->regex);
    free(m->text);
    free(m);
}

const char *nsc_pattern_text(const struct nsc_pattern *m)
{
    return m->text;
}

bool nsc_pattern_is_regex(const struct nsc_pattern *m)
{
    return m->is_regex;
}

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Return the length of the operator symbol at @p, after "operator". The caller skips it, so that
 * its brackets do not count as nesting. */
static size_t operator_signs(const char *p)
{
    if (starts_with(p, "()") || starts_with(p, "[]"))
        return 2;
    return strspn(p, "<>=!-+*/%&|^~,");
}

/* Nesting depth after the character @c. */
static size_t depth_after(char c, size_t depth)
{
    if (c == '<' || c == '(' || c == '{' || c == '[')
        return depth + 1;
    if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0)
        return depth - 1;
    return depth;
}

void nsc_pattern_name_span(const char *name, size_t *start, size_t *length)
{
    size_t from = 0, i = 0, depth = 0;

    while (name[i] != 0) {
        char c = name[i];

        if (starts_with(name + i, "operator") &&
            (i == 0 || name[i - 1] == ':' || name[i - 1] == ' ')) {
            i += 8;
            i += operator_signs(name + i);
            if (name[i] == ' ') { /* conversion or new: the type is part of the name */
                while (name[i] != 0 && name[i] != '(')
                    i++;
            }
            continue;
        }
        if (depth == 0 && starts_with(name + i, "(anonymous namespace)")) {
            i += strlen("(anonymous namespace)");
            continue;
        }
        if (c == '(' && depth == 0)
            break;
        if (c == ' ' && depth == 0)
            from = i + 1;
        depth = depth_after(c, depth);
        i++;
    }
    if (from >= i) /* "f [clone .part.0]" and the like: no return type */
        from = 0;
    *start = from;
    *length = i - from;
}

bool nsc_pattern_test_text(const struct nsc_pattern *m, const char *text)
{
    return m->is_regex ? regexec(&m->regex, text, 0, NULL, 0) == 0
                       : glob(m->text, text, strlen(text));
}

bool nsc_pattern_test_span(const struct nsc_pattern *m, const char *text, size_t length)
{
    return !m->is_regex && glob(m->text, text, length);
}

bool nsc_pattern_test_path(const struct nsc_pattern *m, const char *path)
{
    if (nsc_pattern_test_text(m, path))
        return true;
    while (!m->is_regex && (path = strchr(path, '/')) != NULL)
        if (nsc_pattern_test_text(m, ++path))
            return true;
    return false;
}

bool nsc_pattern_test(const struct nsc_pattern *m, const char *name)
{
    size_t start, length;

    if (nsc_pattern_test_text(m, name))
        return true;
    if (m->is_regex)
        return false;
    nsc_pattern_name_span(name, &start, &length);
    return glob(m->text, name + start, length) ||
           (start > 0 && glob(m->text, name + start, strlen(name + start)));
}
