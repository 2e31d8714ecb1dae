/* Sends requests to every route of assay serve. Their bytes are those that a browser sends for a page of another
 * origin. tests/clients/page/gate.mjs does this in a real browser. */
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 30000, ANSWER_S = 30 };

static int port;
static pid_t server;

static bool has_port(void *ctx)
{
    char *log = read_file(".err");
    const char *at = log ? strstr(log, "\"port\":") : NULL;
    if (at) port = atoi(at + strlen("\"port\":"));
    g_free(log);
    (void)ctx;
    return at != NULL;
}

static void begin(void)
{
    struct made made = {.questions = 100, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};
    const char *args[] = {
        "serve", "--db-root=.", "--http=127.0.0.1:0", "--log-form=json", "--runs=shop", "--predictor=predictor", NULL};
    scratch_begin();
    made_predictor("predictor", &made);
    server = assay_start(args);
    cr_assert(wait_until(has_port, NULL, START_MS), "it does not listen: %s", read_file(".err"));
}

static void end(void)
{
    int status;
    kill(server, SIGTERM);
    cr_assert_eq(waitpid(server, &status, 0), server);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x %s", (unsigned)status, read_file(".err"));
    scratch_end();
}

TestSuite(serve_gate, .init = begin, .fini = end, .timeout = 120);

/* --- requests --- */

#define JSON   "application/json"
#define NDJSON "application/x-ndjson"
#define BYTES  "application/octet-stream"

static const struct {
    const char *method, *path, *type;
} routes[] = {{"GET", "/", NULL},
              {"GET", "/page/app.js", NULL},
              {"GET", "/openapi.json", NULL},
              {"GET", "/v1/databases", NULL},
              {"GET", "/v1/databases/shop", NULL},
              {"GET", "/v1/metrics", NULL},
              {"GET", "/v1/verdicts/stolen", NULL},
              {"GET", "/v1/runs", NULL},
              {"GET", "/v1/runs/x", NULL},
              {"GET", "/nothing", NULL},
              {"OPTIONS", "/v1/judge", NULL},
              {"HEAD", "/v1/databases", NULL},
              {"POST", "/v1/judge", JSON},
              {"POST", "/v1/batch", NDJSON},
              {"POST", "/v1/verdicts/stolen/answers", JSON},
              {"POST", "/v1/linkings", BYTES},
              {"POST", "/v1/runs", NDJSON},
              {"POST", "/mcp", JSON}};

static const char body[] = "{\"id\":\"stolen\",\"db\":\"shop\",\"question\":\"How many customers are there?\","
                           "\"candidates\":[\"SELECT count(*) FROM customer\"]}";

/* Returns the whole response. `fields` has further header fields, each with its CRLF. `host` NULL means the server's
 * own host. */
static char *exchange(const char *method, const char *path, const char *host, const char *type, const char *fields)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval limit = {ANSWER_S, 0};
    GString *request = g_string_new(NULL), *response = g_string_new(NULL);
    char bytes[4096];
    ssize_t n;
    bool posts = strcmp(method, "POST") == 0;
    g_string_append_printf(request, "%s %s HTTP/1.1\r\n", method, path);
    if (host)
        g_string_append_printf(request, "Host: %s\r\n", host);
    else
        g_string_append_printf(request, "Host: 127.0.0.1:%d\r\n", port);
    if (type) g_string_append_printf(request, "Content-Type: %s\r\n", type);
    if (posts) g_string_append_printf(request, "Content-Length: %zu\r\n", strlen(body));
    g_string_append_printf(request, "%s\r\n%s", fields ? fields : "", posts ? body : "");
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    send(fd, request->str, request->len, MSG_NOSIGNAL);
    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0) g_string_append_len(response, bytes, n);
    close(fd);
    g_string_free(request, TRUE);
    return g_string_free(response, FALSE);
}

static int status_of(const char *response)
{
    return g_str_has_prefix(response, "HTTP/1.1 ") ? atoi(response + strlen("HTTP/1.1 ")) : 0;
}

/* Checks the header fields that protect every response. */
static void expect_fields(const char *response, const char *what)
{
    cr_expect(strstr(response, "\r\nX-Content-Type-Options: nosniff\r\n"), "%s: %s", what, response);
    cr_expect(strstr(response, "\r\nCross-Origin-Resource-Policy: same-origin\r\n"), "%s: %s", what, response);
    cr_expect_null(strstr(response, "Access-Control-"), "%s: %s", what, response);
}

/* With `want` 0 any status except 403, 415 and 421 is accepted. */
static void expect_status(unsigned route, const char *host, const char *type, const char *fields, int want)
{
    char *response = exchange(routes[route].method, routes[route].path, host, type, fields);
    char *what = g_strdup_printf("%s %s, Host %s, type %s, %s", routes[route].method, routes[route].path,
                                 host ? host : "own", type ? type : "none", fields ? fields : "nothing more");
    int got = status_of(response);
    bool passed = got && got != 403 && got != 415 && got != 421;
    cr_expect(want ? got == want : passed, "%s: %d: %s", what, got, response);
    expect_fields(response, what);
    if (want >= 400 && strcmp(routes[route].method, "HEAD") != 0)
        cr_expect(strstr(response, "application/problem+json"), "%s: %s", what, response);
    g_free(what);
    g_free(response);
}

static void expect_nothing_stored(void)
{
    char *response = exchange("GET", "/v1/verdicts/stolen", NULL, NULL, NULL);
    cr_expect_eq(status_of(response), 404, "%s", response);
    g_free(response);
}

/* --- tests --- */

