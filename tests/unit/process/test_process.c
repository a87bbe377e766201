/* test_process.c - what process/ reads about processes: the note in an image, maps, system calls,
 * states. The calls themselves: tests/e2e/record/test_processes. */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/control.h"
#include "process/call/regs.h"
#include "process/call/thread_pick.h"
#include "process/find/control_note.h"
#include "process/procfs/maps.h"
#include "process/procfs/process_walk.h"
#include "process/procfs/procfs.h"
#include "tap.h"
#include "util/privileges/credentials.h"

/* ---- The note -------------------------------------------------------------------------------- */

/* In the file the note lies at its offset, in memory 0x1000 further on. */
#define NOTE_OFF   0x200
#define NOTE_MOVED 0x1000
#define FIRST_VA   0x400000
#define DATA_AT    (sizeof(Elf64_Nhdr) + 12)

struct image {
    uint8_t bytes[0x2000];
    bool mapped;
};

static bool read_image(void *context, uint64_t at, void *to, size_t bytes)
{
    struct image *i = context;

    if (at > sizeof i->bytes || bytes > sizeof i->bytes - at)
        return false;
    memcpy(to, i->bytes + at, bytes);
    return true;
}

static Elf64_Phdr *segments(struct image *i)
{
    return (Elf64_Phdr *)(void *)(i->bytes + sizeof(Elf64_Ehdr));
}

static uint8_t *note(struct image *i)
{
    return i->bytes + NOTE_OFF + (i->mapped ? NOTE_MOVED : 0);
}

static void make(struct image *i, bool mapped)
{
    static const uint8_t other[] = {4, 0, 0,   0,   3,   0, 0, 0, 9, 0,
                                    0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 0};
    Elf64_Nhdr head = {.n_namesz = 10, .n_descsz = 8, .n_type = NSC_CONTROL_NOTE_TYPE};
    Elf64_Ehdr elf = {.e_phoff = sizeof elf, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3};
    int64_t distance = 0x1234;

    *i = (struct image){.mapped = mapped};
    memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(i->bytes, &elf, sizeof elf);
    segments(i)[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = FIRST_VA, .p_filesz = 0x1000};
    segments(i)[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = 1ull << 40};
    segments(i)[2] = (Elf64_Phdr){.p_type = PT_NOTE,
                                  .p_offset = NOTE_OFF,
                                  .p_vaddr = FIRST_VA + NOTE_OFF + NOTE_MOVED,
                                  .p_filesz = sizeof other + DATA_AT + 8,
                                  .p_align = 4};
    memcpy(note(i), other, sizeof other);
    memcpy(note(i) + sizeof other, &head, sizeof head);
    memcpy(note(i) + sizeof other + sizeof head, "nanoscope", 10);
    memcpy(note(i) + sizeof other + DATA_AT, &distance, sizeof distance);
}

static enum nsc_control_note_class locate(struct image *i, struct nsc_located *at)
{
    size_t notes_left = NSC_CONTROL_NOTE_NOTES_MAX;
    const struct nsc_image image = {
        .read = read_image, .context = i, .mapped = i->mapped, .notes_left = &notes_left};

    return nsc_control_note_find(&image, at);
}

static void test_locate(bool mapped)
{
    const uint64_t data_at = NOTE_OFF + NOTE_MOVED + 20 + DATA_AT;
    struct nsc_located at = {0};
    struct image i;

    make(&i, mapped);
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_FOUND);
    CHECK_U64(at.note, data_at);
    CHECK_U64(at.control, data_at + 0x1234);

    at = (struct nsc_located){1, 1};
    note(&i)[20 + sizeof(Elf64_Nhdr)] = 'x';
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    CHECK_U64(at.control, 1);
    make(&i, mapped);
    segments(&i)[2].p_filesz -= 1; /* the note runs out of its segment */
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    make(&i, mapped);
    note(&i)[20] = 0xff; /* a name of 255 bytes */
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    make(&i, mapped);
    segments(&i)[2].p_offset = segments(&i)[2].p_vaddr = ~0ull - 8;
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    make(&i, mapped);
    segments(&i)[0].p_type = PT_NULL;
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    make(&i, mapped);
    ((Elf64_Ehdr *)(void *)i.bytes)->e_phnum = 0xffff;
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_WITHOUT);
    make(&i, mapped);
    i.bytes[EI_CLASS] = ELFCLASS32;
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_32_BIT);
    make(&i, mapped);
    i.bytes[0] = 0;
    CHECK(locate(&i, &at) == NSC_CONTROL_NOTE_NOT_ELF);
}

/* ---- /proc ----------------------------------------------------------------------------------- */

static bool parse(const char *text, struct nsc_map *map)
{
    static char line[256];

    snprintf(line, sizeof line, "%s", text);
    return nsc_maps_parse_line(line, map);
}

