/* value.c - see value.h. Source of the packed forms: the platform's ResourceTypes.h. */
#include "android/axml/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 64u

/* ---- To text
 * ------------------------------------------------------------------------------------- */

/* Print the shortest form that parses to the same number. */
static void put_float(char *text, size_t bytes, float value)
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, bytes, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return;
    }
}

/* Print a complex value: a 24-bit mantissa, a radix and a unit. */
static void put_complex(char *text, size_t bytes, uint32_t data, const char *const *units,
                        double scale)
{
    static const double places[] = {1.0, 1.0 / (1 << 7), 1.0 / (1 << 15), 1.0 / (1 << 23)};
    double mantissa = (double)(int32_t)(data & 0xffffff00u) / 256;
    unsigned unit = data & 0xf;
    size_t used;

    put_float(text, bytes, (float)(mantissa * places[data >> 4 & 3] * scale));
    used = strlen(text);
    snprintf(text + used, bytes - used, "%s", unit < 6 && units[unit] ? units[unit] : "(unit?)");
}

static void put_color(char *text, size_t bytes, uint8_t type, uint32_t data)
{
    switch (type) {
    case NSC_AXML_COLOR_RGB8:
        snprintf(text, bytes, "#%06" PRIx32, data & 0xffffff);
        break;
    case NSC_AXML_COLOR_ARGB4:
        snprintf(text, bytes, "#%x%x%x%x", data >> 28 & 15, data >> 20 & 15, data >> 12 & 15,
                 data >> 4 & 15);
        break;
    case NSC_AXML_COLOR_RGB4:
        snprintf(text, bytes, "#%x%x%x", data >> 20 & 15, data >> 12 & 15, data >> 4 & 15);
        break;
    default:
        snprintf(text, bytes, "#%08" PRIx32, data);
        break;
    }
}

static void put_pointer(char *text, size_t bytes, char mark, uint32_t data)
{
    if (data == 0)
        snprintf(text, bytes, "%cnull", mark);
    else
        snprintf(text, bytes, "%c0x%08" PRIx32, mark, data);
}

static void put_value(char *text, size_t bytes, const struct nsc_axml_value *v)
{
    static const char *const dimensions[6] = {"px", "dp", "sp", "pt", "in", "mm"};
    static const char *const fractions[6] = {"%", "%p", NULL, NULL, NULL, NULL};
    float number;

    switch (v->type) {
    case NSC_AXML_NULL:
        snprintf(text, bytes, "%s", v->data == 1 ? "@empty" : "@null");
        break;
    case NSC_AXML_REFERENCE:
    case NSC_AXML_DYNAMIC_REFERENCE:
        put_pointer(text, bytes, '@', v->data);
        break;
    case NSC_AXML_ATTRIBUTE:
    case NSC_AXML_DYNAMIC_ATTRIBUTE:
        put_pointer(text, bytes, '?', v->data);
        break;
    case NSC_AXML_FLOAT:
        memcpy(&number, &v->data, sizeof number);
        put_float(text, bytes, number);
        break;
    case NSC_AXML_DIMENSION:
        put_complex(text, bytes, v->data, dimensions, 1);
        break;
    case NSC_AXML_FRACTION:
        put_complex(text, bytes, v->data, fractions, 100);
        break;
    case NSC_AXML_INT_DEC:
        snprintf(text, bytes, "%" PRId32, (int32_t)v->data);
        break;
    case NSC_AXML_INT_HEX:
        snprintf(text, bytes, "0x%" PRIx32, v->data);
        break;
    case NSC_AXML_INT_BOOL:
        snprintf(text, bytes, "%s", v->data != 0 ? "true" : "false");
        break;
    case NSC_AXML_COLOR_ARGB8:
    case NSC_AXML_COLOR_RGB8:
    case NSC_AXML_COLOR_ARGB4:
    case NSC_AXML_COLOR_RGB4:
        put_color(text, bytes, v->type, v->data);
        break;
    default:
        snprintf(text, bytes, "type0x%02x:0x%08" PRIx32, v->type, v->data);
        break;
    }
}

void nsc_axml_value_text(const struct nsc_axml *x, const struct nsc_axml_attr *a,
                         struct nsc_buffer *out)
{
    char text[TEXT_MAX];

    if (a->value.type == NSC_AXML_STRING) {
        nsc_axml_text(x, a->value.data, out);
        return;
    }
    put_value(text, sizeof text, &a->value);
    nsc_buffer_bytes(out, text, strlen(text) + 1);
}

