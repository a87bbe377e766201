/* test_available_memory.c - what memory is to be had, read from a /proc and a /sys of our own. */
#include <sys/stat.h>
#include <unistd.h>

#include "record/session/available_memory.h"
#include "tap.h"

#define MIB (1ull << 20)

static char root[64];

/* Writes a file below the root, with the folders it needs. */
static void put(const char *path, const char *text)
{
    char whole[256], *slash;
    FILE *file;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    file = fopen(whole, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        printf("Bail out! %s\n", whole);
        exit(1);
    }
}

static void begin(void)
{
    snprintf(root, sizeof root, "/tmp/test_record_memory.XXXXXX");
    if (mkdtemp(root) == NULL)
        exit(1);
}

static void end(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0);
}

static void test_nothing_known(void)
{
    begin();
    CHECK_U64(nsc_memory_available(root), UINT64_MAX);
    CHECK(nsc_memory_promised(root));
    put("/proc/self/cgroup", "nonsense\n\n0:\n:::\n0::no/slash/at/all\n12");
    put("/proc/meminfo", "MemTotal: 1 kB\n");
    CHECK_U64(nsc_memory_available(root), UINT64_MAX);
    end();
}

static void test_machine(void)
{
    begin();
    put("/proc/meminfo", "MemTotal:  4096 kB\nMemFree:  1 kB\nMemAvailable:    2048 kB\n");
    CHECK_U64(nsc_memory_available(root), 2 * MIB);
    put("/proc/sys/vm/overcommit_memory", "0\n");
    CHECK(nsc_memory_promised(root));
    put("/proc/sys/vm/overcommit_memory", "2\n");
    CHECK(!nsc_memory_promised(root));
    end();
}

/* The group itself has no limit; the one above has. */
static void test_group_version_2(void)
{
    begin();
    put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    put("/proc/self/cgroup", "0::/box/inner\n");
    put("/sys/fs/cgroup/box/inner/memory.max", "max\n");
    put("/sys/fs/cgroup/box/inner/memory.current", "1\n");
    put("/sys/fs/cgroup/box/memory.max", "104857600\n");
    put("/sys/fs/cgroup/box/memory.current", "41943040\n");
    CHECK_U64(nsc_memory_available(root), 60 * MIB);
    put("/sys/fs/cgroup/box/memory.stat", "anon 5\ninactive_file 20971520\nactive_file 7\n");
    CHECK_U64(nsc_memory_available(root), 80 * MIB);
    put("/sys/fs/cgroup/box/memory.current", "209715200\n");
    CHECK_U64(nsc_memory_available(root), 0);
    end();
}

/* As a container sees it: its own group is the root of what is mounted. */
static void test_group_version_1(void)
{
    begin();
    put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    put("/proc/self/cgroup", "9:cpu:/docker/1\n4:memory,other:/docker/1\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "16777216\n");
    put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 8388608\n");
    CHECK_U64(nsc_memory_available(root), 56 * MIB);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_U64(nsc_memory_available(root), 1024 * MIB);
    end();
}

int main(void)
{
    test_nothing_known();
    test_machine();
    test_group_version_2();
    test_group_version_1();
    return t_done();
}
