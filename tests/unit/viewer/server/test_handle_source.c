/* test_handle_source.c - which files are read as sources, whatever the trace names them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "viewer/server/handle_source.h"
#include "viewer/server/open_beneath.h"

/* ROOT/work is the working folder, ROOT/named what --source names. */
static char root[64];

static const char *in_root(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof *paths, "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text, size_t bytes)
{
    int fd = open(in_root(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes)
        abort();
    close(fd);
}

static void make_files(void)
{
    static char big[NSC_SOURCE_BYTES_MAX + 1];

    snprintf(root, sizeof root, "/tmp/test_source_XXXXXX");
    if (mkdtemp(root) == NULL || mkdir(in_root("work"), 0700) != 0 ||
        mkdir(in_root("work/sub"), 0700) != 0 || mkdir(in_root("named"), 0700) != 0 ||
        mkdir(in_root("worked"), 0700) != 0)
        abort();
    memset(big, 'x', sizeof big);
    write_file("secret.c", "secret", 6);
    write_file("worked/x.c", "secret", 6);
    write_file("work/a.c", "in", 2);
    write_file("work/sub/b.c", "sub", 3);
    write_file("work/zero.c", "in\0t", 4);
    write_file("work/big.c", big, sizeof big);
    write_file("named/a.c", "named", 5);
    write_file("named/n.c", "named", 5);
    if (mkfifo(in_root("work/pipe.c"), 0600) != 0 ||
        symlink("../secret.c", in_root("work/up.c")) != 0 ||
        symlink(in_root("secret.c"), in_root("work/out.c")) != 0 ||
        symlink("/dev/zero", in_root("work/device.c")) != 0 ||
        symlink("..", in_root("work/parent")) != 0 ||
        symlink("self.c", in_root("work/self.c")) != 0 ||
        symlink("sub/b.c", in_root("work/in.c")) != 0 || symlink("work", in_root("alias")) != 0 ||
        chdir(in_root("work")) != 0)
        abort();
}

/* What reading a file gives; the text's length if it is read. */
static long read_source(const struct nsc_source *source, const char *file)
{
    char *text = NULL;
    size_t bytes = 0;
    int error = nsc_source_read(source, file, &text, &bytes);

    if (error == 0 && strlen(text) != bytes)
        abort();
    free(text);
    return error == 0 ? (long)bytes : error;
}

static void test_working_folder(void)
{
    struct nsc_source source;

    setenv("PWD", in_root("alias"), 1);
    CHECK(nsc_source_init(&source, NULL, 0, NULL) == 0);
    CHECK(read_source(&source, in_root("work/a.c")) == 2);
    CHECK(read_source(&source, in_root("alias/a.c")) == 2); /* as the shell calls it */
    CHECK(read_source(&source, in_root("work/sub/../a.c")) == 2);
    CHECK(read_source(&source, in_root("work//./sub/b.c")) == 3);
    CHECK(read_source(&source, "a.c") == 2);
    CHECK(read_source(&source, "./sub/b.c") == 3);
    CHECK(read_source(&source, "../a.c") == 2); /* leading ".." tell where the compiler ran */
    CHECK(read_source(&source, "in.c") == 3);
    CHECK(read_source(&source, "/elsewhere/a.c") == -EPERM);
    CHECK(read_source(&source, "/etc/passwd") == -EPERM);
    CHECK(read_source(&source, "/dev/zero") == -EPERM);
    CHECK(read_source(&source, "/proc/self/environ") == -EPERM);
    CHECK(read_source(&source, in_root("secret.c")) == -EPERM);
    CHECK(read_source(&source, in_root("work/../secret.c")) == -EPERM);
    CHECK(read_source(&source, in_root("worked/x.c")) == -EPERM); /* has the same beginning */
    CHECK(read_source(&source, in_root("work/gone.c")) == -ENOENT);
    CHECK(read_source(&source, in_root("work/a.c/b.c")) == -ENOENT);
    CHECK(read_source(&source, "../secret.c") == -ENOENT);
    CHECK(read_source(&source, "sub/../../secret.c") == -ENOENT);
    CHECK(read_source(&source, "") == -ENOENT);
    CHECK(read_source(&source, "/") == -ENOENT);
    CHECK(read_source(&source, "..") == -ENOENT);
    for (const char *const *name =
             (const char *const[]){"up.c", "out.c", "device.c", "parent/secret.c", "self.c", NULL};
         *name != NULL; name++)
        CHECK(read_source(&source, *name) == -EXDEV);
    CHECK(read_source(&source, "zero.c") == -EINVAL);
    CHECK(read_source(&source, "big.c") == -EFBIG);
    CHECK(read_source(&source, "pipe.c") == -EINVAL);
    CHECK(read_source(&source, "sub") == -EINVAL);
    CHECK(read_source(&source, in_root("work")) == -EPERM);
    nsc_source_destroy(&source);
}

static void test_named_folders(void)
{
    const char *const named[] = {in_root("named"), "sub/"};
    const char *const everything[] = {"/"}, *const absent[] = {"nowhere"};
    struct nsc_source source;

    CHECK(nsc_source_init(&source, named, 2, NULL) == 0);
    CHECK(read_source(&source, "a.c") == 5); /* before the working folder */
    CHECK(read_source(&source, in_root("work/a.c")) == 5);
    CHECK(read_source(&source, "/build/elsewhere/src/n.c") == 5);
    CHECK(read_source(&source, "/build/elsewhere/src/b.c") == 3);
    CHECK(read_source(&source, "../../src/n.c") == 5);
    CHECK(read_source(&source, "/x/../../secret.c") == -EPERM);
    CHECK(read_source(&source, in_root("secret.c")) == -EPERM);
    CHECK(read_source(&source, in_root("work/out.c")) == -EXDEV);
    nsc_source_destroy(&source);

    CHECK(nsc_source_init(&source, everything, 1, NULL) == 0); /* the user said so */
    CHECK(read_source(&source, in_root("secret.c")) == 6);
    CHECK(read_source(&source, "/dev/zero") == -EINVAL);
    CHECK(read_source(&source, "/proc/self/cwd/a.c") == -EXDEV); /* a magic link */
    nsc_source_destroy(&source);

    CHECK(nsc_source_init(&source, absent, 1, NULL) == -ENOENT);
    nsc_source_destroy(&source);

    /* What would permit every file, without the user having said so. */
    CHECK(chdir("/") == 0 && nsc_source_init(&source, NULL, 0, NULL) == 0);
    CHECK(read_source(&source, in_root("work/a.c")) == -EPERM);
    CHECK(read_source(&source, "etc/passwd") == -EPERM);
    nsc_source_destroy(&source);
    CHECK(chdir(in_root("work")) == 0);
}

/* What nsc_beneath_open() says of @path below the working folder; the file's length. */
static long open_beneath(const char *path)
{
    int folder = open(".", O_PATH | O_CLOEXEC), fd;
    struct stat st = {0};

    fd = nsc_beneath_open(folder, path, &st);
    close(folder);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? (long)st.st_size : fd;
}

static void test_beneath(void)
{
    char deep[PATH_MAX] = "", link[32];

    CHECK(open_beneath("sub/b.c") == 3 && open_beneath("sub//./b.c") == 3);
    CHECK(open_beneath("sub/../a.c") == 2 && open_beneath("in.c") == 3);
    CHECK(symlink("sub/../sub", "inner") == 0 && open_beneath("inner/../in.c") == 3);
    for (const char *const *name =
             (const char *const[]){"up.c", "out.c", "device.c", "parent/secret.c", "..", "self.c",
                                   "sub/../../secret.c", "inner/../../secret.c", "/etc/passwd",
                                   "sub/../../work/a.c", NULL};
         *name != NULL; name++)
        CHECK(open_beneath(*name) == -EXDEV);
    CHECK(open_beneath("gone.c") == -ENOENT && open_beneath("a.c/b.c") == -ENOENT);
    CHECK(open_beneath("") == -EINVAL && open_beneath("sub") == -EINVAL);
    for (int i = 0; i < 500; i++)
        strcat(deep, "sub/../");
    CHECK(open_beneath(strcat(deep, "a.c")) == 2);
    for (int i = 0; i < 50; i++) {
        char next[32];

        snprintf(link, sizeof link, "link%d", i);
        snprintf(next, sizeof next, i == 49 ? "a.c" : "link%d", i + 1);
        CHECK(symlink(next, link) == 0);
    }
    CHECK(open_beneath("link0") == -EXDEV && open_beneath("link20") == 2);
}

/* ---- Names that change meanwhile ------------------------------------------------------------- */

static atomic_bool is_over;

static void *exchange(void *argument)
{
    (void)argument;
    while (!is_over) {
        renameat2(AT_FDCWD, "turn.c", AT_FDCWD, "turn.link", RENAME_EXCHANGE);
        renameat2(AT_FDCWD, "turn", AT_FDCWD, "turn.folder", RENAME_EXCHANGE);
    }
    return NULL;
}

static void test_exchange(void)
{
    struct nsc_source source;
    pthread_t thread;
    unsigned wrong = 0;

    write_file("work/turn.c", "in", 2);
    if (symlink("../secret.c", "turn.link") != 0 || mkdir("turn", 0700) != 0 ||
        symlink("..", "turn.folder") != 0)
        abort();
    write_file("work/turn/secret.c", "in", 2);
    CHECK(nsc_source_init(&source, NULL, 0, NULL) == 0);
    if (pthread_create(&thread, NULL, exchange, NULL) != 0)
        abort();
    for (int i = 0; i < 3000; i++) {
        struct stat st;
        int fd = nsc_beneath_open(source.folders[0].fd, "turn/../turn/secret.c", &st);

        wrong += fd >= 0 && st.st_size != 2;
        if (fd >= 0)
            close(fd);
        wrong += read_source(&source, "turn.c") == 6;
        wrong += read_source(&source, "turn/secret.c") == 6;
    }
    is_over = true;
    pthread_join(thread, NULL);
    CHECK_U64(wrong, 0);
    nsc_source_destroy(&source);
}

int main(void)
{
    char command[128];

    make_files();
    test_working_folder();
    test_named_folders();
    test_beneath();
    test_exchange();
    if (chdir("/") != 0)
        abort();
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? t_done() : 1;
}
