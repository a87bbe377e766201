/*
 * escape.h - write names that come from outside so that they harm neither terminal nor file.
 *
 * Function, thread and file names are whatever a program's author, or an attacker, put into a
 * trace. Called by util/table, util/json and cli/. Never fails: whatever the bytes, something
 * readable comes out. Write errors stay in the stream (ferror).
 */
#ifndef NSC_UTIL_TEXT_ESCAPE_H
#define NSC_UTIL_TEXT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * nsc_text_put - write text for people: one line, nothing that a terminal would obey.
 * @out: stream.
 * @text: any bytes; borrowed.
 *
 * Control characters (C0, DEL, C1), invalid UTF-8, line separators and the characters that turn
 * the writing direction are shown as \n, \t, \r, \x1b or \u202e; all else is written as it is.
 * Returns the number of terminal columns taken.
 */
size_t nsc_text_put(FILE *out, const char *text);

/* The columns that nsc_text_put() takes. */
size_t nsc_text_width(const char *text);

/* Write one CSV field (RFC 4180), quoted only where it must be. The bytes are kept, except that
 * with @terminal they are neutralised as by nsc_text_put(). */
void nsc_text_put_csv(FILE *out, const char *text, bool terminal);

/* Write a JSON string with its quotes. Always valid UTF-8 (invalid bytes become U+FFFD), and safe
 * inside an HTML script element ("</" and "<!--" do not appear). */
void nsc_text_put_json(FILE *out, const char *text);

/* What stands behind the last slash of a path; all of it if there is none. */
const char *nsc_text_base_name(const char *path);

bool nsc_text_is_terminal(FILE *out);
/* Whether @out is a terminal that wants colours: respects NO_COLOR and TERM=dumb. */
bool nsc_text_wants_colour(FILE *out);
/* Whether box-drawing characters may be written: the locale's character set is UTF-8. */
bool nsc_text_wants_unicode(void);

#endif
