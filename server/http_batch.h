/* Judges a batch: POST /v1/batch[?order=input|done][&wait_ms=N] with one request per line (NDJSON).
 *
 * The answer has one line per request, in one of three forms. A verdict has `line` at its end, as `assay replay` writes
 * it. A request that takes longer than wait_ms gives {"id","location","line"}. A request without a verdict gives
 * {"problem","line"}.
 *
 * DESIGN. Lines are sent as they finish, in the order of the requests unless order=done. Only some requests of a batch
 * are in progress at a time, so a batch takes no more places than a few callers. A request that finds no place is tried
 * again (batches_tick) instead of being refused. For a client that reads slowly, the batch works ahead only up to a
 * limit. When the client disconnects, the sent requests are judged, and the others are not sent.
 */
#ifndef ASSAY_SERVER_HTTP_BATCH_H
#define ASSAY_SERVER_HTTP_BATCH_H

#include "server/http_api.h"

#define HTTP_BATCH "/v1/batch"
enum { HTTP_BATCH_LINES = 1000 }; /* requests, at most */

struct batches;

/* Makes the batches' state. `config` must outlive it. Thread of all functions but batches_tick and batches_close: the
 * connection thread, or before and after it runs. */
struct batches *batches_new(const struct http_api_config *config);
void batches_free(struct batches *batches);
void batches_routes(struct batches *batches, GArray *routes);
/* Retries the lines that found no place. Thread: any. */
void batches_tick(struct batches *batches);
/* Stops sending. The lines of unsent requests report that. Thread: any. */
void batches_close(struct batches *batches);

#endif
