/* test_own_path.c - whether another user can make a path lead somewhere else. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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
    CHECK(nsc_own_path_is_own("name"));
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
    CHECK(nsc_own_path_is_own("new"));
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

int main(void)
{
    char command[128];

    snprintf(root, sizeof root, "/tmp/nanoscope-own-path-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    test_folders();
    test_links();
    test_relative();
    test_other_user();
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return t_done();
}
