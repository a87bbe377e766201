/*
 * http_server.c - HTTP server on the loopback interface; see serve.h.
 *
 * Called by cli/export/cmd_open.c. One thread of the HTTP library does all input and output, and
 * passes each request through the gate (request_gate.h). Requests for data are queued to the
 * workers; their connections are suspended until the reply is complete.
 */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/now.h"
#include "viewer/page/assets.h"
#include "viewer/server/connections.h"
#include "viewer/server/handle_query.h"
#include "viewer/server/handle_source.h"
#include "viewer/server/libmicrohttpd/libmicrohttpd.h"
#include "viewer/server/listener.h"
#include "viewer/server/peer_owner.h"
#include "viewer/server/request_gate.h"
#include "viewer/server/serve.h"
#include "viewer/server/workers.h"

#define MEMORY_EACH 65536u     /* bytes per connection; the headers of a request must fit */
#define SILENCE_S   120u       /* until an idle connection is closed */
#define REST_NS     300000000u /* time without requests until free memory is returned */

struct nsc_serve {
    struct nsc_mhd mhd;
    struct MHD_Daemon *daemon;
    struct nsc_workers *workers;
    struct nsc_gate gate;
    struct nsc_connections links;
    struct sockaddr_in address;
    char url[96], entry_url[160];
    struct nsc_source source;
    const struct nsc_engine_handler *handlers[2]; /* added to those of the engine */
    _Atomic int64_t refused;                      /* as nsc_serve_refused_user() returns it */
    atomic_bool logged_in;
    pthread_mutex_t lock;      /* protects the members below */
    struct request *under_way; /* requests queued to, or being answered by, the workers */
    uint64_t asked_ns;         /* time of the last request or reply */
    uint64_t trimmed_ns;       /* asked_ns when free memory was last returned to the system */
};

struct request {
    struct nsc_task task; /* must be first: on_done() casts it to struct request */
    struct nsc_serve *server;
    struct MHD_Connection *connection;
    struct request *next, *previous; /* in nsc_serve.under_way */
    char *target;
    enum { FRESH, ADMITTED, WAITING } state;
    enum nsc_gate_verdict verdict;
    char body[NSC_GATE_SECRET_CHARS + 1]; /* one byte more than a token has */
    size_t body_bytes;
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void add_header(struct nsc_serve *s, struct MHD_Response *response, const char *name,
                       const char *value)
{
    s->mhd.add_response_header(response, name, value);
}

static void add_headers(struct nsc_serve *s, struct MHD_Response *response, const char *type)
{
    if (type != NULL)
        add_header(s, response, "Content-Type", type);
    add_header(s, response, "Cache-Control", "no-store");
    add_header(s, response, "Content-Security-Policy",
               "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
               "connect-src 'self'; img-src 'self' data:; worker-src blob:; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
               "trusted-types nanoscope");
    add_header(s, response, "X-Content-Type-Options", "nosniff");
    add_header(s, response, "Cross-Origin-Resource-Policy", "same-origin");
    add_header(s, response, "Cross-Origin-Opener-Policy", "same-origin");
    add_header(s, response, "Referrer-Policy", "no-referrer");
}

/* Remove const: the library's parameter is not const, but it only reads persistent buffers. */
static void *unconst(const void *data)
{
    void *same;

    memcpy(&same, &data, sizeof same);
    return same;
}

static enum MHD_Result send_response(struct request *r, unsigned status,
                                     struct MHD_Response *response)
{
    enum MHD_Result result = r->server->mhd.queue_response(r->connection, status, response);

    r->server->mhd.destroy_response(response);
    return result;
}

/* Send a line of text, which must stay valid (a literal). */
static enum MHD_Result send_line(struct request *r, unsigned status, const char *line)
{
    struct nsc_serve *s = r->server;
    struct MHD_Response *response =
        s->mhd.create_response_from_buffer(strlen(line), unconst(line), MHD_RESPMEM_PERSISTENT);

