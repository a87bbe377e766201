/*
 * control.c - the control function: starts and ends a recording inside the running program. Called
 * through control_call.S by a tracer, the endpoint or the program.
 *
 * The calling thread may have been stopped anywhere: in malloc, the dynamic linker, or the slow
 * path. So this code does not touch thread-local memory, takes no lock, and does not wait for
 * another thread of the program. The slow path and the loading of modules must tolerate being
 * stopped at any point.
 */
#include "linux/control/control.h"

#include <errno.h>

#include "abi/hook.h"
#include "linux/events/cpu_sampler.h"
#include "linux/patch/module.h"
#include "linux/session/current_session.h"
#include "linux/sys/sys.h"

/* Descriptor of the newest memory file, plus 1, until a session has been joined with it or it is
 * dropped. */
static uint32_t made;

int nsc_control_in_use(void)
{
    uint32_t user = NSC_LOAD(&nsc_control_user);

    return user != 0 && user == nsc_sys_pid();
}

static int64_t make_memory(void)
{
    int fd = nsc_sys_memory_file();

    if (fd >= 0)
        made = (uint32_t)fd + 1;
    return fd;
}

static int64_t drop_memory(uint64_t fd)
{
    if (made == 0 || fd != made - 1)
        return -EBADF;
    nsc_sys_close((int)fd);
    made = 0;
    return 0;
}

/* Close session @s, whose recorder died without closing it. */
static void bury(struct nsc_target_session *s)
{
    NSC_STORE(&s->header->recorder_state, NSC_LIVE_RECORDER_CLOSED);
    NSC_STORE(&s->off, 1);
    nsc_modules_turn(NULL);
}

static int64_t join(uint64_t fd)
{
    struct nsc_target_session *before = NSC_LOAD(&nsc_session_current), *s;
    int result;

    if (fd > INT32_MAX)
        return -EBADF;
    if (nsc_session_is_open(before))
        return -EBUSY;
    result = nsc_session_open((int)fd, nsc_cpu_sampler_tick, &s);
    if (result < 0)
        return result;
    if (before != NULL && NSC_LOAD(&before->header->recorder_state) == NSC_LIVE_RECORDER_OPEN)
        bury(before);
    s->hooks_off = 1;
    if (nsc_session_begin(s, before) < 0) {
        nsc_session_abandon(s);
        return -EBUSY;
    }
    nsc_modules_join(s);
    NSC_STORE(&s->hooks_off, 0);
    nsc_session_hooks_follow(s);
    nsc_sys_close((int)fd);
    if (fd + 1 == made)
        made = 0;
    return 0;
}

static int64_t apply(void)
{
    struct nsc_target_session *s = nsc_session_present();

    if (s == NULL || NSC_LOAD(&s->header->recorder_state) != NSC_LIVE_RECORDER_OPEN)
        return -ENOTCONN;
    NSC_STORE(&s->hooks_off, 0);
    nsc_modules_turn(s);
    nsc_session_hooks_follow(s);
    __atomic_fetch_and(&s->header->flags, ~NSC_LIVE_FLAG_HOLD, __ATOMIC_RELEASE);
    return 0;
}

static int64_t turn_off(void)
{
    struct nsc_target_session *s = NSC_LOAD(&nsc_session_current);

    if (s != NULL)
        NSC_STORE(&s->hooks_off, 1);
    nsc_modules_turn(NULL);
    nsc_session_hooks_follow(s);
    return 0;
}

static int64_t obey(uint64_t verb, uint64_t argument)
{
    switch (verb) {
    case NSC_CONTROL_HELLO:
        return NSC_CONTROL_VERSION;
    case NSC_CONTROL_MEMORY:
        return make_memory();
    case NSC_CONTROL_JOIN:
        return join(argument);
    case NSC_CONTROL_APPLY:
        return apply();
    case NSC_CONTROL_OFF:
        return turn_off();
    case NSC_CONTROL_DROP:
        return drop_memory(argument);
    default:
        return -EINVAL;
    }
}

int64_t nsc_control_run(uint64_t verb, uint64_t argument)
{
    /* A handler would run on this small stack, and might not return. */
    uint64_t mask = nsc_sys_block_signals();
    int64_t result = obey(verb, argument);

    nsc_sys_set_signals(mask);
    return result;
}
