/*
 * uftrace_names.c - function lookup in a uftrace folder: sessions (task.txt) and memory maps
 * (sid-*.map). The symbols of modules are in uftrace_symbols.c. Called by uftrace_import.c. See
 * uftrace_import.h.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/uftrace_symbols.h"
#include "symbols/symbols.h"
#include "util/array.h"
#include "util/search.h"
#include "util/text/escape.h"
#include "util/text/name_text.h"

#define MAPS_MAX     262144u            /* in all sessions together */
#define TEXT_MAX     ((size_t)64 << 20) /* bytes of task.txt, or of a map file */
#define SESSIONS_MAX 65536u
#define LOADS_MAX    4096u /* maps per session beyond which dlopen() lines are ignored */
#define FORKS_MAX    64u   /* forks between a session's process and one that inherits it */

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* ---- Text --------------------------------------------------------------------------------- */

/* Returns the value after " key=" in a line, or NULL. */
static const char *value_of(const char *line, const char *key)
{
    size_t bytes = strlen(key);

    for (const char *at = strchr(line, ' '); at != NULL; at = strchr(at + 1, ' '))
        if (strncmp(at + 1, key, bytes) == 0 && at[1 + bytes] == '=')
            return at + bytes + 2;
    return NULL;
}

static uint64_t number_of(const char *line, const char *key, int base)
{
    const char *value = value_of(line, key);

    return value != NULL ? strtoull(value, NULL, base) : 0;
}

/* Parses the timestamp of a line, "seconds.nanoseconds". Returns ns; 0 if missing or too large. */
static uint64_t time_of(const char *line)
{
    const char *value = value_of(line, "timestamp");
    char *end;
    uint64_t s, ns = 0;

    if (value == NULL)
        return 0;
    s = strtoull(value, &end, 10);
    if (*end == '.')
        ns = strtoull(end + 1, NULL, 10);
    return s < UINT64_MAX / 2000000000 ? s * 1000000000 + ns % 1000000000 : 0;
}

/* Returns a copy of the quoted value of a key; NULL if there is none, or when out of memory. */
static char *quoted(const char *line, const char *key)
{
    const char *value = value_of(line, key), *end;

    if (value == NULL || *value != '"')
        return NULL;
    end = strrchr(value, '"');
    return end > value ? strndup(value + 1, (size_t)(end - value - 1)) : NULL;
}

/* ---- Maps --------------------------------------------------------------------------------- */

/* Adds a map, up to MAPS_MAX. The limit bounds the time that lookups take. */
static int add_map(struct uft *u, struct uft_session *s, const struct uft_map *map)
{
    struct uft_map *all;

    if (u->map_count++ == MAPS_MAX)
        nsc_job_notes_add(u->job->notes,
                          "%s: more than %u mappings; functions of further ones have no names",
                          u->folder, MAPS_MAX);
    if (u->map_count > MAPS_MAX)
        return 0;
    all = nsc_array_grow(s->maps, &s->map_room, s->map_count, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    s->maps = all;
    all[s->map_count++] = *map;
    return 0;
}

/* Parses "start-end prot offset device inode path [build-id:hex]". Successive lines of one module
 * become one map; addresses in the module are relative to the start of that map. */
static int take_map(struct uft *u, struct uft_session *s, const char *line)
{
    char path[4096], build_id[128];
    struct uft_map map = {0};
    struct uft_map *last = s->map_count > 0 ? &s->maps[s->map_count - 1] : NULL;
    int used = 0;

    build_id[0] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %*u %4095s%n", &map.start, &map.end,
               path, &used) != 3 ||
        path[0] == '[' || map.end <= map.start)
        return 0;
    (void)sscanf(line + used, " build-id:%127s", build_id);
    map.module = u->map_count <= MAPS_MAX ? nsc_uftrace_find_module(u, path, build_id) : 0;
    if (map.module == NSC_NO_ID)
        return -ENOMEM;
    if (last != NULL && last->module == map.module && map.start >= last->end) {
        last->end = map.end;
        return 0;
    }
    return add_map(u, s, &map);
}

