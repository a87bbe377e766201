/* symbol_suffix.c - see symbol_suffix.h; also nsc_symbols_base_length() of symbols.h. */
#include "symbols/symbol_suffix.h"

#include <string.h>

#include "symbols/symbols.h"

/* Length without a trailing ".<digits>", or @length if there is none. */
static size_t without_number(const char *name, size_t length)
{
    size_t at = length;

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    return at < length && at > 1 && name[at - 1] == '.' ? at - 1 : length;
}

/* Length without @word at the end, or @length; never 0. */
static size_t without_word(const char *name, size_t length, const char *word)
{
    size_t n = strlen(word);

    if (length > n && memcmp(name + length - n, word, n) == 0)
        return length - n;
    return length;
}

size_t nsc_suffix_without_cold(const char *name, size_t length)
{
    size_t shorter = without_word(name, length, ".cold");

    if (shorter == length) {
        size_t bare = without_number(name, length);

        shorter = without_word(name, bare, ".cold");
        if (shorter == bare)
            shorter = length;
    }
    return shorter;
}

bool nsc_suffix_is_cold(const char *name, size_t length)
{
    return nsc_suffix_without_cold(name, length) != length;
}

size_t nsc_symbols_base_length(const char *symbol)
{
    static const char *const words[] = {".part",     ".constprop",  ".isra",  ".cold",
                                        ".lto_priv", ".localalias", ".clone", ".resolver"};
    size_t length = strlen(symbol);

    for (;;) {
        size_t bare = without_number(symbol, length), shorter = bare;

        for (size_t i = 0; i < sizeof words / sizeof words[0] && shorter == bare; i++)
            shorter = without_word(symbol, bare, words[i]);
        if (shorter == bare)
            return length; /* a bare number (static locals of nested functions) is in the name */
        length = shorter;
    }
}
