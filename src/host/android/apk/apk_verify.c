/* apk_verify.c - see apk_verify.h: verify all schemes. */
#include "android/apk/apk_verify.h"

#include <errno.h>

#include "util/array.h"

const char *nsc_apk_scheme_name(enum nsc_apk_scheme_kind scheme)
{
    static const char *const names[] = {"v1", "v2", "v3", "v3.1"};

    return names[scheme];
}

int nsc_apk_add_signer(struct nsc_apk_signatures *s, enum nsc_apk_scheme_kind scheme,
                       struct nsc_crypto_bytes certificate, struct nsc_diag *diag)
{
    struct nsc_apk_signer *bigger = nsc_array_grow(s->signers, &s->room, s->count, sizeof *bigger);

    if (bigger == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    s->signers = bigger;
    bigger += s->count;
    *bigger = (struct nsc_apk_signer){.scheme = scheme};
    if (nsc_crypto_certificate(certificate.at, certificate.bytes, &bigger->certificate) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "the signer's certificate cannot be read");
    s->count++;
    return 0;
}

/* Remove the signers of invalid schemes. */
static void drop_invalid(struct nsc_apk_signatures *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->count; i++)
        if (s->schemes[s->signers[i].scheme].valid)
            s->signers[kept++] = s->signers[i];
    s->count = kept;
}

int nsc_apk_verify(const struct nsc_zip *z, struct nsc_apk_signatures *out, struct nsc_diag *diag)
{
    int error = nsc_crypto_load(diag);

    *out = (struct nsc_apk_signatures){0};
    /* The block first: v1 states which of its schemes must be present. */
    if (error == 0)
        error = nsc_apk_verify_block(z, out, diag);
    if (error == 0)
        error = nsc_apk_verify_v1(z, out, diag);
    if (error != 0)
        nsc_apk_signatures_free(out);
    else
        drop_invalid(out);
    return error;
}

void nsc_apk_signatures_free(struct nsc_apk_signatures *s)
{
    free(s->signers);
    *s = (struct nsc_apk_signatures){0};
}
