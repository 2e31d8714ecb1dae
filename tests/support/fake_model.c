/* The scripted HTTP server of fake_model.h. One thread accepts connections and starts a thread for each of them. Every
 * wait on a socket also polls the pipe `stop`, so that fake_model_stop can join all threads. A mutex protects scripts
 * and recorded requests. */
#include "tests/support/fake_model.h"
#include "lib/base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_REQUEST = 8 << 20, DRIP_MS = 20 };

struct script {
    const struct fake_step *steps;
    size_t n, next;
};

struct request {
    char *path, *head, *body;
    int64_t at;
};

struct fake_model {
    int listener, stop; /* `stop` is a pipe that becomes readable when all threads must end */
    char url[64];
    pthread_t acceptor;
    GArray *threads; /* pthread_t; used only by the accepting thread, until it is joined */
    pthread_mutex_t lock;
    GHashTable *scripts;
    GPtrArray *requests;
    unsigned connections;
};

struct connection {
    struct fake_model *fake;
    int socket;
    GString *in; /* bytes read and not yet parsed */
};

/* --- sockets; each wait ends on `stop`
 * ------------------------------------------------------------------------------ */

static bool ready(const struct connection *c, short events, int timeout_ms)
{
    struct pollfd fds[] = {{c->socket, events, 0}, {c->fake->stop, POLLIN, 0}};
    return poll(fds, 2, timeout_ms) > 0 && !fds[1].revents && fds[0].revents;
}

static bool read_more(struct connection *c)
{
    char bytes[16384];
    if (!ready(c, POLLIN, -1)) return false;
    ssize_t n = recv(c->socket, bytes, sizeof bytes, 0);
    if (n > 0) g_string_append_len(c->in, bytes, n);
    return n > 0 && c->in->len < MAX_REQUEST;
}

static bool send_all(struct connection *c, const char *bytes, size_t len)
{
    while (len) {
        if (!ready(c, POLLOUT, -1)) return false;
        ssize_t n = send(c->socket, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Waits until the peer closes or the fake stops. Drops the bytes that the peer sends. */
static void until_gone(struct connection *c)
{
    while (read_more(c)) g_string_truncate(c->in, 0);
}

/* --- acts: true if the connection may serve another request
 * ---------------------------------------------------------- */

static bool send_head(struct connection *c, const struct fake_step *step, size_t length)
{
    char *head =
        g_strdup_printf("HTTP/1.1 %d Scripted\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
                        step->status ? step->status : 200, step->headers ? step->headers : "", length);
    bool sent = send_all(c, head, strlen(head));
    g_free(head);
    return sent;
}

static bool act_answer(struct connection *c, const struct fake_step *step, const char *body)
{
    return send_head(c, step, strlen(body)) && send_all(c, body, strlen(body));
}

static bool act_reset(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)step, (void)body;
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    return false;
}

static bool act_close(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)c, (void)step, (void)body;
    return false;
}

static bool act_cut(struct connection *c, const struct fake_step *step, const char *body)
{
    if (send_head(c, step, strlen(body))) send_all(c, body, strlen(body) / 2);
    return false;
}

static bool act_hang(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)step, (void)body;
    until_gone(c);
    return false;
}

static bool act_drip(struct connection *c, const struct fake_step *step, const char *body)
{
    bool open = send_head(c, step, 1U << 20);
    for (size_t i = 0; open; i++) {
        if (ready(c, POLLIN, DRIP_MS)) break; /* the peer has closed, or the fake stops */
        struct pollfd stop = {c->fake->stop, POLLIN, 0};
        open = poll(&stop, 1, 0) == 0 && send_all(c, *body ? &body[i % strlen(body)] : " ", 1);
    }
    return false;
}

static bool act_flood(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)body;
    char block[4096];
    memset(block, ' ', sizeof block);
    bool open = send_head(c, step, (size_t)1 << 40);
    while (open) open = send_all(c, block, sizeof block);
    return false;
}

