/* Inside examples/: a store as it is in memory. */
#ifndef ASSAY_EXAMPLES_STORE_H
#define ASSAY_EXAMPLES_STORE_H

#include "examples/examples.h"
#include "lib/text/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sqlite3.h>

enum { EXAMPLES_SIGN_WORDS = TEXT_DIM / 64, EXAMPLES_SCALE = 127 }; /* EXAMPLES_SCALE: of a vector of length 1 */

struct examples {
    char *path;
    struct examples_encoder *encoder; /* NULL: the built-in one */
    sqlite3 *db;
    pthread_mutex_t lock;     /* over the statements */
    pthread_rwlock_t current; /* over what is in memory: searches read it, a refresh writes it; taken before `lock` */
    _Atomic int64_t look_ns;  /* when to look for additions of others next; INT64_MAX: never */
    int64_t version;          /* of the file as it was read (data_version) */
    sqlite3_stmt *insert, *insert_words, *read, *match;
    bool changed; /* a transaction is open */
    uint32_t n, n_added;
    int64_t *ids;        /* rowids, ascending */
    int8_t *vectors;     /* [part][example][TEXT_DIM] */
    uint64_t *signs;     /* [part][example][EXAMPLES_SIGN_WORDS]; NULL: few enough to compare all */
    uint64_t *questions; /* hashes of the questions, folded */
    uint64_t *sources;   /* hashes of the requests' ids; 0: none */
};

/* The three vectors of these texts (NULL or empty: all zero), in the order of enum examples_part. */
enum err_code examples_embed(struct examples *store, const char *const texts[EXAMPLES_PARTS],
                             int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err);
/* The columns of an example as the file has them: a JSON array of [table, column or null, type or null, is it a primary key?, the
 * table that it refers to or null]. malloc'd. */
char *examples_columns_write(const struct repair_column *columns, uint32_t n);
/* False: they are none, or the arena is full. */
bool examples_columns_read(struct arena *arena, const char *text, struct example *out);
/* What the vectors of a store are made by, as its file says it. */
const char *examples_encoder_name(const struct examples_encoder *encoder);
/* As examples_embed, by an encoder that is not the built-in one. */
enum err_code examples_encode(struct examples_encoder *encoder, const char *const texts[EXAMPLES_PARTS],
                              int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err);
/* Read the file again where another process has changed it since; looks once a second. What cannot be read stays as it was. */
void examples_refresh(struct examples *store);
/* What is searched, from the file. ERR_CONFIG: it is damaged; ERR_NOMEM. */
enum err_code examples_load(struct examples *store, struct err *err);
/* Mean cosine of all parts of two examples. */
float examples_likeness(const struct examples *store, uint32_t a, uint32_t b);

#endif
