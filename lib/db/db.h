/* Runs untrusted SQL read-only and within bounds. No other room opens a database.
 *
 * A handle belongs to one thread at a time; only db_interrupt may be called from any thread. Each statement runs alone
 * behind a read-only connection, an authorizer that is an allow list, and the limits below. A call takes one statement.
 * Each engine is a row of a table (db_engine.h): SQLite files, PostgreSQL and MariaDB servers, and schemas without
 * data.
 */
#ifndef ASSAY_LIB_DB_DB_H
#define ASSAY_LIB_DB_DB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct db;

/* DB_STEPS_PER_MS: approximate number of steps that SQLite executes in a millisecond. DB_AMPLE: factor by which the
 * clock's bound is raised where steps are counted. */
enum { DB_STEPS_PER_MS = 50000, DB_AMPLE = 20 };

/* Bounds of one statement; 0 means the default. */
struct db_limits {
    int64_t time_ms;      /* 3,000: wall clock from prepare to the last row */
    int64_t max_steps;    /* virtual machine instructions; 0 sets no separate bound */
    bool by_steps;        /* counts time_ms in steps, DB_STEPS_PER_MS a millisecond, and multiplies the clock's bound
                           * by DB_AMPLE: the outcome then does not depend on the load of the machine. An engine that
                           * counts no steps (PostgreSQL) uses the clock */
    uint32_t max_rows;    /* 100,000 rows fetched */
    uint64_t max_bytes;   /* 16 MiB of fetched values */
    uint64_t value_bytes; /* 4 MiB: longest single value, including values that exist only inside the engine. SQLite
                           * also bounds value_bytes times the size of the compiled statement, because nothing stops
                           * `x+x+x...` */
    bool killable; /* a process that overruns can be killed (executor.h), so value_bytes applies without that second
                    * bound */
    uint32_t sql_bytes;  /* 65,536 */
    uint32_t expr_depth; /* 400 */
    double max_cost;     /* maximum cost of db_query by the engine's own estimate (PostgreSQL's EXPLAIN); 0 sets no
                          * bound. Ignored by SQLite, which has no estimate; MariaDB has none either and then runs
                          * nothing */
    uint64_t heap_bytes; /* 512 MiB: engine memory of the whole process (the last setting wins); one statement may
                          * take half */
};

enum db_type { DB_NULL, DB_INT, DB_FLOAT, DB_TEXT, DB_BLOB };

struct db_value {
    enum db_type type;
    int64_t i;        /* DB_INT */
    double f;         /* DB_FLOAT */
    const char *text; /* DB_TEXT and DB_BLOB bytes; may hold NUL and broken UTF-8; NUL-terminated */
    size_t len;
};

/* A whole result in memory. Values live in the arena. */
struct db_result {
    uint32_t n_columns;
    const char *const *columns; /* names */
    uint32_t n_rows;
    const struct db_value *values; /* row-major */
    int64_t ns;                    /* prepare + run */
    int64_t prepare_ns;
    int64_t steps;  /* counted as for max_steps; 0 if the engine does not count */
    bool truncated; /* stopped at `stop_rows`, not at the end */
    bool varies;    /* SQLite: the result may differ on the same data, because it depends on the clock or on chance */
    uint64_t digest[2];         /* of the bag of rows, insensitive to row order and column order (digest.h) */
    uint64_t ordered_digest[2]; /* of the rows in order, columns in order */
};

/* Prefix of the path of a schema without data; the DDL follows it (lib/sql/definitions.h). Later texts repeat only
 * names of the DDL. Errors: those of db_open and of sql_read_definitions. */
#define DB_SCHEMA_PREFIX "schema:"
/* Computes the digest of a DDL text, which is also the db_fingerprint of its handle. Collision-resistant. Writes 32 hex
 * digits and a NUL. Thread: any. */
void db_schema_digest(const char *text, size_t len, char out[33]);

/* Opens a database. `path` is a SQLite file, a connection string of PostgreSQL (a URL, or libpq's "host=...
 * dbname=..."), or a URL of MariaDB (mariadb://user@host:port/database). A password in it never appears in a text.
 * libpq's other sources of passwords work too (passfile, PGPASSFILE, PGPASSWORD, service), and so does MariaDB's
 * MYSQL_PWD.
 *
 * An unreachable server is ERR_UNREACHABLE (retry), here and in every later statement; each statement reconnects if
 * necessary. Other errors: ERR_DB_MISSING, ERR_DB_UNREADABLE, ERR_DB_CORRUPT, ERR_DB_EMPTY (zero bytes or no tables),
 * ERR_DB_LOCKED (retry). The caller owns *out and closes it with db_close.
 *
 * Nothing is written: no journal, no WAL, no temporary file beside the database. A WAL-mode database without a -wal
 * file is not open anywhere, so it is read as immutable. A database whose -wal file holds changes but that lacks its
 * -shm file is ERR_DB_UNREADABLE, because recovery would write. Thread: any.
 */
