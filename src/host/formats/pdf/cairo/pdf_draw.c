/*
 * pdf_draw.c - text, calls, gaps and the axis on a page; see pdf_draw.h.
 *
 * Must not access traces.
 */
#include "formats/pdf/cairo/pdf_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format/model.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define INSET         1.5 /* between a box's edge and its name */
#define NAMED_WIDTH   9.0 /* narrower boxes have no name */
#define EDGED_WIDTH   1.5 /* narrower boxes have no edge */
#define BOX_HEIGHT    (NSC_PDF_ROW - 0.8)
#define LABEL_SPACE   14.0
#define HATCH_SPACE   2.5
#define LABEL_BYTES   (NSC_UNITS_MAX + 8)
#define ELLIPSIS      "\xe2\x80\xa6"
#define ELLIPSIS_ROOM 4
/* Bytes of a name that are used. More do not fit on a page, and names, which may have 64 KiB, are
 * measured for each box. */
#define NAME_MOST     1024

struct colour {
    double red, green, blue;
};

/* Light enough for black text, and distinguishable with colour blindness. */
static const struct colour tints[] = {
    {0.67, 0.81, 0.93}, {0.99, 0.83, 0.60}, {0.70, 0.88, 0.80}, {0.96, 0.93, 0.64},
    {0.93, 0.77, 0.84}, {0.80, 0.77, 0.92}, {0.98, 0.76, 0.66}, {0.84, 0.84, 0.78},
    {0.62, 0.85, 0.88}, {0.86, 0.91, 0.66},
};
static const struct colour ink = {0.08, 0.08, 0.10}, pale = {0.42, 0.42, 0.46},
                           line = {0.86, 0.86, 0.88}, edge = {0.45, 0.47, 0.52},
                           several = {0.60, 0.62, 0.66}, loss = {0.76, 0.10, 0.16};

static void set(struct nsc_pdf_pen *pen, const struct colour *c)
{
    pen->api.set_source_rgb(pen->to, c->red, c->green, c->blue);
}

/* Returns the colour of a name, which is the same in every document. Names that differ only after
 * NAME_MOST bytes share a colour. */
static const struct colour *tint_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < NAME_MOST && name[i] != '\0'; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    return &tints[(hash >> 8) % (sizeof tints / sizeof tints[0])];
}

double nsc_pdf_x(const struct nsc_pdf_pen *pen, uint64_t ns)
{
    double part;

    if (ns <= pen->from_ns)
        return NSC_PDF_LEFT;
    if (ns >= pen->to_ns)
        return NSC_PDF_RIGHT;
    part = (double)(ns - pen->from_ns) / (double)(pen->to_ns - pen->from_ns);
    return NSC_PDF_LEFT + part * (NSC_PDF_RIGHT - NSC_PDF_LEFT);
}

/* ---- Text ------------------------------------------------------------------------------------ */

