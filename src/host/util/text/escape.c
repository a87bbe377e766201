/*
 * escape.c - see escape.h.
 *
 * Must not interpret text by the locale: a name has the same bytes in every output.
 */
#include "util/text/escape.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Decode the UTF-8 sequence at @s into @cp. Returns its length in bytes, or 0 if it is invalid. */
static size_t decode(const unsigned char *s, uint32_t *cp)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if (length == 1)
        *cp = s[0];
    if (length < 2)
        return length;
    if (s[0] > 0xf4)
        return 0;
    *cp = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *cp = *cp << 6 | (s[i] & 0x3fu);
    }
    if (*cp < smallest[length] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp <= 0xdfff))
        return 0;
    return length;
}

/* Characters that affect the display of other text: controls, separators, direction marks. */
static bool is_harmful(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x61c || cp == 0x200e || cp == 0x200f ||
           (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

static size_t columns_of(uint32_t cp)
{
    int width;

    if (cp < 0x80)
        return 1;
    width = wcwidth((wchar_t)cp);
    return width < 0 ? 1 : (size_t)width;
}

#define SHOWN_MAX 16

/*
 * Escape the next character of @text. @shown receives @bytes bytes, which take @columns terminal
 * columns. Returns the number of bytes of @text consumed.
 */
static size_t next_shown(const unsigned char *text, char shown[SHOWN_MAX], size_t *bytes,
                         size_t *columns)
{
    uint32_t cp = 0;
    size_t length = decode(text, &cp);
    int n;

    if (length > 0 && !is_harmful(cp)) {
        memcpy(shown, text, length);
        *bytes = length;
        *columns = columns_of(cp);
        return length;
    }
    if (length == 1 && (cp == '\n' || cp == '\t' || cp == '\r'))
        n = snprintf(shown, SHOWN_MAX, "\\%c", cp == '\n' ? 'n' : cp == '\t' ? 't' : 'r');
    else if (length > 1)
        n = snprintf(shown, SHOWN_MAX, "\\u%04x", (unsigned)cp);
    else
        n = snprintf(shown, SHOWN_MAX, "\\x%02x", (unsigned)text[0]);
    *bytes = *columns = (size_t)n;
    return length > 0 ? length : 1;
}

static bool is_plain_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c > 0x7e)
            return false;
    }
    return true;
}

size_t nsc_text_put(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = strlen(text), total = 0;

    if (is_plain_ascii(text, length)) {
        fwrite(text, 1, length, out);
        return length;
    }
    while (*at) {
        char shown[SHOWN_MAX];
        size_t bytes, columns;

        at += next_shown(at, shown, &bytes, &columns);
        fwrite(shown, 1, bytes, out);
        total += columns;
    }
    return total;
}

size_t nsc_text_width(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t total = 0;

    while (*at) {
        char shown[SHOWN_MAX];
        size_t bytes, columns;

        at += next_shown(at, shown, &bytes, &columns);
        total += columns;
    }
    return total;
}

void nsc_text_put_csv(FILE *out, const char *text, bool terminal)
{
    size_t length = strlen(text);
    bool quoted =
        strpbrk(text, "\",\r\n") || (length > 0 && (text[0] == ' ' || text[length - 1] == ' '));
    const unsigned char *at = (const unsigned char *)text;

    if (quoted)
        putc('"', out);
    while (*at) {
        char shown[SHOWN_MAX] = {(char)*at};
        size_t bytes = 1, columns;

        at += terminal ? next_shown(at, shown, &bytes, &columns) : 1;
        if (shown[0] == '"')
            putc('"', out);
        fwrite(shown, 1, bytes, out);
    }
    if (quoted)
        putc('"', out);
}

void nsc_text_put_json(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putc('"', out);
    while (*at) {
        uint32_t cp = 0;
        size_t length = decode(at, &cp);

        if (length == 0)
            fputs("\\ufffd", out);
        else if (cp == '"' || cp == '\\')
            fprintf(out, "\\%c", (int)cp);
        else if (is_harmful(cp))
            fprintf(out, "\\u%04x", (unsigned)cp);
        else if (cp == '<' && at[1] == '/')
            fputs("<\\", out);
        else if (cp == '<' && at[1] == '!')
            fputs("\\u003c", out);
        else
            fwrite(at, 1, length, out);
        at += length > 0 ? length : 1;
    }
    putc('"', out);
}

bool nsc_text_is_terminal(FILE *out)
{
    int fd = fileno(out); /* -1: a memory stream */

    return fd >= 0 && isatty(fd);
}

bool nsc_text_wants_colour(FILE *out)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (no_colour && no_colour[0])
        return false;
    return term && strcmp(term, "dumb") != 0 && nsc_text_is_terminal(out);
}

bool nsc_text_wants_unicode(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
