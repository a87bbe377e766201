/* dex_hooks.c - see dex_hooks.h. */
#include "android/instrument/dex_hooks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "android/bytecode/code.h"
#include "android/instrument/hook_class.h"
#include "android/instrument/method_filter.h"
#include "base/span.h"
#include "util/array.h"

#define THREAD          "Ljava/lang/Thread;"
#define NAMED           "(Ljava/lang/String;)V"
#define SUPERCLASS_MOST 64 /* limit of superclass steps: a broken file may have cycles */

/* State while one dex file is instrumented. */
struct file {
    const struct nsc_instrument_rewrite *r;
    struct nsc_dex *dex;
    struct nsc_instrument_dex *told; /* its entry in the report */
    struct nsc_dex_hook hook;        /* the settings common to all methods */
    struct nsc_dex_reroute *reroutes;
    uint32_t reroute_count, reroute_room;
    uint32_t *calls;                                 /* call site ids by method; or NULL */
    struct nsc_buffer signature, class_name, source; /* of the current method, NUL terminated */
    uint32_t line;
    struct nsc_buffer code;
    bool changed;
};

static int no_memory(const struct file *f)
{
    return nsc_diag_set(f->r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* ---- References -------------------------------------------------------------------------------
 */

/* Whether @type is Thread or a subclass, as far as known from this file. */
static bool is_thread(const struct nsc_dex *dex, uint32_t type)
{
    for (unsigned step = 0; step < SUPERCLASS_MOST && type != NSC_DEX_NONE; step++) {
        const char *name = nsc_dex_descriptor(dex, type);
        uint32_t up = NSC_DEX_NONE;

        if (strcmp(name, THREAD) == 0 || strcmp(name, "Landroid/os/HandlerThread;") == 0)
            return true;
        for (uint32_t i = 0; i < dex->class_count; i++)
            if (dex->classes[i].type == type)
                up = dex->classes[i].superclass;
        type = up;
    }
    return false;
}

/* Whether a method is Thread.setName(String), perhaps referred to by a subclass. */
static bool is_set_name(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *scratch)
{
    const struct nsc_dex_method *m = &dex->methods[method];

    if (strcmp(nsc_dex_text(dex, m->name), "setName") != 0)
        return false;
    scratch->used = 0;
    nsc_dex_signature(dex, method, scratch);
    return !scratch->failed && scratch->used == strlen(NAMED) &&
           memcmp(scratch->data, NAMED, strlen(NAMED)) == 0 && is_thread(dex, m->holder);
}

/* Find all references to Thread.setName. Runs before settling, to know whether there are any, and
 * after it, for the final indices. */
static int find_reroutes(struct file *f)
{
    f->reroute_count = 0;
    for (uint32_t i = 0; i < f->dex->method_count; i++) {
        struct nsc_dex_reroute *grown;

        if (!is_set_name(f->dex, i, &f->signature))
            continue;
        grown = nsc_array_grow(f->reroutes, &f->reroute_room, f->reroute_count, sizeof *grown);
        if (grown == NULL)
            return no_memory(f);
        f->reroutes = grown;
        f->reroutes[f->reroute_count++] = (struct nsc_dex_reroute){.from = i};
    }
    return 0;
}

/* Whether the file must stay unchanged; @out receives the reason. Either data hidden by a packer
 * would be lost, or there is no room for our references. */
static bool must_stay(const struct file *f, char out[160])
{
    struct nsc_dex_room room = nsc_dex_room(f->dex);
    uint32_t types = 1, methods = 2;

    types += nsc_dex_find_type(f->dex, "V") == NSC_DEX_NONE;
    types += nsc_dex_find_type(f->dex, "I") == NSC_DEX_NONE;
    if (f->dex->loose_bytes != 0)
        snprintf(out, 160,
                 "it has %llu bytes that belong to none of its items, and might be looked for",
                 (unsigned long long)f->dex->loose_bytes);
    else if (room.types < types)
        snprintf(out, 160, "it has room for %u more types, and %u are needed", room.types, types);
    else if (room.protos < 2)
        snprintf(out, 160, "it has room for %u more prototypes, and 2 are needed", room.protos);
    else if (room.methods < methods)
        snprintf(out, 160, "it has room for %u more method references, and %u are needed",
                 room.methods, methods);
    else
        return false;
    return true;
}

/* Add references to our methods. If room is short, omit the one to setName. */
static int add_references(struct file *f)
{
    int error = find_reroutes(f);

    if (error != 0)
        return error;
    if (nsc_dex_room(f->dex).methods < 3)
        f->reroute_count = 0;
    nsc_dex_add_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "enter", "(I)V");
    nsc_dex_add_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "exit", "(I)V");
    if (f->reroute_count > 0)
        nsc_dex_add_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "setName", NSC_INSTRUMENT_SET_NAME);
    return nsc_dex_settle(f->dex, f->r->diag);
}

