/*
 * test_handle_call.c - /api/call and /api/step against the calls of random threads: every call is
 * found by its time and depth, with its callers, callees and own time; steps go to the nearest.
 */
#include "analyze/calls/calls.h"
#include "tap.h"
#include "unit/rigs/engine_rig.h"

/* A number of the answer: the first behind "key":. UINT64_MAX if there is none. */
static uint64_t number_of(const char *text, const char *key)
{
    char name[64];
    const char *at;

    snprintf(name, sizeof name, "\"%s\":", key);
    at = strstr(text, name);
    return at != NULL && at[strlen(name)] != 'n' ? strtoull(at + strlen(name), NULL, 10)
                                                 : UINT64_MAX;
}

/* Those that were asked for and found. */
static unsigned late_calls;

static bool flag_of(const char *text, const char *key)
{
    char name[64];

    snprintf(name, sizeof name, "\"%s\":true", key);
    return strstr(text, name) != NULL;
}

/* The call that is open behind @at at a depth, or the last that began and ended in it; -1: none. */
static long open_call(const struct rig_thread *t, uint64_t at, uint32_t depth)
{
    long instant = -1;

    for (size_t i = 0; i < t->count && t->calls[i].start <= at; i++) {
        const struct rig_call *c = &t->calls[i];

        if (c->depth != depth || c->late)
            continue;
        if (c->end > at)
            return (long)i;
        if (c->start == at)
            instant = (long)i;
        else if (c->start > at)
            break;
    }
    return instant;
}

static uint64_t children_of(const struct rig_thread *t, long index, uint64_t *ticks)
{
    uint64_t count = 0;

    *ticks = 0;
    for (size_t i = (size_t)index + 1; i < t->count; i++) {
        if (t->calls[i].start_ticks > t->calls[index].end_ticks)
            break;
        if (t->calls[i].caller != index)
            continue;
        count++;
        *ticks += t->calls[i].end_ticks - t->calls[i].start_ticks;
    }
    return count;
}

static bool stack_agrees(const struct rig_thread *t, long index, const char *text)
{
    char want[64 * 64] = "\"stack\":[";
    size_t used;
    uint32_t depth = t->calls[index].depth;

    for (uint32_t d = 0; d < depth; d++) {
        long at = index;

        for (uint32_t up = d; up < depth; up++)
            at = t->calls[at].caller;
        used = strlen(want);
        snprintf(want + used, sizeof want - used, "%s{\"function\":%u,\"start\":%llu,\"end\":%llu}",
                 d > 0 ? "," : "", t->calls[at].function, (unsigned long long)t->calls[at].start,
                 (unsigned long long)t->calls[at].end);
    }
    used = strlen(want);
    snprintf(want + used, sizeof want - used, "]");
    return strstr(text, want) != NULL;
}

/* @exact: the model's children and own times hold (no late calls took them over). */
static bool call_agrees(const struct rig *rig, uint32_t thread, long index, const char *text,
                        bool exact)
{
    const struct rig_thread *t = &rig->threads[thread];
    const struct rig_call *c = &t->calls[index];
    uint64_t child_ticks, children = children_of(t, index, &child_ticks), self;

    self =
        nsc_clock_span_ns(nsc_trace_clock(rig->trace), c->end_ticks - c->start_ticks - child_ticks);
    if (number_of(text, "thread") == thread && number_of(text, "function") == c->function &&
        number_of(text, "depth") == c->depth && number_of(text, "start") == c->start &&
        number_of(text, "end") == c->end && number_of(text, "number") == c->number &&
        flag_of(text, "end_bound") == (c->bound != 0) && !flag_of(text, "start_bound") &&
        (!exact ||
         (number_of(text, "self") == self &&
          (number_of(text, "children") == children || strstr(text, "\"children\":null") != NULL))))
        return true;
    printf("# got %s\n# want function %u depth %u start %llu end %llu self %llu number %llu "
           "children %llu\n",
           text, c->function, c->depth, (unsigned long long)c->start, (unsigned long long)c->end,
           (unsigned long long)self, (unsigned long long)c->number, (unsigned long long)children);
    return false;
}

/* A call that was not seen to begin, as a scan of all calls tells it. */
struct late {
    uint64_t from_ticks, to_ticks; /* the instant */
    uint32_t thread, depth;
    struct nsc_call call;
    bool found;
};

static bool offer_late(void *context, const struct nsc_call *call)
{
    struct late *late = context;

    if (call->thread != late->thread || (call->bound & NSC_BOUND_START) == 0 ||
        call->depth != late->depth || call->start_ticks > late->to_ticks ||
        call->end_ticks < late->from_ticks)
        return true;
    late->call = *call;
    late->found = true;
    return false;
}

