/*
 * recording_control.c - starts and stops recordings: on a command, or at the app's start if the
 * environment, a property or a file asks for it. Also decides the path of the recording.
 *
 * No thread of the app waits until a recording is written, except at process exit.
 */
#include "android/bionic.h"
#include "android/recording.h"

#define TAG          "nanoscope"
#define PATH_MAX     1024
#define PROPERTY_MAX 92
#define START        "START_TRACING"
#define STOP         "STOP_TRACING"
/* Default memory for events. */
#define MEMORY       ((size_t)(sizeof(void *) == 8 ? 256 : 96) << 20)
#define MEMORY_MAX   ((size_t)(sizeof(void *) == 8 ? 16384 : 1024) << 20)
#define MEMORY_LEAST ((size_t)8 << 20)
#define SETTLE_NS    20000000 /* an event is written in less time, once its thread runs */
#define NAME         "nanoscope.nsapp"

static char output[PATH_MAX]; /* path of the session's recording */
static size_t memory;         /* memory for events, if set by the user; 0 = default */

void nsc_jni_log(int priority, const char *text)
{
    __android_log_write(priority, TAG, text);
}

static void log_path(int priority, const char *what, const char *path, const char *why)
{
    char text[PATH_MAX + 200];

    snprintf(text, sizeof text, "%s %s%s%s", what, path, why != NULL ? ": " : "",
             why != NULL ? why : "");
    nsc_jni_log(priority, text);
}

void nsc_jni_process(char *out, size_t room)
{
    const char *base;

    memset(out, 0, room);
    nsc_jni_read_text("/proc/self/cmdline", out, room); /* the first NUL ends the name */
    base = out + strlen(out);
    while (base > out && base[-1] != '/')
        base--;
    if (base > out) {
        size_t length = strlen(base);

        for (size_t i = 0; i <= length; i++)
            out[i] = base[i];
    }
    for (size_t i = strlen(out); i < room; i++)
        out[i] = '\0';
}

/* ---- Path of the recording
 * ---------------------------------------------------------------------- */

/* Return the app's folder for files, with a slash; "" if unknown: then the working directory
 * applies. */
static void find_folder(char *out, size_t room)
{
    char package[128];

    snprintf(out, room, "%s", nsc_jni.folder);
    if (out[0] != '\0' || __system_property_get == NULL)
        return;
    nsc_jni_process(package, sizeof package);
    for (char *at = package; *at != '\0'; at++) /* the ":part" of a process name is not part of the
                                                 * package name */
        if (*at == ':')
            *at = '\0';
    snprintf(out, room, "/data/user/%u/%s/files/", getuid() / 100000, package);
}

/* Return the prefix that distinguishes the recordings of an app's processes, "PART-"; "" for the
 * process named as the package that owns @folder. */
static void find_part(const char *folder, char *out, size_t room)
{
    char process[128];
    const char *part = process;
    size_t length;

    out[0] = '\0';
    nsc_jni_process(process, sizeof process);
    length = strlen(process);
    if (folder[0] == '\0' || length == 0)
        return;
    for (const char *at = folder; *at != '\0'; at++)
        if (at[0] == '/' && strncmp(at + 1, process, length) == 0 && at[1 + length] == '/')
            return;
    for (const char *at = process; *at != '\0'; at++)
        if (*at == ':')
            part = at + 1;
    snprintf(out, room, "%s-", part);
}

