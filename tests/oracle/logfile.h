/*
 * logfile.h - the logs of oracle.c, read back for check.c.
 */
#ifndef ORACLE_LOGFILE_H
#define ORACLE_LOGFILE_H

#include <stddef.h>
#include <stdint.h>

#define LOG_LATE UINT32_MAX

struct log_record {
    uint32_t depth; /* or LOG_LATE */
    char end, flag;
    char name[40];
};

struct log_stack {
    struct log_record *records;
    size_t count;
};

struct log_thread {
    uint32_t tid;
    struct log_stack *stacks; /* those with records, in the order of their creation */
    size_t stack_count;
    struct log_stack async;
};

struct log_process {
    uint32_t pid;
    struct log_thread *threads;
    size_t thread_count;
};

/* Reads a log; its name ends in the process id. Ends the program when that fails. */
void log_read(const char *path, struct log_process *process);
void log_free(struct log_process *process);

#endif
