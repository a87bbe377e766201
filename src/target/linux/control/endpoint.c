/*
 * endpoint.c - the endpoint thread (abi/control.h): passes requests of other processes of the same
 * user to the control function. Opened by start.c, and only if the environment asks for it.
 *
 * The thread is created by pthread_create(). So libc applies changes of the program's user id to
 * it, and it ends with the program. Otherwise it must not affect the program: it blocks all
 * signals, has a small stack, touches no memory of the program, and does not wait for clients.
 * Forked children have no endpoint.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "abi/control.h"
#include "linux/control/control.h"
#include "linux/control/small_text.h"
#include "linux/control/start.h"
#include "linux/control/user_folder.h"
#include "linux/session/current_session.h"
#include "linux/sys/sys.h"

#pragma weak pthread_attr_init
#pragma weak pthread_attr_setdetachstate
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_create

#define STACK_BYTES   (64u << 10)
/* Time limit for a client's request; other clients wait meanwhile. */
#define REQUEST_MS    1000
/* Interval of checks whether the program's other threads have ended, before and after the end of
 * main(). */
#define LOOK_MS       1000
#define LOOK_AGAIN_MS 50
/* Pause after an unexpected failure, for instance a lack of descriptors. */
#define PAUSE_NS      100000000u

/* libc's own signals, 32 and 33: setuid() needs every thread's response to one of them. */
#define NOT_LIBCS (~(3ull << 31))

static char socket_path[64];
static uint32_t listens;              /* 1: the socket exists */
static uint32_t owner_pid, owner_uid; /* of the socket's creator */
static uint64_t program_mask;         /* signals that the program's first thread blocks */

/* Create the user's directory, and in it the socket `<pid>.sock`. */
static int make_socket(void)
{
    const char *end = socket_path + sizeof(socket_path);
    int error = -EPERM; /* or the socket's descriptor */
    char *at = socket_path;
    unsigned i;

    for (i = 0; error < 0 && i < NSC_CONTROL_FOLDERS; i++) {
        at = nsc_user_folder_append(socket_path, end, owner_uid, i);
        nsc_sys_make_directory(socket_path);
        error = nsc_sys_own_directory(socket_path, owner_uid);
    }
    if (error < 0)
        return error;
    nsc_user_folder_append_socket(at, end, owner_pid, ".sock");
    error = nsc_sys_listen(socket_path);
    NSC_STORE(&listens, (uint32_t)(error >= 0));
    return error;
}

static void answer(int client)
{
    struct nsc_control_request request;
    struct nsc_control_reply reply;
    int passed = -1;

    if (nsc_sys_readable(client, REQUEST_MS) != 1)
        return;
    if (nsc_sys_receive(client, &request, sizeof(request), &passed) == 0 &&
        request.magic == NSC_CONTROL_MAGIC) {
        reply.magic = NSC_CONTROL_MAGIC;
        reply.reserved = 0;
        switch (request.verb) {
        case NSC_CONTROL_MEMORY: /* a descriptor of this process is useless to the client */
        case NSC_CONTROL_DROP:
            reply.result = -EINVAL;
            break;
        case NSC_CONTROL_JOIN:
            reply.result = -EBADF;
            if (passed >= 0)
                reply.result = nsc_runtime_control(NSC_CONTROL_JOIN, (uint64_t)passed);
            if (reply.result == 0)
                passed = -1; /* nsc_runtime_control() has closed it */
            break;
        default:
            reply.result = nsc_runtime_control(request.verb, request.argument);
        }
        nsc_sys_send(client, &reply, sizeof(reply));
    }
    if (passed >= 0)
        nsc_sys_close(passed);
}

/* Serve one client. Returns -1 if @fd is no longer the endpoint's socket: the program has closed
 * descriptors that it did not open. */
static int serve(int fd, uint64_t cookie)
{
    uint32_t uid;
    int client;

    if (nsc_sys_socket_cookie(fd) != cookie)
        return -1;
    client = nsc_sys_accept(fd, &uid);
    if (client < 0) {
        if (client != -EAGAIN)
            nsc_sys_sleep_ns(PAUSE_NS);
        return 0;
    }
    if (uid == owner_uid || uid == 0)
        answer(client);
    nsc_sys_close(client);
    return 0;
}

/* Thread function. It ends once all other threads have ended: libc then ends the program. */
static void *listen_until_the_end(void *unused)
{
    int fd = make_socket();
    uint64_t cookie = fd >= 0 ? nsc_sys_socket_cookie(fd) : 0;
    unsigned wait_ms = LOOK_MS;
    int ready;
    enum nsc_sys_others others;

    (void)unused;
    nsc_sys_set_thread_name("nanoscope");
    while (fd >= 0) {
        ready = nsc_sys_readable(fd, wait_ms);
        if (ready < 0 || (ready > 0 && serve(fd, cookie) < 0))
            break;
        others = nsc_sys_other_threads();
        if (others == NSC_SYS_OTHERS_OVER)
            break;
        wait_ms = others == NSC_SYS_OTHERS_RUN ? LOOK_MS : LOOK_AGAIN_MS;
    }
    nsc_sys_set_signals(program_mask); /* code that runs at exit may need them */
    return NULL;
}

void nsc_endpoint_open(void)
{
    pthread_attr_t attributes, *with = NULL;
    pthread_t id;

    if (&pthread_create == NULL)
        return;
    owner_pid = nsc_sys_pid();
    owner_uid = nsc_sys_uid();
    if (&pthread_attr_init != NULL && &pthread_attr_setstacksize != NULL &&
        &pthread_attr_setdetachstate != NULL && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        with = &attributes;
    }
    program_mask = nsc_sys_block_signals();
    nsc_sys_set_signals(program_mask | NOT_LIBCS);
    /* A program with much thread-local memory needs a larger stack. */
    if (pthread_create(&id, with, listen_until_the_end, NULL) != 0 && with != NULL)
        pthread_create(&id, NULL, listen_until_the_end, NULL);
    nsc_sys_set_signals(program_mask);
}

__attribute__((destructor)) static void remove_socket(void)
{
    if (NSC_LOAD(&listens) && owner_pid == nsc_sys_pid())
        nsc_sys_remove(socket_path);
}