static bool act_headers(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)step, (void)body;
    static const char start[] = "HTTP/1.1 200 Scripted\r\n", line[] = "X-More: and more and more and more\r\n";
    bool open = send_all(c, start, sizeof start - 1);
    while (open) open = send_all(c, line, sizeof line - 1);
    return false;
}

static bool act_noise(struct connection *c, const struct fake_step *step, const char *body)
{
    (void)step;
    send_all(c, body, strlen(body));
    return false;
}

static bool (*const acts[])(struct connection *, const struct fake_step *, const char *) = {
    [FAKE_ANSWER] = act_answer, [FAKE_RESET] = act_reset,     [FAKE_CLOSE] = act_close,
    [FAKE_CUT] = act_cut,       [FAKE_HANG] = act_hang,       [FAKE_DRIP] = act_drip,
    [FAKE_FLOOD] = act_flood,   [FAKE_HEADERS] = act_headers, [FAKE_NOISE] = act_noise,
};

/* --- requests --------------------------------------------------------------------------------------------------- */

static size_t body_length(const char *head)
{
    gchar *lower = g_ascii_strdown(head, -1);
    const char *at = strstr(lower, "\r\ncontent-length:");
    size_t length = at ? (size_t)g_ascii_strtoull(at + 17, NULL, 10) : 0;
    g_free(lower);
    return MIN(length, MAX_REQUEST);
}

/* Reads the next complete request from the connection. Returns NULL if the connection is closed. */
static struct request *read_request(struct connection *c)
{
    const char *end = NULL;
    while (!(end = strstr(c->in->str, "\r\n\r\n")))
        if (!read_more(c)) return NULL;
    size_t head = (size_t)(end - c->in->str) + 4;
    struct request *request = g_new0(struct request, 1);
    request->head = g_strndup(c->in->str, head);
    size_t body = body_length(request->head);
    bool whole = true;
    while (whole && c->in->len < head + body) whole = read_more(c);
    request->body = whole ? g_strndup(c->in->str + head, body) : NULL;
    gchar **words = g_strsplit(request->head, " ", 3);
    request->path = g_strdup(words[0] && words[1] ? words[1] : "");
    g_strfreev(words);
    request->at = clock_now_ns();
    if (whole) g_string_erase(c->in, 0, (gssize)(head + body));
    return request;
}

static void request_free(void *data)
{
    struct request *request = data;
    g_free(request->path);
    g_free(request->head);
    g_free(request->body);
    g_free(request);
}

/* Records the request and returns its step of the script. */
static struct fake_step next_step(struct fake_model *fake, struct request *request)
{
    struct fake_step step = {.status = 404, .body = "{\"error\":\"no such path\"}"};
    pthread_mutex_lock(&fake->lock);
    g_ptr_array_add(fake->requests, request);
    struct script *script = g_hash_table_lookup(fake->scripts, request->path);
    if (script) {
        step = script->steps[script->next];
        if (script->next + 1 < script->n) script->next++;
    }
    pthread_mutex_unlock(&fake->lock);
    return step;
}

static void *serve(void *context)
{
    struct connection *c = context;
    for (bool open = true; open;) {
        struct request *request = read_request(c);
        if (!request) break;
        if (!request->body) {
            request_free(request);
            break;
        }
        struct fake_step step = next_step(c->fake, request);
        open = acts[step.act](c, &step, step.body ? step.body : "");
    }
    close(c->socket);
    g_string_free(c->in, TRUE);
    g_free(c);
    return NULL;
}

