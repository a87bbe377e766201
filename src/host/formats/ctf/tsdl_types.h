/*
 * tsdl_types.h - parse type declarations in the metadata of a CTF trace. Called by tsdl.c. Used
 * inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_TSDL_TYPES_H
#define NSC_FORMATS_CTF_TSDL_TYPES_H

#include "formats/ctf/tsdl_lexer.h"
#include "util/text/name_text.h"

struct ctf_alias;

struct ctf_parser {
    struct ctf_words w;
    struct nsc_names names; /* type names to indexes in `aliases` */
    struct ctf_alias *aliases;
    uint32_t alias_count, alias_room;
    uint32_t depth;
};

/* The right side of an assignment. */
struct ctf_value {
    enum ctf_word token;
    const char *text;
    uint64_t number;
};

void nsc_ctf_take_value(struct ctf_parser *p, struct ctf_value *v);
/* Returns the byte order (enum ctf_order) that a value names. */
uint32_t nsc_ctf_order_of(struct ctf_parser *p, const struct ctf_value *v);
/* Parses a type. With @declares, also parses the declared name into *@name, if there is one.
 * Returns NULL after an error. */
struct ctf_type *nsc_ctf_take_type(struct ctf_parser *p, bool declares, const char **name);
/* Parses a typealias or typedef. Returns false if the current word is neither. */
bool nsc_ctf_take_definition(struct ctf_parser *p);
/* Ends a scope: removes type names until @count are left. */
void nsc_ctf_end_scope(struct ctf_parser *p, uint32_t count);
void nsc_ctf_types_free(struct ctf_parser *p);

#endif
