/*
 * command_server.h - the recorder's control socket. Other processes of the same user query a
 * recorder's status, stop it, change its filter or request a snapshot.
 *
 * SOCK_SEQPACKET socket <pid of the program>.rec of mode 0600 in the user's directory:
 * <NSC_CONTROL_DIRECTORY><uid>, or a fallback of src/shared/abi/control.h. Until the program has
 * started, the name contains the recorder's own pid. One request gets one reply of fixed size; a
 * client that requested the end gets replies until the file is complete. recorder.c calls the
 * server's half, which never blocks; cli/ calls the client's half.
 */
#ifndef NSC_RECORD_CONTROL_COMMAND_SERVER_H
#define NSC_RECORD_CONTROL_COMMAND_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/control.h"
#include "process/find/user_folder.h"
#include "record/options/recording_options.h"
#include "util/diag.h"

enum {
    NSC_COMMAND_TEXT_MAX = 32 << 10,
    NSC_COMMAND_CLIENTS_MAX = 16,
};

enum nsc_command_verb {
    NSC_COMMAND_STATUS = 1,
    /* NSC_COMMAND_STOP (abi/control.h): replies follow until the phase is DONE. Text: the new name
     * of the trace, from a program that records itself; else empty. */
    NSC_COMMAND_FILTER = 3, /* text: as for nsc_filter_read(); replaces the filter */
    /* Write the ring's contents; replies follow as for STOP. Text: length of the newest part in ns,
     * decimal, 0 for all; a blank; absolute path of the new trace. */
    NSC_COMMAND_SNAPSHOT = 4,
};

enum nsc_command_phase {
    NSC_COMMAND_WAITING = 1,    /* waiting for the program to start */
    NSC_COMMAND_RECORDING = 2,  /* events are being recorded */
    NSC_COMMAND_ENDING = 3,     /* writing the events that are in memory */
    NSC_COMMAND_NAMING = 4,     /* adding functions' names and the file's index */
    NSC_COMMAND_DONE = 5,       /* the file is complete, or `error` is set */
    NSC_COMMAND_CONVERTING = 6, /* before DONE: converting the trace to the format of its name */
};

struct nsc_command_reply {
    uint32_t magic;
    uint32_t phase; /* enum nsc_command_phase */
    int32_t error;  /* 0 or a negative errno, explained in message. 0 with a message: a warning */
    int32_t recorder_pid;
    int32_t program_pid; /* 0: not known yet */
    uint32_t mode;       /* enum nsc_record_mode */
    uint32_t filtered;   /* a filter is in force */
    uint32_t reserved;
    struct nsc_record_result result; /* as far as known in that phase */
    char program[64];
    char output[4096]; /* absolute path of the trace */
    char message[480];
};

/* Open the directory of the recorder's sockets; create it if it does not exist. Returns a
 * descriptor or -errno with @diag: -EACCES (no name is left for a directory private to this user).
 */
int nsc_command_directory(struct nsc_diag *diag);

/* ---- The recorder's half --------------------------------------------------------------------- */

struct nsc_command_client {
    int fd;     /* -1: unused */
    bool waits; /* waits for the end of the recording or snapshot */
    uint64_t since_ns;
};

struct nsc_command_server {
    int fd;                           /* -1: closed */
    int directory;                    /* directory of the sockets */
    char folder[NSC_USER_FOLDER_MAX]; /* its path */
    char name[32];                    /* name of the socket in the directory */
    bool gone;                        /* the name was removed; another recorder may use it now */
    uint64_t looked_ns;
    struct nsc_command_client clients[NSC_COMMAND_CLIENTS_MAX];
};

/* A complete request. */
struct nsc_command {
    struct nsc_command_client *client;
    uint32_t verb;
    uint32_t text_bytes;
    char text[NSC_COMMAND_TEXT_MAX];
};

/**
 * nsc_command_open - create the socket and listen.
 * @pid: the program's, or the recorder's own before the program has started.
 * @server: receives the socket; release with nsc_command_close(). Left closed on failure.
 *
 * Removes sockets of recorders that were killed.
 * Returns 0 or -errno with @diag: -EBUSY (another recorder records the program; the message names
 * its pid and output file), -EACCES (the directory is not private), or a system error.
 */
int nsc_command_open(pid_t pid, struct nsc_command_server *server, struct nsc_diag *diag);
/* Rename the socket after the program with @pid has started. Returns 0 or -errno as
 * nsc_command_open(). */
int nsc_command_rename(struct nsc_command_server *server, pid_t pid, struct nsc_diag *diag);

/**
 * nsc_command_next - accept clients and receive a request. Never blocks.
 * @now_ns: monotonic time; returns after one comparison if the last check is less than 2 ms ago.
 * @command: receives a request, to be answered with nsc_command_answer().
 * Returns true if there was a request; more may be pending then. Clients that are slow or send
 * anything else are disconnected.
 */
bool nsc_command_next(struct nsc_command_server *server, uint64_t now_ns,
                      struct nsc_command *command);
/* Reply. A client that requested the end or a snapshot stays connected until nsc_command_tell()
 * sends DONE; others are disconnected. */
void nsc_command_answer(struct nsc_command_server *server, const struct nsc_command *command,
                        const struct nsc_command_reply *reply);
/* Send the phase to all clients that wait for the end. With phase DONE the socket's name is removed
 * first, and these clients are disconnected. */
void nsc_command_tell(struct nsc_command_server *server, const struct nsc_command_reply *reply);
void nsc_command_close(struct nsc_command_server *server);
/* Leave the client to a forked child: close this process's descriptor only. */
void nsc_command_hand_over(const struct nsc_command *command);
/* In that child: keep only this client, which waits for the end. */
void nsc_command_take_over(struct nsc_command_server *server, const struct nsc_command *command);

/* ---- The client's half ----------------------------------------------------------------------- */

/**
 * nsc_command_call - send a request to a recorder.
 * @path: of its socket, from nsc_command_list().
 * @text, @text_bytes: as the verb requires; at most NSC_COMMAND_TEXT_MAX.
 * @progress: called for every reply before the last one; may be NULL.
 * @reply: receives the last one. If the recorder refuses, reply->error is set.
 * Returns 0 or -errno with @diag: -ENOENT or -ECONNREFUSED (it has ended), -EACCES (another
 * user's), -ETIMEDOUT (no reply), -EPROTO (reply of another version), -ECONNRESET (it ended without
 * a reply), -E2BIG.
 */
int nsc_command_call(const char *path, enum nsc_command_verb verb, const char *text,
                     size_t text_bytes,
                     void (*progress)(void *context, const struct nsc_command_reply *reply),
                     void *context, struct nsc_command_reply *reply, struct nsc_diag *diag);

/* A running recording. */
struct nsc_command_entry {
    char path[64]; /* of the recorder's socket */
    struct nsc_command_reply status;
};

enum nsc_command_owner {
    NSC_COMMAND_OWN,    /* recorders of this user */
    NSC_COMMAND_OTHERS, /* of all other users: only root may talk to them */
};

/**
 * nsc_command_list - append the running recordings of @owner to a list.
 * @list: malloc'ed array of @count; initially NULL and 0. To be freed, also after an error.
 * Recorders that do not reply are omitted. Returns 0 or -ENOMEM.
 */
int nsc_command_list(enum nsc_command_owner owner, struct nsc_command_entry **list, size_t *count);

#endif
