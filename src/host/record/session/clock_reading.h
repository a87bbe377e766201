/*
 * clock_reading.h - read the event timer and the system's clocks at one instant.
 */
#ifndef NSC_RECORD_SESSION_CLOCK_READING_H
#define NSC_RECORD_SESSION_CLOCK_READING_H

#include "trace/format/model.h"

/* The timer that hooks read: rdtsc, or cntvct_el0. */
uint64_t nsc_clock_reading_ticks(void);
/* The timer's frequency in Hz if the processor reports it, else 0. */
uint64_t nsc_clock_reading_frequency(void);
/* The timer's frequency in Hz; never 0. If the processor does not report it, the first call
 * measures it, which takes 10 ms. */
uint64_t nsc_clock_reading_rate(void);
/* Reads one calibration point; usually its readings lie within a fraction of a microsecond. */
struct nsc_clock_point nsc_clock_reading_read(void);

#endif
