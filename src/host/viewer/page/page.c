/*
 * page.c - see page.h. The page's beginning was generated when nanoscope was built
 * (viewer/page.mjs); this file appends the traces and rules, as deflate data in base64.
 */
#include "viewer/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/path.h"
#include "viewer/page/assets.h"

#define READ_BYTES   ((size_t)256 << 10)
/* Base64 turns 3 bytes into 4. A multiple of three, so that only the last part needs padding. */
#define PACKED_BYTES ((size_t)3 << 16)
#define LINE_BYTES   ((size_t)4 << 16)

struct packer {
    struct nsc_output *out;
    z_stream z;
    uint8_t *in, *packed;
    char *line;
};

bool nsc_page_is_possible(struct nsc_diag *diag)
{
    if (nsc_serve_page_begin.data != NULL)
        return true;
    nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS,
                 "this nanoscope was built without the page: on Debian, install nodejs npm clang "
                 "lld wasi-libc libclang-rt-dev-wasm32 and build it again");
    return false;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Write the escaped value of an attribute. Control characters, invalid in HTML, become spaces. */
static void put_attribute(struct nsc_output *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&':
            nsc_output_text(out, "&amp;");
            break;
        case '<':
            nsc_output_text(out, "&lt;");
            break;
        case '>':
            nsc_output_text(out, "&gt;");
            break;
        case '"':
            nsc_output_text(out, "&quot;");
            break;
        default:
            nsc_output_put(out, (unsigned char)*text < 0x20 || *text == 0x7f ? " " : text, 1);
        }
}

static size_t to_base64(char *to, const uint8_t *from, size_t bytes)
{
    /* The last character is the padding. */
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    char *at = to;

    for (size_t i = 0; i < bytes; i += 3) {
        size_t left = bytes - i;
        uint32_t three = (uint32_t)from[i] << 16 | (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)from[i + 2] : 0);

        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = digits[left > 1 ? three >> 6 & 63 : 64];
        *at++ = digits[left > 2 ? three & 63 : 64];
    }
    return (size_t)(at - to);
}

/* ---- A trace --------------------------------------------------------------------------------- */

/* Compress @bytes bytes of p->in and write the full output buffers; @is_end: write all output. */
static int pack(struct packer *p, size_t bytes, bool is_end)
{
    p->z.next_in = p->in;
    p->z.avail_in = (unsigned)bytes;
    for (;;) {
        int state = deflate(&p->z, is_end ? Z_FINISH : Z_NO_FLUSH);
        size_t ready = PACKED_BYTES - p->z.avail_out;

        if (state == Z_STREAM_ERROR)
            return -EIO;
        if (ready < PACKED_BYTES && state != Z_STREAM_END)
            return 0;
        nsc_output_put(p->out, p->line, to_base64(p->line, p->packed, ready));
        p->z.next_out = p->packed;
        p->z.avail_out = PACKED_BYTES;
        if (state == Z_STREAM_END)
            return 0;
    }
}

static int pack_file(struct packer *p, int fd, uint64_t size)
{
    uint64_t done = 0;
    int error = 0;

    while (error == 0 && done < size) {
        size_t want = size - done < READ_BYTES ? (size_t)(size - done) : READ_BYTES;
        ssize_t n = pread(fd, p->in, want, (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (uint64_t)n;
        error = pack(p, (size_t)n, false);
        if (error == 0)
            error = nsc_output_error(p->out);
    }
    return error == 0 ? pack(p, 0, true) : error;
}

static int pack_text(struct packer *p, const char *text, size_t bytes)
{
    int error = 0;

    for (size_t done = 0; error == 0 && done < bytes; done += READ_BYTES) {
        size_t part = bytes - done < READ_BYTES ? bytes - done : READ_BYTES;

        memcpy(p->in, text + done, part);
        error = pack(p, part, false);
    }
    return error == 0 ? pack(p, 0, true) : error;
}

/* Level 6: on traces, level 9 takes four times as long for 1 % fewer bytes. */
static int open_packer(struct packer *p, struct nsc_output *out)
{
    *p = (struct packer){.out = out,
                         .in = malloc(READ_BYTES),
                         .packed = malloc(PACKED_BYTES),
                         .line = malloc(LINE_BYTES)};
    p->z.next_out = p->packed;
    p->z.avail_out = PACKED_BYTES;
    if (p->in == NULL || p->packed == NULL || p->line == NULL ||
        deflateInit2(&p->z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    return 0;
}

static void close_packer(struct packer *p)
{
    deflateEnd(&p->z);
    free(p->in);
    free(p->packed);
    free(p->line);
}

static int put_trace(const struct nsc_page_trace *trace, struct nsc_output *out)
{
    struct packer packer;
    struct stat st;
    int error;

    if (fstat(trace->fd, &st) != 0)
        return -errno;
    nsc_output_text(out, "<script type=\"application/x-nanoscope-trace\" data-bytes=\"");
    nsc_output_u64(out, (uint64_t)st.st_size);
    nsc_output_text(out, "\" data-name=\"");
    put_attribute(out, nsc_path_base_name(trace->name));
    nsc_output_text(out, "\">");
    error = open_packer(&packer, out);
    if (error == 0)
        error = pack_file(&packer, trace->fd, (uint64_t)st.st_size);
    close_packer(&packer);
    nsc_output_text(out, "</script>\n");
    return error;
}

static int put_rules(const struct nsc_page_rules *rules, struct nsc_output *out)
{
    struct packer packer;
    int error;

    nsc_output_text(out, "<script type=\"application/x-nanoscope-rules\" data-bytes=\"");
    nsc_output_u64(out, rules->bytes);
    nsc_output_text(out, "\">");
    error = open_packer(&packer, out);
    if (error == 0)
        error = pack_text(&packer, rules->text, rules->bytes);
    close_packer(&packer);
    nsc_output_text(out, "</script>\n");
    return error;
}

int nsc_page_write(const struct nsc_page_trace *traces, size_t count,
                   const struct nsc_page_rules *rules, struct nsc_output *out,
                   struct nsc_diag *diag)
{
    if (!nsc_page_is_possible(diag))
        return -ENOSYS;
    if (count == 0 || count > NSC_PAGE_TRACES_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "a page has one trace, or two");
    nsc_output_put(out, nsc_serve_page_begin.data, nsc_serve_page_begin.bytes);
    for (size_t i = 0; i < count; i++) {
        int error = put_trace(&traces[i], out);

        if (error != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: %s", traces[i].name,
                                strerror(-error));
    }
    if (rules != NULL && rules->text != NULL && put_rules(rules, out) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    nsc_output_text(out, "</body>\n</html>\n");
    return 0;
}
