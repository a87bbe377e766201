/*
 * control.h - the control function (abi/control.h) as the rest of runtime/ sees it.
 */
#ifndef NSC_LINUX_CONTROL_CONTROL_H
#define NSC_LINUX_CONTROL_CONTROL_H

#include <stdint.h>

#include "abi/control.h"
#include "abi/hook.h"

/* Process whose thread is in the control function, 0 if none is. In a forked child the parent's
 * number means nothing. */
extern uint32_t nsc_control_user __attribute__((visibility("hidden")));

/** nsc_control_in_use - whether a thread of this process is in the control function. */
int nsc_control_in_use(void);

/** nsc_runtime_control - see abi/control.h. */
NSC_RUNTIME_EXPORT int64_t nsc_runtime_control(uint64_t verb, uint64_t argument);

/** nsc_control_run - what nsc_runtime_control() does, on the stack that it brings. */
int64_t nsc_control_run(uint64_t verb, uint64_t argument);

#endif
