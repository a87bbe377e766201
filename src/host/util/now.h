/*
 * now.h - the time that passes: for deadlines and durations of our own.
 */
#ifndef NSC_UTIL_NOW_H
#define NSC_UTIL_NOW_H

#include <stdint.h>

/* CLOCK_MONOTONIC, in ns. */
uint64_t nsc_now_ns(void);

#endif
