/* Runs the connections of an HTTP listener on one thread.
 *
 * The thread polls an epoll with the listener, the connections that the library does not have yet, an eventfd, and the
 * library's own epoll. A connection is a guest in an array of fixed size, with a stage and the time at which it entered
 * that stage. The thread inspects the head of a guest without consuming it, and then gives the socket to the library.
 * From then on the library owns the descriptor. The server ends such a connection only with shutdown, and the library
 * closes it. Waiting guests have no deadline; every other stage has one.
 */
#include "server/http_server.h"

#include "lib/base/clock.h"
#include "server/http_gate.h"
#include "server/http_head.h"
#include "server/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

LATE_LIBRARY(libmicrohttpd, LIBMICROHTTPD_CALLS, LIBMICROHTTPD_FILE, LIBMICROHTTPD_PACKAGE)

/* TLS 1.2 is the oldest accepted version. */
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

#define HEADER_LINE(name, value) name ": " value "\r\n"

enum { TURN_MS = 100, EVENTS = 64, REFUSED_MS = 1000, CONNECTION_BYTES = 64 << 10 };

/* A connection. The server owns its descriptor until the library gets it. */
struct guest {
    struct http_server *server;
    struct MHD_Connection *connection; /* NULL before the library gets it */
    int fd;
    enum http_stage stage;
    int64_t since_ns; /* time at which it entered the stage */
    void *who;        /* argument of http_server_wait */
    struct in6_addr address;
    bool control; /* control character in the decoded path or query */
};

struct http_server {
    struct http_server_config config;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool running;
    atomic_bool stop, quiesced;
    uint16_t port;
    int listener, epoll, library;  /* descriptors; `library` is the library's own epoll */
    int bell;                      /* eventfd that wakes the thread for a resumed connection */
    bool deaf;                     /* no descriptors are left, so the listener is not polled until the next iteration */
    uint32_t n_guests;             /* slots: twice max_connections, since closing connections need slots too */
    struct guest *guests, *handed; /* handed: the guest that is being given to the library */
    char *head;                    /* buffer for the head of one guest at a time */
    atomic_ullong malformed, late, crowded;
};

/* --- guests --- */

/* Returns true if the guest counts towards the limits. */
static bool counts(const struct guest *guest)
{
    return guest->stage != HTTP_STAGE_FREE && guest->stage != HTTP_STAGE_WAITING && guest->stage != HTTP_STAGE_LEAVING;
}

/* Returns true if the head of the guest is complete, but its chunked body is not. */
static bool is_held(const struct guest *guest)
{
    return guest->stage == HTTP_STAGE_BODY && !guest->connection;
}

static void enter(struct guest *guest, enum http_stage stage)
{
    guest->stage = stage;
    guest->since_ns = clock_now_ns();
}

/* Ends a connection. If the library has the socket, the socket is only shut down. The library then reads the end of the
 * stream and closes the socket. */
static void leave(struct guest *guest)
{
    if (guest->connection) {
        shutdown(guest->fd, SHUT_RDWR);
        guest->stage = HTTP_STAGE_LEAVING;
        return;
    }
    close(guest->fd); /* this also removes it from the epoll */
    guest->stage = HTTP_STAGE_FREE;
}

static bool is_same_address(const struct in6_addr *a, const struct in6_addr *b)
{
    /* the owner of one IPv6 address usually has 2^64 addresses */
    size_t len = IN6_IS_ADDR_V4MAPPED(a) ? sizeof *a : sizeof *a / 2;
    return memcmp(a, b, len) == 0;
}

/* Closes the guest without progress for the longest time if there are `most` or more. Counts guests of `address`, or
 * all if it is NULL. */
static void make_room(struct http_server *server, const struct in6_addr *address, uint32_t most)
{
    struct guest *oldest = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < server->n_guests; i++) {
        struct guest *guest = &server->guests[i];
        if (address && (!counts(guest) || !is_same_address(&guest->address, address))) continue;
        n += guest->stage != HTTP_STAGE_FREE && guest->stage != HTTP_STAGE_LEAVING;
        if (counts(guest) && (!oldest || guest->since_ns < oldest->since_ns)) oldest = guest;
    }
    if (n < most || !oldest) return;
    leave(oldest);
    atomic_fetch_add(&server->crowded, 1);
}

static struct guest *free_place(struct http_server *server)
{
    for (uint32_t i = 0; i < server->n_guests; i++)
        if (server->guests[i].stage == HTTP_STAGE_FREE) return &server->guests[i];
    return NULL;
}

/* --- coming in --- */

