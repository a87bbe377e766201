/*
 * test_notes.c - samples, states, marks, counters and left-out functions: what is written is
 * read, from any time on, compressed or not, out of cut files as far as they go; and damage is
 * found.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/nst/nst_copy.h"
#include "tap.h"
#include "trace/format/format.h"
#include "unit/rigs/note_model.h"

#define THREADS   3
#define FUNCTIONS 5

static char folder[] = "/tmp/nsc-test-notes-XXXXXX";
static char path[64], other_path[64];

static struct nsc_writer *create(const char *at, size_t memory, bool compress)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = memory, .compress = compress, .overwrite = true};
    struct nsc_writer *w;

    if (nsc_writer_create(at, &options, &w, NULL) != 0)
        abort();
    return w;
}

static struct nsc_trace *open_trace(const char *at, unsigned flags)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_trace *t = NULL;

    if (nsc_trace_open(at, flags, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/* A trace of @count random notes, with a few calls between them. */
static void make(struct model_notes *notes, const char *at, size_t count, size_t memory,
                 bool compress)
{
    struct model_random r = {count};
    struct model_thread threads[THREADS] = {{.lane = NULL}};
    struct nsc_writer *w = create(at, memory, compress);

    memset(notes, 0, sizeof *notes);
    model_tables(w, threads, THREADS, FUNCTIONS);
    for (size_t i = 0; i < count; i++) {
        note_step(notes, w, &r, THREADS);
        model_step(&threads[i % THREADS], &r, FUNCTIONS, 5, 10);
        if (i == count / 2)
            nsc_writer_flush(w);
    }
    for (int i = 0; i < THREADS; i++) {
        model_close(&threads[i]);
        model_free(&threads[i]);
    }
    CHECK(nsc_writer_finish(w, NULL) == 0);
}

static void fail_problem(void *ctx, const struct nsc_diag *d)
{
    (void)ctx;
    printf("# %s at %llu\n", d->message, (unsigned long long)d->offset);
}

static void ignore_problem(void *ctx, const struct nsc_diag *d)
{
    (void)ctx;
    (void)d;
}

static void check_trace(struct model_notes *notes, const char *at)
{
    struct nsc_trace *t = open_trace(at, 0);
    uint64_t sum = 0;

    CHECK(t != NULL);
    if (t == NULL)
        return;
    for (int i = 0; i < NSC_NOTE_KINDS; i++)
        sum += nsc_trace_info(t)->notes[i];
    CHECK_U64(sum, notes->count);
    CHECK(note_read_all(notes, t, THREADS, 0, false) == (long)notes->count);
    for (int i = 1; i < 8; i++)
        CHECK(note_read_all(notes, t, THREADS, notes->ticks / 7 * (unsigned)i, false) >= 0);
    CHECK(note_read_all(notes, t, THREADS, notes->ticks + 1, false) == 0);
    CHECK(nsc_trace_note_count(t, NSC_NOTE_MARK, 99, false) == 0);
    nsc_trace_close(t);
    CHECK(nsc_trace_verify(at, fail_problem, NULL, NULL) == 0);
}

static void check_round_trip(size_t count, size_t memory, bool compress)
{
    struct model_notes notes;

    printf("# %zu notes, memory bound %zu%s\n", count, memory, compress ? ", compressed" : "");
    make(&notes, path, count, memory, compress);
    check_trace(&notes, path);
    CHECK(nsc_nst_recover(path, other_path,
                          &(struct nsc_writer_options){.size = sizeof(struct nsc_writer_options),
                                                       .overwrite = true},
                          NULL, NULL, NULL) == 0);
    check_trace(&notes, other_path);
    CHECK(nsc_nst_compress(path, other_path, true, NULL) == 0);
    check_trace(&notes, other_path);
    free(notes.items);
}

/* The first @bytes bytes of the trace at `path` as another file, with one byte changed or none. */
static void write_part(const uint8_t *data, size_t bytes, size_t changed)
{
    int fd = open(other_path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    uint8_t byte = changed < bytes ? data[changed] ^ 0x21 : 0;

    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes ||
        (changed < bytes && pwrite(fd, &byte, 1, (off_t)changed) != 1))
        abort();
    close(fd);
}

