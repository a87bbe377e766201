/*
 * control.c - when to record: on a command, or from the start because the environment, a property
 * or a file says so; and where the recording goes.
 *
 * Nobody waits for a recording to be written, unless the process exits.
 */
#include "hooks/jni/bionic.h"
#include "hooks/jni/recording.h"

#define TAG          "nanoscope"
#define PATH_MAX     1024
#define PROPERTY_MAX 92
#define START        "START_TRACING"
#define STOP         "STOP_TRACING"
/* What the app may take for events, unless it is told otherwise. */
#define MEMORY       ((size_t)(sizeof(void *) == 8 ? 256 : 96) << 20)
#define MEMORY_MAX   ((size_t)(sizeof(void *) == 8 ? 16384 : 1024) << 20)
#define SETTLE_NS    20000000 /* an event is written in less, once its thread runs */
#define NAME         "nanoscope.nsapp"

static char output[PATH_MAX]; /* of the session */
static size_t memory = MEMORY;

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

/* ---- Where to ----------------------------------------------------------------------------- */

/* The app's folder for files, with a slash; "" where there is none: that of the process. */
static void find_folder(char *out, size_t room)
{
    char package[128];

    out[0] = '\0';
    if (__system_property_get == NULL)
        return;
    nsc_jni_process(package, sizeof package);
    for (char *at = package; *at != '\0'; at++) /* ":part" of a process is not the package's */
        if (*at == ':')
            *at = '\0';
    snprintf(out, room, "/data/user/%u/%s/files/", getuid() / 100000, package);
    mkdir(out, 0700); /* the app makes it when it needs it */
}

/* @name: a path, or a file in the app's folder; "" = of our choice. */
static void set_output(const char *name)
{
    char folder[256]; /* initializers of arrays are calls that bionic has under other names */

    folder[0] = '\0';
    if (name[0] != '/')
        find_folder(folder, sizeof folder);
    snprintf(output, sizeof output, "%s%s", folder, name[0] != '\0' ? name : NAME);
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

/* A thread of ours, in which no signal handler of the app ever runs. */
static bool run_apart(void *(*run)(void *))
{
    unsigned long all[NSC_SIGNALS_BYTES / sizeof(unsigned long)];
    unsigned long before[NSC_SIGNALS_BYTES / sizeof(unsigned long)];
    nsc_bionic_thread thread;
    bool runs;

    memset(all, 0xff, sizeof all);
    pthread_sigmask(NSC_SIG_SETMASK, all, before);
    runs = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(NSC_SIG_SETMASK, before, NULL);
    if (runs)
        pthread_detach(thread);
    return runs;
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
    error = nsc_jni_session_begin(memory);
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
    error = nsc_jni_dump(output);
    if (error != NULL)
        log_path(NSC_LOG_WARN, "the recording is lost:", output, error);
    else
        log_path(NSC_LOG_INFO, "wrote", output, NULL);
    set_mode(NSC_JNI_OFF);
    return context;
}

/* Ends the session; it is @background or written when this returns. @name: as for set_output(),
 * NULL = what was said at the start. */
static void stop(const char *name, bool background)
{
    if (!change(NSC_JNI_ON, NSC_JNI_CHANGING)) {
        if (background)
            nsc_jni_log(NSC_LOG_WARN, "does not record: nothing to stop");
        return;
    }
    nsc_jni_session_end();
    if (name != NULL)
        set_output(name);
    if (!background || !run_apart(write_session))
        write_session(NULL);
}

/* The process exits: what is recorded is written, and what is being written gets its time. */
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

/* Whether @text begins with @word, and then ends or goes on behind a colon. */
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

/* ---- From the start ----------------------------------------------------------------------- */

/* "64M", "65536", "100k": bytes, rounded to pages; 0 if it is none or too much. */
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

/* Property debug.nanoscope: "PACKAGE" or "PACKAGE:FILE", PACKAGE as the process is called. */
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

/* The file nanoscope.start in the app's folder; its first line names the recording. */
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