    if (response == NULL)
        return MHD_NO;
    add_headers(s, response, "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        add_header(s, response, "Allow", "GET");
    return send_response(r, status, response);
}

/* Send an empty response; sets a cookie if @cookie is not NULL. */
static enum MHD_Result send_nothing(struct request *r, const char *cookie)
{
    struct nsc_serve *s = r->server;
    struct MHD_Response *response =
        s->mhd.create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (response == NULL)
        return MHD_NO;
    add_headers(s, response, NULL);
    if (cookie != NULL)
        add_header(s, response, "Set-Cookie", cookie);
    return send_response(r, MHD_HTTP_NO_CONTENT, response);
}

static const struct nsc_asset *find_asset(const char *target)
{
    size_t length = strcspn(target, "?");
    const struct nsc_asset *asset = nsc_serve_assets;

    while (asset->path != NULL &&
           (strlen(asset->path) != length || memcmp(asset->path, target, length) != 0))
        asset++;
    return asset->path != NULL ? asset : NULL;
}

static enum MHD_Result send_file(struct request *r)
{
    const struct nsc_asset *asset = find_asset(r->target);
    struct nsc_serve *s = r->server;
    struct MHD_Response *response;

    if (asset == NULL)
        return send_line(r, MHD_HTTP_NOT_FOUND, "there is no such page\n");
    response = s->mhd.create_response_from_buffer(asset->bytes, unconst(asset->data),
                                                  MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    add_headers(s, response, asset->type);
    return send_response(r, MHD_HTTP_OK, response);
}

/* Send the engine's reply; the response takes over its bytes. */
static enum MHD_Result send_reply(struct request *r)
{
    struct nsc_engine_reply *reply = &r->task.reply;
    struct nsc_serve *s = r->server;
    struct MHD_Response *response;

    if (reply->status == 0)
        return send_line(r, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is about to end\n");
    response =
        s->mhd.create_response_from_buffer(reply->count, reply->bytes, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return MHD_NO;
    reply->bytes = NULL;
    add_headers(s, response, reply->type);
    return send_response(r, (unsigned)reply->status, response);
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Fill the header fields of a request that the gate evaluates. */
static enum MHD_Result read_field(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct nsc_gate_request *head = context;
    struct {
        const char *name;
        const char **value;
    } fields[] = {
        {"Host", &head->host},
        {"Origin", &head->origin},
        {"Sec-Fetch-Site", &head->fetch_site},
        {"Cookie", &head->cookie},
    };

    (void)kind;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcasecmp(name, fields[i].name) != 0)
            continue;
        head->repeated |= *fields[i].value != NULL;
        *fields[i].value = value != NULL ? value : "";
    }
    return MHD_YES;
}

static struct nsc_link *link_of(struct request *r)
{
    const union MHD_ConnectionInfo *info =
        r->server->mhd.get_connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info != NULL ? info->socket_context : NULL;
}

static void note_activity(struct nsc_serve *s)
{
    pthread_mutex_lock(&s->lock);
    s->asked_ns = nsc_now_ns();
    pthread_mutex_unlock(&s->lock);
}

/* A task is finished or cancelled: resume its connection. */
static void on_done(struct nsc_task *task)
{
    struct request *r = (struct request *)task;
    struct nsc_serve *s = r->server;

    pthread_mutex_lock(&s->lock);
    *(r->previous ? &r->previous->next : &s->under_way) = r->next;
    if (r->next != NULL)
        r->next->previous = r->previous;
    s->asked_ns = nsc_now_ns();
    pthread_mutex_unlock(&s->lock);
    s->mhd.resume_connection(r->connection);
}

static enum MHD_Result ask(struct request *r)
{
    struct nsc_serve *s = r->server;

    r->state = WAITING;
    r->task.request = r->target;
    r->task.done = on_done;
    pthread_mutex_lock(&s->lock);
    r->next = s->under_way;
    if (r->next != NULL)
        r->next->previous = r;
    s->under_way = r;
    pthread_mutex_unlock(&s->lock);
    s->mhd.suspend_connection(r->connection);
    nsc_workers_submit(s->workers, &r->task);
    return MHD_YES;
}

/* Ask the gate about a request when its headers are complete. Refused requests are answered at
 * once; the library then closes the connection without reading the body. */
static enum MHD_Result judge(struct request *r, const char *method)
{
    struct nsc_serve *s = r->server;
    struct nsc_gate_request head = {.method = method, .target = r->target};

    s->mhd.get_connection_values(r->connection, MHD_HEADER_KIND, read_field, &head);
    r->verdict = nsc_gate_judge(&s->gate, &head);
    r->state = ADMITTED;
    nsc_connections_heard(&s->links, link_of(r), r->verdict == NSC_GATE_DATA);
    if (r->verdict == NSC_GATE_BAD_METHOD)
        return send_line(r, MHD_HTTP_METHOD_NOT_ALLOWED, "this can only be read\n");
    if (r->verdict == NSC_GATE_FORBIDDEN)
        return send_line(r, MHD_HTTP_FORBIDDEN, "open the address that nanoscope printed\n");
    return MHD_YES;
}

static void take_body(struct request *r, const char *data, size_t bytes)
{
    size_t room = sizeof r->body - r->body_bytes;

    memcpy(r->body + r->body_bytes, data, bytes < room ? bytes : room);
    r->body_bytes += bytes < room ? bytes : room;
}

static enum MHD_Result log_in(struct request *r)
{
    struct nsc_serve *s = r->server;
    char cookie[160];

