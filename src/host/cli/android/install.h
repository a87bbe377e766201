/*
 * install.h - install an app on a device with adb.
 *
 * Called by cmd_inject.c. Prints messages, and may ask the user at the terminal.
 */
#ifndef NSC_CLI_ANDROID_INSTALL_H
#define NSC_CLI_ANDROID_INSTALL_H

#include <stdbool.h>

/**
 * nsc_cli_install - install an APK with `adb install`, using $ADB or the adb in PATH.
 * @apk: the file.
 * @package: its name, "com.example.app".
 * @yes: if the app is installed with another signature, uninstall it without asking.
 * @quiet: print nothing on success.
 * Returns an exit status, after a message on failure.
 */
int nsc_cli_install(const char *apk, const char *package, bool yes, bool quiet);

#endif
