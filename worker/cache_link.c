/* DESIGN: a pool of idle connections, a circuit breaker, and one exchange for each call.
 *
 * hiredis connects and parses. This file waits with poll, because a call needs one deadline for all its reads and
 * writes. The size of a reply is checked before hiredis allocates it. After a failed call, its connection and all idle
 * ones are closed. The breaker opens at the first failure. The lock of the idle connections also guards the breaker.
 */
#include "worker/cache_link.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

LATE_LIBRARY(libhiredis, LIBHIREDIS_CALLS, LIBHIREDIS_FILE, LIBHIREDIS_PACKAGE)

enum { MAX_ELEMENTS = 1024, CHUNK = 256 << 10, CALL_TIMEOUTS = 8, PAUSE_GROWTH = 30 };

struct link {
    redisContext *redis;
    redisReplyObjectFunctions functions;        /* functions of hiredis, two of them replaced by functions with a
                                                 * bound */
    const redisReplyObjectFunctions *unbounded; /* original functions of hiredis */
    uint64_t max_bytes;
    char *chunk; /* receive buffer of CHUNK bytes */
};

/* --- bounds of a reply --- */

/* Bounds the length of a string in a reply, because hiredis allocates the length that the reply announces. */
static void *create_string(const redisReadTask *task, char *text, size_t len)
{
    const struct link *link = task->privdata;
    return len <= link->max_bytes ? link->unbounded->createString(task, text, len) : NULL;
}

#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

static void *create_array(const redisReadTask *task, array_length n)
{
    const struct link *link = task->privdata;
    return n <= MAX_ELEMENTS ? link->unbounded->createArray(task, n) : NULL;
}

static void bound_replies(struct link *link)
{
    redisReader *reader = link->redis->reader;
    link->unbounded = reader->fn;
    link->functions = *reader->fn;
    link->functions.createString = create_string;
    link->functions.createArray = create_array;
    reader->fn = &link->functions;
    reader->privdata = link;
}

/* --- one exchange ------------------------------------------------------------------------------------------------- */

struct exchange {
    struct links *links;
    struct link *link;
    const char *out;
    size_t left; /* number of bytes that are not sent yet */
    uint64_t received;
    redisReply **replies;
    uint32_t n, got;
    struct err *err;
};

static enum err_code connection_lost(struct exchange *x, const char *why)
{
    return err_set(x->err, ERR_UNREACHABLE, "Redis: %s", why);
}

static enum err_code send_some(struct exchange *x)
{
    ssize_t n = send(x->link->redis->fd, x->out, x->left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? ERR_OK : connection_lost(x, g_strerror(errno));
    x->out += n;
    x->left -= (size_t)n;
    atomic_fetch_add_explicit(&x->links->counters.bytes_out, (uint64_t)n, memory_order_relaxed);
    return ERR_OK;
}

static enum err_code parse(struct exchange *x)
{
    redisReader *reader = x->link->redis->reader;
    void *reply = NULL;
    while (x->got < x->n) {
        if (redisReaderGetReply(reader, &reply) != REDIS_OK) return connection_lost(x, reader->errstr);
        if (!reply) return ERR_OK;
        x->replies[x->got++] = reply;
    }
    return reader->pos == reader->len ? ERR_OK : connection_lost(x, "unexpected data after the reply");
}

static enum err_code receive_some(struct exchange *x)
{
    ssize_t n = recv(x->link->redis->fd, x->link->chunk, CHUNK, MSG_DONTWAIT);
    if (n == 0) return connection_lost(x, "the connection was closed");
    if (n < 0) return errno == EAGAIN || errno == EINTR ? ERR_OK : connection_lost(x, g_strerror(errno));
    x->received += (uint64_t)n;
    atomic_fetch_add_explicit(&x->links->counters.bytes_in, (uint64_t)n, memory_order_relaxed);
    if (x->received > x->link->max_bytes + CHUNK) return connection_lost(x, "a reply is too large");
    if (redisReaderFeed(x->link->redis->reader, x->link->chunk, (size_t)n) != REDIS_OK)
        return connection_lost(x, x->link->redis->reader->errstr);
    return parse(x);
}

/* Waits for the socket and transfers data: at most timeout_ms without data, and CALL_TIMEOUTS times as long for the
 * whole call. A server that sends single bytes from time to time therefore cannot prolong a call. */
static enum err_code wait_io(struct exchange *x, int64_t until_ns)
{
    int64_t left_ms = (until_ns - clock_now_ns()) / 1000000;
    int64_t wait_ms = MIN(left_ms, x->links->config.timeout_ms);
    struct pollfd fd = {.fd = x->link->redis->fd, .events = (short)(x->left ? POLLIN | POLLOUT : POLLIN)};
    int ready = wait_ms > 0 ? poll(&fd, 1, (int)wait_ms) : 0;
    if (ready < 0 && errno != EINTR) return connection_lost(x, g_strerror(errno));
    if (ready == 0) return connection_lost(x, "timed out");
    enum err_code code = ERR_OK;
    if (fd.revents & POLLOUT) code = send_some(x);
    if (!code && fd.revents & (POLLIN | POLLHUP | POLLERR)) code = receive_some(x);
    return code;
}

static char *format_commands(const struct link_command *commands, uint32_t n, size_t *len)
{
    GString *all = g_string_new(NULL);
    for (uint32_t i = 0; i < n; i++) {
        const struct link_command *command = &commands[i];
        g_string_append_printf(all, "*%d\r\n", command->argc);
        for (int k = 0; k < command->argc; k++) {
            g_string_append_printf(all, "$%zu\r\n", command->lens[k]);
            g_string_append_len(all, command->argv[k], (gssize)command->lens[k]);
            g_string_append(all, "\r\n");
        }
    }
    *len = all->len;
    return g_string_free(all, FALSE);
}

/* Returns true if the reply is an error of the server itself, and not of the command. */
static bool cannot_serve(const redisReply *reply)
{
    static const char *const words[] = {"LOADING",    "READONLY",    "NOAUTH", "WRONGPASS", "NOPERM",
                                        "MASTERDOWN", "CLUSTERDOWN", "MOVED",  "MISCONF",   "NOREPLICAS"};
    if (reply->type != REDIS_REPLY_ERROR) return false;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strncmp(reply->str, words[i], strlen(words[i])) == 0) return true;
    return false;
}

