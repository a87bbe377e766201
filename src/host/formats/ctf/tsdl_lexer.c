/* tsdl_lexer.c - see tsdl_lexer.h. Source: "The Common Trace Format", version 1.8.3, annex C. */
#include "formats/ctf/tsdl_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nsc_ctf_fail(struct ctf_words *w, int error, const char *what)
{
    if (w->error == 0)
        w->error = nsc_diag_set(w->diag, NSC_DIAG_NO_OFFSET, error, "%s: line %u: %s", w->name,
                                w->line, what);
    w->token = CTF_WORD_END;
    return w->error;
}

void *nsc_ctf_need(struct ctf_words *w, size_t bytes)
{
    void *memory = nsc_ctf_memory(w->trace, bytes);

    if (memory == NULL)
        nsc_ctf_fail(w, ENOMEM, "out of memory");
    return memory;
}

const char *nsc_ctf_keep(struct ctf_words *w, const char *text, size_t bytes)
{
    char *copy = nsc_ctf_need(w, bytes + 1);

    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy != NULL ? copy : "";
}

static void skip_space(struct ctf_words *w)
{
    for (;;) {
        if (*w->at == '\n') {
            w->line++;
            w->at++;
        } else if (isspace((unsigned char)*w->at)) {
            w->at++;
        } else if (w->at[0] == '/' && w->at[1] == '/') {
            w->at += strcspn(w->at, "\n");
        } else if (w->at[0] == '/' && w->at[1] == '*') {
            for (w->at += 2; *w->at != '\0' && (w->at[0] != '*' || w->at[1] != '/'); w->at++)
                w->line += *w->at == '\n';
            w->at += *w->at != '\0' ? 2 : 0;
        } else {
            return;
        }
    }
}

/* Decodes an escape after its backslash: one character, or up to three octal digits. Returns the
 * position after it. */
static const char *unescape(const char *at, char *out)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    const char *found = *at != '\0' ? strchr(from, *at) : NULL;
    unsigned value = 0, digits = 0;

    if (found != NULL) {
        *out = to[found - from];
        return at + 1;
    }
    for (; digits < 3 && *at >= '0' && *at <= '7'; digits++)
        value = value * 8 + (unsigned)(*at++ - '0');
    if (digits > 0) {
        *out = (char)(value != 0 ? value : '?');
        return at;
    }
    *out = *at;
    return *at != '\0' ? at + 1 : at;
}

/* Returns the closing quote of a string, or NULL if there is none. */
static const char *end_of_text(struct ctf_words *w)
{
    const char *at = w->at + 1;

    for (; *at != '"'; at++) {
        at += at[0] == '\\' && at[1] != '\0';
        if (*at == '\0')
            return NULL;
        w->line += *at == '\n';
    }
    return at;
}

static void read_text(struct ctf_words *w)
{
    const char *from = w->at + 1, *end = end_of_text(w);
    char *text = end != NULL ? nsc_ctf_need(w, (size_t)(end - from) + 1) : NULL, *to = text;

    if (text == NULL) {
        nsc_ctf_fail(w, EBADMSG, "a string that does not end");
        return;
    }
    while (from < end) {
        if (*from == '\\')
            from = unescape(from + 1, to++);
        else
            *to++ = *from++;
    }
    w->token = CTF_WORD_TEXT;
    w->text = text;
    w->at = end + 1;
}

static void read_number(struct ctf_words *w)
{
    char *end;

    errno = 0;
    w->number = strtoull(w->at, &end, 0);
    w->token = CTF_WORD_NUMBER;
    if (errno != 0 || end == w->at) {
        nsc_ctf_fail(w, EBADMSG, "a number that is too large");
        return;
    }
    w->at = end + strspn(end, "uUlL");
}

static void read_sign(struct ctf_words *w)
{
    static const struct {
        const char *text;
        int sign;
    } longer[] = {{":=", CTF_SIGN_TYPE}, {"...", CTF_SIGN_RANGE}, {"->", CTF_SIGN_ARROW}};

    w->token = CTF_WORD_SIGN;
    for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++) {
        size_t bytes = strlen(longer[i].text);

        if (strncmp(w->at, longer[i].text, bytes) == 0) {
            w->sign = longer[i].sign;
            w->at += bytes;
            return;
        }
    }
    w->sign = (unsigned char)*w->at++;
}

void nsc_ctf_word(struct ctf_words *w)
{
    if (w->error != 0)
        return;
    skip_space(w);
    if (*w->at == '\0') {
        w->token = CTF_WORD_END;
    } else if (isalpha((unsigned char)*w->at) || *w->at == '_') {
        const char *start = w->at;

        while (isalnum((unsigned char)*w->at) || *w->at == '_')
            w->at++;
        if (w->at - start >= CTF_WORD_BYTES) {
            nsc_ctf_fail(w, ENOTSUP, "a word of more than 4095 bytes");
            return;
        }
        w->token = CTF_WORD_NAME;
        w->text = nsc_ctf_keep(w, start, (size_t)(w->at - start));
    } else if (*w->at == '"') {
        read_text(w);
    } else if (isdigit((unsigned char)*w->at)) {
        read_number(w);
    } else if (w->at[0] == '-' && isdigit((unsigned char)w->at[1])) {
        w->at++;
        read_number(w);
        w->number = 0 - w->number;
    } else {
        read_sign(w);
    }
}

bool nsc_ctf_is_sign(const struct ctf_words *w, int sign)
{
    return w->token == CTF_WORD_SIGN && w->sign == sign;
}

bool nsc_ctf_is_word(const struct ctf_words *w, const char *word)
{
    return w->token == CTF_WORD_NAME && strcmp(w->text, word) == 0;
}

bool nsc_ctf_take_sign(struct ctf_words *w, int sign)
{
    if (!nsc_ctf_is_sign(w, sign))
        return false;
    nsc_ctf_word(w);
    return true;
}

void nsc_ctf_expect(struct ctf_words *w, int sign)
{
    char what[48];

    if (nsc_ctf_take_sign(w, sign) || w->error != 0)
        return;
    snprintf(what, sizeof what, "\"%s%c\" expected", sign == CTF_SIGN_TYPE ? ":" : "",
             sign == CTF_SIGN_TYPE ? '=' : (char)sign);
    nsc_ctf_fail(w, EBADMSG, what);
}

const char *nsc_ctf_take_path(struct ctf_words *w)
{
    char path[CTF_NAME_BYTES];
    size_t used = 0;

    do {
        size_t bytes;

        if (w->token != CTF_WORD_NAME) {
            nsc_ctf_fail(w, EBADMSG, "a name expected");
            return "";
        }
        bytes = strlen(w->text);
        if (used + bytes + 2 > sizeof path) {
            nsc_ctf_fail(w, EBADMSG, "a name that is too long");
            return "";
        }
        if (used > 0)
            path[used++] = '.';
        memcpy(path + used, w->text, bytes);
        used += bytes;
        nsc_ctf_word(w);
    } while (nsc_ctf_take_sign(w, '.') || nsc_ctf_take_sign(w, CTF_SIGN_ARROW));
    return nsc_ctf_keep(w, path, used);
}
