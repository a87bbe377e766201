/* signing.c - see signing.h. */
#include "cli/android/signing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PASSWORD_MAX 1024u

/* Read the first line of @file, without the line break. */
static int first_line(FILE *file, const char *name, char out[PASSWORD_MAX])
{
    errno = 0;
    if (fgets(out, PASSWORD_MAX, file) == NULL)
        return nsc_cli_error("cannot read the password from %s: %s", name,
                             errno != 0 ? strerror(errno) : "there is none");
    out[strcspn(out, "\r\n")] = 0;
    return 0;
}

/* At a terminal, prompts for the password and disables the echo. */
static int from_stdin(char out[PASSWORD_MAX])
{
    struct termios before, silent;
    bool typed = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    int status;

    if (typed) {
        silent = before;
        silent.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
        fputs("Password of the keystore: ", stderr);
    }
    status = first_line(stdin, "standard input", out);
    if (typed) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fputc('\n', stderr);
    }
    return status;
}

static int from_file(const char *path, char out[PASSWORD_MAX])
{
    FILE *file = fopen(path, "re");
    int status;

    if (file == NULL)
        return nsc_cli_error("cannot read the password from %s: %s", path, strerror(errno));
    status = first_line(file, path, out);
    fclose(file);
    return status;
}

static int take_password(const struct nsc_cli_args *args, const char *source,
                         char out[PASSWORD_MAX])
{
    const char *text = NULL;

    if (strcmp(source, "-") == 0)
        return from_stdin(out);
    if (strncmp(source, "file:", 5) == 0)
        return from_file(source + 5, out);
    if (strncmp(source, "pass:", 5) == 0)
        text = source + 5;
    else if (strncmp(source, "env:", 4) != 0)
        return nsc_cli_usage(args,
                             "--keystore-pass is one of env:NAME, file:NAME, pass:TEXT and -");
    else if ((text = getenv(source + 4)) == NULL)
        return nsc_cli_error("there is no %s in the environment for the keystore's password",
                             source + 4);
    if (strlen(text) >= PASSWORD_MAX)
        return nsc_cli_error("the keystore's password is too long");
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int from_keystore(const struct nsc_cli_args *args, const struct nsc_cli_signing *signing,
                         struct nsc_crypto_key **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    char password[PASSWORD_MAX];
    bool given = signing->password != NULL;
    int status = given ? take_password(args, signing->password, password) : 0;
    int error = 0;

    if (status == 0)
        error = nsc_apk_key_load(signing->keystore, signing->alias, given ? password : NULL, out,
                                 &diag);
    explicit_bzero(password, sizeof password);
    if (error == -EACCES && !given)
        return nsc_cli_error("%s: --keystore-pass", diag.message);
    return error != 0 ? nsc_cli_fail(&diag) : status;
}

static int from_home(struct nsc_crypto_key **out)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    char *path = NULL;
    bool made = false;

    if (nsc_apk_key_debug(out, &path, &made, &diag) != 0)
        return nsc_cli_fail(&diag);
    if (made)
        fprintf(stderr, "nanoscope: made a debug key: %s\n", path);
    free(path);
    return 0;
}

/* Warn if the certificate is not valid now. Android ignores its dates, but other tools may not. */
static void warn_of_dates(const struct nsc_crypto_key *key)
{
    struct nsc_crypto_certificate c;
    time_t now = time(NULL);

    if (nsc_apk_key_certificate(key, &c) != 0)
        return;
    if (c.ends_s < now)
        nsc_cli_warn("the certificate of the key has expired");
    else if (c.begins_s > now)
        nsc_cli_warn("the certificate of the key is not valid yet");
}

int nsc_cli_signing_key(const struct nsc_cli_args *args, const struct nsc_cli_signing *signing,
                        struct nsc_crypto_key **out)
{
    struct nsc_crypto_key *key = NULL;
    int status;

    if (signing->keystore == NULL && (signing->alias != NULL || signing->password != NULL))
        return nsc_cli_usage(args, "--key-alias and --keystore-pass belong to a --keystore");
    status = signing->keystore != NULL ? from_keystore(args, signing, &key) : from_home(&key);
    if (status != 0)
        return status;
    warn_of_dates(key);
    *out = key;
    return 0;
}
