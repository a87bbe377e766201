/* open.c - see reader.h: open a complete or incomplete trace, and close it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/read/reader_state.h"

#define DIRECTORY_MAX (1u << 22) /* blocks; each covers 16 Ki chunks or 256 KiB of a table */

/* Free all tables and chunks. */
static void clear(struct nsc_trace *t)
{
    struct nsc_trace_table *tables[] = {&t->processes, &t->threads,   &t->modules,
                                        &t->mappings,  &t->functions, &t->files,
                                        &t->clocks,    &t->metas,     &t->left_out};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        free(tables[i]->items);
        memset(tables[i], 0, sizeof *tables[i]);
    }
    free(t->canonical);
    free(t->untimed);
    free(t->timed);
    free(t->chunks);
    free(t->thread_chunks);
    free(t->note_blocks);
    free(t->levels);
    t->note_blocks = NULL;
    t->note_count = t->note_room = 0;
    t->levels = NULL;
    t->level_count = t->level_room = t->level_max = 0;
    t->canonical = NULL;
    t->untimed = t->timed = NULL;
    t->chunks = NULL;
    t->thread_chunks = NULL;
    t->chunk_count = t->chunk_room = 0;
    t->table_bytes = 0;
    nsc_clock_release(&t->clock);
    nsc_arena_free(&t->arena);
}

void nsc_trace_close(struct nsc_trace *t)
{
    if (t == NULL)
        return;
    clear(t);
    nsc_buffer_free(&t->plain);
    nsc_buffer_free(&t->packed);
    free(t->stack.frames);
    free(t->stack.child_ticks);
    nsc_reader_sections_free(&t->sections);
    free(t->gathered.frames);
    free(t->gathered.child_ticks);
    free(t->name);
    if (t->fd >= 0)
        close(t->fd);
    free(t);
}

static int check_header(struct nsc_trace *t, struct nsc_diag *diag)
{
    uint8_t raw[NSC_FORMAT_HEADER_BYTES];
    struct nsc_file_header header;
    int64_t n = nsc_block_pread(t->fd, raw, sizeof raw, 0);
    int error;

    if (n < 0)
        return nsc_diag_set(diag, 0, (int)n, "cannot read: %s", strerror((int)-n));
    error = nsc_format_header_unpack(raw, (size_t)n, &header, diag);
    t->compressed = error == 0 && (header.may_ignore & NSC_FORMAT_HINT_ZSTD) != 0;
    return error;
}

/* Read one block that the directory lists. */
static int load_listed(struct nsc_trace *t, uint64_t kind, uint64_t offset, struct nsc_diag *diag)
{
    struct nsc_block block;
    int error = nsc_block_header_read(t->fd, t->info.file_bytes, offset, &block, diag);

    if (error != 0)
        return error;
    if (block.kind != kind)
        return nsc_diag_set(diag, offset, EBADMSG, "expected %s, found %s",
                            nsc_block_kind_name((uint32_t)kind), nsc_block_kind_name(block.kind));
    error = nsc_block_payload_read(t->fd, &block, &t->plain, &t->packed, diag);
    if (error != 0)
        return error;
    if (kind == NSC_FORMAT_INDEX)
        return nsc_trace_load_index(t, &block, diag);
    if (kind == NSC_FORMAT_NOTE_INDEX)
        return nsc_trace_load_note_index(t, &block, diag);
    if (kind == NSC_FORMAT_LEVEL_INDEX)
        return nsc_trace_load_levels(t, &block, diag);
    return nsc_trace_load_table(t, &block, diag);
}

static int load_directory(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag)
{
    struct nsc_buffer directory = t->plain; /* kept: listed blocks are read into a new buffer */
    struct nsc_span s = nsc_span_of(directory.data, directory.used);
    uint64_t count = nsc_span_leb_max(&s, DIRECTORY_MAX), before = 0;
    int error = 0;

    memset(&t->plain, 0, sizeof t->plain);
    for (uint64_t i = 0; error == 0 && i < count; i++) {
        uint64_t kind = nsc_span_leb_max(&s, UINT16_MAX), offset = nsc_span_leb(&s);

        if (s.bad || offset >= block->offset || offset < NSC_FORMAT_HEADER_BYTES)
            error = nsc_diag_set(diag, block->offset, EBADMSG, "directory is malformed");
        else if (offset <= before &&
                 i > 0) /* each block once: bounds the memory by the file's size */
            error = nsc_diag_set(diag, block->offset, EBADMSG, "directory is out of order");
        else
            error = load_listed(t, kind, offset, diag);
        before = offset;
    }
    t->declared_events = nsc_span_leb(&s);
    t->declared_calls = nsc_span_leb(&s);
    t->info.lost_unattributed = nsc_span_leb(&s);
    if (error == 0 && s.bad)
        error = nsc_diag_set(diag, block->offset, EBADMSG, "directory is malformed");
    nsc_buffer_free(&directory);
    return error;
}

