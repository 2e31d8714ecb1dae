/* Several threads take and release slots on shared connections, while leases are renewed and Redis disconnects now and
 * then. This Redis is a fake that grants and counts slots; the test checks the client. It is a plain program, because
 * Criterion does not start under ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "worker/permits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 150, CLIENTS = 64, CAP = 3 };

static struct permits *permits;
static atomic_int failures, held, granted;
static atomic_bool stop, rude;

/* --- the server side ---------------------------------------------------------------------------------------------- */

static int listen_somewhere(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, CLIENTS) || getsockname(fd, (void *)&at, &len))
        abort();
    *port = ntohs(at.sin_port);
    return fd;
}

/* Reads a command, which arrives in one piece in this test. A word of its script selects the reply. Returns false to
 * disconnect. */
static bool answer(int fd)
{
    char bytes[4096];
    ssize_t n = recv(fd, bytes, sizeof bytes - 1, 0);
    if (n <= 0 || (atomic_load(&rude) && n % 2)) return false;
    bytes[n] = '\0';
    bool take = strstr(bytes, "return 0 end redis.call('ZADD'") && !strstr(bytes, "ZSCORE");
    const char *said = ":1\r\n";
    if (take && atomic_fetch_add(&granted, 1) >= CAP) {
        atomic_fetch_sub(&granted, 1);
        said = ":0\r\n";
    }
    if (strstr(bytes, "ZREM'")) atomic_fetch_sub(&granted, 1);
    return send(fd, said, strlen(said), MSG_NOSIGNAL) > 0;
}

static void *serve(void *arg)
{
    struct pollfd fds[CLIENTS + 1] = {{.fd = *(int *)arg, .events = POLLIN}};
    nfds_t n = 1;
    while (!atomic_load(&stop)) {
        poll(fds, n, 50);
        for (nfds_t i = n; i-- > 1;) {
            if (!fds[i].revents || answer(fds[i].fd)) continue;
            close(fds[i].fd);
            fds[i] = fds[--n];
        }
        if (!(fds[0].revents & POLLIN)) continue;
        int fd = accept(fds[0].fd, NULL, NULL);
        if (fd >= 0 && n <= CLIENTS) fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    while (n-- > 0) close(fds[n].fd);
    return NULL;
}

/* --- the client side ---------------------------------------------------------------------------------------------- */

static void *worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        struct permit *permit;
        struct permits_stats stats;
        if (permits_take(permits, "shop", CAP, clock_now_ns() + 5000000, &permit, NULL)) continue;
        /* At most two times CAP are held: CAP slots of Redis, and the process's share that it used while Redis was
         * unavailable. */
        if (atomic_fetch_add(&held, 1) >= 2 * CAP) atomic_fetch_add(&failures, 1);
        if (i % 8 == 0) usleep(15000); /* longer than the interval of renewals */
        atomic_fetch_sub(&held, 1);
        permits_give(permits, permit);
        permits_get_stats(permits, &stats);
    }
    return NULL;
}

static void *trouble(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        usleep(40000);
        atomic_store(&rude, !atomic_load(&rude));
    }
    return NULL;
}

int main(void)
{
    uint16_t port;
    int listener = listen_somewhere(&port);
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    struct permits_config config = {.redis = {.address = address, .timeout_ms = 200, .retry_ms = 1}, .lease_ms = 30};
    struct err err = {0};
    log_open(STDERR_FILENO, LOG_FORM_TEXT, LOG_LEVEL_ERROR);
    if (permits_open(&config, &permits, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    pthread_t server, troubler, threads[THREADS];
    pthread_create(&server, NULL, serve, &listener);
    pthread_create(&troubler, NULL, trouble, NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    struct permits_stats stats;
    permits_get_stats(permits, &stats);
    permits_close(permits);
    atomic_store(&stop, true);
    pthread_join(server, NULL);
    pthread_join(troubler, NULL);
    printf("%llu taken, %llu of the share, %llu refused, %d failures\n", (unsigned long long)stats.taken,
           (unsigned long long)stats.local, (unsigned long long)stats.refused, atomic_load(&failures));
    return atomic_load(&failures) || !stats.taken || !stats.local ? 1 : 0;
}
