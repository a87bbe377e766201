/* json_reader.c - see json_reader.h. Source: RFC 8259. */
#include "formats/chrome/json_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 400u /* characters; a double in plain digits has no more */

/* What the grammar allows next. */
enum { VALUE, VALUE_OR_END, KEY_OR_END, COLON, COMMA_OR_END, NOTHING };

void nsc_json_pull_begin(struct nsc_json_pull *p, struct nsc_input *in)
{
    *p = (struct nsc_json_pull){.in = in, .expect = VALUE};
}

void nsc_json_pull_end(struct nsc_json_pull *p)
{
    free(p->text);
    p->text = NULL;
}

uint64_t nsc_json_pull_offset(const struct nsc_json_pull *p)
{
    return nsc_input_offset(p->in) + (uint64_t)(p->at - p->begin);
}

static int wrong(const struct nsc_json_pull *p, const char *what, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: byte %llu: %s",
                        nsc_input_name(p->in), (unsigned long long)nsc_json_pull_offset(p), what);
}

/* ---- Bytes -------------------------------------------------------------------------------- */

/* Makes at least @want bytes available at p->at, fewer only at the end of the input. Returns 0 or
 * -errno. */
static int ensure(struct nsc_json_pull *p, size_t want, struct nsc_diag *diag)
{
    size_t count;
    int error;

    if ((size_t)(p->end - p->at) >= want)
        return 0;
    nsc_input_take(p->in, (size_t)(p->at - p->begin));
    error = nsc_input_need(p->in, want, &p->begin, &count, diag);
    p->at = p->begin;
    p->end = p->begin + count;
    return count > 0 ? 0 : error; /* an error is reported after the bytes before it are read */
}