/* Where no call is open that was seen to begin: the answer is @text. */
static bool late_agrees(struct rig *rig, uint32_t thread, uint64_t at, uint32_t depth,
                        unsigned status)
{
    const struct nsc_clock *clock = nsc_trace_clock(rig->trace);
    const char *text = rig_text(rig);
    struct late late = {.thread = thread,
                        .depth = depth,
                        .from_ticks = nsc_clock_ticks(clock, at),
                        .to_ticks = nsc_clock_ticks(clock, at + 1) - 1};
    struct nsc_selection everything;
    struct nsc_diag diag;

    nsc_selection_init(&everything);
    if (nsc_calls_scan(rig->trace, &everything, NSC_CALLS_BY_THREAD, NULL, offer_late, &late,
                       &diag) != 0)
        return false;
    if (!late.found)
        return status == 404;
    late_calls += status == 200;
    return status == 200 && number_of(text, "function") == late.call.function &&
           number_of(text, "number") == late.call.number &&
           number_of(text, "start") == nsc_clock_ns(clock, late.call.start_ticks) &&
           number_of(text, "end") == nsc_clock_ns(clock, late.call.end_ticks) &&
           number_of(text, "self") == nsc_clock_span_ns(clock, late.call.self_ticks) &&
           flag_of(text, "start_bound") && !flag_of(text, "end_bound") &&
           strstr(text, "\"children\":null") != NULL;
}

static bool ask_call(struct rig *rig, uint32_t thread, uint64_t at, uint32_t depth, bool exact)
{
    long index = open_call(&rig->threads[thread], at, depth);
    unsigned status =
        rig_ask(rig, "/api/call?thread=%u&at=%llu&depth=%u", thread, (unsigned long long)at, depth);

    if (index < 0 && late_agrees(rig, thread, at, depth, status))
        return true;
    if (status != 200 || index < 0) {
        printf("# thread %u at %llu depth %u: %s, want %s\n", thread, (unsigned long long)at, depth,
               rig_text(rig), index < 0 ? "none, or a late one" : "a call");
        return false;
    }
    if (!call_agrees(rig, thread, index, rig_text(rig), exact))
        return false;
    if (!stack_agrees(&rig->threads[thread], index, rig_text(rig))) {
        printf("# stack: %s\n", rig_text(rig));
        return false;
    }
    return true;
}

/* At random times, and at the starts and ends of calls. */
static bool calls_agree(struct rig *rig, uint32_t rounds, bool exact, struct model_random *r)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t thread = model_random(r) % rig->thread_count;
        const struct rig_thread *t = &rig->threads[thread];
        const struct rig_call *c = &t->calls[model_random(r) % t->count];
        uint64_t at = c->start + (c->end > c->start ? model_random(r) % (c->end - c->start) : 0);
        uint32_t depth = c->depth + (model_random(r) % 8 == 0);

        at = i % 4 == 0 ? c->start : i % 4 == 1 ? c->end : at;
        if (!ask_call(rig, thread, at, depth, exact))
            return false;
    }
    return true;
}

/* At the ends of all calls that were not seen to begin, and a little before. */
static bool late_calls_agree(struct rig *rig, bool exact)
{
    for (uint32_t thread = 0; thread < rig->thread_count; thread++) {
        const struct rig_thread *t = &rig->threads[thread];

        for (size_t i = 0; i < t->count; i++)
            if (t->calls[i].late &&
                (!ask_call(rig, thread, t->calls[i].end, t->calls[i].depth, exact) ||
                 !ask_call(rig, thread, t->calls[i].end - 1, t->calls[i].depth, exact)))
                return false;
    }
    return true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The nearest call of a function after or before @at; -1: none. */
static long nearest(const struct rig *rig, uint32_t function, uint64_t at, bool forwards,
                    long only_thread, uint32_t *thread)
{
    const struct rig_call *best = NULL;
    long found = -1;

    for (uint32_t k = 0; k < rig->thread_count; k++) {
        const struct rig_thread *t = &rig->threads[k];

        for (size_t i = 0; i < t->count; i++) {
            const struct rig_call *c = &t->calls[i];
            bool same = best != NULL && *thread == k && c->start_ticks == best->start_ticks;

            if (c->function != function || c->late || (only_thread >= 0 && k != only_thread) ||
                (forwards ? c->start <= at : c->start >= at))
                continue;
            if (best != NULL && !(forwards ? c->start_ticks < best->start_ticks
                                           : same || c->start_ticks > best->start_ticks))
                continue;
            best = c;
            *thread = k;
            found = (long)i;
        }
    }
    return found;
}

static bool steps_agree(struct rig *rig, uint32_t rounds, bool exact, struct model_random *r)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t function = model_random(r) % rig->function_count, thread = 0;
        uint64_t at = nsc_clock_ns(
            nsc_trace_clock(rig->trace),
            rig->threads[0].model.events[model_random(r) % rig->threads[0].model.count].ticks);
        long only = i % 3 == 0 ? (long)(model_random(r) % rig->thread_count) : -1;
        bool forwards = i % 2 == 0;
        long want = nearest(rig, function, at, forwards, only, &thread);
        char which[32] = "";
        unsigned status;

        if (only >= 0)
            snprintf(which, sizeof which, "&thread=%ld", only);
        status = rig_ask(rig, "/api/step?function=%u&at=%llu&go=%s%s", function,
                         (unsigned long long)at, forwards ? "next" : "previous", which);
        if (status != (want < 0 ? 404u : 200u) ||
            (want >= 0 &&
             number_of(rig_text(rig), "start") != rig->threads[thread].calls[want].start) ||
            (want >= 0 && number_of(rig_text(rig), "function") != function)) {
            printf("# function %u %s %llu: %s\n", function, forwards ? "after" : "before",
                   (unsigned long long)at, rig_text(rig));
            return false;
        }
        /* Of calls that take no time and begin together any may be told. */
        if (want >= 0 &&
            rig->threads[thread].calls[want].end_ticks >
                rig->threads[thread].calls[want].start_ticks &&
            !call_agrees(rig, thread, want, rig_text(rig), exact))
            return false;
    }
    return true;
}