static int compare_maps(const void *a, const void *b)
{
    const struct uft_map *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int read_maps(struct uft *u, struct uft_session *s)
{
    char name[UFT_SID_MAX + 16], *text, *at, *line;
    struct nsc_diag why;
    size_t bytes;
    int error;

    snprintf(name, sizeof name, "sid-%s.map", s->sid);
    error = nsc_paged_file_text(u->folder, name, TEXT_MAX, &text, &bytes, &why);
    if (error != 0) {
        nsc_job_notes_add(u->job->notes, "%s; functions of %s have no names", why.message,
                          s->program);
        return error == -ENOMEM ? error : 0;
    }
    at = text;
    while (error == 0 && (line = nsc_uftrace_next_line(&at)) != NULL)
        error = take_map(u, s, line);
    free(text);
    if (s->map_count > 0)
        qsort(s->maps, s->map_count, sizeof *s->maps, compare_maps);
    return error;
}

/* Finds the map of a session that contains @address at time @ns. */
static const struct uft_map *find_map(const struct uft_session *s, uint64_t ns, uint64_t address)
{
    uint32_t next = NSC_PARTITION_POINT(i, s->map_count, s->maps[i].start <= address);

    while (next > 0 && s->maps[next - 1].from_ns > ns) /* at most LOADS_MAX */
        next--;
    return next > 0 && address < s->maps[next - 1].end ? &s->maps[next - 1] : NULL;
}

/* ---- task.txt ----------------------------------------------------------------------------- */

static int take_session(struct uft *u, const char *line)
{
    const char *sid = value_of(line, "sid");
    struct uft_session *all =
        nsc_array_grow(u->sessions, &u->session_room, u->session_count, sizeof *all);
    struct uft_session *s;
    size_t bytes = sid != NULL ? strspn(sid, "0123456789abcdef") : 0;

    if (all == NULL)
        return -ENOMEM;
    u->sessions = all;
    if (bytes == 0 || bytes >= UFT_SID_MAX || u->session_count == SESSIONS_MAX)
        return 0;
    s = &all[u->session_count];
    *s = (struct uft_session){.pid = (uint32_t)number_of(line, "pid", 10),
                              .from_ns = time_of(line),
                              .program = quoted(line, "exename")};
    memcpy(s->sid, sid, bytes);
    if (s->program == NULL)
        s->program = strdup("");
    if (s->program == NULL)
        return -ENOMEM;
    u->session_count++;
    return read_maps(u, s);
}

/* Maps @number to @at, unless it is mapped already. */
static int put_first(struct nsc_id_map *map, uint32_t number, uint32_t at)
{
    return nsc_id_map_get(map, number) == NSC_ID_MAP_NEW ? nsc_id_map_put(map, number, at) : 0;
}

static int take_task(struct uft *u, const char *line, bool forked)
{
    struct uft_task *all = nsc_array_grow(u->tasks, &u->task_room, u->task_count, sizeof *all);
    struct uft_task *task;
    uint32_t at = u->task_count;
    int error;

    if (all == NULL)
        return -ENOMEM;
    u->tasks = all;
    u->task_count++;
    task = &all[at];
    *task = (struct uft_task){.pid = (uint32_t)number_of(line, "pid", 10),
                              .parent_pid = forked ? (uint32_t)number_of(line, "ppid", 10) : 0,
                              .from_ns = time_of(line)};
    task->tid = forked ? task->pid : (uint32_t)number_of(line, "tid", 10);
    error = put_first(&u->by_tid, task->tid, at);
    if (error == 0 && task->parent_pid != 0)
        error = put_first(&u->by_fork, task->pid, at);
    return error;
}

/* Adds the map of a library that the program loaded with dlopen() (a DLOP line). */
static int take_load(struct uft *u, const char *line)
{
    const char *sid = value_of(line, "sid");
    struct uft_map map = {.start = number_of(line, "base", 16), .from_ns = time_of(line)};
    char *path = quoted(line, "libname");
    int error = 0;

    for (uint32_t i = 0; sid != NULL && path != NULL && i < u->session_count && error == 0; i++) {
        struct uft_session *s = &u->sessions[i];
        struct uft_module *m;

        if (strncmp(s->sid, sid, strlen(s->sid)) != 0 || s->map_count >= LOADS_MAX)
            continue;
        map.module = nsc_uftrace_find_module(u, path, "");
        if (map.module == NSC_NO_ID) {
            error = -ENOMEM;
            break;
        }
        m = &u->modules[map.module];
        error = nsc_uftrace_need_symbols(u, m);
        map.end = m->symbol_count > 0 ? map.start + m->symbols[m->symbol_count - 1].va + 4096
                                      : map.start + 4096;
        if (error == 0 && map.end > map.start)
            error = add_map(u, s, &map);
        if (s->map_count > 0)
            qsort(s->maps, s->map_count, sizeof *s->maps, compare_maps);
    }
    free(path);
    return error;
}

static int compare_sessions(const void *a, const void *b)
{
    const struct uft_session *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int nsc_uftrace_names_open(struct uft *u, struct nsc_diag *diag)
{
    char *text, *at, *line;
    size_t bytes;
    int error = nsc_uftrace_list_modules(u, diag);

    if (error == 0)
        error = nsc_paged_file_text(u->folder, "task.txt", TEXT_MAX, &text, &bytes, diag);
    if (error != 0)
        return error;
    at = text;
    while (error == 0 && (line = nsc_uftrace_next_line(&at)) != NULL) {
        if (strncmp(line, "SESS ", 5) == 0)
            error = take_session(u, line);
        else if (strncmp(line, "DLOP ", 5) == 0)
            error = take_load(u, line);
        else if (strncmp(line, "TASK ", 5) == 0 || strncmp(line, "FORK ", 5) == 0)
            error = take_task(u, line, line[0] == 'F');
    }
    free(text);
    if (u->session_count > 0)
        qsort(u->sessions, u->session_count, sizeof *u->sessions, compare_sessions);
    for (uint32_t i = 0; i < u->session_count && error == 0; i++)
        error = put_first(&u->by_session, u->sessions[i].pid, i);
    return error != 0 ? no_memory(diag) : 0;
}

/* ---- Addresses ---------------------------------------------------------------------------- */

/*
 * Finds the session of @pid at time @ns: its own last one, or that of the process that forked it.
 * Lowers *@until to the time from which another session may apply.
 */
static struct uft_session *find_session(const struct uft *u, uint32_t pid, uint64_t ns,
                                        uint64_t *until)
{
    for (unsigned forks = 0; forks < FORKS_MAX; forks++) {
        uint32_t first = nsc_id_map_get(&u->by_session, pid), at = first;
        uint32_t fork = nsc_id_map_get(&u->by_fork, pid);

        while (at < u->session_count && u->sessions[at].pid == pid && u->sessions[at].from_ns <= ns)
            at++;
        if (at < u->session_count && u->sessions[at].pid == pid && u->sessions[at].from_ns < *until)
            *until = u->sessions[at].from_ns;
        if (at > first)
            return &u->sessions[at - 1];
        if (fork == NSC_ID_MAP_NEW)
            return first != NSC_ID_MAP_NEW ? &u->sessions[first] : NULL;
        pid = u->tasks[fork].parent_pid;
    }
    return NULL;
}

void nsc_uftrace_names_begin(struct uft *u)
{
    u->session = NULL;
    u->session_until_ns = 0;
}

static const struct uft_map *locate(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address)
{
    if (ns >= u->session_until_ns) {
        uint64_t until = UINT64_MAX;

        u->session = find_session(u, pid, ns, &until);
        for (uint32_t i = 0; u->session != NULL && i < u->session->map_count; i++)
            if (u->session->maps[i].from_ns > ns && u->session->maps[i].from_ns < until)
                until = u->session->maps[i].from_ns;
        u->session_until_ns = until;
        memset(u->cache, 0, sizeof u->cache);
    }
    return u->session != NULL ? find_map(u->session, ns, address) : NULL;
}

bool nsc_uftrace_names_maps(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address)
{
    return locate(u, pid, ns, address) != NULL;
}

static uint8_t hex_digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/* Adds a module to the trace, if that has not been done. */
static int need_module(struct uft *u, struct uft_module *m)
{
    struct nsc_module module = {.path = m->path};

    if (m->id != NSC_NO_ID)
        return 0;
    for (const char *at = m->build_id;
         isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]) &&
         module.build_id_bytes < sizeof module.build_id;
         at += 2)
        module.build_id[module.build_id_bytes++] =
            (uint8_t)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
    return nsc_writer_add_module(u->job->writer, &module, &m->id);
}