void nsc_pdf_font(struct nsc_pdf_pen *pen, double size, bool bold)
{
    if (pen->size == size && pen->bold == bold)
        return;
    pen->api.select_font_face(pen->to, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                              bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    pen->api.set_font_size(pen->to, size);
    pen->size = size;
    pen->bold = bold;
}

double nsc_pdf_text_width(struct nsc_pdf_pen *pen, const char *text)
{
    cairo_text_extents_t extents;

    pen->api.text_extents(pen->to, text, &extents);
    return extents.x_advance;
}

/* Shortens @text, which is too wide, so that it fits with an ellipsis. Returns a string for free();
 * NULL if not even one letter fits, or when out of memory. */
static char *shorten(struct nsc_pdf_pen *pen, const char *text, double width)
{
    size_t bytes = strnlen(text, NAME_MOST), low = 0, high = bytes - 1;
    char *cut = malloc(bytes + ELLIPSIS_ROOM);

    while (cut != NULL && low < high) {
        size_t middle = low + (high - low + 1) / 2, kept = nsc_names_fit(text, bytes, middle);

        memcpy(cut, text, kept);
        memcpy(cut + kept, ELLIPSIS, ELLIPSIS_ROOM);
        if (nsc_pdf_text_width(pen, cut) <= width)
            low = middle;
        else
            high = middle - 1;
    }
    low = nsc_names_fit(text, bytes, low);
    if (cut == NULL || low == 0) {
        free(cut);
        return NULL;
    }
    memcpy(cut, text, low);
    memcpy(cut + low, ELLIPSIS, ELLIPSIS_ROOM);
    return cut;
}

double nsc_pdf_text(struct nsc_pdf_pen *pen, const char *text, double x, double y, double width)
{
    bool is_long = strnlen(text, NAME_MOST + 1) > NAME_MOST;
    double taken = is_long ? 0 : nsc_pdf_text_width(pen, text);
    char *cut = NULL;

    if (is_long || taken > width) {
        cut = shorten(pen, text, width);
        if (cut == NULL)
            return 0;
        taken = nsc_pdf_text_width(pen, cut);
    }
    pen->api.move_to(pen->to, x, y);
    pen->api.show_text(pen->to, cut != NULL ? cut : text);
    free(cut);
    return taken;
}

/* ---- Calls and gaps -------------------------------------------------------------------------- */

static void dots(struct nsc_pdf_pen *pen, double x, double y)
{
    static const double pattern[] = {1.0, 1.0};

    pen->api.set_dash(pen->to, pattern, 2, 0);
    pen->api.set_line_width(pen->to, 1.0);
    set(pen, &ink);
    pen->api.move_to(pen->to, x, y);
    pen->api.line_to(pen->to, x, y + BOX_HEIGHT);
    pen->api.stroke(pen->to);
    pen->api.set_dash(pen->to, NULL, 0, 0);
}

void nsc_pdf_box(struct nsc_pdf_pen *pen, const struct nsc_pdf_box *box, double y)
{
    double width = box->x1 - box->x0;

    pen->api.rectangle(pen->to, box->x0, y, width, BOX_HEIGHT);
    set(pen, box->name != NULL ? tint_of(box->name) : &several);
    pen->api.fill(pen->to);
    if (width >= EDGED_WIDTH) {
        pen->api.rectangle(pen->to, box->x0, y, width, BOX_HEIGHT);
        pen->api.set_line_width(pen->to, 0.25);
        set(pen, &edge);
        pen->api.stroke(pen->to);
    }
    if (width >= EDGED_WIDTH && (box->bound & NSC_BOUND_START) != 0)
        dots(pen, box->x0 + 0.5, y);
    if (width >= EDGED_WIDTH && (box->bound & NSC_BOUND_END) != 0)
        dots(pen, box->x1 - 0.5, y);
    if (box->name == NULL || width < NAMED_WIDTH)
        return;
    /* Clipped, too, because glyphs may extend beyond their widths. */
    pen->api.save(pen->to);
    pen->api.rectangle(pen->to, box->x0, y, width, BOX_HEIGHT);
    pen->api.clip(pen->to);
    set(pen, &ink);
    nsc_pdf_text(pen, box->name, box->x0 + INSET, y + 7.2, width - 2 * INSET);
    pen->api.restore(pen->to);
}

void nsc_pdf_hatch(struct nsc_pdf_pen *pen, double x0, double x1, double y, double height)
{
    int lines = (int)((x1 - x0 + height) / HATCH_SPACE) + 1;

    pen->api.save(pen->to);
    pen->api.rectangle(pen->to, x0, y, x1 - x0, height);
    pen->api.clip(pen->to);
    set(pen, &loss);
    pen->api.set_line_width(pen->to, 0.6);
    for (int i = 0; i < lines; i++) {
        double x = x0 - height + i * HATCH_SPACE;

        pen->api.move_to(pen->to, x, y + height);
        pen->api.line_to(pen->to, x + height, y);
    }
    pen->api.stroke(pen->to);
    pen->api.restore(pen->to);
    pen->api.rectangle(pen->to, x0, y, x1 - x0, height);
    pen->api.set_line_width(pen->to, 0.4);
    set(pen, &loss);
    pen->api.stroke(pen->to);
}

/* ---- The axis -------------------------------------------------------------------------------- */

/* Formats a time in the largest unit that needs no fraction for multiples of @step. */
static void label(char out[LABEL_BYTES], uint64_t ns, uint64_t step)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
    char count[NSC_UNITS_MAX];
    int i = 0;

    while (step % units[i].ns != 0)
        i++;
    snprintf(out, LABEL_BYTES, "%s %s", nsc_units_format_count(count, ns / units[i].ns),
             units[i].name);
}

