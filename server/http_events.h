/* Streams the progress of a request: POST /v1/judge for clients that accept text/event-stream.
 *
 *    event: accepted   {"id"}                                 the request is being sent
 *    event: progress   {"candidate","candidates","family"}    a family has examined a candidate; not sent by a fleet
 *    event: verdict    the verdict; or `later`, {"id","location"}; or `problem` (RFC 9457). This is the last event
 *
 * The status is always 200, since it is sent before any result is known.
 */
#ifndef ASSAY_SERVER_HTTP_EVENTS_H
#define ASSAY_SERVER_HTTP_EVENTS_H

#include "server/http_api.h"

#define HTTP_EVENTS "text/event-stream"

/* Makes the reply a stream of events. Thread: the connection thread. */
void http_events_begin(const struct http_api_config *config, const struct http_request *request,
                       struct http_reply *reply);

#endif
