/* Temporary names: made, and taken apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "util/os/partial_name.h"

static void test_made(void)
{
    char *one = nsc_partial_make("a/app.nst", "partial"),
         *two = nsc_partial_make("a/app.nst", "partial");
    pid_t pid = 0;

    CHECK(one != NULL && two != NULL && strcmp(one, two) != 0);
    CHECK_U64(nsc_partial_length(one, &pid), strlen("a/app.nst"));
    CHECK(pid == getpid());
    free(one);
    free(two);
}

static void test_taken_apart(void)
{
    static const struct {
        const char *name;
        size_t length;
        pid_t pid;
    } cases[] = {
        {"app.nst.4711.partial", 7, 4711},
        {"app.nst.4711.0f3a91c2.partial", 7, 4711},
        {"app.nst.4711.12345678.partial", 7, 4711},
        {"app.12345678.partial", 3, 12345678},
        {"app.nst.4711.0f3a91c.partial", 0, 0},
        {"app.nst.0f3a91c2.partial", 0, 0},
        {"app.nst.partial", 0, 0},
        {".4711.partial", 0, 0},
        {"4711.partial", 0, 0},
        {".4711.0f3a91c2.partial", 0, 0},
        {"app.nst.4711.0f3a91c2", 0, 0},
        {"app.nst..partial", 0, 0},
        {"", 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pid_t pid = 0;

        CHECK_U64(nsc_partial_length(cases[i].name, &pid), cases[i].length);
        CHECK(pid == cases[i].pid);
    }
}

int main(void)
{
    test_made();
    test_taken_apart();
    return t_done();
}
