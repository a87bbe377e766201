/* method_filter.c - see method_filter.h. */
#include "android/instrument/method_filter.h"

#include <string.h>

/* Access flags of methods. Source: dex format, "access_flags definitions". */
#define ACC_BRIDGE    0x40u
#define ACC_NATIVE    0x100u
#define ACC_ABSTRACT  0x400u
#define ACC_SYNTHETIC 0x1000u

/* Match a pattern. A glob without types is compared only with the part of the signature that it can
 * describe: com.example.* must not match a method that only returns a com.example.Cart. */
static bool matches(const struct nsc_pattern *m, const char *class_name, const char *signature)
{
    const char *text = nsc_pattern_text(m), *name = strchr(signature, ' ');
    size_t before = strcspn(text, "( ");

    if (nsc_pattern_test_text(m, class_name))
        return true;
    if (nsc_pattern_is_regex(m) || text[before] == ' ' || name == NULL)
        return nsc_pattern_test_text(m, signature);
    name++;
    return text[before] == '(' ? nsc_pattern_test_text(m, name)
                               : nsc_pattern_test_span(m, name, strcspn(name, "("));
}

bool nsc_instrument_match(const struct nsc_instrument_patterns *patterns, const char *class_name,
                          const char *signature)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (matches(patterns->at[i], class_name, signature))
            return true;
    return false;
}

/* The class name is between return type and method name. */
void nsc_instrument_class_of(const char *signature, struct nsc_buffer *out)
{
    const char *end = strchr(signature, '('), *start = strchr(signature, ' ');

    start = start == NULL ? signature : start + 1;
    if (end == NULL)
        end = signature + strlen(signature);
    while (end > start && *end != '.')
        end--;
    out->used = 0;
    if (end > start)
        nsc_buffer_bytes(out, start, (size_t)(end - start));
    nsc_buffer_bytes(out, "", 1);
}

static unsigned kind_of(const struct nsc_instrument_method *method)
{
    unsigned kinds = 0;

    if (strcmp(method->name, "<init>") == 0)
        kinds |= NSC_INSTRUMENT_SKIP_INIT;
    else if (strcmp(method->name, "<clinit>") == 0)
        kinds |= NSC_INSTRUMENT_SKIP_CLINIT;
    else if (strcmp(method->name, "finalize") == 0 && strncmp(method->signature, "void ", 5) == 0 &&
             strcmp(strchr(method->signature, '('), "()") == 0)
        kinds |= NSC_INSTRUMENT_SKIP_FINALIZE;
    if ((method->access & (ACC_SYNTHETIC | ACC_BRIDGE)) != 0)
        kinds |= NSC_INSTRUMENT_SKIP_SYNTHETIC;
    return kinds;
}

enum nsc_instrument_why nsc_instrument_choose(const struct nsc_instrument_options *options,
                                              const struct nsc_instrument_method *method)
{
    if ((method->access & ACC_NATIVE) != 0)
        return NSC_INSTRUMENT_NATIVE;
    if (!method->has_code)
        return NSC_INSTRUMENT_ABSTRACT;
    if (options->only.count > 0 &&
        !nsc_instrument_match(&options->only, method->class_name, method->signature))
        return NSC_INSTRUMENT_FILTERED;
    if (nsc_instrument_match(&options->except, method->class_name, method->signature))
        return NSC_INSTRUMENT_FILTERED;
    if (method->units < options->min_units)
        return NSC_INSTRUMENT_SMALL;
    if ((kind_of(method) & options->skip) != 0)
        return NSC_INSTRUMENT_SKIPPED;
    return NSC_INSTRUMENT_RECORDED;
}
