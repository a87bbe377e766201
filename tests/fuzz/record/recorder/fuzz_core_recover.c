/*
 * Fuzzes the way from a core dump to a trace: the input is the memory of a recording, put into an
 * ELF core; its first bytes change the headers. Whatever comes out must be a trace that verifies,
 * or an error.
 *
 * Build and run: make fuzz
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live_layout.h"
#include "record/recorder/core_recover.h"
#include "trace/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum {
    CHUNK = 8 << 10,
    CHUNKS = 4,
    TABLE = 4, /* entries of each other table */
    HEADER_AT = 4096,
    EDITS = 4,
};

#define ADDRESS 0x7f0000000000ull

/* A session of small tables. */
static struct nsc_live_header lay_out(void)
{
    struct nsc_live_header h = {
        .processes_max = TABLE,
        .threads_max = TABLE,
        .modules_max = TABLE,
        .chunks_max = CHUNKS,
        .chunk_bytes = CHUNK,
        .clock = {{.ticks = 1000, .monotonic_ns = 1000}, {.ticks = 900000, .monotonic_ns = 400000}},
    };

    live_layout(&h);
    return h;
}

/* What a program at work would have written, so that the input need not find it. */
static void fill(uint8_t *session)
{
    const struct nsc_live_header *h = (const void *)session;
    struct nsc_live_process *process = (void *)(session + h->processes_off);
    struct nsc_live_thread *threads = (void *)(session + h->threads_off);
    struct nsc_live_chunk *chunks = (void *)(session + h->chunks_off);

    *process = (struct nsc_live_process){.state = NSC_LIVE_LIVE, .pid = 42, .start_ticks = 900};
    for (uint32_t i = 0; i < 2; i++)
        threads[i] = (struct nsc_live_thread){
            .state = NSC_LIVE_LIVE, .pid = 42, .tid = 42 + i, .start_ticks = 950, .chunk_seq = 2};
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint64_t *words = (void *)(session + h->data_off + (size_t)i * CHUNK);

        chunks[i].state = NSC_LIVE_CHUNK_STATE(i < 2 ? NSC_LIVE_CHUNK_FULL : NSC_LIVE_CHUNK_OWNED,
                                               i % 2, 3 + i / 2);
        chunks[i].open_ticks = 1000 + i;
        chunks[i].anchor = 0x7ffffffde000;
        for (uint64_t n = 0; n < 100; n++) {
            words[2 * n] = (0x555555554000 + n / 2 * 16) | (n % 2) << 47 | 0x7ff0ull << 48;
            words[2 * n + 1] = 1100 + n * 10;
        }
    }
}

static void write_core(int fd, const uint8_t *session, size_t bytes, const uint8_t *edits)
{
    struct {
        Elf64_Ehdr elf;
        Elf64_Phdr segments[2];
    } head = {.elf = {.e_type = ET_CORE,
                      .e_phoff = sizeof(Elf64_Ehdr),
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = 2},
              .segments = {{.p_type = PT_NOTE},
                           {.p_type = PT_LOAD,
                            .p_offset = HEADER_AT,
                            .p_vaddr = ADDRESS,
                            .p_filesz = bytes,
                            .p_memsz = bytes}}};

    memcpy(head.elf.e_ident, ELFMAG "\2\1\1", 7);
    for (int i = 0; i < EDITS; i++)
        if (edits[2 * i] < sizeof head)
            ((uint8_t *)&head)[edits[2 * i]] ^= edits[2 * i + 1];
    if (pwrite(fd, &head, sizeof head, 0) < 0 || pwrite(fd, session, bytes, HEADER_AT) < 0)
        abort();
}

static void check(const char *trace)
{
    struct nsc_diag diag;
    struct nsc_trace *t;

    if (nsc_trace_open(trace, 0, &t, &diag) != 0) {
        fprintf(stderr, "%s\n", diag.message);
        abort();
    }
    nsc_trace_close(t);
    unlink(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static char output[64], path[64];
    struct nsc_record_options options = {
        .size = sizeof options, .output = output, .mode = NSC_RECORD_RING};
    struct nsc_record_result result;
    struct nsc_live_header header = lay_out();
    struct nsc_diag diag;
    size_t total = (size_t)header.total_bytes, at;
    uint8_t *session;
    int fd;

    if (bytes < 2 * EDITS)
        return -1;
    session = calloc(1, total);
    fd = memfd_create("core", MFD_CLOEXEC);
    if (session == NULL || fd < 0)
        abort();
    memcpy(session, &header, sizeof header);
    fill(session);
    /* The rest of the input changes bytes here and there: two bytes of place, one of value. */
    for (at = 2 * EDITS; at + 3 <= bytes; at += 3)
        session[((size_t)data[at] << 8 | data[at + 1]) * 7 % total] ^= data[at + 2];
    write_core(fd, session, total, data);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(output, sizeof output, "/tmp/fuzz_core.%ld.nst", (long)getpid());
    if (nsc_record_revive(path, &options, &result, &diag) == 0)
        check(output);
    close(fd);
    free(session);
    return 0;
}