enum err_code db_open(const char *path, const struct db_limits *limits, struct db **out, struct err *err);
void db_close(struct db *db);

/* True if `path` names a file and not a server. Inspects the text only. */
bool db_is_file(const char *path);
/* True if the engine of `path` estimates the cost of a statement, so that max_cost applies. */
bool db_knows_cost(const char *path);
/* Returns the form of `path` for messages, and a short name. For a file: the path and its base name without extension.
 * For a connection string: the server and the database, without secrets. Free with g_free. */
char *db_path_shown(const char *path);
char *db_path_name(const char *path);
/* True if `path` holds a secret, which must not be stored in a configuration file. Also true for a connection string
 * that cannot be parsed, because it may hold one. Always false for a file. */
bool db_path_has_secret(const char *path);
/* Returns the connection string with `password` inserted: treat it as a secret. Returns NULL for a file. Free with
 * g_free. */
char *db_path_with_password(const char *path, const char *password);

struct db_listing; /* db_listing.h */
struct db_checkup; /* db_checkup.h */
struct sql_diag;
struct sql_stmt;

/* The SQL forms of an engine, and the other differences between engines that matter outside of lib/db. */
struct db_dialect {
    const char *null_safe;             /* the operator of equality that takes NULL for a value */
    const char *row_id;                /* hidden row identifier of a table; NULL if the engine has none */
    char parameter;                    /* '?' for ?1, '$' for $1 */
    const char *exact_collation;       /* collation that compares texts by bytes; NULL if the default one does */
    const char *text_type, *real_type; /* names of the types of text and floating-point numbers in CAST */
    bool nulls_are_least;              /* NULL sorts first in ascending order; otherwise last */
    bool casts_any_text;               /* CAST('x' AS REAL) is a number; otherwise an error */
    bool has_booleans;                 /* a comparison is not a number: (a = b) = 1 is an error */
    bool alias_is_row;                 /* a FROM item's name that is not a column refers to the whole row */
    bool quotes_names;                 /* a double-quoted word is always a name, never a string */
    bool divides_exactly;              /* 1 / 2 is 0.5; otherwise 0 */
    bool no_data; /* schema without data: db_query is ERR_NO_DATA, and possibly db_prepare_check too */
    const struct db_listing *listing;
    const struct db_checkup *checkups; /* NULL if the engine has no roles (a file is opened read-only) */
    /* Reports the forms of a parsed statement that the engine's grammar lacks (lib/sql/dialect.h). NULL if the engine's
     * own messages are enough. */
    struct sql_diag *(*lacks)(struct arena *arena, const struct sql_stmt *stmt);
};
const struct db_dialect *db_dialect(const struct db *db);

/* Sets the limits of the following statements; returns the current limits with defaults filled in. */
void db_set_limits(struct db *db, const struct db_limits *limits);
struct db_limits db_get_limits(const struct db *db);

/* Sets an absolute deadline (clock_now_ns) that caps every statement's time_ms; 0 removes it. A statement that the
 * deadline stops, or that starts past it, returns ERR_DEADLINE and not ERR_LIMIT_TIME. The code does not depend on the
 * statement. */
void db_set_deadline(struct db *db, int64_t deadline_ns);
int64_t db_get_deadline(const struct db *db);

/* A cache of small results, for callers that run many similar statements on data assumed not to change. A statement
 * with the same text, params and stop_rows returns the cached rows and, without stop_rows, the original time.
 *
 * Never cached: failures, results that `varies`, and results too large for the cache. A cached result that took more
 * steps than the current limits allow is ignored. The cache is bounded: when it is full it stores nothing more, and
 * db_memo_make_room clears one that is half full. Clear a cache before using it with another database.
 *
 * db_set_memo: `memo` must outlive its use by the handle; NULL removes it. A cache belongs to one thread.
 */
struct db_memo;
struct db_memo *db_memo_new(void);
void db_memo_clear(struct db_memo *memo); /* NULL is fine */
void db_memo_make_room(struct db_memo *memo);
void db_memo_free(struct db_memo *memo);
void db_set_memo(struct db *db, struct db_memo *memo);

/* Decides whether a statement may run. `ctx` is that of db_set_gate. Returns ERR_OK, or ERR_DENIED with a text that
 * quotes nothing of the statement. Thread: the handle's. */
