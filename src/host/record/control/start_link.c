/* start_link.c - see start_link.h. */
#include "record/control/start_link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/control.h"
#include "record/control/command_server.h"

/* Only the first program matters, and process slots are claimed from the lowest on. */
enum { SLOTS_LOOKED_AT = 16 };

/* Bytes of a link's target: NSC_CONTROL_START. */
enum { TARGET_MAX = 96 };

static int make_target(const struct nsc_record_session *session, char target[TARGET_MAX])
{
    struct stat st;

    if (fstat(session->fd, &st) != 0)
        return -errno;
    snprintf(target, TARGET_MAX, "%s:%llu", session->path, (unsigned long long)st.st_ino);
    return 0;
}

/* Returns the pid of the recorder to which the link points; 0 if it is not a recorder's link.
 * @memory: receives the path of its memory; @inode: the number that it had. */
static pid_t owner_of(int directory, const char *name, char memory[TARGET_MAX],
                      unsigned long long *inode)
{
    ssize_t length = readlinkat(directory, name, memory, TARGET_MAX - 1);
    char *colon;
    long pid = 0;

    memory[length > 0 ? length : 0] = 0;
    colon = strchr(memory, ':');
    if (colon == NULL || sscanf(memory, "/proc/%ld/fd/", &pid) != 1 || pid <= 0)
        return 0;
    *inode = strtoull(colon + 1, NULL, 10);
    *colon = 0;
    return (pid_t)pid;
}

/* True if the link still points to a running recorder's memory. */
static bool is_in_use(int directory, const char *name)
{
    char memory[TARGET_MAX];
    unsigned long long inode;
    pid_t owner = owner_of(directory, name, memory, &inode);
    struct statx st;

    /* The number may be another user's process by now, whose file system need not answer. */
    return owner != 0 && kill(owner, 0) == 0 &&
           statx(AT_FDCWD, memory, AT_STATX_DONT_SYNC, STATX_INO, &st) == 0 && st.stx_ino == inode;
}

static int open_folder(struct nsc_diag *diag)
{
    int directory = nsc_command_directory(diag), fd = -1, error = 0;

    if (directory < 0)
        return directory;
    if (mkdirat(directory, NSC_CONTROL_START, 0700) != 0 && errno != EEXIST)
        error = errno;
    if (error == 0) {
        fd = openat(directory, NSC_CONTROL_START, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        error = fd < 0 ? errno : 0;
    }
    close(directory);
    return error == 0 ? fd
                      : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                                     "cannot make the folder for programs that are waited for: %s",
                                     strerror(error));
}

int nsc_start_link_begin(const struct nsc_record_session *session, const char *name,
                         struct nsc_start_link *await, struct nsc_diag *diag)
{
    char target[TARGET_MAX], memory[TARGET_MAX];
    unsigned long long inode;
    int directory, error = 0;

    await->directory = -1;
    if (name[0] == 0 || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "\"%s\" is not the name of a program's file", name);
    if (strlen(name) >= sizeof await->name)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENAMETOOLONG, "the name is too long");
    directory = open_folder(diag);
    if (directory < 0)
        return directory;
    error = -make_target(session, target);
    if (error == 0 && symlinkat(target, directory, name) != 0)
        error = errno;
    if (error == EEXIST && !is_in_use(directory, name)) {
        unlinkat(directory, name, 0);
        error = symlinkat(target, directory, name) != 0 ? errno : 0;
    }
    if (error == 0) {
        await->directory = directory;
        memcpy(await->name, name, strlen(name) + 1);
        return 0;
    }
    if (error == EEXIST)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBUSY,
                             "nanoscope %ld waits for a program named %.200s already",
                             (long)owner_of(directory, name, memory, &inode), name);
    else
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot wait for %.200s: %s", name,
                             strerror(error));
    close(directory);
    return error;
}

pid_t nsc_start_link_look(const struct nsc_record_session *session)
{
    uint32_t i;

    for (i = 0; i < SLOTS_LOOKED_AT && i < session->processes_max; i++) {
        const struct nsc_live_process *p = &session->processes[i];

        if (__atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == NSC_LIVE_LIVE)
            return (pid_t)__atomic_load_n(&p->pid, __ATOMIC_RELAXED);
    }
    return 0;
}

/* Keeps a link that another recorder has created under that name after it took this one for stale.
 */
void nsc_start_link_end(struct nsc_start_link *await)
{
    char memory[TARGET_MAX];
    unsigned long long inode;

    if (await->directory < 0)
        return;
    if (owner_of(await->directory, await->name, memory, &inode) == getpid())
        unlinkat(await->directory, await->name, 0);
    close(await->directory);
    await->directory = -1;
}