static int put(struct nsc_json_pull *p, const void *bytes, size_t count)
{
    size_t kept =
        p->bytes + count <= NSC_JSON_PULL_TEXT_MAX ? count : NSC_JSON_PULL_TEXT_MAX - p->bytes;

    if (p->bytes + kept + 1 > p->room) {
        size_t room = (p->bytes + kept + 1) * 2;
        char *bigger = realloc(p->text, room);

        if (bigger == NULL)
            return -ENOMEM;
        p->text = bigger;
        p->room = room;
    }
    memcpy(p->text + p->bytes, bytes, kept);
    p->bytes += kept;
    p->text[p->bytes] = '\0';
    return 0;
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* ---- Strings ------------------------------------------------------------------------------ */

static int put_character(struct nsc_json_pull *p, uint32_t c)
{
    uint8_t utf8[4];
    size_t n = 0;

    if (c < 0x80) {
        utf8[n++] = (uint8_t)c;
    } else if (c < 0x800) {
        utf8[n++] = (uint8_t)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        utf8[n++] = (uint8_t)(0xe0 | c >> 12);
        utf8[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    } else {
        utf8[n++] = (uint8_t)(0xf0 | c >> 18);
        utf8[n++] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
        utf8[n++] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        utf8[n++] = (uint8_t)(0x80 | (c & 0x3f));
    return put(p, utf8, n);
}

/* Returns the value of the four hexadecimal digits at @at (after \u), or -1. */
static int32_t hex_digits(const struct nsc_json_pull *p, const uint8_t *at)
{
    int32_t value = 0;

    if (p->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        uint8_t c = at[i], letter = (uint8_t)(c | 0x20);

        if (c >= '0' && c <= '9')
            value = value * 16 + c - '0';
        else if (letter >= 'a' && letter <= 'f')
            value = value * 16 + letter - 'a' + 10;
        else
            return -1;
    }
    return value;
}

/* Reads the \u escape at p->at, with the second one of a surrogate pair. An unpaired surrogate
 * becomes U+FFFD. */
static int take_unicode(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    int32_t c = hex_digits(p, p->at + 2), low = -1;

    if (c < 0)
        return wrong(p, "four hexadecimal digits must follow \\u", diag);
    p->at += 6;
    if (c >= 0xd800 && c < 0xdc00 && p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u')
        low = hex_digits(p, p->at + 2);
    if (low >= 0xdc00 && low < 0xe000) {
        p->at += 6;
        c = 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
    } else if (c >= 0xd800 && c < 0xe000) {
        c = 0xfffd;
    }
    return put_character(p, (uint32_t)c) == 0 ? 0 : no_memory(diag);
}

static int take_escape(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found;
    int error = ensure(p, 12, diag);

    if (error != 0)
        return error;
    if (p->end - p->at < 2)
        return wrong(p, "the input ends within a string", diag);
    if (p->at[1] == 'u')
        return take_unicode(p, diag);
    found = p->at[1] != '\0' ? strchr(from, p->at[1]) : NULL;
    if (found == NULL)
        return wrong(p, "unknown escape in a string", diag);
    p->at += 2;
    return put(p, &to[found - from], 1) == 0 ? 0 : no_memory(diag);
}

/* Reads a string, from after its opening quote to after its closing quote. */
static int take_string(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    p->bytes = 0;
    if (put(p, "", 0) != 0)
        return no_memory(diag);
    for (;;) {
        const uint8_t *from;
        int error = ensure(p, 1, diag);

        if (error != 0)
            return error;
        if (p->at == p->end)
            return wrong(p, "the input ends within a string", diag);
        for (from = p->at; p->at < p->end && *p->at != '"' && *p->at != '\\'; p->at++)
            ;
        if (put(p, from, (size_t)(p->at - from)) != 0)
            return no_memory(diag);
        if (p->at == p->end)
            continue;
        if (*p->at == '"') {
            p->at++;
            return 0;
        }
        error = take_escape(p, diag);
        if (error != 0)
            return error;
    }
}

/* ---- Tokens ------------------------------------------------------------------------------- */

static int take_number(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    const uint8_t *at;
    int error = ensure(p, NUMBER_MAX + 1, diag);

    if (error != 0)
        return error;
    for (at = p->at; at < p->end && ((*at >= '0' && *at <= '9') || *at == '-' || *at == '+' ||
                                     *at == '.' || *at == 'e' || *at == 'E');
         at++)
        ;
    if ((size_t)(at - p->at) > NUMBER_MAX)
        return wrong(p, "a number of more than 400 digits", diag);
    p->bytes = 0;
    if (put(p, p->at, (size_t)(at - p->at)) != 0)
        return no_memory(diag);
    p->at = at;
    return NSC_JSON_NUMBER;
}

static int take_word(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    static const struct {
        const char *word;
        size_t bytes;
        int token;
    } words[] = {
        {"true", 4, NSC_JSON_TRUE}, {"false", 5, NSC_JSON_FALSE}, {"null", 4, NSC_JSON_NULL}};
    int error = ensure(p, 5, diag);

    if (error != 0)
        return error;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((size_t)(p->end - p->at) >= words[i].bytes &&
            memcmp(p->at, words[i].word, words[i].bytes) == 0) {
            p->at += words[i].bytes;
            return words[i].token;
        }
    }
    return wrong(p, "not JSON", diag);
}

static bool in_array(const struct nsc_json_pull *p)
{
    return (p->arrays[(p->depth - 1) / 8] >> ((p->depth - 1) % 8) & 1) != 0;
}

static int open_bracket(struct nsc_json_pull *p, bool array, struct nsc_diag *diag)
{
    uint8_t bit = (uint8_t)(1u << (p->depth % 8));

    if (p->depth == NSC_JSON_PULL_DEPTH_MAX)
        return wrong(p, "more than 1024 brackets are open", diag);
    if (array)
        p->arrays[p->depth / 8] |= bit;
    else
        p->arrays[p->depth / 8] &= (uint8_t)~bit;
    p->depth++;
    p->expect = array ? VALUE_OR_END : KEY_OR_END;
    p->at++;
    return array ? NSC_JSON_ARRAY : NSC_JSON_OBJECT;
}

static void after_value(struct nsc_json_pull *p)
{
    p->expect = p->depth > 0 ? COMMA_OR_END : NOTHING;
}

static int close_bracket(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    bool array = *p->at == ']';

    if (p->depth == 0 || array != in_array(p) || p->expect == COLON || p->expect == VALUE)
        return wrong(p, "a bracket is closed that is not open", diag);
    p->at++;
    p->depth--;
    after_value(p);
    return array ? NSC_JSON_ARRAY_END : NSC_JSON_OBJECT_END;
}

static int take_value(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    int token;

    if (*p->at == '{' || *p->at == '[')
        return open_bracket(p, *p->at == '[', diag);
    if (*p->at == '"') {
        p->at++;
        token = take_string(p, diag);
        token = token == 0 ? NSC_JSON_STRING : token;
    } else if ((*p->at >= '0' && *p->at <= '9') || *p->at == '-') {
        token = take_number(p, diag);
    } else {
        token = take_word(p, diag);
    }
    after_value(p);
    return token;
}

static int take_key(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    int error;

    if (*p->at != '"')
        return wrong(p, "a key in quotes is missing", diag);
    p->at++;
    error = take_string(p, diag);
    p->expect = COLON;
    return error != 0 ? error : NSC_JSON_KEY;
}

/* Skips blanks, commas and colons. Returns 1 at a token, 0 at the end, or -errno. */
static int find_token(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    for (;; p->at++) {
        int error = ensure(p, 1, diag);

        if (error != 0)
            return error;
        if (p->at == p->end)
            return 0;
        if (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t')
            continue;
        if (p->expect == COLON && *p->at == ':')
            p->expect = VALUE;
        else if (p->expect == COMMA_OR_END && *p->at == ',')
            p->expect = in_array(p) ? VALUE_OR_END : KEY_OR_END;
        else
            return 1;
    }
}

int nsc_json_pull_next(struct nsc_json_pull *p, struct nsc_diag *diag)
{
    int found;

    if (!p->started) {
        p->started = true;
        found = ensure(p, 3, diag);
        if (found != 0)
            return found;
        if (p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0)
            p->at += 3;
    }
    found = find_token(p, diag);
    if (found <= 0)
        return found;
    if (*p->at == ']' || *p->at == '}')
        return close_bracket(p, diag);
    if (p->expect == KEY_OR_END)
        return take_key(p, diag);
    if (p->expect == COLON)
        return wrong(p, "a colon is missing", diag);
    if (p->expect == COMMA_OR_END)
        return wrong(p, "a comma is missing", diag);
    if (p->expect == NOTHING)
        return wrong(p, "something follows the end", diag);
    return take_value(p, diag);
}

int nsc_json_pull_skip(struct nsc_json_pull *p, int token, struct nsc_diag *diag)
{
    uint32_t depth = p->depth;

    if (token != NSC_JSON_OBJECT && token != NSC_JSON_ARRAY)
        return token;
    while (token > 0 && p->depth >= depth)
        token = nsc_json_pull_next(p, diag);
    return token;
}