/* Finds or adds a function without a symbol; its name is its address. */
static int add_unknown(struct uft *u, const struct uft_module *m, uint64_t va, uint32_t *function)
{
    char key[48], name[24];
    struct nsc_names_entry *e;
    struct nsc_function f = {
        .name = name, .symbol = name, .file = "", .module = NSC_NO_ID, .va = va};
    int error, bytes;

    if (m != NULL)
        f.module = m->id;
    snprintf(name, sizeof name, "0x%llx", (unsigned long long)va);
    bytes = snprintf(key, sizeof key, "%u %llx", f.module, (unsigned long long)va);
    error = nsc_names_find(&u->unknown, key, (size_t)bytes, &e);
    if (error == 0 && e->id == UINT32_MAX)
        error = nsc_writer_add_function(u->job->writer, &f, &e->id);
    if (error == 0)
        *function = e->id;
    return error;
}

static int add_function(struct uft *u, const struct uft_module *m, struct uft_symbol *s)
{
    struct nsc_function f = {.name = s->name,
                             .symbol = s->name,
                             .file = s->file != NULL ? s->file : "",
                             .line = s->line,
                             .module = m->id,
                             .va = s->va};

    return nsc_writer_add_function(u->job->writer, &f, &s->function);
}

static int resolve(struct uft *u, const struct uft_map *map, uint64_t address, uint32_t *function)
{
    struct uft_module *m;
    struct uft_symbol *s;
    uint64_t va;
    int error;

    if (map == NULL)
        return add_unknown(u, NULL, address, function);
    m = &u->modules[map->module];
    error = nsc_uftrace_need_symbols(u, m);
    if (error == 0)
        error = need_module(u, m);
    if (error != 0)
        return error;
    va = address - map->start;
    s = nsc_uftrace_find_symbol(m, u->relative ? va : address);
    if (s == NULL)
        s = nsc_uftrace_find_symbol(m, u->relative ? address : va);
    if (s == NULL)
        return add_unknown(u, m, va, function);
    if (s->function == NSC_NO_ID)
        error = add_function(u, m, s);
    *function = s->function;
    return error;
}

