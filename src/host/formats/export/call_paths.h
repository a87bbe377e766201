/*
 * call_paths.h - tree of the distinct call paths of a trace (main; main, work; ...). Each path has
 * its number of calls and the self time of its innermost function. Used by exporters of profile
 * formats. Memory grows with the number of distinct paths, not with the number of calls.
 */
#ifndef NSC_FORMATS_EXPORT_CALL_PATHS_H
#define NSC_FORMATS_EXPORT_CALL_PATHS_H

#include "formats/export/export.h"

#define NSC_PATHS_ROOT UINT32_MAX

/* A distinct path: a function below its parent path, or a thread at the root of a tree. */
struct nsc_path {
    uint32_t parent;   /* index, smaller than this path's, or NSC_PATHS_ROOT */
    uint32_t function; /* function id; thread id when @is_thread */
    uint64_t self_ticks;
    uint64_t calls;
    bool is_thread;
};

struct nsc_open_path {
    uint64_t callee_ticks;
    uint32_t path;
};

/* Empty when all members except max_depth are zero. */
struct nsc_paths {
    struct nsc_path *all;
    uint32_t count, capacity;
    uint32_t *slots; /* index + 1, or 0; at most half full */
    size_t slot_count;
    struct nsc_open_path *open; /* innermost last */
    size_t depth, open_capacity;
    uint32_t max_depth;   /* frames; deeper calls are added to the frame at this depth */
    uint64_t folded_deep; /* number of calls deeper than max_depth */
    uint32_t *outward;    /* result buffer of nsc_paths_outward() */
};

/* Finds or creates the path of @function (a thread id if @is_thread) below @parent. Returns 0 or
 * -ENOMEM. */
int nsc_paths_find(struct nsc_paths *s, uint32_t parent, uint32_t function, bool is_thread,
                   uint32_t *path);

/* Processes a begin or end of a thread whose paths are below @root. Ignores other events. Returns 0
 * or -ENOMEM. */
int nsc_paths_step(struct nsc_paths *s, uint32_t root, const struct nsc_walk_event *e);

/* Returns the path that is open after the last step, or @root. */
uint32_t nsc_paths_current(const struct nsc_paths *s, uint32_t root);

/* Adds the calls of all selected threads. With the option per_thread, each thread has a root path
 * of its own. Returns 0 or -errno with @diag. */
int nsc_paths_take_all(struct nsc_paths *s, struct nsc_export *job, struct nsc_diag *diag);

/* Lists @path and its parents, innermost first. *@outward is valid until the next call. Returns
 * their number, or 0 when out of memory. */
uint32_t nsc_paths_outward(struct nsc_paths *s, uint32_t path, const uint32_t **outward);

/* Adds a note for the user if calls were deeper than max_depth. */
void nsc_paths_note_deep(const struct nsc_paths *s, struct nsc_export *job);

/* Fills @diag with an out-of-memory message that suggests a smaller --depth. Returns -ENOMEM. */
int nsc_paths_no_memory(const struct nsc_paths *s, struct nsc_diag *diag);

void nsc_paths_free(struct nsc_paths *s);

#endif
