/* test_cxx_name.c - demangled names as people write them: what goes, what stays, and hostile text.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols/cxx_name.h"
#include "symbols/symbols.h"
#include "tap.h"

static void check(const char *name, const char *wanted)
{
    char *got = strdup(name);

    if (got == NULL)
        abort();
    nsc_cxx_name_shorten(got);
    CHECK_STR(got, wanted);
    free(got);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void test_standard(void)
{
    check("std::vector<X, std::allocator<X> >", "std::vector<X>");
    check("f(" STRING " const&)", "f(std::string const&)");
    check(STRING "::append(char const*)", "std::string::append(char const*)");
    check("f(std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
          "std::__1::allocator<wchar_t> >)",
          "f(std::wstring)");
    check("std::basic_ostream<char, std::char_traits<char> >& operator<< <char>(X)",
          "std::ostream& operator<< <char>(X)");
    check("std::vector<" STRING ", std::allocator<" STRING " > >::~vector()",
          "std::vector<std::string>::~vector()");
    check("std::map<int, " STRING ", std::less<int>, std::allocator<std::pair<int const, " STRING
          " > > >::at(int const&)",
          "std::map<int, std::string>::at(int const&)");
    check("std::unordered_map<char const*, A, std::hash<char const*>, std::equal_to<char const*>, "
          "std::allocator<std::pair<char const* const, A> > >",
          "std::unordered_map<char const*, A>");
    check("std::set<A, std::less<A>, std::allocator<A> >", "std::set<A>");
    check("std::unique_ptr<A, std::default_delete<A> >", "std::unique_ptr<A>");
    check("std::priority_queue<A, std::vector<A, std::allocator<A> >, std::less<A> >",
          "std::priority_queue<A>");
    check("std::queue<A, std::deque<A, std::allocator<A> > >", "std::queue<A>");
    check("std::_Rb_tree<K, std::pair<K const, V>, std::_Select1st<std::pair<K const, V> >, "
          "std::less<K>, std::allocator<std::pair<K const, V> > >::_M_erase(int)",
          "std::_Rb_tree<K, std::pair<K const, V>>::_M_erase(int)");
    check("name[abi:cxx11](int)", "name(int)");
    check("f(std::vector<void (*)(int, char), std::allocator<void (*)(int, char)> >)",
          "f(std::vector<void (*)(int, char)>)");
}

/* What is not a default, or not the standard library's, is told. */
static void test_kept(void)
{
    check("std::vector<X, pool<X> >", "std::vector<X, pool<X>>");
    check("std::vector<X, std::allocator<Y> >", "std::vector<X, std::allocator<Y>>");
    check("std::map<K, V, std::greater<K>, std::allocator<std::pair<K const, V> > >",
          "std::map<K, V, std::greater<K>>");
    check("my::vector<X, std::allocator<X> >", "my::vector<X, std::allocator<X>>");
    check("my::std::vector<X, std::allocator<X> >", "my::std::vector<X, std::allocator<X>>");
    check("astd::vector<X, std::allocator<X> >", "astd::vector<X, std::allocator<X>>");
    check("std::basic_string<char16_t>::size()", "std::basic_string<char16_t>::size()");
    check("std::allocator<char>::allocate(unsigned long)",
          "std::allocator<char>::allocate(unsigned long)");
    check("main", "main");
    check("", "");
}

static void test_operators(void)
{
    check("bool operator< <int>(A<B<int> >)", "bool operator< <int>(A<B<int>>)");
    check("bool operator><int>(A<B<int> >)", "bool operator><int>(A<B<int>>)");
    check("operator>>(A<B<int> >)", "operator>>(A<B<int>>)");
    check("A<B<int> >::operator->() const", "A<B<int>>::operator->() const");
    check("A<B<int> >::operator()(int) const", "A<B<int>>::operator()(int) const");
    check("A<B<int> >::operator<=>(C)", "A<B<int>>::operator<=>(C)");
    check("my_operator<A<int> >", "my_operator<A<int>>");
    check("f<(3 > 2), A<int> >()", "f<(3 > 2), A<int>>()");
    check("decltype (((*this).a)->b) f<A<int> >()", "decltype (((*this).a)->b) f<A<int>>()");
    check("main::{lambda(A<B<int> >)#1}::operator()(A<B<int> >) const",
          "main::{lambda(A<B<int>>)#1}::operator()(A<B<int>>) const");
}

/* Brackets that do not match: the name stays. */
static void test_hostile(void)
{
    static const char *const parts[] = {
        "std::vector<", "A", ", ",    "std::allocator<A> ", ">",  " >", "(",          ")",
        "operator",     "<", "std::", "__cxx11::",          "->", "{",  "[abi:cxx11]"};
    char text[256], before[256];
    size_t changed = 0, longer = 0;

    check("f<A<int> ", "f<A<int> ");
    check("f)<A<int> >", "f)<A<int> >");
    check("f<A<(int> > >", "f<A<(int> > >");
    for (unsigned seed = 1; seed < 200000; seed++) {
        unsigned random = seed;

        text[0] = '\0';
        for (size_t i = 0; i < seed % 12; i++) {
            random = random * 1103515245 + 12345;
            strcat(text, parts[(random >> 16) % (sizeof parts / sizeof parts[0])]);
        }
        memcpy(before, text, sizeof text);
        nsc_cxx_name_shorten(text);
        changed += strcmp(text, before) != 0;
        longer += strlen(text) > strlen(before);
    }
    CHECK(changed > 100);
    CHECK_U64(longer, 0);
    memset(text, '<', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    nsc_cxx_name_shorten(text);
    CHECK_U64(strlen(text), sizeof text - 1);
}

static void test_patternals(void)
{
    static const char *const symbols[] = {
        "_GLOBAL__sub_I_x.cc",  "_GLOBAL__sub_D_x.cc", "_GLOBAL__sub_I__ZN3FooC2ESt6vectorIiSaIiEE",
        "_GLOBAL__sub_I_table", "_GLOBAL__sub_I_",     "_GLOBAL__I_y.cpp"};
    static const char *const wanted[] = {"global constructors of x.cc",
                                         "global destructors of x.cc",
                                         "global constructors keyed to Foo::Foo(std::vector<int>)",
                                         "global constructors keyed to table",
                                         "_GLOBAL__sub_I_",
                                         "global constructors of y.cpp"};
    char *out[6];

    CHECK(nsc_symbols_demangle(symbols, 6, out) == 0);
    for (size_t i = 0; i < 6; i++) {
        CHECK_STR(out[i], wanted[i]);
        free(out[i]);
    }
}

int main(void)
{
    test_standard();
    test_kept();
    test_operators();
    test_hostile();
    test_patternals();
    return t_done();
}