static uint32_t call_id(void *context, uint8_t opcode, uint32_t method)
{
    const struct file *f = context;

    (void)opcode;
    return method < f->dex->method_count ? f->calls[method] : 0;
}

/* When indices are final: fill the hook settings common to all methods. */
static int prepare(struct file *f)
{
    bool reroutes = f->reroute_count > 0;
    int error = reroutes ? find_reroutes(f) : 0;

    if (error != 0)
        return error;
    f->hook.enter = nsc_dex_find_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "enter", "(I)V");
    f->hook.exit = nsc_dex_find_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "exit", "(I)V");
    f->hook.throwable = nsc_dex_find_type(f->dex, "Ljava/lang/Throwable;");
    f->hook.catch_all = true;
    for (uint32_t i = 0; i < f->reroute_count; i++)
        f->reroutes[i].to = nsc_dex_find_method(f->dex, NSC_INSTRUMENT_HOOKS_CLASS, "setName",
                                                NSC_INSTRUMENT_SET_NAME);
    f->hook.reroutes = f->reroutes;
    f->hook.reroute_count = f->reroute_count;
    if (f->r->calls != NULL &&
        nsc_instrument_calls_ids(f->r->calls, f->dex, f->r->methods, &f->calls) != 0)
        return no_memory(f);
    if (f->calls != NULL) {
        f->hook.call_id = call_id;
        f->hook.context = f;
    }
    return 0;
}

/* ---- Methods ----------------------------------------------------------------------------------
 */

/* Look up the original name and source position of an obfuscated method. */
static int map_method(struct file *f, uint32_t method)
{
    const struct nsc_dex_method *m = &f->dex->methods[method];
    struct nsc_mapping_found found;
    struct nsc_mapping_query query = {
        .holder = nsc_dex_descriptor(f->dex, m->holder),
        .name = nsc_dex_text(f->dex, m->name),
        .line = f->line,
    };

    f->code.used = 0;
    nsc_dex_signature(f->dex, method, &f->code);
    nsc_buffer_bytes(&f->code, "", 1);
    if (f->code.failed)
        return no_memory(f);
    query.descriptor = (const char *)f->code.data;
    if (nsc_mapping_method(f->r->mapping, &query, &f->signature, &found) != 0)
        return no_memory(f); /* not -EINVAL: descriptors were checked when the file was read */
    if (found.how == NSC_MAPPING_NONE)
        return 0;
    if (found.how == NSC_MAPPING_METHOD)
        f->line = found.line;
    if (found.file == NULL) /* ProGuard does not record it: use the dex file's */
        return 0;
    f->source.used = 0;
    nsc_buffer_bytes(&f->source, found.file, found.file_bytes);
    nsc_buffer_bytes(&f->source, "", 1);
    return f->source.failed ? no_memory(f) : 0;
}

/* Set signature, class_name, source and line of a method, for filter and method table. */
static int name_method(struct file *f, const struct nsc_dex_class *class,
                       const struct nsc_dex_member *member)
{
    const char *source = nsc_dex_text(f->dex, class->source);
    int error = 0;

    f->line =
        member->code == NSC_DEX_NONE ? 0 : nsc_dex_first_line(f->dex, &f->dex->codes[member->code]);
    f->source.used = 0;
    nsc_buffer_bytes(&f->source, source, strlen(source) + 1);
    f->signature.used = 0;
    if (f->r->mapping != NULL) {
        error = map_method(f, member->index);
    } else {
        nsc_dex_pretty(f->dex, member->index, &f->signature);
        nsc_buffer_bytes(&f->signature, "", 1);
    }
    if (error != 0)
        return error;
    if (f->signature.failed || f->source.failed)
        return no_memory(f);
    nsc_instrument_class_of((const char *)f->signature.data, &f->class_name);
    return f->class_name.failed ? no_memory(f) : 0;
}

