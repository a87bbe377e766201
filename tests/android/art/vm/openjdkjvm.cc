/*
 * openjdkjvm.cc - what libopenjdk asks of the virtual machine, for ART on Linux: Debian does not
 * ship libopenjdkjvm.
 *
 * Only the functions that libopenjdk really imports.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <string>
#include <sys/time.h>
#include <unistd.h>

namespace art
{
class JavaVMExt
{
  public:
    bool LoadNativeLibrary(JNIEnv *, const std::string &, jobject loader, jclass caller,
                           std::string *error);
};
} // namespace art

namespace
{
constexpr int kExists = -100;    /* JVM_EEXIST */
constexpr int kDelete = 0x10000; /* JVM_O_DELETE: not one of open()'s flags */
constexpr jlong kMegabyte = 1 << 20;
} // namespace

extern "C" {

int JVM_Open(const char *path, int flags, int mode)
{
    int fd = open(path, flags & ~kDelete, mode);
    return fd < 0 && errno == EEXIST ? kExists : fd;
}
int JVM_Close(int fd)
{
    return close(fd);
}
int JVM_Read(int fd, char *to, int size)
{
    return static_cast<int>(read(fd, to, static_cast<size_t>(size)));
}
int JVM_Write(int fd, char *from, int size)
{
    return static_cast<int>(write(fd, from, static_cast<size_t>(size)));
}
int JVM_Sync(int fd)
{
    return fsync(fd);
}
jlong JVM_Lseek(int fd, jlong offset, int whence)
{
    return lseek(fd, offset, whence);
}
char *JVM_NativePath(char *path)
{
    return path;
}

int JVM_GetLastErrorString(char *to, int size)
{
    if (errno == 0)
        return 0;
    snprintf(to, static_cast<size_t>(size), "%s", strerror(errno));
    return static_cast<int>(strlen(to));
}

jlong JVM_CurrentTimeMillis(JNIEnv *, jclass)
{
    timeval now;
    gettimeofday(&now, nullptr);
    return now.tv_sec * 1000LL + now.tv_usec / 1000;
}

void JVM_Exit(int status)
{
    fflush(nullptr);
    _exit(status);
}

void JVM_GC(void) {}
jlong JVM_FreeMemory(void)
{
    return 100 * kMegabyte;
}
jlong JVM_TotalMemory(void)
{
    return 256 * kMegabyte;
}
jlong JVM_MaxMemory(void)
{
    return 512 * kMegabyte;
}
jboolean JVM_IsNaN(double d)
{
    return isnan(d);
}
jint JVM_InitializeSocketLibrary(void)
{
    return 0;
}
void *JVM_FindLibraryEntry(void *library, const char *name)
{
    return dlsym(library, name);
}

void *JVM_RawMonitorCreate(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    auto *mutex = new pthread_mutex_t;
    pthread_mutex_init(mutex, &attributes);
    return mutex;
}
void JVM_RawMonitorDestroy(void *mutex)
{
    delete static_cast<pthread_mutex_t *>(mutex);
}
int JVM_RawMonitorEnter(void *mutex)
{
    return pthread_mutex_lock(static_cast<pthread_mutex_t *>(mutex));
}
void JVM_RawMonitorExit(void *mutex)
{
    pthread_mutex_unlock(static_cast<pthread_mutex_t *>(mutex));
}

int jio_fprintf(FILE *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vfprintf(to, format, args);
    va_end(args);
    return n;
}
int jio_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to, size, format, args);
    va_end(args);
    return n;
}

/* Runtime.nativeLoad: null, or why not. */
jstring JVM_NativeLoad(JNIEnv *env, jstring path, jobject loader, jclass caller)
{
    if (!path)
        return nullptr;
    const char *chars = env->GetStringUTFChars(path, nullptr);
    std::string file(chars), error;
    env->ReleaseStringUTFChars(path, chars);
    JavaVM *vm;
    env->GetJavaVM(&vm);
    if (reinterpret_cast<art::JavaVMExt *>(vm)->LoadNativeLibrary(env, file, loader, caller,
                                                                  &error))
        return nullptr;
    return env->NewStringUTF(error.c_str());
}
}
