/* Serialises a schema index, for a cache that outlives the process.
 *
 *     0        8         12         16       24        32
 *     | magic  | version | order    | length | XXH3_64 | body: one stream of msgpack values ... |
 *
 * The index blob excludes the values of large columns. The values of each large column form a part: a separate blob in
 * the same format, with the magic "assay.iv". A lookup of a value loads the part of each column that may hold this
 * value. A filter in the index rules out most values that the column does not hold. So a worker loads only the columns
 * that questions refer to, even if the database holds millions of values.
 *
 * The header is in the writer's byte order, which `order` shows. A reader with the other byte order refuses the blob,
 * because the value table in the body is a copy of memory. The functions of blob.c define the body. Each function both
 * writes and reads.
 *
 * Bytes from a cache are untrusted. The checksum detects damage. Data with a valid checksum is checked too: each
 * offset, count, length, name and link. So any bytes yield either an index that is safe to use or an error. False
 * content in a well-formed blob is not detected: a party with write access to the cache can make a database look
 * different. There is no migration: a blob of another version is an error, and the caller rebuilds the index.
 *
 * The format belongs to lib/schema and not to proto/, because no other code reads or writes it. The model files of
 * lib/learn follow the same rule. worker/cache.c handles only bytes.
 */
#ifndef ASSAY_LIB_SCHEMA_BLOB_H
#define ASSAY_LIB_SCHEMA_BLOB_H

#include "lib/schema/schema.h"

enum { SCHEMA_BLOB_VERSION = 9 };

struct schema_blob {
    unsigned char *bytes; /* from malloc */
    size_t len;
};

/* Writes an index to *out. Free with schema_blob_free. Returns ERR_LIMIT_BYTES above 512 MB, the maximum length of a
 * Redis value. Thread: any. */
enum err_code schema_blob_write(const struct schema_index *index, struct schema_blob *out, struct err *err);
void schema_blob_free(struct schema_blob *blob);

/* Reads a blob into a new index with the name `db_name`. Release with schema_unref. `options` limits the index's
 * memory. The index keeps no reference to the bytes. Errors: ERR_VERSION (another version or byte order),
 * ERR_MALFORMED, ERR_LIMIT_MEMORY. Thread: any. */
enum err_code schema_blob_read(const void *bytes, size_t len, const char *db_name, const struct schema_options *options,
                               struct schema_index **out, struct err *err);

/* Lists the ids of the columns whose values are stored in parts. columns[] must have capacity for all columns of the
 * index. Returns their number. In an index that was built, these are the columns that schema_blob_write excludes. In an
 * index that was read, these are the columns whose values the blob lacks. */
uint32_t schema_parts(const struct schema_index *index, uint32_t *columns);

/* Writes the part of one of these columns, from an index that was built. Ownership and errors as for
 * schema_blob_write. */
enum err_code schema_part_write(const struct schema_index *index, uint32_t column, struct schema_blob *out,
                                struct err *err);

/* The values of one column of an index that was read. */
struct values;
/* Reads a part. Errors: those of schema_blob_read. Returns ERR_MALFORMED for a part of another index or column. */
enum err_code schema_part_read(const void *bytes, size_t len, const struct schema_index *index, uint32_t column,
                               struct values **out, struct err *err);
/* Frees a part. `part` may be NULL. Do not free a part that `load` below returned, because the index owns it. */
void schema_part_free(struct values *part);
/* Copies a part from an index of the same database that was built. Returns NULL if `built` is of another database. */
struct values *schema_part_of(const struct schema_index *built, const struct schema_index *index, uint32_t column);

/* Loads the parts of an index that was read. `load` returns a part, which the index then owns. It returns NULL if the
 * values are unavailable for now; the next lookup calls it again. Any thread may call it, but only one at a time. `end`
 * (may be NULL) is called when the last reference to the index is released. Set the source before other threads can use
 * the index.
 */
struct schema_part_source {
    void *ctx;
    struct values *(*load)(void *ctx, const struct schema_index *index, uint32_t column);
    void (*end)(void *ctx);
};
void schema_parts_from(struct schema_index *index, const struct schema_part_source *source);

/* Computes the cache key of an index, as 32 hex digits. The key covers the fingerprint of the database and the options,
 * including denied columns. It also covers the description files (names, sizes, times) and this version of Assay.
 * Workers that would build different indexes thus have different keys, also during an upgrade. Thread: any. */
void schema_blob_key(const char fingerprint[33], const char *path, const struct schema_options *options, char out[33]);

#endif
