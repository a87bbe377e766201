/* Temporary names: made, taken apart, and given up for the final name. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static bool make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Into the same folder and into another one, never over a file. */
static void test_published(void)
{
    char place[] = "/tmp/partial.XXXXXX", from[64], to[64], other[64];

    CHECK(mkdtemp(place) != NULL);
    snprintf(from, sizeof from, "%s/a.1.partial", place);
    snprintf(to, sizeof to, "%s/a", place);
    snprintf(other, sizeof other, "%s/folder/a", place);
    CHECK(make_file(from));
    CHECK(nsc_partial_publish_path(from, other) == -ENOENT);
    CHECK(nsc_partial_publish_path(from, to) == 0 && access(to, F_OK) == 0);
    CHECK(make_file(from));
    CHECK(nsc_partial_publish_path(from, to) == -EEXIST && access(from, F_OK) == 0);
    *strrchr(other, '/') = 0;
    CHECK(mkdir(other, 0700) == 0);
    snprintf(other, sizeof other, "%s/folder/a", place);
    CHECK(nsc_partial_publish_path(from, other) == 0 && access(from, F_OK) != 0);
    unlink(other);
    unlink(to);
    *strrchr(other, '/') = 0;
    CHECK(rmdir(other) == 0 && rmdir(place) == 0);
}

int main(void)
{
    test_made();
    test_taken_apart();
    test_published();
    return t_done();
}
