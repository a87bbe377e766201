/*
 * bionic.h - declarations of the functions that the library uses from Android's C library and log.
 * Declared here because bionic's headers come only with the NDK, and those of glibc differ.
 *
 * Included by src/target/android only. Every name must be listed in libc.symbols or liblog.symbols,
 * and must mean the same in glibc, on which the tests run. Absent on purpose: errno, FILE,
 * sigaction, TLS.
 */
#ifndef NSC_ANDROID_BIONIC_H
#define NSC_ANDROID_BIONIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Available since API 21 on every ABI. long has the machine's word size, also in struct
 * timespec. */
struct nsc_bionic_time {
    long seconds, ns;
};
typedef unsigned nsc_bionic_key;         /* pthread_key_t */
typedef unsigned long nsc_bionic_thread; /* pthread_t */

#define NSC_CLOCK_REALTIME  0
#define NSC_CLOCK_MONOTONIC 1
#define NSC_CLOCK_BOOTTIME  7

#define NSC_O_RDONLY   0
#define NSC_O_WRONLY   01
#define NSC_O_CREAT    0100
#define NSC_O_TRUNC    01000
#define NSC_O_NONBLOCK 04000
#define NSC_O_CLOEXEC  02000000

#define NSC_PROT_READ_WRITE     3
#define NSC_MAP_OF_ITS_OWN      (2 | 0x20 | 0x4000) /* private, anonymous, no reserve */
#define NSC_MADV_DONTNEED       4
#define NSC_MADV_DONTDUMP       16
#define NSC_MADV_POPULATE_WRITE 23
#define NSC_PR_SET_NAME         15
#define NSC_PR_GET_NAME         16

#define NSC_SIG_SETMASK   2
#define NSC_SIGNALS_BYTES 128 /* size of a signal set; bionic's are smaller */

#define NSC_LOG_INFO 4
#define NSC_LOG_WARN 5

int clock_gettime(int clock, struct nsc_bionic_time *time);
int nanosleep(const struct nsc_bionic_time *time, struct nsc_bionic_time *left);
int open(const char *path, int flags, ...);
long read(int fd, void *data, size_t bytes);
long write(int fd, const void *data, size_t bytes);
int close(int fd);
int rename(const char *from, const char *to);
int unlink(const char *path);
int mkdir(const char *path, unsigned mode);
int chmod(const char *path, unsigned mode);
int access(const char *path, int how);
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, long offset);
int madvise(void *at, size_t bytes, int advice);
int getpid(void);
int gettid(void);
unsigned getuid(void);
int prctl(int option, ...);
char *getenv(const char *name);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
size_t strlen(const char *text);
int strncmp(const char *a, const char *b, size_t bytes);
int snprintf(char *out, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
int pthread_key_create(nsc_bionic_key *key, void (*destroy)(void *));
void *pthread_getspecific(nsc_bionic_key key);
int pthread_setspecific(nsc_bionic_key key, const void *value);
int pthread_create(nsc_bionic_thread *thread, const void *attributes, void *(*run)(void *),
                   void *context);
int pthread_sigmask(int how, const void *set, void *old);
int pthread_detach(nsc_bionic_thread thread);
int __cxa_atexit(void (*run)(void *), void *context, void *library);
int __android_log_write(int priority, const char *tag, const char *text);

/* Weak: glibc has no properties, and each C library has only one of the two fork handlers. */
int __system_property_get(const char *name, char value[92]) __attribute__((weak));
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
    __attribute__((weak));
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *library) __attribute__((weak));

#endif
