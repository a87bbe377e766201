/* path.c - see path.h. */
#include "util/path.h"

#include <string.h>

char *nsc_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
}

const char *nsc_path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}
