/*
 * change.c - replace code of methods, and create classes. Called through dex.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "android/dex/dex_state.h"
#include "util/hash.h"

/* ---- Debug information ------------------------------------------------------------------------
 *
 * Many methods share the same debug information: a hash table by content finds it. Slots hold
 * index + 1.
 */

static uint32_t *debug_slot(const struct nsc_dex *dex, const void *data, size_t bytes)
{
    const struct nsc_dex_own *own = dex->own;
    uint64_t at = nsc_hash_bytes(nsc_hash_seed(), data, bytes);

    for (;; at++) {
        uint32_t *slot = &own->debug_slots[at & own->debug_mask];
        const struct nsc_dex_blob *blob = *slot == 0 ? NULL : &dex->debugs[*slot - 1];

        if (blob == NULL ||
            (blob->data != NULL && blob->bytes == bytes && memcmp(blob->data, data, bytes) == 0))
            return slot;
    }
}

/* Make room for one more slot; at most half are in use. */
static bool grow_slots(struct nsc_dex *dex)
{
    struct nsc_dex_own *own = dex->own;
    uint32_t room = 1024, *slots;

    if (own->debug_slots != NULL && dex->debug_count < own->debug_mask / 2)
        return true;
    if (dex->debug_count >= UINT32_MAX / 8)
        return false;
    while (room / 4 <= dex->debug_count)
        room *= 2;
    slots = calloc(room, sizeof *slots);
    if (slots == NULL)
        return false;
    free(own->debug_slots);
    own->debug_slots = slots;
    own->debug_mask = room - 1;
    for (uint32_t i = 0; i < dex->debug_count; i++)
        if (dex->debugs[i].data != NULL)
            *debug_slot(dex, dex->debugs[i].data, dex->debugs[i].bytes) = i + 1;
    return true;
}

void nsc_dex_forget_debugs(struct nsc_dex *dex)
{
    free(dex->own->debug_slots);
    dex->own->debug_slots = NULL;
    dex->own->debug_mask = 0;
}

uint32_t nsc_dex_append_debug(struct nsc_dex *dex, const void *data, size_t bytes)
{
    const uint8_t *copy = bytes > INT32_MAX ? NULL : nsc_dex_copy(dex, data, bytes);

    if (copy == NULL)
        return nsc_dex_fail(dex, -ENOMEM, "out of memory");
    if (!nsc_dex_grow(dex, &dex->debugs, &dex->own->debug_room, dex->debug_count,
                      sizeof *dex->debugs))
        return NSC_DEX_NONE;
    dex->debugs[dex->debug_count] = (struct nsc_dex_blob){copy, (uint32_t)bytes, 0};
    return dex->debug_count++;
}

uint32_t nsc_dex_add_debug(struct nsc_dex *dex, const void *data, size_t bytes)
{
    uint32_t *slot, debug;

    if (!grow_slots(dex))
        return nsc_dex_fail(dex, -ENOMEM, "out of memory");
    slot = debug_slot(dex, data, bytes);
    if (*slot != 0)
        return *slot - 1;
    debug = nsc_dex_append_debug(dex, data, bytes);
    *slot = debug + 1; /* NSC_DEX_NONE + 1 is 0: free */
    return debug;
}

void nsc_dex_set_debug(struct nsc_dex *dex, struct nsc_dex_code_item *code, uint32_t debug)
{
    uint32_t before = code->debug;

    if (debug != NSC_DEX_NONE)
        dex->debugs[debug].users++;
    code->debug = debug;
    if (before == NSC_DEX_NONE || --dex->debugs[before].users != 0)
        return;
    dex->debugs[before].data = NULL; /* no users left: not written */
    dex->debugs[before].bytes = 0;
}

/* ---- Code -------------------------------------------------------------------------------------
 */