void links_free_replies(redisReply **replies, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (replies[i]) freeReplyObject(replies[i]);
        replies[i] = NULL;
    }
}

static enum err_code exchange(struct links *links, struct link *link, const struct link_command *commands, uint32_t n,
                              redisReply **replies, struct err *err)
{
    size_t len;
    char *bytes = format_commands(commands, n, &len);
    struct exchange x = {links, link, bytes, len, 0, replies, n, 0, err};
    int64_t until_ns = clock_now_ns() + CALL_TIMEOUTS * links->config.timeout_ms * 1000000;
    enum err_code code = ERR_OK;
    while (!code && (x.got < n || x.left)) code = wait_io(&x, until_ns);
    for (uint32_t i = 0; !code && i < n; i++)
        if (cannot_serve(replies[i])) code = connection_lost(&x, replies[i]->str);
    if (code) links_free_replies(replies, x.got);
    g_free(bytes);
    return code;
}

/* --- connections -------------------------------------------------------------------------------------------------- */

static void close_link(struct link *link)
{
    if (!link) return;
    if (link->redis) redisFree(link->redis);
    g_free(link->chunk);
    g_free(link);
}

static struct link_command command_of(int argc, const char *const *argv)
{
    struct link_command command = {.argc = argc};
    for (int i = 0; i < argc; i++) {
        command.argv[i] = argv[i];
        command.lens[i] = strlen(argv[i]);
    }
    return command;
}

/* Sends AUTH and SELECT as configured. */
static enum err_code authenticate(struct links *links, struct link *link, struct err *err)
{
    const struct link_config *config = &links->config;
    struct link_command commands[2];
    redisReply *replies[2] = {NULL};
    uint32_t n = 0;
    char number[16];
    g_snprintf(number, sizeof number, "%u", config->database);
    const char *both[] = {"AUTH", config->user, config->password}, *one[] = {"AUTH", config->password};
    const char *select[] = {"SELECT", number};
    if (config->password) commands[n++] = config->user ? command_of(3, both) : command_of(2, one);
    if (config->database) commands[n++] = command_of(2, select);
    if (!n) return ERR_OK;
    enum err_code code = exchange(links, link, commands, n, replies, err);
    for (uint32_t i = 0; !code && i < n; i++)
        if (replies[i]->type == REDIS_REPLY_ERROR)
            code = err_set(err, ERR_UNREACHABLE, "Redis rejected %s: %s", commands[i].argv[0], replies[i]->str);
    if (!code || replies[0]) links_free_replies(replies, n);
    return code;
}

static enum err_code open_link(struct links *links, struct link **out, struct err *err)
{
    const struct link_config *config = &links->config;
    struct timeval timeout = {config->timeout_ms / 1000, config->timeout_ms % 1000 * 1000};
    *out = NULL;
    if (libhiredis_open(err)) return err->code = ERR_UNREACHABLE; /* treated like an unreachable server */
    struct link *link = g_new0(struct link, 1);
    link->redis = config->port ? redisConnectWithTimeout(config->host, config->port, timeout)
                               : redisConnectUnixWithTimeout(config->host, timeout);
    if (!link->redis || link->redis->err) {
        err_set(err, ERR_UNREACHABLE, "Redis at %s: %s", config->host, link->redis ? link->redis->errstr : "no memory");
        close_link(link);
        return ERR_UNREACHABLE;
    }
    atomic_fetch_add_explicit(&links->counters.connects, 1, memory_order_relaxed);
    link->max_bytes = config->max_bytes;
    link->chunk = g_malloc(CHUNK);
    bound_replies(link);
    enum err_code code = authenticate(links, link, err);
    if (code)
        close_link(link);
    else
        *out = link;
    return code;
}

