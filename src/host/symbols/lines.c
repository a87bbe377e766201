/* lines.c - nsc_symbols_lines() of symbols.h: look up source positions with libdw, in a child. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/isolated_child.h"
#include "symbols/object.h"
#include "util/array.h"
#include "util/now.h"
#include "util/search.h"

#define CHILD_BYTES_MAX    (4ull << 30)
/* Memory limit of a child for a file of another user. */
#define CONFINED_BYTES_MAX (2ull << 30)

/* A range of code and the compilation unit it belongs to. */
struct range {
    uint64_t start, end;
    Dwarf_Off unit; /* offset of the unit's DIE */
};

struct job {
    struct nsc_symbols *symbols;
    const uint64_t *vas;
    struct nsc_symbols_line *out;
    /* in the child: */
    Dwarf *places[2]; /* the file, its debug file */
    Dwarf *dwarf;     /* the one in use */
    char path[NSC_ISOLATE_TEXT_MAX];
    struct range *ranges;
    uint32_t range_count, range_room;
};

static bool add_range(struct job *job, uint64_t start, uint64_t end, Dwarf_Off unit)
{
    struct range *grown;

    if (start >= end || start == 0) /* 0: a function that the linker discarded */
        return true;
    grown = nsc_array_grow(job->ranges, &job->range_room, job->range_count, sizeof *grown);
    if (grown == NULL)
        return false;
    job->ranges = grown;
    job->ranges[job->range_count++] = (struct range){start, end, unit};
    return true;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/*
 * Map code to units by the units' own ranges. .debug_aranges would be faster, but clang does not
 * write it.
 */
static bool index_units(struct job *job)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    Dwarf_Half version;
    uint8_t type;

    while (dwarf_get_units(job->dwarf, unit, &unit, &version, &type, &die, NULL) == 0) {
        Dwarf_Addr base, start, end;
        ptrdiff_t at = 0;

        if (dwarf_tag(&die) != DW_TAG_compile_unit)
            continue;
        while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
            if (!add_range(job, start, end, dwarf_dieoffset(&die)))
                return false;
    }
    if (job->range_count > 0)
        qsort(job->ranges, job->range_count, sizeof *job->ranges, compare_ranges);
    return job->range_count > 0;
}

static void open_places(struct job *job)
{
    const int fds[] = {job->symbols->elf.fd, job->symbols->debug.fd};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0 && job->places[i] == NULL)
            job->places[i] = dwarf_begin(fds[i], DWARF_C_READ);
}

/* Whether files named by this file may be opened. Opening a FIFO or a device can have side effects.
 */
static bool is_trusted(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid());
}

/* Open the alternate debug file of a trusted file, to which dwz(1) has moved common parts. libdw
 * would open it on demand, but then the child can no longer open files. */
static void open_alternates(void *context)
{
    struct job *job = context;

    open_places(job);
    for (size_t i = 0; i < sizeof job->places / sizeof job->places[0]; i++)
        if (job->places[i] != NULL &&
            is_trusted(i == 0 ? job->symbols->elf.fd : job->symbols->debug.fd))
            (void)dwarf_getalt(job->places[i]);
}

static bool begin(void *context)
{
    struct job *job = context;

    open_places(job);
    for (size_t i = 0; i < sizeof job->places / sizeof job->places[0]; i++) {
        job->dwarf = job->places[i];
        if (job->dwarf != NULL && index_units(job))
            return true;
    }
    return false;
}

static const struct range *find_range(const struct job *job, uint64_t va)
{
    size_t next = NSC_PARTITION_POINT(i, job->range_count, job->ranges[i].start <= va);

    return next > 0 && va < job->ranges[next - 1].end ? &job->ranges[next - 1] : NULL;
}

static Dwarf_Addr row_va(Dwarf_Lines *rows, size_t index)
{
    Dwarf_Addr va = 0;

    (void)dwarf_lineaddr(dwarf_onesrcline(rows, index), &va);
    return va;
}

/* End of the function with entry @va; @va if it is not a function's entry. */
static uint64_t end_of_function(const struct job *job, uint64_t va)
{
    struct nsc_symbol symbol;

    return nsc_symbols_find(job->symbols, va, &symbol) && symbol.va == va ? va + symbol.size : va;
}

static bool ends_sequence(Dwarf_Lines *rows, size_t index)
{
    bool end = true;

    return dwarf_lineendsequence(dwarf_onesrcline(rows, index), &end) != 0 || end;
}

