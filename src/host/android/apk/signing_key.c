/* signing_key.c - see signing_key.h. */
#include "android/apk/signing_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/whole_file.h"
#include "util/os/write_all.h"

#define FILE_MAX (4u << 20)
#define FOLDER   "nanoscope"
#define FILENAME "debug.pem"

/* ---- Files ---------------------------------------------------------------------------------- */

static int cannot(const char *do_what, const char *path, int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot %s %s: %s", do_what, path,
                        strerror(error));
}

static bool begins_with(const struct nsc_buffer *b, const void *with, size_t bytes)
{
    return b->used >= bytes && memcmp(b->data, with, bytes) == 0;
}

static bool is_pem(const struct nsc_buffer *b)
{
    return memmem(b->data, b->used, "-----BEGIN ", 11) != NULL;
}

/* Prefix the message with the file's name. */
static int in_file(const char *path, int error, struct nsc_diag *diag)
{
    char message[sizeof diag->message];

    if (diag == NULL)
        return error;
    memcpy(message, diag->message, sizeof message);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%.200s: %s", path, message);
}

static int parse(const char *path, const struct nsc_buffer *b, const char *alias,
                 const char *password, struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    int error;

    if (begins_with(b, "\xfe\xed\xfe\xed", 4) || begins_with(b, "\xce\xce\xce\xce", 4))
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
            "%.100s is a keystore of Java's own form: convert it with keytool -importkeystore "
            "-srckeystore %.100s -destkeystore %.100s.p12 -deststoretype PKCS12",
            path, path, path);
    if (is_pem(b) && alias != NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "%s is a PEM file: its key has no alias", path);
    if (is_pem(b))
        error = nsc_crypto_key_from_pem(b->data, b->used, password, out, diag);
    else
        error = nsc_crypto_key_from_pkcs12(b->data, b->used, password, alias, out, diag);
    return error == 0 ? 0 : in_file(path, error, diag);
}

/* Overwrite passwords and keys before freeing them. */
static void forget(struct nsc_buffer *b)
{
    if (b->data != NULL)
        explicit_bzero(b->data, b->room);
    nsc_buffer_free(b);
}

int nsc_apk_key_load(const char *path, const char *alias, const char *password,
                     struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    struct nsc_buffer b = {0};
    int error = nsc_crypto_load(diag);

    if (error == 0)
        error = nsc_whole_file_read(path, FILE_MAX, &b, diag);
    if (error == 0)
        error = parse(path, &b, alias, password, out, diag);
    forget(&b);
    return error;
}

int nsc_apk_key_certificate(const struct nsc_crypto_key *key, struct nsc_crypto_certificate *out)
{
    struct nsc_buffer der = {0};
    int error = nsc_crypto_key_certificate(key, 0, &der)
                    ? nsc_crypto_certificate(der.data, der.used, out)
                    : -EBADMSG;

    nsc_buffer_free(&der);
    return error;
}

/* ---- The debug key -------------------------------------------------------------------------- */

/* Build the path of the debug key, malloc'ed. */
static int find_path(char **out, struct nsc_diag *diag)
{
    const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
    int n;

    if (config != NULL && config[0] == '/')
        n = asprintf(out, "%s/" FOLDER "/" FILENAME, config);
    else if (home != NULL && home[0] == '/')
        n = asprintf(out, "%s/.config/" FOLDER "/" FILENAME, home);
    else
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT,
                            "there is no place for a debug key: set HOME, or give --keystore");
    if (n >= 0)
        return 0;
    *out = NULL;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* Create the parent folders of a file, accessible by the user only. */
static int make_folders(const char *path, struct nsc_diag *diag)
{
    char *folder = strdup(path);
    int error = folder != NULL ? 0 : -ENOMEM;

    for (char *slash = folder; error == 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            error = cannot("make the folder", folder, errno, diag);
        *slash = '/';
    }
    free(folder);
    return error == -ENOMEM ? nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory")
                            : error;
}

/* Rename the complete file @partial to @path, unless that exists. */
static int publish(const char *partial, const char *path)
{
    if (renameat2(AT_FDCWD, partial, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    /* Some file systems do not support RENAME_NOREPLACE. */
    if (errno == EINVAL || errno == ENOSYS)
        return link(partial, path) == 0 ? 0 : -errno;
    return -errno;
}

/* Write the key to a temporary file, then rename it: no process can read half a key. If two
 * processes create one at the same time, the second uses the first's key, and @made is false. */
static int write_key(const char *path, const struct nsc_buffer *pem, bool *made,
                     struct nsc_diag *diag)
{
    char *partial;
    int error, fd;

    if (asprintf(&partial, "%s.XXXXXX", path) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    fd = mkostemp(partial, O_CLOEXEC); /* mode 0600 */
    if (fd < 0) {
        error = cannot("write", path, errno, diag);
        free(partial);
        return error;
    }
    error = nsc_write_all(fd, pem->data, pem->used);
    if (error == 0 && fsync(fd) != 0 && errno != EINVAL)
        error = -errno;
    if (close(fd) != 0 && error == 0)
        error = -errno;
    if (error == 0)
        error = publish(partial, path);
    *made = error == 0;
    unlink(partial);
    free(partial);
    return error == 0 || error == -EEXIST ? 0 : cannot("write", path, -error, diag);
}

static int make_key(const char *path, bool *made, struct nsc_diag *diag)
{
    struct nsc_crypto_key *key = NULL;
    struct nsc_buffer pem = {0};
    int error = make_folders(path, diag);

    if (error == 0)
        error = nsc_crypto_key_generate(NSC_APK_KEY_DEBUG_NAME, &key, diag);
    if (error == 0)
        error = nsc_crypto_key_to_pem(key, &pem, diag);
    if (error == 0)
        error = write_key(path, &pem, made, diag);
    nsc_crypto_key_free(key);
    forget(&pem);
    return error;
}

/* Refuse a key of another user, and one that is accessible by other users: they could sign as this
 * user, or choose whose key signs. */
static int check_private(int fd, const char *path, struct nsc_diag *diag)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return cannot("read", path, errno, diag);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                            "the debug key %s is no file of yours: give --keystore, or set HOME",
                            path);
    if ((st.st_mode & 077) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPERM,
                            "others may read or change the debug key: chmod 600 %s", path);
    return 0;
}

static int load_private(const char *path, struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), error;
    struct nsc_buffer b = {0};

    if (fd < 0)
        return cannot("open", path, errno, diag);
    error = check_private(fd, path, diag);
    if (error == 0)
        error = nsc_whole_file_read_open(fd, path, FILE_MAX, &b, diag);
    close(fd);
    if (error == 0)
        error = parse(path, &b, NULL, NULL, out, diag);
    forget(&b);
    return error;
}

int nsc_apk_key_debug(struct nsc_crypto_key **out, char **path, bool *made, struct nsc_diag *diag)
{
    char *name = NULL;
    bool is_new = false;
    int error = nsc_crypto_load(diag);

    if (error == 0)
        error = find_path(&name, diag);
    if (error == 0 && access(name, F_OK) != 0)
        error = make_key(name, &is_new, diag);
    if (error == 0)
        error = load_private(name, out, diag);
    if (error == 0 && made != NULL)
        *made = is_new;
    if (error == 0 && path != NULL)
        *path = name;
    else
        free(name);
    return error;
}
