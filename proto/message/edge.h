/* Requests in and verdicts out, for those outside the fleet: JSON or msgpack, as the header `content-type` says.
 * Between coordinators and workers everything is msgpack. Thread: any. */
#ifndef ASSAY_PROTO_MESSAGE_EDGE_H
#define ASSAY_PROTO_MESSAGE_EDGE_H

#include "proto/bus/transport.h"
#include "proto/message/msg.h"

#define EDGE_HEADER  "content-type"
#define EDGE_JSON    "application/json"
#define EDGE_MSGPACK "application/msgpack"

enum edge_type { EDGE_TYPE_JSON, EDGE_TYPE_MSGPACK };

/* What the header says; JSON when there is none, so that a line of a log is a request. Parameters ("; charset=utf-8")
 * are ignored. ERR_MALFORMED: something else. */
enum err_code edge_type_of(const struct bus_message *message, enum edge_type *out, struct err *err);

/* A request in either form, decoded into the arena; errors as msg_decode_request and msg_request_from_json have them.
 */
enum err_code edge_decode_request(struct arena *arena, enum edge_type type, const void *bytes, size_t len,
                                  struct msg_request **out, struct err *err);
/* The same of a message, whose header says which form. */
enum err_code edge_read_request(struct arena *arena, const struct bus_message *message, struct msg_request **out,
                                struct err *err);

/* A verdict in that form, and the header that goes with it. Start the buffer with {0}; ERR_NOMEM, ERR_LIMIT_BYTES. */
enum err_code edge_write_verdict(const struct msg_verdict *verdict, enum edge_type type, struct msg_buffer *out,
                                 struct bus_header *header);

#endif
