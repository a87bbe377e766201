/*
 * slow.c - for LD_PRELOAD: a recorder that loses its processor for a while before each write into
 * a program's code, as it may on a busy machine.
 */
#include <sys/syscall.h>
#include <unistd.h>

enum { PAUSE_US = 3000 };

/* Code of programs lies above, what the recorder writes to files below. */
static const off_t lowest_code = 1 << 22;

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    if (at >= lowest_code)
        usleep(PAUSE_US);
    return syscall(SYS_pwrite64, fd, from, bytes, at);
}
