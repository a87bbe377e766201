/* plugin.c - a library that churn.c loads and unloads all the time. */
__attribute__((noinline)) int plugin_leaf(int n)
{
    return n + 1;
}

int plugin_call(int n)
{
    return plugin_leaf(n) * 2;
}
