/* cc_compiler.c - recognises a compiler; see cc_plan.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/build/cc_plan.h"
#include "util/path.h"

static enum nsc_cc_isa isa_of_triple(const char *triple)
{
    static const struct {
        const char *prefix;
        enum nsc_cc_isa isa;
    } known[] = {
        {"x86_64-", NSC_CC_X86_64},
        {"amd64-", NSC_CC_X86_64},
        {"aarch64-", NSC_CC_AARCH64},
        {"arm64-", NSC_CC_AARCH64},
    };

    /* Not Linux, or 32-bit pointers. */
    if (strstr(triple, "linux") == NULL || strstr(triple, "x32") != NULL ||
        strstr(triple, "ilp32") != NULL)
        return NSC_CC_ISA_OTHER;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(triple, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].isa;
    return NSC_CC_ISA_OTHER;
}

static enum nsc_cc_isa own_isa(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    return NSC_CC_X86_64;
#elif defined(__aarch64__) && defined(__LP64__)
    return NSC_CC_AARCH64;
#else
    return NSC_CC_ISA_OTHER;
#endif
}

/* Find the family in a name ("x86_64-linux-gnu-gcc-12", "clang++"). @triple_bytes: receives the
 * length of the target triple at its start. */
static enum nsc_cc_family family_of_name(const char *name, size_t *triple_bytes)
{
    static const struct {
        const char *stem;
        enum nsc_cc_family family;
    } known[] = {
        {"clang++", NSC_CC_CLANG},
        {"clang", NSC_CC_CLANG},
        {"gcc", NSC_CC_GCC},
        {"g++", NSC_CC_GCC},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *at = strstr(name, known[i].stem);
        const char *end = at != NULL ? at + strlen(known[i].stem) : NULL;

        /* "afl-gcc" and "musl-gcc" do not start with a triple, and are not plain gcc: probe them.
         */
        if (at != NULL && at != name && memchr(name, '-', (size_t)(at - 1 - name)) == NULL)
            continue;
        /* The stem must be a whole word between dashes; only a version may follow. */
        if (at == NULL || (at != name && at[-1] != '-') || (*end != '\0' && *end != '-'))
            continue;
        if (*end == '-' && strspn(end + 1, "0123456789.") != strlen(end + 1))
            continue;
        *triple_bytes = at == name ? 0 : (size_t)(at - 1 - name);
        return known[i].family;
    }
    return NSC_CC_OTHER;
}

/* The file that execvp() would run, symbolic links resolved. */
static bool resolve(const char *word, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH");

    if (strchr(word, '/') != NULL)
        return realpath(word, path) != NULL;
    for (const char *at = dirs != NULL ? dirs : "/bin:/usr/bin"; *at != '\0';) {
        size_t bytes = strcspn(at, ":");
        char candidate[PATH_MAX];
        int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)bytes, at,
                         bytes != 0 ? "/" : "", word);

        if (n > 0 && (size_t)n < sizeof candidate && access(candidate, X_OK) == 0)
            return realpath(candidate, path) != NULL;
        at += bytes;
        at += *at == ':';
    }
    return false;
}

/* Whether a word of a compiler's command precedes the compiler: "ccache", "env", "CCACHE_DIR=x". */
static bool is_launcher(const char *word)
{
    static const char *const launchers[] = {"ccache", "sccache", "distcc", "icecc", "nice", "env"};

    if (strchr(word, '=') != NULL || word[0] == '-')
        return true;
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        if (strcmp(nsc_path_base_name(word), launchers[i]) == 0)
            return true;
    return false;
}

static bool find_by_name(struct nsc_cc_compiler *c)
{
    char path[PATH_MAX];
    const char *word = c->words[c->first_argument - 1];
    const char *name = nsc_path_base_name(word);
    size_t triple_bytes = 0;
    char triple[128];

    c->family = family_of_name(name, &triple_bytes);
    if (c->family == NSC_CC_OTHER || triple_bytes == 0) {
        /* "cc" has no family, "gcc" has no triple: the target of the symbolic link may have. */
        if (!resolve(word, path))
            return c->family != NSC_CC_OTHER;
        name = nsc_path_base_name(path);
        if (c->family == NSC_CC_OTHER) {
            c->family = family_of_name(name, &triple_bytes);
        } else {
            size_t bytes = 0;

            if (family_of_name(name, &bytes) == c->family)
                triple_bytes = bytes;
        }
    }
    if (c->family == NSC_CC_OTHER)
        return false;
    c->isa = own_isa();
    if (triple_bytes != 0 && triple_bytes < sizeof triple) {
        memcpy(triple, name, triple_bytes);
        triple[triple_bytes] = '\0';
        c->isa = isa_of_triple(triple);
    }
    return true;
}

