/*
 * Fuzzes everything of symbols/ that reads an ELF file: headers, symbols, sites, notes, debug
 * links; and, for one input in 64, source lines and demangling (these fork; what happens in the
 * child is its own affair, see src/host/symbols/isolated_child.h).
 *
 * Build and run: make fuzz-elf
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define FUNCTIONS_MAX 64

static void check(int condition)
{
    if (!condition)
        abort();
}

static void look_up(struct nsc_symbols *s)
{
    size_t count = nsc_symbols_count(s);
    uint64_t before = 0;

    for (size_t i = 0; i < count; i++) {
        struct nsc_symbol at = nsc_symbols_at(s, i), found;

        check(at.name[0] != 0 && at.va > before && at.size > 0);
        before = at.va;
        if (i % (count / FUNCTIONS_MAX + 1) != 0)
            continue;
        check(nsc_symbols_find(s, at.va, &found));
        check(nsc_symbols_base_length(found.name) > 0);
        (void)nsc_symbols_find(s, at.va + at.size, &found);
    }
}

static void fork_away(struct nsc_symbols *s)
{
    struct nsc_symbols_line lines[FUNCTIONS_MAX];
    const char *names[FUNCTIONS_MAX];
    char *readable[FUNCTIONS_MAX];
    uint64_t vas[FUNCTIONS_MAX];
    size_t n = 0;

    for (; n < nsc_symbols_count(s) && n < FUNCTIONS_MAX; n++) {
        names[n] = nsc_symbols_at(s, n).name;
        vas[n] = nsc_symbols_at(s, n).va;
    }
    if (nsc_symbols_lines(s, vas, n, lines) == 0)
        nsc_symbols_lines_free(lines, n);
    if (nsc_symbols_demangle(names, n, readable) == 0)
        for (size_t i = 0; i < n; i++)
            free(readable[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static unsigned long round;
    struct nsc_symbols_options options = {.size = sizeof options, .debug_root = "/nonexistent"};
    struct nsc_symbols_site *sites = NULL;
    struct nsc_symbols *s = NULL;
    struct nsc_diag diag;
    size_t count = 0;
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    if (nsc_symbols_open_fd(fd, "input", &options, &s, &diag) < 0)
        return 0;
    look_up(s);
    if (nsc_symbols_sites(s, &sites, &count, &diag) == 0)
        free(sites);
    if (round++ % 64 == 0)
        fork_away(s);
    nsc_symbols_close(s);
    return 0;
}
