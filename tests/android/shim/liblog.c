/*
 * liblog.c - Android's log, on stderr.
 */
#include <stdio.h>

int __android_log_write(int priority, const char *tag, const char *text);

int __android_log_write(int priority, const char *tag, const char *text)
{
    return fprintf(stderr, "%c/%s: %s\n", "??VDIWEF"[priority & 7], tag, text);
}