static enum nsc_instrument_why choose(const struct file *f, const struct nsc_dex_member *member)
{
    const struct nsc_dex_code_item *item =
        member->code == NSC_DEX_NONE ? NULL : &f->dex->codes[member->code];
    const struct nsc_instrument_method method = {
        .class_name = (const char *)f->class_name.data,
        .name = nsc_dex_text(f->dex, f->dex->methods[member->index].name),
        .signature = (const char *)f->signature.data,
        .access = member->access,
        .has_code = item != NULL,
        .units = item == NULL ? 0 : nsc_span_get32(item->data + 12), /* insns_size */
    };

    return nsc_instrument_choose(f->r->options, &method);
}

/* Replace the method's code by the hooked code. */
static int put_code(struct file *f, struct nsc_dex_member *member, const struct nsc_dex_code *code)
{
    uint32_t debug = NSC_DEX_NONE;
    size_t at;

    f->code.used = 0;
    at = nsc_dex_code_write(code, &f->code);
    if (code->debug != NULL)
        debug = nsc_dex_add_debug(f->dex, code->debug, code->debug_bytes);
    if (f->code.failed || (code->debug != NULL && debug == NSC_DEX_NONE) ||
        nsc_dex_set_code(f->dex, member, f->code.data + at, f->code.used - at, debug) != 0)
        return no_memory(f);
    f->changed = true;
    return 0;
}

static int report_left(struct file *f, const char *reason)
{
    return nsc_instrument_report_left(f->r->report, (const char *)f->signature.data, reason) == 0
               ? 0
               : no_memory(f);
}

/* Report what could not be recorded in a hooked method. */
static int report_rest(struct file *f, const struct nsc_dex_hooked *done)
{
    f->told->calls_left += done->calls_left;
    f->told->held += done->held;
    if ((done->calls_left == 0 && done->held == 0) ||
        nsc_instrument_report_part(f->r->report, (const char *)f->signature.data, done->calls_left,
                                   done->held) == 0)
        return 0;
    return no_memory(f);
}

/* Hook one method's code with @id; 0: only its calls. @done: as in nsc_dex_code_hook(). */
static int hook_code(struct file *f, struct nsc_dex_member *member, struct nsc_dex_code *code,
                     uint32_t id, struct nsc_dex_hooked *done)
{
    const struct nsc_dex_method *m = &f->dex->methods[member->index];
    struct nsc_dex_hook hook = f->hook;
    int error;

    hook.id = id;
    hook.shorty = nsc_dex_text(f->dex, f->dex->protos[m->proto].shorty);
    hook.is_static = (member->access & NSC_DEX_STATIC) != 0;
    *done = (struct nsc_dex_hooked){0};
    error = nsc_dex_code_hook(code, &hook, done);
    if (error != 0)
        return no_memory(f);
    if (done->refused != NSC_DEX_HOOKED)
        return 0;
    error = report_rest(f, done);
    if (error != 0)
        return error;
    if (id == 0 && done->calls == 0 && done->rerouted == 0)
        return 0;
    f->told->calls += done->calls;
    return put_code(f, member, code);
}

/* Hook a method. *@why: NSC_INSTRUMENT_RECORDED if it is selected; set to NSC_INSTRUMENT_LEFT if it
 * cannot be instrumented. */
static int hook_method(struct file *f, struct nsc_dex_member *member, struct nsc_dex_code *code,
                       enum nsc_instrument_why *why)
{
    struct nsc_methods_writer *methods = f->r->methods;
    struct nsc_dex_hooked done;
    int error;

    if (*why != NSC_INSTRUMENT_RECORDED)
        return hook_code(f, member, code, 0, &done);
    error = hook_code(f, member, code, methods->count + 1, &done);
    if (error != 0)
        return error;
    if (done.refused != NSC_DEX_HOOKED) {
        *why = NSC_INSTRUMENT_LEFT;
        return report_left(f, nsc_dex_refusal_text(done.refused));
    }
    /* Errors are latched; nsc_methods_writer_end() returns them. */
    nsc_methods_writer_add(methods, (const char *)f->signature.data, (const char *)f->source.data,
                           f->line);
    return 0;
}

