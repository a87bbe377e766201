/* entry_file.c - see entry_file.h. */
#include "viewer/server/entry_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/write_all.h"

/* Return $XDG_RUNTIME_DIR, or NULL if other users can access it: they could replace the file. */
static const char *runtime_folder(void)
{
    const char *folder = secure_getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (folder == NULL || folder[0] != '/' || lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) ||
        st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return NULL;
    return folder;
}

/* Create a folder of mode 0700; @out receives its path, for free(). Returns 0 or -errno. */
static int make_folder(char **out)
{
    const char *parent = secure_getenv("TMPDIR");
    char *folder;
    int error;

    if (asprintf(&folder, "%s/nanoscope-XXXXXX",
                 parent != NULL && parent[0] == '/' ? parent : "/tmp") < 0)
        return -ENOMEM;
    if (mkdtemp(folder) != NULL) {
        *out = folder;
        return 0;
    }
    error = -errno;
    free(folder);
    return error;
}

/* Return the percent-encoded file URL of @path, for free(), or NULL if out of memory. */
static char *make_url(const char *path)
{
    static const char harmless[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *url = malloc(3 * strlen(path) + sizeof "file://"), *end;

    if (url == NULL)
        return NULL;
    end = stpcpy(url, "file://");
    for (; *path != '\0'; path++)
        if (strchr(harmless, *path) != NULL)
            *end++ = *path;
        else
            end += sprintf(end, "%%%02X", (unsigned char)*path);
    *end = '\0';
    return url;
}

/* Fill @entry; creates its folder if needed, not the file. Returns 0 or -errno. */
static int choose_path(struct nsc_entry *entry)
{
    const char *folder = runtime_folder();
    uint64_t number;
    int error = 0;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return -EIO;
    if (folder == NULL) {
        error = make_folder(&entry->folder);
        folder = entry->folder;
    }
    if (error != 0)
        return error;
    if (asprintf(&entry->path, "%s/nanoscope-%016llx.html", folder, (unsigned long long)number) < 0)
        entry->path = NULL;
    entry->url = entry->path != NULL ? make_url(entry->path) : NULL;
    return entry->url != NULL ? 0 : -ENOMEM;
}

static int write_page(const char *path, const char *address)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), error;
    char *page;

    if (fd < 0)
        return -errno;
    if (asprintf(&page,
                 "<!doctype html>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n"
                 "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n"
                 "<title>nanoscope</title>\n<a href=\"%s\">Open the trace</a>\n",
                 address, address) < 0)
        page = NULL;
    error = page != NULL ? nsc_write_all(fd, page, strlen(page)) : -ENOMEM;
    free(page);
    if (close(fd) != 0 && error == 0)
        error = -errno;
    return error;
}

int nsc_entry_create(const char *address, struct nsc_entry *entry, struct nsc_diag *diag)
{
    struct nsc_entry made = {0};
    int error = choose_path(&made);

    if (error == 0)
        error = write_page(made.path, address);
    if (error != 0) {
        nsc_entry_remove(&made);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "cannot write the file that starts the browser: %s", strerror(-error));
    }
    *entry = made;
    return 0;
}

void nsc_entry_remove(struct nsc_entry *entry)
{
    if (entry->path != NULL)
        unlink(entry->path);
    if (entry->folder != NULL)
        rmdir(entry->folder);
    free(entry->url);
    free(entry->path);
    free(entry->folder);
    *entry = (struct nsc_entry){0};
}
