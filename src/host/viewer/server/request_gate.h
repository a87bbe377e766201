/*
 * request_gate.h - decide whether an HTTP request may be answered, by its method, target and
 * headers only, before any other code handles it. Rules and reasons: docs/adr/017-server.md.
 *
 * Called by the server for each request; independent of sockets. Must not allocate.
 */
#ifndef NSC_VIEWER_SERVER_REQUEST_GATE_H
#define NSC_VIEWER_SERVER_REQUEST_GATE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#define NSC_GATE_SECRET_BYTES 16 /* random bytes; written as twice as many hexadecimal digits */
#define NSC_GATE_SECRET_CHARS (2 * NSC_GATE_SECRET_BYTES)
#define NSC_GATE_NAME_MAX     32
#define NSC_GATE_ENTRY_MAX    48 /* "/?open=", a secret and the NUL */

struct nsc_gate {
    char token[NSC_GATE_SECRET_CHARS + 1];  /* part of the printed address */
    char cookie[NSC_GATE_SECRET_CHARS + 1]; /* value that the browser gets for the token */
    char cookie_name[NSC_GATE_NAME_MAX];    /* contains the port: cookies apply to all ports */
    char host[NSC_GATE_NAME_MAX];           /* the only accepted Host header, with the port */
    char entry[NSC_GATE_ENTRY_MAX];         /* the only target that other sites may navigate to */
};

/* A request without its body. Absent header fields are NULL; all are borrowed. */
struct nsc_gate_request {
    const char *method;
    const char *target; /* as sent: path and query, still encoded */
    const char *host, *origin, *fetch_site, *cookie;
    bool repeated; /* a header field occurs twice */
};

enum nsc_gate_verdict {
    NSC_GATE_FILE,       /* a static file of the page, which holds no data of the trace */
    NSC_GATE_LOGIN,      /* the body may be the token */
    NSC_GATE_DATA,       /* authenticated by the cookie: answer it */
    NSC_GATE_FORBIDDEN,  /* 403 */
    NSC_GATE_BAD_METHOD, /* 405 */
};

/**
 * nsc_gate_init - initialise a gate with new secrets.
 * @server: the address and port that it listens on.
 * Returns 0, or -errno if the system provides no random bytes.
 */
int nsc_gate_init(struct nsc_gate *gate, const struct sockaddr_in *server);

/* Decide about a request. Context: any thread; the gate is not modified. */
enum nsc_gate_verdict nsc_gate_judge(const struct nsc_gate *gate,
                                     const struct nsc_gate_request *request);

/* Return true if @body, of @bytes bytes, is the token. Compares in constant time. */
bool nsc_gate_is_token(const struct nsc_gate *gate, const char *body, size_t bytes);

#endif