static int take_method(struct file *f, struct nsc_dex_member *member,
                       const struct nsc_dex_class *class)
{
    bool calls = f->calls != NULL || f->reroute_count > 0;
    enum nsc_instrument_why why;
    struct nsc_diag diag;
    int error = name_method(f, class, member);

    if (error != 0)
        return error;
    why = choose(f, member);
    if (member->code != NSC_DEX_NONE && (why == NSC_INSTRUMENT_RECORDED || calls)) {
        const struct nsc_dex_code_item *item = &f->dex->codes[member->code];
        const struct nsc_dex_blob none = {0};
        const struct nsc_dex_blob *debug =
            item->debug == NSC_DEX_NONE ? &none : &f->dex->debugs[item->debug];
        struct nsc_dex_code code;

        error = nsc_dex_code_read(&code, item->data, item->bytes, debug->data, debug->bytes, &diag);
        if (error == 0) {
            error = hook_method(f, member, &code, &why);
            nsc_dex_code_free(&code);
        } else if (error == -EBADMSG && why == NSC_INSTRUMENT_RECORDED) {
            why = NSC_INSTRUMENT_LEFT;
            error = report_left(f, diag.message);
        } else if (error == -EBADMSG) {
            error = 0;
        } else {
            error = no_memory(f);
        }
    }
    if (error == 0)
        f->told->methods[why]++;
    return error;
}

static int take_classes(struct file *f)
{
    for (uint32_t i = 0; i < f->dex->class_count; i++) {
        const struct nsc_dex_class *class = &f->dex->classes[i];
        const struct nsc_dex_class_data *data;
        uint32_t fields, end;

        if (class->data == NSC_DEX_NONE)
            continue;
        data = &f->dex->class_data[class->data];
        fields = data->static_fields + data->instance_fields;
        end = fields + data->direct_methods + data->virtual_methods;
        for (uint32_t k = fields; k < end; k++) {
            int error = take_method(f, &data->members[k], class);

            if (error != 0)
                return error;
        }
    }
    return 0;
}

/* ---- The file ---------------------------------------------------------------------------------
 */

/* Leave the file unchanged: none of its methods are recorded. */
static int leave(struct file *f, const char *why)
{
    f->told->left = strdup(why);
    if (f->told->left == NULL ||
        nsc_instrument_warn(f->r->report, "%s is left as it is: %s", f->told->name, why) != 0)
        return no_memory(f);
    for (uint32_t i = 0; i < f->dex->class_data_count; i++) {
        const struct nsc_dex_class_data *data = &f->dex->class_data[i];
        uint32_t at = data->static_fields + data->instance_fields;
        uint32_t end = at + data->direct_methods + data->virtual_methods;

        for (; at < end; at++) {
            const struct nsc_dex_member *m = &data->members[at];

            if (m->code != NSC_DEX_NONE)
                f->told->methods[NSC_INSTRUMENT_LEFT]++;
            else if ((m->access & NSC_DEX_NATIVE) != 0)
                f->told->methods[NSC_INSTRUMENT_NATIVE]++;
            else
                f->told->methods[NSC_INSTRUMENT_ABSTRACT]++;
        }
    }
    return 0;
}

static int rewrite(struct file *f, struct nsc_buffer *out)
{
    char why[160];
    int error;

    if (nsc_dex_find_type(f->dex, NSC_INSTRUMENT_HOOKS_CLASS) != NSC_DEX_NONE)
        return nsc_diag_set(f->r->diag, NSC_DIAG_NO_OFFSET, EALREADY,
                            "its methods have hooks already: take the app as it was before");
    if (must_stay(f, why))
        return leave(f, why);
    error = add_references(f);
    if (error == 0)
        error = prepare(f);
    if (error == 0)
        error = take_classes(f);
    if (error == 0 && f->changed)
        error = nsc_dex_write(f->dex, out, f->r->diag);
    return error;
}

int nsc_instrument_dex(const struct nsc_instrument_rewrite *r, const char *name,
                       const uint8_t *data, size_t bytes, struct nsc_buffer *out)
{
    struct file f = {.r = r};
    int error;

    if (nsc_instrument_report_dex(r->report, name, bytes) != 0)
        return no_memory(&f);
    f.told = &r->report->dex[r->report->dex_count - 1];
    error = nsc_dex_read(data, bytes, &f.dex, r->diag);
    if (error == 0)
        error = rewrite(&f, out);
    if (error == 0 && out->used > 0)
        f.told->bytes_after = out->used;
    nsc_dex_free(f.dex);
    free(f.reroutes);
    free(f.calls);
    nsc_buffer_free(&f.signature);
    nsc_buffer_free(&f.class_name);
    nsc_buffer_free(&f.source);
    nsc_buffer_free(&f.code);
    return error;
}
