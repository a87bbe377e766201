/*
 * trace_file.h - the file that is being written: a temporary beside the final path, big writes
 * behind.
 *
 * Used inside trace/ by the writer and by compress. The first error is latched, though perhaps some
 * blocks late, and nothing is written after it; the temporary stays, cut after the last whole
 * write.
 */
#ifndef NSC_TRACE_WRITE_TRACE_FILE_H
#define NSC_TRACE_WRITE_TRACE_FILE_H

#include "trace/format/block.h"
#include "trace/write/write_behind.h"

struct nsc_trace_file {
    int fd;
    int folder_fd;
    int error;      /* latched -errno */
    bool compress;  /* zstd blocks where it pays */
    bool overwrite; /* the final path may exist */
    bool keep;      /* nsc_trace_file_publish() completes the file under its temporary name */
    char *path;     /* final path as given */
    char *partial;  /* path of the temporary; NULL: the file has no name and stays without */
    struct nsc_write_behind *spool;
    uint64_t offset; /* of the next byte in the file, spooled ones counted */
    void *zstd;      /* ZSTD_CCtx, made on first use */
    struct nsc_buffer packed;
};

/**
 * nsc_trace_file_create - check the final path, create the temporary and write the file header.
 * Returns 0 or -errno with @diag; see nsc_writer_create() for what is refused.
 */
int nsc_trace_file_create(struct nsc_trace_file *sink, const char *path, bool overwrite,
                          bool compress, struct nsc_diag *diag);

/* The same over an open file without a name; @fd is duplicated, @name is for messages. */
int nsc_trace_file_create_fd(struct nsc_trace_file *sink, int fd, const char *name, bool compress,
                             struct nsc_diag *diag);

/**
 * nsc_trace_file_branch - go on in a file of one's own, which begins with what the sink's file has
 * so far. For a forked child, whose parent goes on writing that file: everything must be with the
 * kernel (nsc_trace_file_flush()) when it forks. @path as in nsc_trace_file_create(); an existing
 * file is replaced. Returns 0 or -errno with @diag; then the sink is as it was.
 */
int nsc_trace_file_branch(struct nsc_trace_file *sink, const char *path, struct nsc_diag *diag);

/* Append a block; returns the offset of its header (meaningless once an error is latched). */
uint64_t nsc_trace_file_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                              const void *data, size_t bytes);
/* The same, with @flags of how to read it (NSC_FORMAT_BLOCK_*, but for that of zstd). */
uint64_t nsc_trace_file_flagged_block(struct nsc_trace_file *sink, enum nsc_format_kind kind,
                                      unsigned flags, const void *data, size_t bytes);
/* Append the footer. */
void nsc_trace_file_footer(struct nsc_trace_file *sink, uint64_t directory_offset);
/* Let everything so far reach the kernel soon. Returns the latched error or 0. */
int nsc_trace_file_push(struct nsc_trace_file *sink);
/* Wait until everything so far is with the kernel. Returns the latched error or 0. */
int nsc_trace_file_flush(struct nsc_trace_file *sink);
/* Give the temporary its final name, if there is one. Returns 0 or -errno with @diag; the temporary
 * stays then. */
int nsc_trace_file_publish(struct nsc_trace_file *sink, struct nsc_diag *diag);
/* Remove the temporary. */
void nsc_trace_file_discard(struct nsc_trace_file *sink);
/* Free the sink's memory and close its descriptors; the file is left as it is. */
void nsc_trace_file_release(struct nsc_trace_file *sink);

#endif
