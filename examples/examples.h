/* Examples of wrong queries and how they were set right, found again by likeness (few-shot error correction).
 *
 * DESIGN. A store is one SQLite file: rows, their vectors, and a full-text index. Each example has three vectors, of its error, its
 * question and its wrong SQL, made by the built-in embedder (lib/text) or a model (encoder.h) and kept in one byte a dimension; a search by several of
 * them ranks by the mean of their cosines, so that one set of vectors serves all keys of the paper. On opening the vectors go into
 * memory, 0.9 KB an example. Up to EXAMPLES_EXACT of them are all compared; above, signs of the rotated vectors, 256 bits each,
 * are, and only the nearest EXAMPLES_RERANKED by these in full. `hybrid` adds the words: ranks by all three vectors and by BM25
 * (FTS5) are put together, 1 / (60 + rank) each.
 *
 * Rejected: an HNSW graph (hnswlib). It takes three to five times the memory and minutes to build for what a scan of 32 MB of signs
 * does in milliseconds for a million examples (bench/examples.c), and it cannot leave the question's own examples out without
 * losing others.
 *
 * Questions, SQL and errors are people's own words and data: a store is as secret as its log. What may not be shown is left out
 * when it is built. Thread: one store may be searched by many at once, but is written by one.
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
    EXAMPLES_MAX = 1000000,      /* in a store */
    EXAMPLES_MAX_TEXT = 8 << 10, /* bytes of each text */
    EXAMPLES_MAX_COLUMNS = 256,  /* of an example */
    EXAMPLES_EXACT = 50000,
    EXAMPLES_RERANKED = 4000,
    EXAMPLES_MAX_FOUND = 100
};

struct example {
    const char *source;   /* id of its request; "": none */
    const char *db;       /* name of its database */
    const char *question; /* NUL-terminated, as all texts */
    const char *wrong;    /* SQL */
    const char
        *error; /* what was said against it: the engine's words, a finding's, or that the result is another one */
    const char *right;                   /* SQL */
    const char *steps;                   /* from one to the other, in words, a line each */
    const char *kind;                    /* which clauses change, as "WHERE, ORDER BY" */
    const struct repair_column *columns; /* what is known of those that both queries use */
    uint32_t n_columns;
};

/* By what likeness is meant: X(ID, name, parts). */
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
int examples_key_by_name(const char *name); /* -1: there is none */

struct examples;
struct examples_encoder; /* encoder.h; NULL: the built-in embedder */

/* A new store in place of `path`. ERR_IO. The caller owes examples_close, which must not fail either: only then it is whole. */
enum err_code examples_create(const char *path, struct examples_encoder *encoder, struct examples **out,
                              struct err *err);
/* Open to search, show and, if `writes`, prune or add to. ERR_IO; ERR_CONFIG, with what to do, for a file that is no store, damaged,
 * of another version, or of another embedder. The caller owes examples_close. */
enum err_code examples_open(const char *path, bool writes, struct examples_encoder *encoder, struct examples **out,
                            struct err *err);
/* NULL is fine. ERR_IO when what was added cannot be written. */
enum err_code examples_close(struct examples *store, struct err *err);

uint32_t examples_count(const struct examples *store);

/* Kept unless the same question has that wrong SQL already; texts that are too long leave it out: *added says. Found by searches once the
 * store is opened again. ERR_LIMIT_COUNT past EXAMPLES_MAX; ERR_IO. */
enum err_code examples_add(struct examples *store, const struct example *example, bool *added, struct err *err);

struct examples_query {
    const char *question, *sql, *error; /* NULL: that part says nothing */
    const char *source;                 /* id of the request, whose own examples are left out; NULL */
};

struct examples_found {
    uint32_t at;    /* the store's own number of it */
    float likeness; /* mean cosine of the key's parts */
};

/* What another process has added to the store is found a second later. The k likest, at most EXAMPLES_MAX_FOUND, likest first; none of the same request or the same question (but for case and
 * space). Count. Thread: any. */
uint32_t examples_search(struct examples *store, const struct examples_query *query, enum examples_key key, uint32_t k,
                         struct examples_found *out);

/* What was found, in its order; texts live in the arena. ERR_CONFIG: the store is damaged; ERR_IO. Thread: any. */
enum err_code examples_read(struct examples *store, struct arena *arena, const struct examples_found *found, uint32_t n,
                            struct example *out, struct err *err);
/* Those of them that are whole. Count. */
uint32_t examples_read_whole(struct examples *store, struct arena *arena, const struct examples_found *found,
                             uint32_t n, struct example *out);
/* The first ones, at most `most`, in the order in which they were added; likeness -1. Count. */
uint32_t examples_list(struct examples *store, uint32_t most, struct examples_found *out);

/* Take out those that are, by all three vectors, likelier than `likeness` to an earlier one. At most EXAMPLES_EXACT. How many
 * were taken out. */
enum err_code examples_prune(struct examples *store, float likeness, uint32_t *taken, struct err *err);

/* Which store repairs look into, and which of its examples a corrector is shown. */
struct examples_shots {
    const char *path;                 /* of the store; NULL: none */
    struct examples_encoder *encoder; /* by which it was made */
    enum examples_key key;
    uint32_t n;
};

/* For proposals (repair/propose.h): the k likest by all three texts and their words, likest first. Texts live in the arena. Count.
 * Thread: any. */
uint32_t examples_for_repair(struct examples *store, struct arena *arena, const struct examples_query *query,
                             uint32_t k, struct repair_example *out);

/* For a corrector (coordinator/correction.c): `data`, the JSON object that it is told, with the k likest examples in it as `examples`.
 * malloc'd; NULL: there are none, or `data` is no such object. Thread: any. */
char *examples_with_shots(struct examples *store, const char *data, enum examples_key key, uint32_t k);

#endif
