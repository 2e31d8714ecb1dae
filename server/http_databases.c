#include "server/http_databases.h"

#include "server/libmicrohttpd.h"
#include "server/tokens.h"

#include <jansson.h>

static void list(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct arena arena;
    struct err err = {0};
    const char *const *names;
    uint32_t n = 0;
    arena_init(&arena, 0);
    enum err_code code = engine_database_names(ctx, &arena, &names, &n, &err);
    if (code) {
        http_reply_error(reply, &err);
    } else {
        json_t *databases = json_array(), *all = json_pack("{s:o}", "databases", databases);
        for (uint32_t i = 0; i < n; i++)
            if (tenant_may_ask(request->tenant, names[i]))
                json_array_append_new(databases, json_pack("{s:s}", "name", names[i]));
        http_reply_json(reply, json_dumps(all, JSON_COMPACT));
        json_decref(all);
    }
    arena_free(&arena);
}

static void describe(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct arena arena;
    struct err err = {0};
    char *json = NULL;
    struct msg_request asks = {.db = request->rest};
    arena_init(&arena, 0);
    enum err_code code = tenant_narrow(request->tenant, &asks, &arena, &err);
    if (!code) code = engine_describe(ctx, &asks, &json, &err);
    if (code)
        http_reply_error(reply, &err);
    else
        http_reply_json(reply, json);
    arena_free(&arena);
}

void http_databases_routes(const struct engine *engine, GArray *routes)
{
    static const uint16_t statuses[] = {404, 0};
    static const struct http_description all = {.sentence = "Lists the names of the databases that the caller may use"};
    static const struct http_description one = {.sentence = "Returns the tables, columns, keys and joins of a database",
                                                .statuses = statuses};
    const struct http_route rows[] = {{.method = MHD_HTTP_METHOD_GET,
                                       .path = "/v1/databases",
                                       .scope = HTTP_SCOPE_JUDGE,
                                       .work = HTTP_SLOW,
                                       .answer = list,
                                       .ctx = (void *)engine,
                                       .description = &all},
                                      {.method = MHD_HTTP_METHOD_GET,
                                       .path = "/v1/databases/{name}",
                                       .scope = HTTP_SCOPE_JUDGE,
                                       .work = HTTP_SLOW,
                                       .answer = describe,
                                       .ctx = (void *)engine,
                                       .description = &one}};
    g_array_append_vals(routes, rows, G_N_ELEMENTS(rows));
}
