/*
 * doctor.h - the findings of nanoscope doctor. doctor_build.c checks compilers and hooks,
 * doctor_machine.c the timer and limits, doctor_running.c programs that already run. cmd_doctor.c
 * prints the findings.
 */
#ifndef NSC_CLI_DOCTOR_DOCTOR_H
#define NSC_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum nsc_doctor_status {
    NSC_DOCTOR_OK,
    NSC_DOCTOR_NOTE, /* works, with a limit worth knowing */
    NSC_DOCTOR_FAIL, /* recording, or this way of building, does not work */
};

struct nsc_doctor_finding {
    const char *area; /* "compiler", "hook", "timer", "limit", "running"; static */
    char name[64];
    enum nsc_doctor_status status;
    char detail[512];
    char remedy[256]; /* a command or a sentence; empty if there is nothing to fix */
};

#define NSC_DOCTOR_FINDINGS 48

struct nsc_doctor {
    struct nsc_doctor_finding at[NSC_DOCTOR_FINDINGS];
    size_t count;
    bool some_hook_works;
    bool machine_fails; /* some limit makes recording impossible */
};

/* Add a finding; further ones beyond NSC_DOCTOR_FINDINGS are dropped. @remedy may be NULL. */
__attribute__((format(printf, 6, 7))) void nsc_doctor_add(struct nsc_doctor *d, const char *area,
                                                          const char *name,
                                                          enum nsc_doctor_status status,
                                                          const char *remedy, const char *format,
                                                          ...);

/* Check compilers and hooks. Runs compilers, and the programs that they build, in a temporary
 * folder. Sets some_hook_works. */
void nsc_doctor_build(struct nsc_doctor *d);
/* Check the timer and limits. Takes about 0.1 s to measure the timer. Sets machine_fails. */
void nsc_doctor_machine(struct nsc_doctor *d);
/* Check whether running programs can be traced. Starts a short-lived process. No finding makes
 * recording impossible. */
void nsc_doctor_running(struct nsc_doctor *d);

#endif
