/*
 * test_handle_diff.c - /api/diff: there with two traces only, and the numbers of
 * analyze/compare/trace_diff.h, which test_trace_diff.c holds against a count by hand.
 */
#include "analyze/compare/trace_diff.h"
#include "tap.h"
#include "unit/rigs/engine_rig.h"

/* The number by which the answer calls a row's function: its place among the functions told, whose
 * names have no other brackets in them. */
static unsigned number_of(const char *text, const struct nsc_diff_row *row)
{
    const char *at = strstr(text, "\"functions\":[");
    unsigned number = 0;
    char want[256];
    const char *found;

    snprintf(want, sizeof want, "[\"%s\",null,%u,%u]", row->name, row->functions[0],
             row->functions[1]);
    found = at != NULL ? strstr(at, want) : NULL;
    CHECK(found != NULL);
    for (; found != NULL && at < found; at++)
        number += at[0] == ']' && at[1] == ',';
    return number;
}

static void check_rows(struct rig *rig, const struct nsc_diff *d)
{
    const char *at = rig_text(rig);

    CHECK(d->row_count > 1);
    for (uint32_t i = 0; i < d->row_count; i++) {
        const struct nsc_diff_row *row = &d->rows[i];
        const struct nsc_diff_sums *a = &row->sums[0], *b = &row->sums[1];
        char want[512];

        snprintf(want, sizeof want, "[%u,%llu,%llu,%llu,%llu,%llu,%llu]",
                 number_of(rig_text(rig), row), (unsigned long long)a->calls,
                 (unsigned long long)b->calls, (unsigned long long)a->total_ns,
                 (unsigned long long)b->total_ns, (unsigned long long)a->self_ns,
                 (unsigned long long)b->self_ns);
        CHECK(at != NULL && (at = strstr(at, want)) != NULL);
    }
}

/* Without the spaces and line breaks between the parts. */
static void squeeze(struct rig *rig)
{
    char *to = (char *)rig->reply.bytes;

    for (const char *at = to; *at != '\0'; at++)
        if (*at != ' ' && *at != '\n')
            *to++ = *at;
    *to = '\0';
}

/* Paths that are told, by how many are folded. */
static unsigned long long folded(struct rig *rig, const char *request)
{
    const char *at;

    CHECK_U64(rig_ask(rig, "%s", request), 200);
    squeeze(rig);
    at = strstr(rig_text(rig), "\"folded\":");
    CHECK(at != NULL);
    return at != NULL ? strtoull(at + 9, NULL, 10) : 0;
}

static void test_two(struct rig *rig)
{
    struct nsc_trace *traces[] = {rig->trace, rig->trace};
    struct nsc_selection s[NSC_DIFF_SIDES];
    const struct nsc_selection *selections[] = {&s[0], &s[1]};
    struct nsc_diag diag = {0};
    struct nsc_diff d = {0};

    nsc_engine_close(rig->engine);
    rig->engine = NULL;
    CHECK(nsc_engine_open(traces, 2, NULL, &rig->engine) == 0);
    CHECK(rig_ask(rig, "/api/trace") == 200 && strstr(rig_text(rig), "\"diff\"") != NULL);
    nsc_selection_init(&s[0]);
    nsc_selection_init(&s[1]);
    nsc_selection_window(&s[0], rig->trace, 0, 9000);
    nsc_selection_window(&s[1], rig->trace, 0, 5000);
    CHECK(nsc_diff_make(traces, selections, &d, NULL, &diag) == 0);
    CHECK_U64(rig_ask(rig, "/api/diff?sort=name&to=9000&to_b=5000"), 200);
    squeeze(rig);
    check_rows(rig, &d);
    CHECK_U64(folded(rig, "/api/diff?nodes=0&to=9000&to_b=5000"), d.node_count);
    CHECK_U64(folded(rig, "/api/diff?nodes=0&longest=100000"), 0);
    CHECK_U64(folded(rig, "/api/diff?nodes=0&longest=1&to=9000&to_b=5000"), d.node_count - 1);
    CHECK_U64(rig_ask(rig, "/api/diff?limit=1&nodes=0&threads=0&threads_b=1"), 200);
    CHECK_U64(rig_ask(rig, "/api/diff?to_b=5&from_b=9"), 400);
    CHECK_U64(rig_ask(rig, "/api/diff?threads_b=99"), 400);
    CHECK_U64(rig_ask(rig, "/api/diff?sort=ratio"), 400);
    CHECK_U64(rig_ask(rig, "/api/diff?nodes=100001"), 400);
    nsc_diff_free(&d);
}

int main(void)
{
    const struct rig_options options = {
        .threads = 2, .functions = 5, .max_depth = 6, .events = 3000, .step = 20, .gaps = true};
    struct rig rig;

    if (!rig_make(&rig, &options, 5))
        return 1;
    CHECK(rig_ask(&rig, "/api/trace") == 200 && strstr(rig_text(&rig), "\"diff\"") == NULL);
    CHECK_U64(rig_ask(&rig, "/api/diff"), 404);
    test_two(&rig);
    rig_free(&rig);
    return t_done();
}
