/* The dex file of the class that an app's methods call. With a file name it is written there. */
#include "android/dex/dex.h"
#include "android/instrument/hook_class.h"
#include "tap.h"

#define BUILD "00112233445566778899aabbccddeeff"

static const struct nsc_dex_member *member(const struct nsc_dex *dex, const char *name,
                                           const char *signature)
{
    const struct nsc_dex_class_data *data = &dex->class_data[dex->classes[0].data];
    uint32_t index = nsc_dex_find_method(dex, NSC_INSTRUMENT_HOOKS_CLASS, name, signature);

    for (uint32_t i = 0; i < data->static_fields + data->direct_methods; i++)
        if (i >= data->static_fields && data->members[i].index == index)
            return &data->members[i];
    return NULL;
}

static void methods(const struct nsc_dex *dex)
{
    static const struct {
        const char *name, *signature;
        uint32_t access;
        bool has_code;
    } wanted[] = {
        {"<clinit>", "()V", NSC_DEX_STATIC | NSC_DEX_CONSTRUCTOR, true},
        {"enter", "(I)V", NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE, false},
        {"exit", "(I)V", NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE, false},
        {"setName", NSC_INSTRUMENT_SET_NAME, NSC_DEX_PUBLIC | NSC_DEX_STATIC | NSC_DEX_NATIVE,
         false},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct nsc_dex_member *m = member(dex, wanted[i].name, wanted[i].signature);

        CHECK(m != NULL && m->access == wanted[i].access &&
              (m->code != NSC_DEX_NONE) == wanted[i].has_code);
    }
}

int main(int argc, char **argv)
{
    struct nsc_buffer out = {0};
    struct nsc_diag diag = {.message = ""};
    struct nsc_dex *dex = NULL;

    CHECK(nsc_instrument_hooks(BUILD, &out, &diag) == 0);
    CHECK_STR(diag.message, "");
    CHECK(nsc_dex_read(out.data, out.used, &dex, &diag) == 0);
    if (dex == NULL)
        return t_done();
    CHECK(dex->version == 35 && dex->checksum_ok && dex->signature_ok);
    CHECK_U64(dex->class_count, 1);
    CHECK_STR(nsc_dex_descriptor(dex, dex->classes[0].type), NSC_INSTRUMENT_HOOKS_CLASS);
    CHECK_U64(dex->class_data[dex->classes[0].data].static_fields, 1);
    CHECK(nsc_dex_find_string(dex, BUILD) != NSC_DEX_NONE);
    CHECK(nsc_dex_find_string(dex, NSC_INSTRUMENT_LIBRARY) != NSC_DEX_NONE);
    /* enter and exit; a set with the one annotation. */
    CHECK_U64(dex->directory_count, 1);
    CHECK_U64(dex->directories[0].methods, 2);
    methods(dex);
    nsc_dex_free(dex);
    if (argc > 1) {
        FILE *file = fopen(argv[1], "wb");

        CHECK(file != NULL && fwrite(out.data, 1, out.used, file) == out.used && fclose(file) == 0);
    }
    nsc_buffer_free(&out);
    return t_done();
}
