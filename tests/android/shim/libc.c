/*
 * libc.c - Android's libc.so by name, on a machine with glibc: whoever asks for that library gets
 * glibc, and from here what only Android has.
 */
int __system_property_get(const char *name, char *value);

/* There are no properties. */
int __system_property_get(const char *name, char *value)
{
    (void)name;
    value[0] = '\0';
    return 0;
}
