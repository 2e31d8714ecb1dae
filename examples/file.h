/* Defines a store of examples in a SQLite file. The data for searches is loaded into memory. Only for the files of
 * examples/. */
#ifndef ASSAY_EXAMPLES_FILE_H
#define ASSAY_EXAMPLES_FILE_H

#include "examples/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sqlite3.h>

enum { EXAMPLES_SIGN_WORDS = TEXT_DIM / 64 };

struct examples_file {
    struct examples base;
    char *path;
    sqlite3 *db;
    pthread_mutex_t lock; /* protects the statements */
    /* protects the data in memory: searches hold it for reading, a refresh for writing. Lock it before `lock` */
    pthread_rwlock_t current;
    /* time of the next check for additions by other processes; INT64_MAX disables the check */
    _Atomic int64_t look_ns;
    int64_t version; /* data_version of the file when it was read */
    sqlite3_stmt *insert, *insert_words, *read, *match;
    bool changed; /* a transaction is open */
    uint32_t n, n_added;
    int64_t *ids;    /* rowids, ascending */
    int8_t *vectors; /* [part][example][TEXT_DIM] */
    /* [part][example][EXAMPLES_SIGN_WORDS]; NULL if the store is small enough to compare all vectors */
    uint64_t *signs;
    uint64_t *questions; /* hashes of the questions, without case and space */
    uint64_t *sources;   /* hashes of the requests' ids; 0 if an example has none */
};

/* Reloads the file if another process has changed it. Checks at most once a second. If reading fails, keeps the loaded
 * data. */
void file_refresh(struct examples_file *store);
/* Loads the data for searches from the file. Errors: ERR_CONFIG (the file is damaged), ERR_NOMEM. */
enum err_code file_load(struct examples_file *store, struct err *err);
/* Returns the mean cosine of all parts of two examples. */
float file_likeness(const struct examples_file *store, uint32_t a, uint32_t b);

/* Implements examples_search. */
uint32_t file_search(struct examples *base, const struct examples_query *query, enum examples_key key, uint32_t k,
                     struct examples_found *out);

#endif
