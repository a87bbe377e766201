/* call_sites.c - see call_sites.h. */
#include "android/instrument/call_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/instrument/method_filter.h"
#include "util/hash.h"

/* ---- Hash table from texts to numbers ---------------------------------------------------------
 */

struct entry {
    char *text; /* NULL: free */
    uint32_t value;
};

struct texts {
    struct entry *at;
    uint32_t count, slots; /* slots is a power of two, count <= slots / 2 */
};

static struct entry *slot_of(const struct texts *t, const char *text)
{
    uint32_t i = (uint32_t)nsc_hash_bytes(nsc_hash_seed(), text, strlen(text));

    for (;; i++) {
        struct entry *e = &t->at[i & (t->slots - 1)];

        if (e->text == NULL || strcmp(e->text, text) == 0)
            return e;
    }
}

static int grow(struct texts *t)
{
    struct texts bigger = {.count = t->count, .slots = t->slots == 0 ? 256 : t->slots * 2};

    if (t->slots > UINT32_MAX / 4)
        return -ENOMEM;
    bigger.at = calloc(bigger.slots, sizeof *bigger.at);
    if (bigger.at == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->slots; i++)
        if (t->at[i].text != NULL)
            *slot_of(&bigger, t->at[i].text) = t->at[i];
    free(t->at);
    *t = bigger;
    return 0;
}

/* Find the entry of @text, or add it with the value 0. Returns NULL if out of memory. */
static struct entry *put(struct texts *t, const char *text)
{
    struct entry *e;

    if (t->count >= t->slots / 2 && grow(t) != 0)
        return NULL;
    e = slot_of(t, text);
    if (e->text == NULL) {
        e->text = strdup(text);
        if (e->text == NULL)
            return NULL;
        e->value = 0;
        t->count++;
    }
    return e;
}

static bool has(const struct texts *t, const char *text)
{
    return t->slots > 0 && slot_of(t, text)->text != NULL;
}

static void texts_free(struct texts *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        free(t->at[i].text);
    free(t->at);
}

/* ---- Calls ------------------------------------------------------------------------------------
 */

struct nsc_instrument_calls {
    const struct nsc_instrument_patterns *patterns;
    struct texts own;    /* descriptors of the app's classes */
    struct texts called; /* signatures and their ids */
};

struct nsc_instrument_calls *nsc_instrument_calls_new(
    const struct nsc_instrument_patterns *patterns)
{
    struct nsc_instrument_calls *calls = calloc(1, sizeof *calls);

    if (calls != NULL)
        calls->patterns = patterns;
    return calls;
}

void nsc_instrument_calls_free(struct nsc_instrument_calls *calls)
{
    if (calls == NULL)
        return;
    texts_free(&calls->own);
    texts_free(&calls->called);
    free(calls);
}

int nsc_instrument_calls_own(struct nsc_instrument_calls *calls, const struct nsc_dex *dex)
{
    for (uint32_t i = 0; i < dex->class_count; i++)
        if (put(&calls->own, nsc_dex_descriptor(dex, dex->classes[i].type)) == NULL)
            return -ENOMEM;
    return 0;
}

/* Scratch texts of one method. */
struct scratch {
    struct nsc_buffer signature, class_name;
};

static int id_of(struct nsc_instrument_calls *calls, const struct nsc_dex *dex, uint32_t method,
                 struct nsc_methods_writer *methods, struct scratch *s, uint32_t *id)
{
    const char *holder = nsc_dex_descriptor(dex, dex->methods[method].holder);
    const char *signature;
    struct entry *e;

    *id = 0;
    /* An array's clone() is not a call of a real method. */
    if (*holder != 'L' || has(&calls->own, holder))
        return 0;
    s->signature.used = 0;
    nsc_dex_pretty(dex, method, &s->signature);
    nsc_buffer_bytes(&s->signature, "", 1);
    if (s->signature.failed)
        return -ENOMEM;
    signature = (const char *)s->signature.data;
    nsc_instrument_class_of(signature, &s->class_name);
    if (s->class_name.failed)
        return -ENOMEM; /* NOLINT(clang-analyzer-unix.Malloc): @s is the caller's */
    if (!nsc_instrument_match(calls->patterns, (const char *)s->class_name.data, signature))
        return 0;
    e = put(&calls->called, signature);
    if (e == NULL)
        return -ENOMEM;
    if (e->value == 0)
        e->value = nsc_methods_writer_add(methods, signature, NULL, 0);
    *id = e->value;
    return 0;
}

int nsc_instrument_calls_ids(struct nsc_instrument_calls *calls, const struct nsc_dex *dex,
                             struct nsc_methods_writer *methods, uint32_t **out)
{
    uint32_t *ids = calloc((size_t)dex->method_count + 1, sizeof *ids);
    struct scratch scratch = {0};
    bool any = false;
    int error = ids == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < dex->method_count && error == 0; i++) {
        error = id_of(calls, dex, i, methods, &scratch, &ids[i]);
        any |= ids[i] != 0;
    }
    nsc_buffer_free(&scratch.signature);
    nsc_buffer_free(&scratch.class_name);
    if (error != 0 || !any) {
        free(ids);
        ids = NULL;
    }
    if (error == 0)
        *out = ids;
    return error;
}

uint32_t nsc_instrument_calls_count(const struct nsc_instrument_calls *calls)
{
    return calls->called.count;
}