static struct in6_addr address_of(const struct sockaddr_storage *from)
{
    struct in6_addr address = IN6ADDR_ANY_INIT;
    if (from->ss_family == AF_INET6) return ((const struct sockaddr_in6 *)from)->sin6_addr;
    if (from->ss_family != AF_INET) return address;
    memset(address.s6_addr + 10, 0xFF, 2);
    memcpy(address.s6_addr + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
    return address;
}

static bool watch(struct http_server *server, int fd, uint32_t events, void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};
    return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void admit(struct http_server *server, int fd, const struct sockaddr_storage *from)
{
    struct in6_addr address = address_of(from);
    if (server->config.per_address) make_room(server, &address, server->config.per_address);
    make_room(server, NULL, server->config.max_connections);
    struct guest *guest = free_place(server);
    if (!guest || !watch(server, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, guest)) {
        close(fd);
        return;
    }
    *guest = (struct guest){.server = server, .fd = fd, .address = address};
    enter(guest, HTTP_STAGE_HEAD);
}

/* Stops polling the listener. Without free descriptors it would be ready for ever, while no connection can be
 * accepted. */
static void out_of_descriptors(struct http_server *server)
{
    make_room(server, NULL, 0);
    epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->listener, NULL);
    server->deaf = true;
}

static void take_in(struct http_server *server)
{
    struct sockaddr_storage from = {0};
    for (unsigned n = 0; n < EVENTS && !server->deaf; n++) {
        socklen_t len = sizeof from;
        int fd = accept4(server->listener, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            admit(server, fd, &from);
        else if (errno == EAGAIN)
            break;
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            out_of_descriptors(server);
    }
}

/* --- heads --- */

static void refuse(struct guest *guest, const char *why)
{
    char answer[512], body[256];
    int len = snprintf(body, sizeof body,
                       "{\"type\":\"about:blank\",\"title\":\"invalid request\",\"status\":400,\"code\":\"malformed\","
                       "\"detail\":\"%s\"}",
                       why);
    len = snprintf(answer, sizeof answer,
                   "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: "
                   "%d\r\n" HTTP_GATE_HEADERS(HEADER_LINE) "Connection: close\r\n\r\n%s",
                   len, body);
    send(guest->fd, answer, (size_t)len, MSG_NOSIGNAL);
    shutdown(guest->fd, SHUT_WR);
    enter(guest, HTTP_STAGE_REFUSED);
    atomic_fetch_add(&guest->server->malformed, 1);
}

static void hand_over(struct guest *guest)
{
    struct http_server *server = guest->server;
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    epoll_ctl(server->epoll, EPOLL_CTL_DEL, guest->fd, NULL);
    if (getpeername(guest->fd, (struct sockaddr *)&from, &len)) { /* the client has disconnected */
        leave(guest);
        return;
    }
    if (!is_held(guest)) enter(guest, HTTP_STAGE_BODY);
    server->handed = guest; /* MHD_add_connection calls on_connection, which needs it */
    if (MHD_add_connection(server->daemon, guest->fd, (struct sockaddr *)&from, len) != MHD_YES)
        guest->stage = HTTP_STAGE_FREE; /* the library closes the socket in any case */
    server->handed = NULL;
}

static void look_at_head(struct guest *guest)
{
    struct http_server *server = guest->server;
    const char *why;
    ssize_t n = recv(guest->fd, server->head, server->config.head_bytes, MSG_PEEK);
    if (n < 0 && errno == EAGAIN) return;
    enum head_state state =
        server->config.tls ? HEAD_WHOLE : http_head_check(server->head, n > 0 ? (size_t)n : 0, &why);
    bool full = n == (ssize_t)server->config.head_bytes;
    if (state == HEAD_PARTIAL && full) state = HEAD_BAD, why = "the header is too large";
    if (state == HEAD_WHOLE && server->config.inspects_chunks && !server->config.tls) {
        state = http_body_check(server->head, (size_t)n, &why);
        if (state == HEAD_PARTIAL && !is_held(guest)) enter(guest, HTTP_STAGE_BODY);
        if (state == HEAD_PARTIAL && full) state = HEAD_WHOLE; /* the library inspects the rest */
    }
    if (n <= 0)
        leave(guest);
    else if (state == HEAD_WHOLE)
        hand_over(guest);
    else if (state == HEAD_BAD)
        refuse(guest, why);
}

/* Reads and drops the bytes that the client still sends. Closes the connection at their end. */
static void throw_away(struct guest *guest)
{
    ssize_t n = 1;
    for (unsigned k = 0; k < 8 && n > 0; k++)
        n = recv(guest->fd, guest->server->head, guest->server->config.head_bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) leave(guest);
}

static void on_guest(struct guest *guest, uint32_t events)
{
    const struct http_server_config *config = &guest->server->config;
    if (guest->stage == HTTP_STAGE_HEAD || is_held(guest)) look_at_head(guest);
    if (guest->stage == HTTP_STAGE_REFUSED) throw_away(guest);
    bool gone = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (!gone) return;
    if (guest->stage == HTTP_STAGE_HEAD || is_held(guest)) leave(guest); /* no more bytes will arrive */
    if (guest->stage == HTTP_STAGE_WAITING && config->on_gone) config->on_gone(config->ctx, guest->who);
}

/* --- the library's side --- */

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_server *server = ctx;
    struct guest *guest = *socket_context;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = server->handed;
        if (server->handed) server->handed->connection = connection;
    } else if (guest) {
        guest->connection = NULL;
        guest->stage = HTTP_STAGE_FREE; /* the library closes the socket next */
    }
}

