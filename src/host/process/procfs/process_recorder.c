/*
 * process_recorder.c - see process_recorder.h. A process keeps the memory files of ended sessions
 * mapped. Only the recorder has such a file open, and only while it records.
 */
#include "process/procfs/process_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/procfs/process_walk.h"
#include "util/array.h"
#include "util/os/partial_name.h"

#define SESSIONS_MAX 32

struct sessions {
    struct {
        dev_t device;
        uint64_t inode;
    } at[SESSIONS_MAX];
    size_t count;
};

struct nsc_recorder_process {
    pid_t pid;
    struct sessions sessions;
    char *output;
};

/* The recorder and the traced process both give the memory file this name. */
static bool is_memory(const char *path)
{
    return strncmp(path, NSC_MAPS_MEMORY, sizeof NSC_MAPS_MEMORY - 1) == 0;
}

static void add_session(struct sessions *sessions, dev_t device, uint64_t inode)
{
    if (sessions->count == SESSIONS_MAX)
        return;
    sessions->at[sessions->count].device = device;
    sessions->at[sessions->count++].inode = inode;
}

static bool has_common(const struct sessions *a, const struct sessions *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (a->at[i].device == b->at[k].device && a->at[i].inode == b->at[k].inode)
                return true;
    return false;
}

/* "/tmp/app.nst.4711.0f3a91c2.partial": the trace will be "/tmp/app.nst". */
static char *final_name(const char *path)
{
    size_t length = nsc_partial_length(path, NULL);

    return length > 0 ? strndup(path, length) : NULL;
}

/* Examine the descriptors of process @pid. */
static struct nsc_recorder_process examine(pid_t pid)
{
    struct nsc_recorder_process found = {.pid = pid};
    char path[64], link[4096];
    const struct dirent *entry;
    struct statx st;
    DIR *fds;

    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    fds = opendir(path);
    while (fds != NULL && (entry = readdir(fds)) != NULL) {
        ssize_t length = readlinkat(dirfd(fds), entry->d_name, link, sizeof link - 1);

        if (length <= 0)
            continue;
        link[length] = 0;
        if (is_memory(link) &&
            statx(dirfd(fds), entry->d_name, AT_STATX_DONT_SYNC, STATX_INO, &st) == 0)
            add_session(&found.sessions, makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino);
        else if (found.output == NULL)
            found.output = final_name(link);
    }
    if (fds != NULL)
        closedir(fds);
    return found;
}

static bool has_memory(const void *context, pid_t pid)
{
    struct nsc_recorder_process found = examine(pid);

    (void)context;
    free(found.output);
    return found.sessions.count > 0;
}

static int add_process(void *context, pid_t pid)
{
    struct nsc_recorder_list *list = context;
    struct nsc_recorder_process *at =
        nsc_array_grow(list->at, &list->room, list->count, sizeof *at);

    if (at == NULL)
        return -ENOMEM;
    list->at = at;
    list->at[list->count++] = examine(pid);
    return 0;
}

static void complete(struct nsc_recorder_list *list)
{
    const struct nsc_process_walk walk = {
        .examine = has_memory, .take = add_process, .context = list, .deadline_ns = UINT64_MAX};

    list->is_complete = true;
    (void)nsc_process_walk(&walk);
}

void nsc_recorder_list_free(struct nsc_recorder_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i].output);
    free(list->at);
    *list = (struct nsc_recorder_list){0};
}

void nsc_process_recorder(struct nsc_recorder_list *list, pid_t pid, const struct nsc_maps *maps,
                          pid_t *recorder, char **output)
{
    struct sessions sessions = {.count = 0};

    *recorder = 0;
    *output = NULL;
    for (size_t i = 0; i < maps->count; i++)
        if (maps->at[i].offset == 0 && is_memory(maps->at[i].path))
            add_session(&sessions, maps->at[i].device, maps->at[i].inode);
    if (sessions.count > 0 && !list->is_complete)
        complete(list);
    for (size_t i = 0; i < list->count && *recorder == 0; i++)
        if (list->at[i].pid != pid && has_common(&list->at[i].sessions, &sessions)) {
            *recorder = list->at[i].pid;
            if (list->at[i].output != NULL)
                *output = strdup(list->at[i].output);
        }
}
