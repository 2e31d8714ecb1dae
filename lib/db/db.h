/* Runs untrusted SQL, read-only and with limits on time and memory. Other rooms must not open databases themselves.
 *
 * A handle belongs to one thread at a time; only db_interrupt may be called from any thread. A call runs a single
 * statement on a read-only connection. An allow list restricts the functions and tables that a statement may use. The
 * limits below restrict its cost. The engines are SQLite files, PostgreSQL and MariaDB servers, and schemas without
 * data. Each engine is a row of a table (db_engine.h).
 */
#ifndef ASSAY_LIB_DB_DB_H
#define ASSAY_LIB_DB_DB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct db;

/* DB_STEPS_PER_MS: approximate number of virtual machine instructions (steps) that SQLite executes in a millisecond.
 * DB_AMPLE: factor by which `by_steps` raises the limit on time. */
enum { DB_STEPS_PER_MS = 50000, DB_AMPLE = 20 };

/* Limits of one statement. 0 selects the default, which is the first number of a comment. */
struct db_limits {
    int64_t time_ms;      /* 3,000: elapsed time from prepare to the last row */
    int64_t max_steps;    /* maximum virtual machine instructions; 0 sets no limit */
    bool by_steps;        /* limits steps to time_ms * DB_STEPS_PER_MS, and time to time_ms * DB_AMPLE, so that the
                           * outcome does not depend on the load of the machine. Ignored by engines that count no steps
                           * (servers) */
    uint32_t max_rows;    /* 100,000: fetched rows */
    uint64_t max_bytes;   /* 16 MiB: fetched values */
    uint64_t value_bytes; /* 4 MiB: longest single value, including intermediate values. In SQLite larger statements
                           * have a lower limit (sqlite_limits.c), because `x+x+x...` cannot be interrupted */
    bool killable; /* the statement runs in a process that can be killed (executor.h), so value_bytes is not lowered */
    uint32_t sql_bytes;  /* 65,536: length of the statement */
    uint32_t expr_depth; /* 400: depth of nested expressions */
    double max_cost;     /* maximum cost of a db_query as estimated by the engine (PostgreSQL's EXPLAIN); 0 sets no
                          * limit. SQLite and MariaDB have no estimate: SQLite ignores the limit, MariaDB then refuses
                          * every statement */
    uint64_t heap_bytes; /* 512 MiB: SQLite's memory in the whole process; the last handle that sets it wins. One
                          * statement may use half */
};

enum db_type { DB_NULL, DB_INT, DB_FLOAT, DB_TEXT, DB_BLOB };

struct db_value {
    enum db_type type;
    int64_t i;        /* value of DB_INT */
    double f;         /* value of DB_FLOAT */
    const char *text; /* bytes of DB_TEXT and DB_BLOB, and a NUL; may contain NUL and invalid UTF-8 */
    size_t len;
};

/* A whole result in memory. The arena of the call owns all names and values. */
struct db_result {
    uint32_t n_columns;
    const char *const *columns; /* names of the columns */
    uint32_t n_rows;
    const struct db_value *values; /* all values, row by row */
    int64_t ns;                    /* time to prepare and run */
    int64_t prepare_ns;
    int64_t steps;              /* virtual machine instructions; 0 if the engine does not count them */
    bool truncated;             /* reading stopped after `stop_rows` rows */
    bool varies;                /* SQLite: the result depends on the clock or on random numbers, so it may change */
    uint64_t digest[2];         /* digest of the rows as a bag; ignores the order of rows and columns (digest.h) */
    uint64_t ordered_digest[2]; /* digest of the rows with the order of rows and columns */
};

/* Prefix of a path that is a schema without data: the DDL follows the prefix (lib/sql/definitions.h). Later messages
 * quote only names of the DDL. db_open then also returns the errors of sql_read_definitions. */
#define DB_SCHEMA_PREFIX "schema:"
/* Writes the digest of a DDL text, which is also the db_fingerprint of its handle: 32 hex digits and a NUL. The hash is
 * collision-resistant. Thread: any. */
void db_schema_digest(const char *text, size_t len, char out[33]);

/* Opens a database. `path` is a SQLite file, a connection string of PostgreSQL (a URL, or libpq's "host=...
 * dbname=..."), or a URL of MariaDB (mariadb://user@host:port/database). A password in `path` never appears in a
 * message. A password may also come from libpq's other sources (passfile, PGPASSFILE, PGPASSWORD, service), or from
 * MYSQL_PWD for MariaDB.
 *
 * The caller owns *out and closes it with db_close. If the server is unreachable, db_open and every later statement
 * return ERR_UNREACHABLE (retry). Each statement reconnects if necessary. Other errors: ERR_DB_MISSING,
 * ERR_DB_UNREADABLE, ERR_DB_CORRUPT, ERR_DB_EMPTY (zero bytes or no tables), ERR_DB_LOCKED (retry).
 *
 * Writes no file: no journal, no WAL, no temporary file. A WAL-mode database without a -wal file is not open in any
 * process, so it is read as immutable. If the -wal file has changes and the -shm file is missing, returns
 * ERR_DB_UNREADABLE, because recovery would write. Thread: any.
 */
