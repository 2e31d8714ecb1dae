#include "cli/observe.h"

#include "cli/listen.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TURN_MS = 200, HEAD_BYTES = 8192 };

/* A connection, and when it has to end. */
struct guest {
    MHD_socket socket;
    int64_t since_ns; /* 0: the place is free */
};

struct observe {
    struct observe_config config;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool running;
    atomic_bool stop;
    uint16_t port;
    struct guest guests[OBSERVE_CONNECTIONS]; /* the thread's */
};

/* --- answers --- */

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *type, char *text,
                                 size_t len)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Connection", "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, "Allow", "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_status(struct MHD_Connection *connection, unsigned status, const char *words)
{
    char *text = strdup(words);
    return text ? send_text(connection, status, "text/plain; charset=utf-8", text, strlen(text)) : MHD_NO;
}

static enum MHD_Result send_page(struct observe *observe, struct MHD_Connection *connection,
                                 const struct observe_page *page)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) return MHD_NO;
    bool good = page->write(observe->config.ctx, out);
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return send_text(connection, good ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, page->type, text, len);
}

/* Answered at the first call, before a body is read: the library then closes the connection, whatever was to come. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *body, size_t *body_len, void **request)
{
    struct observe *observe = ctx;
    (void)version, (void)body, (void)body_len, (void)request;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_status(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    for (uint32_t i = 0; i < observe->config.n_pages; i++)
        if (strcmp(observe->config.pages[i].path, url) == 0)
            return send_page(observe, connection, &observe->config.pages[i]);
    return send_status(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
}

/* --- connections --- */

static void on_connection(void *ctx, struct MHD_Connection *connection, void **guest,
                          enum MHD_ConnectionNotificationCode what)
{
    struct observe *observe = ctx;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*guest) ((struct guest *)*guest)->since_ns = 0;
        return;
    }
    for (unsigned i = 0; i < OBSERVE_CONNECTIONS && info; i++) {
        if (observe->guests[i].since_ns) continue;
        observe->guests[i] = (struct guest){info->connect_fd, clock_now_ns()};
        *guest = &observe->guests[i];
        return;
    }
}

/* Shut down and not closed: the descriptor is the library's, which finds it at its end. */
static void end_late(struct observe *observe)
{
    int64_t now = clock_now_ns();
    for (unsigned i = 0; i < OBSERVE_CONNECTIONS; i++) {
        const struct guest *guest = &observe->guests[i];
        if (guest->since_ns && now - guest->since_ns > observe->config.limit_ms * 1000000)
            shutdown(guest->socket, SHUT_RDWR);
    }
}

static void *run(void *arg)
{
    struct observe *observe = arg;
    pthread_setname_np(pthread_self(), "observe");
    while (!atomic_load(&observe->stop)) {
        MHD_run_wait(observe->daemon, TURN_MS);
        end_late(observe);
    }
    return NULL;
}

/* --- open, close --- */

static enum err_code start(struct observe *observe, int fd, struct err *err)
{
    observe->port = listen_port(fd);
    observe->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, observe, MHD_OPTION_EXTERNAL_LOGGER, listen_log,
        NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)OBSERVE_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, OBSERVE_MS / 1000U, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, observe, MHD_OPTION_END);
    if (!observe->daemon) {
        close(fd);
        return err_set(err, ERR_NOMEM, "the listener cannot be started");
    }
    if (pthread_create(&observe->thread, NULL, run, observe))
        return err_set(err, ERR_NOMEM, "no thread for the listener");
    observe->running = true;
    return ERR_OK;
}

enum err_code observe_open(const struct observe_config *config, struct observe **out, struct err *err)
{
    int fd = -1;
    *out = NULL;
    enum err_code code = listen_open("listen", config->listen, &fd, err);
    if (code) return code;
    struct observe *observe = calloc(1, sizeof *observe);
    if (!observe) {
        close(fd);
        return err_set(err, ERR_NOMEM, "no memory for the listener");
    }
    observe->config = *config;
    if (!observe->config.limit_ms) observe->config.limit_ms = OBSERVE_MS;
    code = start(observe, fd, err);
    if (code) {
        observe_close(observe);
        return code;
    }
    *out = observe;
    return ERR_OK;
}

uint16_t observe_port(const struct observe *observe)
{
    return observe->port;
}

void observe_close(struct observe *observe)
{
    if (!observe) return;
    atomic_store(&observe->stop, true);
    if (observe->running) pthread_join(observe->thread, NULL);
    if (observe->daemon) MHD_stop_daemon(observe->daemon);
    free(observe);
}
