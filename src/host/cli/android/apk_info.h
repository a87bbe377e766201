/*
 * apk_info.h - what an APK holds, gathered for `nanoscope apk info` and shown.
 *
 * apk_info.c gathers, apk_show.c prints. Called by cmd_apk.c.
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
    uint64_t align; /* of its segments, the least; 0 if not known */
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
    char no_signatures[256]; /* why not, else */
    struct nsc_apk_dex *dex;
    uint32_t dex_count, dex_room;
    struct nsc_apk_library *libraries;
    uint32_t library_count, library_room;
    bool injected;
    char build[NSC_METHODS_BUILD_BYTES + 1];
    uint64_t methods; /* that are recorded */
    struct nsc_apk_size sizes[NSC_APK_PARTS];
};

/* @z: borrowed until nsc_apk_info_free(). Returns 0 or -errno with @diag. */
int nsc_apk_info_gather(const struct nsc_zip *z, struct nsc_apk_info *out, struct nsc_diag *diag);
void nsc_apk_info_free(struct nsc_apk_info *info);

enum nsc_apk_pages { NSC_APK_PAGES_GOOD, NSC_APK_PAGES_BAD, NSC_APK_PAGES_DOES_NOT_MATTER };

/* Can a phone with pages of 16 KiB load the library? Those of 32 bits do not run there. */
enum nsc_apk_pages nsc_apk_info_pages(const struct nsc_apk_library *l);
const char *nsc_apk_info_part(enum nsc_apk_part part);

/* Print it; an exit status. */
int nsc_apk_info_show(const struct nsc_apk_info *info);
int nsc_apk_info_show_json(const struct nsc_apk_info *info);

#endif
