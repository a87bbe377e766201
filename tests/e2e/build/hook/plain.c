/* plain.c - clean in every dialect of C and C++; compiled with the header hook and all warnings. */
#ifdef __cplusplus
extern "C" {
#endif
int plain_twice(int value);
int plain_sum(const int *values, int count);
#ifdef __cplusplus
}
#endif

static int plain_inner(int value)
{
    return value + value;
}

int plain_twice(int value)
{
    return plain_inner(value);
}

int plain_sum(const int *values, int count)
{
    int sum = 0;
    int i;

    for (i = 0; i < count; i++)
        sum += plain_twice(values[i]);
    return sum;
}
