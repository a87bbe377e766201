/* cmd_query.c - nanoscope query: run an SQL statement on a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/categories.h"
#include "cli/common/reader_rights.h"
#include "cli/common/view.h"
#include "cli/query_options.h"
#include "query/query.h"
#include "util/text/escape.h"
#include "util/text/units.h"

#define TABLE_ROWS 10000 /* a table is held in memory until its columns' widths are known */

struct settings {
    struct nsc_cli_view view;
    const char *categories;
    uint64_t limit;
    bool limited;
};

static int read_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                       struct settings *s)
{
    switch (given->id) {
    case NSC_QUERY_OPT_LIMIT:
        s->limited = true;
        return nsc_cli_count(args, given, &s->limit);
    case NSC_QUERY_OPT_CATEGORIES:
        s->categories = given->value;
        return 0;
    default:
        return nsc_cli_view_option(args, given, &s->view);
    }
}

/* ---- List of tables -------------------------------------------------------------------------- */

/* Reduce "a INTEGER, b TEXT" to "a, b" in @out. Returns @out. */
static const char *names_only(const char *columns, char *out, size_t bytes)
{
    size_t used = 0;

    while (*columns != '\0' && used + 3 < bytes) {
        size_t name = strcspn(columns, " ,");

        used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", used > 0 ? ", " : "",
                                 (int)name, columns);
        columns += strcspn(columns, ",");
        columns += strspn(columns, ", ");
    }
    return out;
}

static int list_tables(enum nsc_table_format format)
{
    static const struct nsc_table_column heads[] = {
        {"table", "TABLE", NSC_TABLE_TEXT, 0},
        {"columns", "COLUMNS", NSC_TABLE_TEXT, 0},
        {"row", "A ROW IS", NSC_TABLE_TEXT, NSC_TABLE_NO_HUMAN},
    };
    struct nsc_table *table = nsc_table_new(heads, sizeof heads / sizeof heads[0]);
    const char *name, *columns, *row;
    struct nsc_json j;
    char names[512];
    int error;

    if (table == NULL)
        return nsc_cli_error("out of memory");
    for (size_t i = 0; nsc_query_table(i, &name, &columns, &row); i++) {
        nsc_table_add_text(table, name);
        nsc_table_add_text(table, names_only(columns, names, sizeof names));
        nsc_table_add_text(table, row);
    }
    if (format == NSC_TABLE_JSON) {
        nsc_json_begin(&j, stdout, false);
        error = nsc_table_write_json(table, &j, "tables");
        nsc_json_end(&j);
    } else {
        error = nsc_table_write(table, format, stdout);
    }
    nsc_table_free(table);
    return nsc_cli_table_status(error);
}

/* ---- Results --------------------------------------------------------------------------------- */

/* The text of a value in tables and CSV; NULL for SQL NULL. Numbers are written into @buffer. */
static const char *text_of(const struct nsc_query_value *value, char buffer[NSC_UNITS_MAX])
{
    switch (value->kind) {
    case NSC_QUERY_NULL:
        return NULL;
    case NSC_QUERY_INTEGER:
        snprintf(buffer, NSC_UNITS_MAX, "%lld", (long long)value->integer);
        return buffer;
    case NSC_QUERY_REAL:
        return nsc_units_format_double(buffer, value->real);
    case NSC_QUERY_TEXT:
        return value->text;
    }
    return NULL;
}

static void put_csv_cell(size_t column, const char *text, bool terminal)
{
    if (column > 0)
        putchar(',');
    if (text != NULL)
        nsc_text_put_csv(stdout, text, terminal);
}

/* Write each row as the query returns it. Returns 1 if there are more rows than the limit, 0, or
 * -errno. */
static int write_csv(struct nsc_query *q, const struct settings *s, struct nsc_diag *diag)
{
    size_t columns = nsc_query_column_count(q);
    bool terminal = nsc_text_is_terminal(stdout);
    uint64_t rows = 0;
    int more;

    for (size_t i = 0; i < columns; i++)
        put_csv_cell(i, nsc_query_column_name(q, i), terminal);
    putchar('\n');
    while ((more = nsc_query_next(q, diag)) > 0 && rows++ < s->limit && ferror(stdout) == 0) {
        for (size_t i = 0; i < columns; i++) {
            struct nsc_query_value value;
            char buffer[NSC_UNITS_MAX];

            nsc_query_value(q, i, &value);
            put_csv_cell(i, text_of(&value, buffer), terminal);
        }
        putchar('\n');
    }
    return more;
}

static int write_json(struct nsc_query *q, const struct settings *s, struct nsc_diag *diag)
{
    struct nsc_json j;
    int error;

    nsc_json_begin(&j, stdout, true);
    error = nsc_query_put_json(q, &j, s->limit, UINT64_MAX, diag);
    nsc_json_end(&j);
    return error;
}

static int fill_table(struct nsc_query *q, const struct settings *s, struct nsc_table *table,
                      struct nsc_table_column *heads, size_t columns, struct nsc_diag *diag)
{
    uint64_t rows = 0;
    int more;

