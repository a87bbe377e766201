/* core_recover.c - see core_recover.h. */
#include "record/recorder/core_recover.h"

#include <errno.h>
#include <sys/mman.h>

#include "record/recorder/recorder.h"
#include "record/recorder/recorder_end.h"
#include "record/session/core_dump.h"

static bool never_over(struct nsc_recorder *r, uint64_t now_ns)
{
    (void)r;
    (void)now_ns;
    return true;
}

static void write_clocks(struct nsc_recorder *r)
{
    uint32_t i;

    for (i = 0; i < 2; i++) {
        const struct nsc_live_clock *live = &r->session.header->clock[i];
        struct nsc_clock_point point = {
            .ticks = live->ticks,
            .monotonic_ns = live->monotonic_ns,
            .boottime_ns = live->boottime_ns,
            .realtime_ns = live->realtime_ns,
        };

        if (live->ticks != 0)
            nsc_writer_clock(r->writer, &point);
    }
}

static int open_session(struct nsc_recorder *r, const char *core, struct nsc_diag *diag)
{
    uint64_t bytes;
    uint8_t *base;
    int error = nsc_core_read(core, &base, &bytes, diag);

    if (error != 0)
        return error;
    error = nsc_session_adopt(base, bytes, &r->session, diag);
    if (error != 0) {
        munmap(base, bytes);
        return error;
    }
    error = nsc_recorder_follow_session(r, diag);
    r->tracees.dead = true;
    return error;
}

static int revive(struct nsc_recorder *r, const char *core, struct nsc_record_result *result,
                  struct nsc_diag *diag)
{
    char command[] = "(out of a core dump)", *words[] = {command, NULL};
    int error = nsc_recorder_open_file(r, diag);

    if (error == 0)
        error = open_session(r, core, diag);
    if (error != 0)
        return error;
    nsc_recorder_describe(r, words, "/proc/self/root");
    write_clocks(r);
    error = nsc_recorder_complete(r, result, diag);
    if (error == 0 && !result->recorded)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENODATA,
                             "no process took part in the recording in this core dump");
    return error;
}

int nsc_record_revive(const char *core, const struct nsc_record_options *options,
                      struct nsc_record_result *result, struct nsc_diag *diag)
{
    struct nsc_recorder r;
    int error;

    *result = (struct nsc_record_result){0};
    nsc_recorder_init(&r, options, never_over, NULL);
    r.revived = true;
    error = revive(&r, core, result, diag);
    nsc_recorder_release(&r);
    return error;
}
