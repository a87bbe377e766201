/* emit.c - functions and files of a generated program; see generate.c. */
#include "emit.h"

#include <stdlib.h>

const char *gen_real_type(const struct function *f)
{
    static const char *const types[] = {"double", "long double", "float", "__int128"};

    return types[f->index % 4];
}

/* ---- Functions ---- */

/* Return type, name as given and parameters of @f, as in its declaration. */
static void put_head(struct gen *g, const struct function *f, const char *name)
{
    const char *real = gen_real_type(f);

    switch ((unsigned)f->kind) {
    case KIND_VARIADIC:
        fprintf(g->out, "unsigned %s(int n, int count, ...)", name);
        break;
    case KIND_STRUCT:
        fprintf(g->out, "struct gen_words %s(int n, unsigned r0)", name);
        break;
    case KIND_DOUBLE:
        fprintf(g->out, "%s %s(int n, %s x)", real, name, real);
        break;
    case KIND_PAIR:
        fprintf(g->out, "struct gen_pair %s(int n, unsigned r0)", name);
        break;
    case KIND_MANY:
        fprintf(
            g->out,
            "unsigned %s(int n, unsigned r0, int a, int b, int c, int d, int e, unsigned f, int g, "
            "double h, double i, double j, double k, double l, double m, double o, double p, "
            "unsigned q)",
            name);
        break;
    default:
        fprintf(g->out, "unsigned %s(int n, unsigned r0)", name);
        break;
    }
}

static const char *bare_name(const struct function *f)
{
    const char *name = f->name;

    for (const char *p = f->name; *p != 0; p++)
        if (p[0] == ':' && p[1] == ':')
            name = p + 2;
    return name;
}

static void declare(struct gen *g, const struct function *f)
{
    char name[16];

    if (f->kind == KIND_METHOD)
        return; /* in its class */
    if (f->space)
        fputs("namespace space { ", g->out);
    if (f->kind == KIND_TEMPLATE) {
        snprintf(name, sizeof name, "u%u", f->index);
        fprintf(g->out, "template <typename T> T %s(int n, T r0);\n", name);
        fprintf(g->out, "template <> unsigned %s<unsigned>(int n, unsigned r0)", name);
    } else {
        if (f->is_static)
            fputs("static ", g->out);
        put_head(g, f, bare_name(f));
    }
    fputs(f->space ? "; }\n" : ";\n", g->out);
}

static void enter(struct gen *g, const struct function *f)
{
    static const char *const sizes[] = {"20000", "300000", "2000000"};
    const char *size = sizes[(f->index + (unsigned)g->seed) % 3];

    if (f->kind != KIND_BIG) {
        gen_line(g, "oracle_enter(\"%s\");", f->name);
        gen_open(g, "if (n > 0 && oracle_fuel())");
        return;
    }
    gen_line(g, "volatile char big[%s];", size);
    gen_line(g, "int room = oracle_enter_big(\"%s\", %s);", f->name, size);
    gen_line(g, "big[0] = big[sizeof big - 1] = (char)r;");
    gen_open(g, "if (n > 0 && room && oracle_fuel())");
}

static void put_tail(struct gen *g, const struct function *f)
{
    const struct function *callee = &g->functions[gen_below(g, g->uniform)];
    unsigned k = gen_below(g, 100);

    /* Not itself: the compiler may turn that into a loop, and then there is one call only. */
    if (callee == f)
        callee = callee == g->functions ? f + 1 : f - 1;
    gen_line(g, "oracle_tail();");
    if (gen_chance(g, 25))
        gen_line(g, "return table[r %% %uu](n - 1, r + %uu);", g->uniform, k);
    else
        gen_line(g, "return %s(n - 1, r + %uu);", callee->name, k);
}

static void put_try_long(struct gen *g)
{
    static const char *const setjmps[] = {"setjmp(e.env)", "_setjmp(e.env)", "sigsetjmp(e.env, 1)"};

    gen_line(g, "struct oracle_env e;");
    gen_line(g, "oracle_try(&e);");
    gen_open(g, "if (%s == 0)", setjmps[g->jump_flavour]);
    gen_statements(g, 3);
    gen_line(g, "oracle_try_end(&e);");
    g->indent--;
    gen_open(g, "} else");
    gen_line(g, "oracle_caught(&e);");
    gen_line(g, "r += 77u;");
    if (gen_chance(g, 70))
        gen_statements(g, 2);
    gen_close(g);
}

