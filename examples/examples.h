/* Stores few-shot examples for correctors: wrong queries with their corrections, searched by similarity.
 *
 * DESIGN. A store is one SQLite file: rows, their vectors, and a full-text index. Each example has three vectors: of
 * its error, its question and its wrong SQL. The built-in embedder (lib/text) or a model (encoder.h) computes them.
 * They take one byte for each dimension. A search by several vectors ranks by the mean of their cosines, so the same
 * three vectors serve all search keys of the paper.
 *
 * Opening a store loads the vectors into memory, 0.9 KB for each example. Up to EXAMPLES_EXACT examples, a search
 * compares all vectors exactly. Above that, it compares the signs of the rotated vectors (256 bits each), and then only
 * the nearest EXAMPLES_RERANKED exactly. The key `hybrid` also uses words: it fuses the ranks by all three vectors with
 * those by BM25 (FTS5). Each rank adds 1 / (60 + rank).
 *
 * Rejected: an HNSW graph (hnswlib). It takes three to five times the memory, and minutes to build. A scan of 32 MB of
 * signs takes milliseconds for a million examples (bench/examples.c). A search in an HNSW graph also cannot exclude the
 * examples of the same question without losing others.
 *
 * Questions, SQL and errors are texts and data of users, so a store is as confidential as its log. `assay examples
 * build` leaves out confidential parts. Thread: any number may search a store concurrently; only one may write it.
 */
#ifndef ASSAY_EXAMPLES_EXAMPLES_H
#define ASSAY_EXAMPLES_EXAMPLES_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "repair/propose.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EXAMPLES_VERSION = 2,
    EXAMPLES_MAX = 1000000,      /* maximum number of examples in a store */
    EXAMPLES_MAX_TEXT = 8 << 10, /* maximum size of each text */
    EXAMPLES_MAX_COLUMNS = 256,  /* maximum number of columns of an example */
    EXAMPLES_EXACT = 50000,
    EXAMPLES_RERANKED = 4000,
    EXAMPLES_MAX_FOUND = 100
};

struct example {
    const char *source;   /* id of its request; "" if there is none */
    const char *db;       /* name of its database */
    const char *question; /* NUL-terminated, like all texts here */
    const char *wrong;    /* SQL */
    /* reported error: the engine's message, the message of a finding, or that the result differs */
    const char *error;
    const char *right;                   /* SQL */
    const char *steps;                   /* edits from the wrong query to the right one, in words, one for each line */
    const char *kind;                    /* clauses that change, such as "WHERE, ORDER BY" */
    const struct repair_column *columns; /* descriptions of the columns that both queries use */
    uint32_t n_columns;
};

/* Search keys: X(ID, name, parts of the example that are compared). */
#define EXAMPLES_KEYS(X)                                                                                               \
    X(ERROR, error, 1U << EXAMPLES_PART_ERROR)                                                                         \
    X(QUESTION, question, 1U << EXAMPLES_PART_QUESTION)                                                                \
    X(SQL, sql, 1U << EXAMPLES_PART_SQL)                                                                               \
    X(QUESTION_SQL, question_sql, 1U << EXAMPLES_PART_QUESTION | 1U << EXAMPLES_PART_SQL)                              \
    X(ALL, all, EXAMPLES_ALL_PARTS)                                                                                    \
    X(HYBRID, hybrid, EXAMPLES_ALL_PARTS)

enum examples_part { EXAMPLES_PART_ERROR, EXAMPLES_PART_QUESTION, EXAMPLES_PART_SQL, EXAMPLES_PARTS };
#define EXAMPLES_ALL_PARTS ((1U << EXAMPLES_PARTS) - 1)

enum examples_key {
#define X(id, name, parts) EXAMPLES_##id,
    EXAMPLES_KEYS(X)
#undef X
        EXAMPLES_KEY_COUNT
};
int examples_key_by_name(const char *name); /* returns -1 if there is none */

