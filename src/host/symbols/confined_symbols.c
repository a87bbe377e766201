/* confined_symbols.c - parse files of other users in a confined child that returns a digest. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/object.h"
#include "util/buffer.h"
#include "util/now.h"
#include "util/privileges/child.h"
#include "util/privileges/confine.h"

enum { TIME_MS = 10000, CPU_SECONDS = 10, EXIT_MS = 1000, READ_BYTES = 1 << 20 };

#define CHILD_BYTES_MAX (1ull << 30)
#define ALL_BYTES_MAX   (512ull << 20) /* limit of all digests in memory */
#define ALL_TIME_NS     60000000000ull /* limit of all children together, for any number of files */
#define BLOCK_BYTES_MAX (512ull << 20) /* limit of one section */

/* Memory and time that all files took so far. Only the recorder's thread parses such files. */
static uint64_t held_bytes, spent_ns;

struct job {
    int fd;
    const char *path;
    const struct nsc_symbols_options *options;
    struct nsc_debug_place debug; /* root is NULL */
    bool only_build_id;
};

/* ---- In the child ---------------------------------------------------------------------------- */

static int parse(const struct job *job, int pipe)
{
    struct nsc_diag why = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_symbols *s = NULL;
    int error = 0;

    if (job->only_build_id) {
        if (!nsc_symbols_is_build(job->fd, job->options->build_id, job->options->build_id_bytes))
            error = -ESTALE;
        return nsc_digest_write_error(error, &why, pipe);
    }
    error =
        nsc_symbols_read(job->fd, job->path, job->options, &job->debug, BLOCK_BYTES_MAX, &s, &why);
    return error != 0 ? nsc_digest_write_error(error, &why, pipe) : nsc_digest_write(s, pipe);
}

__attribute__((noreturn)) static void run_child(const struct job *job, int pipe)
{
    struct nsc_confine confine = {
        .credentials = job->options->confine_as,
        .keep = {pipe, job->fd, job->debug.fd, -1},
        .memory_bytes = CHILD_BYTES_MAX,
        .cpu_seconds = CPU_SECONDS,
    };
    int error = nsc_confine_enter(&confine);
    struct nsc_diag why = {.offset = NSC_DIAG_NO_OFFSET};

    if (error != 0) {
        nsc_diag_set(&why, NSC_DIAG_NO_OFFSET, error,
                     "%s: cannot be read as user %u, whose program names it: %s", job->path,
                     job->options->confine_as->user.effective, strerror(-error));
        _exit(nsc_digest_write_error(error, &why, pipe) != 0);
    }
    (void)nsc_confine_seal(); /* without a seccomp filter the other limits still apply */
    _exit(parse(job, pipe) != 0);
}

/* ---- In the parent --------------------------------------------------------------------------- */

/* Read until the child closes its end. Returns 0, -ETIMEDOUT, -EFBIG, -ENOMEM, -EIO. */
static int receive(pid_t child, int pipe, struct nsc_buffer *into)
{
    uint64_t end_ns = nsc_now_ns() + TIME_MS * 1000000ull;

    for (;;) {
        uint8_t *to = nsc_buffer_reserve(into, READ_BYTES);
        int error = to != NULL ? nsc_child_wait_readable(child, pipe, end_ns) : -ENOMEM;
        ssize_t got;

        if (error != 0)
            return error;
        got = read(pipe, to, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? 0 : -EIO;
        into->used += (size_t)got;
        if (into->used > NSC_DIGEST_BYTES_MAX || into->used + held_bytes > ALL_BYTES_MAX)
            return -EFBIG;
    }
}

static int explain(const struct job *job, int error, int status, struct nsc_diag *diag)
{
    if (error == -ETIMEDOUT)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ETIMEDOUT,
                            "%s: not parsed within %d s; its functions stay unnamed", job->path,
                            TIME_MS / 1000);
    if (error == -EFBIG)
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, EFBIG,
            "%s: more than %u MiB of symbols, or %llu MiB with other files of other "
            "users; its functions stay unnamed",
            job->path, NSC_DIGEST_BYTES_MAX >> 20, ALL_BYTES_MAX >> 20);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: %s", job->path, strerror(-error));
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                        "%s: its parser ended early (%s %d); its functions stay unnamed", job->path,
                        WIFSIGNALED(status) ? "signal" : "status",
                        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Run the child; @bytes receives its digest. */
static int run_within(const struct job *job, struct nsc_buffer *bytes, struct nsc_diag *diag)
{
    int ends[2], error, status;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "%s: no pipe for its parser: %s",
                            job->path, strerror(errno));
    child = fork();
    if (child == 0)
        run_child(job, ends[1]);
    error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s: no process to parse it in: %s",
                            job->path, strerror(-error));
    }
    error = receive(child, ends[0], bytes);
    close(ends[0]);
    status = nsc_child_end(child, error == 0 ? EXIT_MS : 0);
    if (error != 0 || bytes->used < sizeof(struct nsc_digest_head))
        return explain(job, error, status, diag);
    return 0;
}

uint64_t nsc_confined_time_left_ns(void)
{
    return spent_ns < ALL_TIME_NS ? ALL_TIME_NS - spent_ns : 0;
}

void nsc_confined_spend(uint64_t ns)
{
    spent_ns += ns;
}

