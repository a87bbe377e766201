/*
 * isolated_child.h - do untrusted work in a forked child and collect its answers.
 *
 * Private to symbols/. libdw and the C++ demangler may crash, loop or exhaust memory on a hostile
 * file. In a child that costs only the answers to the offending questions, not the recorder and its
 * trace. The child is confined (util/privileges/confine.h): a file that compromises it can only
 * cause wrong answers.
 */
#ifndef NSC_SYMBOLS_ISOLATED_CHILD_H
#define NSC_SYMBOLS_ISOLATED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/privileges/credentials.h"

#define NSC_ISOLATE_TEXT_MAX 16384 /* bytes of text in one answer */

struct nsc_isolate_task {
    void *context;
    size_t count;          /* questions 0 .. count-1 */
    uint64_t memory_bytes; /* limit of the child's allocations beyond the parent's memory */
    uint64_t time_ms;      /* limit for all questions together; 0 = none */
    int fds[2];            /* descriptors that the child keeps; negative: none */
    const struct nsc_credentials *credentials; /* of the child; NULL: the parent's */
    /* In the child, with @credentials, before files become inaccessible. May be NULL. */
    void (*open)(void *context);
    /* In the child, confined: prepare; false = no question can be answered. May be NULL. */
    bool (*begin)(void *context);
    /* In the child, confined: answer question @index. @text needs no NUL; at most
     * NSC_ISOLATE_TEXT_MAX bytes. false = no answer. */
    bool (*answer)(void *context, size_t index, uint32_t *number, const char **text,
                   size_t *text_bytes);
    /* In the parent: take an answer. @text is NUL terminated and valid during the call. */
    void (*take)(void *context, size_t index, uint32_t number, const char *text, size_t text_bytes);
};

/**
 * nsc_isolated_child_run - let the child answer all questions.
 *
 * A question that kills or blocks the child stays unanswered; a new child continues with the next
 * one. After a few such questions, at the time limit or after 512 MiB of text, the remaining
 * questions stay unanswered, too. If fork fails, nothing is answered. Context: forks; reaps only
 * its own child.
 */
void nsc_isolated_child_run(const struct nsc_isolate_task *task);

#endif
