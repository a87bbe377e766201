/* sqlite.c - SQLite by dlopen(); see sqlite.h. */
#include "query/sqlite.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0"

struct nsc_sqlite nsc_sqlite;
static struct nsc_diag failure;
static int result;

static int load(void)
{
    static const struct {
        const char *name;
        size_t offset; /* of the member */
    } wanted[] = {
#define NSC_SQLITE_WANTED(function) {"sqlite3_" #function, offsetof(struct nsc_sqlite, function)},
        NSC_SQLITE_FUNCTIONS(NSC_SQLITE_WANTED)
#undef NSC_SQLITE_WANTED
    };
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return nsc_diag_set(&failure, NSC_DIAG_NO_OFFSET, ENOSYS,
                            "%s is needed for queries (Debian: apt install libsqlite3-0)", LIBRARY);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = dlsym(library, wanted[i].name);

        if (found == NULL)
            return nsc_diag_set(&failure, NSC_DIAG_NO_OFFSET, ENOSYS,
                                "%s has no %s: it is too old, 3.38 is needed", LIBRARY,
                                wanted[i].name);
        memcpy((char *)&nsc_sqlite + wanted[i].offset, &found, sizeof found);
    }
    return 0;
}

static void load_once(void)
{
    result = load();
}

int nsc_sqlite_load(struct nsc_diag *diag)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_once);
    if (result != 0 && diag != NULL)
        *diag = failure;
    return result;
}
