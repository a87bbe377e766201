/*
 * reader_handle.c - see reader_handle.h.
 *
 * Called by all of libreader/. Must not keep state.
 */
#include "libreader/reader_handle.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int nsc_reader_give(void *out, size_t size, const void *from, size_t bytes)
{
    if (out == NULL || size == 0)
        return -EINVAL;
    memcpy(out, from, size < bytes ? size : bytes);
    if (size > bytes)
        memset((char *)out + bytes, 0, size - bytes);
    return 0;
}

int nsc_reader_take(const void *given, void *into, size_t bytes, struct nanoscope_error *error)
{
    const unsigned char *from = given;
    size_t size;

    memset(into, 0, bytes);
    if (given == NULL)
        return 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return nsc_reader_refuse(EINVAL, error, "the options do not say their size");
    for (size_t i = bytes; i < size; i++)
        if (from[i] != 0)
            return nsc_reader_refuse(EINVAL, error,
                                     "the options ask for something that libnanoscope-reader %s "
                                     "does not know",
                                     nanoscope_reader_version());
    memcpy(into, given, size < bytes ? size : bytes);
    return 0;
}

static void tell(struct nanoscope_error *error, uint64_t offset, const char *message)
{
    struct nanoscope_error full = {.offset = offset};
    size_t size = error->size;

    if (size < offsetof(struct nanoscope_error, message) + 1)
        return;
    full.size = size;
    snprintf(full.message, sizeof full.message, "%s", message);
    nsc_reader_give(error, size, &full, sizeof full);
    if (size < sizeof full)
        ((char *)error)[size - 1] = '\0';
}

int nsc_reader_fail(int code, const struct nsc_diag *diag, const char *name,
                    struct nanoscope_error *error)
{
    char text[sizeof error->message];

    if (error == NULL)
        return code;
    if (diag->offset == NSC_DIAG_NO_OFFSET)
        snprintf(text, sizeof text, "%s", diag->message);
    else
        snprintf(text, sizeof text, "%.200s: %.250s (at offset %llu)", name, diag->message,
                 (unsigned long long)diag->offset);
    tell(error, diag->offset, text);
    return code;
}

int(nsc_reader_refuse)(int code, struct nanoscope_error *error, const char *format, ...)
{
    char text[sizeof error->message];
    va_list ap;

    if (error == NULL)
        return -code;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    tell(error, NSC_DIAG_NO_OFFSET, text);
    return -code;
}

int nsc_reader_window(const struct nanoscope_trace *trace, uint64_t from_ns, uint64_t to_ns,
                      struct nsc_selection *selection, struct nanoscope_error *error)
{
    if (to_ns == 0)
        to_ns = UINT64_MAX;
    if (from_ns >= to_ns)
        return nsc_reader_refuse(EINVAL, error, "the window ends before it begins");
    nsc_selection_init(selection);
    nsc_selection_window(selection, trace->trace, from_ns, to_ns);
    return 0;
}

uint64_t nsc_reader_ns(const struct nanoscope_trace *trace, uint64_t ticks)
{
    return nsc_clock_ns(nsc_trace_clock(trace->trace), ticks);
}

uint64_t nsc_reader_end_ns(const struct nanoscope_trace *trace, uint64_t ticks)
{
    return ticks != 0 ? nsc_reader_ns(trace, ticks) : NANOSCOPE_END;
}