static int run(const struct job *job, struct nsc_buffer *bytes, struct nsc_diag *diag)
{
    uint64_t begun_ns = nsc_now_ns();
    int error;

    if (spent_ns >= ALL_TIME_NS)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ETIMEDOUT,
                            "%s: not parsed, as other files of its user took %llu s; its "
                            "functions stay unnamed",
                            job->path, (unsigned long long)(spent_ns / 1000000000));
    error = run_within(job, bytes, diag);
    nsc_confined_spend(nsc_now_ns() - begun_ns);
    return error;
}

/* Open the debug file of options->build_id. Other debug files cannot be found without reading the
 * ELF file. */
static void open_debug_file(struct job *job, char *path, size_t path_bytes)
{
    const struct nsc_symbols_options *o = job->options;
    const char *root = o->debug_root != NULL ? o->debug_root : "/usr/lib/debug";
    int fd;

    if (o->no_debug_files || o->build_id == NULL ||
        !nsc_debug_file_path(root, o->build_id, o->build_id_bytes, path, path_bytes))
        return;
    fd = nsc_credentials_open(o->confine_as, 0, path);
    if (fd >= 0) {
        job->debug.fd = fd;
        job->debug.path = path;
    }
}

/* Fill @s from its digest. The origins are the same as without confinement. */
static int adopt(struct nsc_symbols *s, struct job *job, struct nsc_diag *diag)
{
    const struct nsc_digest_head *head = &s->digest.head;
    static const char *const origins[] = {"", ".symtab", ".dynsym"};

    s->elf.path = strdup(job->path);
    s->elf.build_id_bytes = head->build_id_bytes;
    memcpy(s->elf.build_id, head->build_id, sizeof s->elf.build_id);
    s->confined_as = *job->options->confine_as;
    if (head->has_debug_file != 0 && job->debug.fd >= 0) {
        s->debug.path = strdup(job->debug.path);
        s->debug.fd = job->debug.fd;
        job->debug.fd = -1;
    }
    if (s->elf.path == NULL || (s->debug.fd >= 0 && s->debug.path == NULL))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", job->path);
    s->origin = head->origin < NSC_DIGEST_DEBUG_FILE ? origins[head->origin] : "";
    if (head->origin == NSC_DIGEST_DEBUG_FILE && s->debug.path != NULL)
        s->origin = s->debug.path;
    return 0;
}

static int digest(const struct job *job, struct nsc_symbols *s, struct nsc_diag *diag)
{
    struct nsc_buffer bytes = {0};
    struct nsc_diag why = {.offset = NSC_DIAG_NO_OFFSET};
    uint8_t *fitting;
    int error = run(job, &bytes, diag);

    if (error == 0) {
        fitting = realloc(bytes.data, bytes.used);
        bytes.data = fitting != NULL ? fitting : bytes.data;
        error = nsc_digest_read(bytes.data, bytes.used, &s->digest, &s->table, &why);
        s->digest_bytes = error == 0 ? bytes.used : 0;
        held_bytes += s->digest_bytes;
        if (error == -EPROTO)
            error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                 "%s: its parser sent %s; its functions stay unnamed", job->path,
                                 why.message);
        else if (error != 0)
            nsc_diag_set(diag, why.offset, error, "%s", why.message);
    }
    if (error != 0)
        nsc_buffer_free(&bytes);
    return error;
}

int nsc_confined_open(int fd, const char *path, const struct nsc_symbols_options *options,
                      struct nsc_symbols **out, struct nsc_diag *diag)
{
    struct job job = {.fd = fd, .path = path, .options = options, .debug = {.fd = -1}};
    struct nsc_symbols *s = calloc(1, sizeof *s);
    char debug_path[PATH_MAX];
    int error;

    if (s == NULL) {
        close(fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", path);
    }
    s->elf.fd = fd;
    s->debug.fd = -1;
    s->origin = "";
    open_debug_file(&job, debug_path, sizeof debug_path);
    error = digest(&job, s, diag);
    if (error == 0)
        error = adopt(s, &job, diag);
    if (job.debug.fd >= 0)
        close(job.debug.fd);
    if (error != 0) {
        nsc_symbols_close(s);
        return error;
    }
    *out = s;
    return 0;
}

void nsc_confined_close(struct nsc_symbols *s)
{
    held_bytes -= s->digest_bytes;
    free(s->digest.bytes); /* they hold the table, too */
}

bool nsc_symbols_is_build_as(const struct nsc_credentials *confine_as, int fd,
                             const uint8_t *build_id, uint32_t bytes)
{
    struct nsc_symbols_options options = {.size = sizeof options,
                                          .build_id = build_id,
                                          .build_id_bytes = bytes,
                                          .confine_as = confine_as};
    struct job job = {
        .fd = fd, .path = "", .options = &options, .debug = {.fd = -1}, .only_build_id = true};
    struct nsc_buffer digest_bytes = {0};
    struct nsc_digest_head head = {.error = -EIO};

    if (confine_as == NULL)
        return nsc_symbols_is_build(fd, build_id, bytes);
    if (run(&job, &digest_bytes, NULL) == 0)
        memcpy(&head, digest_bytes.data, sizeof head);
    nsc_buffer_free(&digest_bytes);
    return head.error == 0;
}
