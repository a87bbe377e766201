/* hooks.c - see hooks.h. */
#include "inject/hooks.h"

#include <errno.h>

#include "dex/dex.h"

#define CRITICAL_NATIVE "Ldalvik/annotation/optimization/CriticalNative;"
#define STRING_TYPE     "Ljava/lang/String;"
#define THREAD_TYPE     "Ljava/lang/Thread;"

/* Instructions. Source: Dalvik bytecode. */
#define RETURN_VOID       0x000e
#define CONST_STRING(r)   (0x001a | (r) << 8) /* , string */
#define IF_EQZ(r)         (0x0038 | (r) << 8) /* , offset in units */
#define IF_NEZ(r)         (0x0039 | (r) << 8)
#define MOVE_RESULT(r)    (0x000a | (r) << 8)
#define INVOKE_STATIC_1   0x1071 /* , method, register */
#define INVOKE_VIRTUAL_2  0x206e /* , method, registers */
#define REGISTERS_2(a, b) ((a) | (b) << 4)

#define ACCESS_NATIVE (NSC_DEX_STATIC | NSC_DEX_NATIVE)

/* What code names, by index before settling: a file as small as this has no index beyond 16 bits.
 */
struct names {
    uint16_t library, build;                         /* strings */
    uint16_t load_library, begin, control, set_name; /* methods */
};

static struct names add_names(struct nsc_dex *dex, const char *build)
{
    return (struct names){
        .library = (uint16_t)nsc_dex_add_string(dex, NSC_INJECT_LIBRARY),
        .build = (uint16_t)nsc_dex_add_string(dex, build),
        .load_library = (uint16_t)nsc_dex_add_method(dex, "Ljava/lang/System;", "loadLibrary",
                                                     "(" STRING_TYPE ")V"),
        .begin = (uint16_t)nsc_dex_add_method(dex, NSC_INJECT_HOOKS_CLASS, "begin",
                                              "(" STRING_TYPE ")V"),
        .control = (uint16_t)nsc_dex_add_method(dex, NSC_INJECT_HOOKS_CLASS, "control",
                                                "(" STRING_TYPE ")Z"),
        .set_name = (uint16_t)nsc_dex_add_method(dex, THREAD_TYPE, "setName", "(" STRING_TYPE ")V"),
    };
}

static int add_class(struct nsc_dex *dex, const struct names *n)
{
    const uint16_t initialize[] = {
        CONST_STRING(0), n->library, INVOKE_STATIC_1, n->load_library, 0,
        CONST_STRING(0), n->build,   INVOKE_STATIC_1, n->begin,        0,
        RETURN_VOID,
    };
    /* v0 is our own, v1 the thread, v2 the name. Offsets count from the jump itself. */
    const uint16_t set_name[] = {
        IF_EQZ(1),        10,             /* to: virtual */
        IF_EQZ(2),        8,              /* to: virtual */
        INVOKE_STATIC_1,  n->control,  2, /* control(name) */
        MOVE_RESULT(0),   IF_NEZ(0),   5, /* to: return */
        INVOKE_VIRTUAL_2, n->set_name, REGISTERS_2(1, 2),
        RETURN_VOID,
    };
    const struct nsc_dex_new_method methods[] = {
        {.name = "<clinit>",
         .signature = "()V",
         .access = NSC_DEX_STATIC | NSC_DEX_CONSTRUCTOR,
         .units = initialize,
         .unit_count = sizeof initialize / sizeof initialize[0],
         .registers = 1,
         .outs = 1},
        {.name = "begin",
         .signature = "(" STRING_TYPE ")V",
         .access = ACCESS_NATIVE | NSC_DEX_PRIVATE},
        {.name = "control",
         .signature = "(" STRING_TYPE ")Z",
         .access = ACCESS_NATIVE | NSC_DEX_PRIVATE},
        {.name = "enter",
         .signature = "(I)V",
         .access = ACCESS_NATIVE | NSC_DEX_PUBLIC,
         .annotation = CRITICAL_NATIVE,
         .visibility = NSC_DEX_BUILD},
        {.name = "exit",
         .signature = "(I)V",
         .access = ACCESS_NATIVE | NSC_DEX_PUBLIC,
         .annotation = CRITICAL_NATIVE,
         .visibility = NSC_DEX_BUILD},
        {.name = "setName",
         .signature = "(" THREAD_TYPE STRING_TYPE ")V",
         .access = NSC_DEX_PUBLIC | NSC_DEX_STATIC,
         .units = set_name,
         .unit_count = sizeof set_name / sizeof set_name[0],
         .registers = 3,
         .outs = 2},
    };
    const struct nsc_dex_new_class class = {
        .descriptor = NSC_INJECT_HOOKS_CLASS,
        .access = NSC_DEX_PUBLIC | NSC_DEX_FINAL,
        .methods = methods,
        .method_count = sizeof methods / sizeof methods[0],
    };

    return nsc_dex_add_class(dex, &class);
}

int nsc_inject_hooks(const char *build, struct nsc_buffer *out, struct nsc_diag *diag)
{
    struct nsc_dex *dex = nsc_dex_new(NSC_DEX_OLDEST);
    struct names names;
    int error;

    if (dex == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    names = add_names(dex, build);
    add_class(dex, &names); /* what fails is told by those below */
    error = nsc_dex_settle(dex, diag);
    if (error == 0)
        error = nsc_dex_write(dex, out, diag);
    nsc_dex_free(dex);
    return error;
}
