/*
 * test_tables.c - tables of importers: numbers and names that were chosen to meet in one
 * slot, if hashes were known, and the calls that nsc_end_by_name() and nest.h end.
 */
#include "formats/import/end_by_name.h"
#include "formats/import/slice_nesting.h"
#include "trace/write/writer_state.h"
#include "unit/rigs/formats_fixture.h"
#include "util/id_map.h"
#include "util/text/name_text.h"

#define KEYS 20000u

/* How many slots that are taken lie beside one another: as far as a search goes. */
static uint32_t longest_run(const struct nsc_id_map *map)
{
    uint32_t longest = 0, run = 0;

    for (uint32_t i = 0; i < 2 * map->slots; i++) {
        run = map->table[i & (map->slots - 1)].value_plus_1 != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void check_keys(uint64_t (*key)(uint32_t index), const char *what)
{
    struct nsc_id_map map = {0};
    uint32_t wrong = 0, value;

    for (uint32_t i = 0; i < KEYS; i++)
        wrong += nsc_id_map_put(&map, key(i), i) != 0;
    for (uint32_t i = 0; i < KEYS; i++)
        wrong += nsc_id_map_get(&map, key(i)) != i;
    wrong += nsc_id_map_get(&map, key(KEYS)) != NSC_ID_MAP_NEW;
    CHECK_U64(wrong, 0);
    CHECK(nsc_id_map_need(&map, key(3), KEYS, &value) == 0 && value == 3);
    CHECK(nsc_id_map_need(&map, key(KEYS), KEYS, &value) == 0 && value == KEYS);
    CHECK_U64(map.count, KEYS + 1);
    t_report(longest_run(&map) < 200, __FILE__, __LINE__, what);
    nsc_id_map_free(&map);
}

static uint64_t in_turn(uint32_t index)
{
    return index;
}

static uint64_t high_bits(uint32_t index)
{
    return (uint64_t)index << 32;
}

static uint64_t far_apart(uint32_t index)
{
    return (uint64_t)index << 44 | 7;
}

/* One over 0x9e3779b97f4a7c15: what that multiplies to a number of few bits. */
static uint64_t undone(uint32_t index)
{
    return (uint64_t)index * 0xf1de83e19937733du;
}

static void test_keys(void)
{
    CHECK(0x9e3779b97f4a7c15u * 0xf1de83e19937733du == 1);
    check_keys(in_turn, "keys in turn");
    check_keys(high_bits, "keys of high bits");
    check_keys(far_apart, "keys of few high bits");
    check_keys(undone, "keys made against a multiplication");
}

static void test_names(void)
{
    struct nsc_names names = {0};
    struct nsc_names_entry *e;
    uint32_t wrong = 0;
    char text[16];

    for (uint32_t i = 0; i < KEYS; i++) {
        int bytes = snprintf(text, sizeof text, "f%u", i);

        wrong += nsc_names_find(&names, text, (size_t)bytes, &e) != 0 || e->id != UINT32_MAX;
        e->id = i;
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        int bytes = snprintf(text, sizeof text, "f%u", i);

        wrong += nsc_names_find(&names, text, (size_t)bytes, &e) != 0 || e->id != i;
    }
    CHECK_U64(wrong, 0);
    CHECK(nsc_names_find(&names, "f1\0", 3, &e) == 0 && e->id == UINT32_MAX);
    nsc_names_free(&names);
}

/* The test vectors of SipHash are of another seed and other rounds: what is left are properties. */
static void test_bytes(void)
{
    static const char text[] = "0123456789abcdef0123456789abcdef";
    uint64_t seen[sizeof text];
    unsigned same = 0;

    CHECK(nsc_hash_seed() != 0 && nsc_hash_seed() == nsc_hash_seed());
    for (size_t i = 0; i < sizeof text; i++) {
        seen[i] = nsc_hash_bytes(1, text, i);
        same += seen[i] == nsc_hash_bytes(2, text, i);
        for (size_t k = 0; k < i; k++)
            same += seen[k] == seen[i];
    }
    CHECK_U64(same, 0);
    CHECK(nsc_hash_bytes(1, text + 16, 9) == seen[9]);
    /* What cancels out in a product whatever the seed is: the top bit, and what is mixed of it. */
    CHECK(nsc_hash_bytes(1, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) !=
          nsc_hash_bytes(1, "\0\0\0\0\0\0\0\x80\0\0\0\x80\0\0\0\x80", 16));
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static bool left_cold, left_late;
static uint32_t open_warm, open_cold;

/* outer calls inner; the lane's buffers go; then both end, and outer once more. */
static void fill_cold(struct nsc_writer *w)
{
    struct nsc_lane *lane = fx_thread(w, fx_process(w, 1, "p"), 1, 0, "t");
    uint32_t outer = fx_function(w, "outer", "", 0), inner = fx_function(w, "inner", "", 0);

    nsc_lane_enter(lane, 10, outer, 0);
    nsc_lane_enter(lane, 15, inner, 0);
    nsc_lane_enter(lane, 20, inner, 0);
    open_warm = nsc_lane_open_calls(lane, inner);
    nsc_lane_cool(lane);
    open_cold = nsc_lane_open_calls(lane, inner);
    CHECK_U64(nsc_lane_open_calls(lane, outer), 1);
    CHECK_U64(nsc_lane_open_calls(lane, outer + 7), 0);
    left_cold = nsc_end_by_name(lane, 30, inner, false, true);
    nsc_lane_cool(lane);
    left_cold = nsc_end_by_name(lane, 35, inner, false, true) && left_cold;
    nsc_lane_cool(lane);
    left_cold = nsc_end_by_name(lane, 40, outer, false, true) && left_cold;
    nsc_lane_cool(lane);
    left_late = nsc_end_by_name(lane, 50, outer, false, true);
    nsc_lane_close(lane, 60);
}

static void test_cold(void)
{
    struct nsc_trace *t = fx_trace(fill_cold);

    CHECK_U64(open_warm, 2);
    CHECK_U64(open_cold, 2);
    CHECK(left_cold);
    CHECK(!left_late);
    CHECK_U64(nsc_trace_info(t)->calls, 4);
    CHECK_U64(nsc_trace_thread(t, 0)->recorded, 7); /* an end without a begin is one event */
    nsc_trace_close(t);
}

static void test_note(void)
{
    struct nsc_nesting_counts counts = {.overlaps = 1, .open = 2, .without_call = 1, .too_deep = 3};
    struct nsc_notes notes = {0};

    nsc_nesting_note(&counts, &notes);
    CHECK_U64(notes.count, 4);
    CHECK_STR(notes.line[0],
              "1 call runs longer than the one around it: it is cut where that ends");
    CHECK_STR(notes.line[1], "2 calls have no end: they last until the last event of their thread");
    CHECK_STR(notes.line[2], "1 call ends that nobody saw begin: it is there from the start");
    CHECK_STR(notes.line[3], "3 calls below 16777216 others are left out");
    nsc_nesting_note(&(struct nsc_nesting_counts){0}, &notes);
    CHECK_U64(notes.count, 4);
}

int main(void)
{
    fx_begin();
    test_keys();
    test_names();
    test_bytes();
    test_cold();
    test_note();
    fx_end();
    return t_done();
}
