/* Inside examples/: a store that is a SQLite file, as it is in memory. */
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

/* Read the file again where another process has changed it since; looks once a second. What cannot be read stays as it was. */
void file_refresh(struct examples_file *store);
/* What is searched, from the file. ERR_CONFIG: it is damaged; ERR_NOMEM. */
enum err_code file_load(struct examples_file *store, struct err *err);
/* Mean cosine of all parts of two examples. */
float file_likeness(const struct examples_file *store, uint32_t a, uint32_t b);

/* Its search, see examples_search. */
uint32_t file_search(struct examples *base, const struct examples_query *query, enum examples_key key, uint32_t k,
                     struct examples_found *out);

#endif
