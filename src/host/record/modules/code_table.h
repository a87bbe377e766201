/*
 * code_table.h - a hash table from code address to function id.
 *
 * There is one table per process, valid for a range of time (until a module is loaded at another's
 * addresses, or the filter changes). stack.c reads it for every entry; address_space.c resolves new
 * addresses.
 */
#ifndef NSC_RECORD_MODULES_CODE_TABLE_H
#define NSC_RECORD_MODULES_CODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nsc_code_flags {
    NSC_CODE_HEADER = 1,   /* header hook: frames may share a position, exits match by function */
    NSC_CODE_REAL_PC = 2,  /* real_pc16 is known */
    NSC_CODE_LEFT_OUT = 4, /* the user's filter excludes this function */
    /* Roles of the function in the rules that select calls (call_filter.h). */
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
    struct nsc_code *slots; /* 1 << (64 - shift) slots; usually 1/8 in use, so few collide */
    uint32_t shift;
    uint32_t count;
    /* Slots that all tables together may still allocate beyond the first ones of each; NULL: no
     * limit. */
    uint64_t *spare_slots;
    /* The table is valid for since_ticks <= ticks < until_ticks. */
    uint64_t since_ticks, until_ticks;
    /* Every event must be looked up, including exits: some module has the header hook, or a filter
     * excludes functions. */
    bool by_function;
    /*
     * Called for an address that is not in the table, or if ticks are outside the table's time
     * range; then it first moves the table to that time. Fills in @code. Never fails: an address
     * that cannot be resolved gets its own id.
     */
    void (*resolve)(void *context, uint64_t address, uint64_t ticks, struct nsc_code *code);
    void *context;
};

/* @spare_slots: as in struct nsc_codes. Returns 0 or -ENOMEM. */
int nsc_codes_init(struct nsc_codes *codes, uint64_t *spare_slots);
void nsc_codes_free(struct nsc_codes *codes);
void nsc_codes_clear(struct nsc_codes *codes);

/* The slow path of nsc_codes_find(): calls resolve() and stores the result. */
struct nsc_code nsc_codes_miss(struct nsc_codes *codes, uint64_t address, uint64_t ticks);

static inline size_t nsc_codes_slot(uint32_t shift, uint64_t address)
{
    return (size_t)((address * 0x9e3779b97f4a7c15ull) >> shift);
}

/* True if the table is valid for @ticks. */
static inline bool nsc_codes_hold(const struct nsc_codes *codes, uint64_t ticks)
{
    return ticks - codes->since_ticks < codes->until_ticks - codes->since_ticks;
}

/* The slow path of nsc_codes_known(), for an address that is not in its first slot. */
const struct nsc_code *nsc_codes_probe(const struct nsc_code *slots, uint32_t shift,
                                       uint64_t address);

/* Looks up @address; returns NULL if it is not in the table. The result applies only at times for
 * which the table is valid. Cost: a multiplication and a load; rarely a search. */
static inline const struct nsc_code *nsc_codes_known(const struct nsc_codes *codes,
                                                     uint64_t address)
{
    const struct nsc_code *code = &codes->slots[nsc_codes_slot(codes->shift, address)];

    if (__builtin_expect(code->address == address, 1))
        return code;
    return nsc_codes_probe(codes->slots, codes->shift, address);
}

/* As nsc_codes_known(), but resolves unknown addresses, at @ticks. */
static inline struct nsc_code nsc_codes_find(struct nsc_codes *codes, uint64_t address,
                                             uint64_t ticks)
{
    const struct nsc_code *code = nsc_codes_known(codes, address);

    return code != NULL && nsc_codes_hold(codes, ticks) ? *code
                                                        : nsc_codes_miss(codes, address, ticks);
}

#endif
