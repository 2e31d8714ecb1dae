/* DESIGN. A line is a libcurl multi handle with one easy handle. It serves one thread at a time and keeps its
 * connection open between exchanges. Lines come from a free list, so their number is the maximum number of concurrent
 * callers. A line does not belong to a thread and may outlive the thread that created it.
 *
 * The multi interface is used even for a single transfer. Its wait can be woken (http_stop) and ends at a deadline that
 * we set. curl_easy_perform would react to either only about once a second.
 *
 * Rejected: one multi handle for all callers, with a separate thread. It would need fewer sockets, but also a queue
 * between callers and that thread.
 */
#include "lib/llm/http.h"
#include "lib/base/clock.h"
#include "lib/llm/libcurl.h"

#include <arpa/inet.h>
#include <glib.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

LATE_LIBRARY(libcurl, LIBCURL_CALLS, LIBCURL_FILE, LIBCURL_PACKAGE)

enum { MAX_HEADER_BYTES = 65536, MAX_IDLE_LINES = 32, MAX_RETRY_AFTER_S = 86400, CONNECT_MS = 5000, WAIT_MS = 1000 };

struct http_line {
    CURLM *multi;
    CURL *easy;
};

struct http {
    char *endpoint, *ca_file, *proxy;
    struct curl_slist *headers;
    size_t max_bytes;
    pthread_mutex_t lock;   /* protects the three members below */
    GPtrArray *idle, *busy; /* lists of struct http_line */
    bool stopped;
};

/* State of the callbacks that receive the body and the headers of one exchange. */
struct intake {
    GString *body;
    size_t max_bytes, header_bytes;
    bool too_big;
};

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* --- settings --------------------------------------------------------------------------------------------------- */

static char *url_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    curl_url_get(url, part, &text, 0);
    return text;
}

