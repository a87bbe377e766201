/*
 * apk_info.h - collect and print the contents of an APK, for `nanoscope apk info`.
 *
 * apk_info.c collects, apk_show.c prints. Called by cmd_apk.c.
 */
#ifndef NSC_CLI_ANDROID_APK_INFO_H
#define NSC_CLI_ANDROID_APK_INFO_H

#include "android/apk/apk_verify.h"
#include "android/axml/manifest.h"
#include "android/names/method_table.h"
#include "cli/command.h"

struct nsc_apk_dex {
    const char *name;
    char version[4]; /* "035" */
    uint32_t strings, types, fields, methods, classes;
    uint64_t bytes;
};

struct nsc_apk_library {
    const char *name; /* lib/ABI/FILE */
    char abi[24];
    bool stored, is_elf, is_64;
    uint64_t bytes, data_off;
    uint64_t align; /* least alignment of its PT_LOAD segments; 0 if unknown */
};

enum nsc_apk_part {
    NSC_APK_PART_DEX,
    NSC_APK_PART_LIBRARIES,
    NSC_APK_PART_RESOURCES,
    NSC_APK_PART_ASSETS,
    NSC_APK_PART_META,
    NSC_APK_PART_OTHER,
    NSC_APK_PARTS,
};

struct nsc_apk_size {
    uint64_t entries, packed, bytes;
};

struct nsc_apk_info {
    const struct nsc_zip *zip;
    struct nsc_manifest manifest;
    struct nsc_apk_signatures signatures;
    bool looked_at_signatures;
    char no_signatures[256]; /* why they were not checked, otherwise */
    struct nsc_apk_dex *dex;
    uint32_t dex_count, dex_room;
    struct nsc_apk_library *libraries;
    uint32_t library_count, library_room;
    bool injected;
    char build[NSC_METHODS_BUILD_BYTES + 1];
    uint64_t methods; /* number of instrumented methods */
    struct nsc_apk_size sizes[NSC_APK_PARTS];
};

/* Collect the contents of @z into @out. @z: borrowed until nsc_apk_info_free(). Returns 0 or -errno
 * with @diag. */
int nsc_apk_info_gather(const struct nsc_zip *z, struct nsc_apk_info *out, struct nsc_diag *diag);
void nsc_apk_info_free(struct nsc_apk_info *info);

enum nsc_apk_pages { NSC_APK_PAGES_GOOD, NSC_APK_PAGES_BAD, NSC_APK_PAGES_DOES_NOT_MATTER };

/* Whether a device with 16 KiB pages can load the library. It does not matter for 32-bit libraries,
 * which do not run there, and for files that are not ELF. */
enum nsc_apk_pages nsc_apk_info_pages(const struct nsc_apk_library *l);
const char *nsc_apk_info_part(enum nsc_apk_part part);

/* Print the contents as text or as JSON. Both return an exit status, after a message on failure. */
int nsc_apk_info_show(const struct nsc_apk_info *info);
int nsc_apk_info_show_json(const struct nsc_apk_info *info);

#endif
