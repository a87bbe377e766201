/*
 * ctf_decode.c - see ctf_decode.h.
 *
 * All positions are bits from the start of the packet. The input is untrusted: each read is checked
 * against the end of the packet, and the number of values per event and per file is bounded.
 * Source: "The Common Trace Format", version 1.8.3, sections 4 to 6 and 8.
 */
#include "formats/ctf/ctf_decode.h"

#include <errno.h>
#include <string.h>

#include "base/span.h"

#define MAGIC       0xc1fc1fc1u
#define STEPS_MAX   (1u << 20) /* values in an event */
/* A file may have STEPS_FIRST values, and STEPS_BYTE more per byte read. Values may have a size of
 * 0 bits, so their number needs a limit. Structures and arrays count, too. */
#define STEPS_FIRST (1u << 14)
#define STEPS_BYTE  256u
#define LOST_MAX    ((uint64_t)1 << 40)

__extension__ typedef unsigned __int128 wide;

static int damaged(struct ctf_stream *s, const char *what)
{
    if (s->wrong == NULL)
        s->wrong = what;
    return -EBADMSG;
}

/* ---- Bits --------------------------------------------------------------------------------- */

static uint64_t gather(const uint8_t *at, uint32_t shift, uint32_t size, bool little)
{
    uint32_t count = (shift + size + 7) / 8; /* at most 9 */
    wide value = 0;

    for (uint32_t i = 0; i < count; i++)
        value |= (wide)at[i] << (little ? 8 * i : 8 * (count - 1 - i));
    value >>= little ? shift : 8 * count - shift - size;
    return size == 64 ? (uint64_t)value : (uint64_t)value & (((uint64_t)1 << size) - 1);
}

static int take_bits(struct ctf_stream *s, const struct ctf_type *type, uint64_t *value)
{
    uint32_t shift = s->bit % 8;
    const uint8_t *at;

    if (type->size > s->bits - s->bit)
        return damaged(s, "an event that is longer than its packet");
    at = nsc_paged_file_get(s->file, s->packet + s->bit / 8, (shift + type->size + 7) / 8);
    if (at == NULL)
        return damaged(s, "a packet that is cut");
    if (shift == 0 && type->order != CTF_BIG && type->size == 32)
        *value = nsc_span_get32(at);
    else if (shift == 0 && type->order != CTF_BIG && type->size == 64)
        *value = nsc_span_get64(at);
    else
        *value = gather(at, shift, type->size, type->order != CTF_BIG);
    s->bit += type->size;
    return 0;
}

static int align(struct ctf_stream *s, uint32_t bits)
{
    uint64_t to = (s->bit + bits - 1) & ~((uint64_t)bits - 1);

    if (to > s->bits)
        return damaged(s, "an event that is longer than its packet");
    s->bit = to;
    return 0;
}

/* ---- Values ------------------------------------------------------------------------------- */

/* Returns a new value, or NULL if there are CTF_LEAVES already: then it is not kept. */
static struct ctf_leaf *new_leaf(struct ctf_values *v, const struct ctf_field *field,
                                 const struct ctf_type *type, uint32_t scope)
{
    struct ctf_leaf *leaf;

    if (v->count == CTF_LEAVES)
        return NULL;
    leaf = &v->leaves[v->count++];
    leaf->field = field;
    leaf->type = type;
    leaf->scope = scope;
    leaf->kind = CTF_UNSIGNED;
    leaf->number = 0;
    leaf->real = 0;
    leaf->text = NULL;
    leaf->bytes = 0;
    return leaf;
}

/* Appends to the text of a value, as far as there is room. */
static void add_text(struct ctf_values *v, struct ctf_leaf *leaf, const void *text, size_t bytes)
{
    size_t room = CTF_TEXT - v->text_used - 1;

    if (leaf == NULL)
        return;
    if (bytes > room)
        bytes = room;
    if (bytes > CTF_WORD - leaf->bytes)
        bytes = CTF_WORD - leaf->bytes;
    memcpy(v->text + v->text_used, text, bytes);
    v->text_used += bytes;
    leaf->bytes += bytes;
}

static void begin_text(struct ctf_values *v, struct ctf_leaf *leaf)
{
    if (leaf == NULL)
        return;
    leaf->kind = CTF_TEXT_LEAF;
    leaf->text = v->text + v->text_used;
}

static void end_text(struct ctf_values *v, struct ctf_leaf *leaf)
{
    if (leaf == NULL)
        return;
    v->text[v->text_used] = '\0';
    if (v->text_used < CTF_TEXT - 1)
        v->text_used++;
}