static void test_maps(void)
{
    struct nsc_map map;

    CHECK(parse("7f0000001000-7f0000003000 r-xp 00002000 fe:01 4711   /lib/a b.so\n", &map));
    CHECK_U64(map.start, 0x7f0000001000);
    CHECK_U64(map.end, 0x7f0000003000);
    CHECK_U64(map.offset, 0x2000);
    CHECK_U64(map.inode, 4711);
    CHECK(map.readable && !map.writable && map.executable && !map.shared && !map.deleted);
    CHECK_U64(map.device, makedev(0xfe, 1));
    CHECK_STR(map.path, "/lib/a b.so");
    CHECK(parse("400000-401000 rw-s 00000000 00:01 12 /memfd:nanoscope (deleted)\n", &map));
    CHECK(map.deleted && map.writable && map.shared && !map.executable);
    CHECK_STR(map.path, "/memfd:nanoscope");
    CHECK(parse("400000-401000 r--p 00000000 00:01 12 /a\\012b\\0\n", &map));
    CHECK_STR(map.path, "/a\nb\\0");
    CHECK(parse("400000-401000 rw-p 00000000 00:00 0 \n", &map));
    CHECK_STR(map.path, "");
    CHECK(parse("400000-401000 rw-p 00000000 00:00 0  (deleted)\n", &map));
    CHECK(!parse("", &map));
    CHECK(!parse("400000-400000 r--p 00000000 00:00 0\n", &map));
    CHECK(!parse("400000 r--p 00000000 00:00 0\n", &map));
    CHECK(!parse("400000-401000 r 00000000 00:00 0 /x\n", &map));
}

static void test_states(void)
{
    static const char status[] = "Name:\tTracerPid:\t7\nUid:\t1000\t0\t0\t0\nTracerPid:\t42\n"
                                 "SigIgn:\t0000000000001400\n";
    uint64_t value = 1;

    CHECK(nsc_procfs_field(status, "TracerPid", 10, &value));
    CHECK_U64(value, 42);
    CHECK(nsc_procfs_field(status, "SigIgn", 16, &value));
    CHECK_U64(value, 0x1400);
    CHECK(nsc_procfs_field(status, "Uid", 10, &value));
    CHECK_U64(value, 1000);
    CHECK(!nsc_procfs_field(status, "Tracer", 10, &value));
    CHECK_U64((unsigned char)nsc_procfs_state("12 (a) Z (b) S 1 2"), 'S');
    CHECK_U64((unsigned char)nsc_procfs_state("nothing"), 0);
    CHECK(!nsc_procfs_is_exiting("12 (a) Z) S 1 2 3 4 5 4194304 0"));
    CHECK(nsc_procfs_is_exiting("12 (a) S 1 2 3 4 5 4194308 0"));
    CHECK(nsc_procfs_is_exiting("12 (a) Z 1 2 3 4 5 0 0"));
    CHECK(nsc_procfs_is_exiting("12 (a"));
}

static void test_age(void)
{
    struct timespec boot;
    char stat[512];
    int64_t age_ms;

    CHECK(clock_gettime(CLOCK_BOOTTIME, &boot) == 0);
    age_ms = nsc_procfs_age_ms("12 (a 1) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 100 20");
    CHECK(age_ms / 1000 >= boot.tv_sec - 100 / sysconf(_SC_CLK_TCK) - 1);
    CHECK(age_ms / 1000 <= boot.tv_sec + 1);
    CHECK(nsc_procfs_age_ms("1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18") == INT64_MAX);
    CHECK(nsc_procfs_age_ms("12 (a 1") == INT64_MAX);
    CHECK(nsc_procfs_read(getpid(), "stat", stat, sizeof stat) > 0);
    CHECK(nsc_procfs_age_ms(stat) >= 0 && nsc_procfs_age_ms(stat) < 60000);
    CHECK(nsc_procfs_read(1, "stat", stat, sizeof stat) > 0);
    CHECK(nsc_procfs_age_ms(stat) <= (int64_t)(boot.tv_sec + 1) * 1000);
}

/* ---- Which thread ---------------------------------------------------------------------------- */

static enum nsc_pick_rank rank(long number, uint64_t third, uint64_t fourth)
{
    const struct nsc_regs_waits waits = {.number = number, .arguments = {1, 2, third, fourth}};

    return nsc_pick_rank(&waits);
}

static void test_pick(void)
{
    struct nsc_regs_waits waits;

    nsc_pick_parse("running\n", &waits);
    CHECK(waits.number == -1);
    nsc_pick_parse("-1 0x7ffd1000 0x401000\n", &waits);
    CHECK(waits.number == -1);
    CHECK_U64(waits.sp, 0x7ffd1000);
    nsc_pick_parse("202 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffd1000 0x401000\n", &waits);
    CHECK_U64((uint64_t)waits.number, 202);
    CHECK_U64(waits.arguments[5], 6);
    CHECK_U64(waits.sp, 0x7ffd1000);
    CHECK_U64(waits.pc, 0x401000);

    CHECK(rank(SYS_futex, 0, 0) == NSC_PICK_WAITS);
    CHECK(rank(SYS_epoll_pwait, 0, (uint32_t)-1) == NSC_PICK_WAITS);
    CHECK(rank(SYS_epoll_pwait, 0, 500) == NSC_PICK_REPEATS);
    CHECK(rank(SYS_rt_sigtimedwait, 0, 0) == NSC_PICK_WAITS);
    CHECK(rank(SYS_rt_sigtimedwait, 0x1000, 0) == NSC_PICK_REPEATS);
    CHECK(rank(SYS_read, 0, 0) == NSC_PICK_REPEATS);
    CHECK(rank(SYS_write, 0, 0) == NSC_PICK_PARTIAL);
    CHECK(rank(SYS_fsync, 0, 0) == NSC_PICK_OTHER);
    /* Made again after EINTR: never one whose effect is there already. */
    CHECK(nsc_regs_repeats(SYS_epoll_pwait) && nsc_regs_repeats(SYS_semop));
    CHECK(!nsc_regs_repeats(SYS_close) && !nsc_regs_repeats(SYS_rt_sigsuspend));
    CHECK(!nsc_regs_repeats(-1));
}

