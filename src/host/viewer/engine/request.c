/* request.c - see request.h. Must not depend on specific requests. */
#include "viewer/engine/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode in place up to @end and terminate the text. Returns false for a broken escape or a NUL. */
static bool decode(char *text, const char *end)
{
    char *to = text;

    for (const char *at = text; at < end; at++) {
        int high, low;

        if (*at == '%') {
            high = end - at > 2 ? hex_digit(at[1]) : -1;
            low = high >= 0 ? hex_digit(at[2]) : -1;
            if (low < 0)
                return false;
            *to = (char)(high << 4 | low);
            at += 2;
        } else {
            *to = *at;
            if (*at == '+')
                *to = ' ';
        }
        if (*to++ == '\0')
            return false;
    }
    *to = '\0';
    return true;
}

static int bad_encoding(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                        "the request is not encoded as a URL (%%XX)");
}

static int add_value(struct nsc_request *r, char *name, char *end, struct nsc_diag *diag)
{
    char *equals = memchr(name, '=', (size_t)(end - name));
    char *value = equals != NULL ? equals + 1 : end;

    if (r->count == NSC_REQUEST_VALUES_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "more than %u parameters",
                            NSC_REQUEST_VALUES_MAX);
    if (!decode(value, end) || !decode(name, equals != NULL ? equals : end))
        return bad_encoding(diag);
    r->values[r->count++] = (struct nsc_request_value){.name = name, .value = value};
    return 0;
}

int nsc_request_parse(const char *text, size_t bytes, struct nsc_request *out,
                      struct nsc_diag *diag)
{
    char *copy = malloc(bytes + 1), *end, *at;
    int error = 0;

    if (copy == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for a request");
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    end = copy + bytes;
    at = memchr(copy, '?', bytes);
    out->text = copy;
    out->path = copy;
    out->count = 0;
    if (memchr(copy, '%', at != NULL ? (size_t)(at - copy) : bytes) != NULL ||
        memchr(copy, '\0', bytes) != NULL)
        error = bad_encoding(diag);
    if (at != NULL)
        *at++ = '\0';
    while (error == 0 && at != NULL && at < end) {
        char *next = memchr(at, '&', (size_t)(end - at));
        char *stop = next != NULL ? next : end;

        if (stop > at)
            error = add_value(out, at, stop, diag);
        at = next != NULL ? next + 1 : NULL;
    }
    if (error != 0)
        nsc_request_free(out);
    return error;
}

void nsc_request_free(struct nsc_request *r)
{
    free(r->text);
    r->text = NULL;
    r->count = 0;
}

const char *nsc_request_take(struct nsc_request *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++) {
        struct nsc_request_value *v = &r->values[i];

        if (!v->used && strcmp(v->name, name) == 0) {
            v->used = true;
            return v->value;
        }
    }
    return NULL;
}

const char *nsc_request_left(const struct nsc_request *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->values[i].used)
            return r->values[i].name;
    return NULL;
}
