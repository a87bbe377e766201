/* recount.c - see recount.h. */
#include "trace/read/recount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format/duration_bucket.h"
#include "util/array.h"
#include "util/buffer.h"

void nsc_recount_begin(struct nsc_recount *a, const struct nsc_chunk_head *head)
{
    a->sum_count = a->count_count = a->row_count = 0;
    a->wants_rows = head->has_summary;
    a->shift = head->summary_shift;
    memset(a->row_of, 0, sizeof a->row_of);
    if (a->slot_count > 0)
        memset(a->slots, 0, a->slot_count * sizeof *a->slots);
}

void nsc_recount_free(struct nsc_recount *a)
{
    free(a->sums);
    free(a->counts);
    free(a->rows);
    free(a->slots);
    *a = (struct nsc_recount){0};
}

static int append_sum(struct nsc_recount *a, const struct nsc_chunk_total *sum)
{
    struct nsc_chunk_total *sums =
        nsc_array_grow(a->sums, &a->sum_room, a->sum_count, sizeof *sums);

    if (sums == NULL)
        return -ENOMEM;
    a->sums = sums;
    sums[a->sum_count++] = *sum;
    return 0;
}

static int append_count(struct nsc_recount *a, uint32_t function, uint32_t bucket, uint64_t calls)
{
    struct nsc_recount_count *counts =
        nsc_array_grow(a->counts, &a->count_room, a->count_count, sizeof *counts);

    if (counts == NULL)
        return -ENOMEM;
    a->counts = counts;
    counts[a->count_count++] = (struct nsc_recount_count){(uint64_t)function << 9 | bucket, calls};
    return 0;
}

/* Keep the longest call of each depth and span. Spans of one depth come in order. */
int nsc_recount_add_row(struct nsc_recount *a, const struct nsc_recount_call *call)
{
    struct nsc_chunk_row row = {.end_ticks = call->end_ticks,
                                .duration_ticks = call->end_ticks - call->start_ticks,
                                .function = call->function,
                                .depth = call->depth};
    struct nsc_chunk_row *rows = a->rows;
    uint32_t *newest;

    if (!a->wants_rows || call->depth >= NSC_RECOUNT_DEPTHS)
        return 0;
    newest = &a->row_of[call->depth];
    if (*newest != 0) {
        struct nsc_chunk_row *before = &rows[*newest - 1];

        if ((before->end_ticks - before->duration_ticks) >> a->shift ==
            call->start_ticks >> a->shift) {
            if (row.duration_ticks > before->duration_ticks)
                *before = row;
            return 0;
        }
    }
    rows = nsc_array_grow(rows, &a->row_room, a->row_count, sizeof *rows);
    if (rows == NULL)
        return -ENOMEM;
    a->rows = rows;
    rows[a->row_count++] = row;
    *newest = a->row_count;
    return 0;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

#define SUM_BUCKET 511u /* key of a sum: not a bucket of durations */

static uint64_t key_of(uint32_t function, uint32_t bucket)
{
    return (uint64_t)function << 9 | bucket;
}

static uint64_t key_in(const struct nsc_recount *a, uint32_t i, bool sum)
{
    return sum ? key_of(a->sums[i].function, SUM_BUCKET) : a->counts[i].key;
}

/* The slot of a key, or the free slot for it. */
static uint32_t *find_slot(const struct nsc_recount *a, uint64_t key)
{
    bool sum = (key & SUM_BUCKET) == SUM_BUCKET;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40);

    for (;; at++) {
        uint32_t *slot = &a->slots[at & (a->slot_count - 1)];

        if (*slot == 0)
            return slot;
        if ((*slot & 1) == sum && key_in(a, *slot / 2 - 1, sum) == key)
            return slot;
    }
}

static bool grow_slots(struct nsc_recount *a)
{
    uint32_t used = a->sum_count + a->count_count, count = a->slot_count;
    uint32_t *slots;

    if (used < count / 2)
        return true;
    count = count == 0 ? 4096 : count * 2;
    slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    free(a->slots);
    a->slots = slots;
    a->slot_count = count;
    for (uint32_t i = 0; i < a->sum_count; i++)
        *find_slot(a, key_in(a, i, true)) = (i + 1) * 2 + 1;
    for (uint32_t i = 0; i < a->count_count; i++)
        *find_slot(a, key_in(a, i, false)) = (i + 1) * 2;
    return true;
}

