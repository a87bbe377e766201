/*
 * code_table.h - what a code address of an event stands for: a hash from address to function id.
 *
 * One table a process, valid for one stretch of time (until a module is loaded over another's
 * addresses). Read by stack.c for every entry, filled by address_space.c when an address is new.
 */
#ifndef NSC_RECORD_MODULES_CODE_TABLE_H
#define NSC_RECORD_MODULES_CODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nsc_code_flags {
    NSC_CODE_HEADER = 1,   /* header hook: frames may share a position, exits match by function */
    NSC_CODE_REAL_PC = 2,  /* real_pc16 is known */
    NSC_CODE_LEFT_OUT = 4, /* the user's filter leaves this function out */
    /* What the function is to the rules for calls (call_filter.h). */
    NSC_CODE_TRIGGER = 8,
    NSC_CODE_STOPPER = 16,
    NSC_CODE_CALLER = 32,
};
#define NSC_CODE_ROLES (NSC_CODE_TRIGGER | NSC_CODE_STOPPER | NSC_CODE_CALLER)

#define NSC_CODES_EMPTY UINT64_MAX /* no event has this address, not even a damaged one */

struct nsc_code {
    uint64_t address;   /* NSC_CODES_EMPTY: empty slot */
    uint64_t coded;     /* nsc_lane_code_function(function) */
    uint32_t function;  /* id in the trace */
    uint16_t real_pc16; /* low bits of the program counter of the function's own entry hook */
    uint16_t flags;     /* enum nsc_code_flags */
};

struct nsc_codes {
    struct nsc_code *slots; /* 1 << (64 - shift) of them, an eighth in use as a rule: few collide */
    uint32_t shift;
    uint32_t count;
    /* Slots that all tables may still take together, beyond the first ones of each; NULL: as many
     * as they like. */
    uint64_t *spare_slots;
    /* The table holds for since_ticks <= ticks < until_ticks. */
    uint64_t since_ticks, until_ticks;
    /* Every event is to be looked up, exits too: some module has the header hook, or a filter works
     * here. */
    bool by_function;
    /*
     * Called for an address that is not in the table, or when ticks are outside the table's time
     * (then it first makes the table right for that time). Fills @code; never fails: what cannot be
     * resolved gets an id of its own.
     */
    void (*resolve)(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code);
    void *context;
};

/* @spare_slots: see there. 0 or -ENOMEM. */
int nsc_codes_init(struct nsc_codes *codes, uint64_t *spare_slots);
void nsc_codes_free(struct nsc_codes *codes);
void nsc_codes_clear(struct nsc_codes *codes);

/* The slow half of nsc_codes_find(): asks resolve() and remembers the answer. */
struct nsc_code nsc_codes_miss(struct nsc_codes *codes, uint64_t address, uint64_t ticks);

static inline size_t nsc_codes_slot(uint32_t shift, uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15ull) >> shift);
}

/* Does the table hold for @ticks? */
static inline bool nsc_codes_hold(const struct nsc_codes *codes, uint64_t ticks)
{
    return ticks - codes->since_ticks < codes->until_ticks - codes->since_ticks;
}

/* The slow way of nsc_codes_known(), for an address that is not in the slot where it belongs. */
const struct nsc_code *nsc_codes_probe(const struct nsc_code *slots, uint32_t shift,
                                       uint64_t address);

/* What @address stands for at a time for which the table holds, if that is known; else NULL. Cost:
 * a multiplication, a load; rarely a search. */
static inline const struct nsc_code *nsc_codes_known(const struct nsc_codes *codes,
                                                     uint64_t address)
{
    const struct nsc_code *code = &codes->slots[nsc_codes_slot(codes->shift, address)];

    if (__builtin_expect(code->address == address, 1))
        return code;
    return nsc_codes_probe(codes->slots, codes->shift, address);
}

/* The same, asking resolve() if need be. */
static inline struct nsc_code nsc_codes_find(struct nsc_codes *codes, uint64_t address,
                                             uint64_t ticks)
{
    const struct nsc_code *code = nsc_codes_known(codes, address);

    return code != NULL && nsc_codes_hold(codes, ticks) ? *code
                                                        : nsc_codes_miss(codes, address, ticks);
}

#endif
