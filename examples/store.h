/* Declares what both kinds of store share: a file (file.h) and tables in PostgreSQL (postgres.c). Only for the files of
 * examples/. */
#ifndef ASSAY_EXAMPLES_STORE_H
#define ASSAY_EXAMPLES_STORE_H

#include "examples/examples.h"
#include "lib/text/text.h"

enum { EXAMPLES_SCALE = 127 }; /* integer that stores a vector component of 1 */

/* The texts of a row, in the order in which they are read. */
#define EXAMPLES_ROW "source, db, question, wrong, error, fixed, steps, kind, columns"
enum { EXAMPLES_QUESTION_TEXT = 2, EXAMPLES_WRONG_TEXT, EXAMPLES_ERROR_TEXT, EXAMPLES_TEXTS = 9 };

/* A kind of store. Each member implements the function of examples.h with the same name, which first does the common
 * checks. */
struct examples_kind {
    enum err_code (*create)(const char *path, struct examples_encoder *encoder, struct examples **out, struct err *err);
    enum err_code (*open)(const char *path, bool writes, struct examples_encoder *encoder, struct examples **out,
                          struct err *err);
    enum err_code (*close)(struct examples *store, struct err *err);
    enum err_code (*add)(struct examples *store, const char *const texts[EXAMPLES_TEXTS], const int8_t *vectors,
                         bool *added, struct err *err);
    enum err_code (*read)(struct examples *store, struct arena *arena, const struct examples_found *found, uint32_t n,
                          struct example *out, struct err *err);
    uint32_t (*list)(struct examples *store, uint32_t most, struct examples_found *out);
    uint32_t (*search)(struct examples *store, const struct examples_query *query, enum examples_key key, uint32_t k,
                       struct examples_found *out);
    enum err_code (*prune)(struct examples *store, float likeness, uint32_t *taken, struct err *err);
};
extern const struct examples_kind examples_file_kind, examples_postgres_kind;

/* The part that every kind of store has. */
struct examples {
    const struct examples_kind *kind;
    struct examples_encoder *encoder; /* NULL means the built-in one */
    char *name;                       /* name for messages; owned; free with g_free */
    /* n: examples when the store was opened or refreshed; n_added: examples that this process has added since */
    uint32_t n, n_added;
};

/* Returns the parts that a key compares, as a set of bits 1 << enum examples_part. */
unsigned examples_parts_of(enum examples_key key);

/* Computes the three vectors of these texts, in the order of enum examples_part. A NULL or empty text gives zeros. */
enum err_code examples_embed(struct examples *store, const char *const texts[EXAMPLES_PARTS],
                             int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err);
/* Writes the columns of an example as a JSON array. An element is [table, column or null, type or null, whether it is a
 * primary key, referenced table or null]. Free with free. */
char *examples_columns_write(const struct repair_column *columns, uint32_t n);
/* Reads such an array. Returns false if it is malformed or the arena is full. */
bool examples_columns_read(struct arena *arena, const char *text, struct example *out);
/* Returns the name of the embedder as stored in a file. */
const char *examples_encoder_name(const struct examples_encoder *encoder);
/* Computes vectors as examples_embed does, with an encoder that is not the built-in one. */
enum err_code examples_encode(struct examples_encoder *encoder, const char *const texts[EXAMPLES_PARTS],
                              int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err);
/* Reads an example from the texts of its row, copied into the arena. Returns false if a text is missing or malformed,
 * or the arena is full. */
bool examples_row_read(struct arena *arena, const char *const texts[EXAMPLES_TEXTS], struct example *out);
/* Inserts an item into a list of at most k items, most similar first. Among equal items, the earlier comes first.
 * Returns the new length. */
uint32_t examples_keep(struct examples_found *out, uint32_t n, uint32_t k, struct examples_found one);
/* Fuses two lists by rank. Each is ordered best first and has at most EXAMPLES_MAX_FOUND items. An item keeps its
 * likeness. Returns the length of the result. */
uint32_t examples_fuse(const struct examples_found *near, uint32_t n_near, const struct examples_found *worded,
                       uint32_t n_worded, uint32_t k, struct examples_found *out);
/* Passes up to EXAMPLES_MAX_WORDS words of question, error and SQL to `each`. Skips words with fewer than three
 * letters. */
enum { EXAMPLES_MAX_WORDS = 24 };
void examples_words(const struct examples_query *query, void (*each)(void *ctx, const char *word, size_t len),
                    void *ctx);
/* Returns the hash of a question without case and space. */
uint64_t examples_question_hash(const char *question);

#endif
