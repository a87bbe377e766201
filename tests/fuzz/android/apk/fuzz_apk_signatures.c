/*
 * Fuzzes what reads signatures of APKs. The first byte says what the rest is: an APK, a signing
 * block's contents, or one of the files of a signature of v1, which then lie in an archive that is
 * right.
 *
 * Build and run: make fuzz-apk_signatures
 */
#include <stdlib.h>

#include "android/apk/apk_verify.h"
#include "android/apk/signature_scheme.h"
#include "unit/rigs/zip_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void look(const uint8_t *data, size_t bytes)
{
    struct nsc_apk_signatures s;
    struct nsc_zip *z = NULL;
    struct nsc_diag diag;

    if (rig_open_bytes(data, bytes, &z, &diag) != 0)
        return;
    if (nsc_apk_verify(z, &s, &diag) == 0) {
        for (uint32_t i = 0; i < s.count; i++)
            if (!s.schemes[s.signers[i].scheme].valid)
                abort();
        nsc_apk_signatures_free(&s);
    }
    nsc_zip_close(z);
}

static void put_block(struct zip_rig *r, const uint8_t *data, size_t bytes)
{
    rig_64(&r->file, bytes + 24);
    nsc_buffer_bytes(&r->file, data, bytes);
    rig_64(&r->file, bytes + 24);
    nsc_buffer_bytes(&r->file, NSC_SCHEME_MAGIC, 16);
}

static void put_file(struct zip_rig *r, const char *name, const uint8_t *data, size_t bytes)
{
    rig_add(r, (struct rig_entry){.name = name, .data = data, .bytes = bytes});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const uint8_t manifest[] = "Manifest-Version: 1.0\n\nName: a\nSHA-256-Digest: b\n\n";
    struct zip_rig r = {0};
    int kind = bytes > 0 ? data[0] % 5 : 0;

    if (bytes > 0)
        data++, bytes--;
    if (kind == 0) {
        look(data, bytes);
        return 0;
    }
    rig_text(&r, "a", "a");
    if (kind == 1) {
        put_block(&r, data, bytes);
    } else {
        put_file(&r, "META-INF/MANIFEST.MF", kind == 2 ? data : manifest,
                 kind == 2 ? bytes : sizeof manifest - 1);
        put_file(&r, "META-INF/A.SF", kind == 3 ? data : manifest,
                 kind == 3 ? bytes : sizeof manifest - 1);
        put_file(&r, "META-INF/A.RSA", data, kind == 4 ? bytes : 0);
    }
    rig_end(&r);
    look(r.file.data, r.file.used);
    rig_free(&r);
    return 0;
}
