/*
 * clock_reading.h - read the event timer and the system's clocks at one instant.
 */
#ifndef NSC_RECORD_SESSION_CLOCK_READING_H
#define NSC_RECORD_SESSION_CLOCK_READING_H

#include "trace/format/model.h"

/* The timer that hooks read: rdtsc, or cntvct_el0. */
uint64_t nsc_clock_reading_ticks(void);
/* Its frequency where the processor tells it, else 0. */
uint64_t nsc_clock_reading_frequency(void);
/* The same; measured where the processor does not tell, which takes 10 ms the first time. Never 0.
 */
uint64_t nsc_clock_reading_rate(void);
/* One calibration point; the readings lie within a fraction of a microsecond as a rule. */
struct nsc_clock_point nsc_clock_reading_read(void);

#endif
