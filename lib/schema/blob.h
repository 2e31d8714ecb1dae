/* A schema index as bytes, for a cache that outlives the process, and back.
 *
 *   0        8         12         16       24        32
 *   | magic  | version | order    | length | xxh3_64 | body: one stream of msgpack values ... |
 *
 * The header is in the writer's byte order, and `order` is how a reader of the other kind finds out: such bytes are
 * refused, not swapped, for the value table in the body is copied as it lies in memory. The body is described once, by
 * the functions of blob.c that both write and read it.
 *
 * Bytes of a cache are hostile. A reader takes nothing on trust: the checksum finds damage, and whatever passes it is
 * still checked, each offset, count, length, name and link, so that any bytes end in an index that is safe to use or in
 * an error. What it cannot find is a lie that is well formed: whoever may write to the cache may say what a database
 * holds. There is no migration: another version is an error, and the index is built anew.
 *
 * It lies here and not in proto/ because it is no message: nobody outside of this room can read or make one, as with
 * the model files of lib/learn. Whoever carries it (worker/cache.c) sees bytes.
 */
#ifndef ASSAY_LIB_SCHEMA_BLOB_H
#define ASSAY_LIB_SCHEMA_BLOB_H

#include "lib/schema/schema.h"

enum { SCHEMA_BLOB_VERSION = 1 };

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

/* What an index depends on, as 32 hex digits: the fingerprint of the database, the options, the description files
 * beside it (their names, sizes and times), and this version of Assay. Two workers that would build different indexes
 * have different keys, so that they never share one by mistake, an old and a new release side by side included. Thread:
 * any.
 */
void schema_blob_key(const char fingerprint[33], const char *path, const struct schema_options *options, char out[33]);

#endif
