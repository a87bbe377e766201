/*
 * ctf_folder.c - find a CTF trace in a folder, and read the text of its metadata, which may be
 * divided into packets. Called by ctf_import.c.
 * Source: "The Common Trace Format", version 1.8.3, section 7.1.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/ctf/ctf_import.h"

#define TEXT_MAX     ((size_t)256 << 20)
#define PACKET_MAGIC 0x75d11d57u
#define PACKET_HEAD  37u
#define DEPTH_MAX    6u
#define FOUND_MAX    64u
#define ENTRIES_MAX  4096u

static const char text_start[] = "/* CTF 1.8";

/* ---- Finding a trace ---------------------------------------------------------------------- */

static uint32_t get32(const uint8_t *at, bool big)
{
    return big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static bool is_trace(const char *folder)
{
    struct nsc_paged_file *b;
    const uint8_t *at;
    bool is = false;

    if (nsc_paged_file_open(folder, "metadata", &b, NULL) != 0)
        return false;
    at = nsc_paged_file_get(b, 0, 4);
    if (at != NULL)
        is = get32(at, false) == PACKET_MAGIC || get32(at, true) == PACKET_MAGIC;
    at = nsc_paged_file_get(b, 0, sizeof text_start - 1);
    if (at != NULL && memcmp(at, text_start, sizeof text_start - 1) == 0)
        is = true;
    nsc_paged_file_close(b);
    return is;
}

static void search(const char *path, uint32_t depth, char **found, uint32_t *count,
                   uint32_t *entries)
{
    struct dirent *e;
    DIR *dir;

    if (is_trace(path)) {
        if ((*count)++ == 0)
            *found = strdup(path);
        return;
    }
    dir = depth < DEPTH_MAX ? opendir(path) : NULL;
    while (dir != NULL && *count < FOUND_MAX && (e = readdir(dir)) != NULL) {
        struct stat st;
        char *inner;

        if (e->d_name[0] == '.' || ++*entries > ENTRIES_MAX ||
            asprintf(&inner, "%s/%s", path, e->d_name) < 0)
            continue;
        if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode))
            search(inner, depth + 1, found, count, entries);
        free(inner);
    }
    if (dir != NULL)
        closedir(dir);
}

char *nsc_ctf_find(const char *path, uint32_t *count)
{
    uint32_t entries = 0;
    char *found = NULL;

    *count = 0;
    search(path, 0, &found, count, &entries);
    return found;
}

/* ---- Metadata ----------------------------------------------------------------------------- */

static int wrong(const char *folder, size_t at, const char *what, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%s/metadata: byte %zu: %s", folder, at,
                        what);
}

/* Joins the contents of the packets, in place. */
static int unpack(const char *folder, char *text, size_t bytes, struct nsc_diag *diag)
{
    const uint8_t *data = (const uint8_t *)text;
    bool big = get32(data, true) == PACKET_MAGIC;
    size_t used = 0;

    for (size_t at = 0; at < bytes;) {
        size_t content, packet;

        if (bytes - at < PACKET_HEAD || get32(data + at, big) != PACKET_MAGIC)
            return wrong(folder, at, "no packet of metadata", diag);
        content = get32(data + at + 24, big) / 8;
        packet = get32(data + at + 28, big) / 8;
        if (data[at + 32] != 0 || data[at + 33] != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                                "%s/metadata is compressed or encrypted, which is not read",
                                folder);
        if (content < PACKET_HEAD || packet < content || packet > bytes - at)
            return wrong(folder, at, "a packet of an impossible size", diag);
        content -= PACKET_HEAD;
        memmove(text + used, text + at + PACKET_HEAD, content);
        used += content;
        at += packet;
    }
    text[used] = '\0';
    return 0;
}

int nsc_ctf_text(const char *folder, char **text, struct nsc_diag *diag)
{
    size_t bytes;
    int error = nsc_paged_file_text(folder, "metadata", TEXT_MAX, text, &bytes, diag);

    if (error != 0)
        return error;
    if (bytes >= 4 && (get32((const uint8_t *)*text, false) == PACKET_MAGIC ||
                       get32((const uint8_t *)*text, true) == PACKET_MAGIC))
        error = unpack(folder, *text, bytes, diag);
    if (error != 0) {
        free(*text);
        *text = NULL;
    }
    return error;
}
