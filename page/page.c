#include "page/page.h"

#include "server/libmicrohttpd.h"

#include <string.h>

/* True if the browser has a cached copy with the current ETag. */
static bool is_known(const struct page_asset *asset, const struct http_request *request)
{
    const char *known = http_request_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    return known && strstr(known, asset->etag);
}

static void answer(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const struct page_asset *asset = ctx;
    reply->headers = asset->headers;
    reply->status = is_known(asset, request) ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
    if (reply->status == MHD_HTTP_NOT_MODIFIED) return;
    reply->type = asset->type;
    reply->body = g_bytes_new_static(asset->bytes, asset->len);
}

void page_routes(GArray *routes)
{
    for (size_t i = 0; i < page_n_assets; i++) {
        const struct http_route route = {.method = MHD_HTTP_METHOD_GET,
                                         .path = page_assets[i].path,
                                         .scope = HTTP_SCOPE_NONE,
                                         .work = HTTP_QUICK,
                                         .may_link = strcmp(page_assets[i].path, "/") == 0,
                                         .answer = answer,
                                         .ctx = (void *)&page_assets[i]};
        g_array_append_val(routes, route);
    }
}
