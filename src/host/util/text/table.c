/*
 * table.c - see table.h. Must not choose the output stream or exit.
 */
#include "util/text/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/escape.h"
#include "util/text/units.h"

enum cell_state { CELL_NOTHING = 0, CELL_VALUE = 1, CELL_ESTIMATE = 2, CELL_LEAST = 3 };

struct cell {
    uint64_t value; /* number, or for text its offset in nsc_table.text */
    enum cell_state state;
};

#define RATIO_ONE 1000u
#define SHARE_ONE 1000000u

struct nsc_table {
    const struct nsc_table_column *columns;
    size_t column_count;
    struct cell *cells;
    size_t cell_count, cells_max;
    char *text;
    size_t text_bytes, text_max;
    bool no_memory;
};

struct nsc_table *nsc_table_new(const struct nsc_table_column *columns, size_t count)
{
    struct nsc_table *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->columns = columns;
    t->column_count = count;
    return t;
}

void nsc_table_free(struct nsc_table *t)
{
    if (!t)
        return;
    free(t->cells);
    free(t->text);
    free(t);
}

/* Make room for @more elements after @used; grows by at least half. False if out of memory. */
static bool reserve(void **array, size_t *max, size_t used, size_t more, size_t element_bytes)
{
    size_t want = *max + *max / 2 + 64;
    void *grown;

    if (used + more <= *max)
        return true;
    if (want < used + more)
        want = used + more;
    grown = reallocarray(*array, want, element_bytes);
    if (!grown)
        return false;
    *array = grown;
    *max = want;
    return true;
}

static void add_cell(struct nsc_table *t, struct cell cell)
{
    void *cells = t->cells;

    if (t->no_memory || !reserve(&cells, &t->cells_max, t->cell_count, 1, sizeof(cell))) {
        t->no_memory = true;
        return;
    }
    t->cells = cells;
    t->cells[t->cell_count++] = cell;
}

void nsc_table_add_text(struct nsc_table *t, const char *text)
{
    size_t bytes = strlen(text) + 1;
    void *arena = t->text;

    if (t->no_memory || !reserve(&arena, &t->text_max, t->text_bytes, bytes, 1)) {
        t->no_memory = true;
        return;
    }
    t->text = arena;
    memcpy(t->text + t->text_bytes, text, bytes);
    add_cell(t, (struct cell){.value = t->text_bytes, .state = CELL_VALUE});
    t->text_bytes += bytes;
}

void nsc_table_add(struct nsc_table *t, uint64_t value)
{
    add_cell(t, (struct cell){.value = value, .state = CELL_VALUE});
}

void nsc_table_add_share(struct nsc_table *t, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        nsc_table_add_nothing(t);
    else
        nsc_table_add(t, (uint64_t)((double)part / (double)whole * SHARE_ONE + 0.5));
}

void nsc_table_add_change(struct nsc_table *t, int64_t value)
{
    nsc_table_add(t, (uint64_t)value);
}

void nsc_table_add_estimate(struct nsc_table *t, uint64_t value)
{
    add_cell(t, (struct cell){.value = value, .state = CELL_ESTIMATE});
}

void nsc_table_add_least(struct nsc_table *t, uint64_t value)
{
    add_cell(t, (struct cell){.value = value, .state = CELL_LEAST});
}

void nsc_table_add_nothing(struct nsc_table *t)
{
    add_cell(t, (struct cell){.state = CELL_NOTHING});
}

size_t nsc_table_rows(const struct nsc_table *t)
{
    return t->column_count > 0 ? t->cell_count / t->column_count : 0;
}

static const struct cell *cell_at(const struct nsc_table *t, size_t row, size_t column)
{
    return &t->cells[row * t->column_count + column];
}

/* Texts wider than this shift the rest of their own row to the right; other rows are not padded to
 * their width. */
#define PADDED_MAX 64
#define SHOWN_MAX  (NSC_UNITS_MAX + 2) /* with "~", ">=" or a sign */

/* Write the sign of a number that may be negative, unless it is 0. Returns its absolute value. */
static uint64_t put_sign(char **number, uint64_t value)
{
    bool negative = (int64_t)value < 0;

    if (value != 0)
        *(*number)++ = negative ? '-' : '+';
    return negative ? 0 - value : value;
}

static void put_ratio(char *text, size_t bytes, uint64_t thousandths)
{
    snprintf(text, bytes, "%" PRIu64 ".%03u", thousandths / RATIO_ONE,
             (unsigned)(thousandths % RATIO_ONE));
}