static uint8_t *read_whole(size_t *bytes)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    uint8_t *data;

    if (fd < 0 || fstat(fd, &st) != 0)
        abort();
    *bytes = (size_t)st.st_size;
    data = malloc(*bytes + 1);
    if (data == NULL || read(fd, data, *bytes) != st.st_size)
        abort();
    close(fd);
    return data;
}

/* Notes of the damaged file, or -1 if one was never written; 0 for a file that cannot be read. */
static long read_damaged(struct model_notes *notes)
{
    struct nsc_trace *t;
    long count;

    if (nsc_trace_open(other_path, NSC_NST_RECOVER | NSC_TRACE_SCAN, &t, NULL) != 0)
        return 0;
    count = note_read_all(notes, t, THREADS, 0, true);
    nsc_trace_close(t);
    return count;
}

/* Whatever is left of a file, no note is read that was not written. */
static void check_damage(void)
{
    struct model_notes notes;
    uint8_t *data;
    size_t bytes;
    long most = 0;
    bool good = true, grows = true;

    make(&notes, path, 600, 1, false);
    data = read_whole(&bytes);
    for (size_t i = 0; i < bytes && good; i += 1 + i % 97) {
        long count;

        write_part(data, i, SIZE_MAX);
        count = read_damaged(&notes);
        good = count >= 0;
        grows &= count >= most;
        most = count > most ? count : most;
        write_part(data, bytes, i);
        good &= read_damaged(&notes) >= 0;
        good &= nsc_trace_verify(other_path, ignore_problem, NULL, NULL) != 0;
    }
    CHECK(good);
    CHECK(grows);
    CHECK_U64((unsigned long)most, notes.count);
    free(data);
    free(notes.items);
}

/* ---- What the writer refuses, cuts and puts right -------------------------------------------- */

static void check_refused(void)
{
    struct model_thread thread = {.lane = NULL};
    struct nsc_writer *w = create(path, 0, false);
    struct nsc_note note = {.kind = NSC_NOTE_COUNTER, .counter = {.name = "n"}};

    CHECK(nsc_writer_note(w, &note) == -EINVAL); /* there is no thread yet */
    model_tables(w, &thread, 1, FUNCTIONS);
    CHECK(nsc_writer_note(w, &note) == 0);
    note.owner = 1;
    CHECK(nsc_writer_note(w, &note) == -EINVAL);
    note.owner = 0;
    note.kind = NSC_NOTE_KINDS;
    CHECK(nsc_writer_note(w, &note) == -EINVAL);
    note = (struct nsc_note){.kind = NSC_NOTE_STATE, .of_process = true};
    CHECK(nsc_writer_note(w, &note) == -EINVAL);
    note = (struct nsc_note){.kind = NSC_NOTE_SAMPLE, .sample.known = 1u << NSC_SAMPLE_FIELDS};
    CHECK(nsc_writer_note(w, &note) == -EINVAL);
    nsc_writer_abandon(w);
}

static void check_bounds(void)
{
    static char text[NSC_NOTE_TEXT_MAX + 10];
    struct model_thread thread = {.lane = NULL};
    struct nsc_writer *w = create(path, 0, false);
    struct nsc_note note = {
        .kind = NSC_NOTE_MARK, .ticks = 100, .mark = {.name = "late", .metadata = ""}};
    struct nsc_trace *t;
    struct nsc_note_cursor *n;

    memset(text, 'x', sizeof text - 1);
    model_tables(w, &thread, 1, FUNCTIONS);
    CHECK(nsc_writer_note(w, &note) == 0);
    note.ticks = 50;
    note.mark.name = note.mark.metadata = text;
    CHECK(nsc_writer_note(w, &note) == 0);
    CHECK(nsc_writer_finish(w, NULL) == 0);
    t = open_trace(path, 0);
    if (!CHECK(t != NULL))
        return;
    CHECK(nsc_note_cursor_open(t, NSC_NOTE_MARK, 0, false, 0, &n, NULL) == 0);
    CHECK(nsc_note_cursor_next(n, &note, NULL) == 1);
    CHECK(note.ticks == 100 && !note.mark.cut);
    CHECK(nsc_note_cursor_next(n, &note, NULL) == 1);
    CHECK(note.ticks == 100 && note.mark.cut);
    CHECK_U64(strlen(note.mark.name), NSC_NOTE_TEXT_MAX);
    CHECK_U64(strlen(note.mark.metadata), NSC_NOTE_TEXT_MAX);
    CHECK(nsc_note_cursor_next(n, &note, NULL) == 0);
    nsc_note_cursor_close(n);
    nsc_trace_close(t);
}

