/*
 * What a confined child can still do: nothing but compute and use the descriptors that it keeps.
 * Each attempt runs in a child of its own, whose end says what became of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

enum { DONE = 0, REFUSED = 1, NO_FILTER = 2, NOT_CONFINED = 3, KILLED = 1000 };

static int kept = -1, dropped = -1; /* descriptors that the children inherit */
static char *shared, *shared_kept;

static int try_work(void)
{
    char byte;
    void *memory = malloc(10u << 20);

    if (memory == NULL || memset(memory, 1, 10u << 20) == NULL)
        return REFUSED;
    free(memory);
    *shared_kept = 1;
    return pread(kept, &byte, 1, 0) == 1 && write(1, "x", 1) == 1 ? DONE : REFUSED;
}

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY) < 0 ? REFUSED : DONE;
}

static int try_create(void)
{
    return open("/tmp/nsc-confine-created", O_CREAT | O_WRONLY, 0600) < 0 ? REFUSED : DONE;
}

static int try_dropped(void)
{
    return write(dropped, "x", 1) < 0 && errno == EBADF ? REFUSED : DONE;
}

static int try_dup(void)
{
    return dup(kept) < 0 ? REFUSED : DONE;
}

static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? REFUSED : DONE;
}

static int try_execve(void)
{
    char program[] = "/bin/true", *words[] = {program, NULL};

    return execve(words[0], words, words + 1) < 0 ? REFUSED : DONE;
}

static int try_kill(void)
{
    return kill(getppid(), 0) < 0 ? REFUSED : DONE;
}

static int try_fork(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (child == 0)
        _exit(0);
    return child < 0 ? REFUSED : DONE;
}

static int try_code(void)
{
    void *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? REFUSED : DONE;
}

static int try_make_code(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED || mprotect(memory, 4096, PROT_READ | PROT_EXEC) < 0 ? REFUSED
                                                                                     : DONE;
}

static int try_memory(void)
{
    void *memory = mmap(NULL, 1u << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? REFUSED : DONE;
}

static int try_shared(void)
{
    *(volatile char *)shared = 1;
    return DONE;
}

static int try_abort(void)
{
    abort();
}

/* What became of @attempt in a confined child: its result, or KILLED and the signal. */
static int run(int (*attempt)(void), const struct nsc_credentials *credentials)
{
    struct nsc_confine confine = {
        .credentials = credentials,
        .keep = {kept, -1, -1, -1},
        .shared = shared_kept,
        .memory_bytes = 256u << 20,
        .cpu_seconds = 10,
    };
    pid_t child;
    int status;

    fflush(stdout); /* a sanitizer's _exit() would print it once more */
    child = fork();
    if (child == 0) {
        if (nsc_confine_enter(&confine) != 0)
            _exit(NOT_CONFINED);
        _exit(nsc_confine_seal() != 0 && attempt != try_work ? NO_FILTER : attempt());
    }
    status = nsc_child_end(child, 20000);
    return WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static void check(const char *what, int (*attempt)(void), const struct nsc_credentials *credentials,
                  int want)
{
    int got = run(attempt, credentials);

    if (got == NO_FILTER) {
        printf("ok %d - %s # skip no system call filter here\n", ++t_count, what);
        return;
    }
    t_report(got == want, __FILE__, __LINE__, what);
    if (got != want)
        printf("#   got %d, want %d\n", got, want);
}

static void attempts(const struct nsc_credentials *credentials)
{
    check("memory, kept descriptors and shared memory work", try_work, credentials, DONE);
    CHECK(*shared_kept == 1);
    *shared_kept = 0;
    check("files cannot be opened", try_open, credentials, REFUSED);
    check("files cannot be created", try_create, credentials, REFUSED);
    check("other descriptors are closed", try_dropped, credentials, REFUSED);
    check("descriptors cannot be duplicated", try_dup, credentials, REFUSED);
    check("a socket kills", try_socket, credentials, KILLED + SIGSYS);
    check("execve kills", try_execve, credentials, KILLED + SIGSYS);
    check("a signal to the parent kills", try_kill, credentials, KILLED + SIGSYS);
    check("processes cannot be created", try_fork, credentials, REFUSED);
    check("memory cannot be executable", try_code, credentials, REFUSED);
    check("memory cannot become executable", try_make_code, credentials, REFUSED);
    check("memory is bounded", try_memory, credentials, REFUSED);
    if (!T_SANITIZED) { /* they handle these signals themselves */
        check("other shared memory is unmapped", try_shared, credentials, KILLED + SIGSEGV);
        check("abort() works", try_abort, credentials, KILLED + SIGABRT);
    }
    CHECK(*shared == 0);
}

/* The child of root has the user's credentials before it is sealed, and no others. */
static void as_user(const struct nsc_credentials *user)
{
    struct nsc_confine confine = {.credentials = user,
                                  .keep = {-1, -1, -1, -1},
                                  .memory_bytes = 256u << 20,
                                  .cpu_seconds = 10};
    char path[] = "/tmp/nsc-confine.XXXXXX";
    int fd = mkstemp(path), status;
    pid_t child = fork();

    if (child == 0) {
        struct nsc_credentials now;

        if (nsc_confine_enter(&confine) != 0 || nsc_credentials_read(0, &now) != 0)
            _exit(1);
        if (memcmp(&now.user, &user->user, sizeof now.user) != 0 ||
            memcmp(&now.group, &user->group, sizeof now.group) != 0 || now.group_count != 0 ||
            now.capabilities != 0)
            _exit(2);
        _exit(open(path, O_RDONLY) < 0 && errno == EACCES && setuid(0) < 0 ? 0 : 3);
    }
    status = nsc_child_end(child, 20000);
    CHECK_U64((unsigned)status, 0);
    unlink(path);
    close(fd);
}

/* A child that closes its pipe and stays is killed. */
static void ends(void)
{
    pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    CHECK_U64((unsigned)nsc_child_end(child, 10), SIGKILL);
    CHECK(waitpid(child, NULL, 0) < 0 && errno == ECHILD);
}

int main(void)
{
    const struct nsc_credentials user = nsc_credentials_of_user(65534, 65534);
    int flags = MAP_SHARED | MAP_ANONYMOUS;

    kept = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    dropped = open("/dev/null", O_WRONLY | O_CLOEXEC);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    shared_kept = mmap(NULL, 8192, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (!CHECK(kept >= 0 && dropped >= 0 && shared != MAP_FAILED && shared_kept != MAP_FAILED))
        return t_done();
    attempts(NULL);
    if (nsc_credentials_are_foreign(&user)) {
        attempts(&user);
        as_user(&user);
    } else {
        printf("ok %d - as another user # skip not root\n", ++t_count);
        CHECK(run(try_work, &user) == NOT_CONFINED);
    }
    ends();
    return t_done();
}