/* Format a number for CSV. */
static const char *plain(enum nsc_table_kind kind, uint64_t value, char buffer[NSC_UNITS_MAX])
{
    if (kind == NSC_TABLE_RATIO)
        put_ratio(buffer, NSC_UNITS_MAX, value);
    else if (kind == NSC_TABLE_SHARE)
        snprintf(buffer, NSC_UNITS_MAX, "%" PRIu64 ".%06u", value / SHARE_ONE,
                 (unsigned)(value % SHARE_ONE));
    else if (kind == NSC_TABLE_CHANGE || kind == NSC_TABLE_CHANGE_NS)
        snprintf(buffer, NSC_UNITS_MAX, "%" PRId64, (int64_t)value);
    else
        snprintf(buffer, NSC_UNITS_MAX, "%" PRIu64, value);
    return buffer;
}

/* Return the text of a cell in the aligned form. Numbers are formatted into @buffer. */
static const char *shown(const struct nsc_table *t, size_t row, size_t column,
                         char buffer[SHOWN_MAX])
{
    const struct cell *cell = cell_at(t, row, column);
    char *number = buffer;
    uint64_t amount;

    if (cell->state == CELL_NOTHING)
        return "-";
    if (t->columns[column].kind == NSC_TABLE_TEXT)
        return t->text + cell->value;
    if (cell->state == CELL_ESTIMATE)
        *number++ = '~';
    if (cell->state == CELL_LEAST)
        number = stpcpy(number, ">=");
    switch (t->columns[column].kind) {
    case NSC_TABLE_COUNT:
        nsc_units_format_count(number, cell->value);
        break;
    case NSC_TABLE_NS:
        nsc_units_format_ns(number, cell->value);
        break;
    case NSC_TABLE_TIME:
        nsc_units_format_time(number, cell->value);
        break;
    case NSC_TABLE_BYTES:
        nsc_units_format_bytes(number, cell->value);
        break;
    case NSC_TABLE_CHANGE:
        amount = put_sign(&number, cell->value);
        nsc_units_format_count(number, amount);
        break;
    case NSC_TABLE_CHANGE_NS:
        amount = put_sign(&number, cell->value);
        nsc_units_format_ns(number, amount);
        break;
    case NSC_TABLE_RATIO:
        put_ratio(number, NSC_UNITS_MAX, cell->value);
        break;
    case NSC_TABLE_SHARE:
        nsc_units_format_share(number, cell->value, SHARE_ONE);
        break;
    case NSC_TABLE_TEXT:
    case NSC_TABLE_NUMBER:
        snprintf(number, NSC_UNITS_MAX, "%" PRIu64, cell->value);
        break;
    }
    return buffer;
}

/* Store the columns of the aligned form in display order. Returns their number. */
static size_t order_columns(const struct nsc_table *t, size_t *order)
{
    size_t n = 0;

    for (int last = 0; last <= 1; last++) {
        for (size_t c = 0; c < t->column_count; c++) {
            unsigned flags = t->columns[c].flags;

            if ((flags & NSC_TABLE_NO_HUMAN) == 0 && !!(flags & NSC_TABLE_LAST) == last)
                order[n++] = c;
        }
    }
    return n;
}

static void put_spaces(FILE *out, size_t n)
{
    fprintf(out, "%*s", (int)n, "");
}

/* Write one aligned cell. The last cell of a row is not padded on the right. */
static void put_aligned(FILE *out, const char *text, size_t width, bool left, bool last)
{
    size_t own = nsc_text_width(text);
    size_t padding = width > own ? width - own : 0;

    if (!left)
        put_spaces(out, padding);
    nsc_text_put(out, text);
    if (!last)
        put_spaces(out, (left ? padding : 0) + 2);
}

static bool is_left(const struct nsc_table_column *column)
{
    return (column->kind == NSC_TABLE_TEXT && (column->flags & NSC_TABLE_RIGHT) == 0) ||
           (column->flags & NSC_TABLE_LEFT) != 0;
}

static void put_aligned_row(const struct nsc_table *t, FILE *out, const size_t *order,
                            const size_t *width, size_t n, size_t row, bool heading)
{
    for (size_t i = 0; i < n; i++) {
        const struct nsc_table_column *column = &t->columns[order[i]];
        char buffer[SHOWN_MAX];

        put_aligned(out, heading ? column->title : shown(t, row, order[i], buffer), width[i],
                    is_left(column), i + 1 == n);
    }
}

