/* logfile.c - see logfile.h. */
#include "oracle/logfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more of @count elements; arrays double at powers of two. */
static void *more(void *array, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = reallocarray(array, count == 0 ? 1 : 2 * count, bytes);
    if (array == NULL)
        abort();
    return array;
}

static struct log_record *add_record(struct log_stack *stack)
{
    stack->records = more(stack->records, stack->count, sizeof *stack->records);
    return &stack->records[stack->count++];
}

static void bad(const char *path, const char *line)
{
    printf("%s: not a log: %s\n", path, line);
    exit(1);
}

static struct log_stack *read_heading(const char *line, struct log_process *process)
{
    struct log_thread *thread =
        process->thread_count > 0 ? &process->threads[process->thread_count - 1] : NULL;
    uint32_t tid;

    if (sscanf(line, "thread %u", &tid) == 1) {
        process->threads = more(process->threads, process->thread_count, sizeof *process->threads);
        process->threads[process->thread_count++] = (struct log_thread){.tid = tid};
        return NULL;
    }
    if (thread != NULL && strcmp(line, "async\n") == 0)
        return &thread->async;
    if (thread == NULL || strcmp(line, "stack\n") != 0)
        return NULL;
    thread->stacks = more(thread->stacks, thread->stack_count, sizeof *thread->stacks);
    thread->stacks[thread->stack_count] = (struct log_stack){0};
    return &thread->stacks[thread->stack_count++];
}

void log_read(const char *path, struct log_process *process)
{
    const char *dot = strrchr(path, '.');
    struct log_stack *stack = NULL;
    struct log_record r;
    char line[256];
    FILE *f = fopen(path, "r");
    int ended = 0;

    if (f == NULL || dot == NULL) {
        perror(path);
        exit(1);
    }
    *process = (struct log_process){.pid = (uint32_t)strtoul(dot + 1, NULL, 10)};
    while (fgets(line, sizeof line, f) != NULL && !ended) {
        if (strcmp(line, "end\n") == 0)
            ended = 1;
        else if (stack != NULL && (sscanf(line, "late %39[^\n]", r.name) == 1 ||
                                   sscanf(line, "left %39[^\n]", r.name) == 1)) {
            r.depth = LOG_LATE;
            r.end = line[2] == 't' ? 'R' : 'W';
            r.flag = '-';
            *add_record(stack) = r;
        } else if (stack != NULL &&
                   sscanf(line, "%u %c %c %39[^\n]", &r.depth, &r.end, &r.flag, r.name) == 4)
            *add_record(stack) = r;
        else if ((stack = read_heading(line, process)) == NULL && strncmp(line, "thread ", 7) != 0)
            bad(path, line);
    }
    fclose(f);
    if (!ended)
        bad(path, "it is cut off");
}

void log_free(struct log_process *process)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        struct log_thread *t = &process->threads[i];

        for (size_t j = 0; j < t->stack_count; j++)
            free(t->stacks[j].records);
        free(t->stacks);
        free(t->async.records);
    }
    free(process->threads);
}
