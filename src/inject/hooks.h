/*
 * hooks.h - the class that an app's methods call, in a dex file of its own. Private to inject/.
 *
 *     package dev.nanoscope;
 *
 *     public final class Hooks {
 *         static { System.loadLibrary("nanoscope-app"); begin("0123456789abcdef"); }
 *         @CriticalNative public static native void enter(int id);
 *         @CriticalNative public static native void exit(int id);
 *         public static void setName(Thread thread, String name)
 *         {
 *             if (thread != null && name != null && control(name))
 *                 return;
 *             thread.setName(name);
 *         }
 *         private static native void begin(String build);
 *         private static native boolean control(String name);
 *     }
 *
 * The natives are registered by the library's JNI_OnLoad. begin() is told the build whose methods
 * the ids are of; control() takes names that are orders (START_TRACING) and is false for all
 * others.
 */
#ifndef NSC_INJECT_HOOKS_H
#define NSC_INJECT_HOOKS_H

#include "util/buffer.h"
#include "util/diag.h"

#define NSC_INJECT_HOOKS_CLASS "Ldev/nanoscope/Hooks;"
#define NSC_INJECT_LIBRARY     "nanoscope-app" /* without "lib" and ".so" */

/**
 * nsc_inject_hooks - write the dex file.
 * @build: fingerprint of the table of methods.
 * @out: the file is put behind what is in it.
 * Returns 0 or -errno with @diag.
 */
int nsc_inject_hooks(const char *build, struct nsc_buffer *out, struct nsc_diag *diag);

#endif
