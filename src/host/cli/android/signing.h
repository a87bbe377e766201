/*
 * signing.h - load the key to sign an app with, as selected by the options in docs/man/signing.md.
 *
 * Called by the commands that sign.
 */
#ifndef NSC_CLI_ANDROID_SIGNING_H
#define NSC_CLI_ANDROID_SIGNING_H

#include "android/apk/signing_key.h"
#include "cli/command.h"

struct nsc_cli_signing {
    const char *keystore; /* NULL: the debug key */
    const char *alias;    /* NULL: the only key in it */
    const char *password; /* "pass:TEXT", "env:NAME", "file:NAME", "-"; NULL: none */
};

/**
 * nsc_cli_signing_key - load the key.
 * @out: receives it; release with nsc_crypto_key_free(). Untouched on failure.
 *
 * Prints a message if it creates the debug key, and warns of a certificate that is not valid now.
 * Returns 0, or an exit status after a message.
 */
int nsc_cli_signing_key(const struct nsc_cli_args *args, const struct nsc_cli_signing *signing,
                        struct nsc_crypto_key **out);

#endif
