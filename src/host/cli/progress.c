/* progress.c - see progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/now.h"

#define PATIENCE_NS 250000000u /* shorter jobs show nothing */
#define INTERVAL_NS 100000000u

void nsc_progress_begin(struct nsc_progress *p)
{
    const char *term = getenv("TERM");

    *p = (struct nsc_progress){
        .on = isatty(STDERR_FILENO) != 0 && term != NULL && strcmp(term, "dumb") != 0,
        .begun_ns = nsc_now_ns(),
    };
    p->next_ns = p->begun_ns + PATIENCE_NS;
}

void nsc_progress_show(struct nsc_progress *p, const char *what, uint64_t done, uint64_t total)
{
    uint64_t now;

    if (!p->on)
        return;
    now = nsc_now_ns();
    if (now < p->next_ns)
        return;
    p->next_ns = now + INTERVAL_NS;
    p->shown = true;
    if (total != 0)
        fprintf(stderr, "\r\033[Knanoscope: %s %3.0f %%", what,
                100.0 * (double)(done < total ? done : total) / (double)total);
    else
        fprintf(stderr, "\r\033[Knanoscope: %s", what);
    fflush(stderr);
}

void nsc_progress_end(struct nsc_progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->shown = false;
}
