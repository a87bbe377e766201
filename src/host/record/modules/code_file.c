/* code_file.c - see code_file.h. */
#include "record/modules/code_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/procfs/mapped_file.h"
#include "util/now.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

enum {
    HEADERS_MAX = 1024,
    PAGE_MAX = 65536, /* of AArch64 */
    CHILD_BYTES_MAX = 64 << 20,
};

#define READ_NS 2000000000ull

static int read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got = pread(fd, to, bytes, (off_t)at);

    if (got < 0)
        return -errno;
    return (size_t)got == bytes ? 0 : -EBADMSG;
}

static int read_segments(int fd, struct nsc_code_file *file)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    int error = read_at(fd, &head, sizeof head, 0);
    uint32_t i;

    if (error != 0)
        return error;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
        return -ENOEXEC;
    if (head.e_phentsize != sizeof segment || head.e_phnum > HEADERS_MAX)
        return -EBADMSG;
    for (i = 0; i < head.e_phnum && file->segment_count < NSC_CODE_FILE_SEGMENTS_MAX; i++) {
        error = read_at(fd, &segment, sizeof segment, head.e_phoff + i * sizeof segment);
        if (error != 0)
            return error;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            file->segments[file->segment_count++] = (struct nsc_code_segment){
                .offset = segment.p_offset, .va = segment.p_vaddr, .bytes = segment.p_filesz};
    }
    return 0;
}

/* In a child: reads the segments and sends them. Does not return. */
__attribute__((noreturn)) static void send_segments(int fd, const struct nsc_credentials *owner,
                                                    int pipe)
{
    const struct nsc_confine confine = {.credentials = owner,
                                        .keep = {pipe, fd, -1, -1},
                                        .memory_bytes = CHILD_BYTES_MAX,
                                        .cpu_seconds = 1};
    struct nsc_code_file file = {0};

    if (nsc_confine_enter(&confine) != 0)
        _exit(1);
    (void)nsc_confine_seal(); /* without a system call filter the other limits still apply */
    _exit(read_segments(fd, &file) != 0 || write(pipe, &file, sizeof file) != sizeof file);
}

/* Reads the segments in a child, as the file system may belong to the other user and never reply.
 */
static int receive_segments(int fd, const struct nsc_credentials *owner, struct nsc_code_file *file)
{
    int ends[2], error;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    child = fork();
    if (child == 0)
        send_segments(fd, owner, ends[1]);
    close(ends[1]);
    error = child > 0 ? nsc_child_wait_readable(child, ends[0], nsc_now_ns() + READ_NS) : -EAGAIN;
    if (error == 0 && (read(ends[0], file, sizeof *file) != (ssize_t)sizeof *file ||
                       file->segment_count > NSC_CODE_FILE_SEGMENTS_MAX))
        error = -EBADMSG;
    close(ends[0]);
    if (child > 0)
        (void)nsc_child_end(child, 0);
    return error;
}

int nsc_code_file_status(int fd, struct statx *st)
{
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, st) == 0 ? 0
                                                                                         : -errno;
}

int nsc_code_file_read(int fd, const struct nsc_credentials *owner, struct nsc_code_file *out)
{
    struct nsc_code_file file = {0};
    struct statx st;
    int error = owner != NULL ? receive_segments(fd, owner, &file) : read_segments(fd, &file);

    if (error == 0)
        error = nsc_code_file_status(fd, &st);
    if (error != 0)
        return error;
    file.device = makedev(st.stx_dev_major, st.stx_dev_minor);
    file.inode = st.stx_ino;
    *out = file;
    return 0;
}

static bool is_same(const struct nsc_code_file *file, const struct statx *st)
{
    return makedev(st->stx_dev_major, st->stx_dev_minor) == file->device &&
           st->stx_ino == file->inode;
}

/* Compares with the file at the path that the kernel reports for @map. The inode number in the maps
 * is not enough, as each file system has its own. */
static bool is_at_path(const struct nsc_code_file *file, pid_t pid, const struct nsc_map *map)
{
    struct nsc_credentials theirs;
    char program[PATH_MAX];
    bool foreign, same;
    struct statx st;
    int fd;

    if (map->path[0] != '/' || map->inode != file->inode || nsc_credentials_read(pid, &theirs) != 0)
        return false;
    foreign = nsc_credentials_are_foreign(&theirs);
    nsc_mapped_program(pid, program, sizeof program);
    fd = nsc_mapped_open(pid, map, program, foreign ? &theirs : NULL);
    if (fd < 0)
        return false;
    same = nsc_code_file_status(fd, &st) == 0 && is_same(file, &st);
    close(fd);
    return same;
}

/* Asks the kernel, not a file system, which may belong to another user. Without the capability for
 * map_files, sets @by_path: the answer holds only as long as @map does. */
static bool is_of_file(const struct nsc_code_file *file, pid_t pid, const struct nsc_map *map,
                       bool *by_path)
{
    char link[NSC_MAPPED_PATH_MAX];
    struct statx st;

    nsc_mapped_link(pid, map, link, sizeof link);
    if (statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_INO, &st) == 0)
        return is_same(file, &st);
    *by_path = errno != ENOENT;
    return *by_path && is_at_path(file, pid, map);
}

/* True if the bias agrees with the mapping of the file's @offset at @address. A segment is mapped
 * from the start of its first page. */
static bool bias_fits(const struct nsc_code_file *file, uint64_t offset, uint64_t address,
                      uint64_t bias)
{
    uint32_t i;

    for (i = 0; i < file->segment_count; i++) {
        const struct nsc_code_segment *s = &file->segments[i];
        uint64_t page = s->offset & ~(uint64_t)(PAGE_MAX - 1);

        if (offset >= page && offset - page < s->bytes + (s->offset - page) &&
            address - bias == s->va + (offset - s->offset))
            return true;
    }
    return false;
}

static bool holds(const struct nsc_map *map, uint64_t address)
{
    return address >= map->start && address < map->end;
}

int nsc_code_file_check(const struct nsc_code_file *file, pid_t pid, const struct nsc_maps *maps,
                        const struct nsc_code_place *place)
{
    bool first = false, last = false, any = false, other = false, by_path = false;
    size_t i;

    for (i = 0; i < maps->count; i++) {
        const struct nsc_map *map = &maps->at[i];

        if (map->end <= place->start || map->start >= place->end)
            continue;
        if (!map->executable) {
            other |= map->inode != 0 && !is_of_file(file, pid, map, &by_path);
            continue;
        }
        any = true;
        if (map->inode == 0 || !is_of_file(file, pid, map, &by_path) ||
            !bias_fits(file, map->offset, map->start, place->bias))
            return -EXDEV;
        first |= holds(map, place->start);
        last |= holds(map, place->end - 1);
    }
    if (!any)
        return -EIO;
    if (!first || !last || other)
        return -EXDEV;
    return by_path ? NSC_CODE_FILE_BY_PATH : 0;
}
