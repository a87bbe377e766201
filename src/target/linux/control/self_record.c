/*
 * self_record.c - recordings that the program itself begins and ends (nanoscope.h): starts a
 * recorder, passes it the memory, joins the session. Called by the program's own threads; makes raw
 * system calls only. ADR 10 describes the other ways to start a recording.
 */
#include <errno.h>
#include <nanoscope/nanoscope.h>

#include "abi/control.h"
#include "linux/control/control.h"
#include "linux/control/small_text.h"
#include "linux/control/user_folder.h"
#include "linux/session/current_session.h"
#include "linux/sys/sys.h"

enum {
    PATH_BYTES = 1024,
    ENVIRONMENT_MAX = 4096, /* maximum number of strings passed to the recorder */
    RECORDER_MS = 10000,    /* timeout for the recorder's start */
    CONTROL_MS = 5000,      /* timeout for the control function to be free */
    CLOSING_MS = 10000,     /* timeout for the previous recorder to close its session */
};

extern char **environ __attribute__((weak));

/* Pid of the process that is beginning or ending a recording; 0: none. In a forked child, the
 * parent's pid is ignored. */
static uint32_t busy;
/* The session that nanoscope_begin() joined, the process that did it, and whether the recording was
 * ended. */
static struct nsc_target_session *begun;
static uint32_t begun_by, ended;

static int enter(void)
{
    uint32_t own = nsc_sys_pid(), other = NSC_LOAD(&busy);

    return other != own && nsc_session_cas32(&busy, other, own);
}

static void leave(void)
{
    NSC_STORE(&busy, 0);
}

/* Places to search for the recorder, the folder of this library first. */
struct places {
    const char *paths[6];
    char beside[PATH_BYTES], above[PATH_BYTES];
};

/* A path that does not fit becomes empty, which names no file. */
static void beside_library(char *to, const char *library, const char *tail)
{
    char *end = to + PATH_BYTES, *at = nsc_text_append(to, end, library);

    while (at != NULL && at > to && at[-1] != '/')
        at--;
    if (nsc_text_append(at, end, tail) == NULL)
        to[0] = 0;
}

static void find_places(struct places *p)
{
    char library[PATH_BYTES];
    unsigned n = 0;

    nsc_sys_map_path((uintptr_t)&find_places, library, sizeof(library));
    beside_library(p->beside, library, "../bin/nanoscope");
    beside_library(p->above, library, "../../bin/nanoscope"); /* lib/<machine>/ */
    p->paths[n++] = p->beside;
    p->paths[n++] = p->above;
    p->paths[n++] = "/usr/local/bin/nanoscope";
    p->paths[n++] = "/usr/bin/nanoscope";
    p->paths[n] = NULL;
}

/* Copy the environment without the variables for traced programs. */
static void copy_environment(const char **to, const char **named)
{
    char **entry;
    unsigned n = 0;

    *named = NULL;
    for (entry = &environ != NULL ? environ : NULL; entry != NULL && *entry != NULL; entry++) {
        const char *value = nsc_text_after(*entry, "NANOSCOPE=");

        if (value != NULL)
            *named = value;
        if (nsc_text_after(*entry, "NANOSCOPE") == NULL &&
            nsc_text_after(*entry, "LD_PRELOAD=") == NULL && n + 1 < ENVIRONMENT_MAX)
            to[n++] = *entry;
    }
    to[n] = NULL;
}

/* Read the recorder's answer: 0 when the session is ready, or a negative errno. */
static int hear(int fd)
{
    int32_t answer;

    if (nsc_sys_readable(fd, RECORDER_MS) != 1)
        return -ETIMEDOUT;
    return nsc_sys_read(fd, &answer, sizeof(answer)) == (long)sizeof(answer) ? answer : -EPIPE;
}

/* Start `nanoscope attend PID [FILE]` with the memory file and a pipe for the answer. */
static int start_recorder(int memory, const char *path)
{
    size_t room = ENVIRONMENT_MAX * sizeof(char *);
    const char **environment = nsc_sys_map_private(room + sizeof(struct places));
    const char *argv[] = {"nanoscope", "attend", "--", NULL, path, NULL}, *named;
    struct places *places;
    int reads, fds[2] = {memory, -1}, result;
    char pid[12];

    if (environment == NULL)
        return -ENOMEM;
    places = (struct places *)(void *)((char *)environment + room);
    copy_environment(environment, &named);
    find_places(places);
    nsc_text_number(pid, pid + sizeof(pid), nsc_sys_pid());
    argv[3] = pid;
    result = nsc_sys_pipe(&reads, &fds[1]);
    if (result == 0) {
        result = nsc_sys_spawn(named, places->paths, argv, environment, fds);
        nsc_sys_close(fds[1]);
        if (result == 0)
            result = hear(reads);
        nsc_sys_close(reads);
    }
    nsc_sys_unmap(environment, room + sizeof(struct places));
    return result;
}

/* Return 1 if this process began @s. A forked child has its parent's variables, but not its
 * recording. */
