/*
 * symbol_suffix.h - suffixes that compilers append to function names: `.cold`, `.part.0`,
 * `.isra.0`, ...
 *
 * Private to symbols/. Pure functions over text.
 */
#ifndef NSC_SYMBOLS_SYMBOL_SUFFIX_H
#define NSC_SYMBOLS_SYMBOL_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the name ends in .cold or .cold.N. */
bool nsc_suffix_is_cold(const char *name, size_t length);
/* Length of the name without one .cold or .cold.N at its end. */
size_t nsc_suffix_without_cold(const char *name, size_t length);

#endif