static struct guest *guest_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct guest *guest = info ? info->socket_context : NULL;
    return guest && guest->stage != HTTP_STAGE_LEAVING ? guest : NULL;
}

/* Decodes %HH in place, in a path or a part of a query; invalid escapes stay unchanged. */
static size_t on_escaped(void *ctx, struct MHD_Connection *connection, char *text)
{
    struct guest *guest = guest_of(connection);
    char *out = text;
    (void)ctx;
    for (const char *in = text; *in; in++, out++) {
        *out = *in;
        if (in[0] == '%' && g_ascii_isxdigit(in[1]) && g_ascii_isxdigit(in[2])) {
            *out = (char)(g_ascii_xdigit_value(in[1]) * 16 + g_ascii_xdigit_value(in[2]));
            in += 2;
        }
        if (guest) guest->control |= g_ascii_iscntrl(*out);
    }
    *out = '\0';
    return (size_t)(out - text);
}

bool http_server_saw_control(struct MHD_Connection *connection)
{
    const struct guest *guest = guest_of(connection);
    return guest && guest->control;
}

void http_server_wait(struct MHD_Connection *connection, void *who)
{
    struct guest *guest = guest_of(connection);
    if (!guest) return;
    guest->who = who;
    enter(guest, HTTP_STAGE_WAITING);
    if (guest->server->config.on_gone) watch(guest->server, guest->fd, EPOLLRDHUP | EPOLLET, guest);
}

void http_server_answer(struct MHD_Connection *connection)
{
    struct guest *guest = guest_of(connection);
    if (!guest) return;
    if (guest->stage == HTTP_STAGE_WAITING) epoll_ctl(guest->server->epoll, EPOLL_CTL_DEL, guest->fd, NULL);
    enter(guest, HTTP_STAGE_ANSWER);
}

void http_server_resume(struct http_server *server, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    eventfd_write(server->bell, 1); /* this can only fail if the counter is already full, which wakes the thread too */
}

/* --- the thread --- */

static void end_late(struct http_server *server)
{
    int64_t now = clock_now_ns();
    for (uint32_t i = 0; i < server->n_guests; i++) {
        struct guest *guest = &server->guests[i];
        if (!counts(guest)) continue;
        int64_t limit_ms = guest->stage == HTTP_STAGE_REFUSED ? REFUSED_MS : server->config.limit_ms[guest->stage];
        if (now - guest->since_ns <= limit_ms * 1000000) continue;
        if (guest->stage != HTTP_STAGE_REFUSED) atomic_fetch_add(&server->late, 1);
        leave(guest);
    }
}

static void stop_listening(struct http_server *server)
{
    if (server->listener >= 0) close(server->listener);
    server->listener = -1;
}

/* Does the work of each iteration, even under load. */
static void tick(struct http_server *server)
{
    end_late(server);
    if (atomic_load(&server->quiesced)) stop_listening(server);
    if (server->deaf && server->listener >= 0) watch(server, server->listener, EPOLLIN, &server->listener);
    server->deaf = false;
}

/* Returns the time until the library must be called again. */
static int patience_ms(struct http_server *server)
{
    MHD_UNSIGNED_LONG_LONG ms;
    return MHD_get_timeout(server->daemon, &ms) == MHD_YES && ms < TURN_MS ? (int)ms : TURN_MS;
}

/* Polls once and handles the events. New connections come last, since one may reuse the slot of a guest with an event
 * in this array. */
static void look_around(struct http_server *server)
{
    struct epoll_event events[EVENTS];
    bool knock = false;
    int n = epoll_wait(server->epoll, events, EVENTS, patience_ms(server));
    for (int i = 0; i < n; i++) {
        void *what = events[i].data.ptr;
        if (what == &server->listener)
            knock = true;
        else if (what == &server->bell)
            eventfd_read(server->bell, &(eventfd_t){0});
        else if (what != &server->library)
            on_guest(what, events[i].events);
    }
    if (knock) take_in(server);
}

