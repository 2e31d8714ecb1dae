#include "server/admin_http.h"

#include "server/http_gate.h"
#include "server/http_server.h"
#include "server/listen.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 8192 };

struct admin_http {
    struct admin_http_config config;
    struct http_gate gate;
    struct http_server *server;
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
    http_gate_add_headers(response);
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Connection", "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, "Allow", "GET, HEAD");
    http_server_answer(connection);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_status(struct MHD_Connection *connection, unsigned status, const char *words)
{
    char *text = strdup(words);
    return text ? send_text(connection, status, "text/plain; charset=utf-8", text, strlen(text)) : MHD_NO;
}

static enum MHD_Result send_refusal(struct MHD_Connection *connection, const struct http_gate_refusal *refusal)
{
    char words[256];
    snprintf(words, sizeof words, "%s\n", refusal->detail);
    return send_status(connection, refusal->status, words);
}

static enum MHD_Result send_page(struct admin_http *admin, struct MHD_Connection *connection,
                                 const struct admin_http_page *page)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) return MHD_NO;
    bool good = page->write(admin->config.ctx, out);
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return send_text(connection, good ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, page->type, text, len);
}

/* Answers at the first call, before a body is read. The library then closes the connection, even if more bytes
 * follow. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *body, size_t *body_len, void **request)
{
    struct admin_http *admin = ctx;
    struct http_gate_fields fields;
    (void)version, (void)body, (void)body_len, (void)request;
    http_gate_read(connection, &fields);
    struct http_gate gate = admin->gate;
    gate.local &= fields.values[HTTP_FIELD_HOST] != NULL; /* probes in HTTP/1.0 send no Host; browsers always do */
    const struct http_gate_refusal *refusal = http_gate_check(&gate, &fields, false);
    if (refusal) return send_refusal(connection, refusal);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_status(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed: use GET or HEAD\n");
    for (uint32_t i = 0; i < admin->config.n_pages; i++)
        if (strcmp(admin->config.pages[i].path, url) == 0) return send_page(admin, connection, &admin->config.pages[i]);
    return send_status(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

/* --- open, close --- */

enum err_code admin_http_open(const struct admin_http_config *config, struct admin_http **out, struct err *err)
{
    int64_t limit_ms = config->limit_ms ? config->limit_ms : ADMIN_HTTP_MS;
    *out = NULL;
    struct admin_http *admin = calloc(1, sizeof *admin);
    if (!admin) return err_set(err, ERR_NOMEM, "no memory for the listener");
    admin->config = *config;
    admin->gate = (struct http_gate){.local = listen_is_here(config->listen), .schemes = HTTP_GATE_EITHER};
    const struct http_server_config server = {
        .name = "listen",
        .listen = config->listen,
        .max_connections = ADMIN_HTTP_CONNECTIONS,
        .head_bytes = HEAD_BYTES,
        .limit_ms = {[HTTP_STAGE_HEAD] = limit_ms, [HTTP_STAGE_BODY] = limit_ms, [HTTP_STAGE_ANSWER] = limit_ms},
        .on_request = on_request,
        .ctx = admin};
    enum err_code code = http_server_open(&server, &admin->server, err);
    if (code) {
        free(admin);
        return code;
    }
    *out = admin;
    return ERR_OK;
}

uint16_t admin_http_port(const struct admin_http *admin)
{
    return http_server_port(admin->server);
}

void admin_http_close(struct admin_http *admin)
{
    if (!admin) return;
    http_server_close(admin->server);
    free(admin);
}
