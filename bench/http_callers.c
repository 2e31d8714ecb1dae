/* Callers of `assay serve` in a closed loop, for bench/serve.py. They use little CPU time, which leaves the processors
 * to the server.
 *
 *   bench_http_callers PORT CALLERS < REQUESTS
 *
 * Each of CALLERS threads sends the next line of standard input as POST /v1/judge over its own connection, and reads
 * the reply to its end. Prints the seconds of the whole run, and then a line with the milliseconds of each request. Any
 * status but 200 ends the program. */
#include "lib/base/clock.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES = 4 << 20 };

struct request {
    char *bytes; /* the whole HTTP request */
    size_t len;
    double ms;
};

static struct sockaddr_in server = {.sin_family = AF_INET};
static GArray *requests;
static atomic_uint next;

static void fail(const char *what, const char *answer)
{
    fprintf(stderr, "bench_http_callers: %s %.200s\n", what, answer);
    exit(2);
}

static void call(struct request *request, char *answer)
{
    size_t len = 0;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fd < 0 || connect(fd, (struct sockaddr *)&server, sizeof server)) fail("cannot connect", "");
    for (size_t sent = 0; sent < request->len;) {
        ssize_t n = send(fd, request->bytes + sent, request->len - sent, MSG_NOSIGNAL);
        if (n <= 0) fail("cannot send", "");
        sent += (size_t)n;
    }
    for (ssize_t n = 1; n > 0 && len < ANSWER_BYTES;) {
        n = recv(fd, answer + len, ANSWER_BYTES - len, 0);
        len += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    answer[len] = '\0';
    if (strncmp(answer, "HTTP/1.1 200 ", 13) != 0) fail("no verdict:", answer);
}

static void *run(void *arg)
{
    char *answer = g_malloc(ANSWER_BYTES + 1);
    for (unsigned i; (i = atomic_fetch_add(&next, 1)) < requests->len;) {
        struct request *request = &g_array_index(requests, struct request, i);
        int64_t began = clock_now_ns();
        call(request, answer);
        request->ms = (double)(clock_now_ns() - began) / 1e6;
    }
    g_free(answer);
    return arg;
}

static void read_requests(void)
{
    char *line = NULL;
    size_t room = 0;
    requests = g_array_new(FALSE, FALSE, sizeof(struct request));
    for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
        struct request request = {0};
        request.bytes = g_strdup_printf("POST /v1/judge HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                                        "application/json\r\nContent-Length: %zd\r\n\r\n%s",
                                        len, line);
        request.len = strlen(request.bytes);
        g_array_append_val(requests, request);
    }
    free(line);
}

int main(int argc, char **argv)
{
    unsigned n = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
    if (!n) fail("usage: PORT CALLERS < REQUESTS", "");
    server.sin_port = htons((uint16_t)atoi(argv[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    read_requests();
    GThread **callers = g_new(GThread *, n);
    int64_t began = clock_now_ns();
    for (unsigned i = 0; i < n; i++) callers[i] = g_thread_new("caller", run, NULL);
    for (unsigned i = 0; i < n; i++) g_thread_join(callers[i]);
    printf("%.6f\n", (double)(clock_now_ns() - began) / 1e9);
    for (guint i = 0; i < requests->len; i++) {
        printf("%.3f\n", g_array_index(requests, struct request, i).ms);
        g_free(g_array_index(requests, struct request, i).bytes);
    }
    g_array_free(requests, TRUE);
    g_free(callers);
    return 0;
}
