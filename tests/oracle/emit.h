/*
 * emit.h - the generator's state, shared by generate.c (choices, statements) and emit.c (functions
 * and files).
 */
#ifndef ORACLE_EMIT_H
#define ORACLE_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FUNCTIONS_MAX 64

enum kind {
    KIND_PLAIN,
    KIND_TAIL,   /* ends in a tail call */
    KIND_BIG,    /* a frame of 20 KB to 2 MB */
    KIND_TRY,    /* catches jumps or exceptions */
    KIND_ALLOCA, /* a frame of a size known at run time */
    KIND_VARIADIC,
    KIND_STRUCT, /* returns a struct in memory */
    KIND_DOUBLE, /* floating point in and out */
    KIND_PAIR,   /* returns a struct in registers of two kinds */
    KIND_MANY,   /* arguments in registers and on the stack */
    KIND_NESTED, /* has a nested function (gcc) */
    KIND_METHOD,
    KIND_TEMPLATE,
};

enum jump { JUMP_NONE, JUMP_LONG, JUMP_THROW };

struct function {
    enum kind kind;
    unsigned index; /* among its kind */
    bool is_static, space;
    char name[40]; /* as the trace shows it, and as calls in the source write it */
};

struct gen {
    uint64_t seed, state;
    FILE *out;
    int indent;
    unsigned nest, variables;
    bool header, cpp, guards, signals, signal_jumps, alternate, timer, coroutines, plugins, forks,
        big, deep, thread_exit, at_exit;
    bool in_try_function; /* r is volatile here: it must survive a longjmp */
    enum jump jump;
    unsigned jump_flavour, threads, exit_style;
    struct function functions[FUNCTIONS_MAX];
    unsigned count, uniform;
};

uint64_t gen_random(struct gen *g);
unsigned gen_below(struct gen *g, unsigned n);
bool gen_chance(struct gen *g, unsigned percent);
void gen_line(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line that opens a block, and the line that closes it. */
void gen_open(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gen_block(struct gen *g); /* opens one without a head */
void gen_close(struct gen *g);
/* One to @most statements, or a call of something as one statement. */
void gen_statements(struct gen *g, unsigned most);
void gen_call(struct gen *g);
/* The floating-point type that a KIND_DOUBLE function works with. */
const char *gen_real_type(const struct function *f);

void gen_program(struct gen *g, const char *folder);
void gen_aside(struct gen *g, const char *folder);
void gen_plugin(struct gen *g, const char *folder, unsigned index);

#endif
