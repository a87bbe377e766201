/*
 * churn.c - a program built for tracing that changes under whoever records it: its maps, files,
 * credentials, threads, the session's memory, its namespaces.
 *
 * usage: churn KIND SEED MILLISECONDS PLUGIN BECOME_ROOT VICTIM_PID; KIND is one of the actions'
 * below. Says "ready" before it begins.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/live.h"

static uint64_t state;
static char **arguments;
static struct timespec end;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

static int is_over(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec);
}

__attribute__((noinline)) int leaf(int n)
{
    return n * 3 + 1;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

/* ---- maps and files ---- */

static void map_around(void)
{
    size_t bytes = (size_t)4096 << random_below(10);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    work(10);
    munmap(memory, bytes);
}

static void reload(void)
{
    void *plugin = dlopen(arguments[4], RTLD_NOW);
    int (*call)(int) = plugin != NULL ? (int (*)(int))dlsym(plugin, "plugin_call") : NULL;

    if (call != NULL)
        call(3);
    if (plugin != NULL)
        dlclose(plugin);
}

/* Another file, or another kind of file, takes the plugin's name. */
static void swap_plugin(void)
{
    char moved[4096];

    snprintf(moved, sizeof moved, "%s.%d", arguments[4], getpid());
    if (rename(arguments[4], moved) != 0)
        return;
    switch (random_below(4)) {
    case 0:
        (void)!symlink("/etc/hostname", arguments[4]);
        break;
    case 1:
        mkfifo(arguments[4], 0666);
        break;
    case 2:
        mkdir(arguments[4], 0777);
        break;
    default:
        break;
    }
    usleep(random_below(2000));
    unlink(arguments[4]);
    rmdir(arguments[4]);
    (void)!rename(moved, arguments[4]);
}

static void protect_code(void)
{
    static const int protections[] = {PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC};
    uintptr_t page = (uintptr_t)leaf & ~(uintptr_t)4095;

    mprotect((void *)page, 4096, protections[random_below(2)]);
}

/* What was written into the code is forgotten. */
static void forget_code(void)
{
    uintptr_t page = (uintptr_t)leaf & ~(uintptr_t)4095;

    madvise((void *)page, 4096, MADV_DONTNEED);
}

/* ---- credentials ---- */

static void hide(void)
{
    prctl(PR_SET_DUMPABLE, random_below(2), 0, 0, 0);
}

static void forbid(void)
{
    struct sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = refuse};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static void change_user(void)
{
    (void)!unshare(CLONE_NEWUSER);
}

/* The process becomes root's, under the same number. */
static void become_root(void)
{
    execl(arguments[5], arguments[5], "/bin/sleep", "0.3", (char *)NULL);
}

static void begin_again(void)
{
    execv("/proc/self/exe", arguments);
}

/* ---- threads and processes ---- */

static void *short_life(void *context)
{
    work(20);
    return context;
}

