/* Credentials: read from text, and who holds all that another holds. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/privileges/credentials.h"

#define ALL 0x1ffffffffffull

#define IDS(id)                                                                                    \
    {                                                                                              \
        id, id, id, id                                                                             \
    }

static const struct nsc_credentials root = {.capabilities = ALL},
                                    lesser_root = {.capabilities = 0xa80425fbull},
                                    user = {.user = IDS(1000), .group = IDS(1000)},
                                    other = {.user = IDS(1001), .group = IDS(1000)};

static void test_parse(void)
{
    static const char text[] = "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\n"
                               "Groups:\t4 24 100 \nCapPrm:\t0000000000000005\n";
    struct nsc_credentials c;

    CHECK(nsc_credentials_parse(text, &c) == 0);
    CHECK(c.user.real == 1000 && c.user.file_system == 1000 && c.group.effective == 100);
    CHECK(c.capabilities == 5 && c.user_namespace == 0);
    CHECK(c.group_count == 3 && c.groups[0] == 4 && c.groups[2] == 100);
    CHECK(nsc_credentials_parse("Name:\tx\nUid:\t1000\t1001\t1002\t1003\nGid:\t1\t1\t1\t1\nGroups:"
                                "\t\nCapPrm:\t0000000000000000\n",
                                &c) == 0);
    CHECK(c.user.real == 1000 && c.user.effective == 1001 && c.user.saved == 1002 &&
          c.user.file_system == 1003);
    CHECK(nsc_credentials_parse("Name:\tx\n", &c) == -EBADMSG);
    CHECK(nsc_credentials_read(0, &c) == 0 && c.user.effective == geteuid());
    CHECK(nsc_credentials_read(0x3fffffff, &c) == -ESRCH);
}

/* More groups than are kept: the rest counts when credentials are compared. */
static void test_many_groups(void)
{
    enum { GROUPS = 3000 };
    struct nsc_credentials a, b;
    size_t used, rest;
    char *text = malloc(GROUPS * 8 + 256);

    used = (size_t)sprintf(text, "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n"
                                 "Gid:\t100\t100\t100\t100\nGroups:\t");
    for (unsigned i = 0; i < GROUPS; i++)
        used += (size_t)sprintf(text + used, "%u ", 100 + i);
    rest = used;
    sprintf(text + rest, "\nCapPrm:\t0000000000000005\n");
    CHECK(nsc_credentials_parse(text, &a) == 0 && a.capabilities == 5);
    CHECK(a.group_count == NSC_CREDENTIALS_GROUPS_MAX && a.groups[0] == 100);
    CHECK(nsc_credentials_parse(text, &b) == 0 && nsc_credentials_cover(&a, &b));
    text[rest - 2]--; /* another last group */
    CHECK(nsc_credentials_parse(text, &b) == 0);
    CHECK(!nsc_credentials_cover(&a, &b) && !nsc_credentials_cover(&b, &a));
    free(text);
}

