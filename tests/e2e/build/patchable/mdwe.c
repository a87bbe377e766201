/* mdwe.c - runs a command that may not make memory executable that was writable. Ends with 77 where
 * the kernel has no such thing (before Linux 6.3). usage: mdwe COMMAND... */
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2 || prctl(65 /* PR_SET_MDWE */, 1 /* PR_MDWE_REFUSE_EXEC_GAIN */, 0, 0, 0) != 0)
        return 77;
    execvp(argv[1], argv + 1);
    return 1;
}
