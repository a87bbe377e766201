/* sqlite.c - SQLite by dlopen(); see sqlite.h. */
#include "query/sqlite.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0"

struct nsc_sqlite nsc_sqlite;
static struct nsc_diag failure;
static int result;

static int load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *found = NULL;

    if (library == NULL)
        return nsc_diag_set(&failure, NSC_DIAG_NO_OFFSET, ENOSYS,
                            "%s is needed for queries (Debian: apt install libsqlite3-0)", LIBRARY);
#define LOOK_UP(function)                                                                          \
    found = dlsym(library, "sqlite3_" #function);                                                  \
    if (found == NULL)                                                                             \
        return nsc_diag_set(&failure, NSC_DIAG_NO_OFFSET, ENOSYS,                                  \
                            "%s has no %s: it is too old, 3.38 is needed", LIBRARY,                \
                            "sqlite3_" #function);                                                 \
    memcpy(&nsc_sqlite.function, &found, sizeof found);
    NSC_SQLITE_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
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
