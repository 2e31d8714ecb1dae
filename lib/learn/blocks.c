/* Reads and writes the binary form of a model file (blocks.h): a head, a table of blocks, then the blocks, each aligned
 * to BLOCKS_ALIGN bytes. The last block is the JSON, which refers to the others by index. The file is mapped, and the
 * blocks are slices of the mapping, so loading copies no weights.
 *
 * A binary file is used only if the digest in its head equals that of the JSON file beside it. Otherwise the JSON file
 * is read. A damaged binary file is an error, even if the JSON file is intact. Every size and offset is checked before
 * use. */
#include "lib/learn/blocks.h"

#include "lib/learn/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { CHUNK = 32 << 10 };
static const char MAGIC[8] = "ASSAYMDL";
static const uint32_t ORDER = 0x01020304; /* byte order of the machine that wrote the file */

struct head {
    char magic[8];
    uint32_t order, version;
    uint64_t made_of;  /* XXH3-64 of the JSON file */
    uint64_t checksum; /* XXH3-64 of the bytes after the head */
    uint64_t size;     /* size of the whole file */
    uint64_t n;        /* number of blocks; the last is the JSON */
};
struct place {
    uint64_t offset, size;
};
_Static_assert(sizeof(struct head) == 48 && sizeof(struct place) == 16, "the file is these, byte for byte");

static size_t aligned(size_t offset)
{
    return (offset + BLOCKS_ALIGN - 1) / BLOCKS_ALIGN * BLOCKS_ALIGN;
}

void blocks_clear(struct model_blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->n; i++) g_bytes_unref(blocks->items[i]);
    blocks->n = 0;
}

void model_document_clear(struct model_document *document)
{
    json_decref(document->root);
    document->root = NULL;
    blocks_clear(&document->blocks);
}

/* --- reading --- */

static enum err_code check_head(const struct head *head, const unsigned char *bytes, size_t len, struct err *err)
{
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0) return err_set(err, ERR_MALFORMED, "not a binary model file");
    if (head->order != ORDER) return err_set(err, ERR_MALFORMED, "written on a machine with the other byte order");
    if (head->version != BLOCKS_VERSION)
        return err_set(err, ERR_VERSION, "unsupported version %u of the binary form; this build reads version %d",
                       head->version, BLOCKS_VERSION);
    if (head->size != len)
        return err_set(err, ERR_MALFORMED, "%zu bytes; expected %" G_GUINT64_FORMAT, len, head->size);
    if (head->checksum != XXH3_64bits(bytes + sizeof *head, len - sizeof *head))
        return err_set(err, ERR_MALFORMED, "checksum mismatch: the file is damaged");
    if (head->n < 1 || head->n > BLOCKS_MAX || head->n * sizeof(struct place) > len - sizeof *head)
        return err_set(err, ERR_MALFORMED, "invalid number of blocks");
    return ERR_OK;
}

static enum err_code cut_blocks(GBytes *file, size_t n, struct model_blocks *out, struct err *err)
{
    size_t len;
    const unsigned char *bytes = g_bytes_get_data(file, &len);
    for (size_t i = 0; i < n; i++) {
        struct place place;
        memcpy(&place, bytes + sizeof(struct head) + i * sizeof place, sizeof place);
        if (place.offset % BLOCKS_ALIGN || place.offset > len || place.size > len - place.offset)
            return err_set(err, ERR_MALFORMED, "block %zu lies outside the file", i);
        out->items[out->n++] = g_bytes_new_from_bytes(file, place.offset, place.size);
    }
    return ERR_OK;
}

enum err_code model_document_read(GBytes *file, const char *format, int version, struct model_document *out,
                                  struct err *err)
{
    size_t len, text_len;
    const unsigned char *bytes = g_bytes_get_data(file, &len);
    struct head head;
    *out = (struct model_document){0};
    if (len < sizeof head) return err_set(err, ERR_MALFORMED, "too short for a binary model file");
    if (len > MODEL_FILE_MAX) return err_set(err, ERR_LIMIT_BYTES, "larger than %d bytes", MODEL_FILE_MAX);
    memcpy(&head, bytes, sizeof head);
    enum err_code code = check_head(&head, bytes, len, err);
    if (!code) code = cut_blocks(file, (size_t)head.n, &out->blocks, err);
    if (!code) {
        const char *text = g_bytes_get_data(out->blocks.items[out->blocks.n - 1], &text_len);
        code = model_json_parse(text ? text : "", text_len, format, version, &out->root, err);
    }
    if (code) model_document_clear(out);
    return code;
}

bool model_file_digest(const char *path, uint64_t *out)
{
    char chunk[CHUNK];
    XXH3_state_t *state = XXH3_createState();
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && state) {
        XXH3_64bits_reset(state);
        while ((n = read(fd, chunk, sizeof chunk)) > 0) XXH3_64bits_update(state, chunk, (size_t)n);
        *out = XXH3_64bits_digest(state);
    }
    if (fd >= 0) close(fd);
    XXH3_freeState(state);
    return n == 0;
}

