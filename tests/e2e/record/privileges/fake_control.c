/*
 * fake_control.c - a program that pretends to hold nanoscope's runtime: its control function
 * returns a descriptor of the caller's choice for the session's memory.
 *
 * usage: fake_control KIND FILE; KIND:
 *   path      FILE, opened with O_PATH
 *   read      FILE, opened for reading
 *   write     FILE, opened for reading and writing (its own)
 *   sealed    a memory file that nobody can seal any more, and cuts all the time
 *   filled    a memory file with something in it
 *   named     a file in memory that has a name, FILE
 *   leased    an empty memory file on which it has a lease
 *   racing    an empty memory file, which a thread fills, cuts and seals all the time
 * or an empty memory file, and:
 *   command   its command line is 32 GiB long
 *   sleeping  each call of the control function takes 15 s
 *   signals   the control function signals its own thread for ever
 *   becomes   the control function executes another program, this one as KIND "survives", which is
 *             sent SIGALRM soon, and says after two seconds that it is as it was
 *   executing one of its threads executes a script, which never gets on: the interpreter, a file in
 *             the folder FILE, has a lease that another process holds for 4 s; then it waits for a
 *             thread that is traced and whose tracer never reaps it
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "abi/control.h"

int64_t fake_fd = -1;

/* What the control function does before it returns; NULL: nothing. */
void (*volatile delay)(void);

/* Runs on the stack of a stopped thread; leaves everything as it is. */
__asm__(".pushsection .text\n"
        "fake_control:\n"
        "  cmpq $0, delay(%rip)\n"
        "  je 2f\n"
        "  push %rdi\n"
        "  call *delay(%rip)\n"
        "  pop %rdi\n"
        "2:\n"
        "  cmp $0, %rdi\n"
        "  mov $1, %eax\n" /* NSC_CONTROL_VERSION */
        "  je 1f\n"
        "  xor %eax, %eax\n"
        "  cmp $1, %rdi\n"
        "  jne 1f\n"
        "  mov fake_fd(%rip), %rax\n"
        "1: ret\n"
        ".popsection\n"
        ".pushsection .note.nanoscope, \"a\", @note\n"
        "  .balign 4\n"
        "  .long 10, 8, 1\n"
        "  .asciz \"nanoscope\"\n"
        "  .balign 4\n"
        "2: .quad fake_control - 2b\n"
        ".popsection\n");

static void *race(void *unused)
{
    (void)unused;
    for (;;) {
        (void)!ftruncate((int)fake_fd, 4096);
        (void)!ftruncate((int)fake_fd, 0);
    }
    return NULL;
}

__attribute__((force_align_arg_pointer)) static void sleep_long(void)
{
    const struct timespec second = {.tv_sec = 1};

    for (int i = 0; i < 15; i++)
        nanosleep(&second, NULL);
}

__attribute__((force_align_arg_pointer)) static void signal_itself(void)
{
    for (;;)
        syscall(SYS_tgkill, getpid(), gettid(), SIGTRAP);
}

static int memory(int seals)
{
    int fd = memfd_create("nanoscope", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (seals != 0)
        fcntl(fd, F_ADD_SEALS, seals);
    return fd;
}

/* Leases need a file that was opened by a path. */
static int take_lease(void)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)fake_fd);
    fd = open(path, O_RDWR);
    close((int)fake_fd);
    fake_fd = fd;
    signal(SIGIO, SIG_IGN);
    return fcntl(fd, F_SETLEASE, F_WRLCK);
}

/* ---- A long command line --------------------------------------------------------------------- */

/* Fields of /proc/self/stat, counted from 1 as proc(5) does. */
static void read_stat(unsigned long long *fields, int count)
{
    FILE *file = fopen("/proc/self/stat", "r");
    char text[2048];
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    char *at;

    fclose(file);
    text[bytes] = 0;
    at = strrchr(text, ')') + 1;
    for (int i = 3; i < count; i++) {
        at += strspn(at, " ");
        fields[i] = strtoull(at, NULL, 10); /* 0 for the letter of the state */
        at += strcspn(at, " ");
    }
}

