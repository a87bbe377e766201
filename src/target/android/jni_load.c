/*
 * jni_load.c - functions that the VM calls: JNI_OnLoad, and the native methods of the hook class.
 *
 * The event path is record() and nothing else. Except for its slow path it must not call anything
 * (but the timer of 32-bit ARM), see recording.h.
 */
#include "android/bionic.h"
#include "android/jni.h"
#include "android/recording.h"
#include "android/ticks.h"

#define EXPORT       __attribute__((visibility("default")))
#define EXIT         0x80000000u
#define CRITICAL_SDK 26 /* first platform that supports @CriticalNative */
#define NAME_MAX     1024

/* The platform's Thread.setName, which the native setName calls. */
static nsc_jni_id thread_set_name;

/*
 * Record an entry or an exit. Costs about a timer read, one cache line, and two comparisons besides
 * the one for the thread. `limit` both enables recording and bounds the chunk.
 */
static inline __attribute__((always_inline)) void record(uint32_t code)
{
    uintptr_t self = nsc_jni_self(), at, limit;
    struct nsc_jni_hot *hot = nsc_jni_place(self);
    uint64_t ticks;

    if (NSC_JNI_UNLIKELY(__atomic_load_n(&hot->owner, __ATOMIC_RELAXED) != self)) {
        nsc_jni_stranger(code);
        return;
    }
    limit = __atomic_load_n(&hot->limit, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_ACQ_REL); /* a handler may change both: `limit` must not be newer
                                              * than `at` */
    at = nsc_jni_reserve(hot);
    ticks = nsc_jni_ticks();
    if (NSC_JNI_LIKELY(at < limit && (uint32_t)(ticks >> 32) == hot->high))
        nsc_jni_store(at, code, (uint32_t)ticks);
    else
        nsc_jni_slow(hot, at < limit ? at : 0, ticks, code);
}

static void enter_critical(int32_t id)
{
    record((uint32_t)id);
}

static void exit_critical(int32_t id)
{
    record((uint32_t)id | EXIT);
}

static void enter_plain(struct nsc_jni_env *env, nsc_jni_ref of, int32_t id)
{
    (void)env;
    (void)of;
    record((uint32_t)id);
}

static void exit_plain(struct nsc_jni_env *env, nsc_jni_ref of, int32_t id)
{
    (void)env;
    (void)of;
    record((uint32_t)id | EXIT);
}

/* Called in place of thread.setName(name). */
static void set_name(struct nsc_jni_env *env, nsc_jni_ref of, nsc_jni_ref thread, nsc_jni_ref name)
{
    union nsc_jni_value value = {.number = 0};
    char text[NAME_MAX];
    int32_t bytes;

    (void)of;
    if (thread == NULL) {
        nsc_jni_ref exception = nsc_jni_class(env, "java/lang/NullPointerException");

        if (exception != NULL)
            nsc_jni_throw(env, exception, "setName of a thread that is null");
        return;
    }
    bytes = name != NULL ? nsc_jni_length(env, NSC_JNI_GET_STRING_UTF_LENGTH, name) : 0;
    if (bytes > 0 && bytes < NAME_MAX) {
        nsc_jni_get_text(env, name, nsc_jni_length(env, NSC_JNI_GET_STRING_LENGTH, name), text);
        text[bytes] = '\0';
        if (nsc_jni_command(text))
            return;
    }
    value.ref = name;
    nsc_jni_call_void(env, thread, thread_set_name, &value);
}

/* Parse a decimal number; returns -1 if @text is not one. */
static int parse_number(const char *text)
{
    int value = 0;

    if (*text == '\0')
        return -1;
    for (; *text >= '0' && *text <= '9' && value < 100000; text++)
        value = value * 10 + (*text - '0');
    return *text == '\0' ? value : -1;
}

/* Read System.getProperty(@name); "" if it is unset or does not fit. */
static void read_property(struct nsc_jni_env *env, const char *name, char *out, size_t room)
{
    nsc_jni_ref system = nsc_jni_class(env, "java/lang/System"), text = NULL;
    union nsc_jni_value key = {.number = 0};
    nsc_jni_id get = NULL;
    int32_t bytes;

    out[0] = '\0';
    if (system != NULL)
        get = nsc_jni_find(env, NSC_JNI_GET_STATIC_METHOD_ID, system, "getProperty",
                           "(Ljava/lang/String;)Ljava/lang/String;");
    key.ref = get != NULL ? nsc_jni_text(env, name) : NULL;
    if (key.ref != NULL)
        text = nsc_jni_call_static(env, system, get, &key);
    nsc_jni_clear(env);
    bytes = text != NULL ? nsc_jni_length(env, NSC_JNI_GET_STRING_UTF_LENGTH, text) : 0;
    if (bytes > 0 && (size_t)bytes < room) {
        nsc_jni_get_text(env, text, nsc_jni_length(env, NSC_JNI_GET_STRING_LENGTH, text), out);
        out[bytes] = '\0';
    }
}

/*
 * Read the app's folder for files. The platform sets the path of the cache before the app's own
 * code runs, and the folder for files is beside it. This also works in processes with other names,
 * before the first unlock, and on other volumes.
 */
