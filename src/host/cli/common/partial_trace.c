/* partial_trace.c - see partial_trace.h. */
#include "cli/common/partial_trace.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/os/partial_name.h"
#include "util/path.h"

char *nsc_cli_partial_of(const char *path)
{
    const char *base = nsc_path_base_name(path);
    char *folder = strndup(path, (size_t)(base - path)), *found = NULL;
    DIR *entries = folder != NULL ? opendir(base != path ? folder : ".") : NULL;
    const struct dirent *entry;
    bool several = false;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        size_t length = nsc_partial_length(entry->d_name, NULL);

        if (length == 0 || length != strlen(base) || memcmp(entry->d_name, base, length) != 0)
            continue;
        several |= found != NULL;
        free(found);
        if (asprintf(&found, "%s%s", folder, entry->d_name) < 0)
            found = NULL;
    }
    if (entries != NULL)
        closedir(entries);
    free(folder);
    if (several) {
        free(found);
        found = NULL;
    }
    return found;
}
