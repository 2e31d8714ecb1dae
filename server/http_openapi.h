/* Serves GET /openapi.json: the description of the API (OpenAPI 3.1 with JSON Schemas). It is generated from the API's
 * rows and the tables of proto/message/json_schema.h. */
#ifndef ASSAY_SERVER_HTTP_OPENAPI_H
#define ASSAY_SERVER_HTTP_OPENAPI_H

#include "server/http_route.h"

struct openapi;

/* Describes the rows that have a description. `tokens` means that callers need a token. Free with openapi_free. */
struct openapi *openapi_new(const GArray *routes, bool tokens);
void openapi_free(struct openapi *openapi);
/* Appends the row; `openapi` must outlive it. */
void openapi_routes(struct openapi *openapi, GArray *routes);

#endif
