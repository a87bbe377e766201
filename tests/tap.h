/*
 * tap.h - the test harness: each test program prints TAP, `prove` runs them. Include once a
 * program.
 */
#ifndef NSC_TESTS_TAP_H
#define NSC_TESTS_TAP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under a sanitizer freed memory stays, and everything takes its time. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define T_SANITIZED 1
#elif defined(__has_feature)
#define T_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define T_SANITIZED 0
#endif

static int t_count, t_failed;

static inline int t_report(int ok, const char *file, int line, const char *what)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++t_count, what);
    fflush(stdout); /* else a child of fork() prints it again, and a crash hides it */
    if (!ok) {
        printf("# at %s:%d\n", file, line);
        t_failed++;
    }
    return ok;
}

static inline void t_report_u64(unsigned long long got, unsigned long long want, const char *file,
                                int line, const char *what)
{
    if (!t_report(got == want, file, line, what))
        printf("#   got %llu (0x%llx), want %llu (0x%llx)\n", got, got, want, want);
}

static inline void t_report_str(const char *got, const char *want, const char *file, int line,
                                const char *what)
{
    if (!t_report(strcmp(got, want) == 0, file, line, what))
        printf("#   got \"%s\"\n#   want \"%s\"\n", got, want);
}

#define CHECK(e)             t_report(!!(e), __FILE__, __LINE__, #e)
#define CHECK_U64(got, want) t_report_u64((got), (want), __FILE__, __LINE__, #got " == " #want)
#define CHECK_STR(got, want) t_report_str((got), (want), __FILE__, __LINE__, #got " equals " #want)

static inline int t_done(void)
{
    printf("1..%d\n", t_count);
    return t_failed ? 1 : 0;
}

#endif