static bool longest_agrees(struct rig *rig, struct model_random *r)
{
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t function = model_random(r) % rig->function_count;
        uint64_t before = UINT64_MAX, count = 0;

        for (uint32_t k = 0; k < rig->thread_count; k++)
            for (size_t n = 0; n < rig->threads[k].count; n++)
                count += rig->threads[k].calls[n].function == function;
        for (uint64_t nth = 1; nth <= count + 1 && nth <= 20; nth++) {
            unsigned status = rig_ask(rig, "/api/step?function=%u&go=longest&nth=%llu", function,
                                      (unsigned long long)nth);
            uint64_t took, longer = 0;

            if (nth > count)
                return status == 404;
            took = number_of(rig_text(rig), "end") - number_of(rig_text(rig), "start");
            for (uint32_t k = 0; k < rig->thread_count; k++)
                for (size_t n = 0; n < rig->threads[k].count; n++)
                    longer += rig->threads[k].calls[n].function == function &&
                              rig->threads[k].calls[n].end - rig->threads[k].calls[n].start > took;
            if (status != 200 || took > before || longer >= nth)
                return false;
            before = took;
        }
    }
    return true;
}

static void test_random(const char *what, const struct rig_options *o, uint32_t seeds,
                        uint32_t rounds)
{
    bool fits = true;

    for (uint32_t seed = 1; seed <= seeds && fits; seed++) {
        struct model_random r = {seed};
        struct rig rig;

        fits = rig_make(&rig, o, seed) && calls_agree(&rig, rounds, !o->gaps, &r) &&
               late_calls_agree(&rig, !o->gaps) && steps_agree(&rig, rounds, !o->gaps, &r) &&
               (o->gaps || o->frequency != 0 || longest_agrees(&rig, &r));
        if (!fits)
            printf("# %s, seed %u\n", what, seed);
        rig_free(&rig);
    }
    t_report(fits, __FILE__, __LINE__, what);
}

int main(void)
{
    const uint32_t less = T_SANITIZED ? 4 : 1;

    test_random("small traces",
                &(struct rig_options){
                    .threads = 2, .functions = 9, .max_depth = 6, .events = 400, .step = 50},
                40 / less, 100);
    test_random("many chunks",
                &(struct rig_options){.threads = 2,
                                      .functions = 30,
                                      .max_depth = 12,
                                      .events = 4000,
                                      .memory_bytes = 1 << 16,
                                      .step = 80},
                10 / less, 100);
    test_random("very many chunks",
                &(struct rig_options){.threads = 1,
                                      .functions = 200,
                                      .max_depth = 20,
                                      .events = 40000,
                                      .memory_bytes = 1 << 16,
                                      .step = 80},
                4 / less, 100);
    test_random("rare functions",
                &(struct rig_options){.threads = 2,
                                      .functions = 5000,
                                      .max_depth = 20,
                                      .events = 40000,
                                      .memory_bytes = 1 << 20,
                                      .step = 80},
                2 / less, 60);
    test_random("gaps",
                &(struct rig_options){.threads = 2,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 1000,
                                      .memory_bytes = 1 << 16,
                                      .step = 80,
                                      .gaps = true},
                10 / less, 100);
    CHECK(late_calls > 0);
    test_random("a fast clock",
                &(struct rig_options){.threads = 1,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 1000,
                                      .frequency = 2900000000,
                                      .step = 200},
                10 / less, 100);
    test_random("full chunks",
                &(struct rig_options){
                    .threads = 2, .functions = 50, .max_depth = 8, .events = 200000, .step = 300},
                1, 60);
    return t_done();
}
