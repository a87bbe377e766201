/*
 * reader_handle.h - the handles of nanoscope/reader.h, and the copying of structures between
 * callers and the library, whose versions may differ.
 *
 * Private to libreader/.
 */
#ifndef NSC_LIBREADER_READER_HANDLE_H
#define NSC_LIBREADER_READER_HANDLE_H

#include <nanoscope/reader.h>

#include "analyze/calls/selection.h"
#include "trace/read/reader.h"

/* Exports a function; all other names of the library are hidden. */
#define NSC_READER_API __attribute__((visibility("default")))

struct nanoscope_trace {
    struct nsc_trace *trace;
};

/**
 * nsc_reader_give - copy a structure to a caller, whose version may be shorter or longer.
 * @out, @size: the caller's structure and its size in bytes. Members that the library does not know
 *              are set to 0.
 * @from, @bytes: the library's structure and its size.
 * Returns 0, or -EINVAL if @out is NULL or @size is 0.
 */
int nsc_reader_give(void *out, size_t size, const void *from, size_t bytes);

/**
 * nsc_reader_take - copy a caller's options, which begin with their size in bytes.
 * @given: the caller's structure; NULL: all members are 0.
 * @into, @bytes: the library's structure and its size; members that the caller lacks are set to 0.
 * Returns 0, or -EINVAL with @error: the size is too small, or a member that this version does not
 * know is not 0.
 */
int nsc_reader_take(const void *given, void *into, size_t bytes, struct nanoscope_error *error);

/* Store an error of the library's parsers in @error, which may be NULL. @name: the file, shown with
 * an offset. Returns @code. */
int nsc_reader_fail(int code, const struct nsc_diag *diag, const char *name,
                    struct nanoscope_error *error);
/* Store a formatted message in @error, which may be NULL. Returns -@code. */
int nsc_reader_refuse(int code, struct nanoscope_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* As for nsc_diag_set() in util/diag.h. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
#define nsc_reader_refuse(...) (nsc_reader_refuse(__VA_ARGS__), -1)
#endif

/* Initialise @selection with a time window in ns; @to_ns 0: to the end. Returns 0 or -EINVAL with
 * @error: the window is empty. */
int nsc_reader_window(const struct nanoscope_trace *trace, uint64_t from_ns, uint64_t to_ns,
                      struct nsc_selection *selection, struct nanoscope_error *error);

/* Convert ticks to ns since the trace's time 0. The second returns NANOSCOPE_END for 0 ticks, which
 * stand for an unknown end. */
uint64_t nsc_reader_ns(const struct nanoscope_trace *trace, uint64_t ticks);
uint64_t nsc_reader_end_ns(const struct nanoscope_trace *trace, uint64_t ticks);

#endif