static void add_sum(struct nsc_chunk_total *to, const struct nsc_chunk_total *more)
{
    to->calls += more->calls;
    to->total_ticks += more->total_ticks;
    to->self_ticks += more->self_ticks;
    to->unwinds += more->unwinds;
    to->max_ticks = more->max_ticks > to->max_ticks ? more->max_ticks : to->max_ticks;
    to->min_ticks = more->min_ticks < to->min_ticks ? more->min_ticks : to->min_ticks;
}

int nsc_recount_add_call(struct nsc_recount *a, const struct nsc_recount_call *call)
{
    uint64_t duration = call->end_ticks - call->start_ticks;
    uint32_t bucket = nsc_bucket_of(duration), *slot;
    struct nsc_chunk_total sum = {.function = call->function,
                                  .calls = 1,
                                  .total_ticks = call->outermost ? duration : 0,
                                  .self_ticks = call->self_ticks,
                                  .max_ticks = duration,
                                  .min_ticks = duration,
                                  .unwinds = call->unwound};

    if (!grow_slots(a))
        return -ENOMEM;
    slot = find_slot(a, key_of(call->function, SUM_BUCKET));
    if (*slot != 0) {
        add_sum(&a->sums[*slot / 2 - 1], &sum);
    } else {
        if (append_sum(a, &sum) != 0)
            return -ENOMEM;
        *slot = a->sum_count * 2 + 1;
    }
    slot = find_slot(a, key_of(call->function, bucket));
    if (*slot != 0) {
        a->counts[*slot / 2 - 1].calls++;
        return 0;
    }
    if (append_count(a, call->function, bucket, 1) != 0)
        return -ENOMEM;
    *slot = a->count_count * 2;
    return 0;
}

static int by_function(const void *a, const void *b)
{
    const struct nsc_chunk_total *left = a, *right = b;

    return (left->function > right->function) - (left->function < right->function);
}

static int by_key(const void *a, const void *b)
{
    const struct nsc_recount_count *left = a, *right = b;

    return (left->key > right->key) - (left->key < right->key);
}

void nsc_recount_settle(struct nsc_recount *a)
{
    uint32_t kept = 0;

    if (a->sum_count == 0)
        return;
    qsort(a->sums, a->sum_count, sizeof *a->sums, by_function);
    for (uint32_t i = 1; i < a->sum_count; i++) {
        if (a->sums[i].function == a->sums[kept].function)
            add_sum(&a->sums[kept], &a->sums[i]);
        else
            a->sums[++kept] = a->sums[i];
    }
    a->sum_count = kept + 1;
    if (a->count_count == 0)
        return;
    qsort(a->counts, a->count_count, sizeof *a->counts, by_key);
    kept = 0;
    for (uint32_t i = 1; i < a->count_count; i++) {
        if (a->counts[i].key == a->counts[kept].key)
            a->counts[kept].calls += a->counts[i].calls;
        else
            a->counts[++kept] = a->counts[i];
    }
    a->count_count = kept + 1;
}

static int merge_sums(struct nsc_recount *a, const struct nsc_recount *more)
{
    uint32_t i = 0, k = 0, n = 0, room = a->sum_count + more->sum_count;
    struct nsc_chunk_total *both = malloc((room + 1u) * sizeof *both);

    if (both == NULL)
        return -ENOMEM;
    while (i < a->sum_count || k < more->sum_count) {
        bool mine = i < a->sum_count &&
                    (k == more->sum_count || a->sums[i].function <= more->sums[k].function);

        both[n] = mine ? a->sums[i++] : more->sums[k++];
        if (mine && k < more->sum_count && more->sums[k].function == both[n].function)
            add_sum(&both[n], &more->sums[k++]);
        n++;
    }
    free(a->sums);
    a->sums = both;
    a->sum_count = n;
    a->sum_room = room + 1;
    return 0;
}

static int merge_counts(struct nsc_recount *a, const struct nsc_recount *more)
{
    uint32_t i = 0, k = 0, n = 0, room = a->count_count + more->count_count;
    struct nsc_recount_count *both = malloc((room + 1u) * sizeof *both);

    if (both == NULL)
        return -ENOMEM;
    while (i < a->count_count || k < more->count_count) {
        bool mine = i < a->count_count &&
                    (k == more->count_count || a->counts[i].key <= more->counts[k].key);

        both[n] = mine ? a->counts[i++] : more->counts[k++];
        if (mine && k < more->count_count && more->counts[k].key == both[n].key)
            both[n].calls += more->counts[k++].calls;
        n++;
    }
    free(a->counts);
    a->counts = both;
    a->count_count = n;
    a->count_room = room + 1;
    return 0;
}

