/* app_methods.c - see app_methods.h. */
#include "formats/android/app_methods.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "android/zip/zip_reader.h"
#include "util/os/paged_file.h"
#include "util/os/regular_file.h"

#define FILES_MAX 256u

/* Reads the method table in an APK, which `nanoscope inject` has put there. @fd: of the APK; is
 * closed. */
static int open_apk(int fd, const char *path, struct nsc_methods **out, struct nsc_diag *diag)
{
    const struct nsc_zip_entry *entry;
    struct nsc_zip *zip = NULL;
    uint8_t *text = NULL;
    size_t bytes = 0;
    int error = nsc_zip_open_fd(fd, path, &zip, diag);

    if (error != 0)
        return error;
    entry = nsc_zip_find(zip, NSC_METHODS_ASSET);
    if (entry == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT,
                             "%s holds no table of methods (%s): not made by nanoscope inject",
                             path, NSC_METHODS_ASSET);
    else
        error = nsc_zip_read(zip, entry, NSC_METHODS_BYTES_MAX, &text, &bytes, diag);
    nsc_zip_close(zip);
    if (error == 0)
        error = nsc_methods_read((const char *)text, bytes, path, out, diag);
    free(text);
    return error;
}

/* Returns whether a file is a ZIP archive, by its first bytes. */
static bool is_zip(int fd)
{
    char head[4] = "";

    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, "PK\x03\x04", sizeof head) == 0;
}

static bool fits(const struct nsc_methods *m, const char *build)
{
    return build[0] == '\0' || strcmp(nsc_methods_build(m), build) == 0;
}

static int open_named(const char *path, const char *build, struct nsc_methods **out,
                      struct nsc_diag *diag)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), error;
    struct nsc_methods *m = NULL;

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", path,
                            strerror(errno));
    error = (is_zip(fd) ? open_apk : nsc_methods_open)(fd, path, &m, diag);
    if (error != 0)
        return error;
    if (!fits(m, build)) {
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                             "%s is the table of another build: %s, and the recording is of %s",
                             path, nsc_methods_build(m), build);
        nsc_methods_free(m);
        return error;
    }
    *out = m;
    return 0;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t bytes = strlen(name), end = strlen(suffix);

    return bytes > end && strcmp(name + bytes - end, suffix) == 0;
}

static bool may_hold_table(const char *name)
{
    return strcmp(name, NSC_METHODS_FILE) == 0 || ends_with(name, "." NSC_METHODS_FILE) ||
           ends_with(name, ".methods") || ends_with(name, ".apk");
}

struct search {
    const struct nsc_import *job;
    const char *build;
    struct nsc_methods *found;
    char other[128]; /* first file found that belongs to another build; "" = none */
};

/* Tries a file of the folder. A file that cannot be read is ignored. Returns 0 or -ENOMEM. */
static int try_file(struct search *s, const char *folder, const char *name)
{
    struct nsc_methods *m = NULL;
    char *path = NULL;
    int error;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return -ENOMEM;
    error = nsc_regular_file_open_beside(path);
    if (error >= 0)
        error = (ends_with(name, ".apk") ? open_apk : nsc_methods_open)(error, path, &m, NULL);
    free(path);
    if (error != 0)
        return error == -ENOMEM ? error : 0;
    if (fits(m, s->build)) {
        s->found = m;
        return 0;
    }
    if (s->other[0] == '\0')
        snprintf(s->other, sizeof s->other, "%s", name);
    nsc_methods_free(m);
    return 0;
}

static int search_folder(struct search *s, const char *folder)
{
    char **names = NULL;
    size_t count = 0;
    int error = try_file(s, folder, NSC_METHODS_FILE);

    if (error != 0 || s->found != NULL)
        return error;
    /* A folder that cannot be listed, or has more than FILES_MAX candidates, is not searched. */
    if (nsc_paged_file_list(folder, may_hold_table, FILES_MAX, &names, &count, NULL) != 0)
        return 0;
    for (size_t i = 0; i < count && error == 0 && s->found == NULL; i++)
        if (strcmp(names[i], NSC_METHODS_FILE) != 0)
            error = try_file(s, folder, names[i]);
    nsc_paged_file_free_list(names, count);
    return error;
}

static int search_beside(struct search *s, struct nsc_diag *diag)
{
    const char *slash = strrchr(s->job->path, '/');
    char *folder = slash == NULL           ? strdup(".")
                   : slash == s->job->path ? strdup("/")
                                           : strndup(s->job->path, (size_t)(slash - s->job->path));
    int error = folder != NULL ? search_folder(s, folder) : -ENOMEM;

    free(folder);
    return error == 0 ? 0 : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
}

int nsc_app_methods_find(const struct nsc_import *job, const char *build, struct nsc_methods **out,
                         struct nsc_diag *diag)
{
    struct search s = {.job = job, .build = build};
    int error;

    if (job->methods != NULL)
        return open_named(job->methods, build, out, diag);
    if (strcmp(job->path, "-") == 0)
        return 0;
    error = search_beside(&s, diag);
    if (error != 0)
        return error;
    *out = s.found;
    if (s.found == NULL && s.other[0] != '\0')
        nsc_job_notes_add(job->notes, "%s is the table of another build, not used", s.other);
    if (s.found != NULL && build[0] == '\0')
        nsc_job_notes_add(job->notes,
                          "the recording does not say of which build it is: names may be wrong");
    return 0;
}
