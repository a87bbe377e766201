/* paged_file.c - see paged_file.h. */
#include "util/os/paged_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/regular_file.h"

#define BUFFER_BYTES (128u * 1024)

static char *join(const char *folder, const char *name)
{
    char *path;

    if (folder == NULL)
        return strdup(name);
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

int nsc_paged_file_open(const char *folder, const char *name, struct nsc_paged_file **out,
                        struct nsc_diag *diag)
{
    struct nsc_paged_file *b = calloc(1, sizeof *b);
    struct stat st;
    int error;

    if (b == NULL)
        return no_memory(diag);
    b->path = join(folder, name);
    b->buffer = malloc(BUFFER_BYTES);
    b->fd = -1;
    if (b->path == NULL || b->buffer == NULL) {
        nsc_paged_file_close(b);
        return no_memory(diag);
    }
    b->fd = folder != NULL ? nsc_regular_file_open_beside(b->path) : nsc_regular_file_open(b->path);
    if (b->fd < 0) {
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, b->fd,
                             b->fd == -EINVAL ? "%s is no regular file" : "cannot open %s: %s",
                             b->path, strerror(-b->fd));
        nsc_paged_file_close(b);
        return error;
    }
    b->size = fstat(b->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
    *out = b;
    return 0;
}

void nsc_paged_file_close(struct nsc_paged_file *b)
{
    if (b == NULL)
        return;
    if (b->fd >= 0)
        close(b->fd);
    free(b->path);
    free(b->buffer);
    free(b);
}

const uint8_t *nsc_paged_file_fetch(struct nsc_paged_file *b, uint64_t offset, size_t count)
{
    if (count > NSC_PAGED_FILE_MAX || offset > b->size || count > b->size - offset || b->error != 0)
        return NULL;
    b->at = offset;
    b->held = 0;
    while (b->held < count) {
        ssize_t got =
            pread(b->fd, b->buffer + b->held, BUFFER_BYTES - b->held, (off_t)(offset + b->held));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            b->error = got < 0 ? -errno : -EIO; /* the file was truncated meanwhile */
            return NULL;
        }
        b->held += (size_t)got;
    }
    return b->buffer;
}

int nsc_paged_file_text(const char *folder, const char *name, size_t max, char **text,
                        size_t *bytes, struct nsc_diag *diag)
{
    struct nsc_paged_file *b;
    int error = nsc_paged_file_open(folder, name, &b, diag);
    size_t done = 0;
    char *all;

    if (error != 0)
        return error;
    if (b->size > max)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG, "%s has more than %zu bytes", b->path,
                             max);
    all = error == 0 ? malloc((size_t)b->size + 1) : NULL;
    if (error == 0 && all == NULL)
        error = no_memory(diag);
    while (error == 0 && done < b->size) {
        ssize_t got = pread(b->fd, all + done, (size_t)b->size - done, (off_t)done);

        if (got > 0)
            done += (size_t)got;
        else if (got == 0)
            break;
        else if (errno != EINTR)
            error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", b->path,
                                 strerror(errno));
    }
    nsc_paged_file_close(b);
    if (error != 0) {
        free(all);
        return error;
    }
    all[done] = '\0';
    *text = all;
    *bytes = done;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(char ***names, size_t *count, size_t *room, const char *name)
{
    if (*count == *room) {
        char **more = reallocarray(*names, *room * 2 + 16, sizeof **names);

        if (more == NULL)
            return -ENOMEM;
        *names = more;
        *room = *room * 2 + 16;
    }
    (*names)[*count] = strdup(name);
    if ((*names)[*count] == NULL)
        return -ENOMEM;
    ++*count;
    return 0;
}

int nsc_paged_file_list(const char *folder, bool (*wanted)(const char *name), size_t max,
                        char ***names, size_t *count, struct nsc_diag *diag)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char **all = NULL;
    size_t n = 0, room = 0;
    int error = 0;

    if (dir == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", folder,
                            strerror(errno));
    while (error == 0 && (entry = readdir(dir)) != NULL) {
        if (!wanted(entry->d_name))
            continue;
        if (n == max)
            error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, E2BIG, "%s holds more than %zu files",
                                 folder, max);
        else if (add_name(&all, &n, &room, entry->d_name) != 0)
            error = no_memory(diag);
    }
    closedir(dir);
    if (error != 0) {
        nsc_paged_file_free_list(all, n);
        return error;
    }
    if (n > 0)
        qsort(all, n, sizeof *all, compare_names);
    *names = all;
    *count = n;
    return 0;
}

void nsc_paged_file_free_list(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}