static void start_threads(void)
{
    pthread_t threads[8];
    uint32_t count = 1 + random_below(8), made = 0, i;

    for (i = 0; i < count; i++)
        made += pthread_create(&threads[made], NULL, short_life, NULL) == 0;
    for (i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
}

static void start_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        work(10);
        usleep(random_below(3000));
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void stop(void)
{
    pid_t child = fork(), self = getpid();

    if (child == 0) {
        kill(getppid(), SIGSTOP);
        usleep(5000);
        kill(self, SIGCONT);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void block_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(random_below(2) ? SIG_BLOCK : SIG_UNBLOCK, &all, NULL);
}

/* ---- the session's memory ---- */

static uint8_t *session(size_t *bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t from = 0, to = 0;
    char line[512];

    while (from == 0 && maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "memfd:nanoscope") != NULL && strstr(line, " 00000000 ") != NULL)
            sscanf(line, "%lx-%lx", &from, &to);
    if (maps != NULL)
        fclose(maps);
    *bytes = to - from;
    return (uint8_t *)from;
}

static void scribble(void)
{
    size_t bytes;
    uint64_t *memory = (uint64_t *)session(&bytes);

    for (uint32_t i = random_below(4096); memory != NULL && i > 0; i--) {
        /* The tables, as a rule; the first page only now and then: it ends all. */
        size_t at = random_below(50) == 0 ? random_below(512) : 512 + random_below(1 << 20);

        if (8 * at < bytes)
            memory[at] = random_below(3) == 0 ? state : random_below(5);
    }
}

/* Others are said to take part, with a module of theirs. */
static void accuse(void)
{
    size_t bytes;
    uint8_t *base = session(&bytes);
    struct nsc_live_header *header = (struct nsc_live_header *)base;
    struct nsc_live_process *process;
    struct nsc_live_module *module;
    uint32_t slot = 1 + random_below(8);

    if (base == NULL || header->modules_off > bytes / 2 || header->processes_off > bytes / 2)
        return;
    process = (struct nsc_live_process *)(base + header->processes_off) + slot;
    module = (struct nsc_live_module *)(base + header->modules_off) + slot + 8;
    process->pid = random_below(2) ? (uint32_t)atoi(arguments[6]) : 1 + random_below(100);
    process->start_ticks = 1;
    __atomic_store_n(&process->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
    snprintf(module->path, sizeof module->path, "/proc/%u/exe", process->pid);
    module->process = slot;
    module->hooks = 1u << random_below(3);
    module->site_count = random_below(100);
    module->text_start = 0x400000 + 4096ull * random_below(4);
    module->text_end = module->text_start + 65536;
    module->bias = random_below(2) ? 0 : state & ~4095ull;
    module->build_id_bytes = 20;
    module->sleds_ready = 1;
    __atomic_store_n(&module->state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

/* ---- namespaces ---- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    if (fd >= 0) {
        (void)!write(fd, text, strlen(text));
        close(fd);
    }
}

static void enter_namespaces(void)
{
    uid_t uid = getuid();
    char map[64];
    pid_t child;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | (random_below(2) ? CLONE_NEWPID : 0)) != 0)
        return;
    snprintf(map, sizeof map, "0 %d 1", (int)uid);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", map);
    child = fork(); /* the first process of the new namespace, if there is one */
    if (child > 0) {
        while (!is_over() && waitpid(child, NULL, WNOHANG) == 0)
            work(100);
        _exit(0);
    }
}

static void hide_files(void)
{
    static const char *const places[] = {"/proc", "/tmp", "/dev/shm", "/run"};

    (void)!mount("none", places[random_below(4)], "tmpfs", 0, NULL);
}

static void cover_program(void)
{
    (void)!mount("/bin/true", arguments[4], NULL, MS_BIND, NULL);
}

static void change_root(void)
{
    if (random_below(8) == 0)
        (void)!chroot("/dev");
}

/* ---- which ---- */

typedef void action(void);

static action *const maps[] = {map_around, reload, swap_plugin, protect_code, forget_code, reload};
static action *const credentials[] = {hide,        hide,   start_child, forbid,
                                      change_user, reload, become_root, begin_again};
static action *const threads[] = {start_threads, start_threads, start_child, stop, block_signals};
static action *const memory[] = {scribble, accuse, accuse, accuse, start_threads, reload};
static action *const namespaces[] = {enter_namespaces, hide_files,    cover_program, change_root,
                                     reload,           start_threads, map_around};

static const struct kind {
    const char *name;
    action *const *actions;
    uint32_t count, pause_us;
} kinds[] = {
    {"maps", maps, sizeof maps / sizeof *maps, 300},
    {"credentials", credentials, sizeof credentials / sizeof *credentials, 20000},
    {"threads", threads, sizeof threads / sizeof *threads, 500},
    {"memory", memory, sizeof memory / sizeof *memory, 500},
    {"namespaces", namespaces, sizeof namespaces / sizeof *namespaces, 10000},
};

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    uint32_t ms;

    if (argc < 7)
        return 2;
    arguments = argv;
    while (strcmp(kind->name, argv[1]) != 0)
        if (++kind == kinds + sizeof kinds / sizeof *kinds)
            return 2;
    state = 88172645463325252ull ^ strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ull;
    ms = (uint32_t)atoi(argv[3]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += ms / 1000;
    end.tv_nsec += (long)(ms % 1000) * 1000000;
    puts("ready");
    fflush(stdout);
    usleep(random_below(30000));
    while (!is_over()) {
        work((int)random_below(200));
        kind->actions[random_below(kind->count)]();
        usleep(random_below(kind->pause_us));
    }
    return 0;
}
