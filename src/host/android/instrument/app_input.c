/* app_input.c - see app_input.h. */
#include "android/instrument/app_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "android/names/method_table.h"

#define DEX_LEAST 112u         /* bytes of a dex file's header */
#define DEX_MOST  (512u << 20) /* bytes; real files, with up to 65,536 methods, are far smaller */

/* An app without libraries gets the first four. An app with only lib/armeabi gets ours in that
 * folder: an additional folder armeabi-v7a would hide its libraries. */
static const struct nsc_instrument_abi abis[] = {
    {"arm64-v8a", "arm64-v8a"}, {"armeabi-v7a", "armeabi-v7a"},
    {"x86_64", "x86_64"},       {"x86", "x86"},
    {"armeabi", "armeabi-v7a"}, {"mips", NULL},
    {"mips64", NULL},           {"riscv64", NULL},
};
#define ABIS      (sizeof abis / sizeof abis[0])
#define OURS_MOST 4u

/* ---- Recognize files that are not APKs --------------------------------------------------------
 */

static bool ends_with(const char *text, const char *end)
{
    size_t bytes = strlen(text), less = strlen(end);

    return bytes >= less && strcmp(text + bytes - less, end) == 0;
}

static bool holds_apks(const struct nsc_zip *zip)
{
    for (uint32_t i = 0; i < nsc_zip_count(zip); i++)
        if (ends_with(nsc_zip_at(zip, i)->name, ".apk"))
            return true;
    return false;
}

static int refuse(struct nsc_diag *diag, const char *path, const char *why)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "cannot rewrite %s: %s", path, why);
}

static int check_kind(const struct nsc_zip *zip, const char *path, struct nsc_diag *diag)
{
    if (nsc_zip_find(zip, "BundleConfig.pb") != NULL ||
        nsc_zip_find(zip, "base/manifest/AndroidManifest.xml") != NULL)
        return refuse(diag, path,
                      "it is an Android App Bundle; build an APK from it (bundletool build-apks "
                      "--mode=universal)");
    if (nsc_zip_find(zip, NSC_INSTRUMENT_MANIFEST) == NULL && holds_apks(zip))
        return refuse(diag, path,
                      "it is an archive of several APKs; unpack it and rewrite the base APK");
    if (nsc_zip_find(zip, NSC_INSTRUMENT_MANIFEST) == NULL)
        return refuse(diag, path, "it is no APK: there is no AndroidManifest.xml in it");
    if (nsc_zip_find(zip, "classes.dex") == NULL)
        return refuse(diag, path, "it has no code: there is no classes.dex in it");
    return 0;
}

/* ---- Recognize instrumented apps --------------------------------------------------------------
 */

static int check_fresh(const struct nsc_zip *zip, const char *path, struct nsc_diag *diag)
{
    const struct nsc_zip_entry *table = nsc_zip_find(zip, NSC_METHODS_ASSET);
    char build[NSC_METHODS_BUILD_BYTES + 16] = "";
    struct nsc_methods *methods = NULL;
    uint8_t *text = NULL;
    size_t bytes;

    if (table == NULL)
        return 0;
    if (nsc_zip_read(zip, table, NSC_METHODS_BYTES_MAX, &text, &bytes, NULL) == 0 &&
        nsc_methods_read((const char *)text, bytes, NSC_METHODS_ASSET, &methods, NULL) == 0)
        snprintf(build, sizeof build, " (build %s)", nsc_methods_build(methods));
    nsc_methods_free(methods);
    free(text);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EALREADY,
                        "%s is rewritten already%s: take the app as it was before", path, build);
}

/* ---- Code ------------------------------------------------------------------------------------ */

/* The number N of classesN.dex (1 for classes.dex), or 0 if it is not such a name. */
static uint32_t dex_number(const char *name)
{
    char canonical[32];
    unsigned number;

    if (strcmp(name, "classes.dex") == 0)
        return 1;
    if (sscanf(name, "classes%9u.dex", &number) != 1 || number < 2)
        return 0;
    snprintf(canonical, sizeof canonical, "classes%u.dex", number);
    return strcmp(name, canonical) == 0 ? number : 0;
}

/* The hooks' dex file fills the first gap in the numbers. Refuse an input that has the next number:
 * Android would then load that file, too. Warn about other files that are not loaded. */
static int check_unloaded(const struct nsc_instrument_input *in,
                          struct nsc_instrument_report *report, struct nsc_diag *diag)
{
    uint32_t gap = in->dex_count + 1, more = 0;