    if (!nsc_gate_is_token(&s->gate, r->body, r->body_bytes))
        return send_line(r, MHD_HTTP_FORBIDDEN, "this is not the token\n");
    nsc_connections_heard(&s->links, link_of(r), true);
    note_activity(s);
    atomic_store(&s->logged_in, true);
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->gate.cookie_name,
             s->gate.cookie);
    return send_nothing(r, cookie);
}

static enum MHD_Result answer(struct request *r)
{
    if (r->verdict == NSC_GATE_LOGIN)
        return log_in(r);
    if (r->verdict == NSC_GATE_FILE)
        return send_file(r);
    note_activity(r->server);
    return strncmp(r->target, "/ping", 5) == 0 ? send_nothing(r, NULL) : ask(r);
}

/* ---- What the HTTP library calls ------------------------------------------------------------- */

/* Called when the first line of a request is complete. */
static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    struct request *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    r->server = context;
    r->connection = connection;
    r->target = strdup(target);
    return r;
}

/* Called when the headers are complete, for each piece of the body, at the end of the request, and
 * when the connection is resumed after the reply is complete. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *bytes, void **request)
{
    struct request *r = *request;

    (void)context;
    (void)connection;
    (void)url;
    (void)version;
    if (r == NULL || r->target == NULL)
        return MHD_NO; /* out of memory: closes the connection */
    if (r->state == FRESH)
        return judge(r, method);
    if (r->state == WAITING)
        return send_reply(r);
    if (*bytes == 0)
        return answer(r);
    if (r->verdict != NSC_GATE_LOGIN)
        return MHD_NO; /* GET requests must not have a body */
    take_body(r, data, *bytes);
    *bytes = 0;
    return MHD_YES;
}

static void on_end(void *context, struct MHD_Connection *connection, void **request,
                   enum MHD_RequestTerminationCode why)
{
    struct request *r = *request;

    (void)context;
    (void)connection;
    (void)why;
    *request = NULL;
    if (r == NULL)
        return;
    nsc_engine_reply_free(&r->task.reply);
    free(r->target);
    free(r);
}

static enum MHD_Result on_accept(void *context, const struct sockaddr *address, socklen_t bytes)
{
    struct nsc_serve *s = context;
    struct sockaddr_in client;
    int64_t owner;

    if (bytes < sizeof client)
        return MHD_NO;
    memcpy(&client, address, sizeof client);
    owner = nsc_peer_find_owner(&s->address, &client);
    if (nsc_peer_is_allowed(owner, geteuid()))
        return MHD_YES;
    if (owner != NSC_PEER_CLOSED)
        atomic_store(&s->refused, owner == NSC_PEER_UNKNOWN ? NSC_SERVE_REFUSED_UNKNOWN : owner);
    return MHD_NO;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **link,
                          enum MHD_ConnectionNotificationCode what)
{
    struct nsc_serve *s = context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            s->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

        *link = info != NULL ? nsc_connections_add(&s->links, info->connect_fd) : NULL;
    } else {
        nsc_connections_remove(&s->links, *link);
        *link = NULL;
    }
}

static void say_nothing(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

/* ---- Start and end --------------------------------------------------------------------------- */

static int start_daemon(struct nsc_serve *s, int fd, struct nsc_diag *diag)
{
    /* Not strict: otherwise the library would answer requests without Host, instead of the gate. */
    s->daemon = s->mhd.start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, on_accept, s, on_request, s,
        /* */
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, NSC_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENCE_S, MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_URI_LOG_CALLBACK, on_target, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_EXTERNAL_LOGGER, say_nothing, s, MHD_OPTION_END);
    if (s->daemon == NULL) {
        close(fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EIO, "libmicrohttpd cannot start its server");
    }
    return 0;
}

