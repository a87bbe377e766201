/* test_regular_file.c - what is no regular file is not even opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "util/os/paged_file.h"
#include "util/os/regular_file.h"

static char folder[] = "/tmp/test_regular_XXXXXX";

static void test_regular(void)
{
    int made = open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), fd;

    CHECK(made >= 0 && write(made, "text", 4) == 4 && close(made) == 0);
    CHECK(symlink("file", "link") == 0);
    fd = nsc_regular_file_open("link");
    CHECK(fd >= 0 && lseek(fd, 0, SEEK_END) == 4);
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    close(fd);
    CHECK(nsc_regular_file_open("none") == -ENOENT);
    CHECK(nsc_regular_file_open(".") == -EINVAL);
    CHECK(nsc_regular_file_open("/dev/null") == -EINVAL);
}

/* To open a pipe lets its writer go on, as to open a device may start it. */
static void test_unopened(void)
{
    struct nsc_paged_file *file;
    struct nsc_diag diag = {0};
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;
    char event[256];

    CHECK(mkfifo("pipe", 0600) == 0 && symlink("pipe", "name") == 0);
    CHECK(inotify_add_watch(watch, "pipe", IN_OPEN) >= 0);
    CHECK(nsc_regular_file_open("name") == -EINVAL);
    CHECK(nsc_paged_file_open(folder, "name", &file, &diag) == -EINVAL);
    CHECK(strstr(diag.message, "/name is no regular file") != NULL);
    CHECK(read(watch, event, sizeof event) < 0 && errno == EAGAIN);
    fd = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* the watch works */
    CHECK(read(watch, event, sizeof event) > 0);
    close(fd);
    close(watch);
}

int main(void)
{
    static const char *const made[] = {"file", "link", "pipe", "name"};

    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        abort();
    test_regular();
    test_unopened();
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    CHECK(rmdir(folder) == 0);
    return t_done();
}
