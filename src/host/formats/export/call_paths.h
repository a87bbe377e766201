/*
 * call_paths.h - the distinct call paths of a trace (main; main, work; ...), each with its calls
 * and the time in its innermost function. Used by the exporters whose formats hold sums. Memory
 * grows with the number of distinct paths, not of calls.
 */
#ifndef NSC_FORMATS_EXPORT_CALL_PATHS_H
#define NSC_FORMATS_EXPORT_CALL_PATHS_H

#include "formats/export/export.h"

#define NSC_PATHS_ROOT UINT32_MAX

/* A distinct path: its innermost function (or thread, at the root of one) below its parent. */
struct nsc_path {
    uint32_t parent;   /* index, smaller than its own; or NSC_PATHS_ROOT */
    uint32_t function; /* function id; thread id when @is_thread */
    uint64_t self_ticks;
    uint64_t calls;
    bool is_thread;
};

struct nsc_open_path {
    uint64_t callee_ticks;
    uint32_t path;
};

/* All zero but @max_depth = empty. */
struct nsc_paths {
    struct nsc_path *all;
    uint32_t count, capacity;
    uint32_t *slots; /* index + 1, or 0; at most half full */
    size_t slot_count;
    struct nsc_open_path *open; /* innermost last */
    size_t depth, open_capacity;
    uint32_t max_depth;   /* deeper calls count for the frame there */
    uint64_t folded_deep; /* how many did */
    uint32_t *outward;    /* of nsc_paths_outward() */
};

/* The path of @function (or thread, with @is_thread) below @parent; made when new. Returns 0 or
 * -ENOMEM. */
int nsc_paths_find(struct nsc_paths *s, uint32_t parent, uint32_t function, bool is_thread,
                   uint32_t *path);

/* A begin or an end of a thread whose paths are below @root; other events do nothing. Returns 0 or
 * -ENOMEM. */
int nsc_paths_step(struct nsc_paths *s, uint32_t root, const struct nsc_walk_event *e);

/* The path that is open after the last step; @root when none is. */
uint32_t nsc_paths_current(const struct nsc_paths *s, uint32_t root);

/* Take every thread that the export wants; with the option per_thread, each below a path of its
 * own. Returns 0 or -errno with @diag. */
int nsc_paths_take_all(struct nsc_paths *s, struct nsc_export *job, struct nsc_diag *diag);

/* The paths from @path out to its outermost one: *@outward, until the next call. Returns their
 * number, or 0 when out of memory. */
uint32_t nsc_paths_outward(struct nsc_paths *s, uint32_t path, const uint32_t **outward);

/* Note calls beyond max_depth, if there were any. */
void nsc_paths_note_deep(const struct nsc_paths *s, struct nsc_export *job);

/* Out of memory, in words that say what helps. Returns -ENOMEM. */
int nsc_paths_no_memory(const struct nsc_paths *s, struct nsc_diag *diag);

void nsc_paths_free(struct nsc_paths *s);

#endif
