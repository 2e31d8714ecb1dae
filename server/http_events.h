/* POST /v1/judge for who accepts text/event-stream: what becomes of the request, as it becomes known.
 *
 *   event: accepted   {"id"}                                 it was sent on
 *   event: progress   {"candidate","candidates","family"}    a family has looked at a candidate; not of a fleet
 *   event: verdict    the verdict; or `later`, {"id","location"}; or `problem` (RFC 9457). It is the last
 *
 * The status is 200 in any case, since it is said before anything is known. */
#ifndef ASSAY_SERVER_HTTP_EVENTS_H
#define ASSAY_SERVER_HTTP_EVENTS_H

#include "server/http_api.h"

#define HTTP_EVENTS "text/event-stream"

/* The reply is a stream of events. On the thread of connections. */
void http_events_begin(const struct http_api_config *config, const struct http_request *request,
                       struct http_reply *reply);

#endif
