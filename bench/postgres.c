/* Compares the time of a statement in the sandbox with that of the bare statement through libpq. The two alternate, on
 * two connections to one server.
 *
 *   bench_postgres DSN [N] [DELAY_MS]
 *
 * A relay in front of the server adds DELAY_MS to each round trip of both. Prints both medians, their ratio, and the
 * client's CPU time for a statement. */
#include "lib/base/clock.h"
#include "lib/db/db.h"

#include <arpa/inet.h>
#include <glib.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static const char sql[] = "SELECT n, 'a' || n FROM generate_series(1, 10) AS n";

/* --- a slower connection ------------------------------------------------------------------------------------------ */

static int64_t delay_us;
static uint16_t server_port;

static bool pass_on(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);
    return n > 0 && send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Relays one connection. Only replies are delayed, so that messages sent without waiting arrive at once. */
static void *relay(void *arg)
{
    int client = GPOINTER_TO_INT(arg), server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(server_port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct pollfd ends[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bool open = connect(server, (struct sockaddr *)&at, sizeof at) == 0;
    int64_t due_ns = 0; /* time at which to forward the reply to the last message */
    while (open && poll(ends, 2, -1) > 0) {
        if (ends[0].revents) {
            due_ns = clock_now_ns() + delay_us * 1000;
            open = pass_on(client, server);
        } else if (ends[1].revents) {
            int64_t left_ns = due_ns - clock_now_ns();
            if (left_ns > 0) usleep((useconds_t)(left_ns / 1000));
            open = pass_on(server, client);
        }
    }
    close(client);
    close(server);
    return NULL;
}

static void *take_connections(void *arg)
{
    pthread_t thread;
    for (int fd; (fd = accept(GPOINTER_TO_INT(arg), NULL, NULL)) >= 0;)
        if (pthread_create(&thread, NULL, relay, GINT_TO_POINTER(fd)) == 0) pthread_detach(thread);
    return NULL;
}

static uint16_t open_relay(const char *dsn)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    pthread_t thread;
    PGconn *conn = PQconnectdb(dsn);
    server_port = (uint16_t)atoi(PQport(conn));
    PQfinish(conn);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 8)) exit(2);
    getsockname(fd, (struct sockaddr *)&at, &len);
    pthread_create(&thread, NULL, take_connections, GINT_TO_POINTER(fd));
    return ntohs(at.sin_port);
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static double cpu_us(void)
{
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static void die(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(2);
}

static void run_bare(PGconn *conn)
{
    PGresult *result = PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0);
    if (PQntuples(result) != 10) die(PQerrorMessage(conn));
    PQclear(result);
}

static void run_held(struct db *db, struct arena *arena)
{
    struct db_result result;
    struct err err = {0};
    arena_reset(arena);
    if (db_query(db, arena, sql, strlen(sql), NULL, 0, 0, &result, &err) || result.n_rows != 10) die(err.text);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 2) die("bench_postgres DSN [N] [DELAY_MS]");
    int n = argc > 2 ? atoi(argv[2]) : 2000;
    delay_us = argc > 3 ? (int64_t)(atof(argv[3]) * 1000) : 0;
    char *dsn =
        delay_us ? g_strdup_printf("%s host=127.0.0.1 port=%d", argv[1], open_relay(argv[1])) : g_strdup(argv[1]);
    struct db *db;
    struct err err = {0};
    struct arena arena;
    PGconn *conn = PQconnectdb(dsn);
    if (PQstatus(conn) != CONNECTION_OK) die(PQerrorMessage(conn));
    if (db_open(dsn, NULL, &db, &err)) die(err.text);
    arena_init(&arena, (size_t)64 << 20);
    double *bare = g_new(double, (gsize)n), *held = g_new(double, (gsize)n), bare_cpu = 0, held_cpu = 0;
    for (int i = -20; i < n; i++) {
        int64_t start = clock_now_ns();
        double cpu = cpu_us();
        run_bare(conn);
        int64_t middle = clock_now_ns();
        double middle_cpu = cpu_us();
        run_held(db, &arena);
        if (i < 0) continue;
        bare[i] = (double)(middle - start) / 1e3;
        held[i] = (double)(clock_now_ns() - middle) / 1e3;
        bare_cpu += middle_cpu - cpu;
        held_cpu += cpu_us() - middle_cpu;
    }
    qsort(bare, (size_t)n, sizeof *bare, compare);
    qsort(held, (size_t)n, sizeof *held, compare);
    printf("%d statements, %.1f ms a round trip: bare %.0f us (CPU %.0f), in the sandbox %.0f us (CPU %.0f), %.1fx\n",
           n, (double)delay_us / 1e3, bare[n / 2], bare_cpu / n, held[n / 2], held_cpu / n, held[n / 2] / bare[n / 2]);
    db_close(db);
    PQfinish(conn);
    arena_free(&arena);
    g_free(bare);
    g_free(held);
    g_free(dsn);
    return 0;
}