int nsc_uftrace_names_find(struct uft *u, uint32_t pid, uint64_t ns, uint64_t address,
                           uint32_t *function)
{
    size_t slot = (size_t)((address >> 2 ^ address >> 14) % UFT_CACHE);
    const struct uft_map *map;
    int error;

    if (ns < u->session_until_ns && u->cache[slot].address == address && address != 0) {
        *function = u->cache[slot].function;
        return 0;
    }
    map = locate(u, pid, ns, address);
    error = resolve(u, map, address, function);
    if (error == 0) {
        u->cache[slot].address = address;
        u->cache[slot].function = *function;
    }
    return error;
}

const char *nsc_uftrace_names_program(const struct uft *u, uint32_t pid)
{
    uint64_t until = UINT64_MAX;
    const struct uft_session *s = find_session(u, pid, 0, &until);

    if (s != NULL && s->program[0] != '\0')
        return s->program;
    return u->exename != NULL ? u->exename : u->job->name;
}

/* ---- The end ------------------------------------------------------------------------------ */

/* Demangles all functions at once, because demangling starts a process. */
int nsc_uftrace_names_finish(struct uft *u)
{
    uint32_t count = nsc_writer_function_count(u->job->writer);
    const char **symbols = calloc((size_t)count + 1, sizeof *symbols);
    char **names = calloc((size_t)count + 1, sizeof *names);
    int error = symbols == NULL || names == NULL ? -ENOMEM : 0;
    struct nsc_function f;

    for (uint32_t i = 0; i < count && error == 0; i++) {
        error = nsc_writer_get_function(u->job->writer, i, &f);
        symbols[i] = f.symbol;
    }
    if (error == 0)
        error = nsc_symbols_demangle(symbols, count, names);
    for (uint32_t i = 0; i < count && error == 0; i++) {
        error = nsc_writer_get_function(u->job->writer, i, &f);
        if (error == 0 && strcmp(f.name, names[i]) != 0) {
            f.name = names[i];
            error = nsc_writer_set_function(u->job->writer, i, &f);
        }
    }
    for (uint32_t i = 0; names != NULL && i < count; i++)
        free(names[i]);
    free(names);
    free(symbols);
    return error;
}

void nsc_uftrace_names_close(struct uft *u)
{
    nsc_uftrace_modules_free(u);
    for (uint32_t i = 0; i < u->session_count; i++) {
        free(u->sessions[i].program);
        free(u->sessions[i].maps);
    }
    free(u->sessions);
    free(u->tasks);
    nsc_id_map_free(&u->by_session);
    nsc_id_map_free(&u->by_tid);
    nsc_id_map_free(&u->by_fork);
    nsc_names_free(&u->unknown);
}
