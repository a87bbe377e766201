/* zip_writer_state.h - state of an archive being written, shared by zip_writer.c and zip_tail.c
 * only. */
#ifndef NSC_ANDROID_ZIP_ZIP_WRITER_STATE_H
#define NSC_ANDROID_ZIP_ZIP_WRITER_STATE_H

#include "android/zip/zip_reader.h"
#include "util/buffer.h"
#include "util/os/atomic_file.h"

#define NSC_ZIP_WRITER_BUFFER (256u * 1024)

struct nsc_zip_writer {
    struct nsc_atomic_file file;
    uint8_t *buffer; /* not written yet: the first @held of NSC_ZIP_WRITER_BUFFER bytes */
    size_t held;
    uint64_t at; /* bytes so far, including those held */
    int error;   /* first error, latched */
    nsc_zip_sink sink;
    void *context;
    struct nsc_buffer central;
    uint64_t count;
    struct nsc_buffer comment; /* of the archive */
};

#endif