    for (uint32_t i = 0; i < nsc_zip_count(in->zip); i++) {
        uint32_t number = dex_number(nsc_zip_at(in->zip, i)->name);

        if (number == gap + 1)
            return nsc_diag_set(
                diag, NSC_DIAG_NO_OFFSET, EINVAL,
                "cannot rewrite %s: Android does not load its classes%u.dex, as there is no "
                "classes%u.dex; with the hooks in that place it would. If the app does not need "
                "it, remove it (zip -d)",
                nsc_zip_path(in->zip), gap + 1, gap);
        more += number > gap;
    }
    if (more == 0 ||
        nsc_instrument_warn(
            report,
            "%u dex file%s not loaded by Android, as there is no classes%u.dex, and "
            "left as %s",
            more, more == 1 ? " is" : "s are", gap, more == 1 ? "it is" : "they are") == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static int find_dex(struct nsc_instrument_input *in, struct nsc_instrument_report *report,
                    struct nsc_diag *diag)
{
    uint32_t most = nsc_zip_count(in->zip);
    char name[32] = "classes.dex";

    in->dex = calloc(most, sizeof *in->dex);
    if (in->dex == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    while (in->dex_count < most) {
        const struct nsc_zip_entry *e = nsc_zip_find(in->zip, name);

        if (e == NULL)
            break;
        if (e->bytes > DEX_MOST)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                                "cannot rewrite %s: its %s is too large (%llu MiB)",
                                nsc_zip_path(in->zip), name, (unsigned long long)(e->bytes >> 20));
        if (e->bytes < DEX_LEAST)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                                "cannot rewrite %s: its %s is no dex file", nsc_zip_path(in->zip),
                                name);
        in->dex[in->dex_count++] = e;
        in->dex_bytes += e->bytes;
        snprintf(name, sizeof name, "classes%u.dex", in->dex_count + 1);
    }
    return check_unloaded(in, report, diag);
}

/* ---- Libraries ------------------------------------------------------------------------------- */

/* Index in abis[] of a library's folder (lib/ABI/NAME.so); ABIS: not a library, or unknown ABI. */
static size_t library_abi(const char *name)
{
    const char *abi = name + strlen("lib/"), *slash;

    if (strncmp(name, "lib/", strlen("lib/")) != 0 || !ends_with(name, ".so"))
        return ABIS;
    slash = strchr(abi, '/');
    if (slash == NULL || strchr(slash + 1, '/') != NULL)
        return ABIS;
    for (size_t i = 0; i < ABIS; i++)
        if (strlen(abis[i].name) == (size_t)(slash - abi) &&
            memcmp(abis[i].name, abi, (size_t)(slash - abi)) == 0)
            return i;
    return ABIS;
}

/* Find the ABIs that the app has libraries for. Returns one bit per ABI. */
static unsigned survey_libraries(struct nsc_instrument_input *in)
{
    unsigned present = 0;

    for (uint32_t i = 0; i < nsc_zip_count(in->zip); i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(in->zip, i);
        size_t abi = library_abi(e->name);

        if (abi == ABIS)
            continue;
        present |= 1u << abi;
        in->stored_libraries |= e->method == NSC_ZIP_STORED;
    }
    return present;
}

static int choose_abis(struct nsc_instrument_input *in, struct nsc_instrument_report *report,
                       struct nsc_diag *diag)
{
    unsigned present = survey_libraries(in), wanted = present;
    const char *foreign = NULL;

    if (present == 0)
        wanted = (1u << OURS_MOST) - 1;
    in->abis = calloc(ABIS, sizeof *in->abis);
    if (in->abis == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (size_t i = 0; i < ABIS; i++) {
        if ((wanted & 1u << i) == 0)
            continue;
        if (abis[i].ours != NULL)
            in->abis[in->abi_count++] = &abis[i];
        else
            foreign = abis[i].name;
    }
    if (in->abi_count == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "cannot rewrite %s: its libraries are for %s only, and nanoscope has "
                            "none for that (it has arm64-v8a, armeabi-v7a, x86_64 and x86)",
                            nsc_zip_path(in->zip), foreign);
    if (foreign != NULL &&
        nsc_instrument_warn(report,
                            "the app does not run on devices with %s any more: nanoscope has no "
                            "library for that",
                            foreign) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return 0;
}

int nsc_instrument_open(const char *path, struct nsc_instrument_input *in,
                        struct nsc_instrument_report *report, struct nsc_diag *diag)
{
    int error = nsc_zip_open(path, &in->zip, diag);

    if (error == 0)
        error = check_kind(in->zip, path, diag);
    if (error == 0)
        error = check_fresh(in->zip, path, diag);
    if (error == 0)
        error = find_dex(in, report, diag);
    if (error == 0)
        error = choose_abis(in, report, diag);
    return error;
}

void nsc_instrument_close(struct nsc_instrument_input *in)
{
    nsc_zip_close(in->zip);
    free(in->dex);
    free(in->abis);
    *in = (struct nsc_instrument_input){0};
}
