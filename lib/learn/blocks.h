/* The binary form of a model file: what is large in it as it lies in memory, the rest as JSON. It is made of the JSON file, lies
 * beside it (x.json, x.bin), and is mapped in its place as long as it is of that very file: docs/models.md has the format.
 *
 * In its JSON a large member is {"block": i}, and the bytes are a block of the file. A loader that meets one asks for it
 * here and checks the numbers in it as it checks those of JSON: a file's checksum says that it is whole, not that it is honest.
 *
 * Thread: reading, any.
 */
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

/* A model file read: its JSON, and the blocks that this refers to. */
struct model_document {
    json_t *root;
    uint64_t digest; /* XXH3-64 of the JSON, without a byte order mark; 0: of no file */
    struct model_blocks blocks;
};
void model_document_clear(struct model_document *document);

/* Of a model file, by its binary form where one of the same JSON stands beside it. ERR_IO, ERR_MALFORMED, ERR_VERSION,
 * ERR_LIMIT_BYTES; ERR_MALFORMED with the name of the binary form where that is damaged. On success the caller owes model_document_clear. */
enum err_code model_document_open(const char *path, const char *format, int version, struct model_document *out,
                                  struct err *err);
/* Of the bytes of a binary form, whatever JSON it was made of. */
enum err_code model_document_read(GBytes *file, const char *format, int version, struct model_document *out,
                                  struct err *err);

/* What {"block": i} stands for, a whole number of elements of `size` bytes; NULL: it is none, or there is no such block. The caller
 * owes g_bytes_unref, and the bytes live as long. */
GBytes *model_block(const struct model_blocks *blocks, const json_t *value, size_t size, size_t *n);
/* Exactly n of them. */
GBytes *model_block_of(const struct model_blocks *blocks, const json_t *value, size_t size, size_t n);

/* --- writing --- */

/* Takes `bytes`; what stands for them in the JSON. NULL: BLOCKS_MAX are there already. */
json_t *blocks_add(struct model_blocks *blocks, GBytes *bytes);
/* The file; takes `root`. `made_of` are the bytes of the JSON file. */
GBytes *blocks_file(struct model_blocks *blocks, json_t *root, const void *made_of, size_t len);

/* XXH3-64 of a file, read in pieces: what a binary form says it was made of. False: it cannot be read. */
bool model_file_digest(const char *path, uint64_t *out);

/* x.json → x.bin. g_free. */
char *blocks_path(const char *path);

#endif
