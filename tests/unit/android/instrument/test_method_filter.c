/* Which methods inject chooses: patterns, kinds and sizes. */
#include "android/instrument/method_filter.h"
#include "tap.h"

enum { ACC_BRIDGE = 0x40, ACC_NATIVE = 0x100, ACC_ABSTRACT = 0x400, ACC_SYNTHETIC = 0x1000 };

struct rig {
    struct nsc_pattern *compiled[3];
    const struct nsc_pattern *lists[3][1];
    struct nsc_instrument_options options;
};

static void arm(struct rig *rig, const char *only, const char *except)
{
    const char *texts[2] = {only, except};
    struct nsc_instrument_patterns *to[2] = {&rig->options.only, &rig->options.except};

    memset(rig, 0, sizeof *rig);
    for (int i = 0; i < 2; i++) {
        if (texts[i] == NULL)
            continue;
        if (nsc_pattern_compile(texts[i], &rig->compiled[i], NULL) != 0)
            abort();
        rig->lists[i][0] = rig->compiled[i];
        *to[i] = (struct nsc_instrument_patterns){rig->lists[i], 1};
    }
}

static void disarm(struct rig *rig)
{
    for (int i = 0; i < 3; i++)
        nsc_pattern_free(rig->compiled[i]);
}

static enum nsc_instrument_why ask(const struct rig *rig, const char *signature, const char *name,
                                   uint32_t access, uint32_t units)
{
    struct nsc_buffer class_name = {0};
    enum nsc_instrument_why why;

    nsc_instrument_class_of(signature, &class_name);
    why = nsc_instrument_choose(
        &rig->options, &(struct nsc_instrument_method){.class_name = (char *)class_name.data,
                                                       .name = name,
                                                       .signature = signature,
                                                       .access = access,
                                                       .has_code = units > 0,
                                                       .units = units});
    nsc_buffer_free(&class_name);
    return why;
}

#define ADD "int com.example.Cart.add(java.lang.String, int[])"

static enum nsc_instrument_why with(const char *only, const char *except)
{
    struct rig rig;
    enum nsc_instrument_why why;

    arm(&rig, only, except);
    why = ask(&rig, ADD, "add", 0, 10);
    disarm(&rig);
    return why;
}

static void patterns(void)
{
    CHECK(with(NULL, NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example.*", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example.Cart", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example.Cart.add", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("*.add", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("int com.example.Cart.add(java.lang.String, int\\[\\])", NULL) ==
          NSC_INSTRUMENT_RECORDED);
    CHECK(with("/^com[.]example[.]Cart$/", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("/add[(]java/", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example.*(java.*)", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("int *", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example", NULL) == NSC_INSTRUMENT_FILTERED);
    /* Types count where they are spoken of only. */
    CHECK(with("int*", NULL) == NSC_INSTRUMENT_FILTERED);
    CHECK(with("*String*", NULL) == NSC_INSTRUMENT_FILTERED);
    CHECK(with("int*(*String*)", NULL) == NSC_INSTRUMENT_FILTERED);
    CHECK(with("*(*String*)", NULL) == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.example.Car", NULL) == NSC_INSTRUMENT_FILTERED);
    CHECK(with("add", NULL) == NSC_INSTRUMENT_FILTERED);
    CHECK(with(NULL, "com.example.*") == NSC_INSTRUMENT_FILTERED);
    CHECK(with(NULL, "org.*") == NSC_INSTRUMENT_RECORDED);
    CHECK(with("com.*", "*.Cart") == NSC_INSTRUMENT_FILTERED);
}

static enum nsc_instrument_why skipping(unsigned skip, const char *signature, const char *name,
                                        uint32_t access)
{
    struct rig rig;

    arm(&rig, NULL, NULL);
    rig.options.skip = skip;
    return ask(&rig, signature, name, access, 10);
}

static void kinds(void)
{
    const unsigned all = NSC_INSTRUMENT_SKIP_INIT | NSC_INSTRUMENT_SKIP_CLINIT |
                         NSC_INSTRUMENT_SKIP_FINALIZE | NSC_INSTRUMENT_SKIP_SYNTHETIC;

    CHECK(skipping(all, ADD, "add", 0) == NSC_INSTRUMENT_RECORDED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_INIT, "void a.B.<init>(int)", "<init>", 0) ==
          NSC_INSTRUMENT_SKIPPED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_CLINIT, "void a.B.<init>(int)", "<init>", 0) ==
          NSC_INSTRUMENT_RECORDED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_CLINIT, "void a.B.<clinit>()", "<clinit>", 0) ==
          NSC_INSTRUMENT_SKIPPED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_FINALIZE, "void a.B.finalize()", "finalize", 0) ==
          NSC_INSTRUMENT_SKIPPED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_FINALIZE, "void a.B.finalize(int)", "finalize", 0) ==
          NSC_INSTRUMENT_RECORDED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_SYNTHETIC, ADD, "add", ACC_SYNTHETIC) ==
          NSC_INSTRUMENT_SKIPPED);
    CHECK(skipping(NSC_INSTRUMENT_SKIP_SYNTHETIC, ADD, "add", ACC_BRIDGE) ==
          NSC_INSTRUMENT_SKIPPED);
}

static void sizes(void)
{
    struct rig rig;

    arm(&rig, NULL, NULL);
    rig.options.min_units = 5;
    CHECK(ask(&rig, ADD, "add", 0, 4) == NSC_INSTRUMENT_SMALL);
    CHECK(ask(&rig, ADD, "add", 0, 5) == NSC_INSTRUMENT_RECORDED);
    CHECK(ask(&rig, ADD, "add", ACC_ABSTRACT, 0) == NSC_INSTRUMENT_ABSTRACT);
    CHECK(ask(&rig, ADD, "add", ACC_NATIVE, 0) == NSC_INSTRUMENT_NATIVE);
}

static void classes(void)
{
    static const char *const cases[][2] = {
        {ADD, "com.example.Cart"},
        {"void a.B.<init>()", "a.B"},
        {"void B.<init>()", "B"},
        {"int[][] a.b.C$1.run(int)", "a.b.C$1"},
        {"java.lang.Object int[].clone()", "int[]"},
        {"", ""},
        {"(", ""},
    };
    struct nsc_buffer out = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nsc_instrument_class_of(cases[i][0], &out);
        CHECK_STR((char *)out.data, cases[i][1]);
    }
    nsc_buffer_free(&out);
}

int main(void)
{
    patterns();
    kinds();
    sizes();
    classes();
    return t_done();
}
