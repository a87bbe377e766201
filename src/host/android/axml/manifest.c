/* manifest.c - see manifest.h. */
#include "android/axml/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/value.h"
#include "util/array.h"

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* An attribute's text; NULL if there is none or it is in a resource. Sets @failed if out of memory.
 */
static char *take_text(const struct nsc_axml *x, const struct nsc_axml_attr *a, bool *failed)
{
    struct nsc_buffer text = {0};

    if (a == NULL || a->value.type == NSC_AXML_REFERENCE || a->value.type == NSC_AXML_ATTRIBUTE)
        return NULL;
    nsc_axml_value_text(x, a, &text);
    if (text.failed) {
        nsc_buffer_free(&text);
        *failed = true;
        return NULL;
    }
    return (char *)text.data;
}

static char *take_id(const struct nsc_axml *x, uint32_t node, uint32_t id, bool *failed)
{
    return take_text(x, nsc_axml_attr(x, node, id), failed);
}

static enum nsc_manifest_flag take_flag(const struct nsc_axml *x, uint32_t node, uint32_t id)
{
    const struct nsc_axml_attr *a = nsc_axml_attr(x, node, id);
    bool value;

    if (a == NULL || !nsc_axml_value_bool(x, a, &value))
        return NSC_MANIFEST_UNSET;
    return value ? NSC_MANIFEST_TRUE : NSC_MANIFEST_FALSE;
}

static void read_root(const struct nsc_axml *x, uint32_t root, struct nsc_manifest *m, bool *failed)
{
    const struct nsc_axml_attr *code = nsc_axml_attr(x, root, NSC_MANIFEST_VERSION_CODE);
    const struct nsc_axml_attr *major = nsc_axml_attr(x, root, NSC_MANIFEST_VERSION_CODE_MAJOR);
    uint32_t value;

    m->package = take_text(x, nsc_axml_attr_named(x, root, NULL, "package"), failed);
    m->split = take_text(x, nsc_axml_attr_named(x, root, NULL, "split"), failed);
    m->config_for_split =
        take_text(x, nsc_axml_attr_named(x, root, NULL, "configForSplit"), failed);
    m->version_name = take_id(x, root, NSC_MANIFEST_VERSION_NAME, failed);
    m->is_feature_split = take_flag(x, root, NSC_MANIFEST_IS_FEATURE_SPLIT);
    m->is_split_required = take_flag(x, root, NSC_MANIFEST_IS_SPLIT_REQUIRED);
    if (code != NULL && nsc_axml_value_int(x, code, &value)) {
        m->has_version_code = true;
        m->version_code = value;
    }
    if (major != NULL && nsc_axml_value_int(x, major, &value))
        m->version_code |= (uint64_t)value << 32;
}

/* Read an API level; a code name gives NSC_MANIFEST_CODENAME. */
static void read_level(const struct nsc_axml *x, uint32_t node, uint32_t id, uint32_t *level)
{
    const struct nsc_axml_attr *a = nsc_axml_attr(x, node, id);

    if (a != NULL && !nsc_axml_value_int(x, a, level) && a->value.type == NSC_AXML_STRING)
        *level = NSC_MANIFEST_CODENAME;
}

static void read_levels(const struct nsc_axml *x, uint32_t root, struct nsc_manifest *m)
{
    uint32_t target = 0;

    m->min_sdk = 1;
    for (uint32_t n = root; (n = nsc_axml_child(x, root, n, "uses-sdk")) != NSC_AXML_NONE;) {
        read_level(x, n, NSC_MANIFEST_MIN_SDK, &m->min_sdk);
        read_level(x, n, NSC_MANIFEST_TARGET_SDK, &target);
    }
    m->target_sdk = target != 0 ? target : m->min_sdk;
}

/* Complete a class name that lacks its package. */
static char *full_name(const char *package, char *name, bool *failed)
{
    char *full;

    if (name == NULL || *name == 0 || package == NULL ||
        (strchr(name, '.') != NULL && *name != '.'))
        return name;
    if (asprintf(&full, "%s%s%s", package, *name == '.' ? "" : ".", name) < 0) {
        *failed = true;
        return name;
    }
    free(name);
    return full;
}

static void read_application(const struct nsc_axml *x, struct nsc_manifest *m, bool *failed)
{
    uint32_t app = nsc_manifest_application(x);

    m->has_application = app != NSC_AXML_NONE;
    if (!m->has_application)
        return;
    m->application = full_name(m->package, take_id(x, app, NSC_MANIFEST_NAME, failed), failed);
    m->debuggable = take_flag(x, app, NSC_MANIFEST_DEBUGGABLE);
    m->test_only = take_flag(x, app, NSC_MANIFEST_TEST_ONLY);
    m->extract_native_libs = take_flag(x, app, NSC_MANIFEST_EXTRACT_NATIVE_LIBS);
}

