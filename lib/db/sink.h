/* Collects the rows of one statement into an arena, inside the caps on rows and bytes. Shared by the engines. */
#ifndef ASSAY_LIB_DB_SINK_H
#define ASSAY_LIB_DB_SINK_H

#include "lib/db/digest.h"

/* Rows while they come in: the arena cannot grow an array in place. Lives in the handle, reused by each statement. */
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

/* ERR_LIMIT_MEMORY when the arena is full. */
enum err_code sink_init(struct sink *sink, struct arena *arena, const struct db_limits *limits,
                        struct sink_buffer *buffer, uint32_t n_columns, struct err *err);

/* Room for the next row, n_columns values to be filled (text may still be the engine's). NULL: out of memory. */
struct db_value *sink_next(struct sink *sink);

/* Take the row that was filled: copies texts. ERR_LIMIT_ROWS, ERR_LIMIT_BYTES, ERR_LIMIT_MEMORY. */
enum err_code sink_take(struct sink *sink, struct err *err);

/* Move all to *out: values, n_rows, n_columns and digests. */
enum err_code sink_finish(struct sink *sink, struct db_result *out, struct err *err);

/* Give back what a large result has left behind (keep_small), or everything. */
void sink_buffer_trim(struct sink_buffer *buffer, bool keep_small);

#endif
