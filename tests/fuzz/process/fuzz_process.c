/*
 * Fuzzes what reach/ reads about other people's processes: an ELF image, as a file and as mapped,
 * and the lines of /proc/PID/maps and /proc/PID/task/TID/syscall.
 *
 * Build and run: make fuzz
 */
#include <stdlib.h>
#include <string.h>

#include "process/call/thread_pick.h"
#include "process/find/control_note.h"
#include "process/procfs/maps.h"
#include "process/procfs/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
    const uint8_t *data;
    size_t bytes;
};

static bool read_input(void *context, uint64_t at, void *to, size_t bytes)
{
    const struct input *i = context;

    if (at > i->bytes || bytes > i->bytes - at)
        return false;
    if (bytes > 0)
        memcpy(to, i->data + at, bytes);
    return true;
}

static void check(int condition)
{
    if (!condition)
        abort();
}

static void read_lines(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1), *line = text, *next;
    struct nsc_regs_waits waits;
    struct nsc_map map;

    if (text == NULL)
        return;
    memcpy(text, data, bytes);
    text[bytes] = 0;
    (void)nsc_procfs_state(text);
    (void)nsc_procfs_is_exiting(text);
    for (; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = 0;
        nsc_pick_parse(line, &waits);
        check(nsc_pick_rank(&waits) <= NSC_PICK_PARTIAL);
        if (nsc_maps_parse_line(line, &map))
            check(map.start < map.end && map.path >= line && strlen(map.path) <= bytes);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};

    for (int mapped = 0; mapped < 2; mapped++) {
        size_t notes_left = NSC_CONTROL_NOTE_NOTES_MAX;
        const struct nsc_image image = {.read = read_input,
                                        .context = &input,
                                        .mapped = mapped != 0,
                                        .notes_left = &notes_left};
        struct nsc_located at = {0, 0};

        if (nsc_control_note_find(&image, &at) != NSC_CONTROL_NOTE_FOUND)
            check(at.control == 0 && at.note == 0);
    }
    read_lines(data, bytes);
    return 0;
}