/* Updates a clock from a timestamp that has only its low @size bits. */
static void set_clock(struct ctf_stream *s, struct ctf_clock *clock, uint64_t value, uint32_t size)
{
    uint64_t mask = size < 64 ? ((uint64_t)1 << size) - 1 : UINT64_MAX;
    uint64_t whole = (s->cycles & ~mask) | (value & mask);

    if (whole < s->cycles && size < 64)
        whole += mask + 1;
    s->cycles = whole;
    s->clock = clock;
    s->timed = true;
}

static int take_number(struct ctf_stream *s, struct ctf_field *field, const struct ctf_type *type,
                       uint32_t scope, struct ctf_values *v)
{
    const struct ctf_type *number = type->kind == CTF_ENUM ? type->inner : type;
    struct ctf_leaf *leaf;
    uint64_t value;
    int error = align(s, number->align);

    if (error == 0)
        error = take_bits(s, number, &value);
    if (error != 0)
        return error;
    if (number->is_signed && number->size < 64 && (value >> (number->size - 1) & 1) != 0)
        value |= ~(uint64_t)0 << number->size;
    if (field->is_target)
        field->value = value;
    if (scope >= CTF_EVENT_HEADER &&
        (number->clock != NULL || (field->role == CTF_ROLE_TIME && !s->timed)))
        set_clock(s, number->clock, value, number->size);
    leaf = new_leaf(v, field, type, scope);
    if (leaf != NULL) {
        leaf->kind = number->is_signed ? CTF_SIGNED : CTF_UNSIGNED;
        leaf->number = value;
    }
    return 0;
}

static int take_real(struct ctf_stream *s, const struct ctf_field *field,
                     const struct ctf_type *type, uint32_t scope, struct ctf_values *v)
{
    struct ctf_leaf *leaf;
    uint64_t value;
    uint32_t low;
    float single;
    int error = align(s, type->align);

    if (error == 0)
        error = take_bits(s, type, &value);
    if (error != 0)
        return error;
    leaf = new_leaf(v, field, type, scope);
    if (leaf == NULL)
        return 0;
    leaf->kind = CTF_REAL;
    if (type->size == 32) {
        low = (uint32_t)value;
        memcpy(&single, &low, sizeof single);
        leaf->real = (double)single;
    } else if (type->size == 64) {
        memcpy(&leaf->real, &value, sizeof value);
    }
    return 0;
}

/* Reads a NUL-terminated string. */
static int take_string(struct ctf_stream *s, const struct ctf_field *field,
                       const struct ctf_type *type, uint32_t scope, struct ctf_values *v)
{
    struct ctf_leaf *leaf = new_leaf(v, field, type, scope);
    int error = align(s, 8);

    begin_text(v, leaf);
    while (error == 0) {
        uint64_t left = (s->bits - s->bit) / 8;
        size_t want = left < 256 ? (size_t)left : 256;
        const uint8_t *at = nsc_paged_file_get(s->file, s->packet + s->bit / 8, want), *end;

        if (want == 0 || at == NULL)
            return damaged(s, "a string that does not end");
        end = memchr(at, 0, want);
        add_text(v, leaf, at, end != NULL ? (size_t)(end - at) : want);
        s->bit += 8 * (end != NULL ? (uint64_t)(end - at) + 1 : want);
        if (end != NULL)
            break;
    }
    end_text(v, leaf);
    return error;
}

/* Reads an array of bytes. If its elements are declared as characters, it ends at the first NUL. */
static int take_bytes(struct ctf_stream *s, const struct ctf_field *field,
                      const struct ctf_type *type, uint64_t length, uint32_t scope,
                      struct ctf_values *v)
{
    struct ctf_leaf *leaf = new_leaf(v, field, type, scope);

    if (length > (s->bits - s->bit) / 8)
        return damaged(s, "an array that is longer than its packet");
    begin_text(v, leaf);
    while (length > 0) {
        size_t want = length < 4096 ? (size_t)length : 4096;
        const uint8_t *at = nsc_paged_file_get(s->file, s->packet + s->bit / 8, want);

        if (at == NULL)
            return damaged(s, "a packet that is cut");
        add_text(v, leaf, at, want);
        s->bit += 8 * want;
        length -= want;
    }
    if (leaf != NULL && type->inner->is_text)
        leaf->bytes = strnlen(leaf->text, leaf->bytes);
    end_text(v, leaf);
    return 0;
}

static int take_field(struct ctf_stream *s, struct ctf_field *field, const struct ctf_type *type,
                      uint32_t scope, struct ctf_values *v);

static int take_array(struct ctf_stream *s, struct ctf_field *field, const struct ctf_type *type,
                      uint32_t scope, struct ctf_values *v)
{
    uint64_t length = type->kind == CTF_ARRAY ? type->length : type->target->value;
    int error = align(s, type->align);

    if (error == 0 && type->inner->kind == CTF_INT && type->inner->size == 8 && s->bit % 8 == 0 &&
        type->inner->align <= 8)
        return take_bytes(s, field, type, length, scope, v);
    for (uint64_t i = 0; i < length && error == 0; i++)
        error = take_field(s, field, type->inner, scope, v);
    return error;
}