Test(serve_gate, foreign_pages_are_refused_on_every_route)
{
    char *other_port = g_strdup_printf("Origin: http://127.0.0.1:%d\r\n", port + 1),
         *other_name = g_strdup_printf("Origin: http://localhost:%d\r\n", port),
         *other_scheme = g_strdup_printf("Origin: https://127.0.0.1:%d\r\n", port);
    const char *const fields[] = {
        "Origin: https://evil.example\r\n",
        "Origin: null\r\n",
        other_port,
        other_name,
        other_scheme,
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
        "Sec-Fetch-Site: same-origin\r\nOrigin: https://evil.example\r\n"};
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(fields); k++) expect_status(i, NULL, routes[i].type, fields[k], 403);
    expect_nothing_stored();
    g_free(other_port);
    g_free(other_name);
    g_free(other_scheme);
}

Test(serve_gate, own_page_and_programs_are_accepted)
{
    char *own = g_strdup_printf("Origin: http://127.0.0.1:%d\r\nSec-Fetch-Site: same-origin\r\n", port);
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++) {
        expect_status(i, NULL, routes[i].type, NULL, 0);
        expect_status(i, NULL, routes[i].type, own, 0);
        expect_status(i, NULL, routes[i].type, "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", 0);
    }
    g_free(own);
}

/* Another site may link to the page, because the page itself contains no data. */
Test(serve_gate, links_open_only_the_page)
{
    static const char link[] = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++)
        expect_status(i, NULL, routes[i].type, link, strcmp(routes[i].path, "/") == 0 ? 200 : 403);
    expect_nothing_stored();
}

Test(serve_gate, other_hosts_are_refused_on_every_route)
{
    static const struct {
        const char *host;
        int status;
    } rows[] = {{"evil.example", 421},
                {"localhost.evil.example", 421},
                {"127.0.0.2", 421},
                {"localhost:junk", 400},
                {"localhost:", 400},
                {"localhost:80:80", 400},
                {"evil.example@localhost", 400},
                {"localhost.", 400},
                {"localhost,evil.example", 400},
                {"", 400}};
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(rows); k++)
            expect_status(i, rows[k].host, routes[i].type, NULL, rows[k].status);
    expect_nothing_stored();
}

Test(serve_gate, bodies_of_other_types_are_refused)
{
    static const char *const types[] = {NULL,
                                        "application/x-www-form-urlencoded",
                                        "multipart/form-data; boundary=x",
                                        "text/plain",
                                        "text/plain;application/json",
                                        "application/jsonx",
                                        JSON,
                                        NDJSON,
                                        BYTES};
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++) {
        if (!routes[i].type) continue;
        for (unsigned k = 0; k < G_N_ELEMENTS(types); k++)
            if (g_strcmp0(types[k], routes[i].type) != 0) expect_status(i, NULL, types[k], NULL, 415);
    }
    expect_nothing_stored();
    char *response = exchange("POST", "/v1/judge", NULL, "text/plain", NULL);
    cr_expect(strstr(response, "send the body with Content-Type: application/json"), "%s", response);
    g_free(response);
    response = exchange("POST", "/v1/judge", NULL, "application/json; charset=utf-8", NULL);
    cr_expect_eq(status_of(response), 200, "%s", response);
    g_free(response);
}

Test(serve_gate, repeated_fields_are_refused)
{
    static const char *const fields[] = {"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
                                         "authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n",
                                         "Host: localhost\r\n",
                                         "Origin: null\r\nOrigin: null\r\n",
                                         "Sec-Fetch-Site: none\r\nSec-Fetch-Site: none\r\n",
                                         "Content-Length: 5\r\nContent-Length: 5\r\n",
                                         "Content-Type: application/json\r\nContent-Type: application/json\r\n",
                                         "Mcp-Method: ping\r\nMcp-Method: tools/call\r\n"};
    for (unsigned i = 0; i < G_N_ELEMENTS(routes); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(fields); k++) expect_status(i, NULL, routes[i].type, fields[k], 400);
    expect_nothing_stored();
}

/* A regression: an escaped NUL ended the name, so /v1/databases/shop%00x was answered as shop. */
Test(serve_gate, escaped_control_characters_are_refused)
{
    static const struct {
        const char *method, *path, *type;
    } rows[] = {{"GET", "/v1/databases/shop%00x", NULL},
                {"GET", "/v1/databases/shop%00", NULL},
                {"GET", "/v1/databases/%0Ashop", NULL},
                {"GET", "/v1/databases/shop%7F", NULL},
                {"GET", "/v1/databases/shop%1fx", NULL},
                {"GET", "/%00", NULL},
                {"GET", "/page/app.js%00.png", NULL},
                {"GET", "/v1/verdicts/stolen%00x", NULL},
                {"GET", "/v1/metrics%00", NULL},
                {"GET", "/v1/runs/x%00/verdicts", NULL},
                {"GET", "/v1/runs/x/verdicts?status=failed%00x", NULL},
                {"GET", "/v1/databases?%00", NULL},
                {"POST", "/v1/judge?wait_ms=10%00", JSON},
                {"POST", "/v1/judge?wait_ms%00x=10", JSON},
                {"POST", "/v1/batch?order=done%00x", NDJSON},
                {"POST", "/v1/runs?name=x%0d%0ay", NDJSON},
                {"POST", "/v1/verdicts/stolen%00x/answers", JSON},
                {"POST", "/mcp%00", JSON}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *response = exchange(rows[i].method, rows[i].path, NULL, rows[i].type, NULL);
        cr_expect(status_of(response) == 400 && strstr(response, "an encoded control character"), "%s: %s",
                  rows[i].path, response);
        g_free(response);
    }
    expect_nothing_stored();
    char *response = exchange("GET", "/v1/databases/%73hop?x=%C3%A4+%zz%", NULL, NULL, NULL);
    cr_expect(status_of(response) == 200 && strstr(response, "\"tables\""), "%s", response);
    g_free(response);
}
