/* test_own_path.c - whether another user can make a path lead somewhere else. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tap.h"
#include "util/privileges/own_path.h"

static char root[64];

static const char *at(const char *path)
{
    static char text[256];

    snprintf(text, sizeof text, "%s/%s", root, path);
    return text;
}

static void make(const char *path, unsigned mode)
{
    CHECK(mkdir(at(path), 0700) == 0 && chmod(at(path), mode) == 0);
}

static void link_to(const char *target, const char *path)
{
    CHECK(symlink(target, at(path)) == 0);
}

static void test_folders(void)
{
    make("own", 0755);
    make("own/deep", 0700);
    make("open", 0777);
    make("open/own", 0755);
    make("sticky", 01777);
    make("sticky/own", 0755);
    CHECK(nsc_own_path_is_own(at("new")));
    CHECK(nsc_own_path_is_own(at("own/deep/new")));
    CHECK(nsc_own_path_is_own(at("own/./deep//../new")));
    CHECK(nsc_own_path_is_own(at("missing/new")));
    CHECK(!nsc_own_path_is_own(at("open/new")));
    CHECK(!nsc_own_path_is_own(at("open/own/new"))); /* "own" can be renamed */
    CHECK(!nsc_own_path_is_own(at("open/missing/new")));
    CHECK(nsc_own_path_is_own(at("sticky/new")));
    CHECK(!nsc_own_path_is_own(at("sticky/missing/new"))); /* any user can create it */
    CHECK(nsc_own_path_is_own(at("sticky/own/new")));
    CHECK(!nsc_own_path_is_own(at("own/deep/../../open/own/new")));
}

static void test_links(void)
{
    char own[128];

    link_to("own/deep", "good");
    snprintf(own, sizeof own, "%s/own", root);
    link_to(own, "good-absolute");
    link_to("open/bad", "through");
    link_to("../own", "open/bad");
    link_to("loop", "loop");
    CHECK(nsc_own_path_is_own(at("good/new")));
    CHECK(nsc_own_path_is_own(at("good-absolute/deep/new")));
    CHECK(!nsc_own_path_is_own(at("open/bad/new")));
    CHECK(!nsc_own_path_is_own(at("through/new"))); /* the second link can be exchanged */
    CHECK(!nsc_own_path_is_own(at("loop/new")));
}

static void test_relative(void)
{
    CHECK(chdir(at("own")) == 0);
    CHECK(nsc_own_path_is_own("deep/new"));
    CHECK(nsc_own_path_is_own("../new"));
    CHECK(!nsc_own_path_is_own("../open/new"));
    CHECK(chdir("../open") == 0);
    CHECK(!nsc_own_path_is_own("own/new"));
    CHECK(!nsc_own_path_is_own("./new"));
    CHECK(!nsc_own_path_is_own("new"));
    CHECK(chdir("../sticky") == 0);
    CHECK(nsc_own_path_is_own("new") && nsc_own_path_is_shared("new"));
    CHECK(chdir("../own") == 0);
    CHECK(nsc_own_path_is_own("new") && !nsc_own_path_is_shared("new"));
    CHECK(chdir("/") == 0);
}

/* With root's rights: a folder of another user's. */
static void test_other_user(void)
{
    if (geteuid() != 0)
        return;
    make("theirs", 0755);
    make("sticky/theirs", 0755);
    CHECK(chown(at("theirs"), 65534, 65534) == 0 && chown(at("sticky/theirs"), 65534, 65534) == 0);
    CHECK(!nsc_own_path_is_own(at("theirs/new")));
    CHECK(!nsc_own_path_is_own(at("sticky/theirs/new")));
}

/* A mount in a sticky folder hides whose the folder below is. */
static void test_mount(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mkdir(at("sticky/mounted"), 0755) != 0 || mkdir(at("own/mounted"), 0755) != 0 ||
            mount("none", at("sticky/mounted"), "tmpfs", 0, "mode=755") != 0 ||
            mount("none", at("own/mounted"), "tmpfs", 0, "mode=755") != 0)
            _exit(2);
        _exit(nsc_own_path_is_own(at("own/mounted/new")) &&
                      !nsc_own_path_is_own(at("sticky/mounted/new"))
                  ? 0
                  : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        puts("# no mounts here");
    else
        CHECK(WEXITSTATUS(status) == 0);
}

/* An access control list in the kernel's format (linux/posix_acl_xattr.h): @user may write, and the
 * mode shows that as the group's right. Returns false where the file system has none. */
static bool give_rights(const char *path, uint32_t user)
{
    const struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t id;
        } entries[5];
    } list = {2,
              {{0x01, 7, ~0u},   /* the owner */
               {0x02, 7, user},  /* a user */
               {0x04, 5, ~0u},   /* the group */
               {0x10, 7, ~0u},   /* the mask */
               {0x20, 5, ~0u}}}; /* others */

    return setxattr(path, "system.posix_acl_access", &list, sizeof list, 0) == 0;
}

static void test_access_lists(void)
{
    make("listed", 0775);
    make("listed/own", 0755);
    make("shared", 0775); /* the own group may write */
    CHECK(nsc_own_path_is_own(at("listed/new")) && nsc_own_path_is_own(at("shared/new")));
    if (!give_rights(at("listed"), 65534)) {
        puts("# no access control lists here");
        return;
    }
    CHECK(!nsc_own_path_is_own(at("listed/new")) && !nsc_own_path_is_own(at("listed/own/new")));
    CHECK(chmod(at("listed"), 0755) == 0); /* the mask: the list gives no right to write */
    CHECK(nsc_own_path_is_own(at("listed/new")));
}

int main(void)
{
    char command[128];

    snprintf(root, sizeof root, "/tmp/nanoscope-own-path-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    test_folders();
    test_links();
    test_relative();
    test_other_user();
    test_access_lists();
    test_mount();
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return t_done();
}
