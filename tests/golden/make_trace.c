/*
 * make_trace.c - a .nst file from a description, for tests of what the commands print.
 *
 * usage: make_trace OUT.nst <description
 *
 * One thing a line; # begins a comment line. Ticks are nanoseconds.
 *     process PID NAME              thread TID NAME [of the last process; what follows is its own]
 *     stack N                       another stack of the last thread
 *     TICKS enter NAME              TICKS exit            TICKS unwind
 *     TICKS late NAME               TICKS lost COUNT      TICKS close [ends the thread]
 *     TICKS sample CPU MAJOR MINOR SWITCHES               TICKS state OLD NEW [numbers]
 *     TICKS mark NAME               TICKS counter VALUE NAME
 *     left REASON FROM TO WINDOWS TICKS CALLS ERROR TOTAL ERROR SELF ERROR NAME [numbers; the last
 *         process; six times 0: not known]       left REASON FROM TO [of all functions]
 * In names \n, \t, \e, \\ and \xNN are what they are in C.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/lane.h"
#include "trace/write/writer.h"

#define FUNCTIONS_MAX 1000

struct maker {
    struct nsc_writer *writer;
    struct nsc_lane *lane;
    struct nsc_thread thread;
    uint32_t thread_id;
    char *names[FUNCTIONS_MAX];
    uint32_t functions;
    char *thread_name; /* the writer has its own copy, but add_lost() needs it again */
};

static void fail(const char *what)
{
    fprintf(stderr, "make_trace: %s\n", what);
    exit(1);
}

/* Replace escapes in place. */
static char *unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (*at != '\\' || !at[1]) {
            *to++ = *at;
            continue;
        }
        at++;
        if (*at == 'x' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
            const char digits[] = {at[1], at[2], '\0'};

            *to++ = (char)strtoul(digits, NULL, 16);
            at += 2;
        } else {
            *to++ = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'e' ? '\x1b' : *at;
        }
    }
    *to = '\0';
    return text;
}

static uint32_t find_function(struct maker *m, char *name)
{
    struct nsc_function f = {.module = NSC_NO_ID};
    uint32_t id = 0;

    unescape(name);
    for (; id < m->functions; id++)
        if (strcmp(m->names[id], name) == 0)
            return id;
    if (m->functions == FUNCTIONS_MAX)
        fail("too many functions");
    f.name = f.symbol = m->names[m->functions++] = strdup(name);
    f.file = "";
    nsc_writer_add_function(m->writer, &f, &id);
    return id;
}

static void add_process(struct maker *m, uint32_t pid, char *name)
{
    struct nsc_process p = {
        .pid = pid, .parent = NSC_NO_ID, .name = unescape(name), .exit_status = -1};

    nsc_writer_add_process(m->writer, &p, &m->thread.process);
}

static void add_thread(struct maker *m)
{
    if (nsc_writer_add_thread(m->writer, &m->thread, &m->thread_id, &m->lane) < 0)
        fail("a thread without process");
}

static void add_lost(struct maker *m, uint64_t ticks, uint64_t events)
{
    nsc_lane_lost(m->lane, ticks, events);
    m->thread.lost += events;
    nsc_writer_set_thread(m->writer, m->thread_id, &m->thread);
}

/* The next number of *@rest. */
static uint64_t number(char **rest)
{
    return strtoull(*rest, rest, 10);
}

/* A sample, state, mark or counter; false if it is none of these. */
static bool add_note(struct maker *m, uint64_t ticks, const char *what, char *rest)
{
    struct nsc_note note = {.ticks = ticks, .owner = m->thread_id};

    if (strcmp(what, "sample") == 0) {
        note.kind = NSC_NOTE_SAMPLE;
        note.sample.known = 15;
        for (int i = 0; i < 4; i++)
            note.sample.values[i] = number(&rest);
    } else if (strcmp(what, "state") == 0) {
        note.kind = NSC_NOTE_STATE;
        note.state.old_state = (uint32_t)number(&rest);
        note.state.new_state = (uint32_t)number(&rest);
    } else if (strcmp(what, "mark") == 0) {
        note.kind = NSC_NOTE_MARK;
        note.mark = (struct nsc_mark){.name = unescape(rest), .metadata = ""};
    } else if (strcmp(what, "counter") == 0) {
        note.kind = NSC_NOTE_COUNTER;
        note.counter.integer = strtoll(rest, &rest, 10);
        note.counter.name = unescape(rest + (*rest == ' '));
    } else {
        return false;
    }
    if (nsc_writer_note(m->writer, &note) != 0)
        fail("a note without thread");
    return true;
}

