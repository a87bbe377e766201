/*
 * request_gate.h - may this HTTP request be answered? Decided by its method, path and head alone,
 * before anything else looks at it. The rules and their reasons are in docs/adr/017-server.md.
 *
 * Called by the server for each request; knows nothing of sockets. Must not allocate.
 */
#ifndef NSC_VIEWER_SERVER_REQUEST_GATE_H
#define NSC_VIEWER_SERVER_REQUEST_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_GATE_SECRET_BYTES 16 /* of randomness; written as twice as many hexadecimal digits */
#define NSC_GATE_SECRET_CHARS (2 * NSC_GATE_SECRET_BYTES)
#define NSC_GATE_NAME_MAX     32
#define NSC_GATE_ENTRY_MAX    48 /* "/?open=" and a secret */

struct nsc_gate {
    char token[NSC_GATE_SECRET_CHARS + 1];  /* of the address that is printed */
    char cookie[NSC_GATE_SECRET_CHARS + 1]; /* what the browser gets for it */
    char cookie_name[NSC_GATE_NAME_MAX];    /* has the port in it: cookies do not know ports */
    char hosts[2][NSC_GATE_NAME_MAX];       /* the names that the server goes by, with its port */
    char entry[NSC_GATE_ENTRY_MAX];         /* the one target that a foreign page may lead to */
};

/* The head of a request. Fields that it does not have are NULL; all are borrowed. */
struct nsc_gate_request {
    const char *method;
    const char *target; /* as sent: path and query, still encoded */
    const char *host, *origin, *fetch_site, *cookie;
    bool repeated; /* one of these fields stands twice */
};

enum nsc_gate_verdict {
    NSC_GATE_FILE,       /* a part of the page, the same for everybody */
    NSC_GATE_LOGIN,      /* the body may hold the token */
    NSC_GATE_DATA,       /* comes from our page: answer it */
    NSC_GATE_FORBIDDEN,  /* 403 */
    NSC_GATE_BAD_METHOD, /* 405 */
};

/**
 * nsc_gate_init - make a gate with fresh secrets.
 * @port: on which the server listens.
 * Returns 0, or -errno if the system gives no random bytes.
 */
int nsc_gate_init(struct nsc_gate *gate, uint16_t port);

/* Context: any thread; the gate does not change. */
enum nsc_gate_verdict nsc_gate_judge(const struct nsc_gate *gate,
                                     const struct nsc_gate_request *request);

/* Whether @body, of @bytes, is the token. Takes as long whether it is or not. */
bool nsc_gate_is_token(const struct nsc_gate *gate, const char *body, size_t bytes);

#endif
