#include "server/http_route.h"

#include "server/libmicrohttpd.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEM "application/problem+json"

const char *http_request_query(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_route_type(const struct http_route *route)
{
    return route->accepts ? route->accepts : HTTP_JSON;
}

static GBytes *bytes_of(char *text)
{
    return text ? g_bytes_new_with_free_func(text, strlen(text), free, text) : g_bytes_new_static("{}", 2);
}

/* Returns valid UTF-8, since a name in `text` may have been cut within a character. Free with g_free. */
static char *make_valid(const char *text)
{
    return text && *text ? g_utf8_make_valid(text, -1) : NULL;
}

static GBytes *format_problem(unsigned status, const char *title, const char *code, const char *detail,
                              const char *hint)
{
    char *valid_detail = make_valid(detail), *valid_hint = make_valid(hint);
    json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:s*, s:s*}", "type", "about:blank", "title", title, "status",
                             (int)status, "code", code, "detail", valid_detail, "hint", valid_hint);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    g_free(valid_detail);
    g_free(valid_hint);
    return bytes_of(text);
}

GBytes *http_problem(unsigned status, const char *title, const char *code, const char *detail)
{
    return format_problem(status, title, code, detail, NULL);
}

void http_reply_problem(struct http_reply *reply, unsigned status, const char *title, const char *code,
                        const char *detail)
{
    reply->status = status;
    reply->type = PROBLEM;
    reply->body = http_problem(status, title, code, detail);
}

void http_reply_error(struct http_reply *reply, const struct err *err)
{
    static const struct {
        enum err_code code;
        unsigned status;
        const char *title;
    } rows[] = {{ERR_LIMIT_BYTES, MHD_HTTP_CONTENT_TOO_LARGE, "too large"},
                {ERR_FULL, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests"},
                {ERR_UNREACHABLE, MHD_HTTP_SERVICE_UNAVAILABLE, "service unavailable"},
                {ERR_NOMEM, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory"},
                {ERR_FORBIDDEN, MHD_HTTP_FORBIDDEN, "not allowed"},
                {ERR_DB_MISSING, MHD_HTTP_NOT_FOUND, "database not found"}};
    unsigned i = 0;
    bool fatal = err_class(err->code) == ERR_CLASS_FATAL;
    while (i < G_N_ELEMENTS(rows) && rows[i].code != err->code) i++;
    reply->status = i < G_N_ELEMENTS(rows) ? rows[i].status
                    : fatal                ? MHD_HTTP_SERVICE_UNAVAILABLE
                                           : MHD_HTTP_BAD_REQUEST;
    const char *title = i < G_N_ELEMENTS(rows) ? rows[i].title : fatal ? "service unavailable" : "invalid request";
    reply->type = PROBLEM;
    int len;
    const char *text = err_message(err, &len);
    char *message = g_strndup(text, (gsize)len);
    reply->body = format_problem(reply->status, title, err_name(err->code), message, err_hint(err));
    g_free(message);
}

void http_reply_json(struct http_reply *reply, char *json)
{
    const struct err err = {.code = ERR_NOMEM};
    if (!json) {
        http_reply_error(reply, &err);
        return;
    }
    reply->status = MHD_HTTP_OK;
    reply->type = HTTP_JSON;
    reply->body = bytes_of(json);
}
