/* dex_sample.h - a small DEX file from nothing, for tests and fuzzing. */
#ifndef NSC_TESTS_UNIT_RIGS_DEX_SAMPLE_H
#define NSC_TESTS_UNIT_RIGS_DEX_SAMPLE_H

#include "android/dex/dex.h"

/* What the hooks' class is like: a library that is loaded first, native and plain methods. */
static inline struct nsc_dex *dex_sample(uint32_t version)
{
    struct nsc_dex *dex = nsc_dex_new(version);
    uint16_t load = (uint16_t)nsc_dex_add_method(dex, "Ljava/lang/System;", "loadLibrary",
                                                 "(Ljava/lang/String;)V");
    uint16_t library = (uint16_t)nsc_dex_add_string(dex, "a-library");
    uint16_t get = (uint16_t)nsc_dex_add_field(dex, "Ltest/Other;", "count", "J");
    const uint16_t begin[] = {0x001a, library, 0x1071, load, 0x0000, 0x000e};
    const uint16_t count[] = {0x0061, get, 0x0010}; /* sget-wide v0; return-wide v0 */
    const struct nsc_dex_new_method methods[] = {
        {.name = "<clinit>",
         .signature = "()V",
         .access = NSC_DEX_STATIC | NSC_DEX_CONSTRUCTOR,
         .units = begin,
         .unit_count = 6,
         .registers = 1,
         .outs = 1},
        {.name = "exit",
         .signature = "(I)V",
         .access = NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE,
         .annotation = "Ldalvik/annotation/optimization/CriticalNative;"},
        {.name = "enter",
         .signature = "(I)V",
         .access = NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE,
         .annotation = "Ldalvik/annotation/optimization/CriticalNative;"},
        {.name = "count",
         .signature = "(J[Ljava/lang/String;[[I)J",
         .access = NSC_DEX_PUBLIC,
         .units = count,
         .unit_count = 3,
         .registers = 7},
    };

    nsc_dex_add_class(dex, &(struct nsc_dex_new_class){.descriptor = "Ltest/Hooks;",
                                                       .access = NSC_DEX_PUBLIC | NSC_DEX_FINAL,
                                                       .source = "Hooks.java",
                                                       .methods = methods,
                                                       .method_count = 4});
    return dex;
}

#endif
