/*
 * units.c - see units.h. Must not depend on the locale: the decimal separator is always a point.
 */
#include "util/text/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t scale;
};

static const struct unit duration_units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", 60000000000},
    {"min", 60000000000},
    {"h", 3600000000000},
    {NULL, 0},
};

static const struct unit byte_units[] = {
    {"", 1},
    {"B", 1},
    {"K", 1ull << 10},
    {"KB", 1ull << 10},
    {"KiB", 1ull << 10},
    {"M", 1ull << 20},
    {"MB", 1ull << 20},
    {"MiB", 1ull << 20},
    {"G", 1ull << 30},
    {"GB", 1ull << 30},
    {"GiB", 1ull << 30},
    {"T", 1ull << 40},
    {"TB", 1ull << 40},
    {"TiB", 1ull << 40},
    {NULL, 0},
};

static const struct unit count_units[] = {
    {"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0},
};

/* Further digits after the point do not change the 64-bit result. */
#define FRACTION_DIGITS 12

static const char *parse_digits(const char *at, uint64_t *value, bool *overflow)
{
    for (; isdigit((unsigned char)*at); at++) {
        if (__builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*at - '0'), value))
            *overflow = true;
    }
    return at;
}

static const char *parse_fraction(const char *at, double *fraction)
{
    double place = 0.1;
    int digits = 0;

    for (; isdigit((unsigned char)*at); at++, digits++) {
        if (digits < FRACTION_DIGITS)
            *fraction += place * (*at - '0');
        place /= 10;
    }
    return at;
}

static uint64_t find_unit(const struct unit *units, bool any_case, const char *at)
{
    size_t length;

    while (*at == ' ')
        at++;
    length = strlen(at);
    while (length > 0 && at[length - 1] == ' ')
        length--;
    for (; units->name; units++) {
        if (strlen(units->name) != length)
            continue;
        if (any_case ? strncasecmp(units->name, at, length) == 0
                     : strncmp(units->name, at, length) == 0)
            return units->scale;
    }
    return 0;
}

static int parse(const struct unit *units, bool any_case, const char *text, uint64_t *out)
{
    uint64_t whole = 0, scale, part;
    double fraction = 0;
    bool overflow = false;
    const char *at = text;

    while (*at == ' ')
        at++;
    if (!isdigit((unsigned char)*at))
        return -EINVAL;
    at = parse_digits(at, &whole, &overflow);
    if (*at == '.') {
        if (!isdigit((unsigned char)at[1]))
            return -EINVAL;
        at = parse_fraction(at + 1, &fraction);
    }
    scale = find_unit(units, any_case, at);
    if (scale == 0)
        return -EINVAL;
    part = (uint64_t)(fraction * (double)scale + 0.5);
    if (overflow || __builtin_mul_overflow(whole, scale, &whole) ||
        __builtin_add_overflow(whole, part, &whole))
        return -ERANGE;
    *out = whole;
    return 0;
}

int nsc_units_parse_ns(const char *text, uint64_t *ns)
{
    return parse(duration_units, false, text, ns);
}

int nsc_units_parse_bytes(const char *text, uint64_t *bytes)
{
    return parse(byte_units, true, text, bytes);
}

int nsc_units_parse_count(const char *text, uint64_t *count)
{
    return parse(count_units, true, text, count);
}

/* Return @value / @scale in thousandths, rounded half up. */
static uint64_t thousandths(uint64_t value, uint64_t scale)
{
    return value / scale * 1000 + (value % scale * 1000 + scale / 2) / scale;
}

const char *nsc_units_format_ns(char out[NSC_UNITS_MAX], uint64_t ns)
{
    static const struct unit steps[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    size_t i = 0;
    uint64_t milli;

    if (ns < 1000) {
        snprintf(out, NSC_UNITS_MAX, "%" PRIu64 " ns", ns);
        return out;
    }
    /* Rounding may reach 1000.000 of a unit: then the next larger unit is used. */
    while (i < 2 && thousandths(ns, steps[i].scale) >= 1000000)
        i++;
    milli = thousandths(ns, steps[i].scale);
    snprintf(out, NSC_UNITS_MAX, "%" PRIu64 ".%03" PRIu64 " %s", milli / 1000, milli % 1000,
             steps[i].name);
    return out;
}

const char *nsc_units_format_time(char out[NSC_UNITS_MAX], uint64_t ns)
{
    snprintf(out, NSC_UNITS_MAX, "%" PRIu64 ".%09" PRIu64 "s", ns / 1000000000, ns % 1000000000);
    return out;
}

const char *nsc_units_format_bytes(char out[NSC_UNITS_MAX], uint64_t bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(out, NSC_UNITS_MAX, "%" PRIu64 " B", bytes);
        return out;
    }
    while (value >= 1023.995) {
        value /= 1024;
        i++;
    }
    snprintf(out, NSC_UNITS_MAX, "%.2f %s", value, names[i]);
    return out;
}

const char *nsc_units_format_count(char out[NSC_UNITS_MAX], uint64_t count)
{
    char digits[NSC_UNITS_MAX];
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count);
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

const char *nsc_units_format_share(char out[NSC_UNITS_MAX], uint64_t part, uint64_t whole)
{
    if (whole == 0)
        snprintf(out, NSC_UNITS_MAX, "-");
    else
        snprintf(out, NSC_UNITS_MAX, "%.2f%%", 100.0 * (double)part / (double)whole);
    return out;
}

const char *nsc_units_format_double(char out[NSC_UNITS_MAX], double value)
{
    int digits = 15;

    do
        snprintf(out, NSC_UNITS_MAX, "%.*g", digits, value);
    while (digits++ < 17 && strtod(out, NULL) != value);
    return out;
}
