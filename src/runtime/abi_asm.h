/*
 * abi_asm.h - numbers of runtime/abi.h and nanoscope/live.h that assembly needs; abi.h asserts that
 * they agree with the structures. Defines only, so that .S files can include it.
 */
#ifndef NSC_RUNTIME_ABI_ASM_H
#define NSC_RUNTIME_ABI_ASM_H

#define NSC_RUNTIME_POS            0
#define NSC_RUNTIME_ENDP           8
#define NSC_RUNTIME_ANCHOR_LOW     16
#define NSC_RUNTIME_REACH          0x20000
#define NSC_RUNTIME_POSITION_SHIFT 45

/* Behind the word that `endp` points at: addresses of words of the session, 0: there is none. How
 * long a call must last at least, and how many were too short. */
#define NSC_RUNTIME_END_LEAST   8
#define NSC_RUNTIME_END_REWOUND 16

#endif
