/*
 * session_join.h - joins a session: checks and maps its memory, and registers the process. Internal
 * to target/linux; the rules of current_session.h apply.
 */
#ifndef NSC_LINUX_SESSION_SESSION_JOIN_H
#define NSC_LINUX_SESSION_SESSION_JOIN_H

#include "linux/session/session_state.h"

/**
 * nsc_session_join - fill in all fields of @s except serial and generation.
 * @s:  zeros except for those two; on failure, mappings are released.
 * @fd: of the memory file; remains open.
 * @below: address of the previous session's memory, or NULL. This session is mapped below it if
 *         there is room. A hook may be interrupted between reserving a slot in the previous session
 *         and comparing it with the bound, by a handler that moves the thread to this session. Then
 *         the slot is out of bounds.
 * @tick: takes the samples of the session's timers; see linux/session/cpu_timer.h.
 * Returns as nsc_session_open() does.
 */
int nsc_session_join(struct nsc_target_session *s, int fd, const void *below,
                     void (*tick)(uint64_t value, int timer));

/** nsc_session_register - claim a process slot. @ppid: 0 unless the process was forked from a
 * recorded one. Returns 1, or 0 if no slot is free. */
int nsc_session_register(struct nsc_target_session *s, uint32_t ppid);

/** nsc_session_map_pool - prefault the pool, so that the program's first events cause no page
 * faults. Takes about 0.1 ms per MiB. */
void nsc_session_map_pool(const struct nsc_target_session *s);

/**
 * nsc_session_slot_claim - claim a FREE entry of a table.
 * @state:  state word of the table's entry 0.
 * @stride: bytes from one entry to the next.
 * @max:    number of entries.
 * @hint:   index to search from; updated.
 * Returns the index of the entry, now CLAIMED, or -1.
 */
int64_t nsc_session_slot_claim(uint32_t *state, size_t stride, uint32_t max, uint32_t *hint);

static inline size_t nsc_session_wiped_bytes(const struct nsc_target_session *s)
{
    return sizeof(uint64_t) * NSC_END_STRIDE * (1 + (size_t)s->threads_max);
}

#endif
