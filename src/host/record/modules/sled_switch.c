/* sled_switch.c - see sled_switch.h. */
#include "record/modules/sled_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/live.h"
#include "process/procfs/procfs.h"
#include "util/now.h"

enum {
    PAGE = 4096,
    WINDOW_BYTES = 4 * PAGE, /* bytes of code read by one call */
    WINDOW_SLEDS = 1024,
    APART_BYTES = PAGE, /* a larger gap between sleds ends a window */
    SLED_BYTES = 12,    /* the longest sled part that is checked */
};

/* x86-64 */
enum { OP_CALL = 0xe8, OP_JMP = 0xe9, OP_TEST_EAX = 0xa9, OP_RET = 0xc3, CALL_BYTES = 5 };
/* AArch64: src/target/arch/aarch64/sled.c describes the whole sled */
enum { CALL_AT = 8 };
static const uint32_t op_b_over = 0x14000008u;
static const uint32_t op_nop = 0xd503201fu;
static const uint32_t op_push_x30 = 0xf81f0ffeu;
static const uint32_t op_bl = 0x94000000u;
static const uint32_t bl_mask = 0xfc000000u;

/* ---- One sled -------------------------------------------------------------------------------- */

enum state { STATE_STRANGE, STATE_OFF, STATE_ON };

static uint32_t word_at(const uint8_t *code)
{
    return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
           (uint32_t)code[3] << 24;
}

static bool in_text(const struct nsc_sled_switch *flip, uint64_t address)
{
    return address >= flip->text_start && address < flip->text_end;
}

static int read_code(int mem, uint8_t *to, size_t bytes, uint64_t address)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = pread(mem, to + done, bytes - done, (off_t)(address + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? -ESRCH : -errno;
        done += (size_t)n;
    }
    return 0;
}

static enum state look_byte(const struct nsc_sled_switch *flip, const uint8_t *code,
                            uint64_t address, uint8_t off)
{
    uint64_t distance = (uint64_t)(int64_t)(int32_t)word_at(code + 1);

    /* A sled as the compiler emitted it has distance 0: its target is its own end, not a
     * trampoline. */
    if (distance == 0 || !in_text(flip, address + CALL_BYTES + distance))
        return STATE_STRANGE;
    return code[0] == OP_CALL ? STATE_ON : code[0] == off ? STATE_OFF : STATE_STRANGE;
}

/* Returns the target of the call or jump at @code, located at @address. */
static uint64_t target_of(const uint8_t *code, uint64_t address)
{
    return address + CALL_BYTES + (uint64_t)(int64_t)(int32_t)word_at(code + 1);
}

/*
 * The state of an entry that jumps (src/target/arch/x86_64/patchable_entry.c). It jumps to a
 * landing, which jumps to its stub, which contains the address of the function's body. Both are
 * outside the module. Any other code there does not belong to nanoscope.
 */
static enum state look_entry(const struct nsc_sled_switch *flip, const uint8_t *code,
                             uint64_t address)
{
    static const uint8_t begin[] = {0x4c, 0x89, 0x5c, 0x24, 0xf8, 0x4c, 0x8d, 0x1d};
    uint64_t landing = target_of(code, address), stub;
    uint8_t at_landing[CALL_BYTES], at_stub[sizeof begin + 4];

    if ((code[0] != OP_JMP && code[0] != OP_TEST_EAX) ||
        read_code(flip->mem, at_landing, sizeof at_landing, landing) != 0 ||
        at_landing[0] != OP_JMP)
        return STATE_STRANGE;
    stub = target_of(at_landing, landing);
    if (read_code(flip->mem, at_stub, sizeof at_stub, stub) != 0 ||
        memcmp(at_stub, begin, sizeof begin) != 0 ||
        stub + sizeof at_stub + (uint64_t)(int64_t)(int32_t)word_at(at_stub + sizeof begin) !=
            address + CALL_BYTES)
        return STATE_STRANGE;
    return code[0] == OP_JMP ? STATE_ON : STATE_OFF;
}

static enum state look_word(const struct nsc_sled_switch *flip, const uint8_t *code,
                            uint64_t address)
{
    uint32_t first = word_at(code), call = word_at(code + CALL_AT);
    uint64_t distance = (uint64_t)((int64_t)((uint64_t)call << 38) >> 36);

    if (word_at(code + 4) != op_push_x30 || (call & bl_mask) != op_bl ||
        !in_text(flip, address + CALL_AT + distance))
        return STATE_STRANGE;
    return first == op_nop ? STATE_ON : first == op_b_over ? STATE_OFF : STATE_STRANGE;
}

