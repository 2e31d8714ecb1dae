/* Requests and verdicts for programs outside the fleet. They are JSON or msgpack, according to the header
 * `content-type`. Messages between coordinators and workers are always msgpack. Thread: any. */
#ifndef ASSAY_PROTO_MESSAGE_EDGE_H
#define ASSAY_PROTO_MESSAGE_EDGE_H

#include "proto/bus/transport.h"
#include "proto/message/msg.h"

#define EDGE_HEADER  "content-type"
#define EDGE_JSON    "application/json"
#define EDGE_MSGPACK "application/msgpack"

enum edge_type { EDGE_TYPE_JSON, EDGE_TYPE_MSGPACK };

/* Reads the type from the header. A missing header means JSON, so a line of a log is a valid request. Ignores
 * parameters ("; charset=utf-8"). Returns ERR_MALFORMED for an unknown type. */
enum err_code edge_type_of(const struct bus_message *message, enum edge_type *out, struct err *err);

/* Decodes a request of that type into the arena. Returns the errors of msg_decode_request and msg_request_from_json. */
enum err_code edge_decode_request(struct arena *arena, enum edge_type type, const void *bytes, size_t len,
                                  struct msg_request **out, struct err *err);
/* Decodes the request in a message, according to the message's header. Returns the errors of edge_type_of and
 * edge_decode_request. */
enum err_code edge_read_request(struct arena *arena, const struct bus_message *message, struct msg_request **out,
                                struct err *err);

/* Encodes a verdict as that type, and sets the matching header. The buffer must be {0} before its first use. Returns
 * ERR_NOMEM or ERR_LIMIT_BYTES. */
enum err_code edge_write_verdict(const struct msg_verdict *verdict, enum edge_type type, struct msg_buffer *out,
                                 struct bus_header *header);

#endif
