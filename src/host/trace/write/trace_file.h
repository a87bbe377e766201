/*
 * trace_file.h - the trace file that is being written: a temporary file next to the final path,
 * filled by a background writer (write_behind.h).
 *
 * Used inside trace/ by the writer and by compress. The first error is latched, perhaps some blocks
 * late, and nothing is written after it. The temporary file then stays, truncated after the last
 * complete write.
 */
#ifndef NSC_TRACE_WRITE_TRACE_FILE_H
#define NSC_TRACE_WRITE_TRACE_FILE_H

#include "trace/format/block.h"
#include "trace/write/write_behind.h"

struct nsc_trace_file {
    int fd;
    int folder_fd;
    int error;      /* latched -errno */
    bool compress;  /* compress blocks with zstd where it saves space */
    bool overwrite; /* the final path may exist */
    bool keep;      /* nsc_trace_file_publish() completes the file under its temporary name */
    char *path;     /* final path as given */
    char *partial;  /* path of the temporary file; NULL: the file has no name and gets none */
    struct nsc_write_behind *spool;
    uint64_t offset; /* of the next byte in the file, including bytes not yet written */
    void *zstd;      /* ZSTD_CCtx, created on first use */
    struct nsc_buffer packed;
};

/**
 * nsc_trace_file_create - check the final path, create the temporary file and write the file
 * header. Returns 0 or -errno with @diag; see nsc_writer_create() for the paths that it refuses.
 */
int nsc_trace_file_create(struct nsc_trace_file *sink, const char *path, bool overwrite,
                          bool compress, struct nsc_diag *diag);

/* The same over an open file without a name; @fd is duplicated, @name is for messages. */
int nsc_trace_file_create_fd(struct nsc_trace_file *sink, int fd, const char *name, bool compress,
                             struct nsc_diag *diag);

/**
 * nsc_trace_file_branch - copy the file so far to a new file and continue there.
 *
 * For a forked child whose parent continues writing the original. The parent must have flushed
 * (nsc_trace_file_flush()) before the fork. @path: as in nsc_trace_file_create(); an existing file
 * is replaced. Returns 0 or -errno with @diag; on failure the sink is unchanged.
 */
int nsc_trace_file_branch(struct nsc_trace_file *sink, const char *path, struct nsc_diag *diag);

/* Append a block; returns the offset of its header (meaningless once an error is latched). */
uint64_t nsc_trace_file_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                              const void *data, size_t bytes);
/* The same with block flags (NSC_FORMAT_BLOCK_*, except NSC_FORMAT_BLOCK_ZSTD). */
uint64_t nsc_trace_file_flagged_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                                      unsigned flags, const void *data, size_t bytes);
/* Append the footer. */
void nsc_trace_file_footer(struct nsc_trace_file *sink, uint64_t directory_offset);
/* Start writing all appended blocks without waiting. Returns the latched error or 0. */
int nsc_trace_file_push(struct nsc_trace_file *sink);
/* Wait until the kernel has all appended blocks (no fsync). Returns the latched error or 0. */
int nsc_trace_file_flush(struct nsc_trace_file *sink);
/* Rename the temporary file, if it has a name, to the final path. Returns 0 or -errno with @diag;
 * on failure the temporary file stays. */
int nsc_trace_file_publish(struct nsc_trace_file *sink, struct nsc_diag *diag);
/* Remove the temporary file. */
void nsc_trace_file_discard(struct nsc_trace_file *sink);
/* Free the sink's memory and close its descriptors; leave the file unchanged. */
void nsc_trace_file_release(struct nsc_trace_file *sink);

#endif
