/*
 * call_rows.c - see call_rows.h.
 *
 * Called by table_calls.c. A list consists of parts of increasing size; a row has one word per
 * stored field.
 */
#include "query/call_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX     9u
#define PART_ROWS     1u /* most functions are called once or twice */
#define PART_ROWS_MAX 8192u
#define BATCH_ROWS    512u

struct part {
    struct part *next;
    uint32_t count, room; /* number of rows */
    uint64_t words[];
};

struct list {
    struct part *first, *last;
    uint64_t calls;
};

struct nsc_rows {
    struct nsc_query *query;
    struct nsc_call_wish wish;
    const uint8_t *threads, *functions;
    uint32_t thread; /* the thread that is being read, or is next */
    struct nsc_matching_calls *pick;

    /* The rest is used if by_function only. */
    bool by_function, filled;
    bool streams; /* this pass covers one function with too many calls to store */
    unsigned fields;
    uint32_t words; /* words per row */
    size_t budget_bytes, kept_bytes;
    uint32_t function_count;
    struct list *lists;           /* by function */
    uint8_t *chosen;              /* by function: belongs to the current pass */
    uint32_t turn_from, turn_end; /* range of functions of the current pass */
    uint32_t function;            /* whose list is being returned */
    struct part *part;            /* part being returned; NULL: the first, or nothing is stored */
    uint64_t given;               /* rows of the list, or of the part, already returned */
    struct nsc_call *batch;
};

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the calls of a statement");
}

/* ---- Thread by thread ------------------------------------------------------------------------ */

static bool is_wanted_thread(const struct nsc_rows *r, uint32_t thread)
{
    return r->threads == NULL || r->threads[thread] != 0;
}

static int next_by_thread(struct nsc_rows *r, const struct nsc_call **calls, size_t *count,
                          struct nsc_diag *diag)
{
    uint32_t threads = nsc_trace_info(r->query->trace)->thread_count;
    int result;

    *count = 0;
    if (r->pick == NULL) {
        while (r->thread < threads && !is_wanted_thread(r, r->thread))
            r->thread++;
        if (r->thread >= threads)
            return 0;
        result = nsc_matching_calls_open(r->query->index, r->thread, &r->wish, &r->pick, diag);
        return result == 0 ? 1 : result;
    }
    result = nsc_matching_calls_next(r->pick, calls, count, diag);
    if (result != 0)
        return result;
    nsc_matching_calls_close(r->pick);
    r->pick = NULL;
    r->thread++;
    return 1;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static uint32_t words_of(unsigned fields)
{
    return (uint32_t)__builtin_popcount(fields);
}

static void forget_lists(struct nsc_rows *r)
{
    for (uint32_t i = r->turn_from; r->lists != NULL && i < r->turn_end; i++)
        for (struct part *part = r->lists[i].first, *next; part != NULL; part = next) {
            next = part->next;
            free(part);
        }
    if (r->lists != NULL)
        memset(r->lists, 0, r->function_count * sizeof(*r->lists));
    r->kept_bytes = 0;
}

/* Add a part. Each part is twice as large as the previous one, up to PART_ROWS_MAX. */
static struct part *grow(struct nsc_rows *r, struct list *list)
{
    uint32_t room = list->last == NULL ? PART_ROWS : list->last->room * 2;
    struct part *part;
    size_t bytes;

