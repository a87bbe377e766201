/* test_clock.c - ticks to nanoseconds and back: exact, monotone, over days; checksums. */
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tap.h"
#include "trace/read/clock.h"

#define SECOND 1000000000ull
#define DAY    (86400 * SECOND)

static void build(struct nsc_clock *c, const struct nsc_clock_point *points, uint32_t count,
                  uint64_t frequency, uint64_t first_event)
{
    if (nsc_clock_build(c, points, count, frequency, first_event) != 0)
        abort();
}

static void test_identity(void)
{
    struct nsc_clock c;

    build(&c, NULL, 0, 0, 12345);
    CHECK(c.identity);
    CHECK_U64(nsc_clock_ns(&c, 0), 0);
    CHECK_U64(nsc_clock_ns(&c, UINT64_MAX), UINT64_MAX);
    CHECK_U64(nsc_clock_span_ns(&c, 77), 77);
    CHECK_U64(nsc_clock_ticks(&c, 99), 99);
    nsc_clock_release(&c);
}

/* 2.6 GHz over 30 days: the last nanosecond is still right. */
static void test_days(void)
{
    uint64_t start = 123456789012345;
    struct nsc_clock_point points[] = {
        {.ticks = start, .monotonic_ns = 5 * SECOND},
        {.ticks = start + 26 * 3 * DAY, .monotonic_ns = 5 * SECOND + 30 * DAY},
    };
    struct nsc_clock c;
    uint64_t sum = 0;

    build(&c, points, 2, 0, start + 1000);
    CHECK_U64(c.origin_ticks, start);
    CHECK_U64(nsc_clock_ns(&c, start), 0);
    CHECK_U64(nsc_clock_ns(&c, start - 1), 0);
    CHECK(nsc_clock_ns(&c, start + 2600000) - 999999 <= 1);
    CHECK(30 * DAY - nsc_clock_ns(&c, points[1].ticks) <= 1);
    CHECK(60 * DAY - nsc_clock_ns(&c, start + 26 * 6 * DAY) <= 1);
    CHECK_U64(nsc_clock_span_ns(&c, 26), 10);
    CHECK_U64(nsc_clock_span_ns(&c, 27), 10);
    CHECK_U64(nsc_clock_span_ns(&c, 28), 11); /* to the nearest, 10.77 */
    for (uint64_t ticks = 20; ticks < 46; ticks++)
        sum += nsc_clock_span_ns(&c, ticks);
    CHECK(sum + 1 - nsc_clock_span_ns(&c, 26 * (20 + 45) / 2) <=
          2); /* many short ones are not less */
    nsc_clock_release(&c);
}

/* A rate that changes: continuous, monotone, and the inverse finds its way back. */
static void test_piecewise(void)
{
    struct nsc_clock_point points[] = {
        {.ticks = 1000, .monotonic_ns = 100},
        {.ticks = 100001000, .monotonic_ns = 50000100},
        {.ticks = 100000500, .monotonic_ns = 60000100}, /* runs backwards: passed over */
        {.ticks = 200001000, .monotonic_ns = 80000100},
        {.ticks = 200001000 + 7 * DAY, .monotonic_ns = 80000100 + DAY},
    };
    struct nsc_clock c;
    uint64_t before = 0;
    int bad = 0;

    build(&c, points, 5, 0, 400);
    CHECK_U64(c.origin_ticks, 400);
    CHECK_U64(nsc_clock_ns(&c, 400), 0);
    CHECK_U64(nsc_clock_ns(&c, 1000), 300);
    for (uint64_t ticks = 400; ticks < 400000000; ticks += 9973) {
        uint64_t ns = nsc_clock_ns(&c, ticks), back = nsc_clock_ticks(&c, ns);

        bad += ns < before || back > ticks || nsc_clock_ns(&c, back) != ns;
        before = ns;
    }
    CHECK_U64((unsigned)bad, 0);
    CHECK(50000300 - nsc_clock_ns(&c, 100001000) <= 1);
    CHECK(80000300 - nsc_clock_ns(&c, 200001000) <= 2);
    CHECK(nsc_clock_ns(&c, UINT64_MAX) > nsc_clock_ns(&c, UINT64_MAX / 2));
    nsc_clock_release(&c);
}

/* A point a second for ten days: a time is found without a look at each of them. */
static void test_many_points(void)
{
    enum { POINTS = 864000 };
    struct nsc_clock_point *points = calloc(POINTS, sizeof *points);
    struct nsc_clock c;

    if (points == NULL)
        abort();
    for (uint64_t i = 0; i < POINTS; i++)
        points[i] = (struct nsc_clock_point){.ticks = 3 * i * SECOND, .monotonic_ns = i * SECOND};
    build(&c, points, POINTS, 0, 0);
    alarm(60); /* it takes no time; a search from the end took hours */
    for (uint64_t i = 0; i < 1000000; i++) {
        uint64_t ns = i % POINTS * SECOND + i;

        if (nsc_clock_ns(&c, 3 * ns) != ns || nsc_clock_ticks(&c, ns) != 3 * ns)
            abort();
    }
    alarm(0);
    CHECK_U64(c.segment_count, POINTS - 1);
    nsc_clock_release(&c);
    free(points);
}

