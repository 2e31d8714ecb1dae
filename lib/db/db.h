/* Running untrusted SQL, read-only, inside bounds. The only place that opens a database.
 *
 * A handle belongs to one thread at a time; db_interrupt may be called from any. Each statement runs alone behind:
 * a read-only connection, an authorizer that is an allow list, one statement per call, and the limits below. The
 * engine is a row in a table (db_engine.h): SQLite files, PostgreSQL and MariaDB
 * servers, and schemas without data.
 */
#ifndef ASSAY_LIB_DB_DB_H
#define ASSAY_LIB_DB_DB_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct db;

/* What SQLite does in a millisecond, roughly; and how much further the clock's bound is where steps are counted. */
enum { DB_STEPS_PER_MS = 50000, DB_AMPLE = 20 };

/* Bounds of one statement; 0 means the default. */
struct db_limits {
    int64_t time_ms;      /* 3,000: wall clock from prepare to the last row */
    int64_t max_steps;    /* 0: no bound of its own; virtual machine instructions */
    bool by_steps;        /* time_ms is counted in steps, DB_STEPS_PER_MS of them a millisecond, and the clock looked at
                             DB_AMPLE times later: the outcome does not depend on what else the machine does. An engine
                             that counts no steps (PostgreSQL) goes by the clock as ever */
    uint32_t max_rows;    /* 100,000 rows fetched */
    uint64_t max_bytes;   /* 16 MiB of fetched values */
    uint64_t value_bytes; /* 4 MiB: longest single value, also of those that only live inside the engine. SQLite: times
                             the size of the compiled statement it is bounded, too, for nothing stops `x+x+x...` */
    bool killable;        /* somebody ends this process when a statement overruns (executor.h): value_bytes holds as it
                             is */
    uint32_t sql_bytes;   /* 65,536 */
    uint32_t expr_depth;  /* 400 */
    double max_cost;      /* 0: no bound; of db_query, by the engine's own estimate (PostgreSQL's EXPLAIN). SQLite has
                             none, and there it holds nothing; MariaDB has none, and runs nothing then */
    uint64_t
        heap_bytes; /* 512 MiB: engine memory of the whole process (the last setting wins); a statement may take half */
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
    int64_t steps;              /* what max_steps counts; 0: the engine does not say */
    bool truncated;             /* stopped at `stop_rows`, not at the end */
    bool varies;                /* SQLite: may be another one of the same data, by the clock or by chance */
    uint64_t digest[2];         /* of the bag of rows, insensitive to row order and column order (digest.h) */
    uint64_t ordered_digest[2]; /* of the rows in order, columns in order */
};

/* What a schema without data is opened by: this and its DDL (lib/sql/definitions.h), of which no byte comes back in a
 * text but names. Beside the errors below: those of sql_read_definitions. */
#define DB_SCHEMA_PREFIX "schema:"
/* Identifies a text of DDL, against whoever looks for another one with the same digest too: what db_fingerprint says of
 * the handle. 32 hex digits. Thread: any. */
void db_schema_digest(const char *text, size_t len, char out[33]);

/* Open. `path` is a SQLite file, a connection string of PostgreSQL (a URL, or libpq's "host=... dbname=..."), or a URL
 * of MariaDB (mariadb://user@host:port/database). These may hold a password: it never comes back in a text. Passwords
 * may also come as libpq takes them (passfile, PGPASSFILE, PGPASSWORD, service), and MariaDB's library (MYSQL_PWD). A server that is away is ERR_UNREACHABLE (retry), here and in every later
 * statement, each of which connects anew if need be. Errors: ERR_DB_MISSING, ERR_DB_UNREADABLE, ERR_DB_CORRUPT,
 * ERR_DB_EMPTY (zero bytes or no tables), ERR_DB_LOCKED (retry). On success the caller owes db_close. The file is never
 * written: no journal, no WAL, no temp file beside it. A database in WAL mode without a -wal file is read as immutable
 * (nobody has it open); one whose -wal holds changes but that lacks its -shm is ERR_DB_UNREADABLE, for recovering it
 * would mean writing. Thread: any. */
enum err_code db_open(const char *path, const struct db_limits *limits, struct db **out, struct err *err);
void db_close(struct db *db);

