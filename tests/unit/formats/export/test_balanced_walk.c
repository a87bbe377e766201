/*
 * test_balanced_walk.c - windows, filters, late exits and gaps, as exporters see them: the expected
 * walk stands beside the events it is made of.
 */
#include "formats/export/balanced_walk.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

static struct nsc_diag diag;

/* Events to record: `a` enters, `)` exits, `!` unwinds, `La` late exit of a, `x` a gap; a tick
 * each. */
static const char *script;

static void fill(struct nsc_writer *w)
{
    struct nsc_lane *lane = fx_thread(w, fx_process(w, 10, "p"), 10, 0, "t");
    uint64_t ticks = 0;

    for (char name[2] = "a"; name[0] <= 'e'; name[0]++)
        fx_function(w, name, "", 0);
    for (const char *s = script; *s != '\0'; s++) {
        if (*s == ' ')
            continue;
        ticks += 10;
        if (*s == ')')
            nsc_lane_exit(lane, ticks);
        else if (*s == '!')
            nsc_lane_unwind(lane, ticks);
        else if (*s == 'x')
            nsc_lane_lost(lane, ticks, 7);
        else if (*s == 'L')
            nsc_lane_late_exit(lane, ticks, (uint32_t)(*++s - 'a'));
        else
            nsc_lane_enter(lane, ticks, (uint32_t)(*s - 'a'), 0);
    }
    nsc_lane_close(lane, ticks);
}

/* The walk as text: "a@10 b@20 )30 ..." with [s e S E] for bounds and cuts, x for gaps. */
static const char *walked(struct nsc_trace *t, const struct nsc_walk_options *options)
{
    static char text[1024];
    char *at = text;
    struct nsc_walk *w;
    struct nsc_walk_event e;
    int more;
    uint64_t last = 0;
    uint32_t depth = 0;

    if (nsc_walk_open(t, 0, options, &w, &diag) != 0)
        return diag.message;
    text[0] = '\0';
    while ((more = nsc_walk_next(w, &e, &diag)) > 0) {
        if (e.ticks < last)
            at += sprintf(at, "BACKWARDS ");
        last = e.ticks;
        if (e.kind == NSC_WALK_BEGIN && e.depth != depth++)
            at += sprintf(at, "DEPTH ");
        if (e.kind == NSC_WALK_END && e.depth != --depth)
            at += sprintf(at, "DEPTH ");
        if (e.kind == NSC_WALK_BEGIN)
            at += sprintf(at, "%c%d", 'a' + (int)e.function, (int)e.ticks);
        else if (e.kind == NSC_WALK_LOST)
            at += sprintf(at, "x%d", (int)e.ticks);
        else
            at += sprintf(at, "%s%c%d", e.kind == NSC_WALK_LATE ? "L" : ")", 'a' + (int)e.function,
                          (int)e.ticks);
        at += sprintf(at, "%s%s%s%s ", e.bound & NSC_BOUND_START ? "s" : "",
                      e.bound & NSC_BOUND_END ? "e" : "", e.bound & NSC_WALK_CUT_START ? "S" : "",
                      e.bound & NSC_WALK_CUT_END ? "E" : "");
    }
    nsc_walk_close(w);
    if (at > text)
        at[-1] = '\0';
    if (more < 0)
        return diag.message;
    return text;
}

static void check(const char *events, uint64_t from, uint64_t to, const char *hidden, bool raw,
                  const char *want)
{
    uint8_t hide[8] = {0};
    struct nsc_walk_options options = {
        .from_ticks = from, .to_ticks = to, .hidden = hide, .raw_late = raw};
    struct nsc_trace *t;

    for (; *hidden != '\0'; hidden++)
        hide[*hidden - 'a'] = 1;
    script = events;
    t = fx_trace(fill);
    t_report_str(walked(t, &options), want, __FILE__, __LINE__, events);
    nsc_trace_close(t);
}

#define ALL 0, UINT64_MAX

int main(void)
{
    fx_begin();
    /*                           10 20 30 40 ... */
    check("a b ) c ) )", ALL, "", false, "a10 b20 )b30 c40 )c50 )a60");
    check("a b !", ALL, "", false, "a10 b20 )b30e )a30e");
    check("", ALL, "", false, "");

    /* windows: [from, to) */
    check("a b ) c ) )", 25, 45, "", false, "a25S b25S )b30S c40 )c45E )a45SE");
    check("a b ) c ) )", 30, 40, "", false, "a30S )a40SE");
    check("a b ) c ) )", 31, 39, "", false, "a31S )a39SE");
    check("a b ) c ) )", 20, 30, "", false, "a20S b20 )b30 )a30SE");
    check("a b ) c ) )", 60, 90, "", false, "");
    check("a b ) c ) )", 0, 10, "", false, "");
    check("a b ) c ) )", 0, 11, "", false, "a10 )a11E");
    check("a ) b )", 20, 30, "", false, "");

    /* hidden functions leave their callees to their callers */
    check("a b c ) ) )", ALL, "b", false, "a10 c30 )c40 )a60");
    check("a b c ) ) )", ALL, "ac", false, "b20 )b50");
    check("a b c ) ) )", 35, 45, "b", false, "a35S c35S )c40S )a45SE");
    check("a b x ) )", ALL, "abcde", false, "x30");

    /* late exits begin with the thread, or in the last gap that left them room */
    check("Lb a ) Lc", ALL, "", false, "c10s b10s )b10s a20 )a30 )c40s");
    check("a ) x b ) Lc Ld", ALL, "", false, "a10 )a20 x30 d30s c30s b40 )b50 )c60s )d70s");
    check("a x ) b ) Lc", ALL, "", false, "a10 x20 )a30 c30s b40 )b50 )c60s");
    check("a x b ) Lc ) Ld", ALL, "", false, "a10 x20 c20s b30 )b40 )c50s )a60 d60s )d70s");
    check("a x ! Lc x Ld", ALL, "", false, "a10 x20 )a30e c30s )c40s x50 d50s )d60s");
    check("Lb a ) Lc", ALL, "c", false, "b10s )b10s a20 )a30");
    check("Lb a ) Lc", 15, 35, "", false, "c15sS a20 )a30 )c35sSE");
    check("Lb a ) Lc", ALL, "", true, "Lb10s a20 )a30 Lc40s");
    fx_end();
    return t_done();
}
