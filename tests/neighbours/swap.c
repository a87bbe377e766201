/*
 * swap.c - takes every name that appears in a folder, and those that it foresees: by a link to
 * FILE, a hard link, a pipe, a folder, or a file of its own.
 *
 * usage: swap FOLDER FILE SEED NAME...: NAMEs are taken whether they appear or not
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % limit;
}

static void take(const char *name, const char *file)
{
    int fd;

    if (random_below(2) == 0) {
        (void)!unlink(name);
        (void)!rmdir(name);
    }
    switch (random_below(7)) {
    case 0:
        (void)!symlink(file, name);
        break;
    case 1:
        (void)!link(file, name);
        break;
    case 2:
        (void)!mkfifo(name, 0666);
        break;
    case 3:
        (void)!mkdir(name, 0777);
        break;
    case 4:
        fd = open(name, O_RDWR | O_CREAT, 0666);
        if (fd >= 0) {
            (void)!fchmod(fd, 0666);
            close(fd);
        }
        break;
    case 5:
        (void)!rename(name, "moved");
        break;
    default:
        break;
    }
}

int main(int argc, char **argv)
{
    if (argc < 4 || chdir(argv[1]) != 0)
        return 2;
    umask(0);
    state = 88172645463325252ull ^ strtoull(argv[3], NULL, 10);
    puts("ready");
    fflush(stdout);
    for (;;) {
        const struct dirent *entry;
        DIR *folder = opendir(".");

        for (int i = 4; i < argc; i++)
            take(argv[i], argv[2]);
        while (folder != NULL && (entry = readdir(folder)) != NULL)
            if (entry->d_name[0] != '.' && strcmp(entry->d_name, "moved") != 0)
                take(entry->d_name, argv[2]);
        if (folder != NULL)
            closedir(folder);
    }
}
