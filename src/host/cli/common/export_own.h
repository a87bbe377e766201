/*
 * export_own.h - nanoscope's own formats of `nanoscope export`: the selected part of a trace as a
 * .nst file, and the single-file HTML page, which `nanoscope diff` writes too.
 */
#ifndef NSC_CLI_COMMON_EXPORT_OWN_H
#define NSC_CLI_COMMON_EXPORT_OWN_H

#include "formats/formats.h"
#include "formats/nst/nst_trim.h"
#include "viewer/page/page.h"

/* The name of the format with @index; NULL after the last. */
const char *nsc_cli_own_format(unsigned index);
/* The format for the suffix of @path, or NULL. */
const char *nsc_cli_own_guess(const char *path);
/* The suffix of a format, e.g. ".nst"; NULL if it is not one of these formats. */
const char *nsc_cli_own_suffix(const char *format);

/* Check that a format can be written to @path ("-": standard output). Returns 0, or -EINVAL with
 * @diag for a .nst file to standard output. */
int nsc_cli_own_check(const char *format, const char *path, struct nsc_diag *diag);

/**
 * nsc_cli_export_own - write the selected part of a trace in one of these formats.
 * @rules: category rules for a page; NULL: none.
 * @path: the output; a page may go to "-" (standard output).
 * @result: filled on success.
 * Returns 0 or -errno with @diag.
 */
int nsc_cli_export_own(struct nsc_trace *t, const struct nsc_selection *selection,
                       const char *format, const struct nsc_page_rules *rules, const char *path,
                       const struct nsc_formats_progress *progress,
                       struct nsc_export_result *result, struct nsc_diag *diag);

/* A trace for a page, and the part of it to write. */
struct nsc_cli_page_part {
    struct nsc_trace *trace;
    const struct nsc_selection *selection;
};

/* Write a page with @count traces: one, or two to compare. Other arguments and result as for
 * nsc_cli_export_own(); -ENOSYS: nanoscope was built without the page. */
int nsc_cli_export_page(const struct nsc_cli_page_part *parts, size_t count,
                        const struct nsc_page_rules *rules, const char *path,
                        const struct nsc_formats_progress *progress,
                        struct nsc_export_result *result, struct nsc_diag *diag);

/* Whether @output is the same file as @input: writing it would replace a trace that is read. */
bool nsc_cli_is_input(const char *input, const char *output);

#endif
