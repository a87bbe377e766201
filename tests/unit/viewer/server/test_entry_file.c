/* test_entry_file.c - the file that leads the browser to the server: where, whose, and its URL. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "viewer/server/entry_file.h"

#define ADDRESS "http://127.0.0.1:1/?open=0#token=1"

static char folder[64];

static mode_t mode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_uid == geteuid() ? st.st_mode & 07777 : 0;
}

static void test_content(const char *path)
{
    char text[1024] = "";
    FILE *file = fopen(path, "re");

    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(strstr(text, "content=\"0;url=" ADDRESS "\"") != NULL);
    fclose(file);
}

static void test_runtime_folder(void)
{
    struct nsc_entry entry = {0}, other = {0};

    setenv("XDG_RUNTIME_DIR", folder, 1);
    CHECK(nsc_entry_create(ADDRESS, &entry, NULL) == 0);
    CHECK(nsc_entry_create(ADDRESS, &other, NULL) == 0);
    CHECK(entry.folder == NULL && strncmp(entry.path, folder, strlen(folder)) == 0);
    CHECK(strcmp(entry.path, other.path) != 0);
    CHECK(mode_of(entry.path) == 0600);
    CHECK(strncmp(entry.url, "file:///", 8) == 0 && strstr(entry.url, "a%20%23%25%C3%A4/") != NULL);
    test_content(entry.path);
    nsc_entry_remove(&entry);
    nsc_entry_remove(&other);
    CHECK(entry.path == NULL && entry.url == NULL);
    nsc_entry_remove(&entry);
}

/* @mode: of $XDG_RUNTIME_DIR; not ours alone. */
static void test_own_folder(mode_t mode)
{
    struct nsc_entry entry = {0};
    char *made;

    CHECK(chmod(folder, mode) == 0);
    CHECK(nsc_entry_create(ADDRESS, &entry, NULL) == 0);
    CHECK(entry.folder != NULL && strncmp(entry.folder, folder, strlen(folder)) != 0);
    CHECK(mode_of(entry.path) == 0600 && mode_of(entry.folder) == 0700);
    test_content(entry.path);
    made = strdup(entry.folder);
    nsc_entry_remove(&entry);
    CHECK(mode_of(made) == 0);
    free(made);
}

static void test_failure(void)
{
    struct nsc_diag diag = {0};
    struct nsc_entry entry = {0};

    setenv("TMPDIR", "/nowhere", 1);
    CHECK(nsc_entry_create(ADDRESS, &entry, &diag) == -ENOENT);
    CHECK(strstr(diag.message, "No such file") != NULL && entry.path == NULL);
    nsc_entry_remove(&entry);
}

int main(void)
{
    char parent[] = "/tmp/test_entry_XXXXXX";

    if (mkdtemp(parent) == NULL)
        abort();
    snprintf(folder, sizeof folder, "%s/a #%%\xc3\xa4", parent);
    if (mkdir(folder, 0700) != 0)
        abort();
    unsetenv("TMPDIR");
    test_runtime_folder();
    test_own_folder(0750);
    test_own_folder(0701);
    test_failure();
    CHECK(rmdir(folder) == 0 && rmdir(parent) == 0); /* nothing is left in them */
    return t_done();
}
