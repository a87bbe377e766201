/*
 * tsdl_types.h - read the types in the metadata of a CTF trace. Called by tsdl.c. Inside
 * formats/ only.
 */
#ifndef NSC_FORMATS_CTF_TSDL_TYPES_H
#define NSC_FORMATS_CTF_TSDL_TYPES_H

#include "formats/ctf/tsdl_lexer.h"
#include "util/text/name_text.h"

struct ctf_alias;

struct ctf_parser {
    struct ctf_words w;
    struct nsc_names names; /* of types, to aliases */
    struct ctf_alias *aliases;
    uint32_t alias_count, alias_room;
    uint32_t depth;
};

/* A value in an assignment. */
struct ctf_value {
    enum ctf_word token;
    const char *text;
    uint64_t number;
};

void nsc_ctf_take_value(struct ctf_parser *p, struct ctf_value *v);
/* The byte order that a value names. */
uint32_t nsc_ctf_order_of(struct ctf_parser *p, const struct ctf_value *v);
/* A type; with @declares also the name that it declares, if there is one. NULL after an error. */
struct ctf_type *nsc_ctf_take_type(struct ctf_parser *p, bool declares, const char **name);
/* typealias or typedef. Returns false if it is neither. */
bool nsc_ctf_take_definition(struct ctf_parser *p);
/* Forget the names of types since there were @count. */
void nsc_ctf_end_scope(struct ctf_parser *p, uint32_t count);
void nsc_ctf_types_free(struct ctf_parser *p);

#endif