/* Returns the state of the sled in the SLED_BYTES at @code, located at @address. */
static enum state look(const struct nsc_sled_switch *flip, uint32_t form, const uint8_t *code,
                       uint64_t address)
{
    switch (form) {
    case NSC_SYMBOLS_SLED_TEST:
        return in_text(flip, target_of(code, address)) ? look_byte(flip, code, address, OP_TEST_EAX)
                                                       : look_entry(flip, code, address);
    case NSC_SYMBOLS_SLED_RET:
        return code[CALL_BYTES] == OP_RET ? look_byte(flip, code, address, OP_RET) : STATE_STRANGE;
    case NSC_SYMBOLS_SLED_BRANCH:
        return look_word(flip, code, address);
    default:
        return STATE_STRANGE;
    }
}

/* Switches a sled in a known form; returns the number of its bytes that change. */
static uint32_t turn(const struct nsc_sled_switch *flip, uint32_t form, uint8_t *code,
                     uint64_t address, bool on)
{
    uint32_t word = on ? op_nop : op_b_over, i;

    if (form != NSC_SYMBOLS_SLED_BRANCH) {
        uint8_t on_byte = in_text(flip, target_of(code, address)) ? OP_CALL : OP_JMP;

        code[0] = on ? on_byte : form == NSC_SYMBOLS_SLED_RET ? OP_RET : OP_TEST_EAX;
        return 1;
    }
    for (i = 0; i < sizeof word; i++)
        code[i] = (uint8_t)(word >> (8 * i));
    return sizeof word;
}

/* ---- Sets of sites --------------------------------------------------------------------------- */

static bool has(const uint8_t *bits, uint32_t site)
{
    return (bits[site / 8] >> (site % 8) & 1) != 0;
}

static void put(uint8_t *bits, uint32_t site, bool value)
{
    uint8_t bit = (uint8_t)(1u << (site % 8));

    bits[site / 8] = (uint8_t)(value ? bits[site / 8] | bit : bits[site / 8] & ~bit);
}

static size_t set_bytes(const struct nsc_sled_switch *flip)
{
    return (size_t)flip->sleds->count / 8 + 1;
}

/* ---- The memory of the process --------------------------------------------------------------- */

int nsc_sled_switch_open(pid_t pid, struct nsc_diag *diag)
{
    char path[48];
    int fd, error;

    nsc_procfs_memory_path(pid, "mem", path, sizeof path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    error = errno;
    if (error == ENOENT || error == ESRCH)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESRCH, "there is no process %ld", (long)pid);
    if (error == EACCES || error == EPERM)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "the system does not let us change process %ld: it must be of the same "
                            "user, and kernel.yama.ptrace_scope must permit it",
                            (long)pid);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: %s", path, strerror(error));
}

static int write_code(const struct nsc_sled_switch *flip, const uint8_t *from, size_t bytes,
                      uint64_t address)
{
    ssize_t n;

    do
        n = pwrite(flip->mem, from, bytes, (off_t)address);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)bytes)
        return 0;
    if (n == 0)
        return -ESRCH;
    /* It was just read, so it exists: writing is forbidden. */
    return n < 0 && errno != EIO ? -errno : -EPERM;
}

/* ---- Many sleds ------------------------------------------------------------------------------ */

/* A range of code with sleds. */
struct window {
    uint32_t from, to; /* range in sleds->by_address */
    uint64_t address;
    size_t bytes;
    uint8_t code[WINDOW_BYTES + SLED_BYTES];
    uint32_t turned_count, turned_on;
    uint16_t turned[WINDOW_SLEDS]; /* offsets of switched sleds, ascending */
    uint8_t turned_bytes[WINDOW_SLEDS];
};

/* Which sites a pass over a module visits. */
enum walk {
    WALK_ALL,    /* all sleds, to read their state */
    WALK_ONCE,   /* to switch: all whose state is not the wanted one */
    WALK_FIRST,  /* to switch: exits to be enabled, entries to be disabled */
    WALK_SECOND, /* to switch: the others */
};

static bool in_walk(const struct nsc_sled_switch *flip, enum walk walk, uint32_t site)
{
    bool wanted, entry;

    if (walk == WALK_ALL)
        return true;
    wanted = has(flip->wanted, site);
    entry = flip->sleds->sites[site].kind == NSC_LIVE_SITE_ENTRY;
    return wanted != has(flip->present, site) && !has(flip->strange, site) &&
           (walk == WALK_ONCE || (entry == wanted) == (walk == WALK_SECOND));
}