/* Returns true if nothing arrived while the connection was idle. Arriving data would be the end of the connection, as
 * after a restart, or an unexpected reply. */
static bool is_clean(const struct link *link)
{
    struct pollfd fd = {.fd = link->redis->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

static struct link *pop_idle(struct links *links)
{
    pthread_mutex_lock(&links->lock);
    struct link *link = links->n_idle ? links->idle[--links->n_idle] : NULL;
    pthread_mutex_unlock(&links->lock);
    return link;
}

static struct link *take_idle(struct links *links)
{
    struct link *link;
    while ((link = pop_idle(links)) && !is_clean(link)) close_link(link);
    return link;
}

static void put_idle(struct links *links, struct link *link)
{
    pthread_mutex_lock(&links->lock);
    bool room = links->n_idle < LINK_IDLE;
    if (room) links->idle[links->n_idle++] = link;
    pthread_mutex_unlock(&links->lock);
    if (!room) close_link(link);
}

/* --- the breaker -------------------------------------------------------------------------------------------------- */

/* Returns the settings of the breaker, which opens at the first failure. */
static struct breaker_config breaker_config(const struct links *links)
{
    int64_t first_ns = links->config.retry_ms * 1000000;
    return (struct breaker_config){.failures = 1, .pause = {first_ns, first_ns * PAUSE_GROWTH, 1, 1}};
}

static bool may_ask(struct links *links)
{
    pthread_mutex_lock(&links->lock);
    bool admitted = breaker_admit(&links->breaker, clock_now_ns());
    pthread_mutex_unlock(&links->lock);
    return admitted;
}

/* Reports a call's outcome to the breaker. Returns true if Redis has become available or unavailable. The caller holds
 * the lock. */
static bool report(struct links *links, enum breaker_outcome outcome)
{
    struct breaker_config config = breaker_config(links);
    bool was_closed = links->breaker.state == BREAKER_CLOSED;
    breaker_report(&links->breaker, &config, clock_now_ns(), outcome);
    return was_closed != (links->breaker.state == BREAKER_CLOSED);
}

static void note_answer(struct links *links)
{
    pthread_mutex_lock(&links->lock);
    bool again = report(links, BREAKER_ALIVE);
    pthread_mutex_unlock(&links->lock);
    if (again) log_info("redis", "Redis is available again");
}

static void note_failure(struct links *links, const char *text)
{
    atomic_fetch_add_explicit(&links->counters.failures, 1, memory_order_relaxed);
    pthread_mutex_lock(&links->lock);
    bool news = report(links, BREAKER_FAILED);
    g_strlcpy(links->last_error, text, sizeof links->last_error);
    /* they lead to the same server and are probably broken too */
    for (uint32_t i = 0; i < links->n_idle; i++) close_link(links->idle[i]);
    links->n_idle = 0;
    pthread_mutex_unlock(&links->lock);
    const struct log_field why = log_field_text("why", text);
    log_event(news ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG, "redis", &why, 1,
              "Redis failed: circuit open, continuing without it");
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static enum err_code call(struct links *links, const struct link_command *commands, uint32_t n, redisReply **replies,
                          struct err *err)
{
    struct link *link = take_idle(links);
    enum err_code code = link ? ERR_OK : open_link(links, &link, err);
    if (code) return code;
    code = exchange(links, link, commands, n, replies, err);
    if (code)
        close_link(link);
    else
        put_idle(links, link);
    return code;
}

enum err_code links_call(struct links *links, const struct link_command *commands, uint32_t n, bool anyway,
                         redisReply **replies, struct err *err)
{
    struct err own = {0};
    if (!err) err = &own;
    memset(replies, 0, n * sizeof(redisReply *));
    if (!may_ask(links) && !anyway) {
        atomic_fetch_add_explicit(&links->counters.skipped, 1, memory_order_relaxed);
        return err_set(err, ERR_UNREACHABLE, "Redis: circuit open after a failure");
    }
    int64_t started = clock_now_ns();
    enum err_code code = call(links, commands, n, replies, err);
    atomic_fetch_add_explicit(&links->counters.call_ns, (uint64_t)(clock_now_ns() - started), memory_order_relaxed);
    if (code)
        note_failure(links, err->text);
    else
        note_answer(links);
    return code;
}

void links_init(struct links *links, const struct link_config *config)
{
    memset(links, 0, sizeof *links);
    links->config = *config;
    pthread_mutex_init(&links->lock, NULL);
}

void links_free(struct links *links)
{
    for (uint32_t i = 0; i < links->n_idle; i++) close_link(links->idle[i]);
    pthread_mutex_destroy(&links->lock);
    g_free(links->config.host);
    g_free(links->config.user);
    if (links->config.password) explicit_bzero(links->config.password, strlen(links->config.password));
    g_free(links->config.password);
}
