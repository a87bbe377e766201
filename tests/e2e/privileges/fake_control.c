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
 *   racing    an empty memory file, which a thread fills, cuts and seals all the time
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nanoscope/control.h"

int64_t fake_fd = -1;

/* Runs on the stack of a stopped thread; leaves everything as it is. */
__asm__(".pushsection .text\n"
        "fake_control:\n"
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

static int memory(int seals)
{
    int fd = memfd_create("nanoscope", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (seals != 0)
        fcntl(fd, F_ADD_SEALS, seals);
    return fd;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    pthread_t thread;

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
    if (strcmp(kind, "sealed") == 0 || strcmp(kind, "racing") == 0)
        pthread_create(&thread, NULL, race, NULL);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
