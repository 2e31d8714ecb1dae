/* Collects the rows of one statement into an arena, within the caps on rows and bytes. Shared by the engines. */
#ifndef ASSAY_LIB_DB_SINK_H
#define ASSAY_LIB_DB_SINK_H

#include "lib/db/digest.h"

/* Buffer for incoming rows, because an arena cannot grow an array in place. Belongs to the handle; each statement
 * reuses it. */
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
    XXH128_hash_t *hashes; /* n_columns */
    struct digest digest;
};

/* Begins a result. ERR_LIMIT_MEMORY if the arena is full. */
enum err_code sink_init(struct sink *sink, struct arena *arena, const struct db_limits *limits,
                        struct sink_buffer *buffer, uint32_t n_columns, struct err *err);

/* Returns space for the next row: n_columns values to be filled, whose text may still be the engine's. Returns NULL if
 * memory is exhausted. */
struct db_value *sink_next(struct sink *sink);

/* Appends the filled row and copies its texts. Errors: ERR_LIMIT_ROWS, ERR_LIMIT_BYTES, ERR_LIMIT_MEMORY. */
enum err_code sink_take(struct sink *sink, struct err *err);

/* Moves values, n_rows, n_columns and digests to *out. */
enum err_code sink_finish(struct sink *sink, struct db_result *out, struct err *err);

/* Frees the buffer; with keep_small only the excess that a large result has left. */
void sink_buffer_trim(struct sink_buffer *buffer, bool keep_small);

#endif
