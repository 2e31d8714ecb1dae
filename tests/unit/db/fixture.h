/* Creates a temporary directory with a database that is built from SQL. */
#ifndef ASSAY_TESTS_UNIT_DB_FIXTURE_H
#define ASSAY_TESTS_UNIT_DB_FIXTURE_H

#include "lib/db/db.h"

#include <sqlite3.h>

struct fixture {
    char dir[64];
    char path[128]; /* <dir>/<name>.sqlite; "t" except after fixture_init_as */
    struct db *db;  /* NULL until fixture_open */
    struct arena arena;
};

/* Creates the directory and the database; `sql` NULL creates no database. */
void fixture_init(struct fixture *fixture, const char *sql);
/* Likewise, for tests that find databases by name. The database is called `name`; the root is `fixture->dir`. */
void fixture_init_as(struct fixture *fixture, const char *name, const char *sql);
/* Opens the database with lib/db; asserts success. */
void fixture_open(struct fixture *fixture, const struct db_limits *limits);
/* Closes the database, removes the directory, then checks for leaks. */
void fixture_end(struct fixture *fixture);

/* Runs SQL on a new connection that may write; asserts success. */
void fixture_exec(const char *path, const char *sql);
/* Opens a connection that may write; the caller closes it. */
sqlite3 *fixture_writer(const char *path);

/* Calls db_query with the statement's own length and no parameters. */
enum err_code fixture_query(struct fixture *fixture, const char *sql, struct db_result *out, struct err *err);
/* Returns the single integer that a statement returns; asserts that it returns one. */
int64_t fixture_int(struct fixture *fixture, const char *sql);

/* Returns the content of the file, and its length in *len. Returns NULL if the file cannot be read. Free with
 * g_free. */
char *fixture_bytes(const char *path, size_t *len);
void fixture_write(const char *path, const void *bytes, size_t len);
/* Returns the number of files in a directory. */
unsigned fixture_files_in(const char *path);

#endif
