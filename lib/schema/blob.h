/* A schema index as bytes, for a cache that outlives the process, and back.
 *
 *   0        8         12         16       24        32
 *   | magic  | version | order    | length | XXH3_64 | body: one stream of msgpack values ... |
 *
 * The values of a large column are not in it: each such column is a part, a blob of its own in the same format (magic
 * "assay.iv"), which is fetched when a value is looked up that the column may hold; a filter in the index tells which
 * values it does not hold. So of a database of millions of values a worker loads only the columns that questions are
 * about.
 *
 * The header is in the writer's byte order, and `order` is how a reader of the other kind finds out: such bytes are
 * refused, not swapped, for the value table in the body is copied as it lies in memory. The body is described once, by
 * the functions of blob.c that both write and read it.
 *
 * Bytes of a cache are hostile. A reader takes nothing on trust: the checksum finds damage, and whatever passes it is
 * still checked, each offset, count, length, name and link, so that any bytes end in an index that is safe to use or in
 * an error. What it cannot find is well-formed but false content: whoever can write to the cache can make a database
 * look different. There is no migration: another version is an error, and the index is built anew.
 *
 * It lies here and not in proto/ because it is no message: nobody outside of this room can read or make one, as with
 * the model files of lib/learn. Whoever carries it (worker/cache.c) sees bytes.
 */
#ifndef ASSAY_LIB_SCHEMA_BLOB_H
#define ASSAY_LIB_SCHEMA_BLOB_H

#include "lib/schema/schema.h"

enum { SCHEMA_BLOB_VERSION = 9 };

struct schema_blob {
    unsigned char *bytes; /* malloc'd */
    size_t len;
};

/* Write an index. On success the caller owes schema_blob_free. ERR_LIMIT_BYTES: past 512 MB, the longest value that a
 * Redis takes. Thread: any. */
enum err_code schema_blob_write(const struct schema_index *index, struct schema_blob *out, struct err *err);
void schema_blob_free(struct schema_blob *blob);

/* Read one into a new index, called `db_name`; the caller owes schema_unref. `options` bound its memory. The bytes are
 * not needed afterwards. Errors: ERR_VERSION (another version or byte order), ERR_MALFORMED, ERR_LIMIT_MEMORY. Thread:
 * any. */
enum err_code schema_blob_read(const void *bytes, size_t len, const char *db_name, const struct schema_options *options,
                               struct schema_index **out, struct err *err);

/* The columns whose values are apart, by id, into columns[] (room for all of the index). Their number. Those that
 * schema_blob_write leaves out, of an index that was built; of one that was read, those that were left out. */
uint32_t schema_parts(const struct schema_index *index, uint32_t *columns);

/* Write the part of such a column, of an index that was built. As schema_blob_write. */
enum err_code schema_part_write(const struct schema_index *index, uint32_t column, struct schema_blob *out,
                                struct err *err);

/* The values of one column, for an index that was read. */
struct values;
/* Read a part. Errors as schema_blob_read's; a part of another index or column is ERR_MALFORMED. */
enum err_code schema_part_read(const void *bytes, size_t len, const struct schema_index *index, uint32_t column,
                               struct values **out, struct err *err);
/* NULL is fine. A part that `load` below has handed over is the index's. */
void schema_part_free(struct values *part);
/* Take it from an index of the same database that was built. NULL: it is of another one. */
struct values *schema_part_of(const struct schema_index *built, const struct schema_index *index, uint32_t column);

/* Where an index that was read gets its parts. `load` hands a part over, or NULL: then the values of that column are
 * not known for now. It is called on whichever thread asks, one at a time, again and again while it fails. `end` (may
 * be NULL) is called with the index's last reference. Set before the index is shared. */
struct schema_part_source {
    void *ctx;
    struct values *(*load)(void *ctx, const struct schema_index *index, uint32_t column);
    void (*end)(void *ctx);
};
void schema_parts_from(struct schema_index *index, const struct schema_part_source *source);

/* What an index depends on, as 32 hex digits: the fingerprint of the database, the options (the denied columns too),
 * the description files beside it (their names, sizes and times), and this version of Assay. Two workers that would
 * build different indexes have different keys, so that they never share one by mistake, an old and a new release side
 * by side included. Thread: any.
 */
void schema_blob_key(const char fingerprint[33], const char *path, const struct schema_options *options, char out[33]);

#endif
