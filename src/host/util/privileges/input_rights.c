/* input_rights.c - see input_rights.h. */
#include "util/privileges/input_rights.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/made_output.h"
#include "util/path.h"
#include "util/privileges/own_path.h"

/* Whether a new file in the folder will surely have the group @group, and no access control list.
 * Some mounts (grpid) give files the group of any folder, so both possible groups must be it. */
static bool has_group(int folder, gid_t group)
{
    struct stat st;

    return fstat(folder, &st) == 0 && st.st_gid == group &&
           ((st.st_mode & S_ISGID) != 0 || getegid() == group) &&
           !nsc_own_path_has_acl(folder, "default");
}

void nsc_input_rights_allow(int input, const char *output)
{
    char *path = nsc_path_folder(output);
    int folder = path != NULL ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    mode_t group, others;
    struct stat st;

    /* A file without a name is a temporary one, with the contents of another. */
    if (fstat(input, &st) == 0 && st.st_nlink > 0 && !nsc_own_path_has_acl(input, "access")) {
        group = st.st_mode >> 3 & 06;
        others = st.st_mode & group; /* the input's group may be among the others of the output */
        if (folder < 0 || !has_group(folder, st.st_gid))
            group = others;
        /* In a folder, a right to read is one to search. */
        nsc_made_output_allow((group | group >> 2) << 3 | others | others >> 2);
    }
    if (folder >= 0)
        close(folder);
    free(path);
}
