/*
 * ctf_import.c - read a folder of CTF 1.8 as a trace. Called through importers.c. tsdl.c parses the
 * metadata, ctf_decode.c decodes packets, and ctf_calls.c processes events.
 *
 * If each packet belongs to one thread, files are read one after the other. Otherwise, the events
 * of a thread may be in several files (one per CPU), so all files are merged by time.
 */
#include "formats/ctf/ctf_import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/text/units.h"

#define FILES_MAX      65536u
#define MERGED_MAX     512u /* files that can be merged */
#define PROGRESS_EVERY 65536u
#define TIME_MAX       ((uint64_t)1 << 62)

__extension__ typedef __int128 wide;

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static void tell_progress(const struct ctf *c)
{
    const struct nsc_formats_progress *progress = c->job->progress;

    if (progress->tick != NULL)
        progress->tick(progress->context, c->bytes_done, c->bytes_total);
}

/* ---- Streams ------------------------------------------------------------------------------ */

/* Returns the time of a clock's zero, in ns since 1970; may be negative. Clamped to 2^62. */
static int64_t zero_of(const struct ctf_clock *clock)
{
    wide ns = (wide)clock->offset_s * 1000000000 +
              (wide)clock->offset * 1000000000 / (wide)clock->frequency;
    wide limit = (wide)TIME_MAX;

    return (int64_t)(ns > limit ? limit : ns < -limit ? -limit : ns);
}

/* Chooses the base clock, whose zero is time 0 of the import: of the clocks in use, the one with
 * the earliest zero. */
static void find_base(struct ctf *c)
{
    for (const struct ctf_clock *clock = c->trace.clocks; clock != NULL; clock = clock->next)
        if (clock->used && (c->base == NULL || zero_of(clock) < c->base_ns)) {
            c->base = clock;
            c->base_ns = zero_of(clock);
        }
}

/* Converts the event's time from its own clock to the base clock. A time beyond the limit is
 * clamped to it; then returns false. */
static bool place(const struct ctf *c, struct ctf_stream *s)
{
    if (s->ns < TIME_MAX && s->clock != NULL && s->clock != c->base)
        s->ns += (uint64_t)(zero_of(s->clock) - c->base_ns);
    if (s->ns < TIME_MAX)
        return true;
    s->ns = TIME_MAX - 1;
    return false;
}

/* Goes to a stream's next event. Returns 1, or 0 at the end or at damage, which becomes a note for
 * the user. */
static int advance(struct ctf *c, struct ctf_input *in)
{
    int more = nsc_ctf_next(&in->s, &c->values);
    uint64_t at = in->s.packet;

    if (more > 0) {
        (void)place(c, &in->s);
        if (at > in->done) {
            c->bytes_done += at - in->done;
            in->done = at;
        }
        return 1;
    }
    if (more < 0)
        nsc_job_notes_add(c->job->notes,
                          "%s: %s in the packet at byte %llu; the rest of the file is left out",
                          in->s.file->path, in->s.wrong, (unsigned long long)at);
    return 0;
}

/* Processes the event that advance() has found. Returns 1, 0 if it is damaged, or -errno. */
static int take(struct ctf *c, struct ctf_input *in)
{
    int error = 0;

    if (in->s.event != NULL && nsc_ctf_take(&in->s, &c->values) != 0) {
        nsc_job_notes_add(c->job->notes,
                          "%s: %s in the packet at byte %llu; the rest of the file is left out",
                          in->s.file->path, in->s.wrong, (unsigned long long)in->s.packet);
        return 0;
    }
    if (in->s.event == NULL)
        c->values.count = 0; /* header values, which are already stored in the stream */
    else
        c->too_late += !place(c, &in->s);
    if (in->s.event != NULL && in->s.ns < c->first_ns)
        c->first_ns = in->s.ns;
    error = nsc_ctf_event_taken(c, in);
    if (c->events % PROGRESS_EVERY == 0)
        tell_progress(c);
    return error == 0 ? 1 : error;
}

static int open_input(struct ctf *c, const char *name, uint64_t number, struct ctf_input *in)
{
    struct nsc_diag why;
    int error;

    *in = (struct ctf_input){.s = {.trace = &c->trace}, .number = number, .name = name};
    error = nsc_paged_file_open(c->folder, name, &in->s.file, &why);
    if (error == -ENOMEM)
        return error;
    if (error != 0)
        nsc_job_notes_add(c->job->notes, "%s; left out", why.message);
    return 0;
}

static void close_input(struct ctf_input *in)
{
    nsc_paged_file_close(in->s.file);
    in->s.file = NULL;
}

static int read_in_turn(struct ctf *c, char **names, size_t count)
{
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        struct ctf_input in;

        error = open_input(c, names[i], i, &in);
        if (error != 0 || in.s.file == NULL)
            continue;
        while (error == 0 && advance(c, &in) > 0) {
            int taken = take(c, &in);

            if (taken <= 0) {
                error = taken;
                break;
            }
        }
        close_input(&in);
    }
    return error;
}

