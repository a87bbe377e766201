/* The options that choose what is recorded: reading, writing, and what they let through. */
#include <errno.h>

#include "record/options/filter.h"
#include "tap.h"

static struct nsc_diag diag;

#define READ(text, filter) nsc_filter_read(text, sizeof(text) - 1, filter, &diag)

static void tests(void)
{
    struct nsc_filter f = {0};

    CHECK(nsc_filter_keeps_name(&f, "f") && nsc_filter_keeps_name(&f, NULL));
    CHECK(!nsc_filter_by_function(&f) && !nsc_filter_by_call(&f));
    CHECK(READ("only=a=b\0", &f) == 0);
    CHECK(nsc_filter_keeps_name(&f, "a=b") && !nsc_filter_keeps_name(&f, "a"));
    nsc_filter_free(&f);

    CHECK(READ("only=lua*\0except=*close\0only=/^main$/\0", &f) == 0);
    CHECK(nsc_filter_by_function(&f) && !nsc_filter_by_call(&f));
    CHECK(nsc_filter_keeps_name(&f, "main"));
    CHECK(nsc_filter_keeps_name(&f, "luaV_run"));
    CHECK(!nsc_filter_keeps_name(&f, "lua_close"));
    CHECK(!nsc_filter_keeps_name(&f, "domain"));
    CHECK(!nsc_filter_keeps_name(&f, NULL));
    CHECK(nsc_filter_keeps_file(&f, NULL) && nsc_filter_keeps_module(&f, NULL));
    nsc_filter_free(&f);

    CHECK(READ("file=l*.c\0file=src/b/x.c\0no-file=/lex/\0", &f) == 0);
    CHECK(nsc_filter_keeps_file(&f, "/home/me/lua/lvm.c"));
    CHECK(!nsc_filter_keeps_file(&f, "/home/me/lua/llex.c"));
    CHECK(nsc_filter_keeps_file(&f, "/home/me/src/b/x.c"));
    CHECK(!nsc_filter_keeps_file(&f, "/home/me/other/b/x.c"));
    CHECK(!nsc_filter_keeps_file(&f, NULL));
    nsc_filter_free(&f);

    CHECK(READ("no-module=libc.so*\0", &f) == 0);
    CHECK(nsc_filter_keeps_module(&f, "/usr/bin/lua"));
    CHECK(!nsc_filter_keeps_module(&f, "/lib/libc.so.6"));
    CHECK(nsc_filter_keeps_module(&f, NULL));
    nsc_filter_free(&f);

    CHECK(READ("thread=worker-*\0thread=77\0", &f) == 0);
    CHECK(nsc_filter_by_call(&f));
    CHECK(nsc_filter_keeps_thread(&f, "worker-3", 5));
    CHECK(nsc_filter_keeps_thread(&f, "main", 77));
    CHECK(!nsc_filter_keeps_thread(&f, "main", 5));
    CHECK(!nsc_filter_keeps_thread(&f, "77", 5));
    nsc_filter_free(&f);
}

static void roles(void)
{
    struct nsc_filter f = {0};

    CHECK(READ("trigger=handle*@12\0stopper=reply\0under=parse\0under=h*\0", &f) == 0);
    CHECK_U64(f.trigger_nth, 12);
    CHECK_U64(nsc_filter_roles(&f, "handle_one"), NSC_FILTER_TRIGGER | NSC_FILTER_CALLER);
    CHECK_U64(nsc_filter_roles(&f, "reply"), NSC_FILTER_STOPPER);
    CHECK_U64(nsc_filter_roles(&f, "parse"), NSC_FILTER_CALLER);
    CHECK_U64(nsc_filter_roles(&f, "other"), 0);
    CHECK_U64(nsc_filter_roles(&f, NULL), 0);
    nsc_filter_free(&f);

    CHECK(READ("trigger=memcpy@GLIBC\0", &f) == 0);
    CHECK_U64(f.trigger_nth, 0);
    CHECK_U64(nsc_filter_roles(&f, "memcpy@GLIBC"), NSC_FILTER_TRIGGER);
    nsc_filter_free(&f);
}

static void numbers(void)
{
    struct nsc_filter f = {0};
    char *text;

    CHECK(READ("min-duration=10us\0depth=3\0only=ns::f(int)\0trigger=it's@2\0", &f) == 0);
    CHECK_U64(f.min_duration_ns, 10000);
    CHECK_U64(f.depth, 3);
    text = nsc_filter_text(&f);
    CHECK_STR(text, "-F 'ns::f(int)' --trigger 'it'\\''s@2' --depth 3 --min-duration 10us");
    free(text);
    nsc_filter_free(&f);
    text = nsc_filter_text(&f);
    CHECK_STR(text, "");
    free(text);
}

static void faults(void)
{
    struct nsc_filter f = {.depth = 7};

    CHECK(READ("only=c\0x\0", &f) == -EINVAL && diag.offset == 7);
    CHECK(READ("\0", &f) == -EINVAL);
    CHECK(READ("=\0", &f) == -ENOENT);

    CHECK(READ("colour=red\0", &f) == -ENOENT);
    CHECK(READ("only=[\0", &f) == -EINVAL);
    CHECK(strstr(diag.message, "--only: ") != NULL);
    CHECK(READ("depth=0\0", &f) == -EINVAL);
    CHECK(READ("depth=4294967296\0", &f) == -EINVAL);
    CHECK(READ("depth=-1\0", &f) == -EINVAL);
    CHECK(READ("min-duration=soon\0", &f) == -EINVAL);
    CHECK(READ("trigger=f@0\0", &f) == -EINVAL);
    CHECK(READ("trigger=f@\0", &f) == -EINVAL);
    CHECK(READ("trigger=f\0trigger=g\0", &f) == -EINVAL);
    CHECK(READ("stopper=f\0", &f) == -EINVAL);
    CHECK(READ("only", &f) == -EINVAL);
    CHECK(READ("only=f", &f) == -EINVAL);
    CHECK(READ("an-option-with-a-name-far-too-long=f\0", &f) == -EINVAL);
    CHECK_U64(f.depth, 7);
    f = (struct nsc_filter){0};
    CHECK(READ("", &f) == 0);
}

int main(void)
{
    tests();
    roles();
    numbers();
    faults();
    return t_done();
}