    while ((more = nsc_query_next(q, diag)) > 0 && rows++ < s->limit)
        for (size_t i = 0; i < columns; i++) {
            struct nsc_query_value value;
            char buffer[NSC_UNITS_MAX];
            const char *text;

            nsc_query_value(q, i, &value);
            text = text_of(&value, buffer);
            if (text != NULL)
                nsc_table_add_text(table, text);
            else
                nsc_table_add_nothing(table);
            if (value.kind == NSC_QUERY_INTEGER || value.kind == NSC_QUERY_REAL)
                heads[i].flags |= NSC_TABLE_RIGHT;
        }
    return more;
}

static int write_table(struct nsc_query *q, const struct settings *s, struct nsc_diag *diag)
{
    size_t columns = nsc_query_column_count(q);
    struct nsc_table_column *heads = calloc(columns + 1, sizeof *heads);
    struct nsc_table *table = heads != NULL ? nsc_table_new(heads, columns) : NULL;
    int more = -ENOMEM, error = -ENOMEM;

    for (size_t i = 0; table != NULL && i < columns; i++)
        heads[i] = (struct nsc_table_column){
            .key = "",
            .title = nsc_query_column_name(q, i),
            .kind = NSC_TABLE_TEXT,
            .flags = nsc_query_column_is_number(q, i) ? NSC_TABLE_RIGHT : 0,
        };
    if (table != NULL) {
        more = fill_table(q, s, table, heads, columns, diag);
        error = more >= 0 ? nsc_table_write(table, NSC_TABLE_ALIGNED, stdout) : 0;
    }
    nsc_table_free(table);
    free(heads);
    if (error == -ENOMEM)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the rows");
    return more;
}

static int write_result(struct nsc_query *q, const struct settings *s, struct nsc_diag *diag)
{
    char count[NSC_UNITS_MAX];
    int more;

    if (s->view.format == NSC_TABLE_JSON)
        return write_json(q, s, diag);
    more = s->view.format == NSC_TABLE_CSV ? write_csv(q, s, diag) : write_table(q, s, diag);
    if (more > 0)
        nsc_cli_warn("only the first %s row%s, there are more: see --limit",
                     nsc_units_format_count(count, s->limit), nsc_units_plural(s->limit));
    return more;
}

/* ---- The statement --------------------------------------------------------------------------- */

/* Read the statement from standard input. The caller frees @out. */
static int read_statement(char **out, size_t *bytes)
{
    char *text = malloc(NSC_QUERY_SQL_MAX + 1);

    if (text == NULL)
        return nsc_cli_error("out of memory");
    *bytes = fread(text, 1, NSC_QUERY_SQL_MAX + 1, stdin);
    *out = text;
    return 0;
}

static int run(struct settings *s, const char *sql, size_t bytes)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_categories categories = {0};
    struct nsc_query_options options = {.size = sizeof options, .categories = &categories};
    struct nsc_query *q = NULL;
    int status = nsc_cli_sort_functions(s->categories, s->view.trace, &categories);

    if (status == 0 &&
        (nsc_query_open(s->view.trace, &options, &q, &diag) != 0 ||
         nsc_query_begin(q, sql, bytes, &diag) != 0 || write_result(q, s, &diag) < 0))
        status = nsc_cli_fail(&diag);
    nsc_query_close(q);
    nsc_categories_free(&categories);
    return status;
}

/* The index of the operand that is the trace; both orders are accepted. A statement is no file. */
static size_t find_trace(const struct nsc_cli_args *args)
{
    return access(args->operands[0], F_OK) == 0 && access(args->operands[1], F_OK) != 0 ? 0 : 1;
}

static int check(const struct nsc_cli_args *args)
{
    if (args->operand_count == 1 && access(args->operands[0], F_OK) != 0)
        return nsc_cli_usage(args, "a statement and a trace are needed; there is no file %s",
                             args->operands[0]);
    if (args->operand_count > 2)
        return nsc_cli_usage(args, "a statement and a trace are needed; is the statement quoted?");
    if (args->operand_count == 2 && strcmp(args->operands[0], "-") == 0 &&
        strcmp(args->operands[1], "-") == 0)
        return nsc_cli_usage(args, "statement and trace cannot both come from standard input");
    return 0;
}

int nsc_cmd_query(const struct nsc_cli_args *args)
{
    struct settings s = {.limit = UINT64_MAX};
    char *text = NULL;
    const char *sql;
    size_t bytes = 0, trace;
    int status = 0;

    for (size_t i = 0; i < args->option_count && status == 0; i++)
        status = read_option(args, &args->options[i], &s);
    if (status == 0)
        status = check(args);
    if (status == 0 && args->operand_count < 2)
        return list_tables(s.view.format);
    if (status != 0)
        return status;
    if (!s.limited && s.view.format == NSC_TABLE_ALIGNED)
        s.limit = TABLE_ROWS;
    nsc_cli_confine(NULL);
    trace = find_trace(args);
    sql = args->operands[1 - trace];
    bytes = strlen(sql);
    if (strcmp(sql, "-") == 0)
        status = read_statement(&text, &bytes);
    if (status == 0)
        status = nsc_cli_view_open(args, trace, &s.view);
    if (status == 0) {
        status = run(&s, text != NULL ? text : sql, bytes);
        nsc_cli_view_close(&s.view);
    }
    free(text);
    return status;
}