/* Does the path name a file, rather than a server? Looks at its text only. */
bool db_is_file(const char *path);
/* Does its engine estimate what a statement costs, so that max_cost can hold? */
bool db_knows_cost(const char *path);
/* What may be said of it in messages, and a short name: the path itself and its base name without extension, or of a
 * connection string the server and the database, without secrets. g_free. */
char *db_path_shown(const char *path);
char *db_path_name(const char *path);
/* Does it hold a secret that does not belong into a file of settings, or is it no connection string that can be read
 * (which may hold one)? A file's path never does. */
bool db_path_has_secret(const char *path);
/* The connection string with this password in it: a secret from here on. NULL: a file has none. g_free. */
char *db_path_with_password(const char *path, const char *password);

struct db_listing; /* db_listing.h */
struct db_checkup; /* db_checkup.h */
struct sql_diag;
struct sql_stmt;

/* How the engine writes what SQL it is given by the program, and what else differs between engines outside of lib/db;
 * parts that are not listed are the same everywhere. */
struct db_dialect {
    const char *null_safe;             /* the operator of equality that takes NULL for a value */
    const char *row_id;                /* the hidden column that tells the rows of a table apart; NULL: there is none */
    char parameter;                    /* ?1 or $1 */
    const char *exact_collation;       /* in which texts are equal when their bytes are; NULL: they are so without */
    const char *text_type, *real_type; /* what CAST calls a text and a floating-point number */
    bool nulls_are_least;              /* an ascending order begins with them; else with them it ends */
    bool casts_any_text;               /* CAST('x' AS REAL) is a number; else an error */
    bool has_booleans;                 /* a comparison is no number: (a = b) = 1 is an error */
    bool alias_is_row;                 /* the name of a FROM item that is no column means its whole row */
    bool quotes_names;                 /* a word in double quotes is no string where it names nothing */
    bool divides_exactly;              /* 1 / 2 is 0.5; else 0 */
    bool no_data;                      /* it is a schema alone: db_query is ERR_NO_DATA, and db_prepare_check may be */
    const struct db_listing *listing;
    const struct db_checkup *checkups; /* NULL: there are no roles (a file is opened read-only) */
    /* The forms of a parsed statement that this engine's grammar lacks (lib/sql/dialect.h); NULL: the engine's own words
     * are enough. */
    struct sql_diag *(*lacks)(struct arena *arena, const struct sql_stmt *stmt);
};
const struct db_dialect *db_dialect(const struct db *db);

/* Replace the limits for the following statements; and those that hold now, defaults filled in. */
void db_set_limits(struct db *db, const struct db_limits *limits);
struct db_limits db_get_limits(const struct db *db);

/* Absolute deadline (clock_now_ns) that caps every statement's time_ms; 0: none. A statement that it stops, or that
 * starts past it, gives ERR_DEADLINE, not ERR_LIMIT_TIME: it says nothing about the statement. */
void db_set_deadline(struct db *db, int64_t deadline_ns);
int64_t db_get_deadline(const struct db *db);

/* A memory of small results: the same statement with the same params gets the same rows without being run, until
 * db_memo_clear; where it has no stop_rows also its time of then. For who asks many alike questions of data that is taken to
 * stand still meanwhile. Not remembered are failures, what `varies`, and, under limits
 * that allow fewer, what took more steps. `memo` (NULL: none) outlives its use by the handle, and is of one thread; clear it before
 * it is used with another database. It is bounded, and remembers nothing more when it is full: db_memo_make_room clears
 * one that is half full. */
struct db_memo;
struct db_memo *db_memo_new(void);
void db_memo_clear(struct db_memo *memo); /* NULL is fine */
void db_memo_make_room(struct db_memo *memo);
void db_memo_free(struct db_memo *memo);
void db_set_memo(struct db *db, struct db_memo *memo);

/* Decides whether a statement may run. `ctx` is the one of db_set_gate. Returns ERR_OK, or ERR_DENIED with a text that quotes
 * nothing of the statement. Thread: the handle's. */
