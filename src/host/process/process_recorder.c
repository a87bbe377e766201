/*
 * process_recorder.c - see process_recorder.h. A process keeps the memory files of ended sessions
 * mapped. Only the recorder has such a file open, and only while it records.
 */
#include "process/process_recorder.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/partial_name.h"

#define MEMORY_FILE  "/memfd:nanoscope"
#define SESSIONS_MAX 32

struct sessions {
    uint64_t inodes[SESSIONS_MAX];
    size_t count;
};

/* The recorder and the traced process both give the memory file this name. */
static bool is_memory(const char *path)
{
    return strncmp(path, MEMORY_FILE, sizeof MEMORY_FILE - 1) == 0;
}

static void find_sessions(const struct nsc_maps *maps, struct sessions *sessions)
{
    for (size_t i = 0; i < maps->count && sessions->count < SESSIONS_MAX; i++)
        if (maps->at[i].offset == 0 && is_memory(maps->at[i].path))
            sessions->inodes[sessions->count++] = maps->at[i].inode;
}

static bool is_session(const struct sessions *sessions, int folder, const char *fd)
{
    struct stat st;

    if (fstatat(folder, fd, &st, 0) != 0)
        return false;
    for (size_t i = 0; i < sessions->count; i++)
        if (sessions->inodes[i] == st.st_ino)
            return true;
    return false;
}

/* "/tmp/app.nst.4711.0f3a91c2.partial": the trace will be "/tmp/app.nst". */
static char *final_name(const char *path)
{
    size_t length = nsc_partial_length(path, NULL);

    return length > 0 ? strndup(path, length) : NULL;
}

/* Return true if process @number has one of these memory files open. @output receives its trace. */
static bool looks_like_recorder(const char *number, const struct sessions *sessions, char **output)
{
    char path[300], link[4096];
    const struct dirent *entry;
    bool found = false;
    DIR *fds;

    *output = NULL;
    snprintf(path, sizeof path, "/proc/%s/fd", number);
    fds = opendir(path);
    while (fds != NULL && (entry = readdir(fds)) != NULL) {
        ssize_t length = readlinkat(dirfd(fds), entry->d_name, link, sizeof link - 1);

        if (length <= 0)
            continue;
        link[length] = 0;
        if (is_memory(link))
            found |= is_session(sessions, dirfd(fds), entry->d_name);
        else if (*output == NULL)
            *output = final_name(link);
    }
    if (fds != NULL)
        closedir(fds);
    if (!found) {
        free(*output);
        *output = NULL;
    }
    return found;
}

void nsc_process_recorder(pid_t pid, const struct nsc_maps *maps, pid_t *recorder, char **output)
{
    struct sessions sessions = {.count = 0};
    const struct dirent *entry;
    DIR *processes;

    *recorder = 0;
    *output = NULL;
    find_sessions(maps, &sessions);
    processes = sessions.count > 0 ? opendir("/proc") : NULL;
    while (processes != NULL && *recorder == 0 && (entry = readdir(processes)) != NULL) {
        pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);

        if (other > 0 && other != pid && looks_like_recorder(entry->d_name, &sessions, output))
            *recorder = other;
    }
    if (processes != NULL)
        closedir(processes);
}
