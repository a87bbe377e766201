/* code_file.c - see code_file.h. */
#include "record/code_file.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADERS_MAX = 1024, PAGE_MAX = 65536 /* of AArch64 */ };

static int read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    ssize_t got = pread(fd, to, bytes, (off_t)at);

    if (got < 0)
        return -errno;
    return (size_t)got == bytes ? 0 : -EBADMSG;
}

int nsc_code_file_read(int fd, struct nsc_code_file *out)
{
    struct nsc_code_file file = {0};
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    struct stat st;
    int error = fstat(fd, &st) != 0 ? -errno : read_at(fd, &head, sizeof head, 0);
    uint32_t i;

    if (error != 0)
        return error;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
        return -ENOEXEC;
    if (head.e_phentsize != sizeof segment || head.e_phnum > HEADERS_MAX)
        return -EBADMSG;
    file.device = st.st_dev;
    file.inode = st.st_ino;
    for (i = 0; i < head.e_phnum && file.segment_count < NSC_CODE_FILE_SEGMENTS_MAX; i++) {
        error = read_at(fd, &segment, sizeof segment, head.e_phoff + i * sizeof segment);
        if (error != 0)
            return error;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            file.segments[file.segment_count++] = (struct nsc_code_segment){
                .offset = segment.p_offset, .va = segment.p_vaddr, .bytes = segment.p_filesz};
    }
    *out = file;
    return 0;
}

static bool is_of_file(const struct nsc_code_file *file, pid_t pid, const struct nsc_map *map)
{
    char path[80];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%ld/map_files/%llx-%llx", (long)pid,
             (unsigned long long)map->start, (unsigned long long)map->end);
    if (stat(path, &st) == 0)
        return st.st_dev == file->device && st.st_ino == file->inode;
    return errno != ENOENT && map->inode == file->inode;
}

/* Does the bias follow from @offset of the file being mapped at @address? A segment is mapped from
 * the start of its first page. */
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
    bool first = false, last = false, any = false;
    size_t i;

    for (i = 0; i < maps->count; i++) {
        const struct nsc_map *map = &maps->at[i];

        if (!map->executable || map->end <= place->start || map->start >= place->end)
            continue;
        any = true;
        if (map->inode == 0 || !is_of_file(file, pid, map) ||
            !bias_fits(file, map->offset, map->start, place->bias))
            return -EXDEV;
        first |= holds(map, place->start);
        last |= holds(map, place->end - 1);
    }
    if (!any)
        return -EIO;
    return first && last ? 0 : -EXDEV;
}