static int start(struct nsc_serve *s, const struct nsc_serve_options *options,
                 struct nsc_diag *diag)
{
    const struct nsc_engine_handler *sql = nsc_query_handler();
    struct nsc_workers_options workers = {.traces = options->traces,
                                          .trace_count = options->trace_count,
                                          .handlers = s->handlers,
                                          .handler_count = sql != NULL ? 2 : 1,
                                          .rules = options->rules};
    int error =
        nsc_source_init(&s->source, options->source_folders, options->source_folder_count, diag);
    int fd = error == 0 ? nsc_listener_open(options->port, &s->address, diag) : error;

    if (fd < 0)
        return fd;
    s->handlers[0] = &s->source.handler;
    s->handlers[1] = sql;
    error = nsc_gate_init(&s->gate, &s->address);
    if (error == 0)
        error = nsc_workers_start(&workers, &s->workers);
    if (error != 0) {
        close(fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot start the server: %s",
                            strerror(-error));
    }
    snprintf(s->url, sizeof s->url, "http://%s/#token=%s", s->gate.host, s->gate.token);
    snprintf(s->entry_url, sizeof s->entry_url, "http://%s%s#token=%s", s->gate.host, s->gate.entry,
             s->gate.token);
    s->asked_ns = nsc_now_ns();
    return start_daemon(s, fd, diag);
}

int nsc_serve_start(const struct nsc_serve_options *options, struct nsc_serve **out,
                    struct nsc_diag *diag)
{
    struct nsc_serve *s;
    int error;

    if (nsc_serve_assets[0].path == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS,
                            "nanoscope was built without the viewer: install node and npm (Debian: "
                            "apt install nodejs npm) and build again");
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    pthread_mutex_init(&s->lock, NULL);
    nsc_connections_init(&s->links);
    atomic_init(&s->refused, NSC_SERVE_REFUSED_NONE);
    error = nsc_libmicrohttpd_load(&s->mhd, diag);
    if (error == 0)
        error = start(s, options, diag);
    if (error != 0) {
        nsc_serve_stop(s);
        return error;
    }
    *out = s;
    return 0;
}

const char *nsc_serve_address(const struct nsc_serve *server)
{
    return server->url;
}

const char *nsc_serve_entry_address(const struct nsc_serve *server)
{
    return server->entry_url;
}

bool nsc_serve_is_logged_in(struct nsc_serve *server)
{
    return atomic_load(&server->logged_in);
}

int64_t nsc_serve_refused_user(struct nsc_serve *server)
{
    return atomic_load(&server->refused);
}

/* Return true if the client closed its connection. The HTTP library does not watch suspended
 * connections. */
static bool has_left(struct request *r)
{
    const union MHD_ConnectionInfo *info =
        r->server->mhd.get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd set = {.fd = info != NULL ? info->connect_fd : -1, .events = POLLRDHUP};

    return info != NULL && poll(&set, 1, 0) > 0;
}

/* If there were no requests for REST_NS, return free memory to the system: malloc would keep some
 * megabytes per thread. */
static void give_memory_back(struct nsc_serve *server)
{
    bool rests;

    pthread_mutex_lock(&server->lock);
    rests = server->under_way == NULL && server->asked_ns > server->trimmed_ns &&
            nsc_now_ns() - server->asked_ns > REST_NS;
    if (rests)
        server->trimmed_ns = server->asked_ns;
    pthread_mutex_unlock(&server->lock);
#ifdef __GLIBC__
    if (rests)
        malloc_trim(0);
#else
    (void)rests;
#endif
}

void nsc_serve_look_after(struct nsc_serve *server)
{
    nsc_connections_look_after(&server->links);
    give_memory_back(server);
    pthread_mutex_lock(&server->lock);
    for (struct request *r = server->under_way; r != NULL; r = r->next)
        if (!atomic_load(&r->task.gone) && has_left(r))
            atomic_store(&r->task.gone, true);
    pthread_mutex_unlock(&server->lock);
}

uint64_t nsc_serve_idle_ns(struct nsc_serve *server)
{
    uint64_t idle;

    pthread_mutex_lock(&server->lock);
    idle = server->under_way != NULL ? 0 : nsc_now_ns() - server->asked_ns;
    pthread_mutex_unlock(&server->lock);
    return idle;
}

void nsc_serve_stop(struct nsc_serve *server)
{
    /* The library requires that no connection is suspended when it is stopped. Until then it may
     * submit further tasks, which the stopped workers cancel. */
    nsc_workers_stop(server->workers);
    if (server->daemon != NULL)
        server->mhd.stop_daemon(server->daemon);
    nsc_workers_free(server->workers);
    nsc_source_destroy(&server->source);
    nsc_connections_destroy(&server->links);
    pthread_mutex_destroy(&server->lock);
    free(server);
}