static int is_ours(const struct nsc_target_session *s)
{
    return s != NULL && s == begun && NSC_LOAD(&begun_by) == nsc_sys_pid();
}

/* Call the control function; retry while another thread is in it. */
static int64_t control(uint64_t verb, uint64_t argument)
{
    int64_t result;
    unsigned ms;

    for (ms = 0; ms < CONTROL_MS; ms++) {
        result = nsc_runtime_control(verb, argument);
        if (result != -EAGAIN)
            return result;
        nsc_sys_sleep_ns(1000000);
    }
    return -EAGAIN;
}

/* Wait for the recorder of a recording that was ended a moment ago. */
static int wait_for_end(struct nsc_target_session *s)
{
    unsigned ms;

    for (ms = 0; is_ours(s) && NSC_LOAD(&ended) && ms < CLOSING_MS; ms++) {
        if (NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN)
            return 0;
        nsc_sys_sleep_ns(1000000);
    }
    return -EBUSY;
}

static int begin(const char *path)
{
    struct nsc_target_session *before = NSC_LOAD(&nsc_session_current);
    int64_t result;
    int memory;

    if (nsc_sys_privileged() || nsc_sys_ids_differ())
        return -EPERM;
    if (nsc_session_is_open(before) && wait_for_end(before) < 0)
        return -EBUSY;
    memory = nsc_sys_memory_file();
    if (memory < 0)
        return memory;
    result = start_recorder(memory, path);
    if (result == 0)
        result = control(NSC_CONTROL_JOIN, (uint64_t)memory);
    if (result < 0) {
        nsc_sys_close(memory);
        return (int)result;
    }
    begun = NSC_LOAD(&nsc_session_current);
    NSC_STORE(&begun_by, nsc_sys_pid());
    NSC_STORE(&ended, 0);
    result = control(NSC_CONTROL_APPLY, 0);
    if (result < 0) /* record with the hooks that are enabled */
        __atomic_fetch_and(&begun->header->flags, ~NSC_LIVE_FLAG_HOLD, __ATOMIC_RELEASE);
    return (int)result;
}

NSC_RUNTIME_EXPORT int nanoscope_begin(const char *path)
{
    int result;

    if (!enter())
        return -EBUSY;
    result = begin(path);
    leave();
    return result;
}

/* Send the request to the recorder's socket, @path. Returns 0 or -errno. */
static int send_stop(const char *path, const char *name, size_t name_bytes)
{
    struct {
        struct nsc_command_request head;
        char name[NSC_COMMAND_NAME_MAX];
    } packet; /* not initialized as a whole: that would call memset() */
    size_t bytes = sizeof(packet.head) + name_bytes, i;
    long sent;
    int fd = nsc_sys_connect(path);

    if (fd < 0)
        return fd;
    packet.head.magic = NSC_COMMAND_MAGIC;
    packet.head.verb = NSC_COMMAND_STOP;
    packet.head.text_bytes = (uint32_t)name_bytes;
    packet.head.reserved = 0;
    for (i = 0; i < name_bytes; i++)
        packet.name[i] = name[i];
    sent = nsc_sys_send(fd, &packet, bytes);
    nsc_sys_close(fd);
    return sent == (long)bytes ? 0 : -EPIPE;
}

/* Ask the recorder to stop. By its socket, because the kernel then reports the sender's user. A
 * name in the shared memory could come from any process that maps it, such as a child that gave up
 * its user. */
static int stop_recorder(const char *name, size_t name_bytes)
{
    uint32_t uid = nsc_sys_uid();
    int error = -ENOENT;
    char path[128];
    const char *limit = path + sizeof(path);
    unsigned i;

    for (i = 0; error != 0 && i < NSC_CONTROL_FOLDERS; i++) {
        char *at = nsc_user_folder_append(path, limit, uid, i);

        if (nsc_sys_own_directory(path, uid) != 0)
            continue;
        nsc_user_folder_append_socket(at, limit, nsc_sys_pid(), ".rec");
        error = send_stop(path, name, name_bytes);
    }
    return error;
}

static int end(const char *path)
{
    struct nsc_target_session *s = NSC_LOAD(&nsc_session_current);
    size_t i;

    if (!is_ours(s) || NSC_LOAD(&ended) || !nsc_session_is_open(s))
        return -ENOTCONN;
    for (i = 0; path != NULL && path[i] != 0; i++)
        if (i + 1 == NSC_COMMAND_NAME_MAX)
            return -ENAMETOOLONG;
    NSC_STORE(&ended, 1);
    control(NSC_CONTROL_OFF, 0);
    if (stop_recorder(path, i) != 0)
        NSC_STORE(&s->header->request, NSC_LIVE_REQUEST_STOP);
    return 0;
}

NSC_RUNTIME_EXPORT int nanoscope_end(const char *path)
{
    int result;

    if (!enter())
        return -EBUSY;
    result = end(path);
    leave();
    return result;
}
