/*
 * narrow - a recorder whose pool grows under a program that, its address space being limited, has
 * mapped only the beginning. That is full; the rest must stay there for others. Says how many
 * chunks there are by the header's count, and how many are free.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../live_layout.h"

enum { FIRST = 4, CHUNKS = 8, CHUNK_BYTES = 8192, OTHERS = 15 };

static volatile int sink;

__attribute__((noipa)) void call(int i)
{
    sink = i;
}

/* Takes a chunk, then makes more calls than it holds once there is something to read. */
static int program(void)
{
    int i;

    call(0);
    if (getchar() != '\n')
        return 1;
    for (i = 0; i < 2000; i++)
        call(i);
    return 0;
}

static struct nsc_live_header *session(void)
{
    struct nsc_live_header *h;
    int fd = memfd_create("narrow", MFD_CLOEXEC);
    char path[64];
    struct nsc_live_header header = {
        .recorder_pid = (uint32_t)getpid(),
        .processes_max = 16,
        .modules_max = 16,
        .threads_max = 16,
        .chunks_max = CHUNKS,
        .chunk_bytes = CHUNK_BYTES,
        .filter_bytes = CHUNK_BYTES,
    };

    live_layout(&header);
    header.chunk_count = header.chunks_free = header.chunks_backed = FIRST;
    if (fd < 0 || ftruncate(fd, (off_t)header.total_bytes) != 0 ||
        (h = mmap(NULL, header.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
            MAP_FAILED)
        exit(125);
    *h = header;
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    setenv(NSC_LIVE_ENV, path, 1);
    return h;
}

static uint64_t state(const struct nsc_live_header *h, int chunk)
{
    const struct nsc_live_chunk *chunks = (const void *)((const char *)h + h->chunks_off);

    return __atomic_load_n(&chunks[chunk].state, __ATOMIC_ACQUIRE);
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {1ul << 30, 1ul << 30};
    struct nsc_live_header *h;
    int in[2], i, status, left = 0;
    pid_t child;

    if (argc > 1)
        return program();
    h = session();
    if (pipe(in) != 0 || (child = fork()) < 0)
        return 125;
    if (child == 0) {
        dup2(in[0], 0);
        setrlimit(RLIMIT_AS, &limit);
        execl("/proc/self/exe", argv[0], "inner", (char *)NULL);
        _exit(126);
    }
    for (i = 0; i < 1000 && state(h, 0) == 0; i++)
        usleep(10000);
    for (i = 0; i < FIRST; i++) {
        struct nsc_live_chunk *chunk = (void *)((char *)h + h->chunks_off);

        if (state(h, i) == 0)
            chunk[i].state = NSC_LIVE_CHUNK_STATE(NSC_LIVE_CHUNK_OWNED, OTHERS, 1);
    }
    h->chunk_count = CHUNKS;
    h->chunks_free = CHUNKS - FIRST;
    if (write(in[1], "\n", 1) != 1 || waitpid(child, &status, 0) != child || status != 0)
        return 124;
    for (i = 0; i < CHUNKS; i++)
        left += state(h, i) == 0;
    printf("%" PRIu32 " %d\n", h->chunks_free, left);
    return 0;
}
