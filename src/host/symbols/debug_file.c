/* debug_file.c - find separate debug files: only local ones (no debuginfod), and only if they match
 * the ELF file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/object.h"
#include "util/os/regular_file.h"

static bool same_build_id(const struct nsc_elf *a, const struct nsc_elf *b)
{
    return a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static bool has_crc(int fd, uint32_t want)
{
    uint8_t buffer[1u << 14];
    uLong crc = crc32(0, NULL, 0);
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, buffer, sizeof buffer, at)) > 0) {
        crc = crc32(crc, buffer, (uInt)n);
        at += n;
    }
    return n == 0 && crc == want;
}

/* Take @fd if it is the debug file of @elf: by build id, else by @crc (NULL = unknown). */
static bool take(const struct nsc_elf *elf, int fd, const char *path, const uint32_t *crc,
                 struct nsc_elf *debug)
{
    struct nsc_elf found;

    if (nsc_elf_open(fd, path, elf->block_max, &found, NULL) < 0) {
        close(fd);
        return false;
    }
    if (elf->build_id_bytes != 0 ? same_build_id(elf, &found) : crc != NULL && has_crc(fd, *crc)) {
        *debug = found;
        return true;
    }
    nsc_elf_close(&found);
    return false;
}

static bool try_path(const struct nsc_elf *elf, const char *path, const uint32_t *crc,
                     struct nsc_elf *debug)
{
    int fd = nsc_regular_file_open(path);

    return fd >= 0 && take(elf, fd, path, crc, debug);
}

bool nsc_debug_file_path(const char *root, const uint8_t *build_id, uint32_t bytes, char *path,
                         size_t path_bytes)
{
    char hex[2 * NSC_ELF_BUILD_ID_MAX + 1];

    if (bytes < 2 || bytes > NSC_ELF_BUILD_ID_MAX)
        return false;
    for (uint32_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
    return (size_t)snprintf(path, path_bytes, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2) <
           path_bytes;
}

static bool by_build_id(const struct nsc_elf *elf, const char *root, struct nsc_elf *debug)
{
    char path[PATH_MAX];

    return nsc_debug_file_path(root, elf->build_id, elf->build_id_bytes, path, sizeof path) &&
           try_path(elf, path, NULL, debug);
}

/* Read name and checksum of .gnu_debuglink. A name with a slash is rejected. */
static char *read_link(const struct nsc_elf *elf, uint32_t *crc)
{
    const Elf64_Shdr *section = nsc_elf_section(elf, ".gnu_debuglink");
    size_t bytes, length, crc_at;
    uint8_t *data;

    if (section == NULL || section->sh_size > PATH_MAX ||
        nsc_elf_read(elf, section, &data, &bytes, NULL) < 0)
        return NULL;
    length = strlen((char *)data);
    crc_at = (length + 4) & ~(size_t)3;
    if (length == 0 || memchr(data, '/', length) != NULL || crc_at + sizeof *crc > bytes) {
        free(data);
        return NULL;
    }
    memcpy(crc, data + crc_at, sizeof *crc);
    return (char *)data;
}

static bool by_link(const struct nsc_elf *elf, const char *root, struct nsc_elf *debug)
{
    char path[PATH_MAX], real[PATH_MAX];
    uint32_t crc;
    char *name = read_link(elf, &crc), *slash;
    bool found = false;

    if (name == NULL)
        return false;
    if (realpath(elf->path, real) != NULL && (slash = strrchr(real, '/')) != NULL) {
        const char *places[][3] = {{"", real, "/"}, {"", real, "/.debug/"}, {root, real, "/"}};

        *slash = 0;
        for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++) {
            int n = snprintf(path, sizeof path, "%s%s%s%s", places[i][0], places[i][1],
                             places[i][2], name);

            found = n > 0 && (size_t)n < sizeof path && try_path(elf, path, &crc, debug);
        }
    }
    free(name);
    return found;
}

int nsc_debug_file_open(const struct nsc_elf *elf, const char *root, bool links,
                        struct nsc_elf *debug)
{
    return by_build_id(elf, root, debug) || (links && by_link(elf, root, debug)) ? 0 : -ENOENT;
}

int nsc_debug_file_take(const struct nsc_elf *elf, int fd, const char *path, struct nsc_elf *debug)
{
    return take(elf, fd, path, NULL, debug) ? 0 : -ENOENT;
}