char *blocks_path(const char *path)
{
    size_t len = strlen(path);
    if (g_str_has_suffix(path, ".json")) len -= strlen(".json");
    return g_strdup_printf("%.*s.bin", (int)len, path);
}

/* Maps the binary form of the JSON file `path`, and sets *digest to the digest of the JSON file. Returns NULL if there
 * is no binary form, or if it was made from another JSON file. */
static GBytes *map_beside(const char *path, const char *binary, uint64_t *digest)
{
    struct head head;
    GMappedFile *mapped = g_mapped_file_new(binary, FALSE, NULL);
    if (!mapped) return NULL;
    GBytes *file = g_mapped_file_get_bytes(mapped);
    g_mapped_file_unref(mapped);
    size_t len;
    const void *bytes = g_bytes_get_data(file, &len);
    if (len < sizeof head) return file; /* the file is damaged; the reader reports this */
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof MAGIC) != 0) return file;
    if (model_file_digest(path, digest) && head.made_of == *digest) return file;
    g_bytes_unref(file);
    return NULL;
}

static enum err_code open_json(const char *path, const char *format, int version, struct model_document *out,
                               struct err *err)
{
    char *text;
    size_t len;
    enum err_code code = model_file_read(path, &text, &len, err);
    if (code) return code;
    struct err inner = {0};
    code = model_json_parse(text, len, format, version, &out->root, &inner);
    out->digest = XXH3_64bits(text, len);
    g_free(text);
    return code ? err_at(err, code, &inner, "%s", path) : ERR_OK;
}

enum err_code model_document_open(const char *path, const char *format, int version, struct model_document *out,
                                  struct err *err)
{
    uint64_t digest = 0;
    *out = (struct model_document){0};
    char *binary = blocks_path(path);
    GBytes *file = map_beside(path, binary, &digest);
    struct err inner = {0};
    enum err_code code =
        file ? model_document_read(file, format, version, out, &inner) : open_json(path, format, version, out, err);
    if (file && code) err_set(err, code, "%s: %s" ERR_HINT "delete it to read %s instead", binary, inner.text, path);
    if (file) {
        out->digest = digest;
        g_bytes_unref(file);
    }
    g_free(binary);
    return code;
}

GBytes *model_block(const struct model_blocks *blocks, const json_t *value, size_t size, size_t *n)
{
    size_t i, len;
    if (!blocks || !model_get_count(value, "block", BLOCKS_MAX, &i) || i >= blocks->n) return NULL;
    len = g_bytes_get_size(blocks->items[i]);
    if (len % size) return NULL;
    *n = len / size;
    return g_bytes_ref(blocks->items[i]);
}

GBytes *model_block_of(const struct model_blocks *blocks, const json_t *value, size_t size, size_t n)
{
    size_t found;
    GBytes *block = model_block(blocks, value, size, &found);
    if (!block || found == n) return block;
    g_bytes_unref(block);
    return NULL;
}

/* --- writing --- */

json_t *blocks_add(struct model_blocks *blocks, GBytes *bytes)
{
    if (blocks->n + 1 >= BLOCKS_MAX) { /* the last block is the JSON */
        g_bytes_unref(bytes);
        return NULL;
    }
    blocks->items[blocks->n] = bytes;
    return json_pack("{s:i}", "block", (int)blocks->n++);
}

GBytes *blocks_file(struct model_blocks *blocks, json_t *root, const void *made_of, size_t len)
{
    char *text = model_json_text(root, true);
    if (!text) return NULL;
    blocks->items[blocks->n++] = g_bytes_new_with_free_func(text, strlen(text), free, text);
    size_t size = sizeof(struct head) + blocks->n * sizeof(struct place);
    for (uint32_t i = 0; i < blocks->n; i++) size = aligned(size) + g_bytes_get_size(blocks->items[i]);
    unsigned char *file = g_malloc0(size);
    struct head head = {
        .order = ORDER, .version = BLOCKS_VERSION, .made_of = XXH3_64bits(made_of, len), .size = size, .n = blocks->n};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    size_t end = sizeof head + blocks->n * sizeof(struct place);
    for (uint32_t i = 0; i < blocks->n; i++) {
        gsize bytes;
        const void *data = g_bytes_get_data(blocks->items[i], &bytes);
        struct place place = {.offset = aligned(end), .size = bytes};
        memcpy(file + sizeof head + i * sizeof place, &place, sizeof place);
        if (bytes) memcpy(file + place.offset, data, bytes);
        end = place.offset + bytes;
    }
    head.checksum = XXH3_64bits(file + sizeof head, size - sizeof head);
    memcpy(file, &head, sizeof head);
    return g_bytes_new_take(file, size);
}