static uint64_t address_of(const struct nsc_sled_switch *flip, uint32_t rank)
{
    return flip->sleds->sites[flip->sleds->by_address[rank]].va + flip->bias;
}

/* Finds the window that begins with the first sled of the pass from @rank on; false: there is none.
 */
static bool next_window(const struct nsc_sled_switch *flip, enum walk walk, uint32_t rank,
                        struct window *w)
{
    const struct nsc_sleds *sleds = flip->sleds;
    uint64_t last;

    while (rank < sleds->sled_count && !in_walk(flip, walk, sleds->by_address[rank]))
        rank++;
    if (rank == sleds->sled_count)
        return false;
    w->from = rank;
    w->address = last = address_of(flip, rank);
    for (w->to = ++rank; rank < sleds->sled_count; rank++) {
        uint64_t address = address_of(flip, rank);

        if (address - w->address >= WINDOW_BYTES || address - last > APART_BYTES ||
            rank - w->from == WINDOW_SLEDS)
            break;
        if (!in_walk(flip, walk, sleds->by_address[rank]))
            continue;
        last = address;
        w->to = rank + 1;
    }
    w->bytes = (size_t)(last - w->address) + SLED_BYTES;
    return true;
}

/* The last sled may end at the end of the text: read no further. */
static int read_window(const struct nsc_sled_switch *flip, struct window *w)
{
    uint64_t end = w->address + w->bytes;

    if (w->address < flip->text_start || w->address >= flip->text_end)
        return -EIO;
    memset(w->code, 0, sizeof w->code);
    if (end > flip->text_end)
        end = flip->text_end;
    return read_code(flip->mem, w->code, (size_t)(end - w->address), w->address);
}

static void look_at_window(struct nsc_sled_switch *flip, const struct window *w)
{
    const struct nsc_sleds *sleds = flip->sleds;
    uint32_t i;

    for (i = w->from; i < w->to; i++) {
        uint32_t site = sleds->by_address[i];
        uint64_t address = address_of(flip, i);
        enum state state =
            look(flip, sleds->sites[site].form, w->code + (address - w->address), address);

        put(flip->present, site, state == STATE_ON);
        put(flip->strange, site, state == STATE_STRANGE);
    }
}

static uint64_t page_of(const struct window *w, uint32_t turned)
{
    return (w->address + w->turned[turned]) / PAGE;
}

/* Switches the sleds of the pass, in the local copy. */
static void turn_window(struct nsc_sled_switch *flip, enum walk walk, struct window *w,
                        struct nsc_sled_switch_stats *stats)
{
    const struct nsc_sleds *sleds = flip->sleds;
    uint32_t i;

    w->turned_count = w->turned_on = 0;
    for (i = w->from; i < w->to; i++) {
        uint32_t site = sleds->by_address[i], form = sleds->sites[site].form;
        uint64_t address = address_of(flip, i);
        uint8_t *code = w->code + (address - w->address);
        bool on = has(flip->wanted, site);
        enum state state;

        if (!in_walk(flip, walk, site))
            continue;
        state = look(flip, form, code, address);
        if (state == STATE_STRANGE) {
            put(flip->strange, site, true);
            stats->refused++;
            continue;
        }
        put(flip->present, site, on); /* corrected if the write fails */
        if (state == (on ? STATE_ON : STATE_OFF))
            continue;
        w->turned[w->turned_count] = (uint16_t)(address - w->address);
        w->turned_bytes[w->turned_count++] = (uint8_t)turn(flip, form, code, address, on);
        w->turned_on += on;
    }
}

/* Other threads execute this code: within a page, writes only from the first to the last switched
 * sled. */
static int write_window(struct nsc_sled_switch *flip, const struct window *w,
                        struct nsc_sled_switch_stats *stats)
{
    uint32_t i, n, count = w->turned_count;

    for (i = 0; i < count; i += n) {
        size_t from = w->turned[i];
        int error;

        /* Only a write of its own stores a word atomically; a byte is always atomic. */
        for (n = 1; w->turned_bytes[i] == 1 && i + n < count && page_of(w, i + n) == page_of(w, i);)
            n++;
        error =
            write_code(flip, w->code + from,
                       w->turned[i + n - 1] + w->turned_bytes[i + n - 1] - from, w->address + from);
        if (error != 0)
            return error;
        stats->writes++;
    }
    stats->on += w->turned_on;
    stats->off += count - w->turned_on;
    return 0;
}