enum err_code db_open(const char *path, const struct db_limits *limits, struct db **out, struct err *err);
void db_close(struct db *db);

/* True if `path` names a file and not a server. Does not access the file. */
bool db_is_file(const char *path);
/* True if the engine of `path` estimates the cost of a statement, as max_cost requires. */
bool db_knows_cost(const char *path);
/* Return a description of `path` for messages (db_path_shown) and a short name (db_path_name). For a file these are the
 * path, and its base name without extension. For a connection string they name the server and the database, without
 * secrets. Free with g_free. */
char *db_path_shown(const char *path);
char *db_path_name(const char *path);
/* True if `path` contains a secret, and so must not be stored in a configuration file. Also true for a connection
 * string that cannot be parsed, because it may contain one. Always false for a file. */
bool db_path_has_secret(const char *path);
/* Returns the connection string with `password` inserted, or NULL for a file. The result is a secret. Free with g_free.
 */
char *db_path_with_password(const char *path, const char *password);

struct db_listing; /* defined in db_listing.h */
struct db_checkup; /* defined in db_checkup.h */
struct sql_diag;
struct sql_stmt;

/* The differences between the engines that matter outside of lib/db, mainly in their SQL. */
struct db_dialect {
    const char *null_safe;             /* operator of equality by which NULL equals NULL */
    const char *row_id;                /* name of a table's hidden row identifier; NULL if the engine has none */
    char parameter;                    /* prefix of a parameter: '?' for ?1, '$' for $1 */
    const char *exact_collation;       /* collation that compares texts by bytes; NULL if the default collation does */
    const char *text_type, *real_type; /* type names of texts and floating-point numbers in CAST */
    bool nulls_are_least;              /* NULL sorts before all values in ascending order, otherwise after them */
    bool casts_any_text;               /* CAST('x' AS REAL) is a number, otherwise an error */
    bool has_booleans;                 /* comparisons are of type boolean, so (a = b) = 1 is an error */
    bool alias_is_row;                 /* a FROM item's name that is not a column refers to the whole row */
    bool quotes_names;                 /* a double-quoted word is always a name, never a string */
    bool divides_exactly;              /* 1 / 2 is 0.5, otherwise 0 */
    bool no_data; /* there is only a schema: db_query returns ERR_NO_DATA, and db_prepare_check may */
    const struct db_listing *listing;
    const struct db_checkup *checkups; /* checks of the role's rights; NULL if the engine has no roles */
    /* Reports the parts of a parsed statement that the engine's grammar does not allow (lib/sql/dialect.h). NULL if the
     * engine's own messages are enough. */
    struct sql_diag *(*lacks)(struct arena *arena, const struct sql_stmt *stmt);
};
const struct db_dialect *db_dialect(const struct db *db);

/* db_set_limits sets the limits of later statements. db_get_limits returns the current limits, with the defaults filled
 * in. */
void db_set_limits(struct db *db, const struct db_limits *limits);
struct db_limits db_get_limits(const struct db *db);

/* Sets a deadline for all statements, as a time of clock_now_ns; 0 removes it. It applies in addition to time_ms. A
 * statement that the deadline stops, or that starts after it, returns ERR_DEADLINE and not ERR_LIMIT_TIME. */
void db_set_deadline(struct db *db, int64_t deadline_ns);
int64_t db_get_deadline(const struct db *db);

/* A cache of small results, for callers that run many similar statements and may assume that the data do not change. A
 * statement with the same text, params and stop_rows returns the cached rows. Without stop_rows it also returns the
 * original times.
 *
 * Failures, results with `varies` and large results are not cached. A cached result that took more steps than the
 * current limits allow is ignored. A full cache stores nothing more; db_memo_make_room clears a cache that is more than
 * half full. Clear a cache before using it with another database.
 *
 * db_set_memo gives a handle a cache, which must outlive its use by the handle. NULL removes the cache from the handle.
 * A cache belongs to one thread at a time.
 */
struct db_memo;
struct db_memo *db_memo_new(void);
void db_memo_clear(struct db_memo *memo); /* may be NULL */
void db_memo_make_room(struct db_memo *memo);
void db_memo_free(struct db_memo *memo);
void db_set_memo(struct db *db, struct db_memo *memo);

/* Decides whether a statement may run. `ctx` is the argument of db_set_gate. Returns ERR_OK, or ERR_DENIED with a
 * message that quotes nothing of the statement. Thread: the handle's. */