const char *nsc_axml_value_kind(uint8_t type)
{
    static const char *const kinds[NSC_AXML_LAST_INT + 1] = {
        [NSC_AXML_NULL] = "null",
        [NSC_AXML_REFERENCE] = "reference",
        [NSC_AXML_ATTRIBUTE] = "attribute",
        [NSC_AXML_STRING] = "string",
        [NSC_AXML_FLOAT] = "float",
        [NSC_AXML_DIMENSION] = "dimension",
        [NSC_AXML_FRACTION] = "fraction",
        [NSC_AXML_DYNAMIC_REFERENCE] = "reference",
        [NSC_AXML_DYNAMIC_ATTRIBUTE] = "attribute",
        [NSC_AXML_INT_DEC] = "int",
        [NSC_AXML_INT_HEX] = "hex",
        [NSC_AXML_INT_BOOL] = "bool",
        [NSC_AXML_COLOR_ARGB8] = "color",
        [NSC_AXML_COLOR_RGB8] = "color",
        [NSC_AXML_COLOR_ARGB4] = "color",
        [NSC_AXML_COLOR_RGB4] = "color",
    };

    return type <= NSC_AXML_LAST_INT && kinds[type] != NULL ? kinds[type] : "unknown";
}

/* ---- From text
 * ----------------------------------------------------------------------------------- */

static bool set_number(struct nsc_axml_setting *to, uint8_t type, uint32_t data)
{
    to->type = type;
    to->data = data;
    return true;
}

static bool parse_bool(const char *text, struct nsc_axml_setting *to)
{
    bool is_true = strcmp(text, "true") == 0;

    return (is_true || strcmp(text, "false") == 0) &&
           set_number(to, NSC_AXML_INT_BOOL, is_true ? UINT32_MAX : 0);
}

static bool parse_hex_digits(const char *text, size_t most, uint32_t *out)
{
    size_t length = strlen(text);

    if (length == 0 || length > most || strspn(text, "0123456789abcdefABCDEF") != length)
        return false;
    *out = (uint32_t)strtoul(text, NULL, 16);
    return true;
}

static bool parse_hex(const char *text, struct nsc_axml_setting *to)
{
    uint32_t data;

    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
           parse_hex_digits(text + 2, 8, &data) && set_number(to, NSC_AXML_INT_HEX, data);
}

static bool parse_int(const char *text, struct nsc_axml_setting *to)
{
    const char *digits = text + (*text == '-');
    char *end;
    long long value;

    if (!isdigit((unsigned char)*digits))
        return parse_hex(text, to);
    errno = 0;
    value = strtoll(text, &end, 10);
    return *end == 0 && errno == 0 && value >= INT32_MIN && value <= UINT32_MAX &&
           set_number(to, NSC_AXML_INT_DEC, (uint32_t)value);
}

static bool parse_float(const char *text, struct nsc_axml_setting *to)
{
    char *end;
    float value = strtof(text, &end);
    uint32_t data;

    if (end == text || *end != 0)
        return false;
    memcpy(&data, &value, sizeof data);
    return set_number(to, NSC_AXML_FLOAT, data);
}

static bool parse_pointer(const char *text, char mark, uint8_t type, struct nsc_axml_setting *to)
{
    struct nsc_axml_setting number;

    if (*text != mark)
        return false;
    if (strcmp(text + 1, "null") == 0)
        return set_number(to, type, 0);
    return parse_hex(text + 1, &number) && set_number(to, type, number.data);
}

static bool parse_reference(const char *text, struct nsc_axml_setting *to)
{
    return parse_pointer(text, '@', NSC_AXML_REFERENCE, to);
}

static bool parse_attribute(const char *text, struct nsc_axml_setting *to)
{
    return parse_pointer(text, '?', NSC_AXML_ATTRIBUTE, to);
}

static bool parse_color(const char *text, struct nsc_axml_setting *to)
{
    size_t length = strlen(text);
    uint32_t v, wide = 0;

    if (*text != '#' || !parse_hex_digits(text + 1, 8, &v))
        return false;
    for (unsigned i = 0; i < 4; i++)
        wide |= (v >> (4 * i) & 15) * 17 << (8 * i);
    switch (length - 1) {
    case 3:
        return set_number(to, NSC_AXML_COLOR_RGB4, wide | 0xff000000u);
    case 4:
        return set_number(to, NSC_AXML_COLOR_ARGB4, wide);
    case 6:
        return set_number(to, NSC_AXML_COLOR_RGB8, v | 0xff000000u);
    case 8:
        return set_number(to, NSC_AXML_COLOR_ARGB8, v);
    default:
        return false;
    }
}

static bool parse_string(const char *text, struct nsc_axml_setting *to)
{
    to->type = NSC_AXML_STRING;
    to->data = 0;
    to->text = text;
    return true;
}

struct kind {
    const char *name;
    bool (*parse)(const char *text, struct nsc_axml_setting *to);
    const char *wanted;
};

enum { KIND_STRING, KIND_INT, KIND_HEX, KIND_BOOL, KIND_FLOAT, KIND_REF, KIND_ATTR, KIND_COLOR };