static void *run(void *arg)
{
    struct http_server *server = arg;
    int64_t ticked_ns = 0;
    pthread_setname_np(pthread_self(), server->config.name);
    while (!atomic_load(&server->stop)) {
        look_around(server);
        MHD_run(server->daemon);
        if (clock_now_ns() - ticked_ns < TURN_MS * INT64_C(1000000)) continue;
        tick(server);
        ticked_ns = clock_now_ns();
    }
    return NULL;
}

/* --- open, close --- */

/* Raises the limit of descriptors to the number of guests, as far as the system allows. With fewer descriptors, the
 * guests without progress for the longest time are closed.
 */
static void want_descriptors(uint32_t n_guests)
{
    enum { OTHERS = 256 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= (rlim_t)n_guests + OTHERS) return;
    limit.rlim_cur = (rlim_t)n_guests + OTHERS < limit.rlim_max ? (rlim_t)n_guests + OTHERS : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Selects the current certificate. The library sets its connection as the session's pointer. */
static int on_handshake(gnutls_session_t session, const gnutls_datum_t *authorities, int n_authorities,
                        const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **certs,
                        unsigned *n_certs, gnutls_privkey_t *key)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(gnutls_session_get_ptr(session), MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const struct guest *guest = info ? info->socket_context : NULL;
    (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    if (!guest) return -1;
    tls_certificate(guest->server->config.tls, certs, n_certs, key);
    return 0;
}

static enum err_code start_library(struct http_server *server, struct err *err)
{
    const struct http_server_config *config = &server->config;
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(intptr_t)on_handshake},
                                         {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES},
                                         {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
                                         {MHD_OPTION_END, 0, NULL}},
                                *none = &tls[(sizeof tls / sizeof *tls) - 1];
    server->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                             (config->tls ? MHD_USE_TLS : 0),
                         0, NULL, NULL, config->on_request, config->ctx, MHD_OPTION_EXTERNAL_LOGGER, listen_log, NULL,
                         MHD_OPTION_ARRAY, config->tls ? tls : none, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)server->n_guests, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
                         MHD_OPTION_NOTIFY_COMPLETED, config->on_completed, config->ctx, MHD_OPTION_UNESCAPE_CALLBACK,
                         on_escaped, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info) return err_set(err, ERR_NOMEM, "cannot start the listener");
    server->library = info->epoll_fd;
    return ERR_OK;
}

static enum err_code start(struct http_server *server, struct err *err)
{
    server->port = listen_port(server->listener);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    enum err_code code = start_library(server, err);
    if (code) return code;
    if (!watch(server, server->listener, EPOLLIN, &server->listener) ||
        !watch(server, server->bell, EPOLLIN, &server->bell) ||
        !watch(server, server->library, EPOLLIN, &server->library))
        return err_set(err, ERR_NOMEM, "cannot poll the listener");
    if (pthread_create(&server->thread, NULL, run, server))
        return err_set(err, ERR_NOMEM, "cannot create the listener thread");
    server->running = true;
    return ERR_OK;
}

enum err_code http_server_open(const struct http_server_config *config, struct http_server **out, struct err *err)
{
    int fd = -1;
    *out = NULL;
    enum err_code code = libmicrohttpd_open(err);
    if (code) return code;
    code = listen_open(config->name, config->listen, &fd, err);
    if (code) return code;
    struct http_server *server = calloc(1, sizeof *server);
    if (!server) {
        close(fd);
        return err_set(err, ERR_NOMEM, "no memory for the listener");
    }
    server->config = *config;
    server->listener = fd;
    server->epoll = server->bell = -1;
    server->n_guests = 2 * config->max_connections;
    want_descriptors(config->max_connections);
    server->guests = calloc(server->n_guests, sizeof *server->guests);
    server->head = malloc(config->head_bytes);
    *out = server; /* set before the thread starts, since the thread may get a request at once */
    code = server->guests && server->head ? start(server, err) : err_set(err, ERR_NOMEM, "no memory for the listener");
    if (code) {
        http_server_close(server);
        *out = NULL;
    }
    return code;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_quiesce(struct http_server *server)
{
    atomic_store(&server->quiesced, true);
}

void http_server_get_stats(const struct http_server *server, struct http_server_stats *out)
{
    *out = (struct http_server_stats){atomic_load(&server->malformed), atomic_load(&server->late),
                                      atomic_load(&server->crowded)};
}

void http_server_close(struct http_server *server)
{
    if (!server) return;
    atomic_store(&server->stop, true);
    if (server->running) pthread_join(server->thread, NULL);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    for (uint32_t i = 0; server->guests && i < server->n_guests; i++)
        if (server->guests[i].stage != HTTP_STAGE_FREE)
            close(server->guests[i].fd); /* the library has already closed its own descriptors */
    stop_listening(server);
    if (server->epoll >= 0) close(server->epoll);
    if (server->bell >= 0) close(server->bell);
    free(server->guests);
    free(server->head);
    free(server);
}
