/* running.c - see running.h. */
#include "cli/record/running.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

static bool is_meant(const struct nsc_command_entry *entry, const char *process)
{
    const struct nsc_command_reply *status = &entry->status;
    char pid[16], recorder[16];

    if (process == NULL)
        return true;
    snprintf(pid, sizeof pid, "%ld", (long)status->program_pid);
    snprintf(recorder, sizeof recorder, "%ld", (long)status->recorder_pid);
    return strcmp(status->program, process) == 0 || strcmp(pid, process) == 0 ||
           strcmp(recorder, process) == 0;
}

/* Write "12 (server), 34 (server)" into @text, truncated to @room bytes. */
static void list_all(const struct nsc_command_entry *list, size_t count, const char *process,
                     char *text, size_t room)
{
    size_t used = 0, i;

    text[0] = 0;
    for (i = 0; i < count && used < room; i++)
        if (is_meant(&list[i], process))
            used += (size_t)snprintf(text + used, room - used, "%s%ld (%s)", used > 0 ? ", " : "",
                                     (long)list[i].status.program_pid, list[i].status.program);
}

/* Whether @process is a process id that is not in use. */
static bool is_nobody(const char *process)
{
    unsigned long pid = strtoul(process, NULL, 10);

    if (process[0] == 0 || process[strspn(process, "0123456789")] != 0)
        return false;
    return pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

/* List the recordings among which @process may be. Root asks its own recorders first, and those of
 * other users only if necessary: they may claim any program, or not reply at all. @list is to be
 * freed, also on failure. Returns 0 or -ENOMEM. */
static int list_running(const char *process, struct nsc_command_entry **list, size_t *count)
{
    int error = nsc_command_list(NSC_COMMAND_OWN, list, count);
    size_t i;

    if (error != 0 || geteuid() != 0)
        return error;
    for (i = 0; process != NULL && i < *count; i++)
        if (is_meant(&(*list)[i], process))
            return 0;
    return nsc_command_list(NSC_COMMAND_OTHERS, list, count);
}

int nsc_cli_running(const char *process, struct nsc_command_entry *entry)
{
    struct nsc_command_entry *list = NULL;
    size_t count = 0, found = 0, i;
    char text[256];

    if (list_running(process, &list, &count) != 0) {
        free(list);
        return nsc_cli_error("out of memory");
    }
    for (i = 0; i < count; i++)
        if (is_meant(&list[i], process) && found++ == 0)
            *entry = list[i];
    list_all(list, count, process, text, sizeof text);
    free(list);
    if (found == 1)
        return 0;
    if (found > 1)
        return nsc_cli_error("several programs are being recorded: %s; say which one with -p PID",
                             text);
    if (process != NULL && is_nobody(process))
        return nsc_cli_error("there is no process %s", process);
    if (process != NULL)
        return nsc_cli_error("%s is not being recorded (`nanoscope start -p %s` begins that)",
                             process, process);
    return nsc_cli_error("nothing is being recorded (`nanoscope start` begins a recording)");
}
