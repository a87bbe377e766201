/* sqlite.c - loads SQLite; see sqlite.h. */
#include "query/sqlite.h"

#include <pthread.h>

#include "util/os/dynlib.h"

struct nsc_sqlite nsc_sqlite;
static struct nsc_diag failure;
static int result;

static int load(void)
{
    static const char *const names[] = {
#define NSC_SQLITE_NAME(function) "sqlite3_" #function,
        NSC_SQLITE_FUNCTIONS(NSC_SQLITE_NAME)
#undef NSC_SQLITE_NAME
    };

    _Static_assert(sizeof nsc_sqlite == sizeof names, "a pointer for each name");
    return nsc_dynlib_load("libsqlite3.so.0",
                           "for queries, 3.38 or later (Debian: apt install libsqlite3-0)", names,
                           sizeof names / sizeof names[0], &nsc_sqlite, &failure);
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
