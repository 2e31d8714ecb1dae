/* What an executor and its child say to each other: a length of four bytes, then a body, in the machine's own byte
 * order, for both ends are the same program. The reader of replies trusts no byte of them. */
#ifndef ASSAY_LIB_DB_EXECUTOR_WIRE_H
#define ASSAY_LIB_DB_EXECUTOR_WIRE_H

#include "lib/db/db_engine.h"

#include <glib.h>

enum wire_op { WIRE_OPEN, WIRE_CLOSE, WIRE_CHECK, WIRE_QUERY, WIRE_OP_COUNT };

enum { WIRE_FD = 3, WIRE_LENGTH = 4, WIRE_MAX = 1 << 30 };

struct wire_request {
    enum wire_op op;
    uint32_t handle; /* below EXECUTOR_HANDLES */
    struct db_limits limits;
    int64_t deadline_ns;
    uint64_t result_bytes;         /* the arena that the result must fit */
    struct db_statement statement; /* its text is the path of WIRE_OPEN */
};

struct wire_reply {
    enum err_code code;
    struct err err;
    int32_t offset;          /* WIRE_CHECK */
    struct db_result result; /* WIRE_QUERY */
};

/* A whole message, its length in front. What `out` held is gone. */
void wire_write_request(GByteArray *out, const struct wire_request *request);
void wire_write_reply(GByteArray *out, const struct wire_reply *reply);

/* From a body. Texts of a request point into it, its values are g_free's; those of a reply are the arena's. false: it
 * is not what it should be; of a reply also: it holds more than was asked for, or than the arena can. */
bool wire_read_request(const void *body, size_t len, struct wire_request *out, struct db_value **params);
bool wire_read_reply(const void *body, size_t len, const struct wire_request *asked, struct arena *arena,
                     struct wire_reply *out);

#endif