int nsc_dex_set_code(struct nsc_dex *dex, struct nsc_dex_member *member, const void *data,
                     size_t bytes, uint32_t debug)
{
    struct nsc_dex_code_item *code;
    const uint8_t *copy;

    if (bytes < 16 || bytes > INT32_MAX || (debug != NSC_DEX_NONE && debug >= dex->debug_count))
        return -EINVAL;
    copy = nsc_dex_copy(dex, data, bytes);
    if (copy == NULL)
        return -ENOMEM;
    if (member->code == NSC_DEX_NONE || dex->codes[member->code].users != 1) {
        if (!nsc_dex_grow(dex, &dex->codes, &dex->own->code_room, dex->code_count, sizeof *code))
            return -ENOMEM;
        if (member->code != NSC_DEX_NONE)
            dex->codes[member->code].users--;
        member->code = dex->code_count++;
        dex->codes[member->code] = (struct nsc_dex_code_item){.debug = NSC_DEX_NONE, .users = 1};
    }
    code = &dex->codes[member->code];
    code->data = copy;
    code->bytes = (uint32_t)bytes;
    nsc_dex_set_debug(dex, code, debug);
    return 0;
}

/* ---- Classes ----------------------------------------------------------------------------------
 */

struct nsc_dex *nsc_dex_new(uint32_t version)
{
    struct nsc_dex *dex = nsc_dex_empty();

    if (dex != NULL)
        dex->version = version;
    return dex;
}

static bool is_direct(const struct nsc_dex_new_method *m)
{
    return (m->access & (NSC_DEX_STATIC | NSC_DEX_PRIVATE | NSC_DEX_CONSTRUCTOR)) != 0;
}

/* Number of argument registers. */
static uint32_t count_ins(const struct nsc_dex_new_method *m)
{
    uint32_t ins = (m->access & NSC_DEX_STATIC) == 0;

    for (const char *at = m->signature + 1; *at != ')' && *at != '\0'; at++) {
        bool array = *at == '[';

        ins += !array && (*at == 'J' || *at == 'D') ? 2 : 1;
        at += strspn(at, "[");
        if (*at == 'L')
            at += strcspn(at, ";");
    }
    return ins;
}

static int add_code(struct nsc_dex *dex, struct nsc_dex_member *member,
                    const struct nsc_dex_new_method *m)
{
    struct nsc_buffer item = {0};
    uint32_t ins = count_ins(m);
    uint8_t head[16] = {0};
    int error;

    if (m->registers < ins)
        return -EINVAL;
    head[0] = (uint8_t)m->registers;
    head[1] = (uint8_t)(m->registers >> 8);
    head[2] = (uint8_t)ins;
    head[3] = (uint8_t)(ins >> 8);
    head[4] = (uint8_t)m->outs;
    head[5] = (uint8_t)(m->outs >> 8);
    nsc_span_put32(head + 12, m->unit_count);
    nsc_buffer_bytes(&item, head, sizeof head);
    for (uint32_t i = 0; i < m->unit_count; i++) {
        uint8_t unit[2] = {(uint8_t)m->units[i], (uint8_t)(m->units[i] >> 8)};

        nsc_buffer_bytes(&item, unit, sizeof unit);
    }
    error =
        item.failed ? -ENOMEM : nsc_dex_set_code(dex, member, item.data, item.used, NSC_DEX_NONE);
    nsc_buffer_free(&item);
    return error;
}

/* Add a set of one annotation without elements. Returns NSC_DEX_NONE with the error latched on
 * failure. */
static uint32_t add_marker(struct nsc_dex *dex, const struct nsc_dex_new_method *m)
{
    uint32_t type = nsc_dex_add_type(dex, m->annotation);
    struct nsc_buffer bytes = {0};
    uint8_t visibility = (uint8_t)m->visibility;
    uint32_t *item = nsc_dex_alloc(dex, sizeof *item);
    const uint8_t *copy;

    nsc_buffer_bytes(&bytes, &visibility, 1);
    nsc_buffer_leb(&bytes, type);
    nsc_buffer_leb(&bytes, 0);
    copy = bytes.failed || item == NULL ? NULL : nsc_dex_copy(dex, bytes.data, bytes.used);
    if (copy == NULL)
        nsc_dex_fail(dex, -ENOMEM, "out of memory");
    if (copy != NULL && item != NULL && dex->own->error == 0 &&
        nsc_dex_grow(dex, &dex->annotations, &dex->own->annotation_room, dex->annotation_count,
                     sizeof *dex->annotations) &&
        nsc_dex_grow(dex, &dex->sets, &dex->own->set_room, dex->set_count, sizeof *dex->sets)) {
        dex->annotations[dex->annotation_count] =
            (struct nsc_dex_blob){copy, (uint32_t)bytes.used, 0};
        *item = dex->annotation_count++;
        dex->sets[dex->set_count] = (struct nsc_dex_list){item, 1};
        dex->set_count++;
    }
    nsc_buffer_free(&bytes);
    return dex->own->error != 0 ? NSC_DEX_NONE : dex->set_count - 1;
}

