#include "lib/db/sink.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, KEEP_ROOM = 16 * 1024 }; /* capacities, as numbers of values */

static enum err_code full(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the result exceeds its memory limit");
}

enum err_code sink_init(struct sink *sink, struct arena *arena, const struct db_limits *limits,
                        struct sink_buffer *buffer, uint32_t n_columns, struct err *err)
{
    sink->arena = arena;
    sink->limits = limits;
    sink->buffer = buffer;
    sink->n_columns = n_columns;
    sink->n_rows = 0;
    sink->bytes = 0;
    sink->hashes = arena_new_array(arena, n_columns, XXH128_hash_t);
    digest_init(&sink->digest);
    return sink->hashes ? ERR_OK : full(err);
}

struct db_value *sink_next(struct sink *sink)
{
    struct sink_buffer *buffer = sink->buffer;
    size_t used = (size_t)sink->n_rows * sink->n_columns;
    if (used + sink->n_columns > buffer->room) {
        size_t room = buffer->room ? buffer->room * 2 : FIRST_ROOM;
        if (room < used + sink->n_columns) room = used + sink->n_columns;
        struct db_value *values = realloc(buffer->values, room * sizeof *values);
        if (!values) return NULL;
        buffer->values = values;
        buffer->room = room;
    }
    return buffer->values + used;
}

/* Returns the bytes of a value that count against max_bytes: the length of a text, otherwise 8. */
static uint64_t weight(const struct db_value *value)
{
    return value->type == DB_TEXT || value->type == DB_BLOB ? value->len : 8;
}

enum err_code sink_take(struct sink *sink, struct err *err)
{
    struct db_value *row = sink->buffer->values + (size_t)sink->n_rows * sink->n_columns;
    if (sink->n_rows >= sink->limits->max_rows)
        return err_set(err, ERR_LIMIT_ROWS, "the result has more than %u rows", sink->limits->max_rows);
    for (uint32_t i = 0; i < sink->n_columns; i++) sink->bytes += weight(&row[i]);
    if (sink->bytes > sink->limits->max_bytes)
        return err_set(err, ERR_LIMIT_BYTES, "the result has more than %llu bytes",
                       (unsigned long long)sink->limits->max_bytes);
    for (uint32_t i = 0; i < sink->n_columns; i++) {
        if (row[i].type != DB_TEXT && row[i].type != DB_BLOB) continue;
        row[i].text = arena_strndup(sink->arena, row[i].text, row[i].len);
        if (!row[i].text) return full(err);
    }
    digest_row(&sink->digest, row, sink->n_columns, sink->hashes);
    sink->n_rows++;
    return ERR_OK;
}

enum err_code sink_finish(struct sink *sink, struct db_result *out, struct err *err)
{
    size_t n = (size_t)sink->n_rows * sink->n_columns;
    struct db_value *values = arena_alloc(sink->arena, n * sizeof *values);
    if (!values) return full(err);
    if (n) memcpy(values, sink->buffer->values, n * sizeof *values);
    out->values = values;
    out->n_rows = sink->n_rows;
    out->n_columns = sink->n_columns;
    digest_finish(&sink->digest, out->digest, out->ordered_digest);
    return ERR_OK;
}

void sink_buffer_trim(struct sink_buffer *buffer, bool keep_small)
{
    if (keep_small && buffer->room <= KEEP_ROOM) return;
    free(buffer->values);
    *buffer = (struct sink_buffer){0};
}
