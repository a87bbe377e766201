/*
 * hook_class.h - generate the class with the hooks that an app's methods call, in its own dex file.
 * Private to instrument/.
 *
 *     package dev.nanoscope;
 *
 *     public final class Hooks {
 *         static final String BUILD = "0123456789abcdef";
 *         static { System.loadLibrary("nanoscope-app"); }
 *         @CriticalNative public static native void enter(int id);
 *         @CriticalNative public static native void exit(int id);
 *         public static native void setName(Thread thread, String name);
 *     }
 *
 * See abi/app_recording.h for the library's side.
 */
#ifndef NSC_ANDROID_INSTRUMENT_HOOK_CLASS_H
#define NSC_ANDROID_INSTRUMENT_HOOK_CLASS_H

#include "util/buffer.h"
#include "util/diag.h"

#define NSC_INSTRUMENT_HOOKS_CLASS "Ldev/nanoscope/Hooks;"
#define NSC_INSTRUMENT_LIBRARY     "nanoscope-app" /* without "lib" and ".so" */
#define NSC_INSTRUMENT_SET_NAME    "(Ljava/lang/Thread;Ljava/lang/String;)V"

/**
 * nsc_instrument_hooks - write the dex file.
 * @build: fingerprint of the method table.
 * @out: the file is appended.
 * Returns 0 or -errno with @diag.
 */
int nsc_instrument_hooks(const char *build, struct nsc_buffer *out, struct nsc_diag *diag);

#endif
