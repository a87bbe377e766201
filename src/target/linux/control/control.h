/*
 * control.h - the control function (abi/control.h), for the rest of target/linux.
 */
#ifndef NSC_LINUX_CONTROL_CONTROL_H
#define NSC_LINUX_CONTROL_CONTROL_H

#include <stdint.h>

#include "abi/control.h"
#include "abi/hook.h"

/* Process whose thread is in the control function, 0 if none. In a forked child, the parent's pid
 * is ignored. */
extern uint32_t nsc_control_user __attribute__((visibility("hidden")));

/** nsc_control_in_use - return 1 if a thread of this process is in the control function. */
int nsc_control_in_use(void);

/** nsc_runtime_control - see abi/control.h. */
NSC_RUNTIME_EXPORT int64_t nsc_runtime_control(uint64_t verb, uint64_t argument);

/** nsc_control_run - body of nsc_runtime_control(), which calls it on a separate stack. */
int64_t nsc_control_run(uint64_t verb, uint64_t argument);

#endif