/* ---- Merging ------------------------------------------------------------------------------ */

struct heap {
    struct ctf_input **items; /* min-heap by time */
    size_t count;
};

static bool is_before(const struct ctf_input *a, const struct ctf_input *b)
{
    return a->s.ns != b->s.ns ? a->s.ns < b->s.ns : a->number < b->number;
}

static void sink(struct heap *h, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        struct ctf_input *item;

        if (child >= h->count)
            return;
        if (child + 1 < h->count && is_before(h->items[child + 1], h->items[child]))
            child++;
        if (!is_before(h->items[child], h->items[at]))
            return;
        item = h->items[at];
        h->items[at] = h->items[child];
        h->items[child] = item;
        at = child;
    }
}

static int merge(struct ctf *c, struct heap *h)
{
    for (size_t i = h->count; i > 0; i--)
        sink(h, i - 1);
    while (h->count > 0) {
        int taken = take(c, h->items[0]);

        if (taken < 0)
            return taken;
        if (taken == 0 || advance(c, h->items[0]) == 0) {
            close_input(h->items[0]);
            h->items[0] = h->items[--h->count];
        }
        sink(h, 0);
    }
    return 0;
}

static int read_side_by_side(struct ctf *c, char **names, size_t count)
{
    struct ctf_input *all = calloc(count + 1, sizeof *all);
    struct heap h = {.items = calloc(count + 1, sizeof *h.items)};
    int error = all == NULL || h.items == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        error = open_input(c, names[i], i, &all[i]);
        if (error == 0 && all[i].s.file != NULL && advance(c, &all[i]) > 0)
            h.items[h.count++] = &all[i];
    }
    if (error == 0)
        error = merge(c, &h);
    for (size_t i = 0; all != NULL && i < count; i++)
        close_input(&all[i]);
    free(h.items);
    free(all);
    return error;
}

/* ---- The folder --------------------------------------------------------------------------- */

static bool is_stream_file(const char *name)
{
    return name[0] != '.' && strcmp(name, "metadata") != 0;
}

/* Removes folders, which hold indexes of the tracer, and adds up the sizes of the files. Returns
 * the number of files left. */
static size_t survey(struct ctf *c, char **names, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct stat st;
        char *path;

        if (asprintf(&path, "%s/%s", c->folder, names[i]) < 0)
            path = NULL;
        if (path != NULL && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            free(names[i]);
        } else {
            if (path != NULL && stat(path, &st) == 0)
                c->bytes_total += (uint64_t)st.st_size;
            names[kept++] = names[i];
        }
        free(path);
    }
    return kept;
}

static bool is_by_packets(const struct ctf_trace *t)
{
    for (const struct ctf_stream_class *s = t->streams; s != NULL; s = s->next) {
        bool has = false;

        for (const struct ctf_field *f = s->packet_context != NULL ? s->packet_context->fields
                                                                   : NULL;
             f != NULL; f = f->next)
            has = has || f->role == CTF_ROLE_TID;
        if (!has)
            return false;
    }
    return true;
}

static int read_streams(struct ctf *c, struct nsc_diag *diag)
{
    char **names;
    size_t count;
    int error = nsc_paged_file_list(c->folder, is_stream_file, FILES_MAX, &names, &count, diag);

    if (error != 0)
        return error;
    count = survey(c, names, count);
    c->by_packets = is_by_packets(&c->trace);
    if (!c->by_packets && count > MERGED_MAX)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                             "%s holds %zu streams that share threads; at most %u are read",
                             c->folder, count, MERGED_MAX);
    else if (c->by_packets)
        error = read_in_turn(c, names, count);
    else
        error = read_side_by_side(c, names, count);
    nsc_paged_file_free_list(names, count);
    return error;
}

/* Writes the trace's clock. In traces written by nanoscope, times count from the base clock's zero;
 * in others, from the first event. */
static int write_clock(struct ctf *c, struct nsc_diag *diag)
{
    bool monotonic = c->base != NULL && nsc_ctf_is_name(c->base->name, "monotonic");
    struct nsc_clock_point point = {.ticks = c->own || c->first_ns == UINT64_MAX ? 0 : c->first_ns};
    int64_t realtime_ns = c->base_ns != 0 ? c->base_ns + (int64_t)point.ticks : 0;

    if (c->own && realtime_ns <= 0)
        return 0;
    point.realtime_ns = realtime_ns > 0 ? (uint64_t)realtime_ns : 0;
    point.monotonic_ns = monotonic ? point.ticks : 0;
    return nsc_import_clock(c->job, &point, c->first_ns, diag);
}

static int compare_seen(const void *a, const void *b)
{
    const struct ctf_event *x = *(struct ctf_event *const *)a, *y = *(struct ctf_event *const *)b;

    return (x->seen < y->seen) - (x->seen > y->seen);
}

