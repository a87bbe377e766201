/* art_names.c - see art_names.h. */
#include "formats/android/art_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *primitive(char c)
{
    switch (c) {
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'D':
        return "double";
    case 'F':
        return "float";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'S':
        return "short";
    case 'V':
        return "void";
    case 'Z':
        return "boolean";
    default:
        return NULL;
    }
}

static void put_class(FILE *out, const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        fputc(name[i] == '/' ? '.' : name[i], out);
}

/* Writes a type of a descriptor in Java syntax. Returns the position after it, or NULL if it is not
 * a valid type. */
static const char *put_type(FILE *out, const char *at)
{
    unsigned dimensions = (unsigned)strspn(at, "[");
    const char *end;

    at += dimensions;
    if (dimensions > 255)
        return NULL;
    if (*at == 'L') {
        end = strchr(at, ';');
        if (end == NULL || end == at + 1)
            return NULL;
        put_class(out, at + 1, (size_t)(end - at - 1));
    } else {
        const char *name = primitive(*at);

        if (name == NULL)
            return NULL;
        fputs(name, out);
        end = at;
    }
    while (dimensions-- > 0)
        fputs("[]", out);
    return end + 1;
}

/* Writes "type class.name(parameters)", with types from a descriptor such as "(I[J)V". Returns
 * false if the descriptor is invalid. */
static bool put_method(FILE *out, const char *class_name, const char *name, const char *signature)
{
    const char *end = strrchr(signature, ')'), *at;

    if (signature[0] != '(' || end == NULL || (at = put_type(out, end + 1)) == NULL || *at != '\0')
        return false;
    fputc(' ', out);
    put_class(out, class_name, strlen(class_name));
    fprintf(out, ".%s(", name);
    for (at = signature + 1; at != NULL && at < end;) {
        if (at > signature + 1)
            fputs(", ", out);
        at = put_type(out, at);
    }
    fputc(')', out);
    return at == end;
}

char *nsc_android_name(const char *class_name, const char *name, const char *signature)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        return NULL;
    if (!put_method(out, class_name, name, signature)) {
        rewind(out);
        put_class(out, class_name, strlen(class_name));
        fprintf(out, "%s%s%s", name[0] != '\0' ? "." : "", name, signature);
    }
    fputc('\0', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
