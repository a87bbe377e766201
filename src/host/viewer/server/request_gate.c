/*
 * request_gate.c - see request_gate.h.
 *
 * Called by the server with untrusted requests. Must not depend on anything but its arguments.
 */
#include "viewer/server/request_gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static int make_secret(char out[NSC_GATE_SECRET_CHARS + 1])
{
    unsigned char bytes[NSC_GATE_SECRET_BYTES];
    ssize_t got = getrandom(bytes, sizeof bytes, 0);

    if (got != (ssize_t)sizeof bytes)
        return got < 0 ? -errno : -EIO;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int nsc_gate_init(struct nsc_gate *gate, const struct sockaddr_in *server)
{
    struct nsc_gate made;
    char key[NSC_GATE_SECRET_CHARS + 1], address[INET_ADDRSTRLEN];
    unsigned port = ntohs(server->sin_port);
    int error = make_secret(made.token);

    if (error == 0)
        error = make_secret(made.cookie);
    if (error == 0)
        error = make_secret(key);
    if (error != 0)
        return error;
    snprintf(made.cookie_name, sizeof made.cookie_name, "nanoscope-%u", port);
    inet_ntop(AF_INET, &server->sin_addr, address, sizeof address);
    snprintf(made.host, sizeof made.host, "%s:%u", address, port);
    snprintf(made.entry, sizeof made.entry, "/?open=%s", key);
    *gate = made;
    return 0;
}

/* Compares in constant time: the duration does not depend on where the two differ. */
static bool is_secret(const char *secret, const char *text, size_t bytes)
{
    unsigned char differs = 0;

    if (bytes != NSC_GATE_SECRET_CHARS)
        return false;
    for (size_t i = 0; i < bytes; i++)
        differs |= (unsigned char)(secret[i] ^ text[i]);
    return differs == 0;
}

bool nsc_gate_is_token(const struct nsc_gate *gate, const char *body, size_t bytes)
{
    return is_secret(gate->token, body, bytes);
}

/* Protects against DNS rebinding: a page of another site, whose name resolves to this machine,
 * sends that name as Host. "localhost" may resolve to ::1, where another user can listen. */
static bool is_our_host(const struct nsc_gate *gate, const char *host)
{
    return host != NULL && strcmp(host, gate->host) == 0;
}

static bool is_our_origin(const struct nsc_gate_request *request)
{
    static const char scheme[] = "http://";
    size_t length = sizeof scheme - 1;

    return request->origin == NULL || (strncmp(request->origin, scheme, length) == 0 &&
                                       strcmp(request->origin + length, request->host) == 0);
}

/* "same-site" is refused: it is a page of another server, on another port of this machine. */
static bool is_our_site(const char *fetch_site)
{
    return fetch_site == NULL || strcmp(fetch_site, "same-origin") == 0 ||
           strcmp(fetch_site, "none") == 0;
}

/* The entry file (entry_file.h) redirects to this target, which browsers treat as a cross-site
 * request. No other page knows the key, and the target is the page without any data. */
static bool is_entry(const struct nsc_gate *gate, const char *target)
{
    size_t length = strlen(gate->entry), key = length - NSC_GATE_SECRET_CHARS;

    return strlen(target) == length && memcmp(target, gate->entry, key) == 0 &&
           is_secret(gate->entry + key, target + key, NSC_GATE_SECRET_CHARS);
}

/* "a=b; nanoscope-40123=0123...; c=d": if several cookies have the name, one must match, as a
 * server on another port may have set the others. */
static bool has_cookie(const struct nsc_gate *gate, const char *text)
{
    size_t name_length = strlen(gate->cookie_name);

    while (text != NULL) {
        const char *end;

        text += strspn(text, " \t");
        end = text + strcspn(text, ";");
        if (strncmp(text, gate->cookie_name, name_length) == 0 && text[name_length] == '=') {
            const char *value = text + name_length + 1;

            if (is_secret(gate->cookie, value, (size_t)(end - value)))
                return true;
        }
        text = *end == ';' ? end + 1 : NULL;
    }
    return false;
}

static bool is_path(const char *target, const char *path)
{
    size_t length = strlen(path);

    return strncmp(target, path, length) == 0 && (target[length] == '\0' || target[length] == '?');
}

static bool is_data(const char *target)
{
    return strncmp(target, "/api/", 5) == 0 || is_path(target, "/ping");
}

enum nsc_gate_verdict nsc_gate_judge(const struct nsc_gate *gate,
                                     const struct nsc_gate_request *request)
{
    bool login = is_path(request->target, "/login");

    if (request->repeated || !is_our_host(gate, request->host) || !is_our_origin(request) ||
        request->target[0] != '/' ||
        !(is_our_site(request->fetch_site) || is_entry(gate, request->target)))
        return NSC_GATE_FORBIDDEN;
    if (strcmp(request->method, login ? "POST" : "GET") != 0)
        return NSC_GATE_BAD_METHOD;
    if (login)
        return NSC_GATE_LOGIN;
    if (!is_data(request->target))
        return NSC_GATE_FILE;
    return has_cookie(gate, request->cookie) ? NSC_GATE_DATA : NSC_GATE_FORBIDDEN;
}
