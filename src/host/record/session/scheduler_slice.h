/*
 * scheduler_slice.h - how the recorder shares the processors with the programs that it records.
 *
 * Called by recorder.c, once. Changes nothing for any other process.
 */
#ifndef NSC_RECORD_SESSION_SCHEDULER_SLICE_H
#define NSC_RECORD_SESSION_SCHEDULER_SLICE_H

/*
 * Ask for short turns on the processor. Who does gets no more of it than others, but is let in
 * sooner when it wakes up. Needs no privilege; from Linux 6.12 on, ignored by earlier ones. Threads
 * and processes that are started afterwards inherit it.
 */
void nsc_scheduler_slice_shorten(void);

#endif
