/*
 * instrument_report.h - fill a report. Private to inject/.
 *
 * Texts are copied. Each returns 0 or -ENOMEM.
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_REPORT_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_REPORT_H

#include "android/instrument/instrument.h"

int nsc_instrument_texts_add(struct nsc_instrument_texts *texts, const char *text);
int nsc_instrument_warn(struct nsc_instrument_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A dex file is begun; it is the last of report->dex then. */
int nsc_instrument_report_dex(struct nsc_instrument_report *report, const char *name,
                              uint64_t bytes);
int nsc_instrument_report_left(struct nsc_instrument_report *report, const char *signature,
                               const char *reason);
int nsc_instrument_report_part(struct nsc_instrument_report *report, const char *signature,
                               uint32_t calls_left, uint32_t held);
int nsc_instrument_report_library(struct nsc_instrument_report *report, const char *path,
                                  uint64_t bytes, bool stored);
/* Sums over the dex files. */
void nsc_instrument_report_sum(struct nsc_instrument_report *report);

#endif