static bool is_permission(const struct nsc_axml *x, uint32_t node)
{
    return nsc_axml_is(x, x->nodes[node].name, "uses-permission") ||
           nsc_axml_is(x, x->nodes[node].name, "uses-permission-sdk-23");
}

static void read_permissions(const struct nsc_axml *x, uint32_t root, struct nsc_manifest *m,
                             bool *failed)
{
    for (uint32_t n = root; (n = nsc_axml_child(x, root, n, NULL)) != NSC_AXML_NONE;) {
        char *name, **grown;

        if (!is_permission(x, n))
            continue;
        name = take_id(x, n, NSC_MANIFEST_NAME, failed);
        if (name == NULL)
            continue;
        grown =
            nsc_array_grow(m->permissions, &m->permission_room, m->permission_count, sizeof *grown);
        if (grown == NULL) {
            free(name);
            *failed = true;
            return;
        }
        m->permissions = grown;
        grown[m->permission_count++] = name;
    }
}

/* Find the root element. Returns -EBADMSG if it is not that of a manifest. */
static int find_root(const struct nsc_axml *x, uint32_t *root, struct nsc_diag *diag)
{
    *root = nsc_axml_root(x);
    if (*root != NSC_AXML_NONE && nsc_axml_is(x, x->nodes[*root].name, "manifest"))
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                        "this is no manifest: its first element is not <manifest>");
}

int nsc_manifest_read(const struct nsc_axml *x, struct nsc_manifest *out, struct nsc_diag *diag)
{
    struct nsc_manifest m = {0};
    bool out_of_memory = false;
    uint32_t root;
    int error = find_root(x, &root, diag);

    if (error != 0)
        return error;
    read_root(x, root, &m, &out_of_memory);
    read_levels(x, root, &m);
    read_application(x, &m, &out_of_memory);
    read_permissions(x, root, &m, &out_of_memory);
    if (out_of_memory) {
        nsc_manifest_free(&m);
        return no_memory(diag);
    }
    *out = m;
    return 0;
}

void nsc_manifest_free(struct nsc_manifest *m)
{
    for (uint32_t i = 0; i < m->permission_count; i++)
        free(m->permissions[i]);
    free(m->permissions);
    free(m->package);
    free(m->version_name);
    free(m->application);
    free(m->split);
    free(m->config_for_split);
    memset(m, 0, sizeof *m);
}

uint32_t nsc_manifest_application(const struct nsc_axml *x)
{
    uint32_t root = nsc_axml_root(x);

    return root == NSC_AXML_NONE ? NSC_AXML_NONE : nsc_axml_child(x, root, root, "application");
}

static int set_flag(struct nsc_axml *x, const char *name, uint32_t id, bool value,
                    struct nsc_diag *diag)
{
    struct nsc_axml_key key = {NSC_AXML_ANDROID, name, id};
    struct nsc_axml_setting to = {NSC_AXML_INT_BOOL, value ? UINT32_MAX : 0, NULL};
    uint32_t app = nsc_manifest_application(x);

    if (app == NSC_AXML_NONE)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT,
                            "the manifest has no <application> element");
    return nsc_axml_set(x, app, &key, &to, diag);
}

int nsc_manifest_set_debuggable(struct nsc_axml *x, bool debuggable, struct nsc_diag *diag)
{
    return set_flag(x, "debuggable", NSC_MANIFEST_DEBUGGABLE, debuggable, diag);
}

int nsc_manifest_set_extract_native_libs(struct nsc_axml *x, bool extract, struct nsc_diag *diag)
{
    return set_flag(x, "extractNativeLibs", NSC_MANIFEST_EXTRACT_NATIVE_LIBS, extract, diag);
}

/* Whether the permission is requested at every API level. */
static bool has_permission(const struct nsc_axml *x, uint32_t root, const char *name)
{
    for (uint32_t n = root; (n = nsc_axml_child(x, root, n, "uses-permission")) != NSC_AXML_NONE;) {
        const struct nsc_axml_attr *a = nsc_axml_attr(x, n, NSC_MANIFEST_NAME);

        if (a != NULL && a->value.type == NSC_AXML_STRING && nsc_axml_is(x, a->value.data, name) &&
            nsc_axml_attr(x, n, NSC_MANIFEST_MAX_SDK) == NULL)
            return true;
    }
    return false;
}

int nsc_manifest_add_permission(struct nsc_axml *x, const char *name, bool *added,
                                struct nsc_diag *diag)
{
    struct nsc_axml_key key = {NSC_AXML_ANDROID, "name", NSC_MANIFEST_NAME};
    struct nsc_axml_setting to = {NSC_AXML_STRING, 0, name};
    uint32_t root, node;
    int error = find_root(x, &root, diag);
    bool had = error == 0 && has_permission(x, root, name);

    if (error == 0 && !had) {
        error = nsc_axml_add(x, root, "uses-permission", &node, diag);
        if (error == 0)
            error = nsc_axml_set(x, node, &key, &to, diag);
    }
    if (error == 0 && added != NULL)
        *added = !had;
    return error;
}
