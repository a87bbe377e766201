/*
 * now.h - monotonic time, for deadlines and for durations of nanoscope's own work.
 */
#ifndef NSC_UTIL_NOW_H
#define NSC_UTIL_NOW_H

#include <stdint.h>

/* Return CLOCK_MONOTONIC in ns. */
uint64_t nsc_now_ns(void);

#endif