/* A run says what nsc_clock_ns() says, wherever its ticks go next. */
static uint64_t differences(const struct nsc_clock *c, uint64_t *random, unsigned rounds)
{
    struct nsc_clock_run run, fresh;
    uint64_t bad = 0;

    nsc_clock_run_begin(&run, c);
    for (unsigned i = 0; i < rounds; i++) {
        uint32_t near = c->segment_count > 0 ? (uint32_t)(*random >> 20) % c->segment_count : 0;
        uint64_t at = c->segment_count > 0 ? c->segments[near].ticks : 0, ticks;

        *random = *random * 6364136223846793005u + 1442695040888963407u;
        ticks = i % 4 == 0   ? at + i / 4 % 5 - 2 /* beside a point */
                : i % 4 == 1 ? at + (*random >> (20 + *random % 44))
                : i % 4 == 2 ? *random >> *random % 64
                             : UINT64_MAX - (*random >> (1 + *random % 63));
        nsc_clock_run_begin(&fresh, c);
        bad += nsc_clock_run_ns(&run, ticks) != nsc_clock_ns(c, ticks);
        bad += nsc_clock_run_ns(&run, ticks) != nsc_clock_ns(c, ticks);
        bad += nsc_clock_run_ns(&fresh, ticks) != nsc_clock_ns(c, ticks);
    }
    return bad;
}

static void test_runs(void)
{
    uint64_t random = 12345;
    struct nsc_clock c;

    build(&c, NULL, 0, 0, 12345);
    CHECK_U64(differences(&c, &random, 1000), 0);
    nsc_clock_release(&c);
    for (uint32_t clock = 0; clock < 300; clock++) {
        struct nsc_clock_point points[20] = {{.ticks = random >> clock % 60}};
        uint32_t count = 1 + clock % 20;

        /* Of all rates, up to those at which ns soon exceed 64 bits. */
        for (uint32_t i = 1; i < count; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            points[i].ticks = points[i - 1].ticks + (random >> 24 >> clock % 37);
            points[i].monotonic_ns = points[i - 1].monotonic_ns + (random >> 8 >> clock % 53);
        }
        build(&c, points, count, clock % 3 == 0 ? 24000000 : 0,
              clock % 2 == 0 ? UINT64_MAX : points[0].ticks - points[0].ticks / 3);
        CHECK_U64(differences(&c, &random, 2000), 0);
        nsc_clock_release(&c);
    }
}

static void test_frequency(void)
{
    struct nsc_clock_point points[] = {
        {.ticks = 1000, .monotonic_ns = 100},
        {.ticks = 2000, .monotonic_ns = 999}, /* too close for a slope */
    };
    struct nsc_clock c;

    build(&c, points, 1, 24000000, 5000);
    CHECK_U64(nsc_clock_ns(&c, 1000 + 24000000), SECOND);
    CHECK_U64(nsc_clock_ticks(&c, SECOND), 1000 + 24000000);
    nsc_clock_release(&c);
    build(&c, points, 2, 24000000, 5000);
    CHECK_U64(nsc_clock_ns(&c, 1000 + 24000000), SECOND);
    nsc_clock_release(&c);
    build(&c, points, 1, 0, 5000); /* nothing known: still defined */
    CHECK_U64(nsc_clock_ns(&c, 3000), 2000);
    nsc_clock_release(&c);
    build(&c, points, 2, 0, UINT64_MAX);
    CHECK_U64(nsc_clock_ns(&c, 2000), 899);
    nsc_clock_release(&c);
}

static void test_crc(void)
{
    uint8_t bytes[1000];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + i / 7);
    CHECK_U64(nsc_base_crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_U64(nsc_base_crc32c_portable(0, "123456789", 9), 0xe3069283);
    CHECK_U64(nsc_base_crc32c(0, "", 0), 0);
    for (size_t at = 0; at < 20; at++)
        if (nsc_base_crc32c(0, bytes + at, 900 + at) !=
            nsc_base_crc32c_portable(nsc_base_crc32c_portable(0, bytes + at, 333), bytes + at + 333,
                                     567 + at))
            CHECK(!"both forms give the same");
}

int main(void)
{
    test_identity();
    test_days();
    test_piecewise();
    test_many_points();
    test_runs();
    test_frequency();
    test_crc();
    return t_done();
}
