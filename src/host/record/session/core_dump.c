/* core_dump.c - see core_dump.h. */
#include "record/session/core_dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/live.h"

/* More than any session has; limits the memory that a file can make the recorder allocate. */
#define BYTES_MOST (4ull << 30)

enum { SEGMENTS_MOST = 1 << 20 };

struct core {
    int fd;
    uint64_t file_bytes;
    Elf64_Phdr *segments;
    uint32_t count;
};

/* Reads exactly @bytes; false if the file is shorter or cannot be read. */
static bool read_at(const struct core *c, void *to, uint64_t bytes, uint64_t offset)
{
    uint8_t *at = to;

    if (offset > c->file_bytes || bytes > c->file_bytes - offset)
        return false;
    while (bytes > 0) {
        ssize_t n = pread(c->fd, at, bytes, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

static bool is_core(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_type == ET_CORE;
}

bool nsc_core_is_one(const char *path)
{
    struct core c = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK),
                     .file_bytes = sizeof(Elf64_Ehdr)};
    Elf64_Ehdr header;
    bool found = c.fd >= 0 && read_at(&c, &header, sizeof header, 0) && is_core(&header);

    if (c.fd >= 0)
        close(c.fd);
    return found;
}

/* Reads the number of program headers; if it exceeds its field (PN_XNUM), section 0 has it. */
static bool count_segments(struct core *c, const Elf64_Ehdr *header)
{
    Elf64_Shdr section;

    c->count = header->e_phnum;
    if (c->count == PN_XNUM) {
        if (header->e_shoff == 0 || !read_at(c, &section, sizeof section, header->e_shoff))
            return false;
        c->count = section.sh_info;
    }
    return c->count <= SEGMENTS_MOST;
}

static int open_core(const char *path, struct core *c, struct nsc_diag *diag)
{
    Elf64_Ehdr header;
    struct stat st;

    c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (c->fd < 0 || fstat(c->fd, &st) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open: %s", strerror(errno));
    c->file_bytes = (uint64_t)st.st_size;
    if (!read_at(c, &header, sizeof header, 0) || !is_core(&header) ||
        header.e_phentsize != sizeof(Elf64_Phdr) || !count_segments(c, &header))
        return nsc_diag_set(diag, 0, EBADMSG, "the core dump's headers make no sense");
    c->segments = calloc(c->count + 1, sizeof *c->segments);
    if (c->segments == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (!read_at(c, c->segments, (uint64_t)c->count * sizeof *c->segments, header.e_phoff))
        return nsc_diag_set(diag, header.e_phoff, EBADMSG, "the core dump is cut off");
    return 0;
}

static void close_core(struct core *c)
{
    free(c->segments);
    if (c->fd >= 0)
        close(c->fd);
}

/* True if segment @i begins with a session. */
static bool has_session(const struct core *c, uint32_t i, struct nsc_live_header *header)
{
    const Elf64_Phdr *p = &c->segments[i];

    return p->p_type == PT_LOAD && p->p_filesz >= sizeof *header &&
           read_at(c, header, sizeof *header, p->p_offset) && header->magic == NSC_LIVE_MAGIC;
}

static bool is_better(const struct nsc_live_header *a, const struct nsc_live_header *than)
{
    bool a_open = a->recorder_state == NSC_LIVE_RECORDER_OPEN;
    bool than_open = than->recorder_state == NSC_LIVE_RECORDER_OPEN;

    if (a_open != than_open)
        return a_open;
    return a->clock[0].ticks > than->clock[0].ticks;
}

/* The segment with which the best session begins; UINT32_MAX: none. */
static uint32_t find_session(const struct core *c, struct nsc_live_header *header)
{
    struct nsc_live_header other;
    uint32_t found = UINT32_MAX, i;

    *header = (struct nsc_live_header){0};
    for (i = 0; i < c->count; i++) {
        if (!has_session(c, i, &other) || (found != UINT32_MAX && !is_better(&other, header)))
            continue;
        found = i;
        *header = other;
    }
    return found;
}

/* Copies the contents of all segments that start within @bytes of the address of segment @first. */
static bool copy_segments(const struct core *c, uint32_t first, uint8_t *base, uint64_t bytes)
{
    uint64_t start = c->segments[first].p_vaddr, copied = 0;
    uint32_t i;

    for (i = 0; i < c->count; i++) {
        const Elf64_Phdr *p = &c->segments[i];
        uint64_t at = p->p_vaddr - start, length = p->p_filesz;

        if (p->p_type != PT_LOAD || at >= bytes)
            continue;
        if (length > bytes - at)
            length = bytes - at;
        copied += length;
        if (copied > bytes || !read_at(c, base + at, length, p->p_offset))
            return false; /* segments do not overlap */
    }
    return true;
}

static int copy_session(const struct core *c, uint8_t **base, uint64_t *bytes,
                        struct nsc_diag *diag)
{
    struct nsc_live_header header;
    uint32_t first = find_session(c, &header);
    uint8_t *copy;

    if (first == UINT32_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENODATA,
                            "no recording is in this core dump: only --mode ring leaves one there "
                            "(and bit 1 of the process's coredump_filter must be set)");
    *bytes = header.total_bytes;
    if (*bytes < sizeof header || *bytes > BYTES_MOST)
        return nsc_diag_set(diag, c->segments[first].p_offset, EBADMSG,
                            "the recording's memory is damaged");
    copy = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
    if (copy == MAP_FAILED)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (!copy_segments(c, first, copy, *bytes)) {
        munmap(copy, *bytes);
        return nsc_diag_set(diag, c->segments[first].p_offset, EBADMSG, "the core dump is cut off");
    }
    *base = copy;
    return 0;
}

int nsc_core_read(const char *path, uint8_t **base, uint64_t *bytes, struct nsc_diag *diag)
{
    struct core c = {.fd = -1};
    int error = open_core(path, &c, diag);

    if (error == 0)
        error = copy_session(&c, base, bytes, diag);
    close_core(&c);
    return error;
}
