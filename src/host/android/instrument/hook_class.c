/* hook_class.c - see hook_class.h. */
#include "android/instrument/hook_class.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/dex/dex.h"

#define CRITICAL_NATIVE "Ldalvik/annotation/optimization/CriticalNative;"
#define STRING_TYPE     "Ljava/lang/String;"

/* Instructions. Source: Dalvik bytecode. */
#define RETURN_VOID     0x000e
#define CONST_STRING_V0 0x001a /* , string */
#define SPUT_OBJECT_V0  0x0069 /* , field */
#define INVOKE_STATIC_1 0x1071 /* , method, register */

#define ACCESS_NATIVE (NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE)

static void add_class(struct nsc_dex *dex, const char *build)
{
    /* In a file this small all indices fit 16 bits. */
    const uint16_t initialize[] = {
        CONST_STRING_V0,
        (uint16_t)nsc_dex_add_string(dex, build),
        SPUT_OBJECT_V0,
        (uint16_t)nsc_dex_add_field(dex, NSC_INSTRUMENT_HOOKS_CLASS, "BUILD", STRING_TYPE),
        CONST_STRING_V0,
        (uint16_t)nsc_dex_add_string(dex, NSC_INSTRUMENT_LIBRARY),
        INVOKE_STATIC_1,
        (uint16_t)nsc_dex_add_method(dex, "Ljava/lang/System;", "loadLibrary",
                                     "(" STRING_TYPE ")V"),
        0,
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
        {.name = "enter",
         .signature = "(I)V",
         .access = ACCESS_NATIVE,
         .annotation = CRITICAL_NATIVE,
         .visibility = NSC_DEX_BUILD},
        {.name = "exit",
         .signature = "(I)V",
         .access = ACCESS_NATIVE,
         .annotation = CRITICAL_NATIVE,
         .visibility = NSC_DEX_BUILD},
        {.name = "setName", .signature = NSC_INSTRUMENT_SET_NAME, .access = ACCESS_NATIVE},
    };
    const struct nsc_dex_new_class class = {
        .descriptor = NSC_INSTRUMENT_HOOKS_CLASS,
        .access = NSC_DEX_PUBLIC | NSC_DEX_FINAL,
        .methods = methods,
        .method_count = sizeof methods / sizeof methods[0],
    };

    /* Errors are latched in the model. */
    nsc_dex_add_class(dex, &class);
}

/* Add the class's field before its methods: nsc_dex_add_class() only supports methods.
 * @members: receives the new member array, to be freed after the model. */
static int add_field(struct nsc_dex *dex, struct nsc_dex_member **members)
{
    struct nsc_dex_class_data *data = &dex->class_data[dex->classes[0].data];
    uint32_t count = data->direct_methods + data->virtual_methods;

    *members = calloc((size_t)count + 1, sizeof **members);
    if (*members == NULL)
        return -ENOMEM;
    (*members)[0] = (struct nsc_dex_member){
        .index = nsc_dex_add_field(dex, NSC_INSTRUMENT_HOOKS_CLASS, "BUILD", STRING_TYPE),
        .access = NSC_DEX_STATIC | NSC_DEX_FINAL,
        .code = NSC_DEX_NONE,
    };
    memcpy(*members + 1, data->members, count * sizeof **members);
    data->members = *members;
    data->static_fields = 1;
    return 0;
}

int nsc_instrument_hooks(const char *build, struct nsc_buffer *out, struct nsc_diag *diag)
{
    struct nsc_dex *dex = nsc_dex_new(NSC_DEX_OLDEST);
    struct nsc_dex_member *members = NULL;
    int error;

    if (dex == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    add_class(dex, build);
    error = nsc_dex_settle(dex, diag);
    if (error == 0 && add_field(dex, &members) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error == 0)
        error = nsc_dex_write(dex, out, diag);
    nsc_dex_free(dex);
    free(members);
    return error;
}