/* Return true if a component of the path is "..". */
static bool leaves_folder(const char *name)
{
    for (const char *at = name; *at != '\0'; at++)
        if ((at == name || at[-1] == '/') && at[0] == '.' && at[1] == '.' &&
            (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* Return true if the file exists and is not a recording. Names come from the app's threads, and
 * must not overwrite the app's own files. */
static bool is_other_file(const char *path)
{
    int fd = open(path, NSC_O_RDONLY | NSC_O_NONBLOCK | NSC_O_CLOEXEC);
    uint64_t magic = 0;
    long n = fd < 0 ? 0 : read(fd, &magic, sizeof magic);

    if (fd >= 0)
        close(fd);
    return n < 0 || (n > 0 && magic != NSC_APP_MAGIC);
}

/* Set the output path. Returns NULL, or a message why @name is refused. */
static const char *make_output(const char *name)
{
    char folder[256], part[140]; /* set below: array initializers become calls that bionic lacks */
    const char *base = name;
    int length;

    folder[0] = part[0] = '\0';
    if (name[0] != '/') {
        if (leaves_folder(name))
            return "it leaves the folder";
        find_folder(folder, sizeof folder);
        find_part(folder, part, sizeof part);
    }
    for (const char *at = name; part[0] != '\0' && *at != '\0'; at++)
        if (*at == '/')
            base = at + 1;
    length = snprintf(output, sizeof output, "%s%.*s%s%s", folder, (int)(base - name), name, part,
                      *base != '\0' ? base : NAME);
    if (length < 0 || (size_t)length >= sizeof output)
        return "it is too long";
    return name[0] != '\0' && is_other_file(output) ? "another file is called so" : NULL;
}

/* Set the output path. @name: a path, or a file in the app's folder; "" or a refused name = the
 * default. */
static void set_output(const char *name)
{
    const char *fault = make_output(name);

    if (fault == NULL)
        return;
    log_path(NSC_LOG_WARN, "cannot write to", name, fault);
    make_output("");
}

/* Create the app's folder if the app has not done so yet, with the mode that Android gives it. */
static void make_folder(void)
{
    char folder[256];

    find_folder(folder, sizeof folder);
    if (folder[0] != '\0' && strncmp(output, folder, strlen(folder)) == 0 &&
        mkdir(folder, 0771) == 0)
        chmod(folder, 0771);
}

/* ---- Start and stop ----------------------------------------------------------------------- */

static bool change(uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&nsc_jni.mode, &from, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

static void set_mode(uint32_t mode)
{
    __atomic_store_n(&nsc_jni.mode, mode, __ATOMIC_SEQ_CST);
}

struct signals {
    unsigned long set[NSC_SIGNALS_BYTES / sizeof(unsigned long)];
};

/* Block all signals, so that no signal handler of the app runs in this thread. */
static void block_signals(struct signals *before)
{
    struct signals all;

    memset(&all, 0xff, sizeof all);
    pthread_sigmask(NSC_SIG_SETMASK, &all, before);
}

/* Start a thread in which no signal handler of the app runs. */
static bool run_apart(void *(*run)(void *))
{
    struct signals before;
    nsc_bionic_thread thread;
    bool runs;

    block_signals(&before);
    runs = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(NSC_SIG_SETMASK, &before, NULL);
    if (runs)
        pthread_detach(thread);
    return runs;
}

/* An eighth of the device's memory, if that is less than MEMORY: small devices have half a GiB. */
static size_t default_memory(void)
{
    char text[64];
    const char *at = text;
    uint64_t kib = 0;

    nsc_jni_read_text("/proc/meminfo", text, sizeof text);
    if (strncmp(text, "MemTotal:", 9) == 0)
        for (at += 9; *at == ' ' || (*at >= '0' && *at <= '9' && kib < UINT32_MAX); at++)
            kib = *at == ' ' ? kib : kib * 10 + (uint64_t)(*at - '0');
    if (kib == 0 || kib << 7 >= MEMORY)
        return MEMORY;
    return kib << 7 < MEMORY_LEAST ? MEMORY_LEAST : (size_t)(kib << 7) & ~(size_t)0xfffff;
}

static void start(void)
{
    const char *error;

    if (!change(NSC_JNI_OFF, NSC_JNI_CHANGING)) {
        uint32_t mode = __atomic_load_n(&nsc_jni.mode, __ATOMIC_RELAXED);

        nsc_jni_log(NSC_LOG_WARN, mode == NSC_JNI_ON         ? "records already"
                                  : mode == NSC_JNI_CHANGING ? "still writes the last recording"
                                                             : "cannot record in this process");
        return;
    }
    error = nsc_jni_session_begin(memory != 0 ? memory : default_memory());
    if (error != NULL) {
        log_path(NSC_LOG_WARN, "cannot record:", error, NULL);
        set_mode(NSC_JNI_OFF);
        return;
    }
    nsc_jni_read_clock(&nsc_jni.start);
    set_mode(NSC_JNI_ON);
    run_apart(nsc_jni_warm_memory);
    nsc_jni_log(NSC_LOG_INFO, "records");
}

static void *write_session(void *context)
{
    struct nsc_bionic_time settle = {0, SETTLE_NS};
    const char *error;

    nanosleep(&settle, NULL);
    make_folder();
    error = nsc_jni_dump(output);
    if (error != NULL)
        log_path(NSC_LOG_WARN, "the recording is lost:", output, error);
    else
        log_path(NSC_LOG_INFO, "wrote", output, NULL);
    set_mode(NSC_JNI_OFF);
    return context;
}

static void *write_apart(void *context)
{
    prctl(NSC_PR_SET_NAME, "nanoscope write");
    return write_session(context);
}

/* End the session and write it: in the @background, or before this returns. @name: as for
 * set_output(), NULL = the name given at the start. */
static void stop(const char *name, bool background)
{
    struct signals before;

    if (!change(NSC_JNI_ON, NSC_JNI_CHANGING)) {
        if (background)
            nsc_jni_log(NSC_LOG_WARN, "does not record: nothing to stop");
        return;
    }
    nsc_jni_session_end();
    if (name != NULL)
        set_output(name);
    if (!background) {
        block_signals(&before); /* write() must not be interrupted */
        write_session(NULL);
        pthread_sigmask(NSC_SIG_SETMASK, &before, NULL);
    } else if (!run_apart(write_apart)) { /* a thread of the app does not wait for the disk */
        set_mode(NSC_JNI_ON);
        nsc_jni_log(NSC_LOG_WARN, "no thread can be made that writes the recording: it goes on");
    }
}

/* At process exit: write the current recording, and wait until a background write is complete. */
static void at_exit(void *context)
{
    struct nsc_bionic_time pause = {0, 10000000};

    (void)context;
    if (getpid() != nsc_jni.pid)
        return;
    stop(NULL, false);
    for (int i = 0;
         i < 3000 && __atomic_load_n(&nsc_jni.mode, __ATOMIC_ACQUIRE) == NSC_JNI_CHANGING; i++)
        nanosleep(&pause, NULL);
}

/* Return true if @text is @word, optionally followed by a colon and more text, which @rest
 * receives. */
static bool is_command(const char *text, const char *word, const char **rest)
{
    size_t length = strlen(word);

    if (strncmp(text, word, length) != 0 || (text[length] != '\0' && text[length] != ':'))
        return false;
    *rest = text[length] == ':' ? text + length + 1 : NULL;
    return true;
}

bool nsc_jni_command(const char *name)
{
    const char *rest;

    if (is_command(name, START, &rest)) {
        start();
        return true;
    }
    if (is_command(name, STOP, &rest)) {
        stop(rest, true);
        return true;
    }
    return false;
}

/* ---- Start options
 * ------------------------------------------------------------------------------ */

/* Parse a size such as "64M", "65536", "100k". Returns bytes, rounded up to NSC_JNI_UNIT; 0 if it
 * is not valid or too large. */
static size_t parse_bytes(const char *text)
{
    size_t value = 0;
    unsigned shift = 0;

    for (; *text >= '0' && *text <= '9' && value <= MEMORY_MAX / 10; text++)
        value = value * 10 + (size_t)(*text - '0');
    if (*text == 'k' || *text == 'K')
        shift = 10;
    else if (*text == 'm' || *text == 'M')
        shift = 20;
    text += shift != 0;
    if (*text != '\0' || value > MEMORY_MAX >> shift)
        return 0;
    value = (value << shift) + NSC_JNI_UNIT - 1;
    return value - value % NSC_JNI_UNIT;
}

static void set_memory(const char *text)
{
    size_t bytes = parse_bytes(text);

    if (bytes > 0)
        memory = bytes;
    else
        log_path(NSC_LOG_WARN, "no amount of memory:", text, NULL);
}

/* Check the property debug.nanoscope: "PACKAGE" or "PACKAGE:FILE"; PACKAGE is the process name. */
static bool is_named_by_property(void)
{
    char value[PROPERTY_MAX], process[128];
    const char *rest;

    if (__system_property_get == NULL || __system_property_get("debug.nanoscope", value) <= 0)
        return false;
    nsc_jni_process(process, sizeof process);
    if (process[0] == '\0' || !is_command(value, process, &rest))
        return false;
    set_output(rest != NULL ? rest : "");
    return true;
}

/* Check for the file nanoscope.start in the app's folder; its first line names the recording. */
static bool is_named_by_file(void)
{
    char path[300], line[PATH_MAX];

    find_folder(path, sizeof path - 20);
    if (path[0] == '\0')
        return false;
    snprintf(path + strlen(path), 20, "nanoscope.start");
    if (access(path, 0) != 0)
        return false;
    nsc_jni_read_text(path, line, sizeof line);
    for (char *at = line; *at != '\0'; at++)
        if (*at == '\n')
            *at = '\0';
    set_output(line);
    return true;
}

void nsc_jni_control_begin(void)
{
    const char *out = getenv("NANOSCOPE_APP_OUT"), *bytes = getenv("NANOSCOPE_APP_MEMORY");
    char value[PROPERTY_MAX];

    set_output("");
    if (__system_property_get != NULL && __system_property_get("debug.nanoscope.memory", value) > 0)
        set_memory(value);
    if (bytes != NULL)
        set_memory(bytes);
    __cxa_atexit(at_exit, NULL, NULL);
    if (out != NULL && out[0] != '\0')
        set_output(out);
    else if (!is_named_by_property() && !is_named_by_file())
        return;
    start();
}