static const struct kind kinds[] = {
    [KIND_STRING] = {"string", parse_string, "a text"},
    [KIND_INT] = {"int", parse_int, "a number"},
    [KIND_HEX] = {"hex", parse_hex, "a number such as 0x1f"},
    [KIND_BOOL] = {"bool", parse_bool, "true or false"},
    [KIND_FLOAT] = {"float", parse_float, "a number such as 1.5"},
    [KIND_REF] = {"reference", parse_reference, "a resource such as @0x7f010001"},
    [KIND_ATTR] = {"attribute", parse_attribute, "a theme's attribute such as ?0x01010036"},
    [KIND_COLOR] = {"color", parse_color, "a colour such as #ff8000"},
};

/* The type of manifest attributes that have only one valid type; NULL for others. */
static const struct kind *kind_of_known(const struct nsc_axml_key *key)
{
    static const char *const words[] = {
        [KIND_STRING] =
            " package split configForSplit name versionName sharedUserId process taskAffinity "
            "authorities permission readPermission writePermission targetPackage targetProcesses "
            "host scheme port mimeType path pathPrefix pathPattern appComponentFactory "
            "backupAgent manageSpaceActivity parentActivityName targetActivity "
            "zygotePreloadName compileSdkVersionCodename platformBuildVersionName ",
        [KIND_INT] = " versionCode versionCodeMajor maxSdkVersion revisionCode "
                     "compileSdkVersion platformBuildVersionCode ",
        [KIND_BOOL] =
            " debuggable testOnly exported enabled extractNativeLibs hasCode allowBackup "
            "fullBackupOnly largeHeap required persistent usesCleartextTraffic multiprocess "
            "hardwareAccelerated isFeatureSplit isSplitRequired isolatedSplits isolatedProcess "
            "vmSafeMode supportsRtl requestLegacyExternalStorage useEmbeddedDex directBootAware "
            "multiArch profileable ",
    };
    char word[TEXT_MAX];

    if (snprintf(word, sizeof word, " %s ", key->name) >= (int)sizeof word)
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] != NULL && strstr(words[i], word) != NULL)
            return &kinds[i];
    return NULL;
}

/* Parse the prefix of "KIND:VALUE". Returns NULL if there is none. */
static const struct kind *kind_given(const char **text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].name);

        if (strncmp(*text, kinds[i].name, length) == 0 && (*text)[length] == ':') {
            *text += length + 1;
            return &kinds[i];
        }
    }
    return NULL;
}

int nsc_axml_value_parse(const char *text, const struct nsc_axml_key *key,
                         const struct nsc_axml_attr *now, struct nsc_axml_setting *to,
                         struct nsc_diag *diag)
{
    static const unsigned guesses[] = {KIND_BOOL, KIND_INT,   KIND_REF,
                                       KIND_ATTR, KIND_COLOR, KIND_STRING};
    const struct kind *kind = kind_given(&text);

    if (kind == NULL && (parse_reference(text, to) || parse_attribute(text, to)))
        return 0;
    if (kind == NULL)
        kind = kind_of_known(key);
    if (kind == NULL && now != NULL && now->value.type == NSC_AXML_STRING)
        kind = &kinds[KIND_STRING];
    if (kind != NULL) {
        if (kind->parse(text, to))
            return 0;
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "%s wants %s, not '%s'", key->name,
                            kind->wanted, text);
    }
    for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++)
        if (kinds[guesses[i]].parse(text, to))
            break;
    return 0;
}

/* ---- As the platform interprets values
 * ------------------------------------------------------------------ */

static bool is_number(const struct nsc_axml_attr *a)
{
    return a->value.type >= NSC_AXML_INT_DEC && a->value.type <= NSC_AXML_LAST_INT;
}

bool nsc_axml_value_bool(const struct nsc_axml *x, const struct nsc_axml_attr *a, bool *out)
{
    if (is_number(a)) {
        *out = a->value.data != 0;
        return true;
    }
    if (a->value.type != NSC_AXML_STRING)
        return false;
    *out = nsc_axml_is(x, a->value.data, "true") || nsc_axml_is(x, a->value.data, "TRUE") ||
           nsc_axml_is(x, a->value.data, "1");
    return true;
}

bool nsc_axml_value_int(const struct nsc_axml *x, const struct nsc_axml_attr *a, uint32_t *out)
{
    struct nsc_axml_setting number;
    struct nsc_buffer text = {0};
    bool good;

    if (is_number(a)) {
        *out = a->value.data;
        return true;
    }
    if (a->value.type != NSC_AXML_STRING)
        return false;
    nsc_axml_text(x, a->value.data, &text);
    good = !text.failed && parse_int((const char *)text.data, &number);
    if (good)
        *out = number.data;
    nsc_buffer_free(&text);
    return good;
}
