/*
 * escape.h - escape untrusted text for terminals, CSV and JSON.
 *
 * Function, thread and file names in a trace may contain any bytes, chosen by an attacker. Called
 * by table.c, json_writer.c, name_text.c and cli/. Accepts all bytes and always writes readable
 * text. Write errors stay in the stream (ferror).
 */
#ifndef NSC_UTIL_TEXT_ESCAPE_H
#define NSC_UTIL_TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * nsc_text_put - write text on one line, without terminal control sequences.
 * @out: stream.
 * @text: any bytes; borrowed.
 *
 * Escapes control characters (C0, DEL, C1), invalid UTF-8, line separators and characters that
 * change the writing direction, as \n, \t, \r, \x1b or \u202e. Other characters are unchanged.
 * Returns the width of the output in terminal columns.
 */
size_t nsc_text_put(FILE *out, const char *text);

/* Return the terminal columns that the output of nsc_text_put() takes. */
size_t nsc_text_width(const char *text);

/* Write one CSV field (RFC 4180), quoted only if necessary. Bytes are unchanged, except that
 * @terminal escapes them as nsc_text_put() does. */
void nsc_text_put_csv(FILE *out, const char *text, bool terminal);

/* Write a JSON string with its quotes. Always valid UTF-8 (invalid bytes become U+FFFD), and safe
 * inside an HTML script element ("</" and "<!--" do not appear). */
void nsc_text_put_json(FILE *out, const char *text);

bool nsc_text_is_terminal(FILE *out);
/* Return true if @out is a terminal with colours; honours NO_COLOR and TERM=dumb. */
bool nsc_text_wants_colour(FILE *out);
/* Return true if box-drawing characters may be written: the locale's character set is UTF-8. */
bool nsc_text_wants_unicode(void);

#endif
