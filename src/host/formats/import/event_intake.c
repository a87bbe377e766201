/* event_intake.c - see event_intake.h. */
#include "formats/import/event_intake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/import/external_sort.h"
#include "util/array.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define UNKNOWN_CALL   "(unknown)" /* for an end without a begin; as in text_import.c */
#define PROGRESS_ITEMS 1048576u

enum kind { BEGIN, END, SLICE, LOST, SAMPLE, STATE, MARK, COUNT, COUNT_REAL };
enum { FLAG_LATE = 1, FLAG_UNWOUND = 2, FLAG_CUT = 4, FLAG_CLIPPED = 8 };

struct process {
    uint32_t pid;
    uint32_t id;    /* in the trace; NSC_NO_ID = not added yet */
    uint32_t track; /* of its counters, or NSC_NO_ID */
    char *name;     /* NULL = not set */
};

struct track {
    uint32_t process; /* index into nsc_intake.processes */
    uint32_t tid, stack;
    uint32_t home;       /* track of the thread's own stack (stack 0) */
    uint32_t id;         /* in the trace; NSC_NO_ID = not added yet */
    uint32_t last_stack; /* home tracks: number of the last further stack assigned */
    bool of_process;
    bool counted; /* home tracks: already counted as a thread with calls */
    char *name;
};

struct nsc_intake {
    struct nsc_import *job;
    struct nsc_external_sort *spill;
    struct nsc_names by_id; /* processes by pid, tracks by {process, tid, stack} */
    struct nsc_names functions;
    struct nsc_names texts; /* names of marks and counters, and metadata */
    const char **text_of;   /* by id in `texts` */
    uint32_t text_room;
    struct process *processes;
    uint32_t process_count, process_room;
    struct track *tracks;
    uint32_t track_count, track_room;
    uint32_t free_tids; /* assigned to tracks that belong to no thread */
    uint32_t unknown;   /* function UNKNOWN_CALL; NSC_NO_ID = not added yet */
    uint64_t first_ns;  /* of the earliest event */
    uint64_t too_late;  /* events at or after NSC_INTAKE_TIME_LIMIT, left out */
    struct nsc_nesting_counts counts;
    int error;
    struct nsc_diag fault;
};

