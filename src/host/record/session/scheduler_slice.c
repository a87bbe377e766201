/* scheduler_slice.c - see scheduler_slice.h. A separate file, since <sched.h> and the kernel's
 * header conflict. */
#include "record/session/scheduler_slice.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest slice that the kernel grants. */
#define TURN_NS 100000

void nsc_scheduler_slice_shorten(void)
{
    struct sched_attr attr = {.size = sizeof attr};

    /* Another scheduling policy was chosen on purpose: keep it. */
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) != 0 ||
        attr.sched_policy != SCHED_NORMAL)
        return;
    attr.sched_runtime = TURN_NS;
    (void)syscall(SYS_sched_setattr, 0, &attr, 0);
}
