/*
 * code_remap.c - replace indices in a method's code. See nsc_dex_code_remap().
 */
#include "android/bytecode/debug_info.h"
#include "android/bytecode/plan.h"

struct remap {
    struct nsc_dex_code *code;
    const struct nsc_dex_maps *maps;
    struct nsc_diag *diag;
    uint32_t widened; /* const-string that must become const-string/jumbo */
};

static int map_kind(const struct nsc_dex_maps *maps, uint8_t kind, uint32_t *index)
{
    switch (kind) {
    case NSC_DEX_STRING:
        return nsc_dex_map(maps->strings, maps->string_count, index);
    case NSC_DEX_TYPE:
        return nsc_dex_map(maps->types, maps->type_count, index);
    case NSC_DEX_FIELD:
        return nsc_dex_map(maps->fields, maps->field_count, index);
    case NSC_DEX_METHOD:
        return nsc_dex_map(maps->methods, maps->method_count, index);
    case NSC_DEX_PROTO:
        return nsc_dex_map(maps->protos, maps->proto_count, index);
    default:
        return 0; /* call sites and method handles are not renumbered */
    }
}

static int fail(const struct remap *r, uint32_t unit, int error)
{
    return nsc_diag_set(r->diag, 16 + 2 * (uint64_t)unit, error, "code: an index %s at unit %u",
                        error == -EOVERFLOW ? "no longer has 16 bits" : "beyond its table", unit);
}

/* Replace a 16-bit index at @unit. */
static int map16(const struct remap *r, uint8_t kind, uint32_t unit)
{
    uint32_t index = r->code->insns[unit];
    int error = map_kind(r->maps, kind, &index);

    if (error == 0 && index > UINT16_MAX)
        error = -EOVERFLOW;
    if (error != 0)
        return fail(r, unit, error);
    r->code->insns[unit] = (uint16_t)index;
    return 0;
}

/* Replace the index of a const-string. If the new one exceeds 16 bits, count it and keep the old
 * one. */
static int map_string(struct remap *r, uint32_t unit)
{
    uint32_t index = r->code->insns[unit + 1];
    int error = map_kind(r->maps, NSC_DEX_STRING, &index);

    if (error != 0)
        return fail(r, unit, error);
    if (index > UINT16_MAX)
        r->widened++;
    else
        r->code->insns[unit + 1] = (uint16_t)index;
    return 0;
}

static int map_insn(struct remap *r, uint32_t unit)
{
    uint16_t *insn = r->code->insns + unit;
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);
    uint32_t index;
    int error;

    if (nsc_dex_is_payload(insn[0]) || op->index == NSC_DEX_NO_INDEX)
        return 0;
    if ((insn[0] & 0xff) == NSC_OP_CONST_STRING)
        return map_string(r, unit);
    if (op->format == NSC_DEX_31C) {
        index = nsc_dex_units32(insn + 1);
        error = map_kind(r->maps, op->index, &index);
        if (error != 0)
            return fail(r, unit, error);
        nsc_dex_set_units32(insn + 1, index);
        return 0;
    }
    error = map16(r, op->index, unit + 1);
    if (error == 0 && (op->format == NSC_DEX_45CC || op->format == NSC_DEX_4RCC))
        error = map16(r, NSC_DEX_PROTO, unit + 3);
    return error;
}

static int map_insns(struct remap *r, uint8_t *wide)
{
    const struct nsc_dex_code *code = r->code;
    uint32_t unit = 0, before;
    int error = 0;

    while (unit < code->size && error == 0) {
        uint32_t units = nsc_dex_insn_units(code->insns + unit, code->size - unit);

        if (units == 0)
            return fail(r, unit, -EBADMSG);
        before = r->widened;
        error = map_insn(r, unit);
        if (r->widened != before)
            wide[unit / 8] |= (uint8_t)(1u << (unit % 8));
        unit += units;
    }
    return error;
}

static int map_catches(const struct remap *r)
{
    for (uint32_t i = 0; i < r->code->catch_count; i++) {
        struct nsc_dex_catch *c = &r->code->catches[i];

        if (c->type != NSC_DEX_NONE && map_kind(r->maps, NSC_DEX_TYPE, &c->type) != 0)
            return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                "code: a handler's type is beyond the table of types");
    }
    /* Larger type indices may take more bytes in the handler table. */
    if (!nsc_dex_lists_fit(r->code))
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, EOVERFLOW, "code: it %s",
                            nsc_dex_refusal_text(NSC_DEX_REFUSED_TRIES));
    return 0;
}

static int map_debug(const struct remap *r)
{
    struct nsc_dex_code *code = r->code;
    struct nsc_buffer out = {0};
    int error;

    if (code->debug == NULL)
        return 0;
    error = nsc_dex_debug_convert(code->debug, code->debug_bytes, r->maps, NULL, &out, r->diag);
    if (error != 0) {
        nsc_buffer_free(&out);
        return error;
    }
    free(code->debug);
    code->debug = out.data;
    code->debug_bytes = out.used;
    return 0;
}

/* Lay out the code again, with the const-strings in @wide as const-string/jumbo. */
static int widen(const struct remap *r, const uint8_t *wide)
{
    struct nsc_dex_plan plan;
    int error = nsc_dex_plan_begin(&plan, r->code);

    for (uint32_t i = 0; error == 0 && i < plan.scan.count; i++) {
        uint32_t unit = plan.scan.at[i];
        const uint16_t *insn = r->code->insns + unit;
        uint16_t jumbo[3] = {(uint16_t)((insn[0] & 0xff00) | NSC_OP_CONST_STRING_JUMBO)};
        uint32_t index;

        nsc_dex_plan_mark(&plan, i);
        if ((wide[unit / 8] >> (unit % 8) & 1) == 0) {
            nsc_dex_plan_keep(&plan, i, plan.base[i], false);
            continue;
        }
        index = r->maps->strings[insn[1]];
        nsc_dex_set_units32(jumbo + 1, index);
        nsc_dex_plan_add(&plan, jumbo, 3, plan.base[i], false);
    }
    if (error == 0) {
        error = nsc_dex_plan_finish(&plan, r->code);
        nsc_dex_plan_free(&plan);
    }
    if (error > 0)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, EOVERFLOW, "code: it %s",
                            nsc_dex_refusal_text((enum nsc_dex_refusal)error));
    if (error < 0)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, error, "code: it cannot be laid out");
    return 0;
}

int nsc_dex_code_remap(struct nsc_dex_code *code, const struct nsc_dex_maps *maps,
                       struct nsc_diag *diag)
{
    struct remap r = {.code = code, .maps = maps, .diag = diag};
    uint8_t *wide = calloc((size_t)code->size / 8 + 1, 1);
    int error;

    if (wide == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    error = map_insns(&r, wide);
    if (error == 0)
        error = map_catches(&r);
    if (error == 0)
        error = map_debug(&r);
    if (error == 0 && r.widened > 0)
        error = widen(&r, wide);
    free(wide);
    return error;
}

const char *nsc_dex_refusal_text(enum nsc_dex_refusal refusal)
{
    static const char *const texts[NSC_DEX_REFUSALS] = {
        "is recorded",
        "has 65,535 registers and none to spare",
        "has other parameters than its code",
        "runs into its end or into data",
        "has too many ranges with handlers",
        "has too much code",
    };

    return refusal < NSC_DEX_REFUSALS ? texts[refusal] : "is not recorded";
}
