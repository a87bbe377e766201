/*
 * drain_rig.h - the recorder's half of a session: memory, a trace to write, and the drain between
 * them, for tests that play the traced half.
 */
#ifndef NSC_TESTS_UNIT_RIGS_DRAIN_RIG_H
#define NSC_TESTS_UNIT_RIGS_DRAIN_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/drain/drain.h"
#include "trace/read/reader.h"

struct drain_rig {
    struct nsc_record_session session;
    struct nsc_writer *writer;
    struct nsc_tracees tracees;
    struct nsc_drain drain;
    struct nsc_filter filter;
    char path[64];
    uint64_t now_ns;
};

static inline void drain_rig_begin(struct drain_rig *r, enum nsc_record_mode mode,
                                   const struct nsc_session_options *options)
{
    struct nsc_writer_options writing = {.size = sizeof writing, .overwrite = true};
    struct nsc_diag diag;

    memset(r, 0, sizeof *r);
    r->now_ns = 60000000000ull;
    snprintf(r->path, sizeof r->path, "/tmp/drain_rig.%d.nst", (int)getpid());
    if (nsc_writer_create(r->path, &writing, &r->writer, &diag) != 0 ||
        nsc_session_create(options, &r->session, &diag) != 0) {
        printf("Bail out! %s\n", diag.message);
        exit(1);
    }
    nsc_tracees_init(&r->tracees, &r->session, r->writer, &r->filter);
    nsc_drain_init(&r->drain, &r->tracees, mode);
}

static inline uint32_t drain_rig_pass(struct drain_rig *r, enum nsc_drain_depth depth)
{
    r->now_ns += 200000000; /* so that nothing is left for later */
    return nsc_drain_pass(&r->drain, depth, r->now_ns);
}

/* Returns what the finished file says; zeros if it is not whole. */
static inline struct nsc_trace_info drain_rig_end(struct drain_rig *r)
{
    struct nsc_trace_info info = {0};
    struct nsc_trace *trace;
    struct nsc_diag diag;
    uint32_t i;

    nsc_session_close(&r->session);
    if (r->drain.mode == NSC_RECORD_RING)
        nsc_drain_keep_ring(&r->drain);
    nsc_drain_pass(&r->drain, NSC_DRAIN_THE_END, r->now_ns);
    for (i = 0; i < r->session.threads_max; i++)
        if (r->tracees.threads[i] != NULL)
            nsc_tracee_finish(r->tracees.threads[i], false);
    nsc_tracees_complete(&r->tracees);
    if (nsc_writer_finish(r->writer, &diag) != 0)
        printf("# %s\n", diag.message);
    else if (nsc_trace_verify(r->path, NULL, NULL, &diag) == 0 &&
             nsc_trace_open(r->path, 0, &trace, &diag) == 0) {
        info = *nsc_trace_info(trace);
        nsc_trace_close(trace);
    }
    nsc_drain_free(&r->drain);
    nsc_tracees_free(&r->tracees);
    nsc_session_destroy(&r->session);
    unlink(r->path);
    return info;
}

#endif
