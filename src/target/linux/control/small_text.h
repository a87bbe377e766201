/*
 * small_text.h - string functions for file names and environment variables, without libc. Internal
 * to target/linux.
 */
#ifndef NSC_LINUX_CONTROL_SMALL_TEXT_H
#define NSC_LINUX_CONTROL_SMALL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** nsc_text_append - append @text at @at. Returns the end of the string, or NULL if it does not fit
 * before @end, or if @at is NULL. */
static inline char *nsc_text_append(char *at, const char *end, const char *text)
{
    for (; at != NULL && *text != 0; text++) {
        if (at + 1 < end)
            *at++ = *text;
        else
            at = NULL;
    }
    if (at != NULL)
        *at = 0;
    return at;
}

/** nsc_text_after - return the part of @text after @prefix; NULL if @text does not start with it.
 */
static inline const char *nsc_text_after(const char *text, const char *prefix)
{
    while (*prefix != 0 && *text == *prefix) {
        text++;
        prefix++;
    }
    return *prefix == 0 ? text : NULL;
}

/** nsc_text_number - append @number in decimal. Returns as nsc_text_append(). */
static inline char *nsc_text_number(char *at, const char *end, uint32_t number)
{
    char digits[11];
    char *first = digits + sizeof(digits) - 1;

    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return nsc_text_append(at, end, first);
}

#endif
