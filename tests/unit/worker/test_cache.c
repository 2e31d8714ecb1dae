/* Tests the fleet's cache without Redis: configurations, an address without a server, and a fake server that sends
 * malformed replies. tests/live/test_redis.c tests it with a real server. */
#include "lib/base/clock.h"
#include "tests/unit/db/fixture.h"
#include "worker/cache.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <glib.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

Test(cache_config, unusable_configuration_is_refused)
{
    static const struct {
        struct cache_config config;
        const char *says;
    } cases[] = {
        {{.address = NULL}, "address"},
        {{.address = ""}, "address"},
        {{.address = "host:"}, "address"},
        {{.address = "host:0"}, "address"},
        {{.address = "host:65536"}, "address"},
        {{.address = "host:6379x"}, "address"},
        {{.address = "[::1"}, "address"},
        {{.address = "unix:relative"}, "address"},
        {{.address = "redis://host"}, "address"},
        {{.address = "rediss://host"}, "TLS"},
        {{.address = "host", .tls = true}, "TLS"},
        {{.address = "host", .user = "me"}, "password"},
        {{.address = "host", .password_file = "/nowhere/at/all"}, "/nowhere/at/all"},
        {{.address = "host", .password_variable = "ASSAY_TEST_NOT_SET"}, "ASSAY_TEST_NOT_SET"},
        {{.address = "host", .password_variable = "HOME", .password_file = "/dev/null"}, "both a file and a variable"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct cache *cache;
        struct err err = {0};
        cr_assert_eq(cache_open(&cases[i].config, &cache, &err), ERR_CONFIG, "case %zu", i);
        cr_assert_null(cache);
        cr_assert(strstr(err.text, cases[i].says), "case %zu: %s", i, err.text);
    }
}

Test(cache_config, usable_configuration_is_accepted)
{
    static const char *const addresses[] = {"host",  "host:1",     "127.0.0.1:6379",
                                            "[::1]", "[::1]:6380", "unix:/run/redis"};
    for (size_t i = 0; i < G_N_ELEMENTS(addresses); i++) {
        struct cache *cache;
        struct cache_config config = {.address = addresses[i]};
        cr_assert_eq(cache_open(&config, &cache, NULL), ERR_OK, "%s", addresses[i]);
        cache_close(cache);
    }
    cache_close(NULL);
}

/* --- a fake: it answers every connection with the same bytes, and then is silent
 * ----------------------------------- */

struct fake {
    int listener, port;
    const char *bytes; /* repeated after each piece of input */
    size_t len;
    atomic_bool stopping;
    atomic_uint connections;
    pthread_t thread;
};

static void *serve(void *arg)
{
    struct fake *fake = arg;
    struct pollfd fds[32] = {{.fd = fake->listener, .events = POLLIN}};
    nfds_t n = 1;
    while (!atomic_load(&fake->stopping)) {
        if (poll(fds, n, 10) <= 0) continue;
        if (fds[0].revents && n < G_N_ELEMENTS(fds)) {
            fds[n++] = (struct pollfd){.fd = accept(fake->listener, NULL, NULL), .events = POLLIN};
            atomic_fetch_add(&fake->connections, 1);
        }
        for (nfds_t i = 1; i < n; i++) {
            char in[4096];
            if (!fds[i].revents) continue;
            if (recv(fds[i].fd, in, sizeof in, MSG_DONTWAIT) <= 0)
                fds[i].events = 0, fds[i].fd = (close(fds[i].fd), -1);
            else if (send(fds[i].fd, fake->bytes, fake->len, MSG_NOSIGNAL) < 0)
                continue;
        }
    }
    for (nfds_t i = 1; i < n; i++)
        if (fds[i].fd >= 0) close(fds[i].fd);
    return NULL;
}

static void fake_start(struct fake *fake, const char *bytes, size_t len)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    *fake = (struct fake){.listener = socket(AF_INET, SOCK_STREAM, 0), .bytes = bytes, .len = len};
    cr_assert_eq(bind(fake->listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(getsockname(fake->listener, (struct sockaddr *)&at, &size), 0);
    fake->port = ntohs(at.sin_port);
    listen(fake->listener, 16);
    cr_assert_eq(pthread_create(&fake->thread, NULL, serve, fake), 0);
}

static void fake_stop(struct fake *fake)
{
    atomic_store(&fake->stopping, true);
    pthread_join(fake->thread, NULL);
    close(fake->listener);
}

static const char SQL[] = "CREATE TABLE t(a TEXT); INSERT INTO t VALUES('x')";

/* Whatever the server at the address answers, the index must be right, and available in bounded time. */
static struct cache_stats ask(struct fixture *f, const char *address)
{
    struct cache_config config = {.address = address, .timeout_ms = 100, .retry_ms = 600000, .wait_ms = 300};
    struct cache_stats stats;
    struct cache *cache;
    struct schema_index *index;
    int64_t started = clock_now_ns();
    cr_assert_eq(cache_open(&config, &cache, NULL), ERR_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(cache_build(cache, f->db, "db", f->path, NULL, &index, NULL), ERR_OK);
        cr_assert_eq(schema_column_has(index, index->columns[0], "x", 1, true), 1);
        schema_unref(index);
    }
    cache_get_stats(cache, &stats);
    cache_close(cache);
    cr_assert_lt(clock_now_ns() - started, 20000000000LL);
    cr_assert_eq(stats.builds, 3);
    return stats;
}

Test(cache, refused_connection_builds_index_locally)
{
    struct fixture f;
    fixture_init(&f, SQL);
    fixture_open(&f, NULL);
    struct cache_stats stats = ask(&f, "127.0.0.1:1");
    cr_assert(stats.failures == 1 && stats.skipped == 2 && stats.unavailable && *stats.last_error, "%s",
              stats.last_error);
    stats = ask(&f, "unix:/nowhere/redis.sock");
    cr_assert(stats.failures == 1 && stats.unavailable);
    fixture_end(&f);
}

Test(cache, malformed_replies_build_index_locally, .timeout = 120)
{
#define BYTES(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }
    static const struct {
        const char *bytes;
        size_t len;
    } scripts[] = {
        BYTES("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        BYTES("\0\0\0\0\0\0\0\0"),
        BYTES("$99999999999\r\nx"),
        BYTES("$9223372036854775807\r\nx\r\n"),
        BYTES("$-7\r\n"),
        BYTES("*2147483647\r\n"),
        BYTES("*1025\r\n"),
        BYTES("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"),
        BYTES("$1000\r\nless than was said"),
        BYTES("-LOADING Redis is loading the dataset in memory\r\n:0\r\n"),
        BYTES("-READONLY You can't write against a read only replica.\r\n:0\r\n"),
        BYTES(":1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"), /* more replies than requested */
        BYTES("x"),
        {"", 0}, /* an empty reply */
    };
    struct fixture f;
    fixture_init(&f, SQL);
    fixture_open(&f, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        struct fake fake;
        char address[32];
        fake_start(&fake, scripts[i].bytes, scripts[i].len);
        snprintf(address, sizeof address, "127.0.0.1:%d", fake.port);
        struct cache_stats stats = ask(&f, address);
        fake_stop(&fake);
        cr_assert(stats.failures == 1 && stats.unavailable && stats.hits == 0 && stats.stored == 0, "script %zu: %s", i,
                  stats.last_error);
        cr_assert_eq(atomic_load(&fake.connections), 1, "script %zu: left alone after the first failure", i);
    }
    fixture_end(&f);
}

/* The protocol is valid, but each command of a pipeline gets a reply of the wrong type. */
Test(cache, mistyped_replies_build_index_locally, .timeout = 120)
{
    static const char *const scripts[] = {"+OK\r\n:1\r\n", "$5\r\nhello\r\n:1\r\n", "*0\r\n*0\r\n",
                                          "-ERR no\r\n-ERR no\r\n"};
    struct fixture f;
    fixture_init(&f, SQL);
    fixture_open(&f, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        struct fake fake;
        char address[32];
        fake_start(&fake, scripts[i], strlen(scripts[i]));
        snprintf(address, sizeof address, "127.0.0.1:%d", fake.port);
        struct cache_stats stats = ask(&f, address);
        fake_stop(&fake);
        cr_assert(stats.hits == 0 && stats.stored == 0 && stats.rejected >= 1, "script %zu", i);
    }
    fixture_end(&f);
}
