/*
 * tsdl_lexer.h - the words of the language that describes CTF traces. Called by tsdl.c.
 * Inside formats/ only.
 */
#ifndef NSC_FORMATS_CTF_TSDL_LEXER_H
#define NSC_FORMATS_CTF_TSDL_LEXER_H

#include "formats/ctf/ctf_model.h"

#define CTF_NAME_BYTES 256u /* of a name with its path, or of a type's */
#define CTF_WORD_BYTES 4096 /* of a word; it may be compared with each event */

enum ctf_word { CTF_WORD_END, CTF_WORD_NAME, CTF_WORD_NUMBER, CTF_WORD_TEXT, CTF_WORD_SIGN };

/* Signs of several characters, as one: `:=`, `...`, `->`. */
enum { CTF_SIGN_TYPE = 256, CTF_SIGN_RANGE, CTF_SIGN_ARROW };

struct ctf_words {
    struct ctf_trace *trace; /* whose memory is used */
    const char *name;        /* of the file, for messages */
    struct nsc_diag *diag;
    const char *at;
    uint32_t line;
    /* The word that is next: */
    enum ctf_word token;
    const char *text; /* of NAME and TEXT: lies in the trace's memory */
    uint64_t number;
    int sign;
    int error; /* the first, as -errno: then all words are CTF_WORD_END */
};

/* Go to the next word. */
void nsc_ctf_word(struct ctf_words *w);
/* The first failure is kept, with its line. Returns it. */
int nsc_ctf_fail(struct ctf_words *w, int error, const char *what);

/* Memory of the trace, of zeros; NULL after a failure. */
void *nsc_ctf_need(struct ctf_words *w, size_t bytes);
/* A copy of @text; "" after a failure. */
const char *nsc_ctf_keep(struct ctf_words *w, const char *text, size_t bytes);

bool nsc_ctf_is_sign(const struct ctf_words *w, int sign);
bool nsc_ctf_is_word(const struct ctf_words *w, const char *word);
/* Go on if the sign is next. */
bool nsc_ctf_take_sign(struct ctf_words *w, int sign);
/* The same; it is a failure if it is not. */
void nsc_ctf_expect(struct ctf_words *w, int sign);
/* Take "a.b.c"; "" after a failure. */
const char *nsc_ctf_take_path(struct ctf_words *w);

#endif
