/* modules.c - see modules.h. */
#include "record/modules/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/live.h"
#include "process/procfs/mapped_file.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/now.h"
#include "util/os/regular_file.h"
#include "util/search.h"

enum {
    OPEN_FDS_MAX = 200,
    OVERFLOW_ID = 65534, /* the overflow user and group, which own nothing */
};

/* Total time limit for opening the files and reading their headers, as root. */
#define OPENING_MAX_NS 5000000000ull

#define OTHER_NAME "(functions beyond the limit)"

/* ---- Modules --------------------------------------------------------------------------------- */

int nsc_modules_init(struct nsc_modules *modules, struct nsc_writer *writer,
                     const struct nsc_filter *filter)
{
    *modules = (struct nsc_modules){.writer = writer, .filter = filter, .other = NSC_NO_ID};
    nsc_limits_init(&modules->limits);
    return nsc_filter_rules_begin(&modules->rules, filter);
}

static void file_free(struct nsc_module_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->symbols != NULL)
        nsc_symbols_close(file->symbols);
    nsc_id_map_free(&file->functions);
    free(file->hooks);
    nsc_sleds_free(file->sleds);
    free(file->roles[0].symbols);
    free(file->roles[1].symbols);
    free(file->wanted);
    free(file->barred);
    free(file->path);
    free(file);
}

void nsc_modules_free(struct nsc_modules *modules)
{
    uint32_t i;

    for (i = 0; i < modules->count; i++)
        file_free(modules->files[i]);
    free(modules->files);
    free(modules->places);
    nsc_id_map_free(&modules->unknown);
    nsc_filter_rules_free(&modules->rules);
    *modules = (struct nsc_modules){0};
}

int nsc_modules_set_filter(struct nsc_modules *modules, const struct nsc_filter *filter,
                           uint64_t ticks)
{
    int error = nsc_filter_rules_add(&modules->rules, filter, ticks);
    uint32_t i;

    if (error != 0)
        return error;
    modules->filter = modules->rules.last->filter;
    for (i = 0; i < modules->count; i++) {
        free(modules->files[i]->wanted);
        modules->files[i]->wanted = NULL;
    }
    return 0;
}

/* Counts the file as unreadable, once. */
static void count_unread(struct nsc_module_file *file, int error)
{
    if (file->missed)
        return;
    file->missed = true;
    if (file->modules->unread++ == 0)
        file->modules->unread_error = error;
}

/* Chooses the credentials for opening the file: those of process @pid, which has loaded it, or with
 * @pid 0 the least of the session. */
static void choose_owner(struct nsc_module_file *file, pid_t pid)
{
    /* The process may have executed another program since it was admitted. */
    if (pid == 0 || nsc_credentials_read(pid, &file->owner) != 0 ||
        !nsc_credentials_cover(&file->admission->target, &file->owner))
        file->owner = *nsc_admission_least(file->admission);
    file->foreign = nsc_credentials_are_foreign(&file->owner);
}

/* Opens the file at the module's path. Any process of the session can write any path there. So root
 * opens no file that may block, or that has effects when it is read, and none that a process of the
 * session may not read. */
static int open_at_path(struct nsc_module_file *file)
{
    if (geteuid() != 0)
        return nsc_regular_file_open(file->path);
    if (!file->foreign)
        choose_owner(file, 0);
    return nsc_credentials_open(file->foreign ? &file->owner : NULL, 0, file->path);
}

/* A program can name the session's memory as its module. The recorder would hold it open, and never
 * see that all others are gone. */
static bool is_session(const struct nsc_module_file *file, int fd)
{
    struct statx opened, session;

    /* A session that was read from a core dump has no file. */
    return nsc_code_file_status(fd, &opened) == 0 &&
           nsc_code_file_status(file->admission->session->fd, &session) == 0 &&
           opened.stx_dev_major == session.stx_dev_major &&
           opened.stx_dev_minor == session.stx_dev_minor && opened.stx_ino == session.stx_ino;
}

/*
 * Returns true if this process may parse the file itself: a process with root's privileges executes
 * code of it (@mapped), and only root may write it. Other files of root may have contents of a
 * process with fewer privileges, to which root has passed a descriptor: a log, a table of state.
 */
