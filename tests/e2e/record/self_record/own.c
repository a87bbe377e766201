/*
 * own.c - a program that begins and ends its recordings itself. Every line that it prints is a fact
 * for tests/e2e/record/test_self_record to compare. Also built without the runtime, where nothing
 * is recorded.
 */
#include <fcntl.h>
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) int leaf(int i)
{
    sink += i;
    return sink;
}

__attribute__((noinline)) int work(int calls)
{
    int sum = 0, i;

    for (i = 0; i < calls; i++)
        sum += leaf(i);
    return sum;
}

static void say(const char *what, int result)
{
    printf("%s: %s\n", what, result == 0 ? "ok" : strerror(-result));
    fflush(stdout);
}

/* Returns 0 or 1. */
static int failed_to(const char *what, int result)
{
    if (result != 0)
        printf("%s: %s\n", what, strerror(-result));
    return result != 0;
}

/* What a recording must leave as it was. */
static void facts(void)
{
    char name[17] = "";
    int fd = open("/dev/null", O_RDONLY), status;

    prctl(PR_GET_NAME, name);
    printf("name %s, next descriptor %d, children %s\n", name, fd,
           waitpid(-1, &status, __WALL) < 0 ? "none" : "some");
    close(fd);
}

static void *mark_often(void *argument)
{
    int i;

    for (i = 0; i < 1000; i++) {
        nanoscope_mark("tick", argument);
        nanoscope_counter("i", i);
        work(3);
    }
    return NULL;
}

static int simple(const char *path)
{
    static char text[5000];

    say("stop before start", nanoscope_stop(NULL));
    work(100);
    say("start", nanoscope_start(path));
    say("second start", nanoscope_start(path));
    work(1000);
    nanoscope_mark("phase", "two=2; next");
    nanoscope_mark("plain", NULL);
    nanoscope_mark("", "");
    nanoscope_counter("queue", -42);
    nanoscope_counter_real("load", 0.75);
    memset(text, 'x', sizeof(text) - 1);
    nanoscope_mark("long", text);
    text[400] = 0;
    nanoscope_mark("fits", text);
    say("stop", nanoscope_stop(NULL));
    say("second stop", nanoscope_stop(NULL));
    work(100);
    facts();
    return 0;
}

static int named(const char *path)
{
    char stop[1200];

    snprintf(stop, sizeof(stop), "STOP_TRACING:%s", path);
    printf("stop before start %d\n", prctl(PR_SET_NAME, stop));
    printf("start %d\n", prctl(PR_SET_NAME, "START_TRACING"));
    work(500);
    printf("start again %d\n", pthread_setname_np(pthread_self(), "START_TRACING"));
    printf("stop %d\n", pthread_setname_np(pthread_self(), stop));
    printf("another name %d\n", pthread_setname_np(pthread_self(), "START_TRACIN"));
    facts();
    return 0;
}

static int threads(const char *path)
{
    static char names[8][2] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    pthread_t thread[8];
    int i;

    say("start", nanoscope_start(path));
    for (i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, mark_often, names[i]);
    for (i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    say("stop", nanoscope_stop(NULL));
    return 0;
}

/* Recordings one after the other while threads work and processes are forked. */
static void *busy(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        work(50);
    return NULL;
}

static int cycles(const char *path, int count)
{
    char name[1100];
    pthread_t thread[4];
    int stop = 0, i, failed = 0, status;

    for (i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, busy, &stop);
    for (i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s.%d.nst", path, i);
        failed += failed_to("start", nanoscope_start(name));
        work(200);
        if (i % 3 == 0) {
            pid_t child = fork();

            if (child == 0) {
                work(10);
                _exit(0);
            }
            waitpid(child, &status, 0);
        }
        failed += failed_to("stop", nanoscope_stop(NULL));
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    printf("failed %d\n", failed);
    facts();
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL;

    if (strcmp(what, "simple") == 0)
        return simple(path);
    if (strcmp(what, "named") == 0)
        return named(path);
    if (strcmp(what, "threads") == 0)
        return threads(path);
    if (strcmp(what, "cycles") == 0)
        return cycles(path, atoi(argv[3]));
    say("start", nanoscope_start(path));
    work(300);
    if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(what, "abort") == 0)
        abort();
    return strcmp(what, "end") != 0;
}