static int take_variant(struct ctf_stream *s, const struct ctf_type *type, uint32_t scope,
                        struct ctf_values *v)
{
    const struct ctf_label *label = nsc_ctf_label(type->target->type, type->target->value);

    struct ctf_field *f = label != NULL ? nsc_ctf_option(type, label->name) : NULL;

    return f != NULL ? take_field(s, f, f->type, scope, v)
                     : damaged(s, "a variant of no known choice");
}

static int take_struct(struct ctf_stream *s, const struct ctf_type *type, uint32_t scope,
                       struct ctf_values *v)
{
    int error = align(s, type->align);

    for (struct ctf_field *f = type->fields; f != NULL && error == 0; f = f->next)
        error = take_field(s, f, f->type, scope, v);
    return error;
}

/* Recursion is bounded: types are nested at most 64 deep. */
static int take_field(struct ctf_stream *s, struct ctf_field *field, const struct ctf_type *type,
                      uint32_t scope, struct ctf_values *v)
{
    if (++s->steps > STEPS_MAX)
        return damaged(s, "an event of more than a million values");
    if (++s->all_steps > STEPS_FIRST + STEPS_BYTE * (s->packet + s->bit / 8))
        return damaged(s, "more values without any bits than its bytes account for");
    switch ((enum ctf_kind)type->kind) {
    case CTF_INT:
    case CTF_ENUM:
        return take_number(s, field, type, scope, v);
    case CTF_FLOAT:
        return take_real(s, field, type, scope, v);
    case CTF_STRING:
        return take_string(s, field, type, scope, v);
    case CTF_ARRAY:
    case CTF_SEQUENCE:
        return take_array(s, field, type, scope, v);
    case CTF_VARIANT:
        return take_variant(s, type, scope, v);
    case CTF_STRUCT:
        return take_struct(s, type, scope, v);
    }
    return 0;
}

static int take_scope(struct ctf_stream *s, const struct ctf_type *type, uint32_t scope,
                      struct ctf_values *v)
{
    return type != NULL ? take_struct(s, type, scope, v) : 0;
}

static const struct ctf_leaf *find_role(const struct ctf_values *v, uint32_t scope, uint32_t role)
{
    for (uint32_t i = v->count; i > 0; i--) /* backwards: if an id contains an id, use the inner */
        if (v->leaves[i - 1].scope == scope && v->leaves[i - 1].field->role == role)
            return &v->leaves[i - 1];
    return NULL;
}

static uint64_t number_of(const struct ctf_values *v, uint32_t scope, uint32_t role,
                          uint64_t otherwise)
{
    const struct ctf_leaf *leaf = find_role(v, scope, role);

    return leaf != NULL && leaf->kind != CTF_TEXT_LEAF ? leaf->number : otherwise;
}

/* ---- Packets ------------------------------------------------------------------------------ */

static void clear(struct ctf_stream *s, struct ctf_values *v)
{
    v->count = 0;
    v->text_used = 0;
    s->steps = 0;
}

static int open_header(struct ctf_stream *s, struct ctf_values *v)
{
    const struct ctf_leaf *magic;
    uint64_t id;
    int error = take_scope(s, s->trace->packet_header, CTF_PACKET_HEADER, v);

    if (error != 0)
        return error;
    magic = find_role(v, CTF_PACKET_HEADER, CTF_ROLE_MAGIC);
    if (magic != NULL && magic->number != MAGIC)
        return damaged(s, "no packet of CTF");
    id = number_of(v, CTF_PACKET_HEADER, CTF_ROLE_STREAM_ID, s->trace->streams->id);
    s->about = s->trace->streams;
    while (s->about != NULL && s->about->id != id)
        s->about = s->about->next;
    return s->about != NULL ? 0 : damaged(s, "a packet of a stream that is not described");
}

static void copy_name(const struct ctf_values *v, uint32_t role, char out[256])
{
    const struct ctf_leaf *leaf = find_role(v, CTF_PACKET_CONTEXT, role);
    size_t bytes = leaf != NULL && leaf->kind == CTF_TEXT_LEAF ? leaf->bytes : 0;

    if (bytes > 255)
        bytes = 255;
    memcpy(out, bytes > 0 ? leaf->text : "", bytes);
    out[bytes] = '\0';
}

