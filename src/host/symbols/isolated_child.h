/*
 * isolated_child.h - do untrusted work in a forked child and collect its answers.
 *
 * Private to symbols/. libdw and the C++ demangler may crash, loop or eat all memory on a hostile
 * file; here that costs the answers to the questions at fault, never the recorder and its trace.
 * The child is confined (util/privileges/confine.h): a file that takes it over gains nothing but
 * wrong answers.
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
    uint64_t memory_bytes; /* what the child may allocate beyond what the parent has */
    uint64_t time_ms;      /* for all questions together; 0 = no bound */
    int fds[2];            /* that the child reads; negative: none */
    const struct nsc_credentials *credentials; /* the user to be in the child; NULL: the same */
    /* In the child, while it may still open files, with @credentials. May be NULL. */
    void (*open)(void *context);
    /* In the child, confined: prepare; false = no question can be answered. May be NULL. */
    bool (*begin)(void *context);
    /* In the child, confined: answer question @index; @text need not be terminated, at most
     * NSC_ISOLATE_TEXT_MAX bytes. false = no answer. */
    bool (*answer)(void *context, size_t index, uint32_t *number, const char **text,
                   size_t *text_bytes);
    /* In the parent: take an answer. @text is NUL terminated and valid during the call. */
    void (*take)(void *context, size_t index, uint32_t number, const char *text, size_t text_bytes);
};

/**
 * nsc_isolated_child_run - ask all questions.
 *
 * A question that kills the child or brings it to a halt stays unanswered and the rest goes to a
 * new child; after a few of them, at the end of the time or after 512 MiB of text the remaining
 * questions stay unanswered too. Without fork nothing is answered. Context: forks; reaps only its
 * own child.
 */
void nsc_isolated_child_run(const struct nsc_isolate_task *task);

#endif
