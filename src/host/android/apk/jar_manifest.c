/* jar_manifest.c - see jar_manifest.h. */
#include "android/apk/jar_manifest.h"

#include <errno.h>
#include <strings.h>

#include "android/apk/signature_scheme.h"
#include "util/array.h"
#include "util/sort.h"

/* State of the parser. */
struct reader {
    struct nsc_jar *jar;
    const uint8_t *at, *end;
    char *text;
};

static int wrong(const char *what, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s", what);
}

/* Length of the line at @at without its line end. @break_bytes: receives that of the line end. */
static size_t line_bytes(const uint8_t *at, const uint8_t *end, size_t *break_bytes)
{
    const uint8_t *p = at;

    while (p < end && *p != '\r' && *p != '\n')
        p++;
    *break_bytes = p == end ? 0 : *p == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1;
    return (size_t)(p - at);
}

/* Take the next line, unfolded and NUL terminated; "" for an empty line. Returns NULL if it
 * contains a NUL. Must not be called at the end. */
static char *next_line(struct reader *r)
{
    char *line = r->text;
    size_t n, over;

    do {
        bool more = r->text != line;

        n = line_bytes(r->at, r->end, &over);
        if (memchr(r->at, 0, n) != NULL)
            return NULL;
        memcpy(r->text, r->at + more, n - more);
        r->text += n - more;
        r->at += n + over;
    } while (r->text != line && r->at < r->end && *r->at == ' ');
    *r->text++ = 0;
    return line;
}

/* Find the hash of a key like "SHA-256-Digest" or "SHA-256-Digest-Manifest". */
static bool which_hash(const char *key, const char *ending, unsigned *hash)
{
    static const char *const names[] = {"SHA1", "SHA-256", "SHA-512", "SHA-1"};

    for (unsigned i = 0; i < 4; i++) {
        size_t n = strlen(names[i]);

        if (strncasecmp(key, names[i], n) == 0 && strcasecmp(key + n, ending) == 0) {
            *hash = i == 3 ? NSC_CRYPTO_SHA1 : i;
            return true;
        }
    }
    return false;
}

static int take_attribute(struct nsc_jar *jar, struct nsc_jar_section *s, char *line,
                          struct nsc_diag *diag)
{
    char *colon = strstr(line, ": ");
    bool first = s == jar->sections;
    unsigned hash;

    if (colon == NULL)
        return wrong("a line has no colon", diag);
    *colon = 0;
    if (strcasecmp(line, "Name") == 0) {
        if (first || s->name != NULL)
            return wrong("a name where none may be", diag);
        s->name = colon + 2;
    } else if (!first && s->name == NULL) {
        return wrong("a section does not begin with a name", diag);
    } else if (which_hash(line, first ? "-Digest-Manifest" : "-Digest", &hash)) {
        s->digests[hash] = colon + 2;
    } else if (first && strcasecmp(line, "X-Android-APK-Signed") == 0) {
        jar->schemes = colon + 2;
    }
    return 0;
}

static int read_section(struct reader *r, struct nsc_diag *diag)
{
    struct nsc_jar *jar = r->jar;
    struct nsc_jar_section *bigger, *s;
    int error = 0;

    bigger = nsc_array_grow(jar->sections, &jar->room, jar->count, sizeof *bigger);
    if (bigger == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    jar->sections = bigger;
    s = &bigger[jar->count++];
    *s = (struct nsc_jar_section){.at = r->at};
    while (error == 0 && r->at < r->end) {
        char *line = next_line(r);

        if (line == NULL)
            return wrong("a line holds a NUL", diag);
        if (line[0] == 0)
            break;
        error = take_attribute(jar, s, line, diag);
    }
    s->bytes = (size_t)(r->at - s->at);
    return error;
}

/* Skip empty lines between sections: they belong to none. */
static void skip_empty(struct reader *r)
{
    size_t over;

    while (r->at < r->end && line_bytes(r->at, r->end, &over) == 0)
        r->at += over;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct nsc_jar_section *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    (void)context;
    return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

static int sort(struct nsc_jar *jar, struct nsc_diag *diag)
{
    nsc_sort(jar->sections + 1, jar->count - 1, sizeof *jar->sections, compare, NULL);
    for (uint32_t i = 2; i < jar->count; i++)
        if (strcmp(jar->sections[i - 1].name, jar->sections[i].name) == 0)
            return wrong("an entry has two sections", diag);
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is freed with the jar */
int nsc_jar_parse(uint8_t *raw, size_t bytes, struct nsc_jar *out, struct nsc_diag *diag)
{
    struct reader r = {.jar = out, .at = raw, .end = raw + bytes};
    int error;

    *out = (struct nsc_jar){.raw = raw, .bytes = bytes};
    /* A line's NUL replaces its line end; the last line may have none. */
    out->text = r.text = malloc(bytes + 2);
    if (r.text == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = read_section(&r, diag);
    if (error == 0)
        out->sections[0].name = "";
    for (skip_empty(&r); error == 0 && r.at < r.end; skip_empty(&r))
        error = read_section(&r, diag);
    return error == 0 ? sort(out, diag) : error;
}

void nsc_jar_free(struct nsc_jar *jar)
{
    free(jar->raw);
    free(jar->text);
    free(jar->sections);
    *jar = (struct nsc_jar){0};
}

const struct nsc_jar_section *nsc_jar_find(const struct nsc_jar *jar, const char *name)
{
    uint32_t low = 1, high = jar->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(jar->sections[middle].name, name);

        if (order == 0)
            return &jar->sections[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool nsc_jar_has_digest(const struct nsc_jar_section *s)
{
    return s->digests[0] != NULL || s->digests[1] != NULL || s->digests[2] != NULL;
}

enum nsc_crypto_hash nsc_jar_best(const struct nsc_jar_section *s)
{
    return s->digests[NSC_CRYPTO_SHA512] != NULL   ? NSC_CRYPTO_SHA512
           : s->digests[NSC_CRYPTO_SHA256] != NULL ? NSC_CRYPTO_SHA256
                                                   : NSC_CRYPTO_SHA1;
}

bool nsc_jar_matches(const struct nsc_jar_section *s, const void *data, size_t bytes)
{
    enum nsc_crypto_hash best = nsc_jar_best(s);
    char digest[NSC_SCHEME_DIGEST_TEXT];

    return s->digests[best] != NULL && nsc_scheme_digest_text(best, data, bytes, digest) == 0 &&
           strcmp(digest, s->digests[best]) == 0;
}
