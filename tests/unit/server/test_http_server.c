/* Tests the gate of an HTTP listener alone: which connections it accepts, their deadlines, and the syntax of a
 * request. */
#include "lib/base/clock.h"
#include "server/http_head.h"
#include "server/http_server.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALL_MS = 10000, LIMIT_MS = 400, LARGE = 16 << 20 };

TestSuite(server, .fini = leak_check, .timeout = 120);

/* --- handler --- */

/* A server for the tests. /wait waits until its client disconnects. /large sends more than any socket buffer holds.
 * Other paths answer "ok" after the body. */
struct stage {
    struct http_server *server;
    struct MHD_Connection *waits;
    atomic_uint waiting, gone, completed, bytes;
};

static const char BODY = 0; /* its address marks a request that has begun */

static enum MHD_Result answer(struct MHD_Connection *connection, size_t len, char *text, enum MHD_ResponseMemoryMode of)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(len, text, of);
    MHD_add_response_header(response, "Connection", "close");
    http_server_answer(connection);
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *bytes, size_t *len, void **request)
{
    struct stage *stage = ctx;
    (void)method, (void)version, (void)bytes;
    if (!*request) {
        *request = (void *)&BODY;
        return MHD_YES;
    }
    if (*len) {
        atomic_fetch_add(&stage->bytes, (unsigned)*len);
        *len = 0;
        return MHD_YES;
    }
    if (strcmp(url, "/large") == 0) return answer(connection, LARGE, g_malloc0(LARGE), MHD_RESPMEM_MUST_FREE);
    if (strcmp(url, "/wait") == 0 && !stage->waits) {
        stage->waits = connection;
        http_server_wait(connection, stage);
        MHD_suspend_connection(connection);
        atomic_fetch_add(&stage->waiting, 1);
        return MHD_YES;
    }
    return answer(connection, 2, "ok", MHD_RESPMEM_PERSISTENT);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection, (void)request, (void)code;
    atomic_fetch_add(&((struct stage *)ctx)->completed, 1);
}

static void on_gone(void *ctx, void *who)
{
    struct stage *stage = who;
    cr_expect_eq(who, ctx);
    atomic_fetch_add(&stage->gone, 1);
    MHD_resume_connection(stage->waits);
}

static void open_stage(struct stage *stage, uint32_t max_connections, uint32_t per_address, int64_t limit_ms)
{
    struct err err = {0};
    *stage = (struct stage){0};
    const struct http_server_config config = {
        .name = "http",
        .listen = "127.0.0.1:0",
        .max_connections = max_connections,
        .per_address = per_address,
        .head_bytes = 4096,
        .inspects_chunks = true,
        .limit_ms = {[HTTP_STAGE_HEAD] = limit_ms, [HTTP_STAGE_BODY] = limit_ms, [HTTP_STAGE_ANSWER] = limit_ms},
        .on_request = on_request,
        .on_completed = on_completed,
        .on_gone = on_gone,
        .ctx = stage};
    cr_assert_eq(http_server_open(&config, &stage->server, &err), ERR_OK, "%s", err.text);
}

/* --- clients --- */

