/*
 * nanoscope.h - the C interface for programs built for tracing. Everything here may be used whether
 * or not the runtime is linked: without it (or when the program is not recorded) nothing happens.
 *
 * Clean in C99 and C++11; needs gcc or clang. Link flags come from `nanoscope flags`.
 */
#ifndef NANOSCOPE_NANOSCOPE_H
#define NANOSCOPE_NANOSCOPE_H

#include <errno.h>

#define NANOSCOPE_VERSION_MAJOR 0
#define NANOSCOPE_VERSION_MINOR 1
#define NANOSCOPE_VERSION_PATCH 0
#define NANOSCOPE_VERSION       "0.1.0"

/* Put before a function's definition: the function gets no hook, whichever hook is in use. */
#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(xray_never_instrument) && __has_attribute(patchable_function_entry)
#define NANOSCOPE_NOTRACE                                                                          \
    __attribute__((__no_instrument_function__)) __attribute__((__xray_never_instrument__))         \
    __attribute__((__patchable_function_entry__(0)))
#endif
#endif
#ifndef NANOSCOPE_NOTRACE
#define NANOSCOPE_NOTRACE __attribute__((__no_instrument_function__))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * nanoscope_stack_switch - say that this thread is about to go on on another stack.
 * @from_key: any number that names the stack it leaves (an address, say); 0 = not named.
 * @to_key:   the number that names the stack it enters.
 *
 * For coroutine libraries that switch stacks with code of their own; swapcontext() and
 * setcontext() are known already. Call it from the stack that is left, right before the switch.
 *
 * The symbol is weak: it is a null pointer where the runtime is absent; nanoscope_switch() tests.
 * Context: any thread, signal handlers too; no system call in a thread that has recorded before.
 */
extern void nanoscope_stack_switch(unsigned long long from_key, unsigned long long to_key)
    __attribute__((__weak__));

/*
 * ---- Recording from inside the program -------------------------------------------------------
 *
 * The functions below may always be called: where the runtime is absent they do nothing, and the
 * first two return -ENOSYS. nanoscope_put_* and nanoscope_begin, nanoscope_end are what is behind
 * them, weak symbols of the runtime.
 */
extern int nanoscope_begin(const char *path) __attribute__((__weak__));
extern int nanoscope_end(const char *path) __attribute__((__weak__));
extern void nanoscope_put_mark(const char *name, const char *metadata) __attribute__((__weak__));
extern void nanoscope_put_counter(const char *name, unsigned long long value, int real)
    __attribute__((__weak__));

/**
 * nanoscope_start - begin to record this process, all its threads and what it forks.
 * @path: the trace to write; NULL: nanoscope_stop() says, or "<program>.nst" in this directory.
 *        A name that does not end in ".nst" gets its suffix's export format, or Nanoscope's text.
 *
 * Starts a recorder, a process that is nobody's child here, and returns when it records (some
 * tens of milliseconds). The recorder goes on after the program's end until the trace is complete.
 * The program `nanoscope` is looked for beside the runtime, then in /usr/local/bin and /usr/bin;
 * the environment variable NANOSCOPE names another.
 *
 * Returns 0, -EBUSY (the process is being recorded already, by whomever), -ENOENT (there is no
 * program `nanoscope`), -ENOSYS (no runtime), or what else hinders, as a negative errno.
 * Context: any thread, not a signal handler.
 */
NANOSCOPE_NOTRACE
static inline int nanoscope_start(const char *path)
{
    return nanoscope_begin ? nanoscope_begin(path) : -ENOSYS;
}

/**
 * nanoscope_stop - end the recording that nanoscope_start() began.
 * @path: what the trace is to be called, instead of what nanoscope_start() said; may be NULL.
 *
 * Returns at once; the trace is completed in the background, under another name until it is whole.
 * @path counts only if the process has the user that it had at nanoscope_start().
 * Returns 0, -ENOTCONN (no recording that this process began), -EBUSY (another thread begins or
 * ends a recording just now), -ENAMETOOLONG, -ENOSYS.
 */
NANOSCOPE_NOTRACE
static inline int nanoscope_stop(const char *path)
{
    return nanoscope_end ? nanoscope_end(path) : -ENOSYS;
}

/**
 * nanoscope_mark - put a mark at this instant into the thread's timeline.
 * @name:     what it is called.
 * @metadata: any text that goes with it; may be NULL. Name and metadata together are kept up to
 *            1440 bytes; a mark that was cut is told as such.
 *
 * Costs about as much as a few calls when recorded, next to nothing otherwise.
 * Context: any thread, signal handlers too.
 */
NANOSCOPE_NOTRACE
static inline void nanoscope_mark(const char *name, const char *metadata)
{
    if (nanoscope_put_mark)
        nanoscope_put_mark(name, metadata);
}

/**
 * nanoscope_counter - say what a counter of this thread is from now on.
 * @name: what it is called; kept up to 210 bytes.
 */
NANOSCOPE_NOTRACE
static inline void nanoscope_counter(const char *name, long long value)
{
    if (nanoscope_put_counter)
        nanoscope_put_counter(name, (unsigned long long)value, 0);
}

/** nanoscope_counter_real - the same for a number with a fraction. */
NANOSCOPE_NOTRACE
static inline void nanoscope_counter_real(const char *name, double value)
{
    unsigned long long bits;

    __builtin_memcpy(&bits, &value, sizeof(bits));
    if (nanoscope_put_counter)
        nanoscope_put_counter(name, bits, 1);
}

/**
 * nanoscope_version - version of the runtime that is loaded, e.g. "0.1.0"; weak as well.
 */
extern const char *nanoscope_version(void) __attribute__((__weak__));

/**
 * nanoscope_switch - nanoscope_stack_switch() if there is a runtime; keys as pointers.
 */
NANOSCOPE_NOTRACE
static inline void nanoscope_switch(const void *from_key, const void *to_key)
{
    if (nanoscope_stack_switch)
        nanoscope_stack_switch((unsigned long long)(__UINTPTR_TYPE__)from_key,
                               (unsigned long long)(__UINTPTR_TYPE__)to_key);
}

#ifdef __cplusplus
}
#endif

#endif