struct examples;
struct examples_encoder; /* encoder.h; NULL means the built-in embedder */

/* Creates a store that replaces `path`. Close with examples_close. The store is complete only if that succeeds. Errors:
 * ERR_IO. */
enum err_code examples_create(const char *path, struct examples_encoder *encoder, struct examples **out,
                              struct err *err);
/* Opens a store to search and show it and, if `writes` is true, to prune or extend it. Close with examples_close.
 * Returns ERR_IO if the file is unreadable. Returns ERR_CONFIG, with a hint, if the file is not a store, is damaged, or
 * has another version or embedder. */
enum err_code examples_open(const char *path, bool writes, struct examples_encoder *encoder, struct examples **out,
                            struct err *err);
/* Closes a store, which may be NULL. Returns ERR_IO if additions cannot be written. */
enum err_code examples_close(struct examples *store, struct err *err);

uint32_t examples_count(const struct examples *store);

/* Adds an example and sets *added. Does not add it if the store already has that wrong SQL for the question, or if a
 * text is too long. Searches find the example after the store is reopened. Errors: ERR_LIMIT_COUNT past EXAMPLES_MAX,
 * ERR_IO. */
enum err_code examples_add(struct examples *store, const struct example *example, bool *added, struct err *err);

struct examples_query {
    const char *question, *sql, *error; /* NULL excludes that part from the search */
    const char *source;                 /* id of the request, whose examples are excluded; may be NULL */
};

struct examples_found {
    uint32_t at;    /* index of the example in the store */
    float likeness; /* mean cosine over the parts of the key */
};

/* Finds the k most similar examples, at most EXAMPLES_MAX_FOUND, most similar first. Excludes examples of the same
 * request or the same question; case and space are ignored. Examples that another process adds appear within a second.
 * Returns the number found. Thread: any. */
uint32_t examples_search(struct examples *store, const struct examples_query *query, enum examples_key key, uint32_t k,
                         struct examples_found *out);

/* Reads the found examples, in the same order. Texts live in the arena. Errors: ERR_CONFIG (the store is damaged),
 * ERR_IO. Thread: any. */
enum err_code examples_read(struct examples *store, struct arena *arena, const struct examples_found *found, uint32_t n,
                            struct example *out, struct err *err);
/* Reads the found examples and skips damaged ones. Returns the number read. */
uint32_t examples_read_whole(struct examples *store, struct arena *arena, const struct examples_found *found,
                             uint32_t n, struct example *out);
/* Lists up to `most` examples in the order in which they were added, with likeness -1. Returns their number. */
uint32_t examples_list(struct examples *store, uint32_t most, struct examples_found *out);

/* Removes each example whose mean cosine with an earlier example, over the three vectors, exceeds `likeness`. Works for
 * at most EXAMPLES_EXACT examples. Sets *taken to the number removed. */
enum err_code examples_prune(struct examples *store, float likeness, uint32_t *taken, struct err *err);

/* Selects the store for repairs and the examples for a corrector. */
struct examples_shots {
    const char *path;                 /* path of the store; NULL disables few-shot examples */
    struct examples_encoder *encoder; /* encoder with which the store was built */
    enum examples_key key;
    uint32_t n;
};

/* Finds the k most similar examples for proposals (repair/propose.h), most similar first. Compares all three texts and
 * their words. Texts live in the arena. Returns their number. Thread: any. */
uint32_t examples_for_repair(struct examples *store, struct arena *arena, const struct examples_query *query,
                             uint32_t k, struct repair_example *out);

/* Returns a copy of `data`, the JSON object for a corrector (coordinator/correction.c), with the k most similar
 * examples added as `examples`. Free with free. Returns NULL if there are no examples, or if `data` is not such an
 * object. Thread: any. */
char *examples_with_shots(struct examples *store, const char *data, enum examples_key key, uint32_t k);

#endif
