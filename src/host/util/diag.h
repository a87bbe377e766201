/*
 * diag.h - diagnostics: why an input was rejected, as a message that a command can print.
 *
 * Filled by every parser of the host world; printed only by cli/. Must not print or exit.
 */
#ifndef NSC_UTIL_DIAG_H
#define NSC_UTIL_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#define NSC_DIAG_NO_OFFSET UINT64_MAX

struct nsc_diag {
    uint64_t offset;   /* byte offset in the input, or NSC_DIAG_NO_OFFSET */
    char message[480]; /* one line, no newline: what failed, on which input, what to do */
};

/**
 * nsc_diag_set - fill a diagnostic.
 * @diag: receives the message; may be NULL.
 * @offset: byte offset in the input, or NSC_DIAG_NO_OFFSET.
 * @error: positive or negative errno value.
 * @format: printf format of one line.
 *
 * Returns -|error|, so that a parser can write `return nsc_diag_set(diag, off, EBADMSG, "...")`.
 * Context: host only; signal-unsafe.
 */
int nsc_diag_set(struct nsc_diag *diag, uint64_t offset, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#ifdef __clang_analyzer__
/* The analyzer sees one file at a time and cannot derive that the result is never 0. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
#define nsc_diag_set(...) (nsc_diag_set(__VA_ARGS__), -1)
#endif

#endif