static void add_left_out(struct maker *m, uint32_t reason, char *rest)
{
    struct nsc_left_out l = {.function = NSC_NO_ID, .process = m->thread.process, .reason = reason};
    struct nsc_estimate *estimates[] = {&l.calls, &l.total_ticks, &l.self_ticks};

    l.from_ticks = number(&rest);
    l.to_ticks = number(&rest);
    l.windows = number(&rest);
    l.window_ticks = number(&rest);
    for (int i = 0; i < 3; i++) {
        estimates[i]->value = number(&rest);
        estimates[i]->error = number(&rest);
        if (estimates[i]->value > 0)
            l.known |= 1u << i;
    }
    while (*rest == ' ')
        rest++;
    if (*rest != '\0')
        l.function = find_function(m, rest);
    if (nsc_writer_add_left_out(m->writer, &l, NULL) != 0)
        fail("a left-out function that cannot be");
}

static void add_event(struct maker *m, uint64_t ticks, const char *what, char *rest)
{
    if (!m->lane)
        fail("an event without thread");
    if (strcmp(what, "enter") == 0)
        nsc_lane_enter(m->lane, ticks, find_function(m, rest), 0);
    else if (strcmp(what, "exit") == 0)
        nsc_lane_exit(m->lane, ticks);
    else if (strcmp(what, "unwind") == 0)
        nsc_lane_unwind(m->lane, ticks);
    else if (strcmp(what, "late") == 0)
        nsc_lane_late_exit(m->lane, ticks, find_function(m, rest));
    else if (strcmp(what, "lost") == 0)
        add_lost(m, ticks, strtoull(rest, NULL, 10));
    else if (strcmp(what, "close") == 0)
        nsc_lane_close(m->lane, ticks);
    else if (!add_note(m, ticks, what, rest))
        fail(what);
}

/* A line's words: the first two, and what comes after them. */
static void follow(struct maker *m, char *line)
{
    char *first = strtok(line, " \n"), *second = strtok(NULL, " \n"), *rest = strtok(NULL, "\n");

    if (!first || *first == '#')
        return;
    if (!second)
        fail("a line of one word");
    rest = rest ? rest : first + strlen(first); /* an empty text */
    if (strcmp(first, "process") == 0) {
        add_process(m, (uint32_t)strtoul(second, NULL, 10), rest);
    } else if (strcmp(first, "thread") == 0) {
        free(m->thread_name);
        m->thread_name = strdup(unescape(rest));
        m->thread = (struct nsc_thread){.process = m->thread.process,
                                        .tid = (uint32_t)strtoul(second, NULL, 10),
                                        .name = m->thread_name};
        add_thread(m);
    } else if (strcmp(first, "stack") == 0) {
        m->thread.stack = (uint32_t)strtoul(second, NULL, 10);
        m->thread.lost = 0;
        add_thread(m);
    } else if (strcmp(first, "left") == 0) {
        add_left_out(m, (uint32_t)strtoul(second, NULL, 10), rest);
    } else {
        add_event(m, strtoull(first, NULL, 10), second, rest);
    }
}

int main(int argc, char **argv)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_diag diag = {.message = ""};
    struct maker m = {.functions = 0};
    char line[1024];

    if (argc != 2 || nsc_writer_create(argv[1], &options, &m.writer, &diag) != 0)
        fail(argc == 2 ? diag.message : "usage: make_trace OUT.nst <description");
    while (fgets(line, sizeof line, stdin))
        follow(&m, line);
    if (nsc_writer_finish(m.writer, &diag) != 0)
        fail(diag.message);
    while (m.functions > 0)
        free(m.names[--m.functions]);
    free(m.thread_name);
    return 0;
}