static bool is_from_root(const struct statx *st, bool mapped)
{
    return mapped && st->stx_uid == 0 && st->stx_nlink > 0 &&
           (st->stx_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * Chooses the credentials for parsing the file @fd. A file that a foreign program has loaded is
 * parsed with that program's credentials whoever owns it: its file system may report a false owner.
 * If this process cannot assume the owner's credentials (in a container), the child is confined
 * with this process's own.
 */
static void choose_parser(struct nsc_module_file *file, int fd, bool mapped)
{
    struct statx st;

    file->confined = file->foreign;
    if (file->foreign || geteuid() != 0)
        return;
    if (nsc_code_file_status(fd, &st) != 0)
        st = (struct statx){.stx_uid = OVERFLOW_ID, .stx_gid = OVERFLOW_ID};
    file->confined = !is_from_root(&st, mapped);
    file->owner = nsc_credentials_of_user(st.stx_uid, st.stx_gid);
    if (file->confined && (st.stx_uid == 0 || !nsc_credentials_can_be_assumed(&file->owner)))
        (void)nsc_credentials_read(0, &file->owner); /* on failure: those of nobody */
}

/*
 * Opens the file that process @pid has mapped at @address, or with @pid 0 the file at the module's
 * path. Returns a descriptor, or -errno: -ESTALE (another build: the path names another file now,
 * or the number is that of another process, as it comes from the process's own pid namespace).
 */
static int open_one(struct nsc_module_file *file, pid_t pid, uint64_t address)
{
    bool mapped = pid > 0;
    int fd = mapped ? nsc_process_open_mapped(pid, address, file->foreign ? &file->owner : NULL)
                    : open_at_path(file);
    int error = 0;

    if (fd < 0)
        return fd;
    /* Again, as the process may have given up privileges, then mapped this file. It may also have
     * gained some meanwhile, by exec: those do not count. */
    if (mapped && !file->foreign)
        choose_owner(file, pid);
    choose_parser(file, fd, mapped);
    if (is_session(file, fd))
        error = -EINVAL;
    else if (file->build_id_bytes > 0 &&
             !nsc_symbols_is_build_as(file->confined ? &file->owner : NULL, fd, file->build_id,
                                      file->build_id_bytes))
        error = -ESTALE;
    if (error != 0)
        close(fd);
    return error != 0 ? error : fd;
}

/*
 * Opens the file. Root asks the kernel first which file the process has mapped, as the path may be
 * false. Other users begin with the path, which costs less. Returns a descriptor or -errno.
 */
static int open_either(struct nsc_module_file *file, pid_t pid, uint64_t address)
{
    bool mapped_first = pid > 0 && (geteuid() == 0 || file->build_id_bytes == 0);
    int fd = open_one(file, mapped_first ? pid : 0, address);

    if (fd >= 0 || fd == -ETIMEDOUT || pid == 0)
        return fd;
    return open_one(file, mapped_first ? 0 : pid, address);
}

/* Opens the file of a module that a process has loaded, and reads its code segments, unless too
 * many files are open. */
static void open_file(struct nsc_module_file *file, const struct nsc_module_at *at)
{
    struct nsc_modules *modules = file->modules;
    uint64_t begun_ns = nsc_now_ns();
    bool is_admitted =
        at->pid > 0 && nsc_admission_allows_cached(at->admission, at->verdict, at->pid);
    pid_t pid = is_admitted ? at->pid : 0;
    int fd = -ETIMEDOUT;

    if (pid > 0)
        choose_owner(file, pid);
    if (modules->open_fds >= OPEN_FDS_MAX)
        return;
    if (modules->opening_ns < OPENING_MAX_NS)
        fd = open_either(file, pid, at->address);
    if (fd >= 0) {
        file->fd = fd;
        modules->open_fds++;
        (void)nsc_code_file_read(fd, file->confined ? &file->owner : NULL, &file->code);
    } else {
        count_unread(file, fd);
    }
    if (geteuid() == 0)
        modules->opening_ns += nsc_now_ns() - begun_ns;
}

static uint64_t hash_path(const char *path)
{
    return nsc_hash_bytes(nsc_hash_seed(), path, strlen(path));
}

static int file_new(struct nsc_modules *modules, const char *path, const uint8_t *build_id,
                    uint32_t build_id_bytes, const struct nsc_module_at *at,
                    struct nsc_module_file **out)
{
    struct nsc_module_file *file = calloc(1, sizeof *file);
    struct nsc_module entry = {.path = path, .build_id_bytes = build_id_bytes};
    int error = -ENOMEM;

    if (file == NULL)
        return -ENOMEM;
    file->modules = modules;
    file->admission = at->admission;
    file->fd = -1;
    file->path = strdup(path);
    file->path_hash = hash_path(path);
    file->build_id_bytes = build_id_bytes;
    memcpy(file->build_id, build_id, build_id_bytes);
    memcpy(entry.build_id, build_id, build_id_bytes);
    if (file->path != NULL)
        error = nsc_writer_add_module(modules->writer, &entry, &file->id);
    if (error != 0) {
        file_free(file);
        return error;
    }
    open_file(file, at);
    *out = file;
    return 0;
}

int nsc_modules_add(struct nsc_modules *modules, const char *path, const uint8_t *build_id,
                    uint32_t build_id_bytes, const struct nsc_module_at *at, uint32_t *index)
{
    struct nsc_module_file **files, *file;
    uint64_t hash = hash_path(path);
    uint32_t i;
    int error;

    for (i = modules->count; i > 0; i--) {
        file = modules->files[i - 1];
        if (file->path_hash == hash && file->build_id_bytes == build_id_bytes &&
            strcmp(file->path, path) == 0 &&
            memcmp(file->build_id, build_id, build_id_bytes) == 0) {
            *index = i - 1;
            return 0;
        }
    }
    if (!nsc_limits_take(&modules->limits, NSC_LIMIT_MODULES))
        return -E2BIG;
    files = nsc_array_grow(modules->files, &modules->capacity, modules->count,
                           sizeof(struct nsc_module_file *));
    if (files == NULL)
        return -ENOMEM;
    modules->files = files;
    error = file_new(modules, path, build_id, build_id_bytes, at, &file);
    if (error != 0)
        return error;
    modules->files[modules->count] = file;
    *index = modules->count++;
    return 0;
}

/* Stores the location of the next function id; ids are dense. */
static int place_add(struct nsc_modules *modules, uint32_t module, uint64_t va)
{
    struct nsc_function_place *places = nsc_array_grow(modules->places, &modules->place_capacity,
                                                       modules->place_count, sizeof *places);

    if (places == NULL)
        return -ENOMEM;
    modules->places = places;
    modules->places[modules->place_count++] = (struct nsc_function_place){module, va};
    return 0;
}

/* Adds @function, at @va of a module. Returns 0 or -errno. */
static int add_function(struct nsc_modules *modules, uint32_t module,
                        const struct nsc_function *function, uint32_t *id)
{
    if (place_add(modules, module, function->va) != 0)
        return -ENOMEM;
    if (nsc_writer_add_function(modules->writer, function, id) == 0 &&
        *id == modules->place_count - 1)
        return 0;
    modules->place_count--;
    return -ENOMEM;
}

uint32_t nsc_modules_other(struct nsc_modules *modules)
{
    const struct nsc_function function = {
        .name = OTHER_NAME, .symbol = OTHER_NAME, .module = NSC_NO_ID};

    if (modules->other == NSC_NO_ID &&
        add_function(modules, NSC_NO_ID, &function, &modules->other) != 0) {
        modules->other = NSC_NO_ID;
        return 0;
    }
    return modules->other;
}

uint32_t nsc_modules_function(struct nsc_modules *modules, uint32_t module, uint64_t va)
{
    struct nsc_id_map *map =
        module == NSC_NO_ID ? &modules->unknown : &modules->files[module]->functions;
    uint32_t id = nsc_id_map_get(map, va);
    struct nsc_function function = {
        .module = module == NSC_NO_ID ? NSC_NO_ID : modules->files[module]->id, .va = va};

    if (id != NSC_ID_MAP_NEW)
        return id;
    if (!nsc_limits_take(&modules->limits,
                         module == NSC_NO_ID ? NSC_LIMIT_ADDRESSES : NSC_LIMIT_FUNCTIONS))
        return nsc_modules_other(modules);
    if (add_function(modules, module, &function, &id) != 0)
        return 0;
    nsc_id_map_put(map, va, id); /* on failure: a second id later, an alias */
    return id;
}

/* ---- Contents of the file ------------------------------------------------------------------- */

struct nsc_symbols *nsc_module_symbols(struct nsc_module_file *file)
{
    struct nsc_symbols_options options = {.size = sizeof options,
                                          /* the path is from the shared memory */
                                          .no_debug_links = geteuid() == 0};
    int fd, error;

    if (file->symbols_tried)
        return file->symbols;
    file->symbols_tried = true;
    if (file->build_id_bytes > 0) {
        options.build_id = file->build_id;
        options.build_id_bytes = file->build_id_bytes;
    }
    fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        fd = open_one(file, 0, 0);
    }
    options.confine_as = file->confined ? &file->owner : NULL;
    error = fd >= 0 ? nsc_symbols_open_fd(fd, file->path, &options, &file->symbols, NULL) : fd;
    if (error != 0) {
        file->symbols = NULL;
        count_unread(file, error);
    }
    return file->symbols;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

void nsc_module_load_sites(struct nsc_module_file *file)
{
    struct nsc_symbols_site *sites;
    struct nsc_symbols *symbols;
    size_t count, i;

    if (file->sites_tried)
        return;
    file->sites_tried = true;
    symbols = nsc_module_symbols(file);
    if (symbols == NULL || nsc_symbols_sites(symbols, &sites, &count, NULL) != 0)
        return;
    file->site_count = count;
    file->hooks = calloc(count + 1, sizeof *file->hooks);
    for (i = 0; file->hooks != NULL && i < count; i++)
        if (sites[i].kind == NSC_LIVE_SITE_HOOK)
            file->hooks[file->hook_count++] = sites[i].va;
    if (file->hooks != NULL)
        qsort(file->hooks, file->hook_count, sizeof *file->hooks, compare_addresses);
    file->sleds = nsc_sleds_new(sites, count, symbols);
}

const struct nsc_sleds *nsc_module_sleds(struct nsc_module_file *file)
{
    nsc_module_load_sites(file);
    return file->sleds;
}

bool nsc_module_in_sled(const struct nsc_module_file *file, uint64_t va)
{
    return file->sleds != NULL && nsc_sleds_at(file->sleds, va) != NSC_SLEDS_NONE;
}

bool nsc_module_own_hook(const struct nsc_module_file *file, uint64_t va, uint64_t *hook_va)
{
    size_t i = NSC_PARTITION_POINT(k, file->hook_count, file->hooks[k] < va);

    if (i == file->hook_count)
        return false;
    *hook_va = file->hooks[i];
    return true;
}

/* Removes the role KEPT from symbols whose source file the filter excludes. One lookup for all
 * symbols concerned, as reading the lines of one takes as long as those of all. */
static void judge_files(struct nsc_symbols *symbols, const struct nsc_filter *filter,
                        uint8_t *roles)
{
    size_t count = nsc_symbols_count(symbols), asked = 0, i;
    uint64_t *vas = calloc(count + 1, sizeof *vas);
    size_t *which = calloc(count + 1, sizeof *which);
    struct nsc_symbols_line *lines = calloc(count + 1, sizeof *lines);
    bool known = vas != NULL && which != NULL && lines != NULL;

    for (i = 0; known && i < count; i++)
        if ((roles[i] & NSC_FILTER_KEPT) != 0) {
            vas[asked] = nsc_symbols_at(symbols, i).va;
            which[asked++] = i;
        }
    known = known && nsc_symbols_lines(symbols, vas, asked, lines) == 0;
    for (i = 0; known && i < asked; i++)
        if (!nsc_filter_keeps_file(filter, lines[i].file))
            roles[which[i]] &= (uint8_t)~NSC_FILTER_KEPT;
    for (i = 0; !known && i < count; i++)
        if (!nsc_filter_keeps_file(filter, NULL))
            roles[i] &= (uint8_t)~NSC_FILTER_KEPT;
    if (known)
        nsc_symbols_lines_free(lines, asked);
    free(lines);
    free(which);
    free(vas);
}

/* Computes the roles of all symbols at once, as demangling is cheap only in bulk. NULL if memory
 * runs out. */
static uint8_t *judge_symbols(const struct nsc_module_file *file, struct nsc_symbols *symbols,
                              const struct nsc_filter *filter)
{
    size_t count = nsc_symbols_count(symbols), i;
    const char **names = calloc(count + 1, sizeof *names);
    char **readable = calloc(count + 1, sizeof *readable);
    uint8_t *roles = calloc(count + 1, 1);
    bool wanted = nsc_filter_keeps_module(filter, file->path), judged = false;

    if (names != NULL && readable != NULL && roles != NULL) {
        for (i = 0; i < count; i++)
            names[i] = nsc_symbols_at(symbols, i).name;
        if (nsc_symbols_demangle(names, count, readable) == 0) {
            for (i = 0; i < count; i++) {
                roles[i] = nsc_filter_roles(filter, readable[i]);
                if (wanted && nsc_filter_keeps_name(filter, readable[i]))
                    roles[i] |= NSC_FILTER_KEPT;
            }
            if (filter->files.include != NULL || filter->files.exclude != NULL)
                judge_files(symbols, filter, roles);
            judged = true;
        }
        for (i = 0; i < count; i++)
            free(readable[i]);
    }
    free(names);
    free(readable);
    if (!judged) {
        free(roles);
        return NULL;
    }
    return roles;
}

static const uint8_t *roles_of(struct nsc_module_file *file, struct nsc_symbols *symbols,
                               const struct nsc_filter *filter)
{
    if (file->roles[0].filter != filter) {
        struct nsc_module_roles older = file->roles[1];

        file->roles[1] = file->roles[0];
        file->roles[0] = older;
    }
    if (file->roles[0].filter != filter) {
        free(file->roles[0].symbols);
        file->roles[0].symbols = judge_symbols(file, symbols, filter);
        file->roles[0].filter = filter;
    }
    return file->roles[0].symbols;
}

/* Roles of a function without a name. */
static uint8_t nameless_roles(const struct nsc_filter *filter, const char *path)
{
    return nsc_filter_keeps_name(filter, NULL) && nsc_filter_keeps_file(filter, NULL) &&
                   nsc_filter_keeps_module(filter, path)
               ? NSC_FILTER_KEPT
               : 0;
}

uint8_t nsc_module_roles(struct nsc_module_file *file, const struct nsc_filter *filter, uint64_t va)
{
    struct nsc_symbols *symbols = file != NULL ? nsc_module_symbols(file) : NULL;
    const uint8_t *roles = NULL;
    struct nsc_symbol symbol;
    size_t i;

    if (symbols != NULL)
        roles = roles_of(file, symbols, filter);
    if (roles == NULL || !nsc_symbols_find(symbols, va, &symbol))
        return nameless_roles(filter, file != NULL ? file->path : NULL);
    i = NSC_PARTITION_POINT(k, nsc_symbols_count(symbols),
                            nsc_symbols_at(symbols, k).va < symbol.va);
    return i < nsc_symbols_count(symbols) ? roles[i] : 0;
}

uint32_t nsc_module_code_flags(struct nsc_module_file *file, const struct nsc_filter *filter,
                               uint64_t va)
{
    uint8_t roles = nsc_module_roles(file, filter, va);

    return ((roles & NSC_FILTER_KEPT) == 0 ? (uint32_t)NSC_CODE_LEFT_OUT : 0) |
           ((roles & NSC_FILTER_TRIGGER) != 0 ? (uint32_t)NSC_CODE_TRIGGER : 0) |
           ((roles & NSC_FILTER_STOPPER) != 0 ? (uint32_t)NSC_CODE_STOPPER : 0) |
           ((roles & NSC_FILTER_CALLER) != 0 ? (uint32_t)NSC_CODE_CALLER : 0);
}