static void put_catch(struct gen *g, const char *what, const char *value)
{
    g->indent--;
    gen_open(g, "} catch (%s)", what);
    gen_line(g, "oracle_unwound(depth);");
    gen_line(g, "r += %s;", value);
    if (gen_chance(g, 60))
        gen_statements(g, 2);
    if (gen_chance(g, 30))
        gen_line(g, "if ((r & 3u) == %uu) throw;", gen_below(g, 4));
}

static void put_try_throw(struct gen *g)
{
    gen_line(g, "unsigned depth = oracle_depth();");
    gen_open(g, "try");
    gen_statements(g, 3);
    if (gen_chance(g, 70))
        put_catch(g, "Error0 &caught", "caught.value");
    else
        put_catch(g, "Error1 &caught", "caught.value + 1u");
    if (gen_chance(g, 50))
        put_catch(g, "...", "31u");
    gen_close(g);
}

/* What the function does while it may go on calling. */
static void put_body(struct gen *g, const struct function *f)
{
    g->in_try_function = f->kind == KIND_TRY;
    if (f->kind == KIND_ALLOCA) {
        gen_line(g, "volatile char *p = (volatile char *)alloca(16 + (r & %u));",
                 gen_chance(g, 50) ? 255u : 16383u);
        gen_line(g, "p[0] = 1;");
    }
    if (f->kind == KIND_TRY && g->jump == JUMP_LONG)
        put_try_long(g);
    if (f->kind == KIND_TRY && g->jump == JUMP_THROW)
        put_try_throw(g);
    if (f->kind == KIND_NESTED)
        gen_line(g, "r += INNER%u(2);", f->index);
    if (f->kind == KIND_TAIL) {
        if (gen_chance(g, 40))
            gen_call(g);
        put_tail(g, f);
    } else {
        gen_statements(g, 4);
    }
    g->in_try_function = false;
}

static void put_locals(struct gen *g, const struct function *f)
{
    switch ((unsigned)f->kind) {
    case KIND_VARIADIC:
        gen_line(g, "va_list ap;");
        gen_line(g, "va_start(ap, count);");
        gen_line(g, "unsigned r = va_arg(ap, unsigned);");
        gen_line(g, "r += (unsigned)(va_arg(ap, double) * 2);");
        gen_line(g, "r += (unsigned)va_arg(ap, unsigned long long);");
        gen_line(g, "r += (unsigned)va_arg(ap, double);");
        gen_line(g, "va_end(ap);");
        break;
    case KIND_DOUBLE:
        gen_line(g, "unsigned r = (unsigned)x;");
        break;
    case KIND_MANY:
        gen_line(g, "unsigned r = r0 + (unsigned)(a + 2 * b + 3 * c + 4 * d + 5 * e + 7 * g) + f;");
        gen_line(g,
                 "r += (unsigned)(h + 2 * i + 3 * j + 4 * k + 5 * l + 6 * m + 7 * o + 8 * p) + q;");
        break;
    case KIND_TRY:
        gen_line(g, "volatile unsigned r = r0;");
        break;
    default:
        gen_line(g, "unsigned r = r0;");
        break;
    }
}

/* gcc: a nested function, which reaches r through the static chain; clang: an ordinary one. */
static void put_inner(struct gen *g, const struct function *f)
{
    unsigned i = f->index;

    fputs("#ifndef __clang__\n", g->out);
    gen_open(g, "TRACED unsigned inner%u(int k)", i);
    gen_line(g, "oracle_enter(\"inner%u\");", i);
    gen_line(g, "if (k > 0)");
    gen_line(g, "    r += inner%u(k - 1);", i);
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r + (unsigned)n;");
    gen_close(g);
    fprintf(g->out, "#define INNER%u(k) inner%u(k)\n#else\n", i, i);
    fprintf(g->out, "#define INNER%u(k) inner%u(&r, n, k)\n#endif\n", i, i);
}