static int write_aligned(const struct nsc_table *t, FILE *out)
{
    size_t *order = calloc(t->column_count * 2, sizeof(*order));
    size_t *width = order ? order + t->column_count : NULL;
    bool colour = nsc_text_wants_colour(out);
    size_t n, rows = nsc_table_rows(t);

    if (!order)
        return -ENOMEM;
    n = order_columns(t, order);
    for (size_t i = 0; i < n; i++) {
        width[i] = nsc_text_width(t->columns[order[i]].title);
        for (size_t row = 0; row < rows && i + 1 < n; row++) {
            char buffer[SHOWN_MAX];
            size_t own = nsc_text_width(shown(t, row, order[i], buffer));

            if (own > width[i] && (own <= PADDED_MAX || !is_left(&t->columns[order[i]])))
                width[i] = own;
        }
    }
    if (colour)
        fputs("\x1b[1m", out);
    put_aligned_row(t, out, order, width, n, 0, true);
    fputs(colour ? "\x1b[0m\n" : "\n", out);
    for (size_t row = 0; row < rows; row++) {
        put_aligned_row(t, out, order, width, n, row, false);
        putc('\n', out);
    }
    free(order);
    return 0;
}

static void put_csv_row(const struct nsc_table *t, FILE *out, size_t row, bool heading,
                        bool terminal)
{
    bool first = true;

    for (size_t c = 0; c < t->column_count; c++) {
        const struct nsc_table_column *column = &t->columns[c];
        const struct cell *cell;
        char buffer[NSC_UNITS_MAX];

        if (column->flags & NSC_TABLE_NO_CSV)
            continue;
        if (!first)
            putc(',', out);
        first = false;
        if (heading) {
            nsc_text_put_csv(out, column->key, terminal);
            continue;
        }
        cell = cell_at(t, row, c);
        if (cell->state == CELL_NOTHING)
            continue;
        if (column->kind == NSC_TABLE_TEXT)
            nsc_text_put_csv(out, t->text + cell->value, terminal);
        else
            fputs(plain(column->kind, cell->value, buffer), out);
    }
    putc('\n', out);
}

int nsc_table_write(const struct nsc_table *t, enum nsc_table_format format, FILE *out)
{
    int error = 0;

    if (t->no_memory)
        return -ENOMEM;
    if (format == NSC_TABLE_CSV) {
        bool terminal = nsc_text_is_terminal(out);

        put_csv_row(t, out, 0, true, terminal);
        for (size_t row = 0; row < nsc_table_rows(t); row++)
            put_csv_row(t, out, row, false, terminal);
    } else {
        error = write_aligned(t, out);
    }
    return error ? error : ferror(out) ? -EIO : 0;
}

int nsc_table_write_json(const struct nsc_table *t, struct nsc_json *j, const char *key)
{
    if (t->no_memory)
        return -ENOMEM;
    nsc_json_open_array(j, key);
    for (size_t row = 0; row < nsc_table_rows(t); row++) {
        nsc_json_open_object(j, NULL);
        for (size_t c = 0; c < t->column_count; c++) {
            const struct nsc_table_column *column = &t->columns[c];
            const struct cell *cell = cell_at(t, row, c);

            if (column->flags & NSC_TABLE_NO_JSON)
                continue;
            if (cell->state == CELL_NOTHING)
                nsc_json_null(j, column->key);
            else if (column->kind == NSC_TABLE_TEXT)
                nsc_json_text(j, column->key, t->text + cell->value);
            else if (column->kind == NSC_TABLE_RATIO)
                nsc_json_real(j, column->key, (double)cell->value / RATIO_ONE, 3);
            else if (column->kind == NSC_TABLE_SHARE)
                nsc_json_real(j, column->key, (double)cell->value / SHARE_ONE, 6);
            else if (column->kind == NSC_TABLE_CHANGE || column->kind == NSC_TABLE_CHANGE_NS)
                nsc_json_i64(j, column->key, (int64_t)cell->value);
            else
                nsc_json_u64(j, column->key, cell->value);
        }
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    return ferror(j->out) ? -EIO : 0;
}

int nsc_table_parse_format(const char *text, enum nsc_table_format *format)
{
    static const char *const names[] = {"table", "csv", "json"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *format = (enum nsc_table_format)i;
            return 0;
        }
    }
    return -EINVAL;
}