/* Returns the shortest step of 1, 2, 5, 10, 20... ns whose labels do not overlap. */
static uint64_t choose_step(struct nsc_pdf_pen *pen)
{
    double points_per_ns = (NSC_PDF_RIGHT - NSC_PDF_LEFT) / (double)(pen->to_ns - pen->from_ns);
    char text[LABEL_BYTES];

    for (uint64_t ten = 1; ten <= UINT64_MAX / 50; ten *= 10)
        for (uint64_t times = 1; times <= 5; times = times == 1 ? 2 : times + 3) {
            label(text, pen->to_ns, ten * times);
            if (nsc_pdf_text_width(pen, text) + LABEL_SPACE <=
                (double)(ten * times) * points_per_ns)
                return ten * times;
        }
    return UINT64_MAX;
}

void nsc_pdf_axis(struct nsc_pdf_pen *pen, double y, double bottom)
{
    char text[LABEL_BYTES];
    uint64_t step, ns;

    nsc_pdf_font(pen, NSC_PDF_TEXT_SIZE, false);
    step = choose_step(pen);
    if (pen->from_ns > UINT64_MAX - step)
        return;
    pen->api.set_line_width(pen->to, 0.4);
    for (ns = (pen->from_ns + step - 1) / step * step; ns <= pen->to_ns && ns >= pen->from_ns;
         ns += step) {
        double x = nsc_pdf_x(pen, ns), width, at;

        set(pen, &line);
        pen->api.move_to(pen->to, x, y);
        pen->api.line_to(pen->to, x, bottom);
        pen->api.stroke(pen->to);
        label(text, ns, step);
        width = nsc_pdf_text_width(pen, text);
        at = x - width / 2;
        at = at < NSC_PDF_LEFT ? NSC_PDF_LEFT : at;
        at = at > NSC_PDF_RIGHT - width ? NSC_PDF_RIGHT - width : at;
        set(pen, &pale);
        nsc_pdf_text(pen, text, at, y - 2.5, width + 1);
    }
    set(pen, &line);
    pen->api.move_to(pen->to, NSC_PDF_LEFT, y);
    pen->api.line_to(pen->to, NSC_PDF_RIGHT, y);
    pen->api.stroke(pen->to);
}

void nsc_pdf_legend(struct nsc_pdf_pen *pen, double y, double width)
{
    static const struct {
        struct nsc_pdf_box box;
        const char *text;
    } signs[] = {
        {{0, 8, "a call", 0}, "a call"},
        {{0, 8, "a call", NSC_BOUND_END}, "its start or end was not seen"},
        {{0, 8, NULL, 0}, "calls too short to be told apart"},
    };
    double x = NSC_PDF_LEFT, end = x + width;

    nsc_pdf_font(pen, NSC_PDF_TEXT_SIZE, false);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        struct nsc_pdf_box box = signs[i].box;

        box.x0 += x;
        box.x1 += x;
        nsc_pdf_box(pen, &(struct nsc_pdf_box){box.x0, box.x1, box.name, box.bound}, y - 7.2);
        set(pen, &pale);
        x = box.x1 + 4;
        x += nsc_pdf_text(pen, signs[i].text, x, y, end - x) + 14;
    }
    nsc_pdf_hatch(pen, x, x + 14, y - 7.2, BOX_HEIGHT);
    set(pen, &pale);
    nsc_pdf_text(pen, "events were lost", x + 18, y, end - x - 18);
}
