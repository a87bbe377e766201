/* isolated_child.c - see isolated_child.h. */
#include "symbols/isolated_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/now.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

#define BAD_MAX     8     /* limit of lost children per task; a stuck one counts as 4 */
#define STALL_MS    20000 /* a child without output for so long is stuck */
#define CPU_SECONDS 120
#define EXIT_MS     10000        /* time to exit for a child that has closed its pipe */
#define TEXT_MAX    (512u << 20) /* limit of text from all children of a task, in bytes */

/* Message of a child for each answered question; text_bytes of text follow. */
struct answer {
    uint64_t index;
    uint32_t number;
    uint32_t text_bytes;
};

/* Shared by parent and child: the current question, so that the parent knows which one killed the
 * child. */
struct progress {
    volatile size_t index;
    volatile bool begun;
};

static bool confine_child(const struct nsc_isolate_task *task, const struct progress *progress,
                          int fd)
{
    struct nsc_confine confine = {
        .credentials = task->credentials,
        .keep = {fd, task->fds[0], task->fds[1], -1},
        .shared = progress,
        .memory_bytes = task->memory_bytes,
        .cpu_seconds = CPU_SECONDS,
    };

    if (nsc_confine_enter(&confine) != 0)
        return false;
    if (task->open != NULL)
        task->open(task->context);
    (void)nsc_confine_seal(); /* without a seccomp filter the other limits still apply */
    return true;
}

__attribute__((noreturn)) static void run_child(const struct nsc_isolate_task *task, size_t from,
                                                size_t end, struct progress *progress, int fd)
{
    FILE *out = fdopen(fd, "w");

    if (out == NULL || !confine_child(task, progress, fd) ||
        (task->begin != NULL && !task->begin(task->context)))
        _exit(0);
    for (size_t i = from; i < end; i++) {
        struct answer a = {.index = i};
        const char *text = "";
        size_t bytes = 0;

        progress->index = i;
        progress->begun = true;
        if (!task->answer(task->context, i, &a.number, &text, &bytes) ||
            bytes > NSC_ISOLATE_TEXT_MAX)
            continue;
        a.text_bytes = (uint32_t)bytes;
        if (fwrite(&a, sizeof a, 1, out) != 1 || fwrite(text, 1, bytes, out) != bytes)
            _exit(1);
    }
    _exit(fflush(out) == 0 ? 0 : 1);
}

/* Remaining limits of a task, shared by all its children. */
struct bounds {
    uint64_t end_ns; /* 0: none */
    uint64_t text_left;
};

/* The parent's end of one child. */
struct child {
    pid_t pid;
    int fd;
    struct bounds *bounds;
    char buffer[1u << 16];
    size_t from, to; /* unconsumed part of the buffer */
};

/* How long to wait for the next bytes, in ms. */
static int patience(const struct bounds *bounds)
{
    uint64_t now = nsc_now_ns(), left_ms;

    if (bounds->end_ns == 0)
        return STALL_MS;
    left_ms = now < bounds->end_ns ? (bounds->end_ns - now) / 1000000 : 0;
    return left_ms < STALL_MS ? (int)left_ms : STALL_MS;
}

/* Read exactly @bytes. Returns false at the end of the stream, on errors, or if the child is stuck.
 */
static bool receive(struct child *c, void *into, size_t bytes, bool *stuck)
{
    char *to = into;

    while (bytes > 0) {
        size_t n = c->to - c->from;

        if (n == 0) {
            struct pollfd p = {.fd = c->fd, .events = POLLIN};
            int ready = poll(&p, 1, patience(c->bounds));
            ssize_t got;

            if (ready < 0 && errno == EINTR)
                continue;
            *stuck = ready == 0;
            got = ready > 0 ? read(c->fd, c->buffer, sizeof c->buffer) : -1;
            if (got < 0 && errno == EINTR && ready > 0)
                continue;
            if (got <= 0)
                return false;
            c->from = 0;
            c->to = (size_t)got;
            continue;
        }
        if (n > bytes)
            n = bytes;
        memcpy(to, c->buffer + c->from, n);
        c->from += n;
        to += n;
        bytes -= n;
    }
    return true;
}

/* Take answers until the stream ends or an answer is invalid. Returns the index of the question
 * after the last answered one. */
static size_t collect(const struct nsc_isolate_task *task, struct child *c, size_t from, size_t end,
                      bool *stuck)
{
    char text[NSC_ISOLATE_TEXT_MAX + 1];
    size_t next = from;
    struct answer a;

    while (receive(c, &a, sizeof a, stuck)) {
        if (a.index < next || a.index >= end || a.text_bytes > NSC_ISOLATE_TEXT_MAX ||
            a.text_bytes > c->bounds->text_left || !receive(c, text, a.text_bytes, stuck)) {
            *stuck |= a.text_bytes > c->bounds->text_left;
            break;
        }
        c->bounds->text_left -= a.text_bytes;
        text[a.text_bytes] = 0;
        task->take(task->context, (size_t)a.index, a.number, text, a.text_bytes);
        next = (size_t)a.index + 1;
    }
    return next;
}

enum outcome { DONE, DIED, STUCK, NO_CHILD };

/* Run one child for the questions [from, end). @next receives the index of the question after the
 * last answered one. */
static enum outcome ask(const struct nsc_isolate_task *task, size_t from, size_t end,
                        struct progress *progress, struct bounds *bounds, size_t *next)
{
    struct child c = {.pid = -1, .bounds = bounds};
    int ends[2], status;
    bool stuck = false;

    *next = from;
    progress->index = from;
    progress->begun = false;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NO_CHILD;
    c.pid = fork();
    if (c.pid == 0) {
        close(ends[0]);
        run_child(task, from, end, progress, ends[1]);
    }
    close(ends[1]);
    c.fd = ends[0];
    if (c.pid > 0)
        *next = collect(task, &c, from, end, &stuck);
    close(c.fd);
    if (c.pid < 0)
        return NO_CHILD;
    status = nsc_child_end(c.pid, stuck ? 0 : EXIT_MS);
    if (stuck)
        return STUCK;
    return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? DONE : DIED;
}

/* Whether the time or text limit is exhausted. */
static bool is_spent(const struct bounds *bounds)
{
    return bounds->text_left < NSC_ISOLATE_TEXT_MAX ||
           (bounds->end_ns != 0 && nsc_now_ns() >= bounds->end_ns);
}

void nsc_isolated_child_run(const struct nsc_isolate_task *task)
{
    struct progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct bounds bounds = {.text_left = TEXT_MAX};
    size_t from = 0, next, culprit;

    if (progress == MAP_FAILED)
        return;
    if (task->time_ms != 0)
        bounds.end_ns = nsc_now_ns() + task->time_ms * 1000000;
    for (unsigned bad = 0; from < task->count && bad < BAD_MAX && !is_spent(&bounds);) {
        enum outcome outcome = ask(task, from, task->count, progress, &bounds, &next);

        if (outcome == DONE || outcome == NO_CHILD || !progress->begun)
            break;
        bad += outcome == STUCK ? BAD_MAX / 2 : 1;
        culprit = progress->index;
        if (culprit < next || culprit >= task->count)
            culprit = next;
        /* Repeat the questions whose answers the dead child still had in its buffer: they are known
         * to be harmless. */
        if (culprit > next)
            (void)ask(task, next, culprit, progress, &bounds, &next);
        from = culprit + 1;
    }
    munmap(progress, sizeof *progress);
}
