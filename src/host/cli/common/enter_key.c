/* enter_key.c - see enter_key.h. */
#include "cli/common/enter_key.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static bool is_foreground(int fd)
{
    return tcgetpgrp(fd) == getpgrp();
}

bool nsc_cli_enter_pressed(bool *watches)
{
    struct pollfd set = {.fd = STDIN_FILENO, .events = POLLIN};
    bool terminal = isatty(STDIN_FILENO) != 0;
    char text[256];
    ssize_t got;

    if (!*watches || (terminal && !is_foreground(STDIN_FILENO)) || poll(&set, 1, 0) <= 0)
        return false;
    got = read(STDIN_FILENO, text, sizeof text);
    if (got > 0)
        return memchr(text, '\n', (size_t)got) != NULL;
    if (got == 0 && terminal)
        return true; /* Ctrl-D */
    if (got == 0 || (errno != EINTR && errno != EAGAIN))
        *watches = false;
    return false;
}