/* True for a loopback address. A host name such as 127.0.0.1.example is not one, because anyone may own it. */
static bool is_loopback(const char *host)
{
    struct in_addr address;
    if (!host) return false;
    if (inet_pton(AF_INET, host, &address) == 1) return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

static const char *endpoint_fault(CURLU *url, const struct http_settings *s)
{
    char *scheme = url_part(url, CURLUPART_SCHEME), *host = url_part(url, CURLUPART_HOST);
    char *user = url_part(url, CURLUPART_USER), *query = url_part(url, CURLUPART_QUERY);
    char *fragment = url_part(url, CURLUPART_FRAGMENT);
    const char *fault = NULL;
    bool plain = scheme && strcmp(scheme, "http") == 0;
    if (!scheme || (!plain && strcmp(scheme, "https") != 0))
        fault = "is neither http nor https";
    else if (user)
        fault = "contains a user name; put the key into a file or an environment variable";
    else if (query || fragment)
        fault = "has a query or a fragment";
    else if (plain && (s->key || s->n_headers) && !s->plain_key && !is_loopback(host))
        fault = "is plain http to another machine, which would send the key unencrypted";
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_free(query);
    curl_free(fragment);
    return fault;
}

static enum err_code check_endpoint(const struct http_settings *s, struct err *err)
{
    CURLU *url = curl_url();
    if (!url) return err_set(err, ERR_NOMEM, "out of memory");
    const char *fault =
        curl_url_set(url, CURLUPART_URL, s->endpoint, 0) != CURLUE_OK ? "is not a URL" : endpoint_fault(url, s);
    curl_url_cleanup(url);
    /* The message does not quote the endpoint, because a key in it would appear in the log. */
    return fault ? err_set(err, ERR_CONFIG, "endpoint %s", fault) : ERR_OK;
}

static void add_header(struct http *http, const char *text)
{
    struct curl_slist *longer = curl_slist_append(http->headers, text);
    if (longer) http->headers = longer;
}

static void add_headers(struct http *http, const struct http_settings *settings)
{
    add_header(http, "Content-Type: application/json");
    add_header(http, "Accept: application/json");
    add_header(http, "Expect:"); /* sends the body at once, without waiting for "100 Continue" */
    for (uint32_t i = 0; i < settings->n_headers; i++) add_header(http, settings->headers[i]);
    if (!settings->key) return;
    char *text = g_strdup_printf("Authorization: Bearer %s", settings->key);
    add_header(http, text);
    explicit_bzero(text, strlen(text));
    g_free(text);
}

enum err_code http_open(const struct http_settings *settings, struct http **out, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    enum err_code code = libcurl_open(err);
    if (code != ERR_OK) return code;
    pthread_once(&once, start_curl);
    code = check_endpoint(settings, err);
    if (code != ERR_OK) return code;
    struct http *http = g_new0(struct http, 1);
    http->endpoint = g_strdup(settings->endpoint);
    http->ca_file = g_strdup(settings->ca_file);
    http->proxy = g_strdup(settings->proxy ? settings->proxy : "");
    http->max_bytes = settings->max_bytes;
    http->idle = g_ptr_array_new();
    http->busy = g_ptr_array_new();
    pthread_mutex_init(&http->lock, NULL);
    add_headers(http, settings);
    *out = http;
    return ERR_OK;
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

static void line_free(struct http_line *line)
{
    curl_easy_cleanup(line->easy);
    curl_multi_cleanup(line->multi);
    g_free(line);
}

static struct http_line *line_new(void)
{
    struct http_line *line = g_new0(struct http_line, 1);
    line->multi = curl_multi_init();
    line->easy = curl_easy_init();
    if (line->multi && line->easy) return line;
    line_free(line);
    return NULL;
}

/* Takes a line for exclusive use. Returns NULL if http_stop was called or memory is exhausted. */
static struct http_line *line_take(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    struct http_line *line = NULL;
    if (!http->stopped)
        line = http->idle->len ? g_ptr_array_steal_index_fast(http->idle, http->idle->len - 1) : line_new();
    if (line) g_ptr_array_add(http->busy, line);
    pthread_mutex_unlock(&http->lock);
    return line;
}

static void line_give(struct http *http, struct http_line *line)
{
    pthread_mutex_lock(&http->lock);
    g_ptr_array_remove_fast(http->busy, line);
    bool keep = http->idle->len < MAX_IDLE_LINES;
    if (keep) g_ptr_array_add(http->idle, line);
    pthread_mutex_unlock(&http->lock);
    if (!keep) line_free(line);
}

static bool is_stopped(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    bool stopped = http->stopped;
    pthread_mutex_unlock(&http->lock);
    return stopped;
}

void http_stop(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    http->stopped = true;
    for (guint i = 0; i < http->busy->len; i++) curl_multi_wakeup(((struct http_line *)http->busy->pdata[i])->multi);
    pthread_mutex_unlock(&http->lock);
}

void http_close(struct http *http)
{
    if (!http) return;
    for (guint i = 0; i < http->idle->len; i++) line_free(http->idle->pdata[i]);
    g_ptr_array_free(http->idle, TRUE);
    g_ptr_array_free(http->busy, TRUE);
    for (struct curl_slist *h = http->headers; h; h = h->next) explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(http->headers);
    pthread_mutex_destroy(&http->lock);
    g_free(http->endpoint);
    g_free(http->ca_file);
    g_free(http->proxy);
    g_free(http);
}

/* --- one exchange ----------------------------------------------------------------------------------------------- */

/* Callback for the body. To end the transfer, it returns a different number of bytes than it was given. */
static size_t take_body(char *bytes, size_t one, size_t n, void *context)
{
    struct intake *in = context;
    if (n > in->max_bytes - in->body->len) {
        in->too_big = true;
        return 0;
    }
    g_string_append_len(in->body, bytes, (gssize)(one * n));
    return n;
}

static size_t take_header(char *bytes, size_t one, size_t n, void *context)
{
    struct intake *in = context;
    (void)bytes;
    in->header_bytes += one * n;
    in->too_big |= in->header_bytes > MAX_HEADER_BYTES;
    return in->too_big ? 0 : n;
}

static void prepare(const struct http *http, CURL *easy, const char *url, const char *body, struct intake *in)
{
    curl_easy_reset(easy); /* clears the options of the last exchange, keeps the connection */
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, http->proxy); /* "" makes libcurl ignore proxies in environment variables */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, in);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, in);
    if (http->ca_file) curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a pending name resolution does not delay the return */
#endif
    if (!body) return;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
}

/* Runs the transfer of this line. Returns true and sets *result if libcurl ended it. Otherwise returns false and sets
 * *end. */
