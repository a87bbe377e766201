/*
 * reader_handle.h - what stands behind the handles of nanoscope/reader.h, and how structures cross
 * the border of the library.
 *
 * Inside reader/ only.
 */
#ifndef NSC_LIBREADER_READER_HANDLE_H
#define NSC_LIBREADER_READER_HANDLE_H

#include <nanoscope/reader.h>

#include "analyze/calls/selection.h"
#include "trace/read/reader.h"

/* All other names of the library stay inside of it. */
#define NSC_READER_API __attribute__((visibility("default")))

struct nanoscope_trace {
    struct nsc_trace *trace;
};

/**
 * nsc_reader_give - fill a caller's structure as far as both sides know it, the rest with 0.
 * @out, @size: the caller's.
 * @from, @bytes: the library's own.
 * Returns 0, or -EINVAL if there is nothing to fill.
 */
int nsc_reader_give(void *out, size_t size, const void *from, size_t bytes);

/**
 * nsc_reader_take - read a caller's structure, which begins with its size.
 * @given: NULL: all is 0.
 * @into, @bytes: the library's own.
 * Returns 0, or -EINVAL with @error: what the caller asks for is not known to this version.
 */
int nsc_reader_take(const void *given, void *into, size_t bytes, struct nanoscope_error *error);

/* Tell the caller what went wrong; returns @code. @name: of the file, which belongs to an offset.
 */
int nsc_reader_fail(int code, const struct nsc_diag *diag, const char *name,
                    struct nanoscope_error *error);
/* The same in words of reader/'s own; returns -@code. */
int nsc_reader_refuse(int code, struct nanoscope_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/* As for nsc_diag_set(). */
/* NOLINTNEXTLINE(readability-identifier-naming) */
#define nsc_reader_refuse(...) (nsc_reader_refuse(__VA_ARGS__), -1)
#endif

/* A selection of a window; to 0: to the end. Returns 0 or -EINVAL with @error. */
int nsc_reader_window(const struct nanoscope_trace *trace, uint64_t from_ns, uint64_t to_ns,
                      struct nsc_selection *selection, struct nanoscope_error *error);

/* Time since the trace's time 0; and of a tick that is 0 while nothing is known. */
uint64_t nsc_reader_ns(const struct nanoscope_trace *trace, uint64_t ticks);
uint64_t nsc_reader_end_ns(const struct nanoscope_trace *trace, uint64_t ticks);

#endif