/* Evaluates the packet's context: times, sizes, lost events, process and thread. */
static int use_context(struct ctf_stream *s, const struct ctf_values *v)
{
    const struct ctf_leaf *begin = find_role(v, CTF_PACKET_CONTEXT, CTF_ROLE_BEGIN);
    const struct ctf_leaf *discarded = find_role(v, CTF_PACKET_CONTEXT, CTF_ROLE_DISCARDED);
    uint64_t left = s->file->size - s->packet;
    uint64_t packet = number_of(v, CTF_PACKET_CONTEXT, CTF_ROLE_PACKET, left * 8);
    uint64_t content = number_of(v, CTF_PACKET_CONTEXT, CTF_ROLE_CONTENT, packet);

    if (packet % 8 != 0 || packet < s->bit || packet == 0 || content > packet || content < s->bit)
        return damaged(s, "a packet of an impossible size");
    s->cut = packet / 8 > left; /* the existing part is read */
    s->next_packet = s->cut ? s->file->size : s->packet + packet / 8;
    s->bits = content < left * 8 ? content : left * 8;
    if (begin != NULL) {
        s->cycles = begin->number;
        s->clock = begin->type->clock;
    }
    s->lost = 0;
    s->gap = false;
    if (discarded != NULL && discarded->kind != CTF_TEXT_LEAF) {
        const struct ctf_type *type = discarded->type;
        uint64_t mask = type->size < 64 ? ((uint64_t)1 << type->size) - 1 : UINT64_MAX;

        s->lost = (discarded->number - s->discarded) & mask;
        s->discarded = discarded->number;
        if (s->lost > LOST_MAX) { /* the counter was reset: the number is unknown */
            s->lost = 0;
            s->gap = true;
        }
    }
    s->has_tid = find_role(v, CTF_PACKET_CONTEXT, CTF_ROLE_TID) != NULL;
    s->has_pid = find_role(v, CTF_PACKET_CONTEXT, CTF_ROLE_PID) != NULL;
    s->tid = number_of(v, CTF_PACKET_CONTEXT, CTF_ROLE_TID, 0);
    s->pid = number_of(v, CTF_PACKET_CONTEXT, CTF_ROLE_PID, 0);
    s->stack = number_of(v, CTF_PACKET_CONTEXT, CTF_ROLE_STACK, 0);
    copy_name(v, CTF_ROLE_PROCESS, s->process);
    copy_name(v, CTF_ROLE_THREAD, s->thread);
    return 0;
}

static int open_packet(struct ctf_stream *s, struct ctf_values *v)
{
    uint64_t left;
    int error;

    clear(s, v);
    s->packet = s->next_packet;
    left = s->file->size - s->packet;
    s->bit = 0;
    s->bits = left < UINT64_MAX / 8 ? left * 8 : UINT64_MAX;
    error = open_header(s, v);
    if (error == 0)
        error = take_scope(s, s->about->packet_context, CTF_PACKET_CONTEXT, v);
    return error == 0 ? use_context(s, v) : error;
}

static uint64_t ns_of(const struct ctf_stream *s)
{
    uint64_t frequency = s->clock != NULL ? s->clock->frequency : 1000000000;
    wide ns;

    if (frequency == 1000000000)
        return s->cycles;
    ns = (wide)s->cycles * 1000000000 / frequency;
    return ns < UINT64_MAX ? (uint64_t)ns : UINT64_MAX;
}

int nsc_ctf_next(struct ctf_stream *s, struct ctf_values *v)
{
    uint64_t id;
    int error;

    s->event = NULL;
    if (s->packet == s->next_packet || s->bit >= s->bits) {
        /* Empty packets are reported, too: events may have been lost before them. */
        if (s->cut)
            return damaged(s, "a packet that is cut");
        if (s->next_packet >= s->file->size)
            return 0;
        error = open_packet(s, v);
        s->new_packet = error == 0;
        s->ns = error == 0 ? ns_of(s) : s->ns;
        return error == 0 ? 1 : error;
    }
    s->new_packet = false;
    clear(s, v);
    s->timed = false;
    s->event_bit = s->bit;
    error = take_scope(s, s->about->event_header, CTF_EVENT_HEADER, v);
    if (error != 0)
        return error;
    id = number_of(v, CTF_EVENT_HEADER, CTF_ROLE_EVENT_ID,
                   s->about->event_count > 0 ? s->about->events[0]->id : 0);
    s->event = nsc_ctf_event(s->about, id);
    if (s->event == NULL)
        return damaged(s, "an event that is not described");
    s->ns = ns_of(s);
    return 1;
}

int nsc_ctf_take(struct ctf_stream *s, struct ctf_values *v)
{
    int error;

    clear(s, v);
    error = take_scope(s, s->about->event_context, CTF_STREAM_CONTEXT, v);
    if (error == 0)
        error = take_scope(s, s->event->context, CTF_EVENT_CONTEXT, v);
    if (error == 0)
        error = take_scope(s, s->event->fields, CTF_EVENT_FIELDS, v);
    if (error == 0 && s->bit == s->event_bit)
        return damaged(s, "an event of no bytes");
    if (error == 0)
        s->ns = ns_of(s);
    return error;
}
