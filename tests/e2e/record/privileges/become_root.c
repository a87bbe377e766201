/* become_root.c - a set-user-ID wrapper: becomes root for good, and executes a program with its
 * caller's environment. The kernel does not start that one in secure mode. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2 || setgid(0) != 0 || setuid(0) != 0) {
        perror("become_root");
        return 1;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
