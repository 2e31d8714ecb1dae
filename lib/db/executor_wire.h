/* The messages between an executor and its child. A message is a length of four bytes and a body. Numbers are in native
 * byte order, because both processes run the same program. The reader of replies validates every byte, because the
 * child is untrusted. */
#ifndef ASSAY_LIB_DB_EXECUTOR_WIRE_H
#define ASSAY_LIB_DB_EXECUTOR_WIRE_H

#include "lib/db/db_engine.h"

#include <glib.h>

enum wire_op { WIRE_OPEN, WIRE_CLOSE, WIRE_CHECK, WIRE_QUERY, WIRE_OP_COUNT };

enum { WIRE_FD = 3, WIRE_LENGTH = 4, WIRE_MAX = 1 << 30 };

struct wire_request {
    enum wire_op op;
    uint32_t handle; /* slot of the handle, below EXECUTOR_HANDLES */
    struct db_limits limits;
    int64_t deadline_ns;
    uint64_t result_bytes;         /* free bytes of the arena for the result */
    struct db_statement statement; /* for WIRE_OPEN its text is the path */
};

struct wire_reply {
    enum err_code code;
    struct err err;
    int32_t offset;          /* result of WIRE_CHECK */
    struct db_result result; /* result of WIRE_QUERY */
};

/* Replace `out` by a whole message, including its length. */
void wire_write_request(GByteArray *out, const struct wire_request *request);
void wire_write_reply(GByteArray *out, const struct wire_reply *reply);

/* Read the body of a message. The texts of a request point into the body; free *params with g_free. A reply is copied
 * into the arena. Return false if the body is malformed. wire_read_reply also returns false if the reply exceeds the
 * limits of the request `asked` or the arena. */
bool wire_read_request(const void *body, size_t len, struct wire_request *out, struct db_value **params);
bool wire_read_reply(const void *body, size_t len, const struct wire_request *asked, struct arena *arena,
                     struct wire_reply *out);

#endif
