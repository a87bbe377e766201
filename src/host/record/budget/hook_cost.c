/* hook_cost.c - see hook_cost.h. Reads the program's chunks directly: they hold a plain sequence of
 * calls. */
#include "record/budget/hook_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/live.h"
#include "record/session/session.h"

#define BUFFER_BYTES (1u << 20)

enum { BLOCK_CALLS = 256, PATIENCE_MS = 1000 };

/* Waits for the program, which never blocks; kills it after PATIENCE_MS. */
static int await(pid_t pid)
{
    int status = 0, i;

    for (i = 0; i < PATIENCE_MS; i++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended < 0 && errno != EINTR)
            return -errno;
        if (ended == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ENOEXEC;
        usleep(1000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -ETIMEDOUT;
}

static int run(const char *program, const char *live_path)
{
    char live[96], *arguments[] = {(char[]){"nanoscope-calibrate"}, NULL};
    char *environment[] = {live, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int error;

    snprintf(live, sizeof live, NSC_LIVE_ENV "=%s", live_path);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    error = -posix_spawn(&pid, program, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error != 0 ? error : await(pid);
}

/* Ticks of the slot; the header hook uses the bits above 47 otherwise. */
static uint64_t ticks_at(const uint64_t *words, size_t slot)
{
    return words[2 * slot + 1] & NSC_LIVE_ADDRESS_MASK;
}

/* True if the slots from @at on are BLOCK_CALLS calls of an empty function. */
static bool is_block(const uint64_t *words, size_t at, uint64_t exit_mask)
{
    const uint64_t parts = NSC_LIVE_ADDRESS_MASK & ~exit_mask;
    size_t i;

    for (i = 0; i < 2 * (size_t)BLOCK_CALLS; i++) {
        uint64_t word = words[2 * (at + i)];

        if ((word & parts) < NSC_LIVE_ESC_LIMIT || ((word & exit_mask) != 0) != (i % 2 != 0) ||
            ticks_at(words, at + i) < ticks_at(words, at))
            return false;
    }
    return true;
}

/* Computes the block's means; keeps those of the cheapest block. */
static void measure_block(const uint64_t *words, size_t at, struct nsc_hook_ticks *best)
{
    uint64_t inner = 0;
    double call = (double)(ticks_at(words, at + 2 * (BLOCK_CALLS - 1)) - ticks_at(words, at)) /
                  (BLOCK_CALLS - 1);
    size_t i;

    for (i = 0; i < BLOCK_CALLS; i++)
        inner += ticks_at(words, at + 2 * i + 1) - ticks_at(words, at + 2 * i);
    if (best->call == 0 || call < best->call)
        *best = (struct nsc_hook_ticks){.call = call, .inner = (double)inner / BLOCK_CALLS};
}

static void measure(const struct nsc_record_session *s, struct nsc_hook_ticks *best)
{
    size_t slots = s->chunk_bytes / 16, at;
    uint32_t chunk;

    for (chunk = 0; chunk < s->chunk_count; chunk++) {
        const uint64_t *words = nsc_session_chunk_words(s, chunk);

        /* The first slots may hold escape records. */
        for (at = 0; at + 2 * (size_t)BLOCK_CALLS <= slots; at++) {
            if (!is_block(words, at, 1ull << s->exit_bit))
                continue;
            measure_block(words, at, best);
            at += 2 * (size_t)BLOCK_CALLS - 1;
        }
    }
}

int nsc_hook_cost_measure(const char *program, struct nsc_hook_ticks *ticks)
{
    const struct nsc_session_options options = {.buffer_bytes = BUFFER_BYTES, .fixed = true};
    struct nsc_hook_ticks best = {0};
    struct nsc_record_session session;
    int error = nsc_session_create(&options, &session, NULL);

    if (error != 0)
        return error;
    error = run(program, session.path);
    if (error == 0)
        measure(&session, &best);
    nsc_session_destroy(&session);
    if (error == 0 && best.call == 0)
        error = -ENODATA;
    if (error == 0)
        *ticks = best;
    return error;
}
