/*
 * Fuzzes the analyses with traces that say anything: report, tree, calls and replay must neither
 * break nor disagree on how many calls there are. A part that is cut out of one is a good trace.
 *
 * Build and run: make fuzz
 */
#include "analyze/calls/calls.h"
#include "analyze/functions/report.h"
#include "analyze/functions/thread_usage.h"
#include "analyze/paths/call_tree.h"
#include "analyze/replay/replay.h"
#include "formats/nst/nst_trim.h"
#include "fuzz/rigs/trace_input.h"
#include "trace/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define EVENTS_MAX (1u << 20) /* a compressed chunk can be long: no use in reading all of it */

static bool count_call(void *context, const struct nsc_call *call)
{
    uint64_t *calls = context;

    if (call->end_ticks < call->start_ticks)
        abort();
    ++*calls;
    return true;
}

static bool count_item(void *context, const struct nsc_replay_item *item)
{
    uint64_t *ends = context;

    *ends += item->kind == NSC_REPLAY_CALL || item->kind == NSC_REPLAY_END ||
             item->kind == NSC_REPLAY_LATE;
    return true;
}

static uint64_t calls_of_tree(struct nsc_trace *t, const struct nsc_selection *s, bool *read)
{
    struct nsc_tree tree;
    uint64_t calls;

    *read = nsc_tree_make(t, s, NULL, &tree, NULL) == 0;
    if (!*read)
        return 0;
    calls = tree.folded_calls;
    for (uint32_t i = 0; i < tree.count; i++)
        calls += tree.nodes[i].calls;
    nsc_tree_free(&tree);
    return calls;
}

/* What was left out does not change what was recorded. */
static void add_left_out(struct nsc_trace *t, const struct nsc_selection *s, struct nsc_report *r)
{
    struct nsc_left_out_list list;
    uint64_t calls = 0;

    if (nsc_left_out_find(t, s, &list, NULL) != 0 || nsc_report_add_left_out(r, &list, NULL) != 0)
        abort();
    for (size_t i = 0; i < r->row_count; i++)
        calls += r->rows[i].calls;
    if (calls != r->calls || list.count > nsc_trace_info(t)->left_out_count)
        abort();
    nsc_left_out_free(&list);
}

static void find_usage(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_usage usage;

    if (nsc_usage_find(t, s, &usage, NULL) == 0)
        nsc_usage_free(&usage);
}

/* Whether the marks, which only a replay reads, can be read to their end. */
static bool are_marks_whole(struct nsc_trace *t)
{
    int more = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->thread_count && more == 0; i++) {
        struct nsc_note_cursor *marks;
        struct nsc_note note;

        more = nsc_note_cursor_open(t, NSC_NOTE_MARK, i, false, 0, &marks, NULL);
        if (more != 0)
            break;
        while ((more = nsc_note_cursor_next(marks, &note, NULL)) > 0)
            ;
        nsc_note_cursor_close(marks);
    }
    return more == 0;
}

static void ignore_fault(void *context, const struct nsc_diag *d)
{
    (void)context;
    (void)d;
}

/* All ways to count calls must agree, or all must fail; but a replay alone fails for its marks, and
 * a tree for an index that lies, of which verify has to know. */
static void analyze(struct nsc_trace *t, const char *path, const struct nsc_selection *s)
{
    uint64_t by_thread = 0, by_end = 0, replayed = 0, in_tree;
    struct nsc_report report;
    bool tree_read;

    if (nsc_report_make(t, s, false, &report, NULL) != 0)
        return;
    in_tree = calls_of_tree(t, s, &tree_read);
    if (nsc_calls_scan(t, s, NSC_CALLS_BY_THREAD, NULL, count_call, &by_thread, NULL) != 0 ||
        nsc_calls_scan(t, s, NSC_CALLS_BY_END, NULL, count_call, &by_end, NULL) != 0 ||
        by_thread != report.calls || by_end != report.calls)
        abort();
    if (tree_read ? in_tree != report.calls : nsc_trace_verify(path, ignore_fault, NULL, NULL) == 0)
        abort();
    if (nsc_replay(t, s, UINT32_MAX, count_item, &replayed, NULL) == 0 ? replayed != report.calls
                                                                       : are_marks_whole(t))
        abort();
    add_left_out(t, s, &report);
    nsc_report_sort(&report, t, NSC_REPORT_BY_TOTAL);
    nsc_report_free(&report);
}

/* Sums from the index of a file that may lie: other numbers, but no harm. */
static void take_index(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_selection with = *s;
    struct nsc_report report;

    with.index = NSC_SELECTION_INDEX_ALWAYS;
    if (nsc_report_make(t, &with, true, &report, NULL) == 0)
        nsc_report_free(&report);
}

static void tell_fault(void *context, const struct nsc_diag *d)
{
    (void)context;
    fprintf(stderr, "%s\n", d->message);
}

/* Whatever is in a trace, what is cut out of it holds together. */
static void cut_part(struct nsc_trace *t, const struct nsc_selection *s)
{
    static int fd = -1;
    static char path[32];
    struct nsc_nst_trim_result result;
    struct nsc_writer *w;

    if (fd < 0) {
        fd = memfd_create("part", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 ||
        nsc_writer_create_fd(fd, "part", NULL, &w, NULL) != 0)
        return;
    if (nsc_nst_trim_write(t, s, w, NULL, NULL, &result, NULL) != 0) {
        nsc_writer_abandon(w);
        return;
    }
    if (nsc_writer_finish(w, NULL) == 0 && nsc_trace_verify(path, tell_fault, NULL, NULL) != 0)
        abort();
}

static void analyze_file(const char *path, unsigned flags, uint8_t seed)
{
    const struct nsc_trace_info *info;
    struct nsc_selection s;
    struct nsc_trace *t;

    if (nsc_trace_open(path, flags, &t, NULL) != 0)
        return;
    info = nsc_trace_info(t);
    nsc_selection_init(&s);
    if (info->events < EVENTS_MAX) {
        uint64_t span = info->end_ticks - info->start_ticks;

        analyze(t, path, &s);
        take_index(t, &s);
        find_usage(t, &s);
        cut_part(t, &s);
        s.from_ticks = info->start_ticks + span / 256 * seed;
        s.to_ticks = s.from_ticks + span / 4;
        take_index(t, &s);
        cut_part(t, &s);
        s.hidden = calloc(info->function_count + 1u, 1);
        for (uint32_t i = 0; s.hidden && i < info->function_count; i++)
            s.hidden[i] = (uint8_t)(seed + i) % 3 == 0;
        analyze(t, path, &s);
        find_usage(t, &s);
        cut_part(t, &s);
    }
    nsc_selection_free(&s);
    nsc_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_trace_file(data, bytes);

    if (path != NULL) {
        uint8_t seed = bytes > 0 ? data[bytes / 2] : 0;

        analyze_file(path, 0, seed);
        analyze_file(path, NSC_NST_RECOVER, seed);
    }
    return 0;
}
