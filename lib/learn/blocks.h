/* The binary form of a model file: large parts as they are in memory, everything else as JSON. It is made from the JSON
 * file, is stored beside it (x.json, x.bin), and is mapped in its place if its digest matches that file. docs/models.md
 * has the format.
 *
 * In its JSON a large member is {"block": i}, and its bytes are a block of the file. A loader that finds one requests
 * it here and checks its numbers like those of JSON: a checksum proves that a file is complete, not that it is honest.
 *
 * Thread: reading, any. */
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
    GBytes *items[BLOCKS_MAX]; /* each keeps the file mapped */
    uint32_t n;
};
void blocks_clear(struct model_blocks *blocks);

/* An opened model file: its JSON, and the blocks that the JSON refers to. */
struct model_document {
    json_t *root;
    uint64_t digest; /* XXH3-64 of the JSON, without a byte order mark; 0 without a file */
    struct model_blocks blocks;
};
void model_document_clear(struct model_document *document);

/* Opens a model file, by its binary form if one made of the same JSON is beside it. Returns ERR_IO, ERR_MALFORMED,
 * ERR_VERSION or ERR_LIMIT_BYTES. If the binary form is damaged, returns ERR_MALFORMED with its name. On success the
 * caller owes model_document_clear. */
enum err_code model_document_open(const char *path, const char *format, int version, struct model_document *out,
                                  struct err *err);
/* Reads the bytes of a binary form, made of any JSON. */
enum err_code model_document_read(GBytes *file, const char *format, int version, struct model_document *out,
                                  struct err *err);

/* Returns the block that {"block": i} refers to, a whole number of elements of `size` bytes. NULL if `value` is not
 * such a reference or the block does not exist. The caller owes g_bytes_unref; the bytes live as long. */
GBytes *model_block(const struct model_blocks *blocks, const json_t *value, size_t size, size_t *n);
/* Returns a block of exactly n elements. */
GBytes *model_block_of(const struct model_blocks *blocks, const json_t *value, size_t size, size_t n);

/* --- writing --- */

/* Takes `bytes` and returns the reference to them for the JSON. NULL if there are BLOCKS_MAX already. */
json_t *blocks_add(struct model_blocks *blocks, GBytes *bytes);
/* Returns the bytes of the file; takes `root`. `made_of` are the bytes of the JSON file. */
GBytes *blocks_file(struct model_blocks *blocks, json_t *root, const void *made_of, size_t len);

/* Computes XXH3-64 of a file, read in pieces: the digest that a binary form stores. Returns false if the file cannot be
 * read. */
bool model_file_digest(const char *path, uint64_t *out);

/* Turns x.json into x.bin. Free with g_free. */
char *blocks_path(const char *path);

#endif
