/*
 * tsdl_lexer.h - tokenizer for TSDL, the language of CTF metadata. A token is called "word" here.
 * Called by tsdl.c and tsdl_types.c. Used inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_TSDL_LEXER_H
#define NSC_FORMATS_CTF_TSDL_LEXER_H

#include "formats/ctf/ctf_model.h"

#define CTF_NAME_BYTES 256u /* limit of a dotted path, or of a type's name */
#define CTF_WORD_BYTES 4096 /* limit of a word, since it may be compared with each event */

enum ctf_word { CTF_WORD_END, CTF_WORD_NAME, CTF_WORD_NUMBER, CTF_WORD_TEXT, CTF_WORD_SIGN };

/* Signs (punctuation) of several characters: `:=`, `...`, `->`. */
enum { CTF_SIGN_TYPE = 256, CTF_SIGN_RANGE, CTF_SIGN_ARROW };

struct ctf_words {
    struct ctf_trace *trace; /* owns the memory of words */
    const char *name;        /* of the file, for messages */
    struct nsc_diag *diag;
    const char *at;
    uint32_t line;
    /* The current word: */
    enum ctf_word token;
    const char *text; /* of NAME and TEXT, in the trace's memory */
    uint64_t number;
    int sign;
    int error; /* first error, as -errno; then all further words are CTF_WORD_END */
};

/* Reads the next word. */
void nsc_ctf_word(struct ctf_words *w);
/* Records an error with its line, unless there is one already. Returns the first error. */
int nsc_ctf_fail(struct ctf_words *w, int error, const char *what);

/* Allocates zeroed memory that lives as long as the trace. On failure, records -ENOMEM and returns
 * NULL. */
void *nsc_ctf_need(struct ctf_words *w, size_t bytes);
/* Returns a copy of @text in the trace's memory; "" on failure. */
const char *nsc_ctf_keep(struct ctf_words *w, const char *text, size_t bytes);

bool nsc_ctf_is_sign(const struct ctf_words *w, int sign);
bool nsc_ctf_is_word(const struct ctf_words *w, const char *word);
/* If the current word is the sign, reads the next word and returns true. */
bool nsc_ctf_take_sign(struct ctf_words *w, int sign);
/* As nsc_ctf_take_sign(), but records an error if it is not the sign. */
void nsc_ctf_expect(struct ctf_words *w, int sign);
/* Reads a dotted path, "a.b.c" (or "a->b->c"). Returns it in the trace's memory; "" on failure. */
const char *nsc_ctf_take_path(struct ctf_words *w);

#endif
