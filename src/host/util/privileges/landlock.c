/* landlock.c - see landlock.h. */
#include "util/privileges/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/landlock.h, which is older than the kernel on many systems. System call numbers are
 * the same on all processors. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION = 1, BENEATH = 1 };

struct ruleset {
    uint64_t files, network, scopes;
};

struct beneath {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

#define EXECUTE     (UINT64_C(1) << 0)
#define WRITE       (UINT64_C(1) << 1)
#define CHANGE_TREE (UINT64_C(0x1ff0)) /* create and remove: one bit per kind of file */
#define REFER       (UINT64_C(1) << 13)
#define TRUNCATE    (UINT64_C(1) << 14)
#define MAKE_FOLDER (UINT64_C(1) << 7)
#define MAKE_FILE   (UINT64_C(1) << 8)
#define REMOVE      (UINT64_C(3) << 4)
#define CONNECT     (UINT64_C(1) << 1)
#define ABSTRACT    (UINT64_C(1) << 0)
#define SIGNAL      (UINT64_C(1) << 1)

/* What Landlock of @version can refuse. */
static struct ruleset refused_by(long version)
{
    struct ruleset refused = {.files = EXECUTE | WRITE | CHANGE_TREE};

    if (version >= 2)
        refused.files |= REFER;
    if (version >= 3)
        refused.files |= TRUNCATE;
    if (version >= 4)
        refused.network = CONNECT;
    if (version >= 6)
        refused.scopes = ABSTRACT | SIGNAL;
    return refused;
}

static void allow(int rules, const struct nsc_landlock_folder *folder,
                  const struct ruleset *refused)
{
    struct beneath rule = {.allowed = WRITE | TRUNCATE,
                           .folder = open(folder->path, O_PATH | O_DIRECTORY | O_CLOEXEC)};

    if (folder->holds_outputs)
        rule.allowed |= MAKE_FOLDER | MAKE_FILE | REMOVE | REFER;
    rule.allowed &= refused->files;
    if (rule.folder < 0)
        return;
    (void)syscall(ADD_RULE, rules, BENEATH, &rule, 0);
    close(rule.folder);
}

int nsc_landlock_restrict(const struct nsc_landlock_folder *folders, size_t count)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION);
    struct ruleset refused = refused_by(version);
    int rules = -1, error = 0;

    if (version > 0) /* older kernels accept later members that are 0 */
        rules = (int)syscall(CREATE_RULESET, &refused, sizeof refused, 0);
    if (rules < 0)
        return errno != 0 ? -errno : -ENOSYS;
    for (size_t i = 0; i < count; i++)
        allow(rules, &folders[i], &refused);
    if (syscall(RESTRICT_SELF, rules, 0) != 0)
        error = -errno;
    close(rules);
    return error;
}