    room = room < PART_ROWS_MAX ? room : PART_ROWS_MAX;
    bytes = sizeof(*part) + (size_t)room * r->words * sizeof(part->words[0]);
    part = malloc(bytes);
    if (part == NULL)
        return NULL;
    *part = (struct part){.room = room};
    r->kept_bytes += bytes;
    if (list->last == NULL)
        list->first = part;
    else
        list->last->next = part;
    list->last = part;
    return part;
}

/* Store the used fields of a call, in the order of enum nsc_rows_field. */
static void put_words(const struct nsc_rows *r, const struct nsc_call *call, uint64_t *to)
{
    if ((r->fields & NSC_ROWS_START) != 0)
        *to++ = call->start_ticks;
    if ((r->fields & NSC_ROWS_DURATION) != 0)
        *to++ = call->end_ticks - call->start_ticks;
    if ((r->fields & NSC_ROWS_SELF) != 0)
        *to++ = call->self_ticks;
    if ((r->fields & NSC_ROWS_NUMBER) != 0)
        *to++ = call->number;
    if ((r->fields & NSC_ROWS_PARENT) != 0)
        *to++ = call->parent;
    if ((r->fields & NSC_ROWS_DEPTH) != 0)
        *to++ = (uint64_t)call->thread << 32 | call->depth;
    if ((r->fields & NSC_ROWS_REST) != 0)
        *to = (uint64_t)call->caller << 32 | call->bound;
}

static void take_words(const struct nsc_rows *r, const uint64_t *from, struct nsc_call *call)
{
    *call = (struct nsc_call){.function = r->function, .caller = NSC_NO_ID};
    if ((r->fields & NSC_ROWS_START) != 0)
        call->start_ticks = *from++;
    call->end_ticks = call->start_ticks;
    if ((r->fields & NSC_ROWS_DURATION) != 0)
        call->end_ticks += *from++;
    if ((r->fields & NSC_ROWS_SELF) != 0)
        call->self_ticks = *from++;
    if ((r->fields & NSC_ROWS_NUMBER) != 0)
        call->number = *from++;
    if ((r->fields & NSC_ROWS_PARENT) != 0)
        call->parent = *from++;
    if ((r->fields & NSC_ROWS_DEPTH) != 0) {
        call->thread = (uint32_t)(*from >> 32);
        call->depth = (uint32_t)*from++;
    }
    if ((r->fields & NSC_ROWS_REST) != 0) {
        call->caller = (uint32_t)(*from >> 32);
        call->bound = (uint32_t)*from;
    }
}

static int keep(struct nsc_rows *r, const struct nsc_call *calls, size_t count,
                struct nsc_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        struct list *list = &r->lists[calls[i].function];
        struct part *part = list->last;

        list->calls++;
        if (r->words == 0)
            continue;
        if ((part == NULL || part->count == part->room) && (part = grow(r, list)) == NULL)
            return no_memory(diag);
        put_words(r, &calls[i], &part->words[(size_t)part->count++ * r->words]);
    }
    /* Parts may be half empty. A file whose function table states too few calls gets no more
     * memory. */
    if (r->kept_bytes > 4 * r->budget_bytes)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "the file holds more calls than its function table says");
    return 0;
}

/* ---- Passes over the functions --------------------------------------------------------------- */

static uint64_t calls_of(const struct nsc_rows *r, uint32_t function)
{
    uint64_t calls;

    return nsc_trace_function_calls(r->query->trace, function, &calls) ? calls : 0;
}

/* Choose the functions of the next pass, as many as fit; false: none are left. */
static bool choose_functions(struct nsc_rows *r)
{
    uint64_t most = r->budget_bytes / ((r->words + 1u) * sizeof(uint64_t)), calls = 0;
    bool any = false;

    r->turn_from = r->turn_end;
    memset(r->chosen, 0, r->function_count);
    for (; r->turn_end < r->function_count; r->turn_end++) {
        uint64_t more = r->lists[r->turn_end].calls;

        if (r->functions != NULL && r->functions[r->turn_end] == 0)
            continue;
        if (any && calls + more > most)
            break;
        calls += more;
        r->chosen[r->turn_end] = 1;
        any = true;
    }
    r->streams = calls > most;
    return any;
}

/* Count the calls of each function, including those of its aliases. Calls without a recorded entry
 * are not counted, so a function with a count of 0 may have some. */
static void count_calls(struct nsc_rows *r)
{
    for (uint32_t i = 0; i < r->function_count; i++)
        r->lists[nsc_trace_canonical(r->query->trace, i)].calls += calls_of(r, i);
}

