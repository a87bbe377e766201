/*
 * doctor_build.c - finds the installed compilers and the hooks that work with them. Tests each
 * pair: compiles, runs and records a small program with this nanoscope executable.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/build/cc_plan.h"
#include "cli/doctor/doctor.h"

/* The exit status shows that the program's code is correct, its calls that the hooks work. */
#define PROGRAM_STATUS 42
static const char program[] =
    "__attribute__((noinline)) int nanoscope_doctor_leaf(int x) { return x + 1; }\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    (void)argv;\n"
    "    return nanoscope_doctor_leaf(argc) + nanoscope_doctor_leaf(39);\n"
    "}\n";
#define LEAF_CALLS "nanoscope_doctor_leaf,2,"

struct attempt {
    char folder[64];
    char source[128], binary[128], trace[128];
    char self[PATH_MAX]; /* path of this executable */
    char output[8192];   /* stdout and stderr of the last command */
};

/* Run @words with @variable=@value (if not NULL) in the environment. Returns its exit status, 127
 * if it cannot be started, 128 if a signal ended it. Its output goes to @a->output. */
static int run(struct attempt *a, char *const *words, const char *variable, const char *value)
{
    int pipe_fds[2];
    size_t used = 0;
    ssize_t n;
    int status = -1;
    pid_t pid;

    a->output[0] = '\0';
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return 127;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

        dup2(null, STDIN_FILENO);
        dup2(pipe_fds[1], STDOUT_FILENO);
        dup2(pipe_fds[1], STDERR_FILENO);
        if (variable != NULL)
            setenv(variable, value, 1);
        execvp(words[0], words);
        _exit(127);
    }
    close(pipe_fds[1]);
    /* Read to the end even if the buffer is full, so that SIGPIPE does not end the command. */
    for (;;) {
        char rest[512];
        size_t room = sizeof a->output - 1 - used;

        n = room != 0 ? read(pipe_fds[0], a->output + used, room)
                      : read(pipe_fds[0], rest, sizeof rest);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += room != 0 ? (size_t)n : 0;
    }
    a->output[used] = '\0';
    close(pipe_fds[0]);
    if (pid < 0)
        return 127;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The last line of the output: compilers and nanoscope write the error there. */
