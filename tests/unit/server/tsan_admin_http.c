/* A listener is opened and closed during concurrent requests. Its pages read counters that other threads change. It is
 * a plain program, because Criterion does not start under ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/log.h"
#include "lib/base/metrics.h"
#include "server/admin_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ASKERS = 3, ASKS = 60, OPENINGS = 3 };

static const struct metrics_def defs[] = {{"assay_counted_total", METRICS_COUNTER, "", "Counted."}};

static struct metrics *metrics;
static atomic_int failures, answers;
static atomic_bool stop;
static uint16_t port;

static bool write_metrics(void *ctx, FILE *out)
{
    char *text = metrics_write(ctx, NULL);
    fputs(text, out);
    free(text);
    return true;
}

static void *counter(void *counted)
{
    while (!atomic_load(&stop)) {
        metrics_add(counted, 1);
        usleep(100);
    }
    return NULL;
}

static bool ask(const char *request, bool patient)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval limit = {10, 0};
    char answer[8192];
    size_t have = 0;
    ssize_t n;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    bool connected = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    if (connected) send(fd, request, strlen(request), MSG_NOSIGNAL);
    while (connected && patient && have < sizeof answer - 1 &&
           (n = recv(fd, answer + have, sizeof answer - 1 - have, 0)) > 0)
        have += (size_t)n;
    answer[have] = '\0';
    close(fd);
    return strstr(answer, "assay_counted_total ") != NULL;
}

static void *asker(void *unused)
{
    (void)unused;
    for (int i = 0; i < ASKS; i++) {
        if (i % 10 == 9)
            ask("GET ", false); /* sends a part of a request, then disconnects */
        else if (ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", true))
            atomic_fetch_add(&answers, 1);
        else
            atomic_fetch_add(&failures, 1);
    }
    return NULL;
}

static void open_and_ask(void)
{
    static const struct admin_http_page pages[] = {{"/metrics", "text/plain", write_metrics}};
    struct admin_http_config config = {"127.0.0.1:0", pages, 1, metrics, 300};
    struct admin_http *admin;
    struct err err = {0};
    pthread_t threads[ASKERS];
    if (admin_http_open(&config, &admin, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    port = admin_http_port(admin);
    for (int i = 0; i < ASKERS; i++) pthread_create(&threads[i], NULL, asker, NULL);
    for (int i = 0; i < ASKERS; i++) pthread_join(threads[i], NULL);
    admin_http_close(admin);
}

int main(void)
{
    struct err err = {0};
    pthread_t thread;
    log_open(STDERR_FILENO, LOG_FORM_TEXT, LOG_LEVEL_ERROR);
    if (metrics_new(defs, 1, &metrics, &err)) return 2;
    /* metrics_get creates the series before the first request */
    pthread_create(&thread, NULL, counter, metrics_get(metrics, 0, NULL));
    for (int i = 0; i < OPENINGS; i++) open_and_ask();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    metrics_free(metrics);
    printf("%d answers, %d failures\n", atomic_load(&answers), atomic_load(&failures));
    return atomic_load(&failures) || atomic_load(&answers) != OPENINGS * ASKERS * ASKS * 9 / 10;
}
