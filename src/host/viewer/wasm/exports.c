/*
 * exports.c - the engine as a WebAssembly module: what the page's worker calls
 * (viewer/src/engine/module.ts; docs/viewer-protocol.md, WebAssembly).
 *
 * Texts come in through one buffer and go out of another. Traces are read from descriptors that the
 * worker serves; there is no other input, and no output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/category.h"
#include "util/diag.h"
#include "viewer/engine/engine.h"

/* Called from outside; the module has no other entries. */
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
    char *room; /* what comes in */
    size_t room_bytes;
    struct nsc_trace *traces[NSC_ENGINE_TRACES_MAX];
    size_t trace_count;
    struct nsc_category_rules *rules; /* NULL: the ready ones */
    struct nsc_engine *engine;
    struct nsc_engine_reply reply; /* what goes out */
} page;

/* Say in one line why nothing was opened. Returns @error. */
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
 * nsc_page_room - where the text of the next call is to be written.
 * Returns room for @bytes, or NULL; valid until it is asked again.
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

/* Of a file that was to be compressed the tables may be readable and no call. */
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
 * nsc_page_open - open a trace; twice to compare two.
 * @fd: of a .nst file; the module's from now on. One without its end is read as far as it is whole.
 * @name_bytes: of its name, in the room.
 * Returns 0 or -errno; the answer then says why, in one line.
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

/* Sort functions by the rules of @bytes in the room, too. Returns 0 or -errno as above. */
PAGE_ENTRY(nsc_page_rules) int nsc_page_rules(size_t bytes)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int error;

    if (bytes >= page.room_bytes || page.rules != NULL)
        return tell(-EINVAL, "too many rules");
    error = nsc_category_rules_read(page.room, bytes, &page.rules, &diag);
    return error == 0 ? 0 : tell(error, diag.message[0] != '\0' ? diag.message : "out of memory");
}

/* All traces are open: make the engine. Returns 0 or -errno as above. */
PAGE_ENTRY(nsc_page_begin) int nsc_page_begin(void)
{
    struct nsc_engine_options options = {
        .size = sizeof options, .cache_bytes = CACHE_BYTES, .rules = page.rules};
    int error = nsc_engine_open(page.traces, page.trace_count, &options, &page.engine);

    return error == 0 ? 0 : tell(error, "out of memory");
}

/* Answer the request of @bytes in the room. Returns its status, as in HTTP. */
PAGE_ENTRY(nsc_page_ask) int nsc_page_ask(size_t bytes)
{
    nsc_engine_answer(page.engine, page.room, bytes, &page.reply);
    return page.reply.status;
}

/* The bytes of the last answer, valid until the next call. */
PAGE_ENTRY(nsc_page_answer) const uint8_t *nsc_page_answer(void)
{
    return page.reply.bytes;
}

PAGE_ENTRY(nsc_page_answer_bytes) size_t nsc_page_answer_bytes(void)
{
    return page.reply.count;
}