/* Adds a note for the user on events that became marks; names the most frequent ones. */
static void note_marks(struct ctf *c)
{
    struct ctf_event *most[4] = {NULL};
    char text[200] = "";
    size_t kinds = 0, used = 0;

    for (struct ctf_event *e = c->trace.events; e != NULL; e = e->next) {
        if (e->seen == 0)
            continue;
        most[kinds < 3 ? kinds : 3] = e;
        if (++kinds > 1)
            qsort(most, kinds < 4 ? kinds : 4, sizeof *most, compare_seen);
    }
    for (size_t i = 0; i < 3 && i < kinds && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%llu)", i > 0 ? ", " : "",
                                 most[i]->name, (unsigned long long)most[i]->seen);
    if (kinds > 0)
        nsc_job_notes_add(c->job->notes,
                          "%s event%s that neither enter nor leave a function became "
                          "marks: %s%s",
                          nsc_units_count(c->marks).text, nsc_units_plural(c->marks), text,
                          kinds > 3 ? " and others" : "");
}

static void note_threads(struct ctf *c)
{
    bool unknown = false;

    for (uint32_t i = 0; i < c->track_count; i++)
        unknown = unknown || c->tracks[i]->thread >= CTF_NO_THREAD;
    if (unknown && c->trace.tracer != NULL && strncmp(c->trace.tracer, "lttng", 5) == 0)
        nsc_job_notes_add(c->job->notes,
                          "events do not say which thread they are of (`lttng "
                          "add-context -u -t vpid -t vtid`): each stream counts as one");
    if (c->too_late > 0)
        nsc_job_notes_add(c->job->notes, "%s event%s later than 2^62 ns: put at that time",
                          nsc_units_count(c->too_late).text, c->too_late == 1 ? " is" : "s are");
    if (c->unattributed > 0)
        nsc_job_notes_add(c->job->notes, "%s event%s lost in streams of many threads",
                          nsc_units_count(c->unattributed).text,
                          c->unattributed == 1 ? " was" : "s were");
}

static int finish(struct ctf *c, struct nsc_diag *diag)
{
    int error = write_clock(c, diag);

    note_threads(c);
    if (error == 0)
        error = nsc_ctf_tracks_finish(c);
    nsc_nesting_note(&c->nesting, c->job->notes);
    if (error == 0)
        error = nsc_nesting_tell(&c->nesting, c->job->writer);
    if (error == 0)
        error = nsc_ctf_names_finish(c);
    if (error == 0 && c->trace.tracer != NULL)
        error = nsc_writer_meta(c->job->writer, "ctf.tracer", c->trace.tracer);
    if (error == 0 && c->trace.host != NULL)
        error = nsc_writer_meta(c->job->writer, "host", c->trace.host);
    if (error == 0)
        nsc_writer_set_lost_unattributed(c->job->writer, c->unattributed);
    note_marks(c);
    return error;
}

static int read_metadata(struct ctf *c, char **text, struct nsc_diag *diag)
{
    char *name;
    int error = nsc_ctf_text(c->folder, text, diag);

    if (error != 0)
        return error;
    if (asprintf(&name, "%s/metadata", c->folder) < 0)
        return no_memory(diag);
    error = nsc_ctf_parse(*text, name, &c->trace, diag);
    free(name);
    if (error != 0)
        return error;
    c->own = c->trace.tracer != NULL && strcmp(c->trace.tracer, "nanoscope") == 0;
    find_base(c);
    return nsc_ctf_understand(c) == 0 ? 0 : no_memory(diag);
}

static void release(struct ctf *c)
{
    (void)nsc_ctf_tracks_finish(c);
    for (uint32_t i = 0; i < c->load_count; i++)
        free(c->loads[i].path);
    free(c->loads);
    free(c->addresses);
    free(c->values.text);
    nsc_names_free(&c->names);
    nsc_names_free(&c->places);
    nsc_ctf_free(&c->trace);
}

static int import_ctf(struct nsc_import *job, struct nsc_diag *diag)
{
    struct ctf c = {.job = job, .first_ns = UINT64_MAX};
    uint32_t found = 0;
    char *folder = nsc_ctf_find(job->path, &found), *text = NULL;
    int error = 0;

    c.folder = folder != NULL ? folder : job->path;
    c.values.text = malloc(CTF_TEXT);
    if (c.values.text == NULL)
        error = no_memory(diag);
    else if (found > 1)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                             "%s holds several traces of CTF: name one of them, for example %s",
                             job->path, c.folder);
    if (error == 0)
        error = read_metadata(&c, &text, diag);
    if (error == 0)
        error = read_streams(&c, diag);
    if (error == 0)
        error = finish(&c, diag);
    release(&c);
    free(text);
    free(folder);
    return error;
}

static bool sniff_folder(const char *path)
{
    uint32_t found;

    free(nsc_ctf_find(path, &found));
    return found > 0;
}

const struct nsc_importer nsc_ctf_importer = {
    .name = "ctf",
    .what = "folders of CTF 1.8",
    .sniff_folder = sniff_folder,
    .run = import_ctf,
};
