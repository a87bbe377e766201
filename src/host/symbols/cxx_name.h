/*
 * cxx_name.h - demangled C++ names as people write them.
 *
 * Private to symbols/. Pure text: knows nothing of files; the linker's name is kept beside it.
 */
#ifndef NSC_SYMBOLS_CXX_NAME_H
#define NSC_SYMBOLS_CXX_NAME_H

/**
 * nsc_cxx_name_shorten - leave out what the standard library's templates say by default.
 * @name: changed in place; never grows.
 *
 * Default allocators, comparisons, hashes, deleters and traits of templates in std; the inline
 * namespaces std::__cxx11 and std::__1; basic_string<char> is string; "> >" is ">>". Templates of
 * others keep all their arguments. A name whose brackets do not match stays as it is.
 * Context: allocates; without memory the name stays as it is.
 */
void nsc_cxx_name_shorten(char *name);

/**
 * nsc_cxx_name_global - what a symbol says that runs the constructors or destructors of a file.
 * @symbol: as linked.
 * @key: receives the rest of it: a file's name, or the linker's name of one of its symbols.
 * Returns "global constructors" or "global destructors"; NULL for any other symbol.
 */
const char *nsc_cxx_name_global(const char *symbol, const char **key);

#endif