/* Start the compiler's preprocessor on an empty input; returns its output, or NULL. */
static FILE *start_probe(const struct nsc_cc_compiler *c, pid_t *pid)
{
    char *words[NSC_CC_COMMAND_WORDS + 6];
    posix_spawn_file_actions_t actions;
    int pipe_fds[2];
    size_t n = c->word_count;
    int error;

    memcpy(words, c->words, n * sizeof *words);
    words[n++] = (char[]){"-dM"};
    words[n++] = (char[]){"-E"};
    words[n++] = (char[]){"-x"};
    words[n++] = (char[]){"c"};
    words[n++] = (char[]){"/dev/null"};
    words[n] = NULL;
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return NULL;
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        error = posix_spawnp(pid, words[0], &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(pipe_fds[1]);
    if (error != 0) {
        close(pipe_fds[0]);
        return NULL;
    }
    return fdopen(pipe_fds[0], "r");
}

static void find_by_probe(struct nsc_cc_compiler *c)
{
    bool gnu = false, clang = false, other = false, lp64 = false, linux_target = false;
    enum nsc_cc_isa isa = NSC_CC_ISA_OTHER;
    pid_t pid = -1;
    FILE *f = start_probe(c, &pid);
    char line[1024];

    if (f == NULL)
        return;
    while (fgets(line, sizeof line, f) != NULL) {
        char name[64];

        if (sscanf(line, "#define %63s", name) != 1)
            continue;
        gnu |= strcmp(name, "__GNUC__") == 0;
        clang |= strcmp(name, "__clang__") == 0;
        other |= strcmp(name, "__TINYC__") == 0 || strcmp(name, "__INTEL_COMPILER") == 0;
        lp64 |= strcmp(name, "__LP64__") == 0;
        linux_target |= strcmp(name, "__linux__") == 0;
        if (strcmp(name, "__x86_64__") == 0)
            isa = NSC_CC_X86_64;
        else if (strcmp(name, "__aarch64__") == 0)
            isa = NSC_CC_AARCH64;
    }
    fclose(f);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (!other && gnu)
        c->family = clang ? NSC_CC_CLANG : NSC_CC_GCC;
    c->isa = lp64 && linux_target ? isa : NSC_CC_ISA_OTHER;
}

int nsc_cc_compiler_split(const char *command, struct nsc_cc_compiler *out, struct nsc_diag *diag)
{
    char *rest = NULL;

    *out = (struct nsc_cc_compiler){0};
    if (strlen(command) >= sizeof out->text)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "the compiler's command is too long");
    memcpy(out->text, command, strlen(command) + 1);
    for (char *word = strtok_r(out->text, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (out->word_count == NSC_CC_COMMAND_WORDS)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "'%s' has more than %d words",
                                command, NSC_CC_COMMAND_WORDS);
        out->words[out->word_count++] = word;
    }
    if (out->word_count == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "the compiler's command is empty");
    out->first_argument = 1;
    for (size_t i = 0; i < out->word_count && is_launcher(out->words[i]); i++)
        out->first_argument = i + 2;
    if (out->first_argument > out->word_count)
        out->first_argument = 1;
    if (strcmp(nsc_path_base_name(out->words[out->first_argument - 1]), "nanoscope") == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ELOOP,
                            "'%s' would call itself: NANOSCOPE_CC and NANOSCOPE_CXX name the real "
                            "compiler",
                            command);
    return 0;
}

void nsc_cc_compiler_recognise(struct nsc_cc_compiler *c, const char *target)
{
    static const char prefix[] = "--target=";

    if (!find_by_name(c))
        find_by_probe(c);
    for (size_t i = c->first_argument; i < c->word_count && target == NULL; i++)
        if (strncmp(c->words[i], prefix, sizeof prefix - 1) == 0)
            target = c->words[i] + sizeof prefix - 1;
    if (target != NULL)
        c->isa = isa_of_triple(target);
}
