/*
 * command_server.h - the recorder's socket: how other processes of the same user ask a recorder how
 * it goes, have it stop, or change its filter.
 *
 * SOCK_SEQPACKET socket <NSC_CONTROL_DIRECTORY><uid>/<pid of the program>.rec of mode 0600; while
 * the program is yet to come, its name begins with the recorder's own pid. One request, one reply
 * of fixed size; who asks for the end gets replies until the file is whole. The server's half is
 * called by recorder.c and never waits for anybody; the client's half by cli/.
 */
#ifndef NSC_RECORD_CONTROL_COMMAND_SERVER_H
#define NSC_RECORD_CONTROL_COMMAND_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/options/recording_options.h"
#include "util/diag.h"

#define NSC_COMMAND_MAGIC 0x31434552u /* "REC1" */

enum {
    NSC_COMMAND_TEXT_MAX = 32 << 10,
    NSC_COMMAND_CLIENTS_MAX = 16,
};

enum nsc_command_verb {
    NSC_COMMAND_STATUS = 1,
    NSC_COMMAND_STOP = 2,   /* replies follow until the phase is DONE */
    NSC_COMMAND_FILTER = 3, /* text: as nsc_filter_read() takes it; replaces the filter */
    /* Write what the ring holds; replies follow as for STOP. Text: the last so many ns in decimal,
     * 0 for all; a blank; absolute path of the new trace. */
    NSC_COMMAND_SNAPSHOT = 4,
};

/* What a client sends, with @text_bytes of text behind it in the same packet. */
struct nsc_command_request {
    uint32_t magic;
    uint32_t verb; /* enum nsc_command_verb */
    uint32_t text_bytes;
    uint32_t reserved;
};

enum nsc_command_phase {
    NSC_COMMAND_WAITING = 1,    /* for the program to begin */
    NSC_COMMAND_RECORDING = 2,  /* events are being recorded */
    NSC_COMMAND_ENDING = 3,     /* what is in memory is being written */
    NSC_COMMAND_NAMING = 4,     /* functions get their names, the file its index */
    NSC_COMMAND_DONE = 5,       /* the file is whole, or `error` says why not */
    NSC_COMMAND_CONVERTING = 6, /* before DONE: the trace becomes what its name asks for */
};

struct nsc_command_reply {
    uint32_t magic;
    uint32_t phase; /* enum nsc_command_phase */
    int32_t error;  /* 0 or a negative errno; then message says what. 0 with a message: a warning */
    int32_t recorder_pid;
    int32_t program_pid; /* 0: not known yet */
    uint32_t mode;       /* enum nsc_record_mode */
    uint32_t filtered;   /* some filter is in force */
    uint32_t reserved;
    struct nsc_record_result result; /* as far as it is known in that phase */
    char program[64];
    char output[4096]; /* absolute path of the trace */
    char message[480];
};

/* Open the directory of our sockets, made if need be. Returns a descriptor or -errno with @diag:
 * -EACCES (others own it, or can get into it). */
int nsc_command_directory(struct nsc_diag *diag);

/* ---- The recorder's half --------------------------------------------------------------------- */

struct nsc_command_client {
    int fd;     /* -1: this place is free */
    bool waits; /* for the end of the recording */
    uint64_t since_ns;
};

struct nsc_command_server {
    int fd;        /* -1: closed */
    int directory; /* of the sockets */
    char name[32]; /* of ours, in there */
    bool gone;     /* it was taken away; the name may be somebody else's by now */
    uint64_t looked_ns;
    struct nsc_command_client clients[NSC_COMMAND_CLIENTS_MAX];
};

/* A request that has come in whole. */
struct nsc_command {
    struct nsc_command_client *client;
    uint32_t verb;
    uint32_t text_bytes;
    char text[NSC_COMMAND_TEXT_MAX];
};

/**
 * nsc_command_open - listen.
 * @pid: the program's, or the recorder's own while there is none.
 * @server: receives the socket; release with nsc_command_close(). Left closed on failure.
 *
 * Sockets of recorders that were killed are removed.
 * Returns 0 or -errno with @diag: -EBUSY (the program is being recorded; the message says by whom,
 * and into which file), -EACCES (the directory is not ours alone), or what the system says.
 */
int nsc_command_open(pid_t pid, struct nsc_command_server *server, struct nsc_diag *diag);
/* The program is known now: @pid is its. Returns 0 or -errno as nsc_command_open(). */
int nsc_command_rename(struct nsc_command_server *server, pid_t pid, struct nsc_diag *diag);

/**
 * nsc_command_next - look for clients and requests.
 * @now_ns: monotonic time; does nothing but a comparison if it looked a moment ago.
 * @command: receives a request, to be answered with nsc_command_answer().
 * Returns whether there was one; then there may be more. Clients that are slow or send anything
 * else are dropped. Never blocks.
 */
bool nsc_command_next(struct nsc_command_server *server, uint64_t now_ns,
                      struct nsc_command *command);
/* Reply. A client that asked to stop stays until nsc_command_tell() says DONE, others are let go.
 */
void nsc_command_answer(struct nsc_command_server *server, const struct nsc_command *command,
                        const struct nsc_command_reply *reply);
/* Say to everybody who waits for the end how far it is. With phase DONE nobody finds the socket any
 * more. */
void nsc_command_tell(struct nsc_command_server *server, const struct nsc_command_reply *reply);
void nsc_command_close(struct nsc_command_server *server);
/* The client is somebody else's from now on, a forked child's: close our side only. */
void nsc_command_hand_over(const struct nsc_command *command);
/* In that child: keep this client, who waits for the end, and nothing else. */
void nsc_command_take_over(struct nsc_command_server *server, const struct nsc_command *command);

/* ---- The client's half ----------------------------------------------------------------------- */

/**
 * nsc_command_call - ask the recorder of a program.
 * @path: of its socket, from nsc_command_list().
 * @text, @text_bytes: for NSC_COMMAND_FILTER; at most NSC_COMMAND_TEXT_MAX.
 * @progress: called for every reply before the last one; may be NULL.
 * @reply: receives the last one. A recorder's refusal is in reply->error.
 * Returns 0 or -errno with @diag: -ENOENT or -ECONNREFUSED (it is gone), -EACCES (somebody else's),
 * -ETIMEDOUT (no answer), -EPROTO (not an answer of this version), -ECONNRESET (it ended without
 * one), -E2BIG.
 */
int nsc_command_call(const char *path, enum nsc_command_verb verb, const char *text,
                     size_t text_bytes,
                     void (*progress)(void *context, const struct nsc_command_reply *reply),
                     void *context, struct nsc_command_reply *reply, struct nsc_diag *diag);

/* A recording under way. */
struct nsc_command_entry {
    char path[64]; /* of the recorder's socket */
    struct nsc_command_reply status;
};

/**
 * nsc_command_list - all recordings under way of this user; for root, of everybody.
 * @list: receives a malloc'ed array of @count.
 * Recorders that do not answer are left out. Returns 0 or -ENOMEM.
 */
int nsc_command_list(struct nsc_command_entry **list, size_t *count);

#endif