static void put_inner_for_clang(struct gen *g, const struct function *f)
{
    unsigned i = f->index;

    fputs("#ifdef __clang__\n", g->out);
    gen_open(g, "TRACED static unsigned inner%u(unsigned *r, int n, int k)", i);
    gen_line(g, "oracle_enter(\"inner%u\");", i);
    gen_line(g, "if (k > 0)");
    gen_line(g, "    *r += inner%u(r, n, k - 1);", i);
    gen_line(g, "oracle_leave();");
    gen_line(g, "return *r + (unsigned)n;");
    gen_close(g);
    fputs("#endif\n", g->out);
}

static void put_return(struct gen *g, const struct function *f)
{
    switch ((unsigned)f->kind) {
    case KIND_BIG:
        gen_line(g, "r += (unsigned)(big[0] & 1) + (unsigned)(big[sizeof big - 1] & 1);");
        gen_line(g, "oracle_leave();");
        gen_line(g, "return r;");
        break;
    case KIND_STRUCT:
        gen_line(g, "struct gen_words w;");
        gen_line(g, "for (unsigned i = 0; i < 8; i++)");
        gen_line(g, "    w.words[i] = r + i;");
        gen_line(g, "oracle_leave();");
        gen_line(g, "return w;");
        break;
    case KIND_DOUBLE:
        gen_line(g, "oracle_leave();");
        gen_line(g, "return (%s)(r & 4095u);", gen_real_type(f));
        break;
    case KIND_PAIR:
        gen_line(g, "struct gen_pair pair = {(long)r, (double)(r & 255u)};");
        gen_line(g, "oracle_leave();");
        gen_line(g, "return pair;");
        break;
    default:
        gen_line(g, "oracle_leave();");
        gen_line(g, "return r;");
        break;
    }
}

static void define(struct gen *g, const struct function *f)
{
    fputc('\n', g->out);
    if (f->kind == KIND_NESTED)
        put_inner_for_clang(g, f);
    if (f->kind == KIND_TEMPLATE) {
        fprintf(g->out, "template <> TRACED unsigned u%u<unsigned>(int n, unsigned r0)", f->index);
    } else {
        /* Inlined, these would make the frames of all their callers large. */
        if (f->kind == KIND_BIG || f->kind == KIND_ALLOCA)
            fputs("__attribute__((noinline)) ", g->out);
        fputs("TRACED ", g->out);
        if (f->is_static && f->kind != KIND_METHOD && !f->space)
            fputs("static ", g->out);
        put_head(g, f, f->name);
    }
    fputc('\n', g->out);
    gen_block(g);
    put_locals(g, f);
    if (f->kind == KIND_NESTED)
        put_inner(g, f);
    if (f->kind == KIND_TRY && g->jump == JUMP_NONE)
        abort();
    enter(g, f);
    put_body(g, f);
    gen_close(g);
    put_return(g, f);
    gen_close(g);
}

/* ---- Parts that a program has once ---- */

