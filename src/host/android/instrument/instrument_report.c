/* instrument_report.c - see instrument_report.h. */
#include "android/instrument/instrument_report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

const char *nsc_instrument_why_word(enum nsc_instrument_why why)
{
    static const char *const words[NSC_INSTRUMENT_WHYS] = {
        [NSC_INSTRUMENT_RECORDED] = "recorded", [NSC_INSTRUMENT_ABSTRACT] = "abstract",
        [NSC_INSTRUMENT_NATIVE] = "native",     [NSC_INSTRUMENT_FILTERED] = "filtered",
        [NSC_INSTRUMENT_SMALL] = "small",       [NSC_INSTRUMENT_SKIPPED] = "skipped",
        [NSC_INSTRUMENT_LEFT] = "left_alone",
    };

    return words[why];
}

int nsc_instrument_texts_add(struct nsc_instrument_texts *texts, const char *text)
{
    char **grown =
        nsc_array_grow(texts->at, &texts->room, (uint32_t)texts->count, sizeof *texts->at);
    char *copy;

    if (grown == NULL)
        return -ENOMEM;
    texts->at = grown;
    copy = strdup(text);
    if (copy == NULL)
        return -ENOMEM;
    texts->at[texts->count++] = copy;
    return 0;
}

int nsc_instrument_warn(struct nsc_instrument_report *report, const char *format, ...)
{
    char line[480];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    return nsc_instrument_texts_add(&report->warnings, line);
}

int nsc_instrument_report_dex(struct nsc_instrument_report *report, const char *name,
                              uint64_t bytes)
{
    struct nsc_instrument_dex *grown =
        nsc_array_grow(report->dex, &report->dex_room, (uint32_t)report->dex_count, sizeof *grown);
    char *copy;

    if (grown == NULL)
        return -ENOMEM;
    report->dex = grown;
    copy = strdup(name);
    if (copy == NULL)
        return -ENOMEM;
    report->dex[report->dex_count++] =
        (struct nsc_instrument_dex){.name = copy, .bytes_before = bytes, .bytes_after = bytes};
    return 0;
}

int nsc_instrument_report_left(struct nsc_instrument_report *report, const char *signature,
                               const char *reason)
{
    struct nsc_instrument_left *grown = nsc_array_grow(report->left, &report->left_room,
                                                       (uint32_t)report->left_count, sizeof *grown);
    struct nsc_instrument_left left;

    if (grown == NULL)
        return -ENOMEM;
    report->left = grown;
    left = (struct nsc_instrument_left){.signature = strdup(signature), .reason = strdup(reason)};
    if (left.signature == NULL || left.reason == NULL) {
        free(left.signature);
        free(left.reason);
        return -ENOMEM;
    }
    report->left[report->left_count++] = left;
    return 0;
}

int nsc_instrument_report_part(struct nsc_instrument_report *report, const char *signature,
                               uint32_t calls_left, uint32_t held)
{
    struct nsc_instrument_part *grown = nsc_array_grow(report->parts, &report->part_room,
                                                       (uint32_t)report->part_count, sizeof *grown);
    char *copy;

    if (grown == NULL)
        return -ENOMEM;
    report->parts = grown;
    copy = strdup(signature);
    if (copy == NULL)
        return -ENOMEM;
    report->parts[report->part_count++] =
        (struct nsc_instrument_part){.signature = copy, .calls_left = calls_left, .held = held};
    return 0;
}

int nsc_instrument_report_library(struct nsc_instrument_report *report, const char *path,
                                  uint64_t bytes, bool stored)
{
    struct nsc_instrument_library *grown = nsc_array_grow(
        report->libraries, &report->library_room, (uint32_t)report->library_count, sizeof *grown);
    char *copy;

    if (grown == NULL)
        return -ENOMEM;
    report->libraries = grown;
    copy = strdup(path);
    if (copy == NULL)
        return -ENOMEM;
    report->libraries[report->library_count++] =
        (struct nsc_instrument_library){.path = copy, .bytes = bytes, .stored = stored};
    return 0;
}

void nsc_instrument_report_sum(struct nsc_instrument_report *report)
{
    memset(report->methods, 0, sizeof report->methods);
    report->calls = 0;
    report->calls_left = 0;
    report->held = 0;
    report->dex_bytes_before = 0;
    report->dex_bytes_after = report->hook_bytes;
    for (size_t i = 0; i < report->dex_count; i++) {
        const struct nsc_instrument_dex *dex = &report->dex[i];

        for (unsigned why = 0; why < NSC_INSTRUMENT_WHYS; why++)
            report->methods[why] += dex->methods[why];
        report->calls += dex->calls;
        report->calls_left += dex->calls_left;
        report->held += dex->held;
        report->dex_bytes_before += dex->bytes_before;
        report->dex_bytes_after += dex->bytes_after;
    }
}

static void texts_free(struct nsc_instrument_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->at[i]);
    free(texts->at);
}

void nsc_instrument_report_free(struct nsc_instrument_report *report)
{
    for (size_t i = 0; i < report->dex_count; i++) {
        free(report->dex[i].name);
        free(report->dex[i].left);
    }
    for (size_t i = 0; i < report->left_count; i++) {
        free(report->left[i].signature);
        free(report->left[i].reason);
    }
    for (size_t i = 0; i < report->part_count; i++)
        free(report->parts[i].signature);
    for (size_t i = 0; i < report->library_count; i++)
        free(report->libraries[i].path);
    texts_free(&report->permissions);
    texts_free(&report->warnings);
    free(report->dex);
    free(report->left);
    free(report->parts);
    free(report->libraries);
    free(report->package);
    free(report->hook_name);
    free(report->signer_before);
    free(report->signer);
    memset(report, 0, sizeof *report);
}
