/*
 * hook_asm.h - numbers of abi/hook.h and abi/live.h that assembly needs; hook.h asserts that
 * they agree with the structures. Defines only, so that .S files can include it.
 */
#ifndef NSC_ABI_HOOK_ASM_H
#define NSC_ABI_HOOK_ASM_H

#define NSC_RUNTIME_POS            0
#define NSC_RUNTIME_ENDP           8
#define NSC_RUNTIME_ANCHOR_LOW     16
#define NSC_RUNTIME_REACH          0x20000
#define NSC_RUNTIME_POSITION_SHIFT 45

/* Behind the word that `endp` points at: addresses of words of the session, 0: there is none. How
 * long a call must last at least, and how many were too short. */
#define NSC_RUNTIME_END_LEAST   8
#define NSC_RUNTIME_END_REWOUND 16
/* The thread's count of lost events, and the session's count of free chunks. */
#define NSC_RUNTIME_END_LOST    24
#define NSC_RUNTIME_END_FREE    32
/* cpu_timer.c's */
#define NSC_RUNTIME_END_TIMER   40
/* No address: the highest position of the events lost since the thread's chunk began; 0: none was
 * lost. Raised before an event is counted. */
#define NSC_RUNTIME_END_HIGHEST 48

/* NSC_LIVE_TICKS_RETURNED */
#define NSC_RUNTIME_RETURNED_BIT 63

/* Where `pos` of a thread without a chunk is: this bit is set in it, and in no address. */
#define NSC_RUNTIME_NOWHERE_BIT 62
/* Of so many events that are lost one after the other, one looks for a chunk all the same. */
#define NSC_RUNTIME_LOST_LOOK   1024

#endif
