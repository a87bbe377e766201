/* perfetto_unpack.c - see perfetto_unpack.h. */
#include "formats/perfetto/perfetto_unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define FIRST_ROOM (256u * 1024) /* bytes */

uint8_t *nsc_perfetto_inflate(struct nsc_span data, size_t limit, size_t *bytes)
{
    size_t room = 0;
    uint8_t *out = NULL;
    z_stream z = {.avail_in = (uInt)nsc_span_left(&data)};
    int status = inflateInit(&z);

    memcpy(&z.next_in, &data.at, sizeof z.next_in); /* drops `const`: zlib does not write to it */
    while (status == Z_OK && room < limit) {
        size_t bigger = room == 0 ? FIRST_ROOM : room * 2;
        uint8_t *grown = realloc(out, bigger);

        if (grown == NULL)
            break;
        out = grown;
        z.next_out = out + room;
        z.avail_out = (uInt)(bigger - room);
        room = bigger;
        status = inflate(&z, Z_NO_FLUSH);
        if (status == Z_OK && z.avail_out > 0)
            break; /* the data is cut */
    }
    *bytes = room - z.avail_out;
    inflateEnd(&z);
    if (status != Z_STREAM_END) {
        free(out);
        return NULL;
    }
    return out;
}

uint8_t *nsc_perfetto_unzstd(struct nsc_span data, size_t limit, size_t *bytes)
{
    ZSTD_inBuffer in = {.src = data.at, .size = nsc_span_left(&data)};
    ZSTD_outBuffer out = {0};
    ZSTD_DStream *z = ZSTD_createDStream();
    size_t left = 1; /* 0 = the frame is complete */

    while (z != NULL && out.size < limit && (left != 0 || in.pos < in.size)) {
        size_t bigger = out.size == 0 ? FIRST_ROOM : out.size * 2;
        uint8_t *grown = realloc(out.dst, bigger);

        left = 1;
        if (grown == NULL)
            break;
        out.dst = grown;
        out.size = bigger;
        do
            left = ZSTD_decompressStream(z, &out, &in);
        while (!ZSTD_isError(left) && out.pos < out.size && in.pos < in.size);
        if (ZSTD_isError(left) || out.pos < out.size)
            break; /* the data is damaged, complete, or cut */
    }
    ZSTD_freeDStream(z);
    if (left != 0 || in.pos < in.size) {
        free(out.dst);
        return NULL;
    }
    *bytes = out.pos;
    return out.dst;
}