/* Connects from 127.0.0.`host`. */
static int come(const struct stage *stage, unsigned host)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(http_server_port(stage->server)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {htonl((INADDR_LOOPBACK & 0xFFFFFF00U) + host)}};
    struct timeval limit = {CALL_MS / 1000, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    cr_assert_eq(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* Reads until the server ends the connection, which it must do. */
static GString *listen_to(int fd)
{
    char bytes[4096];
    GString *heard = g_string_new(NULL);
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0) g_string_append_len(heard, bytes, n);
    cr_expect(n == 0 || errno == ECONNRESET, "the connection is not closed: %s", heard->str);
    close(fd);
    return heard;
}

static bool is_open(int fd)
{
    struct pollfd look = {fd, POLLIN | POLLRDHUP, 0};
    return poll(&look, 1, 0) == 0;
}

static bool is_ended(void *fd)
{
    return !is_open(*(int *)fd);
}

static const char GET[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/* Makes a valid call. Returns its duration. */
static int64_t call_ns(const struct stage *stage, unsigned host)
{
    int64_t start = clock_now_ns();
    int fd = come(stage, host);
    say(fd, GET);
    GString *heard = listen_to(fd);
    cr_expect(g_str_has_prefix(heard->str, "HTTP/1.1 200 ") && g_str_has_suffix(heard->str, "ok"), "%s", heard->str);
    g_string_free(heard, TRUE);
    return clock_now_ns() - start;
}

/* --- request syntax --- */

/* Returns the bytes that the text of a case describes. */
static GString *bytes_of(const char *text)
{
    GString *bytes = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        static const char names[] = "rnt0\\", values[] = "\r\n\t\0\\";
        const char *name = *c == '\\' ? strchr(names, c[1]) : NULL;
        if (*c != '\\') {
            g_string_append_c(bytes, *c);
        } else if (c[1] == 'x') {
            g_string_append_c(bytes, (char)(g_ascii_xdigit_value(c[2]) * 16 + g_ascii_xdigit_value(c[3])));
            c += 3;
        } else {
            cr_assert(name && c[1], "%s", text);
            g_string_append_c(bytes, values[name - names]);
            c++;
        }
    }
    return bytes;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

static void expect_answer(const char *name, const char *want, const GString *heard)
{
    unsigned answers = count(heard->str, "HTTP/1.1 2") + count(heard->str, "HTTP/1.1 4");
    cr_expect_leq(answers, 1, "%s: %s", name, heard->str);
    if (strcmp(want, "any") == 0) return;
    bool bad = g_str_has_prefix(heard->str, "HTTP/1.1 400 ");
    if (strcmp(want, "none") == 0) {
        cr_expect(answers == 0 || bad, "%s: %s", name, heard->str);
        return;
    }
    char *start = g_strdup_printf("HTTP/1.1 %s ", want);
    cr_expect(g_str_has_prefix(heard->str, start), "%s: not %s: %s", name, want, heard->str);
    cr_expect(!bad || strstr(heard->str, "\"status\":400,\"code\":\"malformed\",\"detail\":\""), "%s: %s", name,
              heard->str);
    g_free(start);
}

static void run_case(const struct stage *stage, char *const *parts)
{
    GString *bytes = bytes_of(parts[2]);
    int fd = come(stage, 1);
    send(fd, bytes->str, bytes->len, MSG_NOSIGNAL);
    GString *heard = listen_to(fd);
    expect_answer(parts[0], parts[1], heard);
    g_string_free(heard, TRUE);
    g_string_free(bytes, TRUE);
}

/* Calls `run` with the name, the answer and the bytes of each case of the corpus. */
static unsigned for_cases(void (*run)(const struct stage *stage, char *const *parts), const struct stage *stage)
{
    gchar *text = NULL;
    unsigned n = 0;
    cr_assert(g_file_get_contents(SOURCE_ROOT "/tests/data/http/smuggling.txt", &text, NULL, NULL));
    gchar **lines = g_strsplit(text, "\n", -1);
    for (gchar **line = lines; *line; line++) {
        if (!**line || **line == '#') continue;
        gchar **parts = g_strsplit(*line, " | ", 3);
        cr_assert_eq(g_strv_length(parts), 3, "%s", *line);
        run(stage, parts);
        n++;
        g_strfreev(parts);
    }
    g_strfreev(lines);
    g_free(text);
    return n;
}

Test(server, smuggled_requests_get_one_answer)
{
    struct stage stage;
    open_stage(&stage, 64, 0, LIMIT_MS);
    cr_expect_gt(for_cases(run_case, &stage), 100);
    http_server_close(stage.server);
}

/* The outcome must be the same whether the bytes arrive one by one or all at once. A bad head must be refused before
 * its end. */
static enum head_state state_of(const char *bytes, size_t len, const char **why)
{
    enum head_state head = http_head_check(bytes, len, why);
    return head == HEAD_WHOLE ? http_body_check(bytes, len, why) : head;
}

static void check_prefixes(const struct stage *stage, char *const *parts)
{
    (void)stage;
    GString *bytes = bytes_of(parts[2]);
    const char *why;
    enum head_state state = state_of(bytes->str, bytes->len, &why);
    cr_expect_neq(state == HEAD_BAD, strcmp(parts[1], "400") != 0, "%s: %s", parts[0], why);
    cr_expect_eq(state == HEAD_BAD, why != NULL, "%s", parts[0]);
    for (size_t n = 0; n < bytes->len; n++) {
        char *copy = g_memdup2(bytes->str, n); /* an exact copy, so that a sanitizer detects a read past the end */
        enum head_state early = state_of(copy, n, &why);
        cr_expect(early == HEAD_PARTIAL || early == state, "%s: %d, then %d", parts[0], early, state);
        g_free(copy);
    }
    g_string_free(bytes, TRUE);
}

Test(server, split_head_gets_same_verdict)
{
    for_cases(check_prefixes, NULL);
}

Test(server, heads_are_bounded)
{
    struct stage stage;
    open_stage(&stage, 64, 0, CALL_MS);
    GString *head = g_string_new("GET / HTTP/1.1\r\nHost: a\r\n");
    for (unsigned i = 0; i < 100; i++) g_string_append_printf(head, "X%u: y\r\n", i);
    g_string_append(head, "\r\n");
    int fd = come(&stage, 1);
    say(fd, head->str);
    GString *heard = listen_to(fd);
    cr_expect(strstr(heard->str, "too many header fields"), "%s", heard->str);
    g_string_free(heard, TRUE);
    g_string_assign(head, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    while (head->len < 100000) g_string_append_c(head, 'y');
    fd = come(&stage, 1);
    say(fd, head->str);
    heard = listen_to(fd);
    cr_expect(heard->len == 0 || strstr(heard->str, "400 "), "%s", heard->str);
    g_string_free(heard, TRUE);
    g_string_free(head, TRUE);
    http_server_close(stage.server);
}

/* Sends the head of a request, a chunk of `size` letters in pieces, then `tail`. Returns the answer. */
static GString *send_chunk(const struct stage *stage, size_t size, const char *tail)
{
    int fd = come(stage, 1);
    char *start = g_strdup_printf("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n", size),
         *letters = g_strnfill(size, 'x');
    say(fd, start);
    for (size_t at = 0; at < size; at += 1000) send(fd, letters + at, MIN(size - at, 1000), MSG_NOSIGNAL);
    say(fd, "\r\n");
    say(fd, tail);
    g_free(letters);
    g_free(start);
    return listen_to(fd);
}

/* Tests bodies that fit into the bytes that the gate inspects first, and bodies that do not. */
Test(server, chunked_body_of_any_size_is_read)
{
    struct stage stage;
    open_stage(&stage, 64, 0, CALL_MS);
    for (size_t size = 1; size < (1 << 20); size *= 7) {
        atomic_store(&stage.bytes, 0);
        GString *heard = send_chunk(&stage, size, "3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n");
        cr_expect(g_str_has_suffix(heard->str, "ok"), "%zu: %s", size, heard->str);
        cr_expect_eq(atomic_load(&stage.bytes), size + 3, "%zu: %u", size, atomic_load(&stage.bytes));
        g_string_free(heard, TRUE);
        heard = send_chunk(&stage, size, "junk\r\n");
        cr_expect(g_str_has_prefix(heard->str, "HTTP/1.1 400 ") && !strstr(heard->str, "ok"), "%zu: %s", size,
                  heard->str);
        cr_expect(size > 3000 || strstr(heard->str, "application/problem+json"), "%zu: %s", size, heard->str);
        g_string_free(heard, TRUE);
    }
    http_server_close(stage.server);
}

Test(server, expect_header_gets_continue_for_chunked_body)
{
    struct stage stage;
    open_stage(&stage, 64, 0, CALL_MS);
    int fd = come(&stage, 1);
    char bytes[256];
    say(fd, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
    ssize_t n = recv(fd, bytes, sizeof bytes - 1, 0);
    cr_assert(n > 0);
    bytes[n] = '\0';
    cr_expect(g_str_has_prefix(bytes, "HTTP/1.1 100 "), "%s", bytes);
    say(fd, "2\r\nab\r\n0\r\n\r\n");
    GString *heard = listen_to(fd);
    cr_expect(g_str_has_suffix(heard->str, "ok"), "%s", heard->str);
    g_string_free(heard, TRUE);
    http_server_close(stage.server);
}

/* --- deadlines --- */

/* Sends `text` byte by byte until the server ends the connection. Returns the elapsed time. */
static int64_t drip_ns(int fd, const char *text)
{
    int64_t start = clock_now_ns();
    size_t len = strlen(text);
    for (size_t i = 0; is_open(fd) && clock_now_ns() - start < CALL_MS * INT64_C(1000000); i++) {
        struct pollfd pause = {fd, POLLIN | POLLRDHUP, 0};
        send(fd, i < len ? &text[i] : "x", 1, MSG_NOSIGNAL);
        poll(&pause, 1, LIMIT_MS / 10);
    }
    return clock_now_ns() - start;
}

static void expect_cut(struct stage *stage, const char *first, const char *drips)
{
    struct http_server_stats stats;
    int fd = come(stage, 1);
    say(fd, first);
    int64_t took = drip_ns(fd, drips) / 1000000;
    cr_expect(took >= LIMIT_MS / 2 && took < 10 * LIMIT_MS, "cut after %ld ms", (long)took);
    http_server_get_stats(stage->server, &stats);
    cr_expect_eq(stats.late, 1, "%lu", (unsigned long)stats.late);
    close(fd);
}

Test(server, slow_head_has_deadline)
{
    struct stage stage;
    open_stage(&stage, 64, 0, LIMIT_MS);
    expect_cut(&stage, "", "GET / HTTP/1.1\r\nHost: a\r\nX: ");
    http_server_close(stage.server);
}

Test(server, slow_body_has_deadline)
{
    struct stage stage;
    open_stage(&stage, 64, 0, LIMIT_MS);
    expect_cut(&stage, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n", "");
    cr_expect_gt(atomic_load(&stage.bytes), 0);
    http_server_close(stage.server);
    cr_expect_eq(atomic_load(&stage.completed), 1);
}

Test(server, slow_chunks_have_deadline)
{
    struct stage stage;
    open_stage(&stage, 64, 0, LIMIT_MS);
    expect_cut(&stage, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n", "");
    http_server_close(stage.server);
}

Test(server, truncated_chunked_body_frees_slot)
{
    struct stage stage;
    open_stage(&stage, 1, 0, CALL_MS);
    int fd = come(&stage, 1);
    say(fd, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
    shutdown(fd, SHUT_WR);
    GString *heard = listen_to(fd);
    cr_expect_eq(heard->len, 0, "%s", heard->str);
    g_string_free(heard, TRUE);
    http_server_close(stage.server);
}

static bool is_completed(void *stage)
{
    return atomic_load(&((struct stage *)stage)->completed) > 0;
}

Test(server, unread_answer_has_deadline)
{
    struct stage stage;
    open_stage(&stage, 64, 0, LIMIT_MS);
    int fd = come(&stage, 1);
    say(fd, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    cr_expect(wait_until(is_completed, &stage, CALL_MS), "it is still being answered");
    http_server_close(stage.server);
    close(fd);
}

/* A client may close its sending side and still read. The server must keep the connection until it has answered. */
Test(server, half_closed_client_is_answered)
{
    struct stage stage;
    open_stage(&stage, 64, 0, CALL_MS);
    int fd = come(&stage, 1);
    say(fd, GET);
    shutdown(fd, SHUT_WR);
    GString *heard = listen_to(fd);
    cr_expect(g_str_has_suffix(heard->str, "ok"), "%s", heard->str);
    g_string_free(heard, TRUE);
    http_server_close(stage.server);
}

static bool is_waiting(void *stage)
{
    return atomic_load(&((struct stage *)stage)->waiting) > 0;
}

static bool is_gone(void *stage)
{
    return atomic_load(&((struct stage *)stage)->gone) > 0;
}

Test(server, waiter_has_no_deadline_and_ends_with_client)
{
    struct stage stage;
    open_stage(&stage, 1, 1, LIMIT_MS);
    int fd = come(&stage, 1), other = -1;
    say(fd, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    cr_assert(wait_until(is_waiting, &stage, CALL_MS));
    int64_t start = clock_now_ns();
    /* others connect and are cut off; this connection stays */
    while (clock_now_ns() - start < 2 * LIMIT_MS * INT64_C(1000000)) {
        if (other < 0) other = come(&stage, 1);
        if (!is_open(other)) close(other), other = -1;
    }
    cr_expect(is_open(fd) && !is_gone(&stage));
    close(fd);
    cr_expect(wait_until(is_gone, &stage, CALL_MS), "nobody noticed");
    cr_expect(wait_until(is_completed, &stage, CALL_MS));
    if (other >= 0) close(other);
    http_server_close(stage.server);
}

/* --- crowds --- */

Test(server, oldest_connection_of_address_is_evicted)
{
    enum { N = 10, CAP = 4 };
    struct stage stage;
    int fds[N];
    open_stage(&stage, 64, CAP, CALL_MS);
    int neighbour = come(&stage, 2);
    for (unsigned i = 0; i < N; i++) {
        fds[i] = come(&stage, 1);
        say(fds[i], "G");
        if (i >= CAP) cr_expect(wait_until(is_ended, &fds[i - CAP], CALL_MS), "%u stays", i - CAP);
    }
    for (unsigned i = N - CAP; i < N; i++) cr_expect(is_open(fds[i]), "%u is gone", i);
    cr_expect(is_open(neighbour), "an address pays for another");
    cr_expect_lt(call_ns(&stage, 1), 1000000000LL);
    for (unsigned i = 0; i < N; i++) close(fds[i]);
    close(neighbour);
    http_server_close(stage.server);
}

/* There are five times as many connections as slots, of all kinds that are cheap for their clients. A valid caller must
 * not be delayed, whether it has the address of these clients or another one. */
Test(server, many_connections_do_not_block_others)
{
    enum { N = 300, PLACES = 60, CALLS = 50 };
    static const char *const kinds[] = {"", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
                                        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", "\r"};
    struct stage stage;
    struct http_server_stats stats;
    int fds[N];
    open_stage(&stage, PLACES, 0, CALL_MS);
    for (unsigned i = 0; i < N; i++) {
        fds[i] = come(&stage, 1 + i % 50);
        say(fds[i], kinds[i % G_N_ELEMENTS(kinds)]);
    }
    int64_t longest = 0;
    for (unsigned i = 0; i < CALLS; i++) longest = MAX(longest, call_ns(&stage, i % 2 ? 200 : 1));
    cr_expect_lt(longest, 1000000000LL, "%.1f ms", (double)longest / 1e6);
    http_server_get_stats(stage.server, &stats);
    cr_expect_gt(stats.crowded, 0);
    for (unsigned i = 0; i < N; i++) close(fds[i]);
    http_server_close(stage.server);
}

Test(server, stuck_connections_are_evicted_without_descriptors)
{
    enum { N = 40 };
    struct stage stage;
    int fds[N], filler[4096], n_fillers = 0;
    open_stage(&stage, 4000, 0, CALL_MS);
    for (unsigned i = 0; i < N; i++) say(fds[i] = come(&stage, 1), "G");
    call_ns(&stage, 1); /* returns once the others are accepted */
    int caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)fds[N - 1] + 2 * N;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (n_fillers < 4096 && (filler[n_fillers] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) n_fillers++;
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(http_server_port(stage.server)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    cr_assert_eq(connect(caller, (struct sockaddr *)&at, sizeof at), 0);
    say(caller, GET);
    GString *heard = listen_to(caller);
    cr_expect(g_str_has_suffix(heard->str, "ok"), "%s", heard->str);
    g_string_free(heard, TRUE);
    while (n_fillers) close(filler[--n_fillers]);
    for (unsigned i = 0; i < N; i++) close(fds[i]);
    http_server_close(stage.server);
}

/* --- shutdown --- */

Test(server, server_closes_with_clients_at_every_stage)
{
    struct stage stage;
    open_stage(&stage, 64, 0, CALL_MS);
    int head = come(&stage, 1), body = come(&stage, 1), reader = come(&stage, 1), refused = come(&stage, 1);
    say(head, "GET");
    say(body, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab");
    say(reader, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    say(refused, "\n");
    call_ns(&stage, 1);
    int64_t start = clock_now_ns();
    http_server_quiesce(stage.server);
    http_server_close(stage.server);
    cr_expect_lt(clock_now_ns() - start, 3000000000LL);
    int all[] = {head, body, reader, refused};
    for (unsigned i = 0; i < 4; i++) close(all[i]);
}
