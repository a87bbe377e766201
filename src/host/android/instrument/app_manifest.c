/* app_manifest.c - see app_manifest.h. */
#include "android/instrument/app_manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/manifest.h"
#include "android/instrument/app_input.h"

#define MANIFEST_MOST (64u << 20) /* bytes */
#define MULTIDEX_SDK  21u         /* Android 5.0: native loading of classes2.dex and so on */
#define ID_HAS_CODE   0x0101000cu /* android.R.attr.hasCode */

/* State of the edit of one manifest. */
struct edit {
    const struct nsc_instrument_options *options;
    struct nsc_axml *x;
    struct nsc_manifest says;
    struct nsc_instrument_manifest *out;
    struct nsc_instrument_report *report;
    struct nsc_diag *diag;
    bool changed;
};

static int no_memory(const struct edit *e)
{
    return nsc_diag_set(e->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static int refuse(const struct edit *e, const char *why)
{
    return nsc_diag_set(e->diag, NSC_DIAG_NO_OFFSET, EINVAL, "%s", why);
}

static int warn(const struct edit *e, const char *line)
{
    return nsc_instrument_warn(e->report, "%s", line) == 0 ? 0 : no_memory(e);
}

/* Whether a package name has only valid characters: it is passed to programs on the device. */
static bool plain(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

    return name != NULL && *name != '\0' && *name != '.' && name[strspn(name, letters)] == '\0';
}

static bool has_code(const struct edit *e)
{
    uint32_t application = nsc_manifest_application(e->x);
    const struct nsc_axml_attr *attr =
        application == NSC_AXML_NONE ? NULL : nsc_axml_attr(e->x, application, ID_HAS_CODE);

    return application != NSC_AXML_NONE &&
           (attr == NULL || attr->value.type != NSC_AXML_INT_BOOL || attr->value.data != 0);
}

static int check(struct edit *e)
{
    const struct nsc_manifest *m = &e->says;

    if (!plain(m->package))
        return refuse(e, "it names no package");
    if (m->split != NULL)
        return nsc_diag_set(e->diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "this is the part \"%.60s\" of a split app; rewrite its base APK and "
                            "sign the parts with the same key (nanoscope apk sign)",
                            m->split);
    if (!has_code(e))
        return refuse(e, "it says that the app has no code");
    e->report->package = strdup(m->package);
    if (e->report->package == NULL)
        return no_memory(e);
    if (m->is_split_required == NSC_MANIFEST_TRUE)
        return warn(e, "the app does not install without its other parts (split APKs): sign them "
                       "with the same key, and install all of them together");
    return 0;
}

static int check_level(struct edit *e)
{
    if (e->says.min_sdk >= MULTIDEX_SDK)
        return 0;
    return nsc_instrument_warn(
               e->report,
               "the app is made for Android below 5, too (API %u): there it would not "
               "find its hooks, and crash",
               e->says.min_sdk) == 0
               ? 0
               : no_memory(e);
}

static int change(struct edit *e)
{
    int error = 0;

    e->report->was_debuggable = e->says.debuggable == NSC_MANIFEST_TRUE;
    e->report->debuggable = e->report->was_debuggable;
    if (!e->options->keep_debuggable && !e->report->was_debuggable) {
        error = nsc_manifest_set_debuggable(e->x, true, e->diag);
        e->report->debuggable = true;
        e->changed = true;
    }
    for (size_t i = 0; i < e->options->permission_count && error == 0; i++) {
        const char *name = e->options->permissions[i];
        bool added = false;

        error = nsc_manifest_add_permission(e->x, name, &added, e->diag);
        if (error == 0 && added && nsc_instrument_texts_add(&e->report->permissions, name) != 0)
            error = no_memory(e);
        e->changed |= added;
    }
    if (error == 0 && e->changed)
        error = nsc_axml_write(e->x, &e->out->bytes, e->diag);
    return error;
}

static int edit(struct edit *e)
{
    int error = nsc_manifest_read(e->x, &e->says, e->diag);

    if (error != 0)
        return error;
    error = check(e);
    if (error == 0)
        error = check_level(e);
    if (error == 0)
        error = change(e);
    e->out->keeps_libraries = e->says.extract_native_libs == NSC_MANIFEST_FALSE;
    nsc_manifest_free(&e->says);
    return error;
}

int nsc_instrument_manifest(const struct nsc_instrument_options *options, const struct nsc_zip *zip,
                            struct nsc_instrument_manifest *out,
                            struct nsc_instrument_report *report, struct nsc_diag *diag)
{
    struct edit e = {.options = options, .out = out, .report = report, .diag = diag};
    uint8_t *bytes = NULL;
    size_t size = 0;
    int error;

    *out = (struct nsc_instrument_manifest){0};
    error = nsc_zip_read(zip, nsc_zip_find(zip, NSC_INSTRUMENT_MANIFEST), MANIFEST_MOST, &bytes,
                         &size, diag);
    if (error == 0)
        error = nsc_axml_read(bytes, size, &e.x, diag);
    free(bytes);
    if (error == 0)
        error = edit(&e);
    nsc_axml_free(e.x);
    return error;
}
