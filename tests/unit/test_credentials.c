/* Credentials: read from text, and who holds all that another holds. */
#include <errno.h>
#include <unistd.h>

#include "tap.h"
#include "util/credentials.h"

#define ALL 0x1ffffffffffull

static const struct nsc_credentials root = {.capabilities = ALL},
                                    lesser_root = {.capabilities = 0xa80425fbull},
                                    user = {.uid = 1000, .gid = 1000},
                                    other = {.uid = 1001, .gid = 1000};

static void test_parse(void)
{
    static const char text[] = "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\n"
                               "Groups:\t4 24 100 \nCapPrm:\t0000000000000005\n";
    struct nsc_credentials c;

    CHECK(nsc_credentials_parse(text, &c) == 0);
    CHECK(c.uid == 1000 && c.gid == 100 && !c.mixed && c.capabilities == 5);
    CHECK(c.group_count == 3 && c.groups[0] == 4 && c.groups[2] == 100);
    CHECK(nsc_credentials_parse("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1\t1\t1\t1\nGroups:"
                                "\t\nCapPrm:\t0000000000000000\n",
                                &c) == 0 &&
          c.mixed);
    CHECK(nsc_credentials_parse("Name:\tx\n", &c) == -EBADMSG);
    CHECK(nsc_credentials_read(0, &c) == 0 && c.uid == geteuid());
    CHECK(nsc_credentials_read(0x3fffffff, &c) == -ESRCH);
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
    changed.mixed = true;
    CHECK(!nsc_credentials_cover(&user, &changed) && !nsc_credentials_cover(&changed, &user));
}

int main(void)
{
    test_parse();
    test_cover();
    return t_done();
}
