/*
 * scheduler_slice.h - request a shorter scheduler slice for the recorder.
 *
 * Called by recorder.c, once. Does not change any other running process.
 */
#ifndef NSC_RECORD_SESSION_SCHEDULER_SLICE_H
#define NSC_RECORD_SESSION_SCHEDULER_SLICE_H

/*
 * Request a short scheduler slice for this thread. It gets no more processor time than before, but
 * is scheduled sooner after it wakes up. Needs no privilege; takes effect from Linux 6.12 on,
 * earlier kernels ignore it. Threads and processes started afterwards inherit it.
 */
void nsc_scheduler_slice_shorten(void);

#endif
