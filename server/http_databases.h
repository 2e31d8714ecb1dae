/* The databases of an engine over HTTP, for whoever is to choose one and write SQL on it.
 *
 *   GET /v1/databases        {"databases": [{"name"}]}: those that the caller may ask of
 *   GET /v1/databases/NAME   its tables, columns, keys and joins, with sample values where they may leave: engine_describe
 */
#ifndef ASSAY_SERVER_HTTP_DATABASES_H
#define ASSAY_SERVER_HTTP_DATABASES_H

#include "engine/engine.h"
#include "server/http_route.h"

/* Appends the rows (struct http_route). The engine must outlive them. */
void http_databases_routes(const struct engine *engine, GArray *routes);

#endif
