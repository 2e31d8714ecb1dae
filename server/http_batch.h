/* POST /v1/batch[?order=input|done][&wait_ms=N]: requests, a line each (NDJSON), and what became of each, a line each: its verdict with `line` at
 * its end, as assay replay writes it; {"id","location","line"} where it takes longer than wait_ms; {"problem","line"} where there will be no verdict.
 *
 * DESIGN. Lines go out as they are ready, in the order of the requests unless order=done. Some are judged at a time, so that a batch has no more of
 * the places than a few callers have; those that find no place are tried again (batches_tick) instead of being refused. A client that reads slowly is
 * not judged ahead of, beyond a bound. When he goes, what was sent is judged, and the rest is not sent. */
#ifndef ASSAY_SERVER_HTTP_BATCH_H
#define ASSAY_SERVER_HTTP_BATCH_H

#include "server/http_api.h"

#define HTTP_BATCH "/v1/batch"
enum { HTTP_BATCH_LINES = 1000 }; /* requests, at most */

struct batches;

/* `config` must outlive it. Thread of all but tick: that of connections, or before and after it. */
struct batches *batches_new(const struct http_api_config *config);
void batches_free(struct batches *batches);
void batches_routes(struct batches *batches, GArray *routes);
/* Tries again what found no place. Thread: any. */
void batches_tick(struct batches *batches);
/* What has not been sent will not be: its lines say so. Thread: any. */
void batches_close(struct batches *batches);

#endif
