/*
 * launcher.c - starts ART as a program: OPTION... CLASS ARGUMENT..., as dalvikvm does, which Debian
 * has not.
 *
 * It ends without destroying the runtime, which would wait for daemons; what a program wants at its
 * end it does itself.
 */
#define _GNU_SOURCE
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64

extern jint JNI_CreateJavaVM(JavaVM **vm, JNIEnv **env, void *args);

static int run(JNIEnv *env, int argc, char **argv)
{
    char *name = strdup(argv[0]);
    for (char *p = name; *p; p++)
        if (*p == '.')
            *p = '/';
    jclass class = (*env)->FindClass(env, name);
    free(name);
    jmethodID method =
        class ? (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V") : NULL;
    if (!method)
        return 1;
    jobjectArray args =
        (*env)->NewObjectArray(env, argc - 1, (*env)->FindClass(env, "java/lang/String"), NULL);
    for (int i = 1; i < argc; i++)
        (*env)->SetObjectArrayElement(env, args, i - 1, (*env)->NewStringUTF(env, argv[i]));
    (*env)->CallStaticVoidMethod(env, class, method, args);
    return (*env)->ExceptionCheck(env);
}

int main(int argc, char **argv)
{
    JavaVMOption options[MAX_OPTIONS];
    int count = 0, at = 1;
    for (; at < argc && argv[at][0] == '-' && count < MAX_OPTIONS; at++)
        options[count++] = (JavaVMOption){.optionString = argv[at]};
    if (at >= argc || argv[at][0] == '-') {
        fprintf(stderr, "usage: vm OPTION... CLASS ARGUMENT...\n");
        return 2;
    }
    JavaVMInitArgs args = {JNI_VERSION_1_6, count, options, JNI_FALSE};
    JavaVM *vm;
    JNIEnv *env;
    if (JNI_CreateJavaVM(&vm, &env, &args)) {
        fprintf(stderr, "vm: the runtime did not start\n");
        return 125;
    }
    int status = run(env, argc - at, argv + at);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        status = 1;
    }
    fflush(NULL);
    exit(status);
}
