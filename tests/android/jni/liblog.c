/* liblog.c - Android's log for tests on Linux: lines on standard error. */
#include <stdio.h>

int __android_log_write(int priority, const char *tag, const char *text);

int __android_log_write(int priority, const char *tag, const char *text)
{
    (void)priority;
    return fprintf(stderr, "%s: %s\n", tag, text);
}
