/* writer_state.c - see writer_state.h: the writer's latched error, counters and directory. */
#include "trace/write/writer_state.h"

#include <errno.h>

#include "util/array.h"

void nsc_writer_fail(struct nsc_writer *w, int error)
{
    if (w->error == 0)
        w->error = error;
}

int nsc_writer_error(const struct nsc_writer *w)
{
    return w->error != 0 ? w->error : w->sink.error;
}

uint64_t nsc_writer_dropped(const struct nsc_writer *w)
{
    return w->dropped;
}

uint64_t nsc_writer_bytes(const struct nsc_writer *w)
{
    return w->sink.offset;
}

const char *nsc_writer_partial_path(const struct nsc_writer *w)
{
    return w->sink.partial;
}

int nsc_writer_fd(const struct nsc_writer *w)
{
    return w->sink.fd;
}

void nsc_writer_list_block(struct nsc_writer *w, enum nsc_format_kind kind, uint64_t offset)
{
    struct nsc_writer_directory_entry *grown =
        nsc_array_grow(w->directory, &w->directory_room, w->directory_count, sizeof *grown);

    if (grown == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return;
    }
    w->directory = grown;
    grown[w->directory_count++] = (struct nsc_writer_directory_entry){offset, kind};
}
