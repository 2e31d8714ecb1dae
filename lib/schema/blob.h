/* Serialises a schema index, for a cache that outlives the process.
 *
 *     0        8         12         16       24        32
 *     | magic  | version | order    | length | XXH3_64 | body: one stream of msgpack values ... |
 *
 * The index excludes the values of large columns. Each such column is a part: a separate blob in the same format (magic
 * "assay.iv"). A part is loaded when a value is looked up that its column may hold. A filter in the index rules out
 * values that the column does not hold. So of a database of millions of values a worker loads only the columns that
 * questions refer to.
 *
 * The header is in the writer's byte order, which `order` shows. A reader with the other byte order refuses the blob,
 * because the value table in the body is a copy of memory. The functions of blob.c define the body; each both writes
 * and reads.
 *
 * Bytes of a cache are untrusted. The checksum detects damage. Data with a valid checksum is still checked: each
 * offset, count, length, name and link. So any bytes yield either an index that is safe to use or an error. Well-formed
 * but false content is not detected: a party with write access to the cache can make a database look different. There
 * is no migration: another version is an error, and the index is rebuilt.
 *
 * The format is part of this room and not of proto/, because no other room reads or writes it. The model files of
 * lib/learn are handled in the same way. worker/cache.c handles only bytes.
 */
#ifndef ASSAY_LIB_SCHEMA_BLOB_H
#define ASSAY_LIB_SCHEMA_BLOB_H

#include "lib/schema/schema.h"

enum { SCHEMA_BLOB_VERSION = 9 };

struct schema_blob {
    unsigned char *bytes; /* malloc'd */
    size_t len;
};

/* Writes an index to *out. Free with schema_blob_free. ERR_LIMIT_BYTES: more than 512 MB, the longest value of a Redis.
 * Thread: any. */
enum err_code schema_blob_write(const struct schema_index *index, struct schema_blob *out, struct err *err);
void schema_blob_free(struct schema_blob *blob);

/* Reads a blob into a new index with the name `db_name`. Release with schema_unref. `options` bound its memory. The
 * bytes are not used afterwards. Errors: ERR_VERSION (another version or byte order), ERR_MALFORMED, ERR_LIMIT_MEMORY.
 * Thread: any. */
enum err_code schema_blob_read(const void *bytes, size_t len, const char *db_name, const struct schema_options *options,
                               struct schema_index **out, struct err *err);

/* Lists the columns that are stored apart, by id, in columns[], which must hold all columns of the index. Returns their
 * number. For an index that was built these are the columns that schema_blob_write leaves out; for one that was read,
 * the columns that were left out. */
uint32_t schema_parts(const struct schema_index *index, uint32_t *columns);

/* Writes the part of such a column of an index that was built. Ownership and errors as for schema_blob_write. */
enum err_code schema_part_write(const struct schema_index *index, uint32_t column, struct schema_blob *out,
                                struct err *err);

/* The values of one column of an index that was read. */
struct values;
/* Reads a part. Errors: those of schema_blob_read. A part of another index or column is ERR_MALFORMED. */
enum err_code schema_part_read(const void *bytes, size_t len, const struct schema_index *index, uint32_t column,
                               struct values **out, struct err *err);
/* Frees a part. `part` may be NULL. A part that `load` below has returned belongs to the index. */
void schema_part_free(struct values *part);
/* Copies a part from an index of the same database that was built. Returns NULL if it is of another database. */
struct values *schema_part_of(const struct schema_index *built, const struct schema_index *index, uint32_t column);

/* Source of the parts of an index that was read. `load` returns a part, which the index then owns. It returns NULL if
 * the values are unavailable for now; the next lookup calls it again. Calls come from any thread, one at a time. `end`
 * (may be NULL) is called when the last reference to the index is released. Set the source before the index is shared.
 */
struct schema_part_source {
    void *ctx;
    struct values *(*load)(void *ctx, const struct schema_index *index, uint32_t column);
    void (*end)(void *ctx);
};
void schema_parts_from(struct schema_index *index, const struct schema_part_source *source);

/* Computes the cache key of an index, as 32 hex digits. It covers the fingerprint of the database, the options
 * including denied columns, the description files (names, sizes, times), and this version of Assay. Workers that would
 * build different indexes thus have different keys, also during an upgrade. Thread: any. */
void schema_blob_key(const char fingerprint[33], const char *path, const struct schema_options *options, char out[33]);

#endif
