/*
 * What start, stop and filter are tried on. Every thread calls step_0 to step_7 in turn, and each
 * of them leaf(), so that a trace can be checked: what is in it must be a part of that.
 *
 * usage: work run THREADS ROUNDS    goes on until the rounds are done; says what it worked out
 *        work busy THREADS          until standard input ends, with threads that come and go and
 *                                   forks meanwhile, and jumps out of calls; aborts if anything is
 *                                   worked out wrong
 *        work orders THREADS        does what standard input says, and answers each line:
 *            go ROUNDS     all threads, which exist and wait: that many rounds
 *            new ROUNDS    a new thread: that many
 *            fork ROUNDS   a child: that many
 *            leave         main() leaves a call by longjmp(), then sets a mark and a counter
 *            exec PROGRAM  becomes another program
 *            idle          a child that calls nothing
 *            code          says, behind the answer, how leaf() begins here and in that child
 *            ...           else it does nothing
 *        The answer is `events N`: how many entries and exits all of this was until now.
 */
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_MAX = 64, CALLS_A_ROUND = 16 };

#define NOINLINE __attribute__((noinline))

static NOINLINE long leaf(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n * 7 + 3;
}

/* Each on a page of its own: the hooks of all cannot be switched by one write. */
#define STEP(k)                                                                                    \
    static NOINLINE __attribute__((aligned(4096))) long step_##k(long n)                           \
    {                                                                                              \
        n = leaf(n + (k));                                                                         \
        __asm__ volatile("" : "+r"(n));                                                            \
        return n ^ (k);                                                                            \
    }                                                                                              \
    _Static_assert((k) < 8, "a semicolon follows")
STEP(0);
STEP(1);
STEP(2);
STEP(3);
STEP(4);
STEP(5);
STEP(6);
STEP(7);

static NOINLINE long rounds(long count)
{
    long n = 1;

    for (long i = 0; i < count; i++)
        n = step_7(step_6(step_5(step_4(step_3(step_2(step_1(step_0(n))))))));
    return n;
}

static long round_count;
static atomic_bool over;

NANOSCOPE_NOTRACE static long events_of(long count)
{
    return 2 + 2 * count * CALLS_A_ROUND;
}

static void *run_thread(void *result)
{
    *(long *)result = rounds(round_count);
    return NULL;
}

/* ---- Busy ------------------------------------------------------------------------------------ */

static long wanted;

/* Whatever happens to the program, its functions work out what they always do. */
static void check(long result)
{
    if (result != wanted)
        abort();
}

static void *busy_thread(void *unused)
{
    (void)unused;
    while (!atomic_load(&over))
        check(rounds(100));
    return NULL;
}

static NOINLINE long dive(jmp_buf out, long depth)
{
    long n = leaf(depth);

    if (depth == 0)
        longjmp(out, 1);
    return dive(out, depth - 1) + n;
}

/* Leaves calls by longjmp(), whatever is switched on or off meanwhile. */
static NOINLINE void jump(void)
{
    jmp_buf out;

    if (setjmp(out) == 0)
        dive(out, 5);
    nanoscope_mark("out", NULL);
}

static void *short_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        rounds(5);
        jump();
    }
    check(rounds(100));
    return NULL;
}

/* Threads and children that come and go. */
static void *churn(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        pthread_t thread;
        pid_t child;
        int status;

        if (pthread_create(&thread, NULL, short_thread, NULL) != 0)
            abort();
        child = fork();
        if (child == 0)
            _exit(rounds(100) == wanted ? 0 : 1);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            abort();
        pthread_join(thread, NULL);
        usleep(500);
    }
    return NULL;
}

static int busy(int threads)
{
    pthread_t ids[THREADS_MAX], other;

    wanted = rounds(100);
    pthread_create(&other, NULL, churn, NULL);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, busy_thread, NULL);
    while (getchar() != EOF)
        ;
    atomic_store(&over, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_join(other, NULL);
    printf("%d threads: %lx\n", threads, wanted);
    return 0;
}

/* The same work, and an end. */
static int run(int threads, long count)
{
    pthread_t ids[THREADS_MAX];
    long results[THREADS_MAX], sum = 0;

    round_count = count;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run_thread, &results[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += results[i];
    }
    printf("%d threads: %lx\n", threads, sum);
    return 0;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static pthread_barrier_t begin, end;

static void *waiting_thread(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_barrier_wait(&begin);
        rounds(round_count);
        pthread_barrier_wait(&end);
    }
    return NULL;
}

static void *new_thread(void *count)
{
    return (void *)rounds((long)count);
}

static jmp_buf back;

static NOINLINE void leave(void)
{
    longjmp(back, 1);
}

/* In a function of its own: what setjmp() may spoil is not obey()'s. */
NANOSCOPE_NOTRACE static NOINLINE void come_back(void)
{
    if (setjmp(back) == 0)
        leave();
    nanoscope_mark("back", NULL);
    nanoscope_counter("back", 1);
}

static int question[2], reply[2]; /* pipes to and from the idle child */

/* The first byte of leaf()'s code. */
NANOSCOPE_NOTRACE static unsigned char first_byte(void)
{
    return *(const volatile unsigned char *)(const volatile void *)leaf;
}

NANOSCOPE_NOTRACE static pid_t idle_child(void)
{
    unsigned char byte;
    pid_t child;

    if (pipe(question) != 0 || pipe(reply) != 0)
        abort();
    child = fork();
    if (child != 0)
        return child;
    close(question[1]);
    while (read(question[0], &byte, 1) == 1) {
        byte = first_byte();
        if (write(reply[1], &byte, 1) != 1)
            break;
    }
    _exit(0);
}

NANOSCOPE_NOTRACE static unsigned char ask_child(void)
{
    unsigned char byte = 0;

    if (write(question[1], &byte, 1) != 1 || read(reply[0], &byte, 1) != 1)
        abort();
    return byte;
}

static int obey(int threads)
{
    char line[256], word[16], what[200];
    long events = 0;
    pthread_t thread;
    int status;

    pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&end, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&thread, NULL, waiting_thread, NULL);
    while (fgets(line, sizeof line, stdin) != NULL) {
        long count = 0;

        what[0] = 0;
        if (sscanf(line, "%15s %199s", word, what) < 1)
            word[0] = 0;
        count = atol(what);
        if (strcmp(word, "go") == 0) {
            round_count = count;
            pthread_barrier_wait(&begin);
            pthread_barrier_wait(&end);
            events += threads * events_of(count);
        } else if (strcmp(word, "new") == 0) {
            pthread_create(&thread, NULL, new_thread, (void *)count);
            pthread_join(thread, NULL);
            events += 2 + events_of(count);
        } else if (strcmp(word, "fork") == 0) {
            pid_t child = fork();

            if (child == 0) {
                rounds(count);
                _exit(0);
            }
            waitpid(child, &status, 0);
            events += events_of(count);
        } else if (strcmp(word, "leave") == 0) {
            come_back();
            events++;
        } else if (strcmp(word, "exec") == 0) {
            execlp(what, what, "60", (char *)NULL);
        }
        printf("events %ld", events);
        if (strcmp(word, "idle") == 0)
            idle_child();
        if (strcmp(word, "code") == 0)
            printf(" %02x %02x", first_byte(), ask_child());
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? atoi(argv[2]) : 1;

    if (argc < 3 || threads < 1 || threads > THREADS_MAX)
        return 2;
    if (strcmp(argv[1], "orders") == 0)
        return obey(threads);
    if (strcmp(argv[1], "busy") == 0)
        return busy(threads);
    return run(threads, argc > 3 ? atol(argv[3]) : 1000);
}
