/*
 * cxx_name.h - shorten demangled C++ names to the form used in source code.
 *
 * Private to symbols/. Works on text only; does not read files.
 */
#ifndef NSC_SYMBOLS_CXX_NAME_H
#define NSC_SYMBOLS_CXX_NAME_H

/**
 * nsc_cxx_name_shorten - remove default template arguments of the standard library.
 * @name: changed in place; never grows.
 *
 * Removes default allocators, comparisons, hashes, deleters and traits of templates in std, and the
 * inline namespaces std::__cxx11 and std::__1. Writes basic_string<char> as string and "> >" as
 * ">>". Templates outside std keep all arguments. A name with unbalanced brackets is not changed.
 * Context: allocates; if out of memory, the name is not changed.
 */
void nsc_cxx_name_shorten(char *name);

/**
 * nsc_cxx_name_global - recognize symbols of functions that run a file's global constructors or
 * destructors.
 * @symbol: the linker symbol.
 * @key: receives the rest of the symbol: a file name, or a linker symbol of the file.
 * Returns "global constructors" or "global destructors"; NULL for any other symbol.
 */
const char *nsc_cxx_name_global(const char *symbol, const char **key);

#endif
