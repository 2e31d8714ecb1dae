/* A directory of its own with a database built from SQL. */
#ifndef ASSAY_TESTS_UNIT_DB_FIXTURE_H
#define ASSAY_TESTS_UNIT_DB_FIXTURE_H

#include "lib/db/db.h"

#include <sqlite3.h>

struct fixture {
    char dir[64];
    char path[128]; /* <dir>/<name>.sqlite; "t" but for fixture_init_as */
    struct db *db;  /* NULL until fixture_open */
    struct arena arena;
};

/* Make the directory and the database; `sql` may be NULL for none. */
void fixture_init(struct fixture *fixture, const char *sql);
/* The same, for tests that find databases by name: it is `name`, in the root `fixture->dir`. */
void fixture_init_as(struct fixture *fixture, const char *name, const char *sql);
/* Open it with lib/db; asserts success. */
void fixture_open(struct fixture *fixture, const struct db_limits *limits);
/* Close and remove everything, then look for leaks. */
void fixture_end(struct fixture *fixture);

/* Run SQL on a plain connection that may write; asserts success. */
void fixture_exec(const char *path, const char *sql);
/* A plain writing connection; the caller closes it. */
sqlite3 *fixture_writer(const char *path);

/* db_query with the statement's own length and no parameters. */
enum err_code fixture_query(struct fixture *fixture, const char *sql, struct db_result *out, struct err *err);
/* The single integer that a statement returns; asserts that there is one. */
int64_t fixture_int(struct fixture *fixture, const char *sql);

/* The file's bytes and how many; g_free. NULL: cannot be read. */
char *fixture_bytes(const char *path, size_t *len);
void fixture_write(const char *path, const void *bytes, size_t len);
/* How many files a directory has. */
unsigned fixture_files_in(const char *path);

#endif
