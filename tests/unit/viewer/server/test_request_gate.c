/* test_request_gate.c - which requests the viewer's server lets in. */
#include "tap.h"
#include "viewer/server/request_gate.h"

static struct sockaddr_in server;
static struct nsc_gate gate;
static char cookie[128];

/* A request as our own page makes it. */
static struct nsc_gate_request good(const char *target)
{
    return (struct nsc_gate_request){
        .method = "GET",
        .target = target,
        .host = "127.9.8.7:4711",
        .fetch_site = "same-origin",
        .cookie = cookie,
    };
}

static enum nsc_gate_verdict judge(struct nsc_gate_request request)
{
    return nsc_gate_judge(&gate, &request);
}

#define WITH(member, value)                                                                        \
    (__extension__({                                                                               \
        struct nsc_gate_request r_ = good("/api/trace");                                           \
        r_.member = (value);                                                                       \
        judge(r_);                                                                                 \
    }))

static void test_secrets(void)
{
    struct nsc_gate other;

    CHECK(nsc_gate_init(&other, &server) == 0);
    CHECK(strlen(gate.token) == 32 && strspn(gate.token, "0123456789abcdef") == 32);
    CHECK(strlen(gate.cookie) == 32 && strspn(gate.cookie, "0123456789abcdef") == 32);
    CHECK(strcmp(gate.token, gate.cookie) != 0);
    CHECK(strcmp(gate.token, other.token) != 0 && strcmp(gate.cookie, other.cookie) != 0);
    CHECK(nsc_gate_is_token(&gate, gate.token, 32));
    CHECK(!nsc_gate_is_token(&gate, gate.token, 31));
    CHECK(!nsc_gate_is_token(&gate, gate.token, 33));
    CHECK(!nsc_gate_is_token(&gate, gate.token, 0));
    CHECK(!nsc_gate_is_token(&gate, gate.cookie, 32));
    CHECK(!nsc_gate_is_token(&gate, other.token, 32));
}

static void test_paths(void)
{
    struct nsc_gate_request login = good("/login");

    CHECK(judge(good("/api/trace")) == NSC_GATE_DATA);
    CHECK(judge(good("/api/tiles?zoom=1")) == NSC_GATE_DATA);
    CHECK(judge(good("/ping")) == NSC_GATE_DATA);
    CHECK(judge(good("/")) == NSC_GATE_FILE);
    CHECK(judge(good("/app.js")) == NSC_GATE_FILE);
    CHECK(judge(good("/pingpong")) == NSC_GATE_FILE);
    CHECK(judge(good("http://127.9.8.7:4711/api/trace")) == NSC_GATE_FORBIDDEN);
    CHECK(judge(good("")) == NSC_GATE_FORBIDDEN);
    CHECK(judge(good("*")) == NSC_GATE_FORBIDDEN);
    login.method = "POST";
    login.cookie = NULL;
    CHECK(judge(login) == NSC_GATE_LOGIN);
    login.method = "GET";
    CHECK(judge(login) == NSC_GATE_BAD_METHOD);
}