/* A process whose credentials cannot be read has none. */
static void test_unknown(void)
{
    struct nsc_credentials c = root;
    int status;
    pid_t child;

    CHECK(nsc_credentials_read(0x3fffffff, &c) == -ESRCH && !nsc_credentials_cover(&c, &root));
    child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        bool as_nobody;

        c = root;
        setrlimit(RLIMIT_NOFILE, &none);
        as_nobody = nsc_credentials_read(getppid(), &c) == -EMFILE &&
                    !nsc_credentials_cover(&c, &root) &&
                    nsc_credentials_are_foreign(&c) == (geteuid() == 0);
        _exit(as_nobody && nsc_credentials_assume(&c) != 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_cover(void)
{
    struct nsc_credentials changed = user;

    CHECK(nsc_credentials_cover(&user, &user));
    CHECK(!nsc_credentials_cover(&user, &other) && !nsc_credentials_cover(&user, &root));
    CHECK(nsc_credentials_cover(&root, &user) && nsc_credentials_cover(&root, &lesser_root));
    CHECK(nsc_credentials_cover(&lesser_root, &user));
    CHECK(!nsc_credentials_cover(&lesser_root, &root));
    changed.capabilities = 1;
    CHECK(!nsc_credentials_cover(&user, &changed) && nsc_credentials_cover(&changed, &user));
    changed = user;
    changed.group_count = 1;
    changed.groups[0] = 4;
    CHECK(!nsc_credentials_cover(&user, &changed) && !nsc_credentials_cover(&changed, &user));
    changed = user;
    changed.user.real = 0;
    CHECK(!nsc_credentials_cover(&user, &changed) && !nsc_credentials_cover(&changed, &user));
    CHECK(nsc_credentials_cover(&changed, &changed)); /* a daemon between two users */
    changed = root;
    changed.user.real = 1000; /* a setuid program */
    CHECK(!nsc_credentials_cover(&changed, &user) && nsc_credentials_cover(&root, &changed));
    changed = root;
    changed.user_namespace = 1; /* root there only, with the same number */
    changed.capabilities = 0;
    CHECK(!nsc_credentials_cover(&changed, &root) && !nsc_credentials_cover(&changed, &user));
    CHECK(nsc_credentials_cover(&root, &changed) && nsc_credentials_cover(&changed, &changed));
    CHECK(!nsc_credentials_cover(&user, &changed));
}

/* Of another user namespace: nothing that a process has there counts here. */
static void test_namespace(void)
{
    struct nsc_credentials c;
    int ends[2], status;
    pid_t child;
    char byte;

    if (!CHECK(pipe(ends) == 0))
        return;
    child = fork();
    if (child == 0) {
        byte = unshare(CLONE_NEWUSER) == 0;
        if (write(ends[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    if (byte == 1) {
        CHECK(nsc_credentials_read(child, &c) == 0);
        CHECK(c.user_namespace != 0 && c.capabilities == 0);
        CHECK(nsc_credentials_are_foreign(&c) == (geteuid() == 0));
    } else {
        printf("ok %d - a user namespace # skip none permitted here\n", ++t_count);
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
    close(ends[0]);
    close(ends[1]);
}

static bool write_map(pid_t pid, const char *name, const char *text)
{
    char path[48];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* In a user namespace with many ids, can its root become another user? */
static int can_assume_in_namespace(const char *setgroups)
{
    const struct nsc_credentials another = nsc_credentials_of_user(1000, 1000);
    int ends[2], status = -1;
    char byte = 0;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        byte = unshare(CLONE_NEWUSER) == 0;
        if (write(ends[1], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1 || byte == 0)
            _exit(2);
        _exit(nsc_credentials_can_be_assumed(&another));
    }
    if (read(ends[0], &byte, 1) == 1 && byte == 1)
        byte = write_map(child, "setgroups", setgroups) &&
               write_map(child, "uid_map", "0 0 65536") && write_map(child, "gid_map", "0 0 65536");
    (void)!write(ends[0], &byte, 1);
    waitpid(child, &status, 0);
    close(ends[0]);
    close(ends[1]);
    return WEXITSTATUS(status);
}

/* Root can become another user; others, only themselves. */
static void test_assumed(void)
{
    struct nsc_credentials own;
    int can;

    can = geteuid() == 0 ? can_assume_in_namespace("allow") : 2;
    if (can != 2) {
        CHECK(can == 1);
        CHECK(can_assume_in_namespace("deny") == 0);
    } else {
        printf("ok %d - a user namespace with many ids # skip none permitted here\n", ++t_count);
    }
    CHECK(nsc_credentials_read(0, &own) == 0 && nsc_credentials_can_be_assumed(&own));
    own = nsc_credentials_of_user(geteuid() + 1, getegid());
    if (geteuid() != 0)
        CHECK(!nsc_credentials_can_be_assumed(&own));
}

int main(void)
{
    test_parse();
    test_many_groups();
    test_unknown();
    test_cover();
    test_namespace();
    test_assumed();
    return t_done();
}