static void *accept_all(void *context)
{
    struct fake_model *fake = context;
    for (;;) {
        struct pollfd fds[] = {{fake->listener, POLLIN, 0}, {fake->stop, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno == EINTR) continue;
        if (fds[1].revents) return NULL;
        int socket = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
        if (socket < 0) continue;
        struct connection *c = g_new0(struct connection, 1);
        *c = (struct connection){fake, socket, g_string_new(NULL)};
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, c) != 0) abort();
        g_array_append_val(fake->threads, thread);
        pthread_mutex_lock(&fake->lock);
        fake->connections++;
        pthread_mutex_unlock(&fake->lock);
    }
}

/* --- the fake --------------------------------------------------------------------------------------------------- */

struct fake_model *fake_model_start(void)
{
    struct fake_model *fake = g_new0(struct fake_model, 1);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    fake->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fake->stop = eventfd(0, EFD_CLOEXEC);
    if (bind(fake->listener, (struct sockaddr *)&address, len) || listen(fake->listener, 64) ||
        getsockname(fake->listener, (struct sockaddr *)&address, &len))
        abort();
    g_snprintf(fake->url, sizeof fake->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    fake->threads = g_array_new(FALSE, FALSE, sizeof(pthread_t));
    fake->scripts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    fake->requests = g_ptr_array_new_with_free_func(request_free);
    pthread_mutex_init(&fake->lock, NULL);
    if (pthread_create(&fake->acceptor, NULL, accept_all, fake) != 0) abort();
    return fake;
}

void fake_model_stop(struct fake_model *fake)
{
    if (eventfd_write(fake->stop, 1) != 0) abort();
    pthread_join(fake->acceptor, NULL);
    for (guint i = 0; i < fake->threads->len; i++) pthread_join(g_array_index(fake->threads, pthread_t, i), NULL);
    close(fake->listener);
    close(fake->stop);
    g_array_free(fake->threads, TRUE);
    g_hash_table_destroy(fake->scripts);
    g_ptr_array_free(fake->requests, TRUE);
    pthread_mutex_destroy(&fake->lock);
    g_free(fake);
}

const char *fake_model_url(const struct fake_model *fake)
{
    return fake->url;
}

void fake_model_script(struct fake_model *fake, const char *path, const struct fake_step *steps, size_t n)
{
    struct script *script = g_new0(struct script, 1);
    *script = (struct script){steps, n, 0};
    pthread_mutex_lock(&fake->lock);
    g_hash_table_replace(fake->scripts, g_strdup(path), script);
    pthread_mutex_unlock(&fake->lock);
}

/* Returns request i to the path (NULL: any path), or NULL if there is none. *n receives the number of such requests. */
static const struct request *find(struct fake_model *fake, const char *path, unsigned i, unsigned *n)
{
    const struct request *found = NULL;
    *n = 0;
    pthread_mutex_lock(&fake->lock);
    for (guint k = 0; k < fake->requests->len; k++) {
        const struct request *request = fake->requests->pdata[k];
        if (path && strcmp(request->path, path) != 0) continue;
        if (*n == i) found = request;
        ++*n;
    }
    pthread_mutex_unlock(&fake->lock);
    return found;
}

unsigned fake_model_requests(struct fake_model *fake, const char *path)
{
    unsigned n = 0;
    find(fake, path, 0, &n);
    return n;
}

const char *fake_model_body(struct fake_model *fake, const char *path, unsigned i)
{
    unsigned n = 0;
    const struct request *request = find(fake, path, i, &n);
    return request ? request->body : NULL;
}

const char *fake_model_head(struct fake_model *fake, const char *path, unsigned i)
{
    unsigned n = 0;
    const struct request *request = find(fake, path, i, &n);
    return request ? request->head : NULL;
}

int64_t fake_model_time(struct fake_model *fake, const char *path, unsigned i)
{
    unsigned n = 0;
    const struct request *request = find(fake, path, i, &n);
    return request ? request->at : 0;
}

unsigned fake_model_connections(struct fake_model *fake)
{
    pthread_mutex_lock(&fake->lock);
    unsigned n = fake->connections;
    pthread_mutex_unlock(&fake->lock);
    return n;
}
