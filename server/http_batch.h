/* Judges a batch: POST /v1/batch[?order=input|done][&wait_ms=N] with one request per line (NDJSON).
 *
 * The answer has one line per request, in one of three forms. A verdict has `line` at its end, as `assay replay` writes
 * it. A request that takes longer than wait_ms gives {"id","location","line"}. A request without a verdict gives
 * {"problem","line"}.
 *
 * DESIGN. Lines are sent as they finish, in the order of the requests unless order=done. The number of a batch's
 * requests in progress has a limit, so a batch uses no more slots than a few callers. If no slot is free, the request
 * is not refused: batches_tick retries it. If a client reads slowly, the batch judges only a limited number of requests
 * ahead. When the client disconnects, the sent requests are judged, and the others are not sent.
 */
#ifndef ASSAY_SERVER_HTTP_BATCH_H
#define ASSAY_SERVER_HTTP_BATCH_H

#include "server/http_api.h"

#define HTTP_BATCH "/v1/batch"
enum { HTTP_BATCH_LINES = 1000 }; /* maximum number of requests in a batch */

struct batches;

/* Makes the batches' state. `config` must outlive it. Thread of all functions but batches_tick and batches_close: the
 * connection thread, or any thread while that one does not run. */
struct batches *batches_new(const struct http_api_config *config);
void batches_free(struct batches *batches);
void batches_routes(struct batches *batches, GArray *routes);
/* Retries the lines for which no slot was free. Thread: any. */
void batches_tick(struct batches *batches);
/* Stops sending. Each unsent request gets a line that says so. Thread: any. */
void batches_close(struct batches *batches);

#endif
