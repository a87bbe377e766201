/* A page of the session's memory that cannot be had does not end the recorder. */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/session/memory_fault.h"
#include "tap.h"

enum { BYTES = 4 << 20 };

static void *map_memory(int *fd)
{
    *fd = memfd_create("test", MFD_CLOEXEC);
    if (ftruncate(*fd, BYTES) != 0)
        return MAP_FAILED;
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

static void test_survived(void)
{
    int fd;
    void *all = map_memory(&fd);
    volatile uint8_t *memory = all;

    memset(all, 7, BYTES);
    nsc_memory_fault_guard(all, BYTES);
    CHECK(!nsc_memory_fault_happened());
    CHECK(ftruncate(fd, BYTES / 2) == 0);
    CHECK(memory[BYTES / 2 - 1] == 7);
    CHECK(!nsc_memory_fault_happened());
    CHECK(memory[BYTES / 2] == 0);
    CHECK(nsc_memory_fault_happened());
    memory[BYTES - 1] = 5; /* another page, written to */
    CHECK(memory[BYTES - 1] == 5 && memory[BYTES / 2 - 1] == 7);
    nsc_memory_fault_end(all);
    munmap(all, BYTES);
    close(fd);
}

/* A fault elsewhere is what it was. */
static void test_elsewhere(void)
{
    int fd, status = 0;
    void *all = map_memory(&fd);
    volatile uint8_t *memory = all;
    pid_t child = fork();

    if (child == 0) {
        signal(SIGBUS, SIG_DFL); /* a sanitizer reports it in its own way */
        nsc_memory_fault_guard(all, BYTES / 2);
        if (ftruncate(fd, 0) == 0)
            memory[BYTES - 1] = 1;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    munmap(all, BYTES);
    close(fd);
}

int main(void)
{
    test_survived();
    test_elsewhere();
    return t_done();
}