/* ---- Left-out functions ---------------------------------------------------------------------- */

static bool same_left_out(const struct nsc_left_out *a, const struct nsc_left_out *b)
{
    return a->function == b->function && a->process == b->process && a->reason == b->reason &&
           a->known == b->known && a->from_ticks == b->from_ticks && a->to_ticks == b->to_ticks &&
           a->windows == b->windows && a->window_ticks == b->window_ticks &&
           a->calls.value == b->calls.value && a->calls.error == b->calls.error &&
           a->total_ticks.value == b->total_ticks.value &&
           a->total_ticks.error == b->total_ticks.error &&
           a->self_ticks.value == b->self_ticks.value && a->self_ticks.error == b->self_ticks.error;
}

static void check_left_out(void)
{
    struct nsc_left_out all = {.function = NSC_NO_ID,
                               .process = NSC_NO_ID,
                               .reason = NSC_LEFT_OUT_TRIGGER,
                               .from_ticks = 5};
    struct nsc_left_out budget = {.function = 2,
                                  .process = 0,
                                  .reason = NSC_LEFT_OUT_BUDGET,
                                  .known = NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL,
                                  .from_ticks = 100,
                                  .to_ticks = 900,
                                  .windows = 7,
                                  .window_ticks = 70,
                                  .calls = {1u << 30, 12},
                                  .total_ticks = {(uint64_t)1 << 60, 13},
                                  .self_ticks = {0, 0}};
    struct model_thread thread = {.lane = NULL};
    struct nsc_writer *w = create(path, 0, false);
    struct nsc_left_out early = budget, bad = budget;
    struct nsc_trace *t;
    uint32_t id;

    model_tables(w, &thread, 1, FUNCTIONS);
    CHECK(nsc_writer_alias_function(w, 2, 1) == 0);
    CHECK(nsc_writer_add_left_out(w, &all, NULL) == 0);
    early.to_ticks = early.windows = 0;
    CHECK(nsc_writer_add_left_out(w, &early, &id) == 0);
    nsc_writer_flush(w);
    CHECK(nsc_writer_set_left_out(w, id, &budget) == 0);
    CHECK(nsc_writer_set_left_out(w, id + 1, &budget) == -EINVAL);
    bad.function = FUNCTIONS;
    CHECK(nsc_writer_add_left_out(w, &bad, NULL) == -EINVAL);
    bad = budget;
    bad.to_ticks = 99;
    CHECK(nsc_writer_set_left_out(w, id, &bad) == -EINVAL);
    CHECK(nsc_writer_finish(w, NULL) == 0);
    CHECK(nsc_nst_compress(path, other_path, true, NULL) == 0);
    t = open_trace(other_path, 0);
    if (!CHECK(t != NULL))
        return;
    CHECK_U64(nsc_trace_info(t)->left_out_count, 2);
    CHECK(same_left_out(nsc_trace_left_out(t, 0), &all));
    budget.function = 1; /* what 2 stands for */
    CHECK(same_left_out(nsc_trace_left_out(t, 1), &budget));
    CHECK(nsc_trace_left_out(t, 2) == NULL);
    nsc_trace_close(t);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/notes.nst", folder);
    snprintf(other_path, sizeof other_path, "%s/other.nst", folder);
    check_round_trip(1, 0, false);
    check_round_trip(20000, 0, false);
    check_round_trip(20000, 1, true);
    check_damage();
    check_refused();
    check_bounds();
    check_left_out();
    unlink(path);
    unlink(other_path);
    rmdir(folder);
    return t_done();
}