static bool begin_turn(struct nsc_rows *r)
{
    bool any;

    forget_lists(r);
    count_calls(r);
    any = choose_functions(r);
    memset(r->lists, 0, r->function_count * sizeof(*r->lists));
    r->wish.functions = r->chosen;
    r->thread = 0;
    r->filled = !any;
    r->function = r->turn_from;
    r->part = NULL;
    r->given = 0;
    return any;
}

/* Fill the batch with rows of the current function. Returns their number; 0: no more. */
static size_t give_rows(struct nsc_rows *r)
{
    const struct list *list = &r->lists[r->function];
    static const uint64_t none[WORDS_MAX];
    size_t count = 0;

    if (r->words == 0) {
        for (; count < BATCH_ROWS && r->given < list->calls; count++, r->given++)
            take_words(r, none, &r->batch[count]);
        return count;
    }
    if (r->part == NULL)
        r->part = list->first;
    while (r->part != NULL && r->given == r->part->count) {
        if (r->part->next == NULL)
            return 0;
        r->part = r->part->next;
        r->given = 0;
    }
    for (; r->part != NULL && count < BATCH_ROWS && r->given < r->part->count; count++, r->given++)
        take_words(r, &r->part->words[r->given * r->words], &r->batch[count]);
    return count;
}

static int next_by_function(struct nsc_rows *r, const struct nsc_call **calls, size_t *count,
                            struct nsc_diag *diag)
{
    *count = 0;
    *calls = NULL;
    if (!r->filled) {
        int result = next_by_thread(r, calls, count, diag);
        size_t read = *count;

        r->filled = result == 0;
        if (result < 0 || (r->streams && result > 0))
            return result;
        *count = 0;
        result = keep(r, *calls, read, diag);
        return result < 0 ? result : 1;
    }
    while (r->function < r->turn_end) {
        *count = give_rows(r);
        *calls = r->batch;
        if (*count > 0)
            return 1;
        r->function++;
        r->part = NULL;
        r->given = 0;
    }
    return begin_turn(r) ? 1 : 0;
}

/* ---- Common functions ------------------------------------------------------------------------ */

bool nsc_rows_can_group(const struct nsc_trace *t)
{
    uint64_t calls, known = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->function_count; i++) {
        if (!nsc_trace_function_calls(t, i, &calls))
            return false;
        known += calls;
    }
    return known >= nsc_trace_info(t)->calls / 2;
}

int nsc_rows_open(struct nsc_query *q, const struct nsc_call_wish *wish, const uint8_t *threads,
                  const uint8_t *functions, bool by_function, unsigned fields, size_t budget_bytes,
                  struct nsc_rows **out)
{
    struct nsc_rows *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return -ENOMEM;
    if ((fields & (NSC_ROWS_NUMBER | NSC_ROWS_PARENT)) != 0)
        fields |= NSC_ROWS_DEPTH; /* a call_id contains the thread */
    *r = (struct nsc_rows){.query = q,
                           .wish = *wish,
                           .threads = threads,
                           .functions = functions,
                           .by_function = by_function,
                           .fields = fields,
                           .words = words_of(fields),
                           .budget_bytes = budget_bytes,
                           .function_count = nsc_trace_info(q->trace)->function_count};
    r->wish.functions = functions;
    if (by_function) {
        r->lists = calloc(r->function_count + 1u, sizeof(*r->lists));
        r->chosen = calloc(r->function_count + 1u, 1);
        r->batch = calloc(BATCH_ROWS, sizeof(*r->batch));
        if (r->lists == NULL || r->chosen == NULL || r->batch == NULL) {
            nsc_rows_close(r);
            return -ENOMEM;
        }
        begin_turn(r);
    }
    *out = r;
    return 0;
}

int nsc_rows_next(struct nsc_rows *r, const struct nsc_call **calls, size_t *count,
                  struct nsc_diag *diag)
{
    return r->by_function ? next_by_function(r, calls, count, diag)
                          : next_by_thread(r, calls, count, diag);
}

void nsc_rows_close(struct nsc_rows *r)
{
    if (r == NULL)
        return;
    nsc_matching_calls_close(r->pick);
    forget_lists(r);
    free(r->lists);
    free(r->chosen);
    free(r->batch);
    free(r);
}
