// The second file of unwinds.cc: instantiates the same template once more.
template <int N> __attribute__((noinline)) int shared(int base)
{
    return base + N;
}
int other();
int other()
{
    return shared<1>(20) + shared<2>(20);
}
