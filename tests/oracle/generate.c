/*
 * generate.c - writes a random program that knows its own call tree (see oracle.h).
 *
 * usage: generate SEED sleds|header FOLDER
 * Writes into FOLDER: prog.c or prog.cc, aside.c or aside.cc (compiled without tracing), plugin0.c
 * and plugin1.c (if the program loads plug-ins). The same seed gives the same program, everywhere.
 *
 * With `sleds` no traced function can be inlined, so that the tree is the source's whatever the
 * compiler does. With `header` any may be, and nothing leaves a function other than by returning.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

/* Bodies of functions nest no deeper than this. */
#define NEST_MAX 3

uint64_t gen_random(struct gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

unsigned gen_below(struct gen *g, unsigned n)
{
    return (unsigned)(gen_random(g) % n);
}

bool gen_chance(struct gen *g, unsigned percent)
{
    return gen_below(g, 100) < percent;
}

void gen_line(struct gen *g, const char *format, ...)
{
    va_list ap;

    fprintf(g->out, "%*s", 4 * g->indent, "");
    va_start(ap, format);
    vfprintf(g->out, format, ap);
    va_end(ap);
    fputc('\n', g->out);
}

void gen_open(struct gen *g, const char *format, ...)
{
    va_list ap;

    fprintf(g->out, "%*s", 4 * g->indent, "");
    va_start(ap, format);
    vfprintf(g->out, format, ap);
    va_end(ap);
    fputs(" {\n", g->out);
    g->indent++;
}

void gen_block(struct gen *g)
{
    gen_line(g, "{");
    g->indent++;
}

void gen_close(struct gen *g)
{
    g->indent--;
    gen_line(g, "}");
}

/* ---- What the program has ---- */

static void choose_features(struct gen *g)
{
    g->cpp = gen_chance(g, 45);
    if (!g->header)
        g->jump = g->cpp && gen_chance(g, 75) ? JUMP_THROW
                  : gen_chance(g, 85)         ? JUMP_LONG
                                              : JUMP_NONE;
    g->jump_flavour = gen_below(g, 3);
    g->guards = g->cpp && g->jump != JUMP_LONG && gen_chance(g, 60);
    g->signals = gen_chance(g, 35);
    g->signal_jumps = g->signals && !g->header && gen_chance(g, 60);
    g->alternate = g->signals && gen_chance(g, 40);
    g->timer = gen_chance(g, 30);
    g->coroutines = gen_chance(g, 30);
    g->plugins = gen_chance(g, 30);
    g->forks = gen_chance(g, 25);
    g->big = gen_chance(g, 40);
    g->deep = gen_chance(g, 30);
    g->threads = gen_chance(g, 40) ? 1 + gen_below(g, 4) : 0;
    g->thread_exit = g->threads > 0 && !g->cpp && !g->header && gen_chance(g, 40);
    g->exit_style = gen_below(g, 3);
    g->at_exit = gen_chance(g, 30);
}

static void add(struct gen *g, enum kind kind, unsigned count)
{
    for (unsigned i = 0; i < count && g->count < FUNCTIONS_MAX; i++) {
        static const char letters[] = "ftbpavsdqxnmug";
        struct function *f = &g->functions[g->count++];

        f->kind = kind;
        f->index = i;
        f->is_static = gen_chance(g, 40);
        f->space = g->cpp && kind != KIND_METHOD && gen_chance(g, 25);
        if (kind == KIND_METHOD)
            snprintf(f->name, sizeof f->name, "Thing%u::m%u", i % 3, i);
        else if (kind == KIND_TEMPLATE)
            snprintf(f->name, sizeof f->name, "u%u<unsigned int>", i);
        else
            snprintf(f->name, sizeof f->name, "%s%c%u", f->space ? "space::" : "", letters[kind],
                     i);
        if (kind == KIND_TEMPLATE)
            f->space = f->is_static = false;
    }
}

static void choose_functions(struct gen *g)
{
    add(g, KIND_PLAIN, 3 + gen_below(g, 8));
    add(g, KIND_TAIL, gen_below(g, 6));
    add(g, KIND_TRY, g->jump == JUMP_NONE ? 0 : 1 + gen_below(g, 4));
    add(g, KIND_BIG, g->big ? 1 + gen_below(g, 3) : 0);
    add(g, KIND_ALLOCA, gen_below(g, 3));
    g->uniform = g->count; /* those before have one signature and may be called through pointers */
    add(g, KIND_VARIADIC, gen_below(g, 2));
    add(g, KIND_STRUCT, gen_below(g, 3));
    add(g, KIND_DOUBLE, gen_below(g, 4));
    add(g, KIND_PAIR, gen_below(g, 2));
    add(g, KIND_MANY, gen_below(g, 2));
    add(g, KIND_NESTED, g->cpp ? 0 : gen_below(g, 2));
    add(g, KIND_METHOD, g->cpp ? gen_below(g, 4) : 0);
    add(g, KIND_TEMPLATE, g->cpp ? gen_below(g, 3) : 0);
}

/* ---- Calls ---- */

/* A call of @f as an expression of type unsigned; the surrounding function has n and r. */
static void put_call(struct gen *g, const struct function *f)
{
    unsigned k = gen_below(g, 1000);

    switch ((unsigned)f->kind) {
    case KIND_VARIADIC:
        fprintf(g->out, "%s(n - 1, 4, r, 2.5, %uull, (double)(r & 7))", f->name, k);
        break;
    case KIND_STRUCT:
        fprintf(g->out, "%s(n - 1, r + %uu).words[%u]", f->name, k, k % 8);
        break;
    case KIND_DOUBLE:
        fprintf(g->out, "(unsigned)%s(n - 1, (%s)(r & 1023))", f->name, gen_real_type(f));
        break;
    case KIND_PAIR:
        fprintf(g->out, "gen_pair_sum(%s(n - 1, r ^ %uu))", f->name, k);
        break;
    case KIND_MANY:
        fprintf(g->out,
                "%s(n - 1, r, 2, 3, 4, 5, 6, 7u, 8, 1., 2., 3., 4., 5., 6., 7., 8., r & 15)",
                f->name);
        break;
    case KIND_METHOD:
        fprintf(g->out, "Thing%u{%uu}.m%u(n - 1, r)", f->index % 3, k, f->index);
        break;
    case KIND_TEMPLATE:
        fprintf(g->out, "u%u<unsigned>(n - 1, r)", f->index);
        break;
    default:
        fprintf(g->out, "%s(n - 1, r + %uu)", f->name, k);
        break;
    }
}

void gen_call(struct gen *g)
{
    unsigned way = gen_below(g, 100);
    const struct function *f = &g->functions[gen_below(g, g->count)];

    fprintf(g->out, "%*sr += ", 4 * g->indent, "");
    if (way < 10)
        fprintf(g->out, "table[(r + %uu) %% %uu](n - 1, r)", gen_below(g, 99), g->uniform);
    else if (way < 20)
        fprintf(g->out, "aside_call(table[%u], n - 1, r)", gen_below(g, g->uniform));
    else
        put_call(g, f);
    fputs(";\n", g->out);
}

/* ---- Statements ---- */

static void put_jump(struct gen *g)
{
    static const char *const longjmps[] = {"longjmp", "_longjmp", "siglongjmp"};
    unsigned shift = gen_below(g, 20);

    if (g->jump == JUMP_THROW) {
        gen_open(g, "if ((r >> %u & 7u) == %uu)", shift, gen_below(g, 8));
        if (gen_chance(g, 30))
            gen_line(g, "gone(n, r);");
        else
            gen_line(g, "throw Error%u{r & 255u};", gen_below(g, 2));
        gen_close(g);
    } else if (g->jump == JUMP_LONG) {
        gen_open(g, "if ((r >> %u & 7u) == %uu)", shift, gen_below(g, 8));
        gen_line(g, "struct oracle_env *target = oracle_target(%u);",
                 gen_chance(g, 70) ? 0 : 1 + gen_below(g, 2));
        gen_line(g, "if (target != NULL)");
        if (gen_chance(g, 30))
            gen_line(g, "    gone(n, r);");
        else
            gen_line(g, "    %s(target->env, 1);", longjmps[g->jump_flavour]);
        gen_close(g);
    }
}

static void put_signal(struct gen *g)
{
    if (!g->signal_jumps || !g->in_try_function || gen_chance(g, 50)) {
        gen_line(g, "raise(SIGUSR1);");
        return;
    }
    gen_block(g);
    gen_line(g, "struct oracle_env e;");
    gen_line(g, "oracle_try(&e);");
    gen_open(g, "if (sigsetjmp(e.env, 1) == 0)");
    gen_line(g, "oracle_signal_env(&e);");
    gen_line(g, gen_chance(g, 50) ? "raise(SIGUSR2);" : "*(volatile int *)gen_null = 1;");
    gen_line(g, "oracle_try_end(&e);");
    g->indent--;
    gen_open(g, "} else");
    gen_line(g, "oracle_caught(&e);");
    gen_line(g, "r += 5u;");
    if (gen_chance(g, 60))
        gen_call(g);
    gen_close(g);
    gen_close(g);
}

static void put_special(struct gen *g)
{
    switch (gen_below(g, 6)) {
    case 0:
        if (g->coroutines)
            gen_line(g, "r += co_run%u(n - 1, r);", gen_below(g, 2));
        break;
    case 1:
        if (g->signals)
            put_signal(g);
        break;
    case 2:
        if (g->guards) {
            gen_block(g);
            gen_line(g, "Guard%u guard(oracle_depth());", gen_below(g, 2));
            gen_statements(g, 2);
            gen_close(g);
        }
        break;
    case 3:
        gen_line(g, "r += aside_sort(compare, r);");
        break;
    case 4:
        if (g->thread_exit && gen_chance(g, 30))
            gen_line(g, "if ((r & 31u) == 9u && oracle_may_exit_thread()) leave_thread();");
        break;
    default:
        if (g->forks && gen_chance(g, 50))
            gen_line(g, "r += fork_run(n - 1, r);");
        break;
    }
}

static void put_statement(struct gen *g)
{
    unsigned way = gen_below(g, 100);

    if (way < 50) {
        gen_call(g);
    } else if (way < 58) {
        gen_line(g, "r = r * 1664525u + %uu;", gen_below(g, 1000000));
    } else if (way < 66) {
        unsigned v = g->variables++;

        gen_open(g, "for (volatile int i%u = 0; i%u < %u; i%u++)", v, v, 1 + gen_below(g, 3), v);
        gen_statements(g, 2);
        gen_close(g);
    } else if (way < 74) {
        gen_open(g, "if (r & %uu)", 1u << gen_below(g, 12));
        gen_statements(g, 2);
        gen_close(g);
    } else if (way < 84) {
        put_jump(g);
    } else {
        put_special(g);
    }
}

void gen_statements(struct gen *g, unsigned most)
{
    unsigned count = 1 + gen_below(g, most);

    if (g->nest >= NEST_MAX) {
        gen_call(g);
        return;
    }
    g->nest++;
    for (unsigned i = 0; i < count; i++)
        put_statement(g);
    g->nest--;
}

/* ---- The files ---- */

static void choose_and_write(struct gen *g, const char *folder)
{
    choose_features(g);
    choose_functions(g);
    gen_program(g, folder);
    gen_aside(g, folder);
    if (g->plugins)
        for (unsigned i = 0; i < 2; i++)
            gen_plugin(g, folder, i);
}

int main(int argc, char **argv)
{
    static struct gen g;

    if (argc != 4 || (strcmp(argv[2], "sleds") != 0 && strcmp(argv[2], "header") != 0)) {
        fprintf(stderr, "usage: generate SEED sleds|header FOLDER\n");
        return 2;
    }
    g.seed = strtoull(argv[1], NULL, 0);
    g.state = g.seed * 0x2545f4914f6cdd1dull + 1;
    g.header = strcmp(argv[2], "header") == 0;
    choose_and_write(&g, argv[3]);
    return 0;
}