/*
 * Find the row of a unit's line table that applies at @va. Of several rows with the same address,
 * take the first: the entry of a function then has the line of its head, not of the first statement
 * moved there. Without optimization gcc puts a sled before the function's first row. The row that
 * applies there ends another sequence, so take the first row up to @end_va.
 */
static Dwarf_Line *find_row(Dwarf_Die *unit, uint64_t va, uint64_t end_va)
{
    Dwarf_Lines *rows;
    size_t count, low;

    if (dwarf_getsrclines(unit, &rows, &count) != 0)
        return NULL;
    low = NSC_PARTITION_POINT(i, count, row_va(rows, i) <= va);
    if (low == 0 || row_va(rows, low - 1) < va || ends_sequence(rows, low - 1))
        if (low < count && row_va(rows, low) < end_va && !ends_sequence(rows, low))
            return dwarf_onesrcline(rows, low);
    if (low == 0 || ends_sequence(rows, low - 1))
        return NULL;
    for (low--; low > 0 && row_va(rows, low - 1) == row_va(rows, low); low--)
        if (ends_sequence(rows, low - 1))
            break; /* end of the previous sequence */
    return dwarf_onesrcline(rows, low);
}

/* Prepend the unit's folder to a relative file name. Valid until the next call. */
static const char *absolute(struct job *job, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    const char *folder = NULL;
    int n;

    if (file[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attribute) != NULL)
        folder = dwarf_formstring(&attribute);
    if (folder == NULL)
        return file;
    n = snprintf(job->path, sizeof job->path, "%s/%s", folder, file);
    return n > 0 && (size_t)n < sizeof job->path ? job->path : file;
}

static bool answer(void *context, size_t index, uint32_t *number, const char **text,
                   size_t *text_bytes)
{
    struct job *job = context;
    const struct range *range = find_range(job, job->vas[index]);
    Dwarf_Line *row;
    Dwarf_Die unit;
    const char *file;
    int line;

    if (range == NULL || dwarf_offdie(job->dwarf, range->unit, &unit) == NULL)
        return false;
    row = find_row(&unit, job->vas[index], end_of_function(job, job->vas[index]));
    if (row == NULL || dwarf_lineno(row, &line) != 0 || line <= 0)
        return false;
    file = dwarf_linesrc(row, NULL, NULL);
    if (file == NULL)
        return false;
    *number = (uint32_t)line;
    *text = absolute(job, &unit, file);
    *text_bytes = strlen(*text);
    return true;
}

static void take(void *context, size_t index, uint32_t number, const char *text, size_t text_bytes)
{
    struct job *job = context;
    char *file = text_bytes > 0 ? strdup(text) : NULL;

    if (file != NULL && job->out[index].file == NULL)
        job->out[index] = (struct nsc_symbols_line){file, number};
    else
        free(file);
}

int nsc_symbols_lines(struct nsc_symbols *s, const uint64_t *vas, size_t count,
                      struct nsc_symbols_line *out)
{
    struct job *job = count > 0 ? calloc(1, sizeof *job) : NULL;
    struct nsc_isolate_task task = {
        .context = job,
        .count = count,
        .memory_bytes = CHILD_BYTES_MAX,
        .fds = {s->elf.fd, s->debug.fd},
        .open = open_alternates,
        .begin = begin,
        .answer = answer,
        .take = take,
    };

    uint64_t begun_ns = nsc_now_ns();
    bool is_out_of_time = false;

    if (count == 0)
        return 0;
    if (job == NULL)
        return -ENOMEM;
    job->symbols = s;
    job->vas = vas;
    job->out = out;
    memset(out, 0, count * sizeof *out);
    if (s->digest.bytes != NULL) {
        task.credentials = &s->confined_as;
        task.memory_bytes = CONFINED_BYTES_MAX;
        task.time_ms = nsc_confined_time_left_ns() / 1000000;
        task.open = NULL;
        is_out_of_time = task.time_ms == 0;
    }
    if (!is_out_of_time && nsc_symbols_has_lines(s))
        nsc_isolated_child_run(&task);
    if (s->digest.bytes != NULL)
        nsc_confined_spend(nsc_now_ns() - begun_ns);
    free(job);
    return 0;
}

void nsc_symbols_lines_free(struct nsc_symbols_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(lines[i].file);
        lines[i] = (struct nsc_symbols_line){0};
    }
}
