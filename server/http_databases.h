/* Lists and describes the databases of an engine over HTTP, for a client that selects one and writes SQL for it.
 *
 *    GET /v1/databases        {"databases": [{"name"}]}: the databases that the caller may use
 *    GET /v1/databases/NAME   tables, columns, keys and joins; sample values where the policy allows (engine_describe)
 */
#ifndef ASSAY_SERVER_HTTP_DATABASES_H
#define ASSAY_SERVER_HTTP_DATABASES_H

#include "engine/engine.h"
#include "server/http_route.h"

/* Appends the rows (struct http_route). The engine must outlive them. */
void http_databases_routes(const struct engine *engine, GArray *routes);

#endif
