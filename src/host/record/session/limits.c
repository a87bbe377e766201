/* limits.c - see limits.h. */
#include "record/session/limits.h"

#include "util/now.h"

static const uint32_t most_of[NSC_LIMITS] = {
    [NSC_LIMIT_FUNCTIONS] = 1 << 19, [NSC_LIMIT_ADDRESSES] = 1 << 16, [NSC_LIMIT_MODULES] = 1 << 14,
    [NSC_LIMIT_MAPPINGS] = 1 << 18,  [NSC_LIMIT_PROCESSES] = 1 << 17, [NSC_LIMIT_STREAMS] = 1 << 20,
};

enum {
    CODE_SLOTS = 1 << 21, /* 64 MiB */
    EXTRA_STACKS = 1 << 16,
    FRAMES = 1 << 21, /* 80 MiB */
    ADOPTIONS_AT_ONCE = 16384,
    ADOPTIONS_PER_SECOND = 4000,
};

/* A table entry takes 1 to 2 ns. */
#define SEARCHES_AT_ONCE    1000000000ull
#define SEARCHES_PER_SECOND 100000000ull
/* A site takes about 30 ns. */
#define VERDICTS_AT_ONCE    50000000ull
#define VERDICTS_PER_SECOND 5000000ull
#define LONG_NS             100000000000ull /* fills any quota */

static struct nsc_limits_ration full_ration(uint64_t most, uint64_t per_second)
{
    return (struct nsc_limits_ration){
        .most = most, .per_second = per_second, .left = most, .filled_ns = nsc_now_ns()};
}

void nsc_limits_init(struct nsc_limits *limits)
{
    *limits = (struct nsc_limits){
        .code_slots = CODE_SLOTS,
        .extra_stacks = EXTRA_STACKS,
        .frames = FRAMES,
        .adoptions = full_ration(ADOPTIONS_AT_ONCE, ADOPTIONS_PER_SECOND),
        .verdicts = full_ration(VERDICTS_AT_ONCE, VERDICTS_PER_SECOND),
        .searches = full_ration(SEARCHES_AT_ONCE, SEARCHES_PER_SECOND),
    };
}

bool nsc_limits_take(struct nsc_limits *limits, enum nsc_limit kind)
{
    if (limits->used[kind] < most_of[kind]) {
        limits->used[kind]++;
        return true;
    }
    limits->refused[kind]++;
    return false;
}

bool nsc_limits_were_reached(const struct nsc_limits *limits)
{
    uint64_t refused = limits->skipped;
    uint32_t i;

    for (i = 0; i < NSC_LIMITS; i++)
        refused += limits->refused[i];
    return refused > 0;
}

static void fill(struct nsc_limits_ration *r)
{
    uint64_t now_ns = nsc_now_ns(), passed_ns = now_ns - r->filled_ns, more;

    if (passed_ns > LONG_NS)
        passed_ns = LONG_NS;
    more = passed_ns / 1000 * r->per_second / 1000000;
    if (more == 0)
        return;
    r->left = more < r->most - r->left ? r->left + more : r->most;
    r->filled_ns = now_ns;
}

bool nsc_limits_ration_take(struct nsc_limits_ration *r, uint64_t amount)
{
    if (r->left < amount)
        fill(r);
    if (r->left < amount)
        return false;
    r->left -= amount;
    return true;
}