typedef enum err_code db_gate_fn(void *ctx, const char *sql, size_t len, struct err *err);
/* Sets the gate that each later db_query passes before its statement runs or its remembered result is returned; NULL
 * removes it. `ctx` must stay valid as long as the gate is set. db_prepare_check runs nothing and db_scan runs text of the
 * program itself, so neither passes a gate. */
void db_set_gate(struct db *db, db_gate_fn *gate, void *ctx);

/* Stop what runs now, soon: it ends in ERR_CANCELLED. Does nothing to a handle at rest. Thread: any, while the handle
 * is open. */
void db_interrupt(struct db *db);

/* Identifies schema and data of the file as it is now: changes when the file does (size, mtime, change counter, WAL).
 * 32 hex digits into `out`. Cheap: two stats and one read of the header. When the file was replaced under the handle,
 * the handle moves over to the new one. */
enum err_code db_fingerprint(struct db *db, char out[33], struct err *err);

/* Does the fingerprint that the handle has seen last change with every change of the data, be it a little later? Not where changes are not counted
 * (a standby of PostgreSQL, foreign tables, views of what the role may not name) or only to the second (MariaDB). */
bool db_tells_changes(const struct db *db);

/* Counts the statements on this database that this process has given up: whose connection it closed while the server still
 * ran them. `path` is as db_open takes it. Thread: any. */
struct db_abandoned {
    uint32_t running; /* as far as the last db_abandoned_ask has shown */
    uint64_t ever;    /* since the process began */
};
struct db_abandoned db_abandoned(const char *path);
/* Asks the server which of them it still runs, through a connection of its own, and forgets the others. Takes a second or
 * two at most. On an error nothing is forgotten. Errors of db_open and db_scan. Thread: any. */
enum err_code db_abandoned_ask(const char *path, struct err *err);

/* Only prepare: is it valid, and where not? *offset (may be NULL) gets the byte of the first error or -1. Errors as
 * db_query's. */
enum err_code db_prepare_check(struct db *db, const char *sql, size_t len, int *offset, struct err *err);

/* Of a statement that somebody else will run later, in a session of his own: is it read there as here? ERR_REFUSED says
 * what is not, and how to write it. Looks at the text alone. Thread: the handle's. */
enum err_code db_candidate_check(struct db *db, const char *sql, size_t len, struct err *err);

/* Run one statement. `params` (may be NULL) bind ?1, ?2, ... `stop_rows` (0: none): stop after that many rows without
 * an error and set truncated. Errors: ERR_ENGINE (text from the engine), ERR_REFUSED (not allowed), ERR_ENCODING,
 * ERR_LIMIT_*, ERR_TOO_COSTLY, ERR_DENIED (the gate), ERR_DEADLINE, ERR_CANCELLED, ERR_DB_*; nothing in *out then. A statement with params is
 * kept prepared: probes of one shape should bind, not print, their values. Reading sqlite_master is refused: lib/schema
 * has read it.
 */
enum err_code db_query(struct db *db, struct arena *arena, const char *sql, size_t len, const struct db_value *params,
                       uint32_t n_params, uint32_t stop_rows, struct db_result *out, struct err *err);

/* Row by row, for whoever must not hold it all. `row` is valid during the call; return false to stop (ERR_OK). No cap
 * on rows and bytes, `time_ms` and `value_bytes` hold. May read sqlite_master and the listing PRAGMAs: the statement's
 * text must be the program's own (lib/schema), with names quoted by db_quote_name. `each` may not use the handle. */
typedef bool db_row_fn(void *ctx, const struct db_value *row, uint32_t n_columns);
enum err_code db_scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err);

/* `name` as a quoted identifier / `value` as a literal that reads back as the same value. Arena text; NULL when full.
 */
char *db_quote_name(struct arena *arena, const char *name, size_t len);
char *db_quote_value(struct arena *arena, const struct db_value *value);

/* Compare as the engine's ORDER BY does (NULL < numbers < text < blob). */
int db_value_compare(const struct db_value *a, const struct db_value *b);

/* The shortest decimal that reads back as `real`, written as Python's repr does: 1.0, 0.1, 1e+16, inf. Returns its
 * length. */
enum { DB_REAL_TEXT = 32 };
size_t db_real_text(double real, char out[DB_REAL_TEXT]);

/* "3.40.1". */
const char *db_engine_version(void);

#endif
