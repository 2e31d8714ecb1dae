/* Collects the rows of a statement into a db_result, up to max_rows and max_bytes. All engines use it. */
#ifndef ASSAY_LIB_DB_SINK_H
#define ASSAY_LIB_DB_SINK_H

#include "lib/db/digest.h"

/* Buffer for rows until their number is known, because an arena cannot grow an array in place. Each handle has one,
 * which all its statements reuse. */
struct sink_buffer {
    struct db_value *values;
    size_t room;
};

struct sink {
    struct arena *arena;
    const struct db_limits *limits;
    struct sink_buffer *buffer;
    uint32_t n_columns, n_rows;
    uint64_t bytes;
    XXH128_hash_t *hashes; /* scratch space for n_columns hashes */
    struct digest digest;
};

/* Begins a result. Returns ERR_LIMIT_MEMORY if the arena is full. */
enum err_code sink_init(struct sink *sink, struct arena *arena, const struct db_limits *limits,
                        struct sink_buffer *buffer, uint32_t n_columns, struct err *err);

/* Returns space for the next row: n_columns values, which the caller fills. The engine may own their texts until
 * sink_take. Returns NULL if memory is exhausted. */
struct db_value *sink_next(struct sink *sink);

/* Appends the row that the caller has filled, and copies its texts into the arena. Errors: ERR_LIMIT_ROWS,
 * ERR_LIMIT_BYTES, ERR_LIMIT_MEMORY. */
enum err_code sink_take(struct sink *sink, struct err *err);

/* Stores values, n_rows, n_columns and the digests in *out. Error: ERR_LIMIT_MEMORY. */
enum err_code sink_finish(struct sink *sink, struct db_result *out, struct err *err);

/* Frees the buffer. With `keep_small`, frees it only if a result has made it large. */
void sink_buffer_trim(struct sink_buffer *buffer, bool keep_small);

#endif