static bool drive(struct http *http, struct http_line *line, int64_t deadline_ns, enum http_end *end, CURLcode *result)
{
    for (;;) {
        int running = 0, left = 0;
        CURLMcode code = curl_multi_perform(line->multi, &running);
        const CURLMsg *message = curl_multi_info_read(line->multi, &left);
        if (message && message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return true;
        }
        int64_t left_ms = (deadline_ns - clock_now_ns()) / 1000000 + 1;
        *end = is_stopped(http) ? HTTP_STOPPED : deadline_ns <= clock_now_ns() ? HTTP_LATE : HTTP_UNREACHED;
        if (code != CURLM_OK || !running || *end != HTTP_UNREACHED) return false;
        curl_multi_poll(line->multi, NULL, 0, (int)MIN(left_ms, WAIT_MS), NULL);
    }
}

/* Maps libcurl's results. A result that is not listed means that the connection was lost. */
static const struct {
    CURLcode result;
    enum http_end end;
    const char *why;
} ends[] = {
    {CURLE_OK, HTTP_ANSWERED, "answered"},
    {CURLE_COULDNT_RESOLVE_HOST, HTTP_UNREACHED, "unknown host name"},
    {CURLE_COULDNT_CONNECT, HTTP_UNREACHED, "cannot connect"},
    {CURLE_OPERATION_TIMEDOUT, HTTP_UNREACHED, "connection timed out"},
    {CURLE_PARTIAL_FILE, HTTP_UNREACHED, "the reply was truncated"},
    {CURLE_GOT_NOTHING, HTTP_UNREACHED, "the connection was closed without a reply"},
    {CURLE_PEER_FAILED_VERIFICATION, HTTP_UNTRUSTED, "cannot verify the server's certificate"},
    {CURLE_SSL_CACERT_BADFILE, HTTP_UNTRUSTED, "cannot read the file of trusted certificates"},
    {CURLE_SSL_CONNECT_ERROR, HTTP_UNREACHED, "TLS handshake failed"},
};

static void conclude(CURLcode result, struct http_reply *reply)
{
    reply->end = HTTP_UNREACHED;
    reply->why = "the connection was lost";
    for (unsigned i = 0; i < G_N_ELEMENTS(ends); i++) {
        if (ends[i].result != result) continue;
        reply->end = ends[i].end;
        reply->why = ends[i].why;
    }
}

static void read_status(CURL *easy, struct http_reply *reply)
{
    long status = 0;
    curl_off_t after_s = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &after_s);
    reply->status = (int)CLAMP(status, 0, 999);
    reply->retry_after_ns = after_s > 0 ? MIN(after_s, MAX_RETRY_AFTER_S) * (int64_t)1000000000 : -1;
}

static void transfer(struct http *http, struct http_line *line, int64_t deadline_ns, struct intake *in,
                     struct http_reply *reply)
{
    CURLcode result = CURLE_OK;
    enum http_end end = HTTP_UNREACHED;
    curl_multi_add_handle(line->multi, line->easy);
    bool over = drive(http, line, deadline_ns, &end, &result);
    read_status(line->easy, reply);
    curl_multi_remove_handle(line->multi, line->easy); /* closes the connection if the transfer is unfinished */
    if (over) {
        conclude(result, reply);
    } else {
        reply->end = end;
        reply->why = end == HTTP_LATE ? "the reply timed out" : "cancelled";
    }
    if (in->too_big) {
        reply->end = HTTP_TOO_BIG;
        reply->why = "the reply is larger than allowed";
    }
}

void http_exchange(struct http *http, const char *path, const char *body, int64_t deadline_ns, struct http_reply *reply)
{
    *reply = (struct http_reply){.end = HTTP_STOPPED, .retry_after_ns = -1, .why = "cancelled"};
    struct http_line *line = line_take(http);
    if (!line && !is_stopped(http)) {
        reply->end = HTTP_UNREACHED;
        reply->why = "out of memory";
    }
    if (!line) return;
    struct intake in = {.body = g_string_new(NULL), .max_bytes = http->max_bytes};
    char *url = g_strconcat(http->endpoint, path, NULL);
    prepare(http, line->easy, url, body, &in);
    transfer(http, line, deadline_ns, &in, reply);
    line_give(http, line);
    g_free(url);
    if (reply->end == HTTP_ANSWERED) {
        reply->len = in.body->len;
        reply->body = g_string_free(in.body, FALSE);
    } else {
        g_string_free(in.body, TRUE);
    }
}

void http_reply_clear(struct http_reply *reply)
{
    g_free(reply->body);
    reply->body = NULL;
}
