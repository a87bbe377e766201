/*
 * units.h - durations, sizes and counts between numbers and the text that people read and type.
 *
 * Called by cli/ for options and tables. Allocates nothing, knows no locale.
 */
#ifndef NSC_UTIL_TEXT_UNITS_H
#define NSC_UTIL_TEXT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NSC_UNITS_MAX 32 /* bytes that any formatted value takes, with its NUL */

/**
 * nsc_units_parse_ns - read a duration: "10us", "1.5s", "250" (nanoseconds), "2m", "1h".
 * @text: digits, optionally a point and more digits, optionally one of ns us ms s m min h, with
 *        spaces around the unit allowed.
 * @ns: receives the nanoseconds, rounded to the nearest.
 *
 * Returns 0, -EINVAL (not of this form) or -ERANGE (does not fit 64 bits); @ns untouched on
 * failure.
 */
int nsc_units_parse_ns(const char *text, uint64_t *ns);

/**
 * nsc_units_parse_bytes - read a size: "4096", "64M", "1.5G", "64MiB", "10kB".
 * @text: as above with one of B K M G T, each optionally followed by B or iB; powers of 1024,
 *        letters of either case.
 * @bytes: receives the bytes, rounded to the nearest.
 *
 * Returns as nsc_units_parse_ns().
 */
int nsc_units_parse_bytes(const char *text, uint64_t *bytes);

/**
 * nsc_units_parse_count - read a plain number, "1000" or with one of k M G (powers of 1000).
 * Returns as nsc_units_parse_ns().
 */
int nsc_units_parse_count(const char *text, uint64_t *count);

/* "0 ns", "999 ns", "1.234 us", "12.346 ms", "4294.967 s". Returns @out. */
const char *nsc_units_format_ns(char out[NSC_UNITS_MAX], uint64_t ns);
/* A point in time to the nanosecond, as the options for times read it: "1.000000250s". Returns
 * @out. */
const char *nsc_units_format_time(char out[NSC_UNITS_MAX], uint64_t ns);
/* "512 B", "3.70 MiB". Returns @out. */
const char *nsc_units_format_bytes(char out[NSC_UNITS_MAX], uint64_t bytes);
/* "1,234,567". Returns @out. */
const char *nsc_units_format_count(char out[NSC_UNITS_MAX], uint64_t count);
/* The same for an argument of printf's kind: nsc_units_count(n).text. */
struct nsc_units_text {
    char text[NSC_UNITS_MAX];
};
static inline struct nsc_units_text nsc_units_count(uint64_t count)
{
    struct nsc_units_text text = {""};

    nsc_units_format_count(text.text, count);
    return text;
}
/* @part of @whole as "12.34%"; "-" if @whole is 0. Returns @out. */
const char *nsc_units_format_share(char out[NSC_UNITS_MAX], uint64_t part, uint64_t whole);

/* "0.1", "1e+100": as many digits as it takes to read the same number back. Returns @out. */
const char *nsc_units_format_double(char out[NSC_UNITS_MAX], double value);

/* The ending of a regular noun behind the number @count. */
static inline const char *nsc_units_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
