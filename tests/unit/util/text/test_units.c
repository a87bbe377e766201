/*
 * test_units.c - durations, sizes and counts: parse, format, and the edges of both.
 */
#include <errno.h>

#include "tap.h"
#include "util/text/units.h"

static void check_ns(const char *text, uint64_t want)
{
    uint64_t ns = 77;

    CHECK(nsc_units_parse_ns(text, &ns) == 0);
    CHECK_U64(ns, want);
}

static void check_bytes(const char *text, uint64_t want)
{
    uint64_t bytes = 77;

    CHECK(nsc_units_parse_bytes(text, &bytes) == 0);
    CHECK_U64(bytes, want);
}

static void check_refused(const char *text, int error)
{
    uint64_t v = 77;

    CHECK(nsc_units_parse_ns(text, &v) == error);
    CHECK(nsc_units_parse_bytes(text, &v) == error);
    CHECK_U64(v, 77);
}

static void check_format(uint64_t ns, const char *want)
{
    char out[NSC_UNITS_MAX];

    CHECK_STR(nsc_units_format_ns(out, ns), want);
}

int main(void)
{
    char out[NSC_UNITS_MAX];
    uint64_t v = 0;

    check_ns("0", 0);
    check_ns("250", 250);
    check_ns("10us", 10000);
    check_ns("10 us", 10000);
    check_ns("1.5s", 1500000000);
    check_ns("0.1s", 100000000);
    check_ns("0.000000001s", 1);
    check_ns("2m", 120000000000);
    check_ns("1h", 3600000000000);
    check_ns("3.0000005ms", 3000001);
    check_ns("18446744073709551615", UINT64_MAX);

    check_bytes("4096", 4096);
    check_bytes("64M", 64u << 20);
    check_bytes("64mib", 64u << 20);
    check_bytes("1.5G", 3ull << 29);
    check_bytes("10kB", 10240);
    check_bytes("2T", 2ull << 40);

    check_refused("", -EINVAL);
    check_refused("x", -EINVAL);
    check_refused("-1", -EINVAL);
    check_refused("+1", -EINVAL);
    check_refused("1.", -EINVAL);
    check_refused(".5", -EINVAL);
    check_refused("1e3", -EINVAL);
    check_refused("0x10", -EINVAL);
    check_refused("1 parsec", -EINVAL);
    check_refused("18446744073709551616", -ERANGE);
    CHECK(nsc_units_parse_ns("5124096h", &v) == -ERANGE);
    CHECK(nsc_units_parse_ns("10M", &v) == -EINVAL);
    CHECK(nsc_units_parse_bytes("10s", &v) == -EINVAL);
    CHECK(nsc_units_parse_count("1.5k", &v) == 0);
    CHECK_U64(v, 1500);

    check_format(0, "0 ns");
    check_format(999, "999 ns");
    check_format(1000, "1.000 us");
    check_format(999999, "999.999 us");
    check_format(1234567, "1.235 ms");
    check_format(999999499, "999.999 ms");
    check_format(999999500, "1.000 s");
    check_format(4294967296000, "4294.967 s");
    check_format(UINT64_MAX, "18446744073.710 s");

    CHECK_STR(nsc_units_format_time(out, 0), "0.000000000s");
    CHECK_STR(nsc_units_format_time(out, 12000000250), "12.000000250s");
    CHECK(nsc_units_parse_ns("12.000000250s", &v) == 0);
    CHECK_U64(v, 12000000250);
    CHECK_STR(nsc_units_format_bytes(out, 1023), "1023 B");
    CHECK_STR(nsc_units_format_bytes(out, 1024), "1.00 KiB");
    CHECK_STR(nsc_units_format_bytes(out, (1u << 20) - 1), "1.00 MiB");
    CHECK_STR(nsc_units_format_bytes(out, UINT64_MAX), "16.00 EiB");
    CHECK_STR(nsc_units_format_count(out, 0), "0");
    CHECK_STR(nsc_units_format_count(out, 999), "999");
    CHECK_STR(nsc_units_format_count(out, 1234567), "1,234,567");
    CHECK_STR(nsc_units_format_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
    CHECK_STR(nsc_units_format_share(out, 1, 8), "12.50%");
    CHECK_STR(nsc_units_format_share(out, 1, 0), "-");
    return t_done();
}
