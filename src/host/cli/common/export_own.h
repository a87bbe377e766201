/*
 * export_own.h - the formats of `nanoscope export` that are nanoscope's own: a part of a trace as a
 * .nst file, and the one-file page, which `nanoscope diff` writes as well.
 */
#ifndef NSC_CLI_COMMON_EXPORT_OWN_H
#define NSC_CLI_COMMON_EXPORT_OWN_H

#include "formats/formats.h"
#include "formats/nst/nst_trim.h"
#include "viewer/page/page.h"

/* By number; NULL after the last. */
const char *nsc_cli_own_format(unsigned index);
/* The format that a file name asks for, or NULL. */
const char *nsc_cli_own_guess(const char *path);
/* ".nst"; NULL for a format that is none of these. */
const char *nsc_cli_own_suffix(const char *format);

/* Whether a format can be written to @path, "-" for standard output. Returns 0 or -EINVAL with
 * @diag. */
int nsc_cli_own_check(const char *format, const char *path, struct nsc_diag *diag);

/**
 * nsc_cli_export_own - write a selection of a trace in one of them.
 * @rules: of a page's categories; NULL: none.
 * @path: the output; a page may go to "-".
 * @result: filled on success.
 * Returns 0 or -errno with @diag.
 */
int nsc_cli_export_own(struct nsc_trace *t, const struct nsc_selection *selection,
                       const char *format, const struct nsc_page_rules *rules, const char *path,
                       const struct nsc_formats_progress *progress,
                       struct nsc_export_result *result, struct nsc_diag *diag);

/* A trace of a page, and what of it. */
struct nsc_cli_page_part {
    struct nsc_trace *trace;
    const struct nsc_selection *selection;
};

/* The same for a page of @count traces: one, or two that it compares. */
int nsc_cli_export_page(const struct nsc_cli_page_part *parts, size_t count,
                        const struct nsc_page_rules *rules, const char *path,
                        const struct nsc_formats_progress *progress,
                        struct nsc_export_result *result, struct nsc_diag *diag);

/* Whether the output would take the place of a trace that is read. */
bool nsc_cli_is_input(const char *input, const char *output);

#endif
