/* text_files.c - see text_files.h. */
#include "formats/nanoscope_text/text_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/path.h"

/* Parses @tail, ".TID" or ".TID.STACK" followed by @suffix, into @s. Returns false if it has
 * another form. */
static bool parse_tail(const char *tail, const char *suffix, struct nsc_text_sibling *s)
{
    int used = 0;

    s->stack = 0;
    if (tail[0] != '.' || tail[1] < '0' || tail[1] > '9' ||
        sscanf(tail, ".%9u%n", &s->tid, &used) != 1)
        return false;
    tail += used;
    used = 0;
    if (tail[0] == '.' && tail[1] >= '0' && tail[1] <= '9') {
        if (sscanf(tail, ".%9u%n", &s->stack, &used) != 1)
            return false;
        tail += used;
    }
    return strcmp(tail, suffix) == 0;
}

static int compare_siblings(const void *a, const void *b)
{
    const struct nsc_text_sibling *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

void nsc_text_free_siblings(struct nsc_text_sibling *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(all[i].path);
    free(all);
}

void nsc_text_split_path(const char *path, bool gzip, size_t *folder_bytes, size_t *base_bytes)
{
    const char *slash = strrchr(path, '/');
    size_t bytes = strlen(path);

    if (gzip && bytes > 3 && strcmp(path + bytes - 3, ".gz") == 0)
        bytes -= 3;
    *folder_bytes = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    *base_bytes = bytes;
}

int nsc_text_find_siblings(const char *path, bool gzip, struct nsc_text_sibling **out,
                           size_t *out_count)
{
    struct nsc_text_sibling *all = NULL;
    size_t count = 0, capacity = 0, folder_bytes, base_bytes;
    struct dirent *entry;
    char *folder;
    DIR *dir;
    int error = 0;

    nsc_text_split_path(path, gzip, &folder_bytes, &base_bytes);
    folder = nsc_path_folder(path);
    dir = folder != NULL ? opendir(folder) : NULL;
    free(folder);
    while (dir != NULL && error == 0 && (entry = readdir(dir)) != NULL) {
        size_t name_bytes = base_bytes - folder_bytes;
        struct nsc_text_sibling s;

        if (strncmp(entry->d_name, path + folder_bytes, name_bytes) != 0 ||
            !parse_tail(entry->d_name + name_bytes, gzip ? ".gz" : "", &s))
            continue;
        if (count == capacity) {
            struct nsc_text_sibling *more =
                reallocarray(all, capacity = capacity * 2 + 16, sizeof *all);

            if (more == NULL) {
                error = -ENOMEM;
                break;
            }
            all = more;
        }
        if (asprintf(&s.path, "%.*s%s", (int)folder_bytes, path, entry->d_name) < 0)
            error = -ENOMEM;
        else
            all[count++] = s;
    }
    if (dir != NULL)
        closedir(dir);
    if (error != 0) {
        nsc_text_free_siblings(all, count);
        return error;
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_siblings);
    *out = all;
    *out_count = count;
    return 0;
}

bool nsc_text_has_timer(const char *path, bool gzip)
{
    size_t folder_bytes, base_bytes;
    bool has = false;
    char *name;

    nsc_text_split_path(path, gzip, &folder_bytes, &base_bytes);
    if (asprintf(&name, "%.*s.timer%s", (int)base_bytes, path, path + base_bytes) >= 0) {
        has = access(name, R_OK) == 0;
        free(name);
    }
    return has;
}