/* Add the directory of the methods' annotations. */
static void add_directory(struct nsc_dex *dex, const struct nsc_dex_new_class *class,
                          struct nsc_dex_class *c)
{
    struct nsc_dex_directory d = {.class_set = NSC_DEX_NONE};
    uint32_t count = 0;

    for (uint32_t i = 0; i < class->method_count; i++)
        count += class->methods[i].annotation != NULL;
    if (count == 0 || dex->own->error != 0)
        return;
    d.items = nsc_dex_alloc(dex, count * sizeof *d.items);
    if (d.items == NULL) {
        nsc_dex_fail(dex, -ENOMEM, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < class->method_count; i++) {
        const struct nsc_dex_new_method *m = &class->methods[i];

        if (m->annotation == NULL)
            continue;
        d.items[d.methods].member =
            nsc_dex_add_method(dex, class->descriptor, m->name, m->signature);
        d.items[d.methods++].annotations = add_marker(dex, m);
    }
    if (!nsc_dex_grow(dex, &dex->directories, &dex->own->directory_room, dex->directory_count,
                      sizeof d))
        return;
    dex->directories[dex->directory_count] = d;
    c->directory = dex->directory_count++;
}

/* Add the class's methods: direct methods, then virtual ones. */
static void add_methods(struct nsc_dex *dex, const struct nsc_dex_new_class *class,
                        struct nsc_dex_class *c)
{
    struct nsc_dex_class_data d = {
        .members = nsc_dex_alloc(dex, (class->method_count + 1) * sizeof *d.members)};
    uint32_t used = 0;

    if (d.members == NULL) {
        nsc_dex_fail(dex, -ENOMEM, "out of memory");
        return;
    }
    for (uint32_t i = 0; i < 2 * class->method_count; i++) {
        const struct nsc_dex_new_method *m = &class->methods[i % class->method_count];
        struct nsc_dex_member *member = &d.members[used];
        int error;

        if (is_direct(m) != (i < class->method_count))
            continue;
        used++;
        *(is_direct(m) ? &d.direct_methods : &d.virtual_methods) += 1;
        *member = (struct nsc_dex_member){
            nsc_dex_add_method(dex, class->descriptor, m->name, m->signature), m->access,
            NSC_DEX_NONE};
        error = m->units == NULL ? 0 : add_code(dex, member, m);
        if (error != 0)
            nsc_dex_fail(dex, error, "a method's code could not be added to the DEX file");
    }
    if (dex->own->error != 0 || !nsc_dex_grow(dex, &dex->class_data, &dex->own->class_data_room,
                                              dex->class_data_count, sizeof d))
        return;
    dex->class_data[dex->class_data_count] = d;
    c->data = dex->class_data_count++;
}

int nsc_dex_add_class(struct nsc_dex *dex, const struct nsc_dex_new_class *class)
{
    struct nsc_dex_class c = {
        .type = nsc_dex_add_type(dex, class->descriptor),
        .access = class->access,
        .superclass = nsc_dex_add_type(dex, class->superclass != NULL ? class->superclass
                                                                      : "Ljava/lang/Object;"),
        .interfaces = NSC_DEX_NONE,
        .source = class->source == NULL ? NSC_DEX_NONE : nsc_dex_add_string(dex, class->source),
        .directory = NSC_DEX_NONE,
        .data = NSC_DEX_NONE,
        .values = NSC_DEX_NONE,
    };

    for (uint32_t i = 0; i < dex->class_count; i++)
        if (dex->classes[i].type == c.type)
            nsc_dex_fail(dex, -EEXIST, "the DEX file has a class of this name already");
    if (dex->own->error == 0)
        add_directory(dex, class, &c);
    if (dex->own->error == 0)
        add_methods(dex, class, &c);
    if (dex->own->error == 0 &&
        nsc_dex_grow(dex, &dex->classes, &dex->own->class_room, dex->class_count, sizeof c))
        dex->classes[dex->class_count++] = c;
    return dex->own->error;
}
