/* GET /openapi.json: the API's description (OpenAPI 3.1, with JSON Schemas), made of its rows and of the tables of
 * proto/message/json_schema.h. */
#ifndef ASSAY_SERVER_HTTP_OPENAPI_H
#define ASSAY_SERVER_HTTP_OPENAPI_H

#include "server/http_route.h"

struct openapi;

/* Of the rows that have a description. `tokens`: callers bring one. The caller owes openapi_free. */
struct openapi *openapi_new(const GArray *routes, bool tokens);
void openapi_free(struct openapi *openapi);
/* Appends the row; `openapi` must outlive it. */
void openapi_routes(struct openapi *openapi, GArray *routes);

#endif
