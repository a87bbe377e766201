/*
 * fuzz_axml.c - any bytes as compiled XML: no crash, a refusal has words, what is accepted is
 * written back as it was, and says after changes what it said before. Build and run: make fuzz
 */
#include "android/axml/axml.h"
#include "android/axml/dump.h"
#include "android/axml/element_path.h"
#include "android/axml/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static struct nsc_axml *read_again(const struct nsc_axml *x)
{
    struct nsc_buffer out = {0};
    struct nsc_axml *next = NULL;
    struct nsc_diag diag;

    must(nsc_axml_write(x, &out, &diag) == 0, "it is not written");
    must(nsc_axml_read(out.data, out.used, &next, &diag) == 0, "what was written is not read");
    nsc_buffer_free(&out);
    return next;
}

static void show(const struct nsc_axml *x)
{
    FILE *out = fopen("/dev/null", "w");
    struct nsc_json json;

    if (out == NULL)
        return;
    (void)nsc_axml_dump(x, out);
    nsc_json_begin(&json, out, true);
    (void)nsc_axml_dump_json(x, &json);
    nsc_json_end(&json);
    fclose(out);
}

/* The changes of a rewriter; each either works or is refused. */
static void change(struct nsc_axml *x)
{
    struct nsc_manifest m;
    struct nsc_diag diag;
    uint32_t before = x->node_count;

    if (nsc_manifest_set_debuggable(x, true, &diag) == 0) {
        struct nsc_axml *next = read_again(x);

        must(nsc_manifest_read(next, &m, &diag) != 0 || m.debuggable == NSC_MANIFEST_TRUE,
             "it is not debuggable");
        if (nsc_axml_is(next, next->nodes[nsc_axml_root(next)].name, "manifest"))
            nsc_manifest_free(&m);
        nsc_axml_free(next);
    }
    (void)nsc_manifest_add_permission(x, "android.permission.INTERNET", NULL, &diag);
    (void)nsc_axml_set_path(x, "application@android:theme=@0x7f010001", &diag);
    (void)nsc_axml_set_path(x, "*[*]/*[*]@foo=string:x", &diag);
    (void)nsc_axml_remove_path(x, "application@android:name", &diag);
    (void)nsc_axml_add_path(x, "application/b[android:name=y][z=1]", &diag);
    (void)nsc_axml_remove_path(x, "application/b[android:name=y]", &diag);
    must(x->node_count >= before, "nodes went away");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_axml *x = NULL, *next;
    struct nsc_buffer out = {0};
    struct nsc_diag diag = {0};

    if (nsc_axml_read(data, size, &x, &diag) != 0) {
        must(diag.message[0] != 0, "refused without a word");
        return 0;
    }
    must(nsc_axml_write(x, &out, &diag) == 0 && out.used == size &&
             memcmp(out.data, data, size) == 0,
         "it is not written as it was");
    nsc_buffer_free(&out);
    show(x);
    change(x);
    next = read_again(x);
    show(next);
    nsc_axml_free(next);
    nsc_axml_free(x);
    return 0;
}