int nsc_intake_open(struct nsc_import *job, struct nsc_intake **out, struct nsc_diag *diag)
{
    struct nsc_intake *in = calloc(1, sizeof *in);

    if (in != NULL) {
        in->job = job;
        in->unknown = NSC_NO_ID;
        in->first_ns = UINT64_MAX;
        in->spill = nsc_external_sort_new(0);
    }
    if (in == NULL || in->spill == NULL) {
        free(in);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    *out = in;
    return 0;
}

void nsc_intake_close(struct nsc_intake *in)
{
    if (in == NULL)
        return;
    for (uint32_t i = 0; i < in->process_count; i++)
        free(in->processes[i].name);
    for (uint32_t i = 0; i < in->track_count; i++)
        free(in->tracks[i].name);
    free(in->processes);
    free(in->tracks);
    free(in->text_of);
    nsc_names_free(&in->by_id);
    nsc_names_free(&in->functions);
    nsc_names_free(&in->texts);
    nsc_external_sort_free(in->spill);
    free(in);
}

/* Records an error; only the first one is kept. */
static void fail(struct nsc_intake *in, int error)
{
    if (in->error == 0)
        in->error = nsc_diag_set(&in->fault, NSC_DIAG_NO_OFFSET, error, "cannot keep the trace: %s",
                                 strerror(error < 0 ? -error : error));
}

int nsc_intake_error(const struct nsc_intake *in, struct nsc_diag *diag)
{
    if (in->error != 0 && diag != NULL)
        *diag = in->fault;
    return in->error;
}

uint64_t nsc_intake_events(const struct nsc_intake *in)
{
    return nsc_external_sort_count(in->spill);
}

uint64_t nsc_intake_first_ns(const struct nsc_intake *in)
{
    return in->first_ns;
}

/* ---- Processes and tracks ----------------------------------------------------------------- */

static struct nsc_names_entry *entry_of(struct nsc_intake *in, struct nsc_names *names,
                                        const void *key, size_t bytes)
{
    struct nsc_names_entry *e;

    if (in->error == 0 && nsc_names_find(names, key, bytes, &e) == 0)
        return e;
    fail(in, ENOMEM);
    return NULL;
}

static uint32_t add_process(struct nsc_intake *in, uint32_t pid)
{
    struct process *all =
        nsc_array_grow(in->processes, &in->process_room, in->process_count, sizeof *all);

    if (all == NULL) {
        fail(in, ENOMEM);
        return 0;
    }
    in->processes = all;
    all[in->process_count] = (struct process){.pid = pid, .id = NSC_NO_ID, .track = NSC_NO_ID};
    return in->process_count++;
}

static uint32_t add_track(struct nsc_intake *in, const struct track *track)
{
    struct track *all = nsc_array_grow(in->tracks, &in->track_room, in->track_count, sizeof *all);

    if (all == NULL) {
        fail(in, ENOMEM);
        return 0;
    }
    in->tracks = all;
    all[in->track_count] = *track;
    all[in->track_count].id = NSC_NO_ID;
    if (track->home == NSC_NO_ID)
        all[in->track_count].home = in->track_count;
    return in->track_count++;
}

uint32_t nsc_intake_process(struct nsc_intake *in, uint32_t pid)
{
    struct nsc_names_entry *e = entry_of(in, &in->by_id, &pid, sizeof pid);

    if (e == NULL)
        return 0;
    if (e->id == UINT32_MAX)
        e->id = add_process(in, pid);
    return e->id;
}

static struct nsc_names_entry *find_track(struct nsc_intake *in, uint32_t process, uint32_t tid,
                                          uint32_t stack)
{
    const uint32_t key[] = {process, tid, stack};

    return entry_of(in, &in->by_id, key, sizeof key);
}

uint32_t nsc_intake_track(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t stack)
{
    uint32_t home = stack != 0 ? nsc_intake_track(in, process, tid, 0) : NSC_NO_ID;
    struct nsc_names_entry *e = find_track(in, process, tid, stack);

    if (e == NULL)
        return 0;
    if (e->id == UINT32_MAX)
        e->id = add_track(
            in, &(struct track){.process = process, .tid = tid, .stack = stack, .home = home});
    return e->id;
}

bool nsc_intake_has_thread(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t *track)
{
    const struct nsc_names_entry *e = find_track(in, process, tid, 0);

    if (e == NULL || e->id == UINT32_MAX)
        return false;
    *track = e->id;
    return true;
}

uint32_t nsc_intake_free_track(struct nsc_intake *in, uint32_t process)
{
    return nsc_intake_track(in, process, NSC_INTAKE_NO_TID + in->free_tids++, 0);
}

uint32_t nsc_intake_further_stack(struct nsc_intake *in, uint32_t track)
{
    uint32_t count = in->track_count;

    /* Stack numbers are consecutive; nsc_intake_track() may have created some of them already. */
    while (in->error == 0) {
        struct track *home = &in->tracks[in->tracks[track].home];
        uint32_t found = nsc_intake_track(in, home->process, home->tid, ++home->last_stack);

        if (in->track_count > count)
            return found;
    }
    return 0;
}

bool nsc_intake_adopt(struct nsc_intake *in, uint32_t track, uint32_t process, uint32_t tid)
{
    struct nsc_names_entry *e = find_track(in, process, tid, 0);

    if (e == NULL || e->id != UINT32_MAX || in->tracks[track].last_stack > 0)
        return false;
    e->id = track;
    in->tracks[track].process = process;
    in->tracks[track].tid = tid;
    return true;
}

uint32_t nsc_intake_process_track(struct nsc_intake *in, uint32_t process)
{
    if (in->error != 0)
        return 0;
    if (in->processes[process].track == NSC_NO_ID)
        in->processes[process].track = add_track(
            in, &(struct track){.process = process, .home = NSC_NO_ID, .of_process = true});
    return in->processes[process].track;
}

static char *clean_copy(const char *text, size_t bytes)
{
    char *copy = malloc(bytes + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    for (size_t at = strlen(copy); at < bytes; at = strlen(copy))
        copy[at] = '?';
    return copy;
}

static void set_name(struct nsc_intake *in, char **name, const char *text, size_t bytes)
{
    char *copy = clean_copy(text, bytes);

    if (copy == NULL) {
        fail(in, ENOMEM);
        return;
    }
    free(*name);
    *name = copy;
}

void nsc_intake_name_process(struct nsc_intake *in, uint32_t process, const char *name,
                             size_t bytes)
{
    if (in->error == 0)
        set_name(in, &in->processes[process].name, name, bytes);
}

void nsc_intake_name_track(struct nsc_intake *in, uint32_t track, const char *name, size_t bytes)
{
    if (in->error == 0)
        set_name(in, &in->tracks[track].name, name, bytes);
}

/* ---- Functions and texts ------------------------------------------------------------------ */

static uint32_t add_function(struct nsc_intake *in, const struct nsc_intake_function *f)
{
    char *name = clean_copy(f->name, f->name_bytes);
    char *file = f->file != NULL ? clean_copy(f->file, f->file_bytes) : NULL;
    struct nsc_function function = {.name = name,
                                    .symbol = name,
                                    .file = file != NULL ? file : "",
                                    .line = f->line,
                                    .module = f->module};
    uint32_t id = 0;
    int error = name != NULL && (f->file == NULL || file != NULL)
                    ? nsc_writer_add_function(in->job->writer, &function, &id)
                    : -ENOMEM;

    if (error != 0)
        fail(in, error);
    free(name);
    free(file);
    return id;
}

uint32_t nsc_intake_function_name(struct nsc_intake *in, const char *name, size_t bytes)
{
    struct nsc_names_entry *e = entry_of(in, &in->functions, name, bytes);

    if (e == NULL)
        return 0;
    if (e->id == UINT32_MAX)
        e->id = add_function(in, &(struct nsc_intake_function){
                                     .name = name, .name_bytes = bytes, .module = NSC_NO_ID});
    return e->id;
}

uint32_t nsc_intake_function(struct nsc_intake *in, const struct nsc_intake_function *f)
{
    struct nsc_names_entry *e;
    size_t bytes = f->name_bytes + f->file_bytes + 2 + 2 * sizeof(uint32_t);
    char *key;

    if (f->file == NULL && f->module == NSC_NO_ID)
        return nsc_intake_function_name(in, f->name, f->name_bytes);
    key = malloc(bytes);
    if (key == NULL) {
        fail(in, ENOMEM);
        return 0;
    }
    memcpy(key, f->name, f->name_bytes);
    key[f->name_bytes] = '\0';
    if (f->file != NULL)
        memcpy(key + f->name_bytes + 1, f->file, f->file_bytes);
    key[f->name_bytes + 1 + f->file_bytes] = '\0';
    memcpy(key + bytes - 8, &f->line, sizeof f->line);
    memcpy(key + bytes - 4, &f->module, sizeof f->module);
    e = entry_of(in, &in->functions, key, bytes);
    free(key);
    if (e == NULL)
        return 0;
    if (e->id == UINT32_MAX)
        e->id = add_function(in, f);
    return e->id;
}

/* Returns the id of a text that notes refer to; equal texts are stored once. */
static uint32_t keep_text(struct nsc_intake *in, const char *text, size_t bytes)
{
    struct nsc_names_entry *e;
    const char **all;

    if (bytes > 0 && memchr(text, '\0', bytes) != NULL) {
        char *clean = clean_copy(text, bytes);
        uint32_t id = 0;

        if (clean != NULL)
            id = keep_text(in, clean, bytes);
        else
            fail(in, ENOMEM);
        free(clean);
        return id;
    }
    e = entry_of(in, &in->texts, text, bytes);
    if (e == NULL)
        return 0;
    if (e->id != UINT32_MAX)
        return e->id;
    all = nsc_array_grow(in->text_of, &in->text_room, (uint32_t)in->texts.count - 1, sizeof *all);
    if (all == NULL) {
        fail(in, ENOMEM);
        return 0;
    }
    in->text_of = all;
    e->id = (uint32_t)in->texts.count - 1;
    all[e->id] = e->text;
    return e->id;
}

/* ---- Events ------------------------------------------------------------------------------- */

static void add(struct nsc_intake *in, const struct nsc_external_sort_item *item)
{
    if (in->error != 0)
        return;
    if (item->ns >= NSC_INTAKE_TIME_LIMIT) {
        in->too_late++;
        return;
    }
    if (item->ns < in->first_ns)
        in->first_ns = item->ns;
    in->error = nsc_external_sort_add(in->spill, item, &in->fault);
}

void nsc_intake_begin(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                      enum nsc_nesting_start start)
{
    static const uint8_t flags[] = {0, FLAG_LATE, FLAG_CLIPPED};

    add(in, &(struct nsc_external_sort_item){
                .track = track, .ns = ns, .kind = BEGIN, .name = function, .flags = flags[start]});
}

void nsc_intake_end(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                    bool unwound)
{
    add(in, &(struct nsc_external_sort_item){.track = track,
                                             .ns = ns,
                                             .kind = END,
                                             .name = function,
                                             .flags = unwound ? FLAG_UNWOUND : 0});
}

void nsc_intake_slice(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t duration_ns,
                      uint32_t function)
{
    if (duration_ns != NSC_NESTING_OPEN && ns < NSC_INTAKE_TIME_LIMIT &&
        duration_ns >= NSC_INTAKE_TIME_LIMIT - ns) {
        in->too_late++;
        return;
    }
    add(in, &(struct nsc_external_sort_item){.track = track,
                                             .ns = ns,
                                             .kind = SLICE,
                                             .name = function,
                                             .value = duration_ns,
                                             .last = 1});
}

void nsc_intake_lost(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t events)
{
    add(in,
        &(struct nsc_external_sort_item){.track = track, .ns = ns, .kind = LOST, .value = events});
}

/* Track that stores the notes of @track. */
static uint32_t home_of(const struct nsc_intake *in, uint32_t track)
{
    return in->error == 0 ? in->tracks[track].home : 0;
}

void nsc_intake_sample(struct nsc_intake *in, uint32_t track, uint64_t ns,
                       enum nsc_sample_field field, uint64_t value)
{
    add(in,
        &(struct nsc_external_sort_item){
            .track = home_of(in, track), .ns = ns, .kind = SAMPLE, .name = field, .value = value});
}

void nsc_intake_state(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t old_state,
                      uint32_t new_state)
{
    add(in, &(struct nsc_external_sort_item){.track = home_of(in, track),
                                             .ns = ns,
                                             .kind = STATE,
                                             .name = old_state,
                                             .value = new_state});
}

void nsc_intake_mark(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                     size_t bytes, const char *metadata, size_t metadata_bytes, bool cut)
{
    uint32_t name_text = keep_text(in, name, bytes);

    add(in, &(struct nsc_external_sort_item){.track = home_of(in, track),
                                             .ns = ns,
                                             .kind = MARK,
                                             .name = name_text,
                                             .value = keep_text(in, metadata, metadata_bytes),
                                             .flags = cut ? FLAG_CUT : 0});
}

void nsc_intake_count(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                      size_t bytes, int64_t value)
{
    add(in, &(struct nsc_external_sort_item){.track = home_of(in, track),
                                             .ns = ns,
                                             .kind = COUNT,
                                             .name = keep_text(in, name, bytes),
                                             .value = (uint64_t)value});
}

void nsc_intake_count_real(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                           size_t bytes, double value)
{
    struct nsc_external_sort_item item = {.track = home_of(in, track),
                                          .ns = ns,
                                          .kind = COUNT_REAL,
                                          .name = keep_text(in, name, bytes)};

    memcpy(&item.value, &value, sizeof value);
    add(in, &item);
}

/* ---- Writing the trace -------------------------------------------------------------------- */

/* The track being written. */
struct output {
    struct nsc_intake *in;
    struct nsc_nesting nest;
    uint32_t track;         /* NSC_NO_ID = none yet */
    struct nsc_note sample; /* values of the current sample read so far */
    struct nsc_thread thread;
    bool has_calls;
    uint64_t first_ns;
};

static int begin_process(struct nsc_intake *in, struct process *p)
{
    struct nsc_process process = {.pid = p->pid,
                                  .parent = NSC_NO_ID,
                                  .name = p->name != NULL ? p->name : in->job->name,
                                  .exit_status = -1};

    return p->id != NSC_NO_ID ? 0 : nsc_writer_add_process(in->job->writer, &process, &p->id);
}

/* Adds a track's thread, if it has one, and its process to the trace. */
static int begin_track(struct output *o, uint32_t index)
{
    struct nsc_intake *in = o->in;
    struct track *t = &in->tracks[index];
    struct process *p = &in->processes[t->process];
    struct nsc_lane *lane;
    int error = begin_process(in, p);

    o->track = index;
    o->has_calls = false;
    o->thread = (struct nsc_thread){
        .process = p->id, .tid = t->tid, .stack = t->stack, .name = t->name != NULL ? t->name : ""};
    if (error != 0 || t->of_process)
        return error;
    error = nsc_writer_add_thread(in->job->writer, &o->thread, &t->id, &lane);
    if (error == 0)
        nsc_nesting_start(&o->nest, lane, &in->counts);
    return error;
}

static int flush_sample(struct output *o)
{
    int error = 0;

    if (o->sample.sample.known != 0)
        error = nsc_writer_note(o->in->job->writer, &o->sample);
    o->sample.sample = (struct nsc_sample){.known = 0};
    return error;
}

static int end_track(struct output *o)
{
    const struct track *t;
    struct track *home;
    int error;

    if (o->track == NSC_NO_ID)
        return 0;
    t = &o->in->tracks[o->track];
    error = flush_sample(o);
    if (t->of_process || error != 0)
        return error;
    error = nsc_nesting_finish(&o->nest, o->first_ns);
    o->thread.start_ticks = o->first_ns;
    o->thread.end_ticks = o->nest.last_ns;
    home = &o->in->tracks[t->home];
    o->in->job->threads += o->has_calls && !home->counted;
    home->counted = home->counted || o->has_calls;
    if (error == 0)
        error = nsc_writer_set_thread(o->in->job->writer, t->id, &o->thread);
    return error;
}

static int put_sample(struct output *o, const struct nsc_external_sort_item *item, uint32_t owner)
{
    struct nsc_sample *sample = &o->sample.sample;
    int error = 0;

    if (sample->known != 0 &&
        (o->sample.ticks != item->ns || (sample->known >> item->name & 1) != 0))
        error = flush_sample(o);
    o->sample.kind = NSC_NOTE_SAMPLE;
    o->sample.owner = owner;
    o->sample.ticks = item->ns;
    sample->known |= 1u << item->name;
    sample->values[item->name] = item->value;
    return error;
}

static int put_note(struct output *o, const struct nsc_external_sort_item *item)
{
    const struct nsc_intake *in = o->in;
    const struct track *t = &in->tracks[o->track];
    uint32_t owner = t->of_process ? in->processes[t->process].id : t->id;
    struct nsc_note note = {.ticks = item->ns, .owner = owner, .of_process = t->of_process};

    if (!t->of_process && item->ns > o->nest.last_ns)
        o->nest.last_ns = item->ns;
    switch (item->kind) {
    case SAMPLE:
        return put_sample(o, item, owner);
    case STATE:
        note.kind = NSC_NOTE_STATE;
        note.state = (struct nsc_state_change){item->name, (uint32_t)item->value};
        break;
    case MARK:
        note.kind = NSC_NOTE_MARK;
        note.mark = (struct nsc_mark){in->text_of[item->name], in->text_of[item->value],
                                      (item->flags & FLAG_CUT) != 0};
        break;
    case COUNT:
        note.kind = NSC_NOTE_COUNTER;
        note.counter =
            (struct nsc_counter){.name = in->text_of[item->name], .integer = (int64_t)item->value};
        break;
    default:
        note.kind = NSC_NOTE_COUNTER;
        note.counter = (struct nsc_counter){.name = in->text_of[item->name], .is_real = true};
        memcpy(&note.counter.real, &item->value, sizeof note.counter.real);
        break;
    }
    return nsc_writer_note(in->job->writer, &note);
}

/* Function of the call that an end without a begin belongs to. */
static uint32_t unknown_of(struct nsc_intake *in, const struct nsc_external_sort_item *item)
{
    if (item->name != NSC_NO_ID)
        return item->name;
    if (in->unknown == NSC_NO_ID)
        in->unknown = nsc_intake_function_name(in, UNKNOWN_CALL, strlen(UNKNOWN_CALL));
    return in->unknown;
}

static int put_item(struct output *o, const struct nsc_external_sort_item *item)
{
    int error = 0;

    if (item->track != o->track) {
        error = end_track(o);
        if (error == 0)
            error = begin_track(o, item->track);
        o->first_ns = item->ns;
    }
    if (error != 0)
        return error;
    o->has_calls = o->has_calls || item->kind <= SLICE;
    switch (item->kind) {
    case BEGIN:
        nsc_nesting_begin(&o->nest, item->ns, item->name,
                          (item->flags & FLAG_CLIPPED) != 0 ? NSC_NESTING_CLIPPED
                          : (item->flags & FLAG_LATE) != 0  ? NSC_NESTING_LATE
                                                            : NSC_NESTING_SEEN);
        break;
    case END:
        if (!nsc_nesting_end(&o->nest, item->ns, (item->flags & FLAG_UNWOUND) != 0))
            nsc_nesting_late_end(&o->nest, item->ns, unknown_of(o->in, item));
        break;
    case SLICE:
        nsc_nesting_slice(&o->nest, item->ns,
                          item->value == NSC_NESTING_OPEN ? NSC_NESTING_OPEN
                                                          : item->ns + item->value,
                          item->name);
        break;
    case LOST:
        nsc_nesting_lost(&o->nest, item->ns, item->value);
        o->thread.lost += item->value;
        break;
    default:
        return put_note(o, item);
    }
    return nsc_writer_error(o->in->job->writer);
}

static void note_counts(struct nsc_intake *in)
{
    nsc_nesting_note(&in->counts, in->job->notes);
    if (in->too_late == 1)
        nsc_job_notes_add(in->job->notes, "1 event has a time beyond 2^62 ns and is left out");
    else if (in->too_late > 1)
        nsc_job_notes_add(in->job->notes, "%s events have times beyond 2^62 ns and are left out",
                          nsc_units_count(in->too_late).text);
}

static int write_all(struct output *o, struct nsc_diag *diag)
{
    const struct nsc_formats_progress *progress = o->in->job->progress;
    uint64_t done = 0, total = nsc_external_sort_count(o->in->spill);
    struct nsc_external_sort_item item;
    int more, error = 0;

    while ((more = nsc_external_sort_next(o->in->spill, &item, diag)) > 0) {
        if (++done % PROGRESS_ITEMS == 0 && progress->tick != NULL)
            progress->tick(progress->context, done, total);
        error = put_item(o, &item);
        if (error != 0)
            break;
    }
    if (more < 0)
        return more;
    if (error == 0)
        error = end_track(o);
    if (error == 0)
        error = o->nest.error != 0 ? o->nest.error : nsc_writer_error(o->in->job->writer);
    if (error != 0)
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the trace: %s",
                     strerror(-error));
    return error;
}

int nsc_intake_finish(struct nsc_intake *in, struct nsc_diag *diag)
{
    struct output o = {.in = in, .track = NSC_NO_ID};
    int error = nsc_intake_error(in, diag);

    if (error != 0)
        return error;
    error = write_all(&o, diag);
    nsc_nesting_free(&o.nest);
    if (error == 0)
        error = nsc_intake_error(in, diag);
    if (error == 0 && nsc_nesting_tell(&in->counts, in->job->writer) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error == 0)
        note_counts(in);
    return error;
}
