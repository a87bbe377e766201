/* test_perf_ring.c - records out of a ring of perf: written here byte by byte, damaged, cut. */
#include <errno.h>
#include <linux/perf_event.h>

#include "metrics/perf_ring.h"
#include "tap.h"

enum { BYTES = 4096 };

static uint8_t data[BYTES];

struct writer {
    uint64_t head;
};

static void put(struct writer *w, uint64_t word)
{
    memcpy(&data[w->head % BYTES], &word, sizeof word);
    w->head += sizeof word;
}

static void put_header(struct writer *w, uint32_t type, uint16_t misc, uint16_t size)
{
    put(w, type | (uint64_t)misc << 32 | (uint64_t)size << 48);
}

static void put_sample(struct writer *w, uint64_t ns, uint64_t cpu_ns)
{
    put_header(w, PERF_RECORD_SAMPLE, 0, 64);
    put(w, 4242); /* pid, tid */
    put(w, ns);
    put(w, 4);
    put(w, cpu_ns);
    put(w, 20);
    put(w, 3);
    put(w, 7);
}

static void put_switch(struct writer *w, uint64_t ns, uint16_t misc)
{
    put_header(w, PERF_RECORD_SWITCH, misc, 24);
    put(w, 4242);
    put(w, ns);
}

static struct nsc_ring ring_of(uint64_t tail, const struct writer *w)
{
    return (struct nsc_ring){.data = data, .bytes = BYTES, .tail = tail, .head = w->head};
}

static void test_kinds(void)
{
    struct writer w = {0};
    struct nsc_ring_record r;
    struct nsc_ring ring;

    put_switch(&w, 10, 0);
    put_sample(&w, 20, 1000);
    put_switch(&w, 30, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    put_switch(&w, 40, PERF_RECORD_MISC_SWITCH_OUT);
    put_header(&w, PERF_RECORD_LOST, 0, 40);
    put(&w, 1);
    put(&w, 99);
    put(&w, 4242);
    put(&w, 50);
    put_header(&w, PERF_RECORD_THROTTLE, 0, 16);
    put(&w, 60);

    ring = ring_of(0, &w);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_IN && r.ns == 10);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_SAMPLE && r.ns == 20);
    CHECK_U64(r.counters[NSC_METRICS_CPU_NS], 1000);
    CHECK_U64(r.counters[NSC_METRICS_FAULTS_MINOR], 20);
    CHECK_U64(r.counters[NSC_METRICS_FAULTS_MAJOR], 3);
    CHECK_U64(r.counters[NSC_METRICS_SWITCHES], 7);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_PREEMPTED && r.ns == 30);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_OUT && r.ns == 40);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_LOST && r.lost == 99);
    CHECK(nsc_ring_next(&ring, &r) == 1 && r.kind == NSC_RING_OTHER);
    CHECK(nsc_ring_next(&ring, &r) == 0);
    CHECK_U64(ring.tail, w.head);
}

/* Every place of the ring's end within a record. */
static void test_wrap(void)
{
    unsigned good = 0;

    for (uint64_t start = BYTES - 72; start <= BYTES; start += 8) {
        struct writer w = {.head = start};
        struct nsc_ring_record r;
        struct nsc_ring ring;

        put_sample(&w, 5, start);
        put_switch(&w, 6, 0);
        ring = ring_of(start, &w);
        good += nsc_ring_next(&ring, &r) == 1 && r.counters[0] == start && r.counters[3] == 7 &&
                nsc_ring_next(&ring, &r) == 1 && r.ns == 6 && nsc_ring_next(&ring, &r) == 0;
    }
    CHECK_U64(good, 10);
}

static int first(struct nsc_ring *ring)
{
    struct nsc_ring_record r;

    return nsc_ring_next(ring, &r);
}

static void test_damage(void)
{
    static const struct {
        const char *what;
        uint32_t type;
        uint16_t size;
    } bad[] = {
        {"no size", PERF_RECORD_SWITCH, 0},
        {"less than a header", PERF_RECORD_SWITCH, 4},
        {"a size that is no multiple of 8", PERF_RECORD_SWITCH, 25},
        {"beyond the head", PERF_RECORD_SWITCH, 72},
        {"a switch without time", PERF_RECORD_SWITCH, 16},
        {"a sample without values", PERF_RECORD_SAMPLE, 24},
        {"a sample that lacks one", PERF_RECORD_SAMPLE, 56},
        {"a loss without number", PERF_RECORD_LOST, 16},
    };
    struct nsc_ring ring;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct writer w = {0};

        put_sample(&w, 1, 2);
        w.head = 0;
        put_header(&w, bad[i].type, 0, bad[i].size);
        w.head = 64;
        ring = ring_of(0, &w);
        if (!CHECK(first(&ring) == -EBADMSG && ring.tail == ring.head))
            printf("# %s\n", bad[i].what);
    }
    {
        struct writer w = {0};

        put_sample(&w, 1, 2);
        data[24] = 5; /* another number of values than we asked for */
        ring = ring_of(0, &w);
        CHECK(first(&ring) < 0);
        ring = (struct nsc_ring){.data = data, .bytes = BYTES, .tail = 4, .head = 64};
        CHECK(first(&ring) < 0);
        ring = (struct nsc_ring){.data = data, .bytes = BYTES, .tail = 0, .head = BYTES + 8};
        CHECK(first(&ring) < 0);
        ring = (struct nsc_ring){.data = data, .bytes = BYTES, .tail = 64, .head = 0};
        CHECK(first(&ring) < 0);
        ring = (struct nsc_ring){.data = data, .bytes = BYTES, .tail = 0, .head = 4};
        CHECK(first(&ring) < 0);
    }
}

int main(void)
{
    test_kinds();
    test_wrap();
    test_damage();
    return t_done();
}
