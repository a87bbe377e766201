/*
 * json_check.h - is a text one JSON value, by RFC 8259 and nothing more lenient? For tests of what
 * we write; no parser.
 */
#ifndef NSC_TESTS_UNIT_RIGS_JSON_CHECK_H
#define NSC_TESTS_UNIT_RIGS_JSON_CHECK_H

#include <stdbool.h>
#include <string.h>

static inline const char *json_value(const char *at, int depth);

static inline const char *json_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static inline bool json_is_hex(const char *at)
{
    return strspn(at, "0123456789abcdefABCDEF") >= 4;
}

/* Behind the quote that ends the string, or NULL. */
static inline const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        unsigned char c = (unsigned char)*at;
        int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;

        if (c < 0x20 || c == 0x7f || (c >= 0x80 && more == 0) || c > 0xf4)
            return NULL;
        for (; more > 0; more--)
            if (((unsigned char)*++at & 0xc0) != 0x80)
                return NULL;
        if (c != '\\')
            continue;
        at++;
        if (*at == 'u' && json_is_hex(at + 1))
            at += 4;
        else if (*at == 0 || strchr("\"\\/bfnrt", *at) == NULL)
            return NULL;
    }
    return at + 1;
}

static inline const char *json_number(const char *at)
{
    size_t digits;

    at += *at == '-';
    digits = strspn(at, "0123456789");
    if (digits == 0 || (*at == '0' && digits > 1))
        return NULL;
    at += digits;
    if (*at == '.') {
        digits = strspn(++at, "0123456789");
        if (digits == 0)
            return NULL;
        at += digits;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        digits = strspn(at, "0123456789");
        at += digits;
    }
    return digits > 0 ? at : NULL;
}

/* The inside of an object or array, up to @end. */
static inline const char *json_group(const char *at, char end, int depth)
{
    at = json_space(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        if (end == '}') {
            at = json_string(at);
            if (at == NULL || *(at = json_space(at)) != ':')
                return NULL;
            at++;
        }
        at = json_value(at, depth + 1);
        if (at == NULL)
            return NULL;
        at = json_space(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
        at = json_space(at + 1);
    }
}

static inline const char *json_value(const char *at, int depth)
{
    static const char *const words[] = {"true", "false", "null"};

    at = json_space(at);
    if (depth > 64)
        return NULL;
    if (*at == '{' || *at == '[')
        return json_group(at, *at == '{' ? '}' : ']', depth);
    if (*at == '"')
        return json_string(at);
    for (int i = 0; i < 3; i++)
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    return json_number(at);
}

static inline bool json_is_valid(const char *text)
{
    const char *end = json_value(text, 0);

    return end != NULL && *json_space(end) == 0;
}

#endif
