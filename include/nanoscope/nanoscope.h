/*
 * nanoscope.h - the C interface for programs built for tracing. Everything here may be used whether
 * or not the runtime is linked: without it (or when the program is not recorded) nothing happens.
 *
 * Clean in C99 and C++11; needs gcc or clang. Link flags come from `nanoscope flags`.
 */
#ifndef NANOSCOPE_NANOSCOPE_H
#define NANOSCOPE_NANOSCOPE_H

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
