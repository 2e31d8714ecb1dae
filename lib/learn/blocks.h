/* The binary form of a model file. Large parts are stored as they are in memory, and everything else as JSON. It is
 * made from the JSON file x.json and stored beside it as x.bin. It is mapped instead of reading x.json if its digest
 * matches that file. docs/models.md describes the format.
 *
 * In its JSON, a large member is replaced by {"block": i}, and block i of the file has its bytes. A loader that finds
 * such a member requests the block here. It checks the numbers like those of JSON, because a checksum proves that a
 * file is complete, but not that it is valid.
 *
 * Thread: any, for reading. */
#ifndef ASSAY_LIB_LEARN_BLOCKS_H
#define ASSAY_LIB_LEARN_BLOCKS_H

#include "lib/base/error.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCKS_VERSION = 1, BLOCKS_MAX = 64, BLOCKS_ALIGN = 64 };

struct model_blocks {
    GBytes *items[BLOCKS_MAX]; /* each item keeps the file mapped */
    uint32_t n;
};
void blocks_clear(struct model_blocks *blocks);

/* An opened model file: its JSON, and the blocks that the JSON refers to. */
struct model_document {
    json_t *root;
    uint64_t digest; /* XXH3-64 of the JSON file, without a byte order mark; 0 if there is no file */
    struct model_blocks blocks;
};
void model_document_clear(struct model_document *document);

/* Opens a model file. Opens the binary form instead if one made from the same JSON is beside it. Returns ERR_IO,
 * ERR_MALFORMED, ERR_VERSION or ERR_LIMIT_BYTES. If the binary form is damaged, returns ERR_MALFORMED and names that
 * file. On success, free *out with model_document_clear. */
enum err_code model_document_open(const char *path, const char *format, int version, struct model_document *out,
                                  struct err *err);
/* Reads a binary form from memory, without checking which JSON it was made from. */
enum err_code model_document_read(GBytes *file, const char *format, int version, struct model_document *out,
                                  struct err *err);

/* Returns the block that {"block": i} refers to. Its length must be a multiple of `size`; *n is the number of elements.
 * Returns NULL if `value` is not such a reference or the block does not exist. Release with g_bytes_unref; the bytes
 * are valid until then. */
GBytes *model_block(const struct model_blocks *blocks, const json_t *value, size_t size, size_t *n);
/* Returns a block of exactly n elements, as model_block does. */
GBytes *model_block_of(const struct model_blocks *blocks, const json_t *value, size_t size, size_t n);

/* --- writing --- */

/* Adds a block and returns the reference to it for the JSON. Takes ownership of `bytes`. Returns NULL if there are
 * already BLOCKS_MAX blocks. */
json_t *blocks_add(struct model_blocks *blocks, GBytes *bytes);
/* Returns the contents of the binary file. Takes the reference to `root`. `made_of` has the bytes of the JSON file. */
GBytes *blocks_file(struct model_blocks *blocks, json_t *root, const void *made_of, size_t len);

/* Computes XXH3-64 of a file, which is the digest that a binary form stores. Reads the file in pieces. Returns false if
 * the file cannot be read. */
bool model_file_digest(const char *path, uint64_t *out);

/* Returns the path of the binary form: x.bin for x.json. Free with g_free. */
char *blocks_path(const char *path);

#endif
