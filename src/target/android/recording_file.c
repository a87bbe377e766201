/*
 * recording_file.c - writes an ended session to a file in the format of app_recording.h. Runs in a
 * thread of its own, or at process exit; it must not modify memory that threads of the app use.
 */
#include "android/bionic.h"
#include "android/recording.h"
#include "android/ticks.h"

#if defined(__aarch64__)
#define ABI "arm64-v8a"
#elif defined(__arm__)
#define ABI "armeabi-v7a"
#elif defined(__x86_64__)
#define ABI "x86_64"
#else
#define ABI "x86"
#endif

#define PATH_ROOM 1100

struct dump {
    int fd;
    bool failed;
    struct nsc_app_end end;
};

static void put(struct dump *d, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0 && !d->failed) {
        long n = write(d->fd, at, bytes);

        if (n <= 0) {
            d->failed = true; /* not interrupted: signals are blocked */
            return;
        }
        at += n;
        bytes -= (size_t)n;
    }
}

static void put_block(struct dump *d, enum nsc_app_block_kind kind, uint32_t thread, uint32_t high,
                      const void *payload, size_t bytes)
{
    struct nsc_app_block block = {(uint32_t)kind, (uint32_t)bytes, thread, high};

    put(d, &block, sizeof block);
    put(d, payload, bytes);
}

static uint64_t read_ns(int clock)
{
    struct nsc_bionic_time t = {0, 0};

    clock_gettime(clock, &t);
    return (uint64_t)t.seconds * 1000000000u + (uint64_t)t.ns;
}

void nsc_jni_read_clock(struct nsc_app_clock *clock)
{
    uint64_t before, after;
    int tries = 0;

    do { /* repeat if the thread was interrupted in between */
        before = nsc_jni_ticks();
        clock->monotonic_ns = read_ns(NSC_CLOCK_MONOTONIC);
        after = nsc_jni_ticks();
    } while (after - before > 20000 && ++tries < 10);
    clock->ticks = before + (after - before) / 2;
    clock->boottime_ns = read_ns(NSC_CLOCK_BOOTTIME);
    clock->realtime_ns = read_ns(NSC_CLOCK_REALTIME);
}

size_t nsc_jni_read_text(const char *path, char *out, size_t room)
{
    int fd = open(path, NSC_O_RDONLY | NSC_O_CLOEXEC);
    long n = fd < 0 ? -1 : read(fd, out, room - 1);

    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    out[n] = '\0';
    return (size_t)n;
}

static void put_header(struct dump *d)
{
    struct nsc_app_header header;

    memset(&header, 0, sizeof header);
    header.magic = NSC_APP_MAGIC;
    header.version = NSC_APP_VERSION;
    header.header_bytes = sizeof header;
    header.event_bytes = sizeof(uint64_t);
    header.timer = NSC_JNI_TIMER;
    header.pid = (uint32_t)nsc_jni.pid;
    header.frequency_hz = nsc_jni_frequency();
    header.start = nsc_jni.start;
    memcpy(header.build, nsc_jni.build, sizeof header.build);
    nsc_jni_process(header.process, sizeof header.process);
    memcpy(header.abi, ABI, sizeof ABI);
    put(d, &header, sizeof header);
}

/* Write events up to the last one; zero words after it were never written. */
static void put_events(struct dump *d, uint32_t number, const struct nsc_jni_chunk *chunk)
{
    const uint64_t *words = (const uint64_t *)(chunk + 1);
    size_t count = (chunk->bytes - sizeof *chunk) / sizeof *words;

    while (count > 0 && words[count - 1] == 0)
        count--;
    if (count == 0)
        return;
    put_block(d, NSC_APP_BLOCK_EVENTS, number, chunk->high, words, count * sizeof *words);
    d->end.words += count;
}

static void put_thread(struct dump *d, const struct nsc_jni_thread *thread, bool ended)
{
    struct nsc_app_thread about;
    uint32_t number = d->end.threads++;
    const struct nsc_jni_chunk *chunk;
    char path[64];
    size_t bytes;

    memset(&about, 0, sizeof about);
    about.start_ticks = thread->start_ticks;
    about.end_ticks = ended ? thread->end_ticks : d->end.end.ticks;
    about.lost = thread->lost;
    about.tid = (uint32_t)thread->tid;
    about.ended = ended;
    if (ended) {
        memcpy(about.name, thread->name, sizeof thread->name);
    } else {
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread->tid);
        bytes = nsc_jni_read_text(path, about.name, sizeof about.name);
        if (bytes > 0 && about.name[bytes - 1] == '\n')
            about.name[bytes - 1] = '\0';
    }
    put_block(d, NSC_APP_BLOCK_THREAD, number, 0, &about, sizeof about);
    chunk = __atomic_load_n(&thread->first, __ATOMIC_ACQUIRE);
    while (chunk != NULL) {
        put_events(d, number, chunk);
        chunk = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE);
    }
}

static void put_all(struct dump *d)
{
    nsc_jni_read_clock(&d->end.end);
    put_header(d);
    for (uint32_t i = 0; i < NSC_JNI_THREADS_MAX; i++) {
        const struct nsc_jni_thread *thread = &nsc_jni.threads[i];
        uint32_t life = __atomic_load_n(&thread->life, __ATOMIC_ACQUIRE);

        if (life != NSC_JNI_FREE &&
            __atomic_load_n(&thread->session, __ATOMIC_ACQUIRE) == nsc_jni.session)
            put_thread(d, thread, life == NSC_JNI_DEAD);
    }
    d->end.lost = nsc_jni.lost;
    put_block(d, NSC_APP_BLOCK_END, 0, 0, &d->end, sizeof d->end);
}

const char *nsc_jni_dump(const char *path)
{
    struct dump d;
    char partial[PATH_ROOM];
    int length = snprintf(partial, sizeof partial, "%s.partial", path);

    memset(&d, 0, sizeof d);
    if (length < 0 || (size_t)length >= sizeof partial)
        return "the name is too long";
    d.fd = open(partial, NSC_O_WRONLY | NSC_O_CREAT | NSC_O_TRUNC | NSC_O_CLOEXEC, 0600);
    if (d.fd < 0)
        return "cannot make the file (is its folder there, and the app's own?)";
    put_all(&d);
    if (close(d.fd) != 0 || d.failed) {
        unlink(partial);
        return "cannot write the file (is there room?)";
    }
    if (rename(partial, path) != 0) {
        unlink(partial);
        return "cannot give the file its name";
    }
    return NULL;
}