static const char *last_line(struct attempt *a)
{
    size_t bytes = strlen(a->output);
    char *line;

    while (bytes != 0 && a->output[bytes - 1] == '\n')
        a->output[--bytes] = '\0';
    line = strrchr(a->output, '\n');
    return line != NULL ? line + 1 : a->output;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static bool begin(struct attempt *a)
{
    const char *temporary = secure_getenv("TMPDIR");
    ssize_t n = readlink("/proc/self/exe", a->self, sizeof a->self - 1);
    FILE *f;
    bool written;

    if (n <= 0)
        return false;
    a->self[n] = '\0';
    if (temporary == NULL || strlen(temporary) + sizeof "/nanoscope-XXXXXX" > sizeof a->folder)
        temporary = "/tmp";
    snprintf(a->folder, sizeof a->folder, "%s/nanoscope-XXXXXX", temporary);
    if (mkdtemp(a->folder) == NULL)
        return false;
    snprintf(a->source, sizeof a->source, "%s/a.c", a->folder);
    snprintf(a->binary, sizeof a->binary, "%s/a", a->folder);
    snprintf(a->trace, sizeof a->trace, "%s/a.nst", a->folder);
    f = fopen(a->source, "we");
    if (f == NULL)
        return false;
    written = fputs(program, f) >= 0;
    return fclose(f) == 0 && written;
}

static void end(struct attempt *a)
{
    if (a->folder[0] != '\0')
        nftw(a->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Build the program with @compiler and @hook, run it, record it, look for its calls. */
static void try_hook(struct nsc_doctor *d, struct attempt *a, const char *compiler,
                     enum nsc_cc_hook hook)
{
    char option[32], name[64];
    char *build[] = {a->self,   (char[]){"cc"}, option,    (char[]){"-O1"},
                     a->source, (char[]){"-o"}, a->binary, NULL};
    char *plain[] = {a->binary, NULL};
    char *record[] = {
        a->self, (char[]){"record"}, (char[]){"-o"}, a->trace, (char[]){"--"}, a->binary, NULL};
    char *report[] = {a->self,         (char[]){"report"}, (char[]){"--format"},
                      (char[]){"csv"}, a->trace,           NULL};

    snprintf(option, sizeof option, "--hook=%s", nsc_cc_hook_name(hook));
    snprintf(name, sizeof name, "%s, %s", compiler, nsc_cc_hook_name(hook));
    if (run(a, build, "NANOSCOPE_CC", compiler) != 0)
        nsc_doctor_add(d, "hook", name, NSC_DOCTOR_FAIL, NULL, "does not build: %s", last_line(a));
    else if (run(a, plain, NULL, NULL) != PROGRAM_STATUS)
        nsc_doctor_add(d, "hook", name, NSC_DOCTOR_FAIL, NULL, "the program does not run: %s",
                       last_line(a));
    else if (run(a, record, NULL, NULL) != PROGRAM_STATUS)
        nsc_doctor_add(d, "hook", name, NSC_DOCTOR_FAIL, NULL, "cannot be recorded: %s",
                       last_line(a));
    else if (run(a, report, NULL, NULL) != 0 || strstr(a->output, LEAF_CALLS) == NULL)
        nsc_doctor_add(d, "hook", name, NSC_DOCTOR_FAIL, NULL,
                       "the recording does not hold the program's calls: %s", last_line(a));
    else {
        d->some_hook_works = true;
        nsc_doctor_add(d, "hook", name, NSC_DOCTOR_OK, NULL, "builds, runs, records");
    }
}

static const char *package_of(const char *compiler)
{
    static const struct {
        const char *compiler, *command;
    } known[] = {
        {"gcc", "apt-get install gcc libc6-dev"},
        {"g++", "apt-get install g++"},
        {"clang", "apt-get install clang"},
        {"clang++", "apt-get install clang"},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].compiler, compiler) == 0)
            return known[i].command;
    return NULL;
}

/* Returns whether the compiler is installed and is gcc or clang; fills @c. */
static bool check_compiler(struct nsc_doctor *d, struct attempt *a, const char *command,
                           bool optional, struct nsc_cc_compiler *c)
{
    static const char *const families[] = {"neither gcc nor clang", "gcc", "clang"};
    struct nsc_diag diag;
    char *words[NSC_CC_COMMAND_WORDS + 2];

    if (nsc_cc_compiler_split(command, c, &diag) != 0) {
        nsc_doctor_add(d, "compiler", command, NSC_DOCTOR_FAIL, NULL, "%s", diag.message);
        return false;
    }
    memcpy(words, c->words, c->word_count * sizeof *words);
    words[c->word_count] = (char[]){"--version"};
    words[c->word_count + 1] = NULL;
    if (run(a, words, NULL, NULL) != 0) {
        nsc_doctor_add(d, "compiler", command, optional ? NSC_DOCTOR_NOTE : NSC_DOCTOR_FAIL,
                       package_of(command), "not here");
        return false;
    }
    nsc_cc_compiler_recognise(c, NULL);
    a->output[strcspn(a->output, "\n")] = '\0';
    nsc_doctor_add(d, "compiler", command,
                   c->family == NSC_CC_OTHER ? NSC_DOCTOR_FAIL : NSC_DOCTOR_OK,
                   c->family == NSC_CC_OTHER ? "set NANOSCOPE_CC to a gcc or clang" : NULL,
                   "%s: %s", families[c->family], a->output);
    return c->family != NSC_CC_OTHER;
}

void nsc_doctor_build(struct nsc_doctor *d)
{
    static const char *const usual[] = {"gcc", "clang"};
    static const enum nsc_cc_hook wanted[] = {NSC_CC_HOOK_SLEDS, NSC_CC_HOOK_HEADER,
                                              NSC_CC_HOOK_PATCHABLE};
    struct {
        struct nsc_cc_compiler c;
        const char *command;
    } found[4];
    const char *own = secure_getenv("NANOSCOPE_CC");
    const char *own_cxx = secure_getenv("NANOSCOPE_CXX");
    struct attempt *a = calloc(1, sizeof *a);
    size_t count = 0;

    if (a == NULL || !begin(a)) {
        nsc_doctor_add(d, "compiler", "temporary folder", NSC_DOCTOR_FAIL,
                       "set TMPDIR to a folder that can be written", "%s", strerror(errno));
        free(a);
        return;
    }
    if (own != NULL && own[0] != '\0' && check_compiler(d, a, own, false, &found[count].c))
        found[count++].command = own;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if ((own == NULL || strcmp(own, usual[i]) != 0) &&
            check_compiler(d, a, usual[i], true, &found[count].c))
            found[count++].command = usual[i];
    if (own_cxx != NULL && own_cxx[0] != '\0') {
        struct nsc_cc_compiler c;

        check_compiler(d, a, own_cxx, false, &c);
    }
    if (count == 0)
        nsc_doctor_add(d, "hook", "none", NSC_DOCTOR_FAIL, "apt-get install gcc libc6-dev",
                       "no compiler, so nothing can be built for tracing");
    for (size_t i = 0; i < count; i++) {
        enum nsc_cc_hook hook;

        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
            if (nsc_cc_hook_resolve(&found[i].c, wanted[k], &hook, NULL) == 0)
                try_hook(d, a, found[i].command, hook);
    }
    end(a);
    free(a);
}
