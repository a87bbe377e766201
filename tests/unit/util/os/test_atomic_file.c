/* Files that appear when they are whole, and two that appear together or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "util/os/atomic_file.h"
#include "util/os/made_output.h"
#include "util/os/write_all.h"

static char folder[] = "/tmp/test_outfile.XXXXXX", table[64], app[64];

static bool put(struct nsc_atomic_file *f, const char *path, const char *text)
{
    return nsc_atomic_file_create(path, f, NULL) == 0 &&
           nsc_write_all(f->fd, text, strlen(text)) == 0;
}

/* Whether @path holds @text; NULL: is not there. */
static bool holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return text == NULL;
    got[fread(got, 1, sizeof got - 1, file)] = '\0';
    fclose(file);
    return text != NULL && strcmp(got, text) == 0;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

static unsigned files(void)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    if (d == NULL)
        abort();
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static void test_both(void)
{
    struct nsc_atomic_file a, b;

    CHECK(put(&a, table, "table 1") && put(&b, app, "app 1"));
    CHECK(nsc_atomic_file_publish_both(&a, &b, NULL) == 0);
    CHECK(holds(table, "table 1") && holds(app, "app 1") && files() == 2);
    CHECK(put(&a, table, "table 2") && put(&b, app, "app 2"));
    CHECK(nsc_atomic_file_publish_both(&a, &b, NULL) == 0);
    CHECK(holds(table, "table 2") && holds(app, "app 2") && files() == 2);
}

/* The second loses its temporary name, so that it cannot be moved. */
static int fail_second(struct nsc_diag *diag)
{
    struct nsc_atomic_file a, b;

    CHECK(put(&a, table, "table 3") && put(&b, app, "app 3"));
    CHECK(nsc_atomic_file_close(&b) == 0);
    CHECK(unlink(b.partial) == 0);
    return nsc_atomic_file_publish_both(&a, &b, diag);
}

static void test_second_fails(void)
{
    struct nsc_diag diag;

    CHECK(fail_second(&diag) == -ENOENT && strstr(diag.message, app) != NULL);
    CHECK(holds(table, "table 2") && holds(app, "app 2") && files() == 2);
    CHECK(unlink(table) == 0 && unlink(app) == 0);
    CHECK(fail_second(&diag) == -ENOENT && files() == 0);
}

static void test_taken(void)
{
    struct nsc_atomic_file a, b;
    struct nsc_diag diag;

    write_text(table, "old");
    CHECK(put(&a, table, "new") && put(&b, app, "app"));
    CHECK(mkdir(app, 0700) == 0);
    CHECK(nsc_atomic_file_publish_both(&a, &b, &diag) == -EISDIR);
    CHECK(holds(table, "old") && rmdir(app) == 0 && files() == 1);
    CHECK(put(&a, table, "new") && put(&b, app, "app"));
    CHECK(unlink(table) == 0 && symlink("nowhere", table) == 0);
    CHECK(nsc_atomic_file_publish_both(&a, &b, &diag) == -ELOOP);
    CHECK(holds(app, NULL) && unlink(table) == 0 && files() == 0);
}

/* Outputs with made names that replace nothing, though the name is taken while they are written. */
static void test_made_names(void)
{
    struct nsc_atomic_file a, b;
    struct nsc_diag diag;
    struct stat st;

    umask(022);
    nsc_made_output_begin(false);
    nsc_made_output_allow(040);
    CHECK(put(&a, table, "table") && put(&b, app, "app"));
    CHECK(fstat(a.fd, &st) == 0 && (st.st_mode & 07777) == 0640);
    write_text(app, "another's");
    CHECK(nsc_atomic_file_publish_both(&a, &b, &diag) == -EEXIST);
    CHECK(strstr(diag.message, "name the output with -o") != NULL);
    CHECK(holds(app, "another's") && holds(table, NULL) && unlink(app) == 0);
    CHECK(put(&a, table, "table") && put(&b, app, "app"));
    write_text(table, "another's");
    CHECK(nsc_atomic_file_publish_both(&a, &b, &diag) == -EEXIST);
    CHECK(holds(table, "another's") && holds(app, NULL) && unlink(table) == 0);
    CHECK(put(&a, table, "table") && put(&b, app, "app"));
    CHECK(nsc_atomic_file_publish_both(&a, &b, NULL) == 0);
    CHECK(holds(table, "table") && holds(app, "app") && files() == 2);
    CHECK(unlink(table) == 0 && unlink(app) == 0);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(table, sizeof table, "%s/app.methods", folder);
    snprintf(app, sizeof app, "%s/app.apk", folder);
    test_both();
    test_second_fails();
    test_taken();
    test_made_names();
    rmdir(folder);
    return t_done();
}
