#include "tests/live/postgres/proxy.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

struct proxy {
    int listener;
    uint16_t port, to;
    pthread_t thread;
    atomic_uint trips;
};

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool pass_on(int from, int to)
{
    char bytes[1 << 16];
    ssize_t n = recv(from, bytes, sizeof bytes, 0);
    for (ssize_t sent = 0; sent < n;) {
        ssize_t more = send(to, bytes + sent, (size_t)(n - sent), MSG_NOSIGNAL);
        if (more <= 0) return false;
        sent += more;
    }
    return n > 0;
}

/* Delays an answer until the client has been silent for a while. So requests that the client sends without waiting
 * count as one round trip. */
static void relay(struct proxy *proxy, int client, int server)
{
    enum { SILENCE_MS = 60 };
    struct pollfd ends[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    for (bool open = true, asked = false; open;) {
        int ready = poll(ends, asked ? 1 : 2, asked ? SILENCE_MS : -1);
        if (ready < 0) return;
        if (ready == 0) {
            atomic_fetch_add(&proxy->trips, 1);
            asked = false;
        } else if (ends[0].revents) {
            asked = true;
            open = pass_on(client, server);
        } else {
            open = pass_on(server, client);
        }
        ends[0].revents = ends[1].revents = 0;
    }
}

static void *run(void *arg)
{
    struct proxy *proxy = arg;
    for (int client; (client = accept(proxy->listener, NULL, NULL)) >= 0; close(client)) {
        struct sockaddr_in at = loopback(proxy->to);
        int server = socket(AF_INET, SOCK_STREAM, 0), on = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(server, (struct sockaddr *)&at, sizeof at) == 0) relay(proxy, client, server);
        close(server);
    }
    return NULL;
}

struct proxy *proxy_start(uint16_t port)
{
    struct proxy *proxy = g_new0(struct proxy, 1);
    struct sockaddr_in at = loopback(0);
    socklen_t len = sizeof at;
    proxy->to = port;
    proxy->listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(bind(proxy->listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(proxy->listener, 8) == 0);
    cr_assert_eq(getsockname(proxy->listener, (struct sockaddr *)&at, &len), 0);
    proxy->port = ntohs(at.sin_port);
    cr_assert_eq(pthread_create(&proxy->thread, NULL, run, proxy), 0);
    return proxy;
}

uint16_t proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

unsigned proxy_trips(const struct proxy *proxy)
{
    return atomic_load(&proxy->trips);
}

void proxy_stop(struct proxy *proxy)
{
    shutdown(proxy->listener, SHUT_RDWR);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    g_free(proxy);
}
