/*
 * manifest.h - read an AndroidManifest.xml, and make the changes that tracing needs.
 *
 * Called by instrument/ and cli/. Attributes are looked up by resource id.
 */
#ifndef NSC_ANDROID_AXML_MANIFEST_H
#define NSC_ANDROID_AXML_MANIFEST_H

#include "android/axml/axml.h"

/* Resource ids of attributes. */
enum nsc_manifest_attr {
    NSC_MANIFEST_NAME = 0x01010003,
    NSC_MANIFEST_DEBUGGABLE = 0x0101000f,
    NSC_MANIFEST_MIN_SDK = 0x0101020c,
    NSC_MANIFEST_VERSION_CODE = 0x0101021b,
    NSC_MANIFEST_VERSION_NAME = 0x0101021c,
    NSC_MANIFEST_TARGET_SDK = 0x01010270,
    NSC_MANIFEST_MAX_SDK = 0x01010271,
    NSC_MANIFEST_TEST_ONLY = 0x01010272,
    NSC_MANIFEST_EXTRACT_NATIVE_LIBS = 0x010104ea,
    NSC_MANIFEST_IS_FEATURE_SPLIT = 0x0101055b,
    NSC_MANIFEST_VERSION_CODE_MAJOR = 0x01010576,
    NSC_MANIFEST_IS_SPLIT_REQUIRED = 0x01010591,
};

/* A boolean. UNSET: absent, or in a resource. */
enum nsc_manifest_flag { NSC_MANIFEST_UNSET = 0, NSC_MANIFEST_FALSE, NSC_MANIFEST_TRUE };

#define NSC_MANIFEST_CODENAME 10000u /* API level of a platform known by its code name */

struct nsc_manifest {
    char *package;      /* NULL: none */
    char *version_name; /* NULL: none, or in a resource */
    char *application;  /* full name of the application's class; NULL: the platform's default */
    char *split;        /* name of this split; NULL: a base APK */
    char *config_for_split;
    bool has_version_code;
    uint64_t version_code; /* with versionCodeMajor in the upper half */
    uint32_t min_sdk;      /* 1 if not given, NSC_MANIFEST_CODENAME for a code name */
    uint32_t target_sdk;   /* min_sdk if not given */
    bool has_application;
    enum nsc_manifest_flag debuggable, test_only, extract_native_libs, is_feature_split,
        is_split_required;
    char **permissions; /* of uses-permission and uses-permission-sdk-23 */
    uint32_t permission_count, permission_room;
};

/**
 * nsc_manifest_read - read the manifest's properties.
 * @out: filled; release with nsc_manifest_free(). Untouched on failure.
 * Returns 0, -EBADMSG (not a manifest) or -ENOMEM, with @diag.
 */
int nsc_manifest_read(const struct nsc_axml *x, struct nsc_manifest *out, struct nsc_diag *diag);
void nsc_manifest_free(struct nsc_manifest *m);

/* The element `application`, or NSC_AXML_NONE. */
uint32_t nsc_manifest_application(const struct nsc_axml *x);

/* Set or clear android:debuggable, which run-as requires. Returns 0, -ENOENT (no application
 * element), or as nsc_axml_set(). */
int nsc_manifest_set_debuggable(struct nsc_axml *x, bool debuggable, struct nsc_diag *diag);
/* Set android:extractNativeLibs. Returns as nsc_manifest_set_debuggable(). */
int nsc_manifest_set_extract_native_libs(struct nsc_axml *x, bool extract, struct nsc_diag *diag);

/**
 * nsc_manifest_add_permission - request a permission at every API level.
 * @name: "android.permission.INTERNET".
 * @added: may be NULL; receives whether it was not requested before.
 * Returns 0 or as nsc_axml_add() and nsc_axml_set().
 */
int nsc_manifest_add_permission(struct nsc_axml *x, const char *name, bool *added,
                                struct nsc_diag *diag);

#endif