static void put_prelude(struct gen *g)
{
    static const char *const lines[] = {
        "#include <alloca.h>",
        "#include <pthread.h>",
        "#include <signal.h>",
        "#include <stdarg.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include \"oracle.h\"",
        "",
        "#define NOTRACE static inline __attribute__((always_inline, no_instrument_function))",
        "struct gen_words { unsigned words[8]; };",
        "struct gen_pair { long a; double b; };",
        "NOTRACE unsigned gen_pair_sum(struct gen_pair p)",
        "{",
        "    return (unsigned)p.a + (unsigned)p.b;",
        "}",
        "static void *volatile gen_null;",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        gen_line(g, "%s", lines[i]);
    if (g->header)
        gen_line(g, "#define TRACED");
    else
        gen_line(g, "#ifdef __clang__\n#define TRACED __attribute__((noinline))\n#else\n"
                    "#define TRACED __attribute__((noinline, noclone))\n#endif");
    if (g->cpp)
        gen_line(g, "extern \"C\" {");
    gen_line(g, "unsigned aside_call(unsigned (*f)(int, unsigned), int n, unsigned r);");
    gen_line(g, "unsigned aside_sort(int (*compare)(const void *, const void *), unsigned r);");
    if (g->cpp)
        gen_line(g, "}");
}

static void put_classes(struct gen *g)
{
    for (unsigned i = 0; i < 2; i++) {
        gen_line(g, "struct Error%u { unsigned value; };", i);
        gen_line(
            g, "struct Guard%u { unsigned depth; TRACED Guard%u(unsigned d); TRACED ~Guard%u(); };",
            i, i, i);
    }
    for (unsigned i = 0; i < 3; i++) {
        gen_open(g, "struct Thing%u", i);
        gen_line(g, "unsigned salt;");
        for (unsigned j = 0; j < g->count; j++)
            if (g->functions[j].kind == KIND_METHOD && g->functions[j].index % 3 == i)
                gen_line(g, "TRACED unsigned m%u(int n, unsigned r0);", g->functions[j].index);
        g->indent--;
        gen_line(g, "};");
    }
}

static void put_declarations(struct gen *g)
{
    for (unsigned i = 0; i < g->count; i++)
        declare(g, &g->functions[i]);
    fprintf(g->out, "static unsigned (*const volatile table[])(int, unsigned) = {");
    for (unsigned i = 0; i < g->uniform; i++)
        fprintf(g->out, "%s%s", i == 0 ? "" : ", ", g->functions[i].name);
    fputs("};\n", g->out);
    gen_line(g, "static int compare(const void *left, const void *right);");
    gen_line(g, "static unsigned co_run0(int n, unsigned r);");
    gen_line(g, "static unsigned co_run1(int n, unsigned r);");
    gen_line(g, "static unsigned fork_run(int n, unsigned r);");
    gen_line(g, "static void gone(int n, unsigned r) __attribute__((noreturn));");
    gen_line(g, "static void leave_thread(void) __attribute__((noreturn));");
}

static void put_small_functions(struct gen *g)
{
    for (unsigned i = 0; i < 2; i++) {
        gen_open(g, "TRACED static unsigned h%u(unsigned r)", i);
        gen_line(g, "oracle_enter(\"h%u\");", i);
        gen_line(g, i == 0 ? "r *= 3u;" : "r = h0(r) + h0(r + 1u);");
        gen_line(g, "oracle_leave();");
        gen_line(g, "return r;");
        gen_close(g);
    }
    gen_open(g, "TRACED static int compare(const void *left, const void *right)");
    gen_line(g, "oracle_enter(\"compare\");");
    gen_line(g, "int a = *(const int *)left, b = *(const int *)right;");
    gen_line(g, "oracle_leave();");
    gen_line(g, "return a < b ? -1 : a > b;");
    gen_close(g);
    if (!g->guards)
        return;
    for (unsigned i = 0; i < 2; i++) {
        gen_open(g, "TRACED Guard%u::Guard%u(unsigned d) : depth(d)", i, i);
        gen_line(g, "oracle_enter(\"Guard%u::Guard%u\");", i, i);
        gen_line(g, "oracle_leave();");
        gen_close(g);
        gen_open(g, "TRACED Guard%u::~Guard%u()", i, i);
        gen_line(g, "oracle_unwound(depth);");
        gen_line(g, "oracle_enter(\"Guard%u::~Guard%u\");", i, i);
        if (i == 1)
            gen_line(g, "h1(depth);");
        gen_line(g, "oracle_leave();");
        gen_close(g);
    }
}

static void put_gone(struct gen *g)
{
    static const char *const longjmps[] = {"longjmp", "_longjmp", "siglongjmp"};

    gen_open(g, "TRACED static void gone(int n, unsigned r)");
    gen_line(g, "oracle_enter(\"gone\");");
    if (g->jump == JUMP_THROW)
        gen_line(g, "throw Error0{r & 127u};");
    else if (g->jump == JUMP_LONG)
        gen_line(g, "%s(oracle_target(0)->env, 1);", longjmps[g->jump_flavour]);
    else
        gen_line(g, "exit(3);");
    gen_close(g);
    gen_open(g, "TRACED static void leave_thread(void)");
    gen_line(g, "oracle_enter(\"leave_thread\");");
    gen_line(g, "pthread_exit(NULL);");
    gen_close(g);
}

static void put_handler(struct gen *g, const char *name, bool jumps)
{
    gen_open(g, "TRACED static void %s(int number)", name);
    gen_line(g, "struct oracle_stack *before = oracle_handler_begin();");
    gen_line(g, "oracle_enter(\"%s\");", name);
    gen_line(g, "h1((unsigned)number);");
    if (jumps)
        gen_line(g, "siglongjmp(oracle_signal_target()->env, 1);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "oracle_handler_end(before);");
    gen_close(g);
}

static void put_handlers(struct gen *g)
{
    put_handler(g, "on_usr1", false);
    if (g->signal_jumps) {
        put_handler(g, "on_usr2", true);
        put_handler(g, "on_fault", true);
    }
    gen_open(g, "TRACED static void on_alarm(int number)");
    gen_line(g, "oracle_async_begin();");
    gen_line(g, "oracle_enter(\"on_alarm\");");
    gen_line(g, "if (oracle_timer_count() & 1)");
    gen_line(g, "    h1((unsigned)number);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "oracle_async_end();");
    gen_close(g);
    gen_open(g, "TRACED static void at_end(void)");
    gen_line(g, "oracle_enter(\"at_end\");");
    gen_line(g, "h1(1);");
    gen_line(g, "oracle_leave();");
    gen_close(g);
}

static void put_coroutine(struct gen *g, unsigned index)
{
    gen_open(g, "TRACED static void co_entry%u(void)", index);
    gen_line(g, "oracle_enter(\"co_entry%u\");", index);
    gen_line(g, "struct oracle_coroutine *c = oracle_coroutine_self();");
    gen_line(g, "volatile unsigned r = c->value;");
    gen_line(g, "int n = c->n;");
    if (g->jump == JUMP_THROW)
        gen_open(g, "try");
    gen_open(g, "for (volatile int k = 0; k < %u; k++)", 1 + gen_below(g, 3));
    gen_call(g);
    gen_line(g, "c->value = r;");
    gen_line(g, "oracle_go_out(c);");
    gen_line(g, "swapcontext(&c->inside, &c->outside);");
    gen_close(g);
    if (g->jump == JUMP_THROW) {
        g->indent--;
        gen_open(g, "} catch (...)");
        gen_line(g, "oracle_unwound(1);");
        gen_line(g, "r += 3u;");
        gen_close(g);
    }
    gen_line(g, "c->value = r;");
    gen_line(g, "c->done = 1;");
    gen_line(g, "oracle_leave();");
    gen_line(g, "oracle_go_out(c);");
    gen_close(g);

    gen_open(g, "TRACED static unsigned co_run%u(int n, unsigned r)", index);
    gen_line(g, "oracle_enter(\"co_run%u\");", index);
    gen_line(g, "struct oracle_coroutine *c = NULL;");
    gen_line(g, "if (n > 0 && oracle_fuel())");
    gen_line(g, "    c = oracle_coroutine_new(co_entry%u, n, r);", index);
    gen_open(g, "for (int i = 0; c != NULL && i < %u && !c->done; i++)", 1 + gen_below(g, 5));
    gen_line(g, "oracle_go_in(c);");
    gen_line(g, "swapcontext(&c->outside, &c->inside);");
    gen_line(g, "r += c->value;");
    if (gen_chance(g, 60))
        gen_call(g);
    gen_close(g);
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
}

static void put_fork(struct gen *g)
{
    gen_open(g, "TRACED static unsigned fork_run(int n, unsigned r)");
    gen_line(g, "oracle_enter(\"fork_run\");");
    gen_open(g, "if (n > 0 && oracle_fuel())");
    gen_line(g, "int pid = oracle_fork();");
    gen_open(g, "if (pid == 0)");
    gen_call(g);
    gen_call(g);
    if (gen_chance(g, 50))
        gen_line(g, "oracle_die((int)(r & 7u));");
    g->indent--;
    gen_open(g, "} else if (pid > 0)");
    gen_line(g, "r += oracle_wait(pid);");
    gen_close(g);
    gen_close(g);
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
}

static void put_plugin_run(struct gen *g)
{
    gen_open(g, "TRACED static unsigned plugin_run(unsigned index, int n, unsigned r)");
    gen_line(g, "oracle_enter(\"plugin_run\");");
    gen_line(g, "void *handle;");
    gen_line(g, "void *f = oracle_plugin_open(index, index ? \"plugin1_main\" : \"plugin0_main\", "
                "&handle);");
    gen_line(
        g,
        "r += ((unsigned (*)(int, unsigned, unsigned (*)(int, unsigned)))f)(n - 1, r, table[0]);");
    gen_line(g, "oracle_plugin_close(handle);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
}

/* ---- Top level of the program ---- */

static void put_root_calls(struct gen *g)
{
    for (unsigned i = 0; i < 4; i++)
        gen_call(g);
}

static void put_extras_calls(struct gen *g)
{
    if (g->plugins)
        for (unsigned i = 0; i < 5; i++)
            gen_line(g, "r += plugin_run(%u, n - 1, r);", gen_below(g, 2));
    if (g->forks)
        gen_line(g, "r += fork_run(n, r);");
}

/* A function that lets no exception out. */
static void put_safe(struct gen *g, const char *name, void (*put_calls)(struct gen *g))
{
    gen_open(g, "TRACED static unsigned %s(int n, unsigned r0)", name);
    gen_line(g, "volatile unsigned r = r0;");
    gen_line(g, "oracle_enter(\"%s\");", name);
    if (g->jump == JUMP_THROW) {
        gen_line(g, "unsigned depth = oracle_depth();");
        gen_open(g, "try");
    }
    put_calls(g);
    if (g->jump == JUMP_THROW) {
        g->indent--;
        gen_open(g, "} catch (...)");
        gen_line(g, "oracle_unwound(depth);");
        gen_line(g, "r += 99u;");
        gen_close(g);
    }
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
}

static void put_root(struct gen *g)
{
    if (g->deep) {
        gen_open(g, "TRACED static unsigned deep(int n, unsigned r)");
        gen_line(g, "oracle_enter(\"deep\");");
        gen_line(g, "if (n > 0)");
        gen_line(g, "    r += deep(n - 1, r + 1u) ^ 3u;");
        gen_line(g, "oracle_leave();");
        gen_line(g, "return r;");
        gen_close(g);
    }
    put_safe(g, "root", put_root_calls);
    put_safe(g, "extras", put_extras_calls);
    if (g->threads == 0)
        return;
    gen_line(g, "static unsigned results[8];");
    gen_open(g, "TRACED static void *thread_body(void *arg)");
    gen_line(g, "oracle_enter(\"thread_body\");");
    if (g->alternate)
        gen_line(g, "oracle_alternate_stack();");
    gen_line(g, "unsigned *result = (unsigned *)arg;");
    gen_line(g, "unsigned r = root(9, (unsigned)(result - results));");
    gen_line(g, "*result = root(9, r);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "return NULL;");
    gen_close(g);
}

static void put_main_setup(struct gen *g)
{
    if (g->alternate)
        gen_line(g, "oracle_alternate_stack();");
    if (g->signals)
        gen_line(g, "oracle_handle(SIGUSR1, on_usr1, %d);", g->alternate);
    if (g->signal_jumps) {
        gen_line(g, "oracle_handle(SIGUSR2, on_usr2, %d);", g->alternate);
        gen_line(g, "oracle_handle(SIGSEGV, on_fault, %d);", g->alternate);
    }
    if (g->at_exit)
        gen_line(g, "atexit(at_end);");
    if (g->timer)
        gen_line(g, "oracle_timer(on_alarm, %u);", 50 + gen_below(g, 400));
    for (unsigned i = 0; i < g->threads; i++)
        gen_line(g, "oracle_thread_start(%u, thread_body, &results[%u], %d);", i, i,
                 g->timer && gen_chance(g, 50));
}

static void put_main(struct gen *g)
{
    gen_open(g, "TRACED static void finish(unsigned r)");
    gen_line(g, "oracle_enter(\"finish\");");
    gen_line(g, g->exit_style == 2 ? "oracle_die(0);" : "exit(0);");
    gen_close(g);
    gen_open(g, "int main(void)");
    gen_line(g, "oracle_enter(\"main\");");
    gen_line(g, "unsigned r = %lluu;", (unsigned long long)(g->seed & 0xffff));
    put_main_setup(g);
    for (unsigned i = 0; i < 6; i++)
        gen_line(g, "r += root(%u, r);", 7 + gen_below(g, 6));
    gen_line(g, "r += extras(5, r);");
    if (g->deep)
        gen_line(g, "r += deep(%u, r);", 1000 + gen_below(g, 3000));
    gen_line(g, "r += root(8, r);");
    for (unsigned i = 0; i < g->threads; i++) {
        gen_open(g, "if (!oracle_is_child())");
        gen_line(g, "oracle_thread_join(%u);", i);
        gen_line(g, "r += results[%u];", i);
        gen_close(g);
    }
    gen_line(g, "printf(\"%%s %%u\\n\", oracle_is_child() ? \"child\" : \"result\", r);");
    if (g->exit_style != 0)
        gen_line(g, "finish(r);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "return 0;");
    gen_close(g);
}

/* ---- Files ---- */

static void open_output(struct gen *g, const char *folder, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    g->out = fopen(path, "w");
    if (g->out == NULL) {
        perror(path);
        exit(1);
    }
}

static void close_output(struct gen *g)
{
    if (fclose(g->out) != 0) {
        perror("generate");
        exit(1);
    }
}

void gen_program(struct gen *g, const char *folder)
{
    open_output(g, folder, g->cpp ? "prog.cc" : "prog.c");
    put_prelude(g);
    if (g->cpp)
        put_classes(g);
    put_declarations(g);
    put_small_functions(g);
    put_gone(g);
    put_handlers(g);
    put_coroutine(g, 0);
    put_coroutine(g, 1);
    put_fork(g);
    for (unsigned i = 0; i < g->count; i++)
        define(g, &g->functions[i]);
    put_plugin_run(g);
    put_root(g);
    put_main(g);
    close_output(g);
}

void gen_aside(struct gen *g, const char *folder)
{
    open_output(g, folder, g->cpp ? "aside.cc" : "aside.c");
    gen_line(g, "#include <stdlib.h>");
    if (g->cpp)
        gen_line(g, "extern \"C\" {");
    gen_open(g, "unsigned aside_call(unsigned (*f)(int, unsigned), int n, unsigned r)");
    gen_line(g, "return n > 0 ? f(n, r) + 1u : r;");
    gen_close(g);
    gen_open(g, "unsigned aside_sort(int (*compare)(const void *, const void *), unsigned r)");
    gen_line(g, "int values[5];");
    gen_line(g, "for (unsigned i = 0; i < 5; i++)");
    gen_line(g, "    values[i] = (int)((r >> i) & 15u);");
    gen_line(g, "qsort(values, 5, sizeof values[0], compare);");
    gen_line(g, "return (unsigned)values[2];");
    gen_close(g);
    if (g->cpp)
        gen_line(g, "}");
    close_output(g);
}

void gen_plugin(struct gen *g, const char *folder, unsigned index)
{
    char name[16];

    snprintf(name, sizeof name, "plugin%u.c", index);
    open_output(g, folder, name);
    gen_line(g, "#include \"oracle.h\"");
    gen_open(g, "static unsigned __attribute__((noinline)) plugin%u_a(unsigned r)", index);
    gen_line(g, "oracle_enter(\"plugin%u_a\");", index);
    gen_line(g, "r = r * %uu + 1u;", 3 + index);
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
    gen_open(g, "unsigned plugin%u_main(int n, unsigned r, unsigned (*back)(int, unsigned))",
             index);
    gen_line(g, "oracle_enter(\"plugin%u_main\");", index);
    gen_line(g, "for (int i = 0; i < %u; i++)", 1 + gen_below(g, 3));
    gen_line(g, "    r += plugin%u_a(r);", index);
    gen_line(g, "if (n > 0)");
    gen_line(g, "    r += back(n - 1, r);");
    gen_line(g, "oracle_leave();");
    gen_line(g, "return r;");
    gen_close(g);
    close_output(g);
}