static int incomplete(struct nsc_trace *t, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, t->info.file_bytes, EINPROGRESS,
                        "the file has no end (cut off, or still being written): "
                        "`nanoscope recover %s` keeps what is whole",
                        t->name);
}

static int load_complete(struct nsc_trace *t, struct nsc_diag *diag)
{
    uint8_t raw[NSC_FORMAT_FOOTER_BYTES];
    uint64_t bytes = t->info.file_bytes, offset;
    struct nsc_block block;
    int error;

    if (bytes < NSC_FORMAT_HEADER_BYTES + NSC_FORMAT_BLOCK_BYTES + sizeof raw ||
        nsc_block_pread(t->fd, raw, sizeof raw, bytes - sizeof raw) != (int64_t)sizeof raw ||
        nsc_format_footer_unpack(raw, &offset) != 0)
        return incomplete(t, diag);
    error = nsc_block_header_read(t->fd, bytes - sizeof raw, offset, &block, diag);
    if (error != 0)
        return error;
    if (block.kind != NSC_FORMAT_DIRECTORY || nsc_block_end(&block) != bytes - sizeof raw)
        return nsc_diag_set(diag, offset, EBADMSG, "the footer does not point at the directory");
    error = nsc_block_payload_read(t->fd, &block, &t->plain, &t->packed, diag);
    if (error == 0)
        error = load_directory(t, &block, diag);
    if (error == 0)
        error = nsc_trace_link(t, diag);
    if (error == 0 && (t->declared_events != t->info.events || t->declared_calls != t->info.calls))
        error = nsc_diag_set(diag, offset, EBADMSG, "directory and index disagree");
    t->info.complete = error == 0;
    return error;
}

static int load(struct nsc_trace *t, struct nsc_diag *diag)
{
    struct nsc_diag first = {.offset = NSC_DIAG_NO_OFFSET, .message = ""};
    int error = check_header(t, diag);

    if (error == -EBADMSG && (t->flags & NSC_NST_RECOVER) != 0 &&
        t->info.file_bytes > NSC_FORMAT_HEADER_BYTES)
        return nsc_trace_scan(t, diag);
    if (error != 0)
        return error;
    if ((t->flags & NSC_TRACE_SCAN) != 0)
        return nsc_trace_scan(t, diag);
    error = load_complete(t, &first);
    t->info.compressed = t->compressed;
    if (error == 0)
        return 0;
    if (error == -ENOMEM || error == -EPROTO || (t->flags & NSC_NST_RECOVER) == 0) {
        if (diag != NULL)
            *diag = first;
        return error;
    }
    clear(t);
    return nsc_trace_scan(t, diag);
}

int nsc_trace_open_fd(int fd, const char *name, unsigned flags, struct nsc_trace **out,
                      struct nsc_diag *diag)
{
    struct nsc_trace *t = calloc(1, sizeof *t);
    struct stat st;
    int error;

    if (t == NULL) {
        close(fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    t->fd = fd;
    t->flags = flags;
    t->name = strdup(name);
    if (t->name == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    else if (fstat(fd, &st) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "%s: %s", name, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "%s: not a regular file", name);
    else {
        t->info.file_bytes = (uint64_t)st.st_size;
        error = load(t, diag);
    }
    if (error != 0) {
        nsc_trace_close(t);
        return error;
    }
    *out = t;
    return 0;
}

int nsc_trace_open(const char *path, unsigned flags, struct nsc_trace **out, struct nsc_diag *diag)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a FIFO */

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                            strerror(errno));
    return nsc_trace_open_fd(fd, path, flags, out, diag);
}

void nsc_trace_watch(struct nsc_trace *t, bool (*is_gone)(void *context), void *context)
{
    t->is_gone = is_gone;
    t->watcher = context;
}