int nsc_recount_merge(struct nsc_recount *a, const struct nsc_recount *more)
{
    int error = merge_sums(a, more);

    return error != 0 ? error : merge_counts(a, more);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* Whether each function has at most one row, with at least one call. */
static bool rows_are_single(const struct nsc_chunk_head *head)
{
    uint32_t *ids = calloc((size_t)head->total_count + 1, sizeof *ids);
    bool single = ids != NULL;

    for (uint32_t i = 0; single && i < head->total_count; i++) {
        ids[i] = head->totals[i].function;
        single = head->totals[i].calls > 0;
    }
    if (single)
        qsort(ids, head->total_count, sizeof *ids, compare_ids);
    for (uint32_t i = 1; single && i < head->total_count; i++)
        single = ids[i] != ids[i - 1];
    free(ids);
    return single;
}

/* Convert the sections to an account, with aliases resolved. */
static int take_claims(const struct nsc_trace *t, const struct nsc_chunk_head *head,
                       struct nsc_recount *claims)
{
    int error = 0;

    for (uint32_t i = 0; i < head->total_count && error == 0; i++) {
        struct nsc_chunk_total sum = head->totals[i];

        sum.function = nsc_trace_canonical(t, sum.function);
        error = append_sum(claims, &sum);
        for (uint32_t k = 0; head->has_durations && k < sum.count_count && error == 0; k++)
            error = append_count(claims, sum.function, sum.counts[k].bucket, sum.counts[k].calls);
    }
    nsc_recount_settle(claims);
    return error;
}

static bool totals_match(const struct nsc_recount *a, const struct nsc_recount *claims,
                         const bool *several)
{
    if (a->sum_count != claims->sum_count)
        return false;
    for (uint32_t i = 0; i < a->sum_count; i++) {
        const struct nsc_chunk_total *have = &claims->sums[i], *want = &a->sums[i];

        if (have->function != want->function || have->calls != want->calls ||
            have->self_ticks != want->self_ticks || have->max_ticks != want->max_ticks ||
            (have->total_ticks != want->total_ticks && !several[want->function]))
            return false;
    }
    return true;
}

static bool durations_match(const struct nsc_recount *a, const struct nsc_recount *claims)
{
    for (uint32_t i = 0; i < claims->sum_count; i++) /* equal counts: the totals match */
        if (claims->sums[i].min_ticks != a->sums[i].min_ticks ||
            claims->sums[i].unwinds != a->sums[i].unwinds)
            return false;
    return a->count_count == claims->count_count &&
           (a->count_count == 0 ||
            memcmp(a->counts, claims->counts, a->count_count * sizeof *a->counts) == 0);
}

static int by_depth_and_end(const void *a, const void *b)
{
    const struct nsc_chunk_row *left = a, *right = b;

    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return (left->end_ticks > right->end_ticks) - (left->end_ticks < right->end_ticks);
}

static bool summary_matches(struct nsc_recount *a, const struct nsc_trace *t,
                            const struct nsc_chunk_head *head)
{
    struct nsc_chunk_row *claimed;
    bool same = head->row_count == a->row_count;

    if (!same || a->row_count == 0)
        return same;
    claimed = malloc(a->row_count * sizeof *claimed);
    if (claimed == NULL)
        return false;
    memcpy(claimed, head->rows, a->row_count * sizeof *claimed);
    qsort(claimed, a->row_count, sizeof *claimed, by_depth_and_end);
    qsort(a->rows, a->row_count, sizeof *a->rows, by_depth_and_end);
    for (uint32_t i = 0; same && i < a->row_count; i++)
        same = claimed[i].depth == a->rows[i].depth &&
               claimed[i].end_ticks == a->rows[i].end_ticks &&
               claimed[i].duration_ticks == a->rows[i].duration_ticks &&
               nsc_trace_canonical(t, claimed[i].function) == a->rows[i].function;
    free(claimed);
    return same;
}

const char *nsc_recount_find_fault(struct nsc_recount *a, const struct nsc_trace *t,
                                   const struct nsc_chunk_head *head, const bool *several)
{
    struct nsc_recount claims = {0};
    const char *wrong = NULL;

    if (head->has_totals && (!rows_are_single(head) || take_claims(t, head, &claims) != 0 ||
                             !totals_match(a, &claims, several)))
        wrong = "totals";
    else if (head->has_durations && !durations_match(a, &claims))
        wrong = "durations";
    else if (head->has_summary && !summary_matches(a, t, head))
        wrong = "summary";
    nsc_recount_free(&claims);
    return wrong;
}