typedef enum err_code db_gate_fn(void *ctx, const char *sql, size_t len, struct err *err);
/* Sets the gate, which each later db_query calls before it runs the statement or returns a cached result. NULL removes
 * the gate. `ctx` must stay valid as long as the gate is set. The gate is not called by db_prepare_check, which runs
 * nothing, nor by db_scan, which runs only the program's own SQL. */
void db_set_gate(struct db *db, db_gate_fn *gate, void *ctx);

/* Cancels the running statement, which soon returns ERR_CANCELLED. Has no effect on an idle handle. Thread: any, while
 * the handle is open. */
void db_interrupt(struct db *db);

/* Writes a fingerprint of the current schema and data: 32 hex digits and a NUL. For a file it is a hash of its size,
 * mtime, header and WAL, so it costs two stats and one read. If the file was replaced, the handle opens the new file.
 */
enum err_code db_fingerprint(struct db *db, char out[33], struct err *err);

/* True if every change of the data changes the fingerprint, perhaps after a short delay. This is as of the last
 * db_fingerprint. False for MariaDB, whose times of changes are in whole seconds. False for PostgreSQL if the server
 * does not count the changes. This is so on a standby, in foreign tables, and in views of objects that the role may not
 * name. */
bool db_tells_changes(const struct db *db);

/* Counts the abandoned statements of this process. A statement is abandoned if the process closed its connection while
 * the server still ran it. `path` is the path given to db_open. Thread: any. */
struct db_abandoned {
    uint32_t running; /* still running, as of the last db_abandoned_ask */
    uint64_t ever;    /* all, since the start of the process */
};
struct db_abandoned db_abandoned(const char *path);
/* Asks the server over a new connection which abandoned statements still run, and updates `running`. Takes at most
 * about two seconds. On an error the count stays unchanged. Errors: those of db_open and db_scan. Thread: any. */
enum err_code db_abandoned_ask(const char *path, struct err *err);

/* Prepares a statement without running it. Sets *offset to the byte offset of the first error, or -1 if it is unknown.
 * `offset` may be NULL. Errors: those of db_query. */
enum err_code db_prepare_check(struct db *db, const char *sql, size_t len, int *offset, struct err *err);

/* Checks that other sessions interpret the statement as this session does, because users run a candidate in their own
 * sessions. Returns ERR_REFUSED with the difference and the portable form. Does not contact the server. Thread: the
 * handle's. */
enum err_code db_candidate_check(struct db *db, const char *sql, size_t len, struct err *err);

/* Runs one statement. `params` are the values of ?1, ?2, ...; it may be NULL. With `stop_rows` above 0 it stops after
 * that many rows without an error and sets out->truncated. On an error *out is zeroed.
 *
 * SQLite caches a prepared statement that has params, so probes that differ only in values should pass the values as
 * params. Reading sqlite_master is refused; lib/schema has its contents. Errors: ERR_ENGINE (with the engine's
 * message), ERR_REFUSED, ERR_ENCODING, ERR_LIMIT_*, ERR_TOO_COSTLY, ERR_DENIED (by the gate), ERR_DEADLINE,
 * ERR_CANCELLED, ERR_DB_*.
 */
enum err_code db_query(struct db *db, struct arena *arena, const char *sql, size_t len, const struct db_value *params,
                       uint32_t n_params, uint32_t stop_rows, struct db_result *out, struct err *err);

/* Calls `each` for each row of a statement, without storing rows. `row` is valid during the call. If `each` returns
 * false, the scan stops with ERR_OK. `each` must not use the handle. time_ms and value_bytes apply, but max_rows and
 * max_bytes do not. The statement may read sqlite_master and the listing PRAGMAs, so it must be the program's own SQL,
 * with names quoted by db_quote_name. */
typedef bool db_row_fn(void *ctx, const struct db_value *row, uint32_t n_columns);
enum err_code db_scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err);

/* Return `name` as a quoted identifier, and `value` as a literal of the same value. The text is in the arena. Return
 * NULL if the arena is full. */
char *db_quote_name(struct arena *arena, const char *name, size_t len);
char *db_quote_value(struct arena *arena, const struct db_value *value);

/* Compares two values in the order of SQLite's ORDER BY: NULL < numbers < texts < blobs. Returns -1, 0 or 1. */
int db_value_compare(const struct db_value *a, const struct db_value *b);

/* Writes the shortest decimal text that parses as `real`, in the form of Python's repr: 1.0, 0.1, 1e+16, inf. Returns
 * its length. */
enum { DB_REAL_TEXT = 32 };
size_t db_real_text(double real, char out[DB_REAL_TEXT]);

/* Returns the version of SQLite, such as "3.40.1". */
const char *db_engine_version(void);

#endif
