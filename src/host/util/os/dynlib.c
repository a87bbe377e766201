/* dynlib.c - see dynlib.h. */
#include "util/os/dynlib.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int nsc_dynlib_load(const char *file, const char *need, const char *const *names, size_t count,
                    void *functions, struct nsc_diag *diag)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS, "%s is needed %s", file, need);
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, names[i]);

        if (found == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS, "%s has no %s: it is too old",
                                file, names[i]);
        memcpy((char *)functions + i * sizeof found, &found, sizeof found);
    }
    return 0;
}
