/*
 * percentile.c - percentile(x, p): the smallest value such that at least p % of all values do not
 * exceed it. Like the quantiles of `report`, but exact for any number of values.
 *
 * Stores all values, eight bytes each, in SQLite's memory, where they count against its limit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/tables.h"

struct percentile {
    bool is_real; /* all values are stored as reals; integers are kept as long as no real occurs */
    bool failed;
    double percent;
    sqlite3_uint64 count, room;
    union value {
        sqlite3_int64 integer;
        double real;
    } * values;
};

static void fail(struct percentile *p, sqlite3_context *context, const char *message)
{
    if (message != NULL)
        nsc_sqlite.result_error(context, message, -1);
    else
        nsc_sqlite.result_error_nomem(context);
    p->failed = true;
}

static bool make_room(struct percentile *p)
{
    sqlite3_uint64 room = p->room * 2 + 1024;
    union value *grown;

    if (p->count < p->room)
        return true;
    grown = nsc_sqlite.realloc64(p->values, room * sizeof *grown);
    if (grown == NULL)
        return false;
    p->values = grown;
    p->room = room;
    return true;
}

static void step(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct percentile *p = nsc_sqlite.aggregate_context(context, sizeof *p);
    int type = nsc_sqlite.value_numeric_type(argv[0]);
    double percent = nsc_sqlite.value_double(argv[1]);

    (void)argc;
    if (p == NULL || p->failed || type == SQLITE_NULL)
        return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        fail(p, context, "percentile(x, p): x must be a number");
    else if (nsc_sqlite.value_numeric_type(argv[1]) == SQLITE_NULL ||
             !(percent >= 0 && percent <= 100))
        fail(p, context, "percentile(x, p): p must be from 0 to 100");
    else if (p->count > 0 && percent != p->percent)
        fail(p, context, "percentile(x, p): p must be the same for all rows");
    else if (!make_room(p))
        fail(p, context, NULL);
    if (p->failed)
        return;
    p->percent = percent;
    if (type == SQLITE_FLOAT && !p->is_real) {
        for (sqlite3_uint64 i = 0; i < p->count; i++)
            p->values[i].real = (double)p->values[i].integer;
        p->is_real = true;
    }
    if (p->is_real)
        p->values[p->count++].real = nsc_sqlite.value_double(argv[0]);
    else
        p->values[p->count++].integer = nsc_sqlite.value_int64(argv[0]);
}

static bool is_less(const struct percentile *p, union value a, union value b)
{
    return p->is_real ? a.real < b.real : a.integer < b.integer;
}

static void swap(union value *a, union value *b)
{
    union value kept = *a;

    *a = *b;
    *b = kept;
}

/* Quickselect: move the value of rank @wanted to index [@wanted]. Pivot: median of three. */
static void select_value(const struct percentile *p, sqlite3_uint64 wanted)
{
    union value *v = p->values;
    sqlite3_uint64 low = 0, high = p->count - 1;

    while (low < high) {
        sqlite3_uint64 middle = low + (high - low) / 2, i = low, j = high;
        union value pivot;

        if (is_less(p, v[middle], v[low]))
            swap(&v[middle], &v[low]);
        if (is_less(p, v[high], v[low]))
            swap(&v[high], &v[low]);
        if (is_less(p, v[high], v[middle]))
            swap(&v[high], &v[middle]);
        pivot = v[middle];
        for (;; i++, j--) {
            while (is_less(p, v[i], pivot))
                i++;
            while (is_less(p, pivot, v[j]))
                j--;
            if (i >= j)
                break;
            swap(&v[i], &v[j]);
        }
        if (wanted <= j)
            high = j;
        else
            low = j + 1;
    }
}

static void finish(sqlite3_context *context)
{
    struct percentile *p = nsc_sqlite.aggregate_context(context, 0);
    sqlite3_uint64 rank;

    if (p == NULL || p->failed || p->count == 0) {
        if (p != NULL)
            nsc_sqlite.free(p->values);
        if (p == NULL || !p->failed)
            nsc_sqlite.result_null(context);
        return;
    }
    rank = (sqlite3_uint64)ceil(p->percent / 100 * (double)p->count);
    rank = rank < 1 ? 1 : rank > p->count ? p->count : rank;
    select_value(p, rank - 1);
    if (p->is_real)
        nsc_sqlite.result_double(context, p->values[rank - 1].real);
    else
        nsc_sqlite.result_int64(context, p->values[rank - 1].integer);
    nsc_sqlite.free(p->values);
    p->values = NULL;
}

int nsc_query_add_percentile(sqlite3 *db)
{
    return nsc_sqlite.create_function_v2(db, "percentile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                         NULL, NULL, step, finish, NULL);
}