static int take_walk(struct nsc_sled_switch *flip, enum walk walk,
                     struct nsc_sled_switch_stats *stats)
{
    struct window w;
    uint32_t rank = 0;
    int error = 0;

    while (error == 0 && next_window(flip, walk, rank, &w)) {
        rank = w.to;
        error = read_window(flip, &w);
        if (error != 0)
            return error;
        if (walk == WALK_ALL) {
            look_at_window(flip, &w);
            continue;
        }
        turn_window(flip, walk, &w, stats);
        error = write_window(flip, &w, stats);
        if (error != 0 && read_window(flip, &w) == 0)
            look_at_window(flip, &w);
    }
    return error;
}

/* ---- Interface ------------------------------------------------------------------------------ */

int nsc_sled_switch_init(struct nsc_sled_switch *flip, int mem, const struct nsc_sleds *sleds,
                         uint64_t bias, uint64_t text_start, uint64_t text_end)
{
    int error = -ENOMEM;

    *flip = (struct nsc_sled_switch){
        .sleds = sleds, .mem = mem, .bias = bias, .text_start = text_start, .text_end = text_end};
    flip->wanted = calloc(set_bytes(flip), 1);
    flip->present = calloc(set_bytes(flip), 1);
    flip->strange = calloc(set_bytes(flip), 1);
    if (flip->wanted != NULL && flip->present != NULL && flip->strange != NULL) {
        memset(flip->strange, 0xff, set_bytes(flip)); /* sites without a sled stay in this set */
        error = take_walk(flip, WALK_ALL, NULL);
    }
    if (error != 0) {
        nsc_sled_switch_free(flip);
        return error;
    }
    memcpy(flip->wanted, flip->present, set_bytes(flip));
    return 0;
}

void nsc_sled_switch_free(struct nsc_sled_switch *flip)
{
    free(flip->wanted);
    free(flip->present);
    free(flip->strange);
    *flip = (struct nsc_sled_switch){.mem = -1};
}

void nsc_sled_switch_want(struct nsc_sled_switch *flip, const uint8_t *bitmap)
{
    memcpy(flip->wanted, bitmap, ((size_t)flip->sleds->count + 7) / 8);
}

void nsc_sled_switch_want_all(struct nsc_sled_switch *flip, bool on)
{
    memset(flip->wanted, on ? 0xff : 0, set_bytes(flip));
}

bool nsc_sled_switch_is_needed(const struct nsc_sled_switch *flip)
{
    size_t i;

    for (i = 0; i < set_bytes(flip); i++)
        if (((flip->wanted[i] ^ flip->present[i]) & ~flip->strange[i]) != 0)
            return true;
    return false;
}

int nsc_sled_switch_apply(struct nsc_sled_switch *flip, enum nsc_sled_switch_order order,
                          struct nsc_sled_switch_stats *stats)
{
    struct nsc_sled_switch_stats done = {0};
    uint64_t start_ns;
    int error;

    if (!nsc_sled_switch_is_needed(flip))
        return 0;
    start_ns = nsc_now_ns();
    error = take_walk(flip, order == NSC_SLED_SWITCH_AT_ONCE ? WALK_ONCE : WALK_FIRST, &done);
    if (error == 0 && order == NSC_SLED_SWITCH_WHOLE_CALLS)
        error = take_walk(flip, WALK_SECOND, &done);
    if (stats != NULL) {
        stats->on += done.on;
        stats->off += done.off;
        stats->refused += done.refused;
        stats->writes += done.writes;
        stats->ns += nsc_now_ns() - start_ns;
    }
    return error;
}

void nsc_sled_switch_free_modules(struct nsc_process_sleds *onoff)
{
    uint32_t i;

    for (i = 0; i < onoff->count; i++)
        if (onoff->flips[i].sleds != NULL)
            nsc_sled_switch_free(&onoff->flips[i]);
    free(onoff->flips);
    onoff->flips = NULL;
    onoff->count = 0;
}

void nsc_sled_switch_free_process(struct nsc_process_sleds *onoff)
{
    nsc_sled_switch_free_modules(onoff);
    nsc_maps_free(&onoff->maps);
    if (onoff->mem >= 0)
        close(onoff->mem);
    *onoff = (struct nsc_process_sleds){.mem = -1};
}
