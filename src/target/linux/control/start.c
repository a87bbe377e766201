/*
 * start.c - actions at the program's start: see start.h. Called by the first module's constructor.
 * A program that is not recorded pays one failing open.
 */
#include "linux/control/start.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>

#include "abi/control.h"
#include "linux/control/small_text.h"
#include "linux/control/user_folder.h"
#include "linux/events/cpu_sampler.h"
#include "linux/session/current_session.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

/* From libc or the program; weak, so that the runtime links without either. */
extern char **environ __attribute__((weak));
#pragma weak getauxval

#define NAME_MAX_BYTES 256
#define LINK_MAX_BYTES 64

/* Return the value of an environment variable, @name with its `=`, or NULL. */
static const char *variable(const char *name)
{
    char **entry;

    if (&environ == NULL || environ == NULL)
        return NULL;
    for (entry = environ; *entry != NULL; entry++) {
        const char *value = nsc_text_after(*entry, name);

        if (value != NULL)
            return value;
    }
    return NULL;
}

/*
 * Return an entry of the auxiliary vector, 0 if there is none. A static program may lack
 * getauxval(). But at this time its environment is still where the kernel has put it, directly
 * before the vector.
 */
static uint64_t auxiliary(uint64_t wanted)
{
    const Elf64_auxv_t *pair;
    char **entry;

    if (&getauxval != NULL)
        return getauxval(wanted);
    if (&environ == NULL || environ == NULL)
        return 0;
    for (entry = environ; *entry != NULL; entry++)
        ;
    for (pair = (const Elf64_auxv_t *)(const void *)(entry + 1); pair->a_type != AT_NULL; pair++)
        if (pair->a_type == wanted)
            return pair->a_un.a_val;
    return 0;
}

static const char *file_name(const char *path)
{
    const char *name = path, *c;

    for (c = path; *c != 0; c++)
        if (*c == '/')
            name = c + 1;
    return name;
}

/* Return 1 if @link has the form of `/proc/#/fd/#`, where # is a number. No others are opened. */
static int has_form(const char *link, const char *form)
{
    const char *f, *c = link;

    for (f = form; *f != 0; f++) {
        if (*f != '#') {
            if (*c++ != *f)
                return 0;
            continue;
        }
        if (*c < '0' || *c > '9')
            return 0;
        while (*c >= '0' && *c <= '9')
            c++;
    }
    return *c == 0;
}

/* Split the target of a link into the memory's path and its inode number. */
static uint64_t split(char *target)
{
    uint64_t inode = 0;
    char *c = target;

    while (*c != ':')
        c++;
    *c = 0;
    while (*++c != 0)
        inode = inode * 10 + (uint64_t)(*c - '0');
    return inode;
}

/*
 * Open the memory of a session that waits for a program of this name; -1 if there is none. The
 * directory may belong to another user, so no link in it is followed before its owner is checked. A
 * file is never created or truncated, and is used only if it is a session's memory.
 */
static int open_by_name(void)
{
    char path[NAME_MAX_BYTES + 64], link[LINK_MAX_BYTES];
    const char *program = (const char *)(uintptr_t)auxiliary(AT_EXECFN);
    const char *end = path + sizeof(path);
    uint32_t uid = (uint32_t)auxiliary(AT_UID), owner;
    int fd = -1, known, folder;
    uint64_t inode;
    unsigned i;
    char *at;

    if (program == NULL || auxiliary(AT_SECURE) != 0)
        return -1;
    for (i = 0; fd < 0 && i < NSC_CONTROL_FOLDERS; i++) {
        at = nsc_user_folder_append(path, end, uid, i);
        folder = nsc_sys_own_directory(path, uid);
        if (folder == -ENOENT && i == 0) /* the case of almost all programs */
            return -1;
        at = nsc_text_append(at, end, "/" NSC_CONTROL_START "/");
        if (folder == 0 && nsc_text_append(at, end, file_name(program)) != NULL)
            fd = nsc_sys_open_link(path);
        if (folder == 0 && i == 0)
            break; /* the usual folder belongs to the user: then it is the only one */
    }
    if (fd < 0)
        return -1;
    known = nsc_sys_owner(fd, &owner) == 0 && (owner == uid || owner == 0) &&
            nsc_sys_read_link(fd, link, sizeof(link)) == 0 && has_form(link, "/proc/#/fd/#:#");
    nsc_sys_close(fd);
    if (!known)
        return -1;
    inode = split(link);
    return nsc_sys_open_memory(link, &inode);
}

static void join(int fd)
{
    struct nsc_target_session *s;

    if (nsc_session_open(fd, nsc_cpu_sampler_tick, &s) < 0)
        return;
    nsc_session_map_pool(s);
    if (nsc_session_begin(s, NULL) < 0)
        nsc_session_abandon(s);
    else
        nsc_session_hooks_follow(s);
}

/*
 * Remove nanoscope's variables from the environment, so that programs started by this one do not
 * use them either. Constructors run before the program's own threads.
 */
static void forget_variables(void)
{
    char **from, **to = environ;

    for (from = environ; *from != NULL; from++)
        if (nsc_text_after(*from, "NANOSCOPE=") == NULL &&
            nsc_text_after(*from, NSC_LIVE_ENV "=") == NULL &&
            nsc_text_after(*from, NSC_CONTROL_LISTEN_ENV "=") == NULL)
            *to++ = *from;
    *to = NULL;
}

/*
 * Open the session that the environment names. The caller may have set the variable before the
 * program gained privileges: by its file's mode, which the kernel reports, or as a child of a
 * privileged program; then the recorder is another user. Both are refused.
 */
static int open_by_variable(const char *path)
{
    return has_form(path, "/proc/#/fd/#") ? nsc_sys_open_memory(path, NULL) : -EPERM;
}

static void start(void)
{
    const char *path = variable(NSC_LIVE_ENV "="), *listen = variable(NSC_CONTROL_LISTEN_ENV "=");
    int listens = listen != NULL && listen[0] == '1' && listen[1] == 0;
    int fd = -1;

    if ((path != NULL || listens || variable("NANOSCOPE=") != NULL) &&
        (auxiliary(AT_SECURE) != 0 || nsc_sys_ids_differ())) {
        forget_variables();
        return;
    }
    if ((path != NULL || listens) && nsc_sys_privileged()) /* also if the auxiliary vector is not
                                                            * available */
        return;
    if (path != NULL)
        fd = open_by_variable(path);
    else
        fd = open_by_name();
    if (path != NULL && fd == -EPERM) {
        forget_variables();
        return;
    }
    if (fd >= 0) {
        join(fd);
        nsc_sys_close(fd);
    }
    if (listens)
        nsc_endpoint_open();
}

void nsc_start_once(void)
{
    enum { UNTRIED, TRYING, DONE };
    static uint32_t tried;

    if (NSC_LOAD(&tried) == UNTRIED && nsc_session_cas32(&tried, UNTRIED, TRYING)) {
        start();
        NSC_STORE(&tried, DONE);
    }
    /* Two threads may run constructors at once. dlopen() holds a lock, so this almost never
     * waits. */
    while (NSC_LOAD(&tried) == TRYING)
        nsc_sys_sleep_ns(100000);
}
