/* import.c - what all importers share; see import.h. */
#include "formats/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/text/units.h"

void nsc_import_progress(const struct nsc_import *job, const struct nsc_input *in)
{
    uint64_t done, total;

    if (job->progress->tick == NULL)
        return;
    nsc_input_progress(in, &done, &total);
    job->progress->tick(job->progress->context, done, total);
}

int nsc_import_judge(const struct nsc_import *job, int error, uint64_t kept, const char *what,
                     const struct nsc_diag *fault)
{
    if ((error != -EBADMSG && error != -EMSGSIZE) || kept == 0)
        return error;
    nsc_job_notes_add(job->notes, "%s; kept what comes before it: %s %s%s", fault->message,
                      nsc_units_count(kept).text, what, nsc_units_plural(kept));
    return 0;
}

static uint64_t less(uint64_t ns, uint64_t by)
{
    return ns > by ? ns - by : 0;
}

int nsc_import_clock(struct nsc_import *job, const struct nsc_clock_point *point, uint64_t first_ns,
                     struct nsc_diag *diag)
{
    struct nsc_clock_point zero = {.ticks = first_ns};
    int error;

    if (point == NULL && first_ns == UINT64_MAX)
        return 0;
    if (point != NULL)
        zero = *point;
    if (first_ns < zero.ticks) { /* a point is where times begin for notes, too */
        uint64_t by = zero.ticks - first_ns;

        zero = (struct nsc_clock_point){first_ns, less(zero.monotonic_ns, by),
                                        less(zero.boottime_ns, by), less(zero.realtime_ns, by)};
    }
    error = nsc_writer_clock_frequency(job->writer, 1000000000);
    if (error == 0)
        error = nsc_writer_clock(job->writer, &zero);
    return error == 0 ? 0
                      : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot keep the clock: %s",
                                     strerror(-error));
}

const char *nsc_import_temporary_folder(void)
{
    const char *folder = secure_getenv("TMPDIR");

    return folder != NULL && folder[0] == '/' ? folder : "/tmp";
}

int nsc_import_temporary(struct nsc_diag *diag)
{
    const char *folder = nsc_import_temporary_folder();
    char *name;
    int fd;

    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) { /* not every file system can */
        if (asprintf(&name, "%s/nanoscope-XXXXXX", folder) < 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        fd = mkostemp(name, O_CLOEXEC);
        if (fd >= 0)
            unlink(name);
        else if (errno == EACCES) /* cli/common/reader_rights.h: no file can be created */
            fd = memfd_create("nanoscope-import", MFD_CLOEXEC);
        free(name);
    }
    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                            "cannot make a temporary file in %s: %s", folder, strerror(errno));
    return fd;
}
