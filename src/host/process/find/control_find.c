/* control_find.c - see control_find.h. */
#include "process/find/control_find.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "process/find/control_note.h"
#include "process/procfs/mapped_file.h"
#include "util/privileges/credentials.h"

/* ---- Loaded files ---------------------------------------------------------------------------- */

/* Adjacent mappings of one file; anonymous mappings may lie between. */
struct loaded {
    const struct nsc_map *first, *end;
    bool has_code;
};

static bool is_start(const struct nsc_map *map)
{
    return map->inode != 0 && map->offset == 0 && map->path[0] == '/';
}

static bool is_code(const struct nsc_map *map)
{
    return map->inode != 0 && map->executable && !map->shared;
}

static bool belongs(const struct nsc_map *first, const struct nsc_map *map)
{
    if (map->inode == 0)
        return true;
    return map->inode == first->inode && map->device == first->device &&
           map->deleted == first->deleted && strcmp(map->path, first->path) == 0 &&
           (!is_start(map) || map->writable); /* else the file is loaded once more */
}

static struct loaded loaded_at(const struct nsc_map *first, const struct nsc_map *end)
{
    struct loaded file = {.first = first, .end = first + 1, .has_code = is_code(first)};

    for (; file.end < end && belongs(first, file.end); file.end++)
        file.has_code |= is_code(file.end);
    return file;
}

/*
 * A process trusts what it executes, but not all that it maps: data of another user, or the memory
 * of a session, which all its processes can write, may look like a program. So a file counts only
 * if it is mapped privately, with code of the same file behind its first byte.
 */
static bool is_program(const struct loaded *file)
{
    return is_start(file->first) && file->first->readable && !file->first->shared && file->has_code;
}

static bool has_code_at(const struct loaded *file, uint64_t address)
{
    for (const struct nsc_map *map = file->first; map < file->end; map++)
        if (address >= map->start && address < map->end)
            return is_code(map);
    return false;
}

/* ---- The search ------------------------------------------------------------------------------ */

struct search {
    pid_t pid;
    int mem;
    const char *program;
    const struct nsc_credentials *as; /* of another user; NULL: this one */
    size_t notes_left;                /* as a program can map files any number of times */
};

struct source {
    int fd;
    uint64_t from; /* offset of the image in @fd */
};

static bool read_source(void *context, uint64_t at, void *to, size_t bytes)
{
    const struct source *s = context;

    return pread(s->fd, to, bytes, (off_t)(s->from + at)) == (ssize_t)bytes;
}

/*
 * Open the file of a mapping of another user's process. Its memory is not read: that makes the
 * kernel read the file that is mapped just then, whose file system may belong to that user and
 * never reply. Returns a descriptor or -errno: -EOPNOTSUPP (such a file system).
 */
static int open_foreign(const struct search *s, const struct nsc_map *map)
{
    char link[NSC_MAPPED_PATH_MAX];
    int fd;

    nsc_mapped_link(s->pid, map, link, sizeof link);
    fd = nsc_privileges_open_prompt(link, s->pid);
    return fd == -EPERM || fd == -EACCES ? nsc_mapped_open(s->pid, map, s->program, s->as) : fd;
}

/* Find the note in the process's memory, or, without it, in the file. */
static enum nsc_control_note_class locate(struct search *s, const struct nsc_map *first,
                                          struct nsc_control_place *place,
                                          struct nsc_located *located)
{
    bool mapped = s->mem >= 0 && s->as == NULL;
    struct source source = {.fd = s->mem, .from = mapped ? first->start : 0};
    const struct nsc_image image = {
        .read = read_source, .context = &source, .mapped = mapped, .notes_left = &s->notes_left};
    enum nsc_control_note_class class;

    if (!mapped)
        source.fd = s->as != NULL ? open_foreign(s, first)
                                  : nsc_mapped_open(s->pid, first, s->program, NULL);
    place->unreadable |= source.fd == -EOPNOTSUPP;
    if (source.fd < 0)
        return NSC_CONTROL_NOTE_NOT_ELF;
    class = nsc_control_note_find(&image, located);
    if (!mapped)
        close(source.fd);
    return class;
}

static void examine(struct search *s, const struct loaded *file, struct nsc_control_place *place)
{
    const struct nsc_map *first = file->first;
    enum nsc_control_note_class class;
    struct nsc_located found;

    class = locate(s, first, place, &found);
    place->is_32_bit |= class == NSC_CONTROL_NOTE_32_BIT && strcmp(first->path, s->program) == 0;
    if (class != NSC_CONTROL_NOTE_FOUND || !has_code_at(file, first->start + found.control))
        return;
    place->control = first->start + found.control;
    place->note = first->start + found.note;
}

void nsc_control_find(pid_t pid, int mem, const struct nsc_maps *maps, const char *program,
                      struct nsc_control_place *place)
{
    struct search s = {
        .pid = pid, .mem = mem, .program = program, .notes_left = NSC_CONTROL_NOTE_NOTES_MAX};
    const struct nsc_map *map = maps->at, *end = maps->at + maps->count;
    struct nsc_credentials theirs;

    (void)nsc_credentials_read(pid, &theirs); /* on failure: unknown, thus foreign */
    if (nsc_credentials_are_foreign(&theirs))
        s.as = &theirs;
    *place = (struct nsc_control_place){0};
    while (map < end && place->control == 0) {
        struct loaded file = loaded_at(map, end);

        if (is_program(&file))
            examine(&s, &file, place);
        map = file.end;
    }
}

bool nsc_control_is_at(pid_t pid, int mem, uint64_t control, uint64_t note)
{
    struct nsc_control_place place;
    struct nsc_maps maps;

    if (nsc_maps_read(pid, &maps) != 0)
        return false;
    nsc_control_find(pid, mem, &maps, "", &place);
    nsc_maps_free(&maps);
    return place.control == control && place.note == note;
}