static void test_methods(void)
{
    static const char *const others[] = {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get", ""};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(WITH(method, others[i]) == NSC_GATE_BAD_METHOD);
}

static void test_hosts(void)
{
    static const char *const foreign[] = {
        "127.9.8.7", "127.9.8.7:4712", "127.9.8.7:47110", "evil.example", "localhost",
        "evil.example:4711", "127.9.8.7:4711.", "127.9.8.7:4711 ", "", "[::1]:4711", NULL,
        /* Other names of this machine: other users can listen there. */
        "localhost:4711", "127.0.0.1:4711", "127.9.8.8:4711"};

    CHECK_STR(gate.host, "127.9.8.7:4711");
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        CHECK(WITH(host, foreign[i]) == NSC_GATE_FORBIDDEN);
    CHECK(WITH(repeated, true) == NSC_GATE_FORBIDDEN);
}

static void test_origins(void)
{
    static const char *const foreign[] = {
        "http://evil.example",    "null", "https://127.9.8.7:4711", "http://127.9.8.7:4712",
        "http://localhost:4711", /* a different origin than the one the request goes to */
        "http://127.9.8.7:4711/", "",     "127.9.8.7:4711"};
    struct nsc_gate_request page = good("/");

    CHECK(WITH(origin, "http://127.9.8.7:4711") == NSC_GATE_DATA);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        CHECK(WITH(origin, foreign[i]) == NSC_GATE_FORBIDDEN);
    CHECK(WITH(fetch_site, NULL) == NSC_GATE_DATA);
    CHECK(WITH(fetch_site, "none") == NSC_GATE_DATA);
    CHECK(WITH(fetch_site, "cross-site") == NSC_GATE_FORBIDDEN);
    CHECK(WITH(fetch_site, "same-site") == NSC_GATE_FORBIDDEN);
    CHECK(WITH(fetch_site, "") == NSC_GATE_FORBIDDEN);
    page.fetch_site = "cross-site";
    CHECK(judge(page) == NSC_GATE_FORBIDDEN);
}

/* The page of one address may be reached from another site; nothing else may. */
static void test_entry(void)
{
    struct nsc_gate_request page = good(gate.entry);
    char text[128];

    CHECK(strlen(gate.entry) == 7 + 32 && strncmp(gate.entry, "/?open=", 7) == 0);
    CHECK(strcmp(gate.entry + 7, gate.token) != 0 && strcmp(gate.entry + 7, gate.cookie) != 0);
    page.cookie = NULL;
    for (const char *const *site = (const char *const[]){"cross-site", "same-site", NULL};
         *site != NULL; site++) {
        page.fetch_site = *site;
        page.target = gate.entry;
        CHECK(judge(page) == NSC_GATE_FILE);
        for (const char *const *other = (const char *const[]){"/?open=", "/", "/app.js", "/ping",
                                                              "/api/trace", "/login", "", NULL};
             *other != NULL; other++) {
            page.target = *other;
            CHECK(judge(page) == NSC_GATE_FORBIDDEN);
            snprintf(text, sizeof text, "%s%s", *other, gate.entry + 1);
            page.target = text;
            CHECK(judge(page) == (strcmp(*other, "/") == 0 ? NSC_GATE_FILE : NSC_GATE_FORBIDDEN));
        }
        snprintf(text, sizeof text, "%s0", gate.entry);
        page.target = text;
        CHECK(judge(page) == NSC_GATE_FORBIDDEN);
        snprintf(text, sizeof text, "%s", gate.entry);
        text[38] ^= 1;
        CHECK(judge(page) == NSC_GATE_FORBIDDEN);
    }
    page.target = gate.entry;
    page.origin = "null";
    CHECK(judge(page) == NSC_GATE_FORBIDDEN);
    page.origin = NULL;
    page.method = "POST";
    CHECK(judge(page) == NSC_GATE_BAD_METHOD);
    page.method = "GET";
    page.host = "evil.example:4711";
    CHECK(judge(page) == NSC_GATE_FORBIDDEN);
}

/* The cookie's field: the first @bytes of the secret between two texts. */
static enum nsc_gate_verdict with_cookie(const char *before, int bytes, const char *after)
{
    char text[512];

    snprintf(text, sizeof text, "%s%.*s%s", before, bytes, gate.cookie, after);
    return WITH(cookie, text);
}

static void test_cookies(void)
{
    CHECK(with_cookie("nanoscope-4711=", 32, "") == NSC_GATE_DATA);
    CHECK(with_cookie("a=b; nanoscope-4711=", 32, "; c=d") == NSC_GATE_DATA);
    CHECK(with_cookie("nanoscope-4711=0; nanoscope-4711=", 32, "") == NSC_GATE_DATA);
    CHECK(with_cookie("nanoscope-4712=", 32, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("xnanoscope-4711=", 32, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("nanoscope-4711=", 32, "0") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("nanoscope-4711=\"", 32, "\"") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("nanoscope-4711= ", 32, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("nanoscope-4711=", 31, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("nanoscope-4711=", 0, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie(";;;", 0, "") == NSC_GATE_FORBIDDEN);
    CHECK(with_cookie("", 0, "") == NSC_GATE_FORBIDDEN);
    CHECK(WITH(cookie, NULL) == NSC_GATE_FORBIDDEN);
    CHECK(WITH(cookie, gate.token) == NSC_GATE_FORBIDDEN);
}

int main(void)
{
    server.sin_port = htons(4711);
    server.sin_addr.s_addr = htonl(0x7f090807);
    CHECK(nsc_gate_init(&gate, &server) == 0);
    snprintf(cookie, sizeof cookie, "nanoscope-4711=%s", gate.cookie);
    test_secrets();
    test_paths();
    test_methods();
    test_hosts();
    test_origins();
    test_entry();
    test_cookies();
    return t_done();
}
