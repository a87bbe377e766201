/*
 * exports.c - the engine as a WebAssembly module: the functions that the page's worker calls
 * (viewer/src/engine/module.ts; docs/viewer-protocol.md, WebAssembly).
 *
 * Texts are passed in through one buffer and returned in another. Traces are read from descriptors
 * that the worker implements; there is no other input or output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/category.h"
#include "util/diag.h"
#include "viewer/engine/engine.h"

/* Exported functions; the module has no others. */
#define PAGE_ENTRY(name) __attribute__((export_name(#name)))

#define CACHE_BYTES ((size_t)32 << 20)

uint8_t *nsc_page_room(size_t bytes);
int nsc_page_open(int fd, size_t name_bytes);
int nsc_page_rules(size_t bytes);
int nsc_page_begin(void);
int nsc_page_ask(size_t bytes);
const uint8_t *nsc_page_answer(void);
size_t nsc_page_answer_bytes(void);

static struct {
    char *room; /* input buffer */
    size_t room_bytes;
    struct nsc_trace *traces[NSC_ENGINE_TRACES_MAX];
    size_t trace_count;
    struct nsc_category_rules *rules; /* NULL: the built-in ones */
    struct nsc_engine *engine;
    struct nsc_engine_reply reply; /* output buffer */
} page;

/* Make @text, one line that describes an error, the answer. Returns @error. */
static int tell(int error, const char *text)
{
    size_t bytes = strlen(text);
    uint8_t *copy = malloc(bytes);

    nsc_engine_reply_free(&page.reply);
    if (copy == NULL)
        return error;
    memcpy(copy, text, bytes);
    page.reply.bytes = copy;
    page.reply.count = page.reply.room = bytes;
    return error;
}

/**
 * nsc_page_room - return the input buffer, for the text of the next call.
 * Returns a buffer of at least @bytes, or NULL if out of memory; valid until the next call of this
 * function.
 */
PAGE_ENTRY(nsc_page_room) uint8_t *nsc_page_room(size_t bytes)
{
    if (bytes >= page.room_bytes) {
        char *grown = bytes < SIZE_MAX ? realloc(page.room, bytes + 1) : NULL;

        if (grown == NULL)
            return NULL;
        page.room = grown;
        page.room_bytes = bytes + 1;
    }
    return (uint8_t *)page.room;
}

/* Check that events can be read. A compressed trace has readable tables, but this module has no
 * zstd for its chunks. Reads the first batch of events. Returns 0 or -errno with @diag. */
static int try_events(struct nsc_trace *t, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    struct nsc_cursor *cursor = NULL;
    const struct nsc_event *events;
    uint32_t chunks = 0, thread = 0;
    size_t count;
    int more;

    while (info->compressed && chunks == 0 && thread < info->thread_count)
        nsc_trace_chunks(t, thread++, &chunks);
    if (chunks == 0)
        return 0;
    more = nsc_cursor_open(t, thread - 1, 0, &cursor, diag);
    if (more == 0) {
        more = nsc_cursor_next(cursor, &events, &count, diag);
        nsc_cursor_close(cursor);
    }
    return more < 0 ? more : 0;
}

/**
 * nsc_page_open - open a trace; call it twice to compare two.
 * @fd: descriptor of a .nst file, owned by the module from now on. An unfinished file is read up to
 *      its last complete block.
 * @name_bytes: length of its name, which is in the input buffer.
 * Returns 0 or -errno; the answer then describes the error in one line.
 */
PAGE_ENTRY(nsc_page_open) int nsc_page_open(int fd, size_t name_bytes)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error = -EINPROGRESS;

    if (page.trace_count == NSC_ENGINE_TRACES_MAX || name_bytes >= page.room_bytes)
        return tell(-EINVAL, "too many traces");
    page.room[name_bytes] = '\0';
    for (unsigned flags = 0; error == -EINPROGRESS && flags <= NSC_NST_RECOVER;
         flags += NSC_NST_RECOVER)
        error = nsc_trace_open_fd(fd, page.room, flags, &page.traces[page.trace_count], &diag);
    if (error == 0)
        error = try_events(page.traces[page.trace_count++], &diag);
    return error == 0 ? 0 : tell(error, diag.message);
}

/* Add category rules: @bytes bytes of text in the input buffer. Returns as nsc_page_open(). */
PAGE_ENTRY(nsc_page_rules) int nsc_page_rules(size_t bytes)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    if (bytes >= page.room_bytes || page.rules != NULL)
        return tell(-EINVAL, "too many rules");
    error = nsc_category_rules_read(page.room, bytes, &page.rules, &diag);
    return error == 0 ? 0 : tell(error, diag.message[0] != '\0' ? diag.message : "out of memory");
}

/* Create the engine, after all traces are open. Returns as nsc_page_open(). */
PAGE_ENTRY(nsc_page_begin) int nsc_page_begin(void)
{
    struct nsc_engine_options options = {
        .size = sizeof options, .cache_bytes = CACHE_BYTES, .rules = page.rules};
    int error = nsc_engine_open(page.traces, page.trace_count, &options, &page.engine);

    return error == 0 ? 0 : tell(error, "out of memory");
}

/* Answer the request, @bytes bytes in the input buffer. Returns the HTTP status of the reply. */
PAGE_ENTRY(nsc_page_ask) int nsc_page_ask(size_t bytes)
{
    nsc_engine_answer(page.engine, page.room, bytes, &page.reply);
    return page.reply.status;
}

/* Return the bytes of the last answer, valid until the next call. */
PAGE_ENTRY(nsc_page_answer) const uint8_t *nsc_page_answer(void)
{
    return page.reply.bytes;
}

PAGE_ENTRY(nsc_page_answer_bytes) size_t nsc_page_answer_bytes(void)
{
    return page.reply.count;
}
