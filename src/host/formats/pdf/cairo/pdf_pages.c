/*
 * pdf_pages.c - write a trace as pages of a flame chart, for printing or for a report; see
 * pdf_pages.h.
 *
 * Each thread is read once to measure it, and once for each page with some of its rows. Adjacent
 * calls that are too short to be visible are drawn as one box, so the size of a page is bounded by
 * its width. Memory: one pending box per row of a page, the threads, and their gaps.
 */
#include "formats/pdf/cairo/pdf_pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/pdf/cairo/pdf_draw.h"
#include "util/array.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define TITLE_Y     38.0 /* these: y of base lines, in points */
#define DETAIL_Y    51.0
#define AXIS_Y      72.0
#define LANES_Y     (AXIS_Y + 6)
#define LANES_END   (NSC_PDF_HEIGHT - 34)
#define LEGEND_Y    (NSC_PDF_HEIGHT - 18)
#define LABEL_HOLDS 12.0 /* a thread's name, above its rows */
#define LANE_GAP    8.0
#define ROWS_LEAST  4u  /* a thread starts a new page rather than with fewer rows at its foot */
#define SHORT       0.3 /* points; narrower calls are merged with their neighbours */
#define GAP_WIDTH   4.0 /* minimum width of a gap */
#define PAGE_WIDTH  110.0
#define TEXT_BYTES  512

struct gap {
    uint64_t from_ns, to_ns;
};

/* A thread with calls. */
struct lane {
    uint32_t thread, rows;
    uint64_t calls, lost, first_ns, last_ns;
    struct gap *gaps;
    uint32_t gap_count, gap_room;
};

/* A part of a lane, on one page. */
struct slice {
    uint32_t lane, first_row, rows, page;
    double y; /* of its first row */
};

/* Merged short calls of a row, not yet drawn; further calls may be added. */
struct run {
    double x0, x1;
    uint64_t calls;
    uint32_t function, bound;
};

struct pdf {
    struct nsc_export *job;
    struct nsc_output *out;
    struct nsc_pdf_pen pen;
    cairo_surface_t *surface;
    struct lane *lanes;
    uint32_t lane_count, lane_room;
    struct slice *slices;
    uint32_t slice_count, slice_room;
    uint32_t pages;
    uint64_t hidden_calls; /* deeper than max_depth, not drawn */
    struct run *runs;      /* of the rows of the slice being drawn */
    bool no_memory;
};

/* ---- Measuring ------------------------------------------------------------------------------- */

static void add_gap(struct pdf *p, struct lane *lane, uint64_t from_ns, uint64_t to_ns)
{
    struct gap *last = lane->gap_count > 0 ? &lane->gaps[lane->gap_count - 1] : NULL;
    struct gap *grown;

    if (last != NULL && from_ns <= last->to_ns) {
        last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
        return;
    }
    grown = nsc_array_grow(lane->gaps, &lane->gap_room, lane->gap_count, sizeof *grown);
    if (grown == NULL) {
        p->no_memory = true;
        return;
    }
    lane->gaps = grown;
    grown[lane->gap_count++] = (struct gap){from_ns, to_ns};
}

/* Processes one event in the first pass over a lane. A gap lasts from the previous event to the
 * next. */
static void measure(struct pdf *p, struct lane *lane, const struct nsc_walk_event *e, bool *in_gap)
{
    uint64_t ns = nsc_clock_ns(p->job->clock, e->ticks);

    if (lane->calls == 0 && lane->lost == 0)
        lane->first_ns = lane->last_ns = ns;
    if (*in_gap && e->kind != NSC_WALK_LOST)
        lane->gaps[lane->gap_count - 1].to_ns = ns;
    if (e->kind == NSC_WALK_LOST) {
        add_gap(p, lane, lane->last_ns, ns);
        lane->lost += e->value;
    }
    *in_gap = e->kind == NSC_WALK_LOST && !p->no_memory;
    lane->last_ns = ns;
    if (e->kind != NSC_WALK_BEGIN)
        return;
    lane->calls++;
    if (e->depth >= p->job->options.max_depth)
        p->hidden_calls++;
    else if (e->depth >= lane->rows)
        lane->rows = e->depth + 1;
}

