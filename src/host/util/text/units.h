/*
 * units.h - parse and format durations, sizes and counts.
 *
 * Called by cli/ for options and tables, and by formats/. Does not allocate; independent of the
 * locale.
 */
#ifndef NSC_UTIL_TEXT_UNITS_H
#define NSC_UTIL_TEXT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define NSC_UNITS_MAX 32 /* bytes that any formatted value takes, with its NUL */

/**
 * nsc_units_parse_ns - parse a duration: "10us", "1.5s", "250" (nanoseconds), "2m", "1h".
 * @text: digits, optionally a point and more digits, optionally one of ns us ms s m min h, with
 *        spaces around the unit allowed.
 * @ns: receives the nanoseconds, rounded to the nearest.
 *
 * Returns 0, -EINVAL (not of this form) or -ERANGE (does not fit 64 bits); @ns is untouched on
 * failure.
 */
int nsc_units_parse_ns(const char *text, uint64_t *ns);

/**
 * nsc_units_parse_bytes - parse a size: "4096", "64M", "1.5G", "64MiB", "10kB".
 * @text: as above with one of B K M G T, each optionally followed by B or iB; powers of 1024,
 *        letters of either case.
 * @bytes: receives the bytes, rounded to the nearest.
 *
 * Returns as nsc_units_parse_ns().
 */
int nsc_units_parse_bytes(const char *text, uint64_t *bytes);

/**
 * nsc_units_parse_count - parse a count: "1000", or with one of k M G (powers of 1000).
 * Returns as nsc_units_parse_ns().
 */
int nsc_units_parse_count(const char *text, uint64_t *count);

/* Format a duration: "0 ns", "999 ns", "1.234 us", "12.346 ms", "4294.967 s". Returns @out. */
const char *nsc_units_format_ns(char out[NSC_UNITS_MAX], uint64_t ns);
/* Format a timestamp to the nanosecond, in the form that time options accept: "1.000000250s".
 * Returns @out. */
const char *nsc_units_format_time(char out[NSC_UNITS_MAX], uint64_t ns);
/* Format a size: "512 B", "3.70 MiB". Returns @out. */
const char *nsc_units_format_bytes(char out[NSC_UNITS_MAX], uint64_t bytes);
/* Format a count: "1,234,567". Returns @out. */
const char *nsc_units_format_count(char out[NSC_UNITS_MAX], uint64_t count);
/* As nsc_units_format_count(), for use as a printf argument: nsc_units_count(n).text. */
struct nsc_units_text {
    char text[NSC_UNITS_MAX];
};
static inline struct nsc_units_text nsc_units_count(uint64_t count)
{
    struct nsc_units_text text = {""};

    nsc_units_format_count(text.text, count);
    return text;
}
/* Format @part / @whole as "12.34%"; "-" if @whole is 0. Returns @out. */
const char *nsc_units_format_share(char out[NSC_UNITS_MAX], uint64_t part, uint64_t whole);

/* Format a double with enough digits to read back the same value: "0.1", "1e+100". Returns @out. */
const char *nsc_units_format_double(char out[NSC_UNITS_MAX], double value);

/* Return the plural ending of a regular noun after the number @count: "" or "s". */
static inline const char *nsc_units_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
