/*
 * fuzz_request_gate.c - the head of a request: only one that shows the cookie, and comes from us,
 * is data. Input: method, target, host, origin, site and cookie, a line each; "@" stands for the
 * cookie.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/server/request_gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line of *@at, in memory of its own so that reading past it is seen; NULL if it is empty.
 */
static char *take_line(const char **at, size_t *left)
{
    const char *end = *left > 0 ? memchr(*at, '\n', *left) : NULL;
    size_t length = end != NULL ? (size_t)(end - *at) : *left;
    char *line = length > 0 ? strndup(*at, length) : NULL;

    *at += length + (end != NULL);
    *left -= length + (end != NULL);
    return line;
}

/* Put the cookie where the first "@" is. */
static char *with_secret(char *text, const struct nsc_gate *gate)
{
    char *at = text != NULL ? strchr(text, '@') : NULL, *made;
    size_t before;

    if (at == NULL)
        return text;
    before = (size_t)(at - text);
    made = malloc(strlen(text) + NSC_GATE_SECRET_CHARS + 1);
    if (made == NULL)
        abort();
    memcpy(made, text, before);
    strcpy(made + before, gate->cookie);
    strcat(made, at + 1);
    free(text);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nsc_gate gate;
    const struct sockaddr_in server = {.sin_port = htons(4711),
                                       .sin_addr.s_addr = htonl(0x7f090807)};
    const char *at = (const char *)data;
    char *lines[6];
    struct nsc_gate_request request;

    if (gate.token[0] == '\0' && nsc_gate_init(&gate, &server) != 0)
        abort();
    for (size_t i = 0; i < 6; i++)
        lines[i] = take_line(&at, &size);
    lines[5] = with_secret(lines[5], &gate);
    request = (struct nsc_gate_request){.method = lines[0] != NULL ? lines[0] : "GET",
                                        .target = lines[1] != NULL ? lines[1] : "/api/trace",
                                        .host = lines[2],
                                        .origin = lines[3],
                                        .fetch_site = lines[4],
                                        .cookie = lines[5]};
    if (nsc_gate_judge(&gate, &request) == NSC_GATE_DATA &&
        (request.cookie == NULL || strstr(request.cookie, gate.cookie) == NULL ||
         request.host == NULL || strcmp(request.host, "127.9.8.7:4711") != 0 ||
         strcmp(request.method, "GET") != 0))
        abort();
    if (request.fetch_site != NULL && strstr(request.fetch_site, "-site") != NULL &&
        strcmp(request.target, gate.entry) != 0 &&
        nsc_gate_judge(&gate, &request) != NSC_GATE_FORBIDDEN)
        abort();
    for (size_t i = 0; i < 6; i++)
        free(lines[i]);
    return 0;
}
