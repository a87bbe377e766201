/*
 * ctf_meaning.c - determine which events of a CTF trace are function entries and exits, by their
 * names and fields. Called by ctf_import.c after the metadata is parsed.
 *
 * Entries and exits are events called func_entry and func_exit, of any tracer, or pairs of events
 * such as NAME_enter and NAME_exit. All other events become marks, except for those that describe
 * modules and threads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/ctf/ctf_import.h"

#define FIELDS_MAX (4 * CTF_LEAVES) /* fields searched by name; values of more are not kept */

/* Returns an event name without its provider, "provider:name". */
static const char *short_name(const char *name)
{
    const char *colon = strrchr(name, ':');

    return colon != NULL ? colon + 1 : name;
}

bool nsc_ctf_split_name(const char *name, bool *entry, char base[256])
{
    static const struct {
        const char *part;
        bool entry;
    } parts[] = {{"_entry", true},  {"_enter", true}, {"_begin", true},  {"_exit", false},
                 {"_leave", false}, {"_end", false},  {"_return", false}};
    size_t total = strlen(name);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t bytes = strlen(parts[i].part);
        const char *inside = strstr(name, parts[i].part);

        if (total <= bytes || total >= 256)
            continue;
        *entry = parts[i].entry;
        if (strcmp(name + total - bytes, parts[i].part) == 0) {
            snprintf(base, 256, "%.*s", (int)(total - bytes), name);
            return true;
        }
        if (strncmp(name, "syscall", 7) == 0 && inside != NULL && inside[bytes] == '_') {
            snprintf(base, 256, "%.*s%s", (int)(inside - name), name, inside + bytes);
            return true;
        }
    }
    return false;
}

static bool means_function(const char *base)
{
    static const char *const names[] = {"func",   "function",         "fn",
                                        "method", "cyg_profile_func", "__cyg_profile_func"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(short_name(base), names[i]) == 0)
            return true;
    return false;
}

struct ctf_field *nsc_ctf_field_of(const struct ctf_event *e, const char *name)
{
    struct ctf_field *f = e->fields != NULL ? e->fields->fields : NULL;

    for (uint32_t i = 0; f != NULL && i < FIELDS_MAX; f = f->next, i++)
        if (nsc_ctf_is_name(f->name, name))
            return f;
    return NULL;
}

/* Finds the field that identifies the function. */
static struct ctf_field *identity_of(const struct ctf_event *e)
{
    static const char *const names[] = {
        "function",         "func",    "func_name", "function_name", "name", "addr",   "func_addr",
        "function_address", "address", "this_fn",   "callee",        "fn",   "method", "ip"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ctf_field *f = nsc_ctf_field_of(e, names[i]);

        if (f != NULL)
            return f;
    }
    return NULL;
}

static uint32_t own_meaning(const struct ctf_event *e)
{
    static const struct {
        const char *name;
        enum ctf_meaning meaning;
    } names[] = {{"sample", CTF_MEANS_SAMPLE},
                 {"state", CTF_MEANS_STATE},
                 {"mark", CTF_MEANS_OWN_MARK},
                 {"counter", CTF_MEANS_COUNTER}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(e->name, names[i].name) == 0)
            return names[i].meaning;
    return CTF_MEANS_MARK;
}

/* Meaning of events with which tracers describe modules and threads. */
static uint32_t helper_meaning(struct ctf_event *e)
{
    static const struct {
        const char *name;
        enum ctf_meaning meaning;
        const char *fields[4];
    } names[] = {
        {"lttng_ust_statedump:bin_info", CTF_MEANS_LOAD, {"baddr", "memsz", "path", "is_pic"}},
        {"lttng_ust_lib:load", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_dl:dlopen", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_dl:dlmopen", CTF_MEANS_LOAD, {"baddr", "memsz", "path", NULL}},
        {"lttng_ust_statedump:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"lttng_ust_lib:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"lttng_ust_dl:build_id", CTF_MEANS_BUILD_ID, {"baddr", "build_id", NULL, NULL}},
        {"sched_switch", CTF_MEANS_SWITCH, {"next_tid", "next_comm", NULL, NULL}},
        {"thread_switched_in", CTF_MEANS_SWITCH, {"thread_id", "name", NULL, NULL}},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(e->name, names[i].name) != 0)
            continue;
        for (size_t k = 0; k < 4 && names[i].fields[k] != NULL; k++)
            e->wanted[k] = nsc_ctf_field_of(e, names[i].fields[k]);
        return e->wanted[0] != NULL ? names[i].meaning : CTF_MEANS_MARK;
    }
    if (strncmp(e->name, "lttng_ust_", 10) == 0 && strncmp(e->name, "lttng_ust_cyg", 13) != 0)
        return CTF_MEANS_NOTHING;
    return CTF_MEANS_MARK;
}

/* Finds one half of an event pair: the entry or exit with @base. */
static int find_half(struct nsc_names *halves, const char *base, bool entry,
                     struct nsc_names_entry **half)
{
    char key[260];
    int bytes = snprintf(key, sizeof key, "%c%s", entry ? '>' : '<', base);

    return nsc_names_find(halves, key, (size_t)bytes, half);
}

/* Lists the entries and exits among all events; halves that exist have id 0. */
static int list_halves(const struct ctf *c, struct nsc_names *halves)
{
    struct nsc_names_entry *half;
    char base[256];
    bool entry;

    for (const struct ctf_event *e = c->trace.events; e != NULL; e = e->next) {
        if (!nsc_ctf_split_name(e->name, &entry, base))
            continue;
        if (find_half(halves, base, entry, &half) != 0)
            return -ENOMEM;
        half->id = 0;
    }
    return 0;
}

static int understand_event(const struct ctf *c, struct nsc_names *halves, struct ctf_event *e)
{
    struct nsc_names_entry *partner;
    char base[256];
    bool entry;

    e->meaning = c->own ? own_meaning(e) : helper_meaning(e);
    if (e->meaning != CTF_MEANS_MARK || !nsc_ctf_split_name(e->name, &entry, base))
        return 0;
    if (means_function(base)) {
        e->wanted[0] = identity_of(e);
        e->wanted[1] = nsc_ctf_field_of(e, "bound");
        e->wanted[2] = nsc_ctf_field_of(e, "clipped");
        e->innermost = !entry && e->wanted[0] == NULL;
    } else {
        if (find_half(halves, base, !entry, &partner) != 0)
            return -ENOMEM;
        if (partner->id == UINT32_MAX)
            return 0;
    }
    e->meaning = entry ? CTF_MEANS_ENTRY : CTF_MEANS_EXIT;
    return 0;
}

int nsc_ctf_understand(struct ctf *c)
{
    struct nsc_names halves = {0};
    int error = list_halves(c, &halves);

    for (struct ctf_event *e = c->trace.events; e != NULL && error == 0; e = e->next)
        error = understand_event(c, &halves, e);
    nsc_names_free(&halves);
    return error;
}
