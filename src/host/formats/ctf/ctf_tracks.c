/*
 * ctf_tracks.c - the processes and threads of a CTF trace, by pid, tid and stack. They are created
 * at their first event. Called by ctf_calls.c and ctf_import.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf_import.h"
#include "util/array.h"

int nsc_ctf_need_process(struct ctf *c, uint64_t pid, const char *name, uint32_t *id)
{
    struct nsc_process about = {.pid = (uint32_t)pid,
                                .parent = NSC_NO_ID,
                                .name = name[0] != '\0' ? name : c->job->name,
                                .exit_status = -1};
    int error;

    *id = nsc_id_map_get(&c->by_pid, pid);
    if (*id != NSC_ID_MAP_NEW)
        return 0;
    error = nsc_writer_add_process(c->job->writer, &about, id);
    return error == 0 ? nsc_id_map_put(&c->by_pid, pid, *id) : error;
}

/* Adds the thread of a new track to the trace. */
static int begin_track(struct ctf *c, const struct ctf_stream *s, struct ctf_track *t)
{
    int error;

    t->about.tid = (uint32_t)t->thread;
    t->about.stack = (uint32_t)t->stack;
    t->about.start_ticks = t->about.end_ticks = s->ns;
    t->about.name = t->name;
    error = nsc_writer_add_thread(c->job->writer, &t->about, &t->id, &t->lane);
    if (error == 0 && c->own)
        nsc_nesting_start(&t->nest, t->lane, &c->nesting);
    return error;
}

/* Adds a copy of @track. */
static int add_track(struct ctf *c, const struct ctf_stream *s, const struct ctf_track *track)
{
    struct ctf_track **all =
        nsc_array_grow(c->tracks, &c->track_room, c->track_count, sizeof(struct ctf_track *));
    struct ctf_track *t;
    int error;

    if (all == NULL)
        return -ENOMEM;
    c->tracks = all;
    t = malloc(sizeof *t);
    if (t == NULL)
        return -ENOMEM;
    *t = *track;
    t->number = c->track_count;
    error = begin_track(c, s, t);
    if (error != 0) {
        free(t);
        return error;
    }
    c->tracks[c->track_count++] = t;
    return 0;
}

static int find_track(struct ctf *c, const struct ctf_input *in, uint64_t process, uint64_t thread,
                      uint64_t stack, struct ctf_track **out)
{
    struct ctf_track new = {.process = process, .thread = thread, .stack = stack};
    uint32_t pair, index;
    uint64_t key;
    int error;

    if (in->last != NULL && in->last->process == process && in->last->thread == thread &&
        in->last->stack == stack) {
        *out = in->last;
        return 0;
    }
    error = nsc_ctf_need_process(c, process, in->s.process, &new.about.process);
    if (error == 0)
        error = nsc_id_map_need(&c->by_thread, (uint64_t) new.about.process << 32 | thread,
                                c->by_thread.count, &pair);
    if (error != 0)
        return error;
    key = (uint64_t)pair << 32 | stack;
    index = nsc_id_map_get(&c->by_stack, key);
    if (index == NSC_ID_MAP_NEW) {
        index = c->track_count;
        error = add_track(c, &in->s, &new);
        if (error == 0)
            error = nsc_id_map_put(&c->by_stack, key, index);
        if (error != 0)
            return error;
    }
    *out = c->tracks[index];
    return 0;
}

static const struct ctf_leaf *context_of(const struct ctf *c, uint32_t role)
{
    for (uint32_t i = 0; i < c->values.count; i++) {
        const struct ctf_leaf *l = &c->values.leaves[i];

        if (l->scope < CTF_EVENT_FIELDS && l->field->role == role)
            return l;
    }
    return NULL;
}

static void name_track(struct ctf_track *t, const char *name)
{
    if (name[0] != '\0' && strcmp(t->name, name) != 0)
        snprintf(t->name, sizeof t->name, "%s", name);
}

uint64_t nsc_ctf_process_of(const struct ctf *c, const struct ctf_input *in)
{
    const struct ctf_leaf *pid = context_of(c, CTF_ROLE_PID);

    return pid != NULL ? pid->number & UINT32_MAX : in->s.pid & UINT32_MAX;
}

int nsc_ctf_thread_of(struct ctf *c, struct ctf_input *in, struct ctf_track **out)
{
    const struct ctf_leaf *tid = context_of(c, CTF_ROLE_TID);
    const struct ctf_leaf *name = context_of(c, CTF_ROLE_THREAD);
    uint64_t thread = CTF_NO_THREAD + in->number;
    const char *text = in->name;
    int error;

    if (tid != NULL) {
        thread = tid->number;
        text = name != NULL && name->kind == CTF_TEXT_LEAF ? name->text : "";
    } else if (in->s.has_tid) {
        thread = in->s.tid;
        text = in->s.thread;
    } else if (in->switched) {
        thread = in->running;
        text = in->running_name;
    }
    error = find_track(c, in, nsc_ctf_process_of(c, in), thread & UINT32_MAX,
                       in->s.stack & UINT32_MAX, out);
    if (error != 0)
        return error;
    in->last = *out;
    name_track(*out, text);
    if (in->s.ns > (*out)->about.end_ticks)
        (*out)->about.end_ticks = in->s.ns;
    return 0;
}

static int finish_track(struct ctf *c, struct ctf_track *t)
{
    int error = 0;

    if (c->own) {
        error = nsc_nesting_finish(&t->nest, t->about.end_ticks);
    } else {
        c->nesting.open += nsc_lane_depth(t->lane) + t->ghosts;
        nsc_lane_close(t->lane, t->about.end_ticks);
    }
    nsc_nesting_free(&t->nest);
    c->job->threads += t->stack == 0;
    return error == 0 ? nsc_writer_set_thread(c->job->writer, t->id, &t->about) : error;
}

int nsc_ctf_tracks_finish(struct ctf *c)
{
    int error = 0;

    for (uint32_t i = 0; i < c->track_count; i++) {
        if (error == 0)
            error = finish_track(c, c->tracks[i]);
        else
            nsc_nesting_free(&c->tracks[i]->nest);
        free(c->tracks[i]);
    }
    free(c->tracks);
    c->tracks = NULL;
    c->track_count = c->track_room = 0;
    nsc_id_map_free(&c->by_pid);
    nsc_id_map_free(&c->by_thread);
    nsc_id_map_free(&c->by_stack);
    return error;
}