static int measure_thread(struct pdf *p, uint32_t thread, struct nsc_diag *diag)
{
    struct lane *grown = nsc_array_grow(p->lanes, &p->lane_room, p->lane_count, sizeof *grown);
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    bool in_gap = false;
    int more = 0, error = nsc_export_walk(p->job, thread, false, &walk, diag);

    p->no_memory |= grown == NULL;
    if (error != 0 || grown == NULL)
        return error;
    p->lanes = grown;
    grown[p->lane_count] = (struct lane){.thread = thread};
    while (!p->no_memory && (more = nsc_export_next(p->job, thread, walk, &event, diag)) > 0)
        measure(p, &grown[p->lane_count], &event, &in_gap);
    nsc_export_walked(p->job, walk);
    p->lane_count += grown[p->lane_count].calls > 0;
    return more < 0 ? more : 0;
}

/* Sets the time range of the pages: the window, or from the first to the last event. */
static void choose_time(struct pdf *p)
{
    const struct nsc_export_options *o = &p->job->options;
    uint64_t from_ns = UINT64_MAX, to_ns = 0;

    for (uint32_t i = 0; i < p->lane_count; i++) {
        from_ns = p->lanes[i].first_ns < from_ns ? p->lanes[i].first_ns : from_ns;
        to_ns = p->lanes[i].last_ns > to_ns ? p->lanes[i].last_ns : to_ns;
    }
    if (o->from_ticks > p->job->info->start_ticks)
        from_ns = nsc_clock_ns(p->job->clock, o->from_ticks);
    if (o->to_ticks < p->job->info->end_ticks)
        to_ns = nsc_clock_ns(p->job->clock, o->to_ticks);
    p->pen.from_ns = from_ns == UINT64_MAX ? 0 : from_ns;
    p->pen.to_ns = to_ns > p->pen.from_ns ? to_ns : p->pen.from_ns + 1;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool add_slice(struct pdf *p, uint32_t lane, uint32_t first_row, uint32_t rows, double y)
{
    struct slice *grown = nsc_array_grow(p->slices, &p->slice_room, p->slice_count, sizeof *grown);

    if (grown == NULL) {
        p->no_memory = true;
        return false;
    }
    p->slices = grown;
    grown[p->slice_count++] = (struct slice){
        .lane = lane, .first_row = first_row, .rows = rows, .page = p->pages - 1, .y = y};
    return true;
}

/* Places the lanes below each other; a lane that does not fit continues on the next page. */
static void lay_out(struct pdf *p)
{
    double y = LANES_Y;

    p->pages = 1;
    for (uint32_t i = 0; i < p->lane_count; i++)
        for (uint32_t row = 0, rows; row < p->lanes[i].rows; row += rows) {
            uint32_t left = p->lanes[i].rows - row;
            double room = LANES_END - y - LABEL_HOLDS;
            uint32_t fit = room > 0 ? (uint32_t)(room / NSC_PDF_ROW) : 0;

            rows = 0;
            if (fit < left && fit < ROWS_LEAST) {
                p->pages++;
                y = LANES_Y;
                continue;
            }
            rows = left < fit ? left : fit;
            if (!add_slice(p, i, row, rows, y + LABEL_HOLDS))
                return;
            y += LABEL_HOLDS + rows * NSC_PDF_ROW + LANE_GAP;
        }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void draw_run(struct pdf *p, struct run *run, double y)
{
    const struct nsc_cooked *name = run->calls == 1 ? nsc_export_name(p->job, run->function) : NULL;
    struct nsc_pdf_box box = {.x0 = run->x0, .x1 = run->x1, .bound = run->bound};

    if (run->calls == 0)
        return;
    p->no_memory |= run->calls == 1 && name == NULL;
    box.name = name != NULL ? name->text : NULL;
    if (box.x1 - box.x0 < SHORT)
        box.x1 = box.x0 + SHORT;
    nsc_pdf_box(&p->pen, &box, y);
    run->calls = 0;
}

/* Draws a call that has ended, or adds it to its row's run. Calls of a row arrive in time order. */
static void draw_call(struct pdf *p, const struct slice *slice, const struct nsc_walk_event *e)
{
    uint32_t row = e->depth - slice->first_row;
    double y = slice->y + row * NSC_PDF_ROW;
    struct run *run = &p->runs[row];
    struct run call = {.calls = 1, .function = e->function, .bound = e->bound};

    call.x0 = nsc_pdf_x(&p->pen, nsc_clock_ns(p->job->clock, e->start_ticks));
    call.x1 = nsc_pdf_x(&p->pen, nsc_clock_ns(p->job->clock, e->ticks));
    if (call.x1 - call.x0 < SHORT && run->calls > 0 && call.x0 - run->x1 < SHORT) {
        run->x1 = call.x1 > run->x1 ? call.x1 : run->x1;
        run->calls++;
        return;
    }
    draw_run(p, run, y);
    if (call.x1 - call.x0 < SHORT)
        *run = call;
    else
        draw_run(p, &call, y);
}

static void draw_gaps(struct pdf *p, const struct slice *slice)
{
    const struct lane *lane = &p->lanes[slice->lane];
    double last = 0;

    for (uint32_t i = 0; i < lane->gap_count; i++) {
        double x0 = nsc_pdf_x(&p->pen, lane->gaps[i].from_ns);
        double x1 = nsc_pdf_x(&p->pen, lane->gaps[i].to_ns);

        if (x1 - x0 < GAP_WIDTH) {
            x0 -= (GAP_WIDTH - (x1 - x0)) / 2;
            x0 = x0 < NSC_PDF_LEFT ? NSC_PDF_LEFT : x0;
            x0 = x0 > NSC_PDF_RIGHT - GAP_WIDTH ? NSC_PDF_RIGHT - GAP_WIDTH : x0;
            x1 = x0 + GAP_WIDTH;
        }
        if (x1 <= last)
            continue;
        x0 = x0 < last ? last : x0;
        nsc_pdf_hatch(&p->pen, x0, x1, slice->y, slice->rows * NSC_PDF_ROW - 0.8);
        last = x1;
    }
}

static void draw_label(struct pdf *p, const struct slice *slice)
{
    const struct lane *lane = &p->lanes[slice->lane];
    const struct nsc_thread *thread = nsc_trace_thread(p->job->trace, lane->thread);
    char calls[NSC_UNITS_MAX], lost[NSC_UNITS_MAX], rest[TEXT_BYTES], losses[TEXT_BYTES] = "";
    char stack[32] = "", *name;
    double x = NSC_PDF_LEFT;
    size_t bytes;

    if (lane->lost > 0)
        snprintf(losses, sizeof losses, ", %s event%s lost",
                 nsc_units_format_count(lost, lane->lost), nsc_units_plural(lane->lost));
    if (thread->stack > 0)
        snprintf(stack, sizeof stack, ", stack %u", thread->stack);
    snprintf(rest, sizeof rest, "thread %u%s of process %u: %s call%s%s%s", thread->tid, stack,
             nsc_trace_process(p->job->trace, thread->process)->pid,
             nsc_units_format_count(calls, lane->calls), nsc_units_plural(lane->calls), losses,
             slice->first_row > 0 ? ", continued" : "");
    name = nsc_names_line(thread->name, &bytes);
    p->no_memory |= name == NULL;
    /* A white background hides the lines of the axis behind the label. */
    p->pen.api.set_source_rgb(p->pen.to, 1, 1, 1);
    p->pen.api.rectangle(p->pen.to, NSC_PDF_LEFT - 1, slice->y - LABEL_HOLDS,
                         NSC_PDF_RIGHT - NSC_PDF_LEFT + 2, LABEL_HOLDS - 0.5);
    p->pen.api.fill(p->pen.to);
    nsc_pdf_font(&p->pen, 8, true);
    p->pen.api.set_source_rgb(p->pen.to, 0.08, 0.08, 0.10);
    if (name != NULL && *name != '\0')
        x += nsc_pdf_text(&p->pen, name, x, slice->y - 3, 300) + 6;
    free(name);
    nsc_pdf_font(&p->pen, NSC_PDF_TEXT_SIZE, false);
    p->pen.api.set_source_rgb(p->pen.to, 0.42, 0.42, 0.46);
    nsc_pdf_text(&p->pen, rest, x, slice->y - 3, NSC_PDF_RIGHT - x);
}

static int draw_slice(struct pdf *p, const struct slice *slice, struct nsc_diag *diag)
{
    uint32_t end_row = slice->first_row + slice->rows;
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error;

    memset(p->runs, 0, slice->rows * sizeof *p->runs);
    draw_label(p, slice);
    nsc_pdf_font(&p->pen, NSC_PDF_TEXT_SIZE, false);
    error = nsc_export_walk(p->job, p->lanes[slice->lane].thread, false, &walk, diag);
    if (error != 0)
        return error;
    while (!p->no_memory && (more = nsc_walk_next(walk, &event, diag)) > 0)
        if (event.kind == NSC_WALK_END && event.depth >= slice->first_row && event.depth < end_row)
            draw_call(p, slice, &event);
    nsc_walk_close(walk);
    for (uint32_t i = 0; i < slice->rows; i++)
        draw_run(p, &p->runs[i], slice->y + i * NSC_PDF_ROW);
    draw_gaps(p, slice);
    return more < 0 ? more : 0;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Formats the date and time at which the pages' time range begins; "" if unknown. */
static void put_date(const struct pdf *p, char out[TEXT_BYTES])
{
    uint64_t zero_ns = nsc_trace_zero(p->job->trace).realtime_ns;
    time_t seconds = (time_t)((zero_ns + p->pen.from_ns) / 1000000000u);
    struct tm utc;

    if (zero_ns == 0 || gmtime_r(&seconds, &utc) == NULL ||
        strftime(out, TEXT_BYTES, "%Y-%m-%d %H:%M:%S UTC    ", &utc) == 0)
        out[0] = '\0';
}

/* Draws the head of a page: command, date and time range. */
static void draw_head(struct pdf *p, uint32_t page)
{
    const char *command = nsc_trace_meta(p->job->trace, "command");
    char date[TEXT_BYTES], detail[2 * TEXT_BYTES], calls[NSC_UNITS_MAX];
    char from[NSC_UNITS_MAX], to[NSC_UNITS_MAX], span[NSC_UNITS_MAX];
    uint32_t threads = p->job->result->threads;
    size_t bytes;
    char *title;

    title = nsc_names_line(command != NULL ? command : nsc_trace_name(p->job->trace), &bytes);
    p->no_memory |= title == NULL;
    put_date(p, date);
    snprintf(detail, sizeof detail, "%sfrom %s to %s (%s)    %s call%s of %u thread%s", date,
             nsc_units_format_time(from, p->pen.from_ns), nsc_units_format_time(to, p->pen.to_ns),
             nsc_units_format_ns(span, p->pen.to_ns - p->pen.from_ns),
             nsc_units_format_count(calls, p->job->result->calls),
             nsc_units_plural(p->job->result->calls), threads, nsc_units_plural(threads));
    p->pen.api.set_source_rgb(p->pen.to, 0.08, 0.08, 0.10);
    nsc_pdf_font(&p->pen, 12, true);
    if (title != NULL)
        nsc_pdf_text(&p->pen, title, NSC_PDF_LEFT, TITLE_Y, NSC_PDF_RIGHT - NSC_PDF_LEFT);
    free(title);
    nsc_pdf_font(&p->pen, 8.5, false);
    p->pen.api.set_source_rgb(p->pen.to, 0.42, 0.42, 0.46);
    nsc_pdf_text(&p->pen, detail, NSC_PDF_LEFT, DETAIL_Y, NSC_PDF_RIGHT - NSC_PDF_LEFT);
    snprintf(detail, sizeof detail, "page %u of %u", page + 1, p->pages);
    nsc_pdf_text(&p->pen, detail, NSC_PDF_RIGHT - nsc_pdf_text_width(&p->pen, detail), LEGEND_Y,
                 PAGE_WIDTH);
}

/* Returns the y coordinate at which the last lane of a page ends. */
static double end_of(const struct pdf *p, uint32_t page, uint32_t slice)
{
    double y = LANES_Y;

    for (; slice < p->slice_count && p->slices[slice].page == page; slice++)
        y = p->slices[slice].y + p->slices[slice].rows * NSC_PDF_ROW;
    return y;
}

static int draw_page(struct pdf *p, uint32_t page, uint32_t *slice, struct nsc_diag *diag)
{
    int error = 0;

    /* Each page starts with cairo's default font: forget the current one. */
    p->pen.size = 0;
    draw_head(p, page);
    nsc_pdf_axis(&p->pen, AXIS_Y, end_of(p, page, *slice));
    if (p->slice_count == 0)
        nsc_pdf_text(&p->pen, "no calls in this part of the trace", NSC_PDF_LEFT, LANES_Y + 20,
                     NSC_PDF_RIGHT - NSC_PDF_LEFT);
    for (; *slice < p->slice_count && p->slices[*slice].page == page && error == 0; ++*slice)
        error = draw_slice(p, &p->slices[*slice], diag);
    nsc_pdf_legend(&p->pen, LEGEND_Y, NSC_PDF_RIGHT - NSC_PDF_LEFT - PAGE_WIDTH);
    p->pen.api.show_page(p->pen.to);
    return error;
}

static cairo_status_t take_bytes(void *context, const unsigned char *data, unsigned bytes)
{
    nsc_output_put(context, data, bytes);
    return CAIRO_STATUS_SUCCESS; /* write errors are kept in the output */
}

static int draw_all(struct pdf *p, struct nsc_diag *diag)
{
    const struct nsc_cairo *api = &p->pen.api;
    const char *command = nsc_trace_meta(p->job->trace, "command");
    uint32_t slice = 0;
    size_t bytes;
    char *title = nsc_names_line(command != NULL ? command : "trace", &bytes);
    int error = 0;

    p->surface =
        api->pdf_surface_create_for_stream(take_bytes, p->out, NSC_PDF_WIDTH, NSC_PDF_HEIGHT);
    p->pen.to = api->create(p->surface);
    p->no_memory |= title == NULL;
    if (title != NULL)
        api->pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_TITLE, title);
    api->pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_CREATOR, "nanoscope " NSC_VERSION);
    for (uint32_t i = 0; i < p->pages && error == 0 && !p->no_memory; i++)
        error = draw_page(p, i, &slice, diag);
    p->no_memory |= api->status(p->pen.to) != CAIRO_STATUS_SUCCESS;
    api->destroy(p->pen.to);
    api->surface_finish(p->surface);
    p->no_memory |= api->surface_status(p->surface) != CAIRO_STATUS_SUCCESS;
    api->surface_destroy(p->surface);
    free(title);
    return error;
}

static int make_pages(struct pdf *p, struct nsc_diag *diag)
{
    int error = 0;

    p->runs = calloc((size_t)(NSC_PDF_HEIGHT / NSC_PDF_ROW) + 1, sizeof *p->runs);
    p->no_memory |= p->runs == NULL;
    for (uint32_t i = 0; i < p->job->info->thread_count && error == 0 && !p->no_memory; i++)
        if (nsc_export_wants(p->job, i))
            error = measure_thread(p, i, diag);
    if (error == 0 && !p->no_memory) {
        choose_time(p);
        lay_out(p);
        error = draw_all(p, diag);
    }
    if (error == 0 && p->no_memory)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return error;
}

int nsc_pdf_export(struct nsc_export *job, struct nsc_diag *diag)
{
    struct pdf p = {.job = job};
    int error = nsc_cairo_load(&p.pen.api, diag);

    if (error == 0)
        error = nsc_output_create(job->path, job->gzip, &p.out, diag);
    if (error != 0)
        return error;
    error = make_pages(&p, diag);
    for (uint32_t i = 0; i < p.lane_count; i++)
        free(p.lanes[i].gaps);
    free(p.lanes);
    free(p.slices);
    free(p.runs);
    if (p.hidden_calls > 0)
        nsc_job_notes_add(&job->result->notes, "%s call%s below %s others %s not drawn (--depth)",
                          nsc_units_count(p.hidden_calls).text, nsc_units_plural(p.hidden_calls),
                          nsc_units_count(job->options.max_depth).text,
                          p.hidden_calls == 1 ? "is" : "are");
    nsc_export_note_left_out(job, "a PDF page", ~0u);
    return nsc_export_publish(job, p.out, error, diag);
}