static int lengthen_command(void)
{
    size_t bytes = (size_t)32 << 30;
    char *zeros = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned long long f[52] = {0};
    struct prctl_mm_map map;

    read_stat(f, 52);
    map = (struct prctl_mm_map){.start_code = f[26],
                                .end_code = f[27],
                                .start_stack = f[28],
                                .start_data = f[45],
                                .end_data = f[46],
                                .start_brk = f[47],
                                .brk = (uintptr_t)sbrk(0),
                                .arg_start = (uintptr_t)zeros,
                                .arg_end = (uintptr_t)zeros + bytes,
                                .env_start = f[50],
                                .env_end = f[51],
                                .exe_fd = (uint32_t)-1};
    return zeros == MAP_FAILED ? -1 : prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}

/* ---- A program that executes another one ----------------------------------------------------- */

static volatile pid_t traced;
static char interpreter[4096], script[4096], command[32768];

static void *be_traced(void *unused)
{
    traced = (pid_t)syscall(SYS_gettid);
    for (;;)
        pause();
    return unused;
}

static void *execute(void *unused)
{
    char *argv[] = {script, NULL};

    execve(script, argv, argv + 1);
    perror(script);
    return unused;
}

/* Traces the thread and holds the lease. */
static void hold(int ready)
{
    int fd = open(interpreter, O_RDONLY);

    signal(SIGIO, SIG_IGN);
    if (ptrace(PTRACE_SEIZE, traced, 0, 0) != 0 || fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
        _exit(1);
    (void)!write(ready, "x", 1);
    sleep(4);
    close(fd);
    for (;;)
        pause();
}

static int begin_to_execute(const char *folder)
{
    char byte;
    pthread_t threads[2];
    int ready[2];

    snprintf(interpreter, sizeof interpreter, "%s/interpreter", folder);
    snprintf(script, sizeof script, "%s/script", folder);
    snprintf(command, sizeof command,
             "cp /bin/true '%s' && echo '#!%s' >'%s' && chmod 755 '%s' '%s'", interpreter,
             interpreter, script, interpreter, script);
    if (system(command) != 0 || pipe(ready) != 0)
        return -1;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pthread_create(&threads[0], NULL, be_traced, NULL);
    while (traced == 0)
        usleep(100);
    if (fork() == 0)
        hold(ready[1]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return -1;
    pthread_create(&threads[1], NULL, execute, NULL);
    usleep(200000);
    return 0;
}

static void on_alarm(int number)
{
    (void)number;
}

static void become_another(void)
{
    const struct itimerval soon = {.it_value.tv_usec = 300000};
    sigset_t none;

    sigemptyset(&none);
    signal(SIGALRM, SIG_IGN); /* until the new program has its handler */
    sigprocmask(SIG_SETMASK, &none, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    execl("/proc/self/exe", "fake_control", "survives", "", NULL);
}

static void survive(void)
{
    time_t end = time(NULL) + 2;

    signal(SIGALRM, on_alarm);
    while (time(NULL) < end)
        usleep(10000);
    puts("survived");
    fflush(stdout);
    pause();
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    pthread_t thread;

    if (strcmp(kind, "survives") == 0)
        survive();
    if (strcmp(kind, "path") == 0)
        fake_fd = open(argv[2], O_PATH);
    else if (strcmp(kind, "read") == 0)
        fake_fd = open(argv[2], O_RDONLY);
    else if (strcmp(kind, "write") == 0 || strcmp(kind, "named") == 0)
        fake_fd = open(argv[2], O_RDWR | O_CREAT, 0600);
    else if (strcmp(kind, "sealed") == 0)
        fake_fd = memory(F_SEAL_SEAL);
    else
        fake_fd = memory(0);
    if (fake_fd < 0) {
        perror(kind);
        return 1;
    }
    if (strcmp(kind, "filled") == 0)
        (void)!write((int)fake_fd, "mine", 4);
    if (strcmp(kind, "leased") == 0 && take_lease() != 0) {
        perror(kind);
        return 1;
    }
    if (strcmp(kind, "sealed") == 0 || strcmp(kind, "racing") == 0)
        pthread_create(&thread, NULL, race, NULL);
    if ((strcmp(kind, "command") == 0 && lengthen_command() != 0) ||
        (strcmp(kind, "executing") == 0 && begin_to_execute(argv[2]) != 0)) {
        perror(kind);
        return 1;
    }
    if (strcmp(kind, "becomes") == 0)
        delay = become_another;
    if (strcmp(kind, "sleeping") == 0)
        delay = sleep_long;
    if (strcmp(kind, "signals") == 0)
        delay = signal_itself;
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