/* The session's memory counts by its numbers and its name: System V segments have both numbers of
 * their user's choice. */
static void test_memory(void)
{
    static const char *const names[] = {NSC_MAPS_MEMORY_NAME, "other"};
    struct stat st;

    for (size_t i = 0; i < 2; i++) {
        int fd = memfd_create(names[i], MFD_CLOEXEC);
        void *at;

        CHECK(ftruncate(fd, 4096) == 0 && fstat(fd, &st) == 0);
        CHECK(!nsc_maps_have_memory(getpid(), st.st_dev, st.st_ino));
        at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        CHECK(at != MAP_FAILED);
        CHECK(nsc_maps_have_memory(getpid(), st.st_dev, st.st_ino) == (i == 0));
        CHECK(!nsc_maps_have_memory(getpid(), st.st_dev, st.st_ino + 1));
        munmap(at, 4096);
        close(fd);
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

struct walked {
    pid_t silent, fatal, wanted; /* ascending */
    uid_t user;                  /* whose processes are all silent */
    char asked[32];              /* a file with one byte for each question about one of them */
    unsigned taken;
};

static pid_t start_sleeper(uid_t user)
{
    pid_t pid = fork();

    if (pid == 0 && (user == 0 || setresuid(user, user, user) == 0))
        for (;;)
            pause();
    return pid;
}

static void end_sleeper(pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
}

static bool is_of(pid_t pid, uid_t user)
{
    struct nsc_credentials theirs;

    return user != 0 && nsc_credentials_read(pid, &theirs) == 0 && theirs.user.real == user;
}

static void note_question(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    (void)!write(fd, "x", 1);
    close(fd);
}

static bool is_wanted(const void *context, pid_t pid)
{
    const struct walked *w = context;
    bool is_silent = pid == w->silent;

    if (is_of(pid, w->user)) {
        note_question(w->asked);
        is_silent = true;
    }
    if (pid == w->fatal)
        _exit(3);
    while (is_silent)
        pause();
    return pid == w->wanted;
}

static int take(void *context, pid_t pid)
{
    struct walked *w = context;

    w->taken += pid == w->wanted;
    return 0;
}

static int walk(struct walked *w)
{
    const struct nsc_process_walk walk = {
        .examine = is_wanted, .take = take, .context = w, .deadline_ns = UINT64_MAX};

    w->taken = 0;
    return nsc_process_walk(&walk);
}

/* A process that the child never gets past, and one that it dies over: the next is taken all the
 * same. */
static void test_walk(void)
{
    struct walked w = {.silent = start_sleeper(0)};

    w.fatal = start_sleeper(0);
    w.wanted = start_sleeper(0);
    CHECK(walk(&w) == 1);
    CHECK(w.taken == 1);
    end_sleeper(w.silent);
    end_sleeper(w.fatal);
    w.silent = w.fatal = 0;
    CHECK(walk(&w) == 0);
    CHECK(w.taken == 1);
    end_sleeper(w.wanted);
}

/* Another user cannot make a walk longer with each silent process. */
static void test_silent_user(void)
{
    enum { SLEEPERS = 5, ASKED = 2, USER = 65533 };
    struct walked w = {.user = USER, .asked = "/tmp/walk.XXXXXX"};
    int fd = mkstemp(w.asked);
    pid_t sleepers[SLEEPERS];
    struct stat st;

    if (geteuid() != 0) {
        printf("ok %d - silent processes of another user # skip needs root\n", ++t_count);
        return;
    }
    CHECK(fd >= 0 && fchmod(fd, 0666) == 0);
    for (int i = 0; i < SLEEPERS; i++)
        sleepers[i] = start_sleeper(USER);
    CHECK(walk(&w) == 1);
    CHECK(fstat(fd, &st) == 0 && st.st_size == ASKED);
    CHECK(walk(&w) == 1); /* nor ask again soon */
    CHECK(fstat(fd, &st) == 0 && st.st_size == ASKED);
    for (int i = 0; i < SLEEPERS; i++)
        end_sleeper(sleepers[i]);
    close(fd);
    unlink(w.asked);
}

int main(void)
{
    test_memory();
    test_walk();
    test_silent_user();
    test_locate(false);
    test_locate(true);
    test_maps();
    test_states();
    test_age();
    test_pick();
    return t_done();
}
