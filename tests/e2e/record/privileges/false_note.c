/*
 * false_note.c - a program of root's in whose memory something of another user looks like a program
 * with the note of the control function, which names a function of root's. usage: false_note FILE
 *
 * FILE "memory": the session's memory looks like one, made so by a child that gave up root. Other
 * FILEs: made by a child that gave up root, and mapped to be read.
 * Prints "lied", and "called" if the function is called. Works until it is killed.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/control.h"
#include "abi/live.h"
#include "session_memory.h"

#define SEGMENTS_AT 0x400 /* reserved bytes of the session's header */
#define NOTE_AT     0x500
#define SPARE       60 /* a free entry of the table of modules */

struct false_note {
    Elf64_Nhdr head;
    char name[12];
    int64_t distance;
} __attribute__((packed));

/* Nobody calls it. */
__attribute__((noinline, used)) static int64_t secret(void)
{
    (void)!write(STDOUT_FILENO, "called\n", 7);
    return NSC_CONTROL_VERSION;
}

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

static void give_up_root(void)
{
    if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
        setresuid(65534, 65534, 65534) != 0)
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* @bytes: what is mapped at @at, or will be. */
static void look_like_a_program(uint8_t *bytes, const uint8_t *at)
{
    const Elf64_Phdr segments[] = {
        {.p_type = PT_LOAD, .p_filesz = 4096},
        {.p_type = PT_NOTE,
         .p_vaddr = NOTE_AT,
         .p_offset = NOTE_AT,
         .p_filesz = sizeof(struct false_note),
         .p_align = 4},
    };
    struct false_note note = {.head = {10, 8, NSC_CONTROL_NOTE_TYPE}, .name = "nanoscope"};
    const uint8_t *data = at + NOTE_AT + offsetof(struct false_note, distance);
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)bytes;

    note.distance = (int64_t)((uintptr_t)secret - (uintptr_t)data);
    memcpy(bytes + SEGMENTS_AT, segments, sizeof segments);
    memcpy(bytes + NOTE_AT, &note, sizeof note);
    head->e_phoff = SEGMENTS_AT;
    head->e_phentsize = sizeof segments[0];
    head->e_phnum = 2;
    memcpy(head->e_ident, "\177ELF\2\1\1", 8);
}

/* A module of process @pid has functions whose entry can be patched, says the session's memory. */
static void enter_module(uint8_t *base, pid_t pid)
{
    const struct nsc_live_header *header = (const struct nsc_live_header *)base;
    const struct nsc_live_process *processes =
        (const struct nsc_live_process *)(base + header->processes_off);
    struct nsc_live_module *modules = (struct nsc_live_module *)(base + header->modules_off);
    uint32_t slot = 0;

    while (processes[slot].pid != (uint32_t)pid)
        slot++;
    copy_module(&modules[SPARE], &modules[0]);
    modules[SPARE].process = slot;
    modules[SPARE].hooks = 1u << NSC_LIVE_HOOK_PATCHABLE;
    __atomic_store_n(&modules[SPARE].state, NSC_LIVE_LIVE, __ATOMIC_RELEASE);
}

static void lie_in_memory(void)
{
    pid_t boss = getpid();
    uint8_t *base = session_memory();

    if (fork() != 0)
        return;
    give_up_root();
    enter_module(base, boss);
    usleep(300000); /* the recorder reads the table first */
    look_like_a_program(base, base);
    puts("lied");
    fflush(stdout);
    for (;;)
        pause();
}

static void lie_in_file(const char *path)
{
    uint8_t *place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static uint8_t bytes[4096];
    pid_t child = fork();

    if (child == 0) {
        give_up_root();
        look_like_a_program(bytes, place);
        _exit(write(open(path, O_WRONLY | O_CREAT, 0644), bytes, sizeof bytes) != sizeof bytes);
    }
    waitpid(child, NULL, 0);
    if (mmap(place, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, open(path, O_RDONLY), 0) == place)
        puts("lied");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "memory") == 0)
        lie_in_memory();
    else
        lie_in_file(argv[1]);
    for (;;)
        work();
}
