/*
 * jni.h - calls into a Java VM, through the function tables of JNI.
 *
 * Included by src/target/android only. Functions are called by their index in the table.
 * Source: the Java Native Interface specification, "JNI Functions" (indices), "Invocation API".
 */
#ifndef NSC_ANDROID_JNI_H
#define NSC_ANDROID_JNI_H

#include <stddef.h>
#include <stdint.h>

#define NSC_JNI_VERSION 0x00010006

/* Environments and VMs; each begins with a pointer to its table of functions. */
typedef void (*nsc_jni_function)(void);
struct nsc_jni_env {
    const nsc_jni_function *table;
};
struct nsc_jni_vm {
    const nsc_jni_function *table;
};
typedef void *nsc_jni_ref; /* object, class or string */
typedef void *nsc_jni_id;  /* method or field */

struct nsc_jni_native {
    const char *name, *signature;
    nsc_jni_function function;
};

union nsc_jni_value {
    nsc_jni_ref ref;
    int64_t number;
};

enum nsc_jni_index {
    NSC_JNI_FIND_CLASS = 6,
    NSC_JNI_THROW_NEW = 14,
    NSC_JNI_EXCEPTION_CLEAR = 17,
    NSC_JNI_DELETE_LOCAL_REF = 23,
    NSC_JNI_GET_METHOD_ID = 33,
    NSC_JNI_CALL_VOID_METHOD_A = 63,
    NSC_JNI_GET_STATIC_METHOD_ID = 113,
    NSC_JNI_CALL_STATIC_OBJECT_METHOD_A = 116,
    NSC_JNI_GET_STATIC_FIELD_ID = 144,
    NSC_JNI_GET_STATIC_OBJECT_FIELD = 145,
    NSC_JNI_GET_STRING_LENGTH = 164,
    NSC_JNI_NEW_STRING_UTF = 167,
    NSC_JNI_GET_STRING_UTF_LENGTH = 168,
    NSC_JNI_REGISTER_NATIVES = 215,
    NSC_JNI_GET_STRING_UTF_REGION = 221,
    NSC_JNI_EXCEPTION_CHECK = 228,
    NSC_JNI_VM_GET_ENV = 6,
};

/* The function at @index of @owner's table, cast to @type. */
#define NSC_JNI(type, owner, index) ((type)(owner)->table[index])

static inline int32_t nsc_jni_get_env(struct nsc_jni_vm *vm, struct nsc_jni_env **env)
{
    typedef int32_t (*fn)(struct nsc_jni_vm *, struct nsc_jni_env **, int32_t);

    return NSC_JNI(fn, vm, NSC_JNI_VM_GET_ENV)(vm, env, NSC_JNI_VERSION);
}

static inline void nsc_jni_clear(struct nsc_jni_env *env)
{
    typedef void (*fn)(struct nsc_jni_env *);

    NSC_JNI(fn, env, NSC_JNI_EXCEPTION_CLEAR)(env);
}

static inline nsc_jni_ref nsc_jni_class(struct nsc_jni_env *env, const char *name)
{
    typedef nsc_jni_ref (*fn)(struct nsc_jni_env *, const char *);

    return NSC_JNI(fn, env, NSC_JNI_FIND_CLASS)(env, name);
}

static inline void nsc_jni_forget(struct nsc_jni_env *env, nsc_jni_ref ref)
{
    typedef void (*fn)(struct nsc_jni_env *, nsc_jni_ref);

    NSC_JNI(fn, env, NSC_JNI_DELETE_LOCAL_REF)(env, ref);
}

static inline void nsc_jni_throw(struct nsc_jni_env *env, nsc_jni_ref exception, const char *text)
{
    typedef int32_t (*fn)(struct nsc_jni_env *, nsc_jni_ref, const char *);

    NSC_JNI(fn, env, NSC_JNI_THROW_NEW)(env, exception, text);
}

/* Look up a method or field of a class; @index selects the lookup function. */
static inline nsc_jni_id nsc_jni_find(struct nsc_jni_env *env, enum nsc_jni_index index,
                                      nsc_jni_ref of, const char *name, const char *signature)
{
    typedef nsc_jni_id (*fn)(struct nsc_jni_env *, nsc_jni_ref, const char *, const char *);

    return NSC_JNI(fn, env, index)(env, of, name, signature);
}

static inline void nsc_jni_call_void(struct nsc_jni_env *env, nsc_jni_ref object, nsc_jni_id method,
                                     const union nsc_jni_value *arguments)
{
    typedef void (*fn)(struct nsc_jni_env *, nsc_jni_ref, nsc_jni_id, const union nsc_jni_value *);

    NSC_JNI(fn, env, NSC_JNI_CALL_VOID_METHOD_A)(env, object, method, arguments);
}

static inline nsc_jni_ref nsc_jni_call_static(struct nsc_jni_env *env, nsc_jni_ref of,
                                              nsc_jni_id method,
                                              const union nsc_jni_value *arguments)
{
    typedef nsc_jni_ref (*fn)(struct nsc_jni_env *, nsc_jni_ref, nsc_jni_id,
                              const union nsc_jni_value *);

    return NSC_JNI(fn, env, NSC_JNI_CALL_STATIC_OBJECT_METHOD_A)(env, of, method, arguments);
}

static inline nsc_jni_ref nsc_jni_static_object(struct nsc_jni_env *env, nsc_jni_ref of,
                                                nsc_jni_id field)
{
    typedef nsc_jni_ref (*fn)(struct nsc_jni_env *, nsc_jni_ref, nsc_jni_id);

    return NSC_JNI(fn, env, NSC_JNI_GET_STATIC_OBJECT_FIELD)(env, of, field);
}

static inline nsc_jni_ref nsc_jni_text(struct nsc_jni_env *env, const char *text)
{
    typedef nsc_jni_ref (*fn)(struct nsc_jni_env *, const char *);

    return NSC_JNI(fn, env, NSC_JNI_NEW_STRING_UTF)(env, text);
}

/* Return the length of a string: characters, or with NSC_JNI_GET_STRING_UTF_LENGTH bytes in
 * UTF-8. */
static inline int32_t nsc_jni_length(struct nsc_jni_env *env, enum nsc_jni_index index,
                                     nsc_jni_ref text)
{
    typedef int32_t (*fn)(struct nsc_jni_env *, nsc_jni_ref);

    return NSC_JNI(fn, env, index)(env, text);
}

static inline void nsc_jni_get_text(struct nsc_jni_env *env, nsc_jni_ref text, int32_t length,
                                    char *out)
{
    typedef void (*fn)(struct nsc_jni_env *, nsc_jni_ref, int32_t, int32_t, char *);

    NSC_JNI(fn, env, NSC_JNI_GET_STRING_UTF_REGION)(env, text, 0, length, out);
}

static inline int32_t nsc_jni_register(struct nsc_jni_env *env, nsc_jni_ref of,
                                       const struct nsc_jni_native *natives, int32_t count)
{
    typedef int32_t (*fn)(struct nsc_jni_env *, nsc_jni_ref, const struct nsc_jni_native *,
                          int32_t);

    return NSC_JNI(fn, env, NSC_JNI_REGISTER_NATIVES)(env, of, natives, count);
}

#endif
