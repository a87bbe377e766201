/*
 * session_join.h - taking part in a session: its memory is checked and mapped, the process is
 * registered. Internal to runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_SESSION_SESSION_JOIN_H
#define NSC_LINUX_SESSION_SESSION_JOIN_H

#include "linux/session/session_state.h"

/**
 * nsc_session_join - fill in everything of @s but its serial and generation.
 * @s:  all zeros but those; on failure, what is mapped is given back.
 * @fd: of the memory file; remains open.
 * @below: where the memory of the session before lies, or NULL. This one's comes below it if there
 *         is room: should a hook be interrupted between reserving its slot there and comparing it
 *         with the bound, by a handler that brings the thread here, then the slot is out of bounds.
 * @tick: takes the samples of the session's timers; see linux/session/cpu_timer.h.
 * Returns as nsc_session_open() does.
 */
int nsc_session_join(struct nsc_target_session *s, int fd, const void *below,
                     void (*tick)(uint64_t value, int timer));

/** nsc_session_register - take a process slot. @ppid: 0 for a program that was not forked from a
 * recorded one. Returns whether there was one. */
int nsc_session_register(struct nsc_target_session *s, uint32_t ppid);

/** nsc_session_map_pool - spare the program the page faults of its first events. Takes about 0.1 ms
 * a MiB. */
void nsc_session_map_pool(const struct nsc_target_session *s);

/**
 * nsc_session_slot_claim - take a FREE entry of a table.
 * @state:  state word of the table's entry 0.
 * @stride: bytes from one entry to the next.
 * @max:    number of entries.
 * @hint:   where to look first; updated.
 * Returns the index of the entry, now CLAIMED, or -1.
 */
int64_t nsc_session_slot_claim(uint32_t *state, size_t stride, uint32_t max, uint32_t *hint);

static inline size_t nsc_session_wiped_bytes(const struct nsc_target_session *s)
{
    return sizeof(uint64_t) * NSC_END_STRIDE * (1 + (size_t)s->threads_max);
}

#endif