static void read_folder(struct nsc_jni_env *env)
{
    static const char cache[] = "/cache";
    char *out = nsc_jni.folder;
    size_t length, room = sizeof nsc_jni.folder - sizeof "/files/";

    read_property(env, "java.io.tmpdir", out, room);
    length = strlen(out);
    if (length < sizeof cache || out[0] != '/' ||
        strncmp(out + length - (sizeof cache - 1), cache, sizeof cache) != 0)
        out[0] = '\0';
    else
        snprintf(out + length - (sizeof cache - 1), sizeof "/files/", "/files/");
}

/*
 * Return true if the VM calls @CriticalNative methods without environment and class. On Android the
 * API level decides. Elsewhere there is no level: ART is new enough, other VMs never do it.
 * NANOSCOPE_APP_CRITICAL (0 or 1) overrides all that.
 */
static bool vm_is_critical(struct nsc_jni_env *env)
{
    const char *wanted = getenv("NANOSCOPE_APP_CRITICAL");
    char sdk[92], vm[32];

    if (wanted != NULL && (wanted[0] == '0' || wanted[0] == '1'))
        return wanted[0] == '1';
    if (__system_property_get != NULL && __system_property_get("ro.build.version.sdk", sdk) > 0)
        return parse_number(sdk) >= CRITICAL_SDK;
    read_property(env, "java.vm.name", vm, sizeof vm);
    return strncmp(vm, "Dalvik", sizeof "Dalvik") == 0;
}

/* Read the fingerprint of the hook class, if it has one. */
static void read_build(struct nsc_jni_env *env, nsc_jni_ref of)
{
    nsc_jni_id field =
        nsc_jni_find(env, NSC_JNI_GET_STATIC_FIELD_ID, of, NSC_APP_BUILD, NSC_APP_BUILD_SIGNATURE);
    nsc_jni_ref text = field != NULL ? nsc_jni_static_object(env, of, field) : NULL;
    int32_t bytes = text != NULL ? nsc_jni_length(env, NSC_JNI_GET_STRING_UTF_LENGTH, text) : 0;

    if (bytes > 0 && (size_t)bytes < sizeof nsc_jni.build) {
        nsc_jni_get_text(env, text, nsc_jni_length(env, NSC_JNI_GET_STRING_LENGTH, text),
                         nsc_jni.build);
        nsc_jni.build[bytes] = '\0';
    }
    nsc_jni_clear(env);
}

/* Register setName. If the class has none, it is not searched again. */
static void register_set_name(struct nsc_jni_env *env, nsc_jni_ref of)
{
    struct nsc_jni_native native = {NSC_APP_SET_NAME, NSC_APP_SET_NAME_SIGNATURE,
                                    (nsc_jni_function)set_name};
    nsc_jni_ref thread;

    if (nsc_jni_find(env, NSC_JNI_GET_STATIC_METHOD_ID, of, native.name, native.signature) !=
        NULL) {
        thread = nsc_jni_class(env, "java/lang/Thread");
        if (thread != NULL)
            thread_set_name = nsc_jni_find(env, NSC_JNI_GET_METHOD_ID, thread, "setName",
                                           "(Ljava/lang/String;)V");
        if (thread_set_name != NULL)
            nsc_jni_register(env, of, &native, 1);
    }
    nsc_jni_clear(env);
}

static void register_natives(struct nsc_jni_env *env)
{
    bool critical = vm_is_critical(env); /* first: no JNI call is allowed while an exception is
                                          * pending */
    nsc_jni_ref of = nsc_jni_class(env, NSC_APP_HOOK_CLASS);
    struct nsc_jni_native natives[] = {
        {NSC_APP_ENTER, NSC_APP_HOOK_SIGNATURE,
         critical ? (nsc_jni_function)enter_critical : (nsc_jni_function)enter_plain},
        {NSC_APP_EXIT, NSC_APP_HOOK_SIGNATURE,
         critical ? (nsc_jni_function)exit_critical : (nsc_jni_function)exit_plain},
    };

    if (of == NULL || nsc_jni_register(env, of, natives, 2) != 0) {
        nsc_jni_clear(env);
        nsc_jni_log(NSC_LOG_WARN, "the class " NSC_APP_HOOK_CLASS
                                  " has no natives enter(int) and exit(int): nothing is recorded");
        return;
    }
    read_build(env, of);
    register_set_name(env, of);
    nsc_jni_forget(env, of);
}

EXPORT int32_t JNI_OnLoad(struct nsc_jni_vm *vm, void *reserved);

int32_t JNI_OnLoad(struct nsc_jni_vm *vm, void *reserved)
{
    struct nsc_jni_env *env = NULL;

    (void)reserved;
    if (nsc_jni_get_env(vm, &env) != 0 || env == NULL)
        return NSC_JNI_VERSION;
    if (nsc_jni.pid == 0) {
        nsc_jni.pid = getpid();
        if (!nsc_jni_threads_begin())
            nsc_jni.mode = NSC_JNI_NEVER;
        register_natives(env);
        read_folder(env);
        nsc_jni_control_begin();
    }
    return NSC_JNI_VERSION;
}
