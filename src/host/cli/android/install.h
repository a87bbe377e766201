/*
 * install.h - put an app on a device, by adb.
 *
 * Called by cmd_inject.c. Prints and asks.
 */
#ifndef NSC_CLI_ANDROID_INSTALL_H
#define NSC_CLI_ANDROID_INSTALL_H

#include <stdbool.h>

/**
 * nsc_cli_install - `adb install` an APK; $ADB or the adb in PATH.
 * @apk: the file.
 * @package: its name, "com.example.app".
 * @yes: if the app is there with another signature, uninstall it without asking.
 * @quiet: say nothing of a success.
 * Returns an exit status, after a message if it is no success.
 */
int nsc_cli_install(const char *apk, const char *package, bool yes, bool quiet);

#endif
