/*
 * oracle.h - how a generated program keeps its own call tree, to be compared with its trace.
 *
 * Included by the programs that generate.c writes. oracle.c is compiled without tracing and linked
 * into each of them. What happens in the program must not depend on addresses, time or the
 * compiler.
 *
 * Every traced function calls oracle_enter() first and oracle_leave() last; catch sites say how
 * deep they are, which ends everything above. The log keeps calls in pre-order, for each thread and
 * stack.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <setjmp.h>
#include <stddef.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Calls ---- */
void oracle_enter(const char *name);
void oracle_leave(void);
/* The function enters nothing any more but what it is about to call in tail position. */
void oracle_tail(void);
/* Like oracle_enter for a function with a frame of so many bytes; 0 = no room, do not go deeper. */
int oracle_enter_big(const char *name, size_t bytes);
/* Number of open calls on this stack. */
unsigned oracle_depth(void);
/* An exception ended all calls above the first @depth. */
void oracle_unwound(unsigned depth);
/* May this thread go on calling? Bounds the program. */
int oracle_fuel(void);

/* ---- setjmp and longjmp ---- */
struct oracle_stack;
struct oracle_env {
    sigjmp_buf env;
    unsigned depth;
    struct oracle_env *outer;
    struct oracle_stack *stack;
};
void oracle_try(struct oracle_env *e);     /* before setjmp(e->env) */
void oracle_try_end(struct oracle_env *e); /* nothing was caught */
void oracle_caught(struct oracle_env *e);  /* setjmp returned again */
/* The env to jump to: the innermost of this stack, or one @skip further out; NULL = none. */
struct oracle_env *oracle_target(unsigned skip);
/* For a signal handler: the env set last by oracle_signal_env() on this thread. */
void oracle_signal_env(struct oracle_env *e);
struct oracle_env *oracle_signal_target(void);

/* ---- Signals ---- */
/* Handlers of synchronous signals run on the alternate stack if there is one: first and last calls.
 */
struct oracle_stack *oracle_handler_begin(void);
void oracle_handler_end(struct oracle_stack *before);
/* Handlers of signals that come at any time have a log of their own. */
void oracle_async_begin(void);
void oracle_async_end(void);
void oracle_alternate_stack(void); /* this thread gets one */
void oracle_handle(int signal, void (*handler)(int), int on_alternate_stack);
void oracle_timer(void (*handler)(int), unsigned interval_us);
int oracle_timer_count(void); /* ends the timer after some rounds */

/* ---- Coroutines ---- */
struct oracle_coroutine {
    ucontext_t inside, outside;
    struct oracle_stack *stack, *caller;
    int n;
    unsigned value;
    int done;
};
struct oracle_coroutine *oracle_coroutine_new(void (*entry)(void), int n, unsigned value);
struct oracle_coroutine *oracle_coroutine_self(void);
void oracle_go_in(struct oracle_coroutine *c);  /* before switching to c->inside */
void oracle_go_out(struct oracle_coroutine *c); /* before switching to c->outside, or returning */

/* ---- Threads, processes, plugins ---- */
void oracle_thread_start(unsigned index, void *(*body)(void *), void *arg, int async);
void oracle_thread_join(unsigned index);
int oracle_may_exit_thread(void);
/* fork(), or -1 where this program may not fork (any more). */
int oracle_fork(void);
unsigned oracle_wait(int pid);
int oracle_is_child(void);
/* Writes the log and ends the process at once, by _exit. */
void oracle_die(int status) __attribute__((noreturn));
void *oracle_plugin_open(unsigned index, const char *entry, void **handle);
void oracle_plugin_close(void *handle);

#ifdef __cplusplus
}
#endif

#endif