typedef enum err_code db_gate_fn(void *ctx, const char *sql, size_t len, struct err *err);
/* Sets the gate that each later db_query passes before its statement runs or its cached result is returned. NULL
 * removes the gate. `ctx` must stay valid as long as the gate is set. Neither db_prepare_check nor db_scan passes the
 * gate: the first runs nothing, and the second runs only the program's own SQL. */
void db_set_gate(struct db *db, db_gate_fn *gate, void *ctx);

/* Interrupts the running statement, which soon ends with ERR_CANCELLED. Does nothing to an idle handle. Thread: any,
 * while the handle is open. */
void db_interrupt(struct db *db);

/* Identifies the current schema and data of the database: changes when the file does (size, mtime, change counter,
 * WAL). Writes 32 hex digits and a NUL. Cheap: two stats and one read of the header. If the file was replaced under the
 * handle, the handle switches to the new file. */
enum err_code db_fingerprint(struct db *db, char out[33], struct err *err);

/* True if every change of the data changes the fingerprint that the handle saw last, possibly a little later. False
 * where changes are not counted: a standby of PostgreSQL, foreign tables, views of objects that the role may not name.
 * Also false where they are dated only to the second (MariaDB). */
bool db_tells_changes(const struct db *db);

/* Counts the abandoned statements of this process: those whose connection it closed while the server still ran them.
 * `path` is as for db_open. Thread: any. */
struct db_abandoned {
    uint32_t running; /* as of the last db_abandoned_ask */
    uint64_t ever;    /* since the process began */
};
struct db_abandoned db_abandoned(const char *path);
/* Asks the server, through a separate connection, which abandoned statements still run, and removes the others from the
 * count. Takes at most a second or two. Removes nothing on an error. Errors: those of db_open and db_scan. Thread: any.
 */
enum err_code db_abandoned_ask(const char *path, struct err *err);

/* Prepares a statement without running it. *offset (may be NULL) receives the byte of the first error, or -1. Errors:
 * those of db_query. */
enum err_code db_prepare_check(struct db *db, const char *sql, size_t len, int *offset, struct err *err);

/* Checks that other sessions, where a candidate will run later, read the statement as this session does. ERR_REFUSED
 * names the difference and the portable form. Inspects the text only. Thread: the handle's. */
enum err_code db_candidate_check(struct db *db, const char *sql, size_t len, struct err *err);

/* Runs one statement. `params` (may be NULL) bind ?1, ?2, ... With `stop_rows` above 0 it stops after that many rows
 * without an error and sets `truncated`. *out is set on success only.
 *
 * A statement with params stays prepared: probes of one shape should bind their values. Reading sqlite_master is
 * refused, because lib/schema has read it. Errors: ERR_ENGINE (text from the engine), ERR_REFUSED (not allowed),
 * ERR_ENCODING, ERR_LIMIT_*, ERR_TOO_COSTLY, ERR_DENIED (the gate), ERR_DEADLINE, ERR_CANCELLED, ERR_DB_*.
 */
enum err_code db_query(struct db *db, struct arena *arena, const char *sql, size_t len, const struct db_value *params,
                       uint32_t n_params, uint32_t stop_rows, struct db_result *out, struct err *err);

/* Streams the rows of a statement to `each` without storing them. `row` is valid during the call; returning false stops
 * the scan with ERR_OK. Rows and bytes are not capped; time_ms and value_bytes apply. The statement may read
 * sqlite_master and the listing PRAGMAs, so its text must be the program's own (lib/schema), with names quoted by
 * db_quote_name. `each` must not use the handle. */
typedef bool db_row_fn(void *ctx, const struct db_value *row, uint32_t n_columns);
enum err_code db_scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err);

/* Returns `name` as a quoted identifier, or `value` as a literal that reads back as the same value. Text of the arena;
 * returns NULL if it is full. */
char *db_quote_name(struct arena *arena, const char *name, size_t len);
char *db_quote_value(struct arena *arena, const struct db_value *value);

/* Compares as the engine's ORDER BY does (NULL < numbers < text < blob). */
int db_value_compare(const struct db_value *a, const struct db_value *b);

/* Writes the shortest decimal that reads back as `real`, in the form of Python's repr: 1.0, 0.1, 1e+16, inf. Returns
 * its length. */
enum { DB_REAL_TEXT = 32 };
size_t db_real_text(double real, char out[DB_REAL_TEXT]);

/* Returns the version of SQLite, such as "3.40.1". */
const char *db_engine_version(void);

#endif
