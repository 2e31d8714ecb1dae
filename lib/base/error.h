/* Every failure has a code, a class and a text.
 *
 * The class tells the caller how to react; only worker/dispatch.c and the files of coordinator/ act on it:
 * - ok: the call succeeded
 * - retry: the same call may succeed later (a lock, a full queue)
 * - reject: the call fails again with the same input; other inputs may succeed
 * - fatal: the process cannot continue with its configuration or its memory
 *
 * In all rooms a function that can fail returns an err_code (ERR_OK is 0). If it takes a `struct err *`, it stores the
 * message and the hint there. `err` may be NULL.
 *
 * The message is one short line: what failed, and where. The hint gives advice. One format string contains both, with
 * ERR_HINT between them:
 *     err_set(err, ERR_CONFIG, "%s is not a directory" ERR_HINT "create it, or set --db-root", path)
 * `text` holds both as "message; hint", for outputs with one string (the wire format, logs). The command line prints
 * the hint on a separate line. JSON output has a separate member for the hint.
 */
#ifndef ASSAY_LIB_BASE_ERROR_H
#define ASSAY_LIB_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum err_class { ERR_CLASS_OK, ERR_CLASS_RETRY, ERR_CLASS_REJECT, ERR_CLASS_FATAL };

/* columns: code, name on the wire and in verdicts, class, meaning */
#define ERR_LIST(X)                                                                                                    \
    X(ERR_OK, "ok", OK, "no error")                                                                                    \
    X(ERR_SYNTAX, "syntax", REJECT, "the SQL does not parse")                                                          \
    X(ERR_UNKNOWN_NAME, "unknown_name", REJECT, "the SQL names a table or column that does not exist")                 \
    X(ERR_AMBIGUOUS_NAME, "ambiguous_name", REJECT, "a column name matches more than one table")                       \
    X(ERR_REFUSED, "refused", REJECT, "the statement, or an object it uses, is not allowed")                           \
    X(ERR_DENIED, "denied", REJECT, "the statement reads a denied column, so it is not run")                           \
    X(ERR_FORBIDDEN, "forbidden", REJECT, "the caller's token does not allow this")                                    \
    X(ERR_ENGINE, "engine", REJECT, "the database engine refused the statement or failed to run it")                   \
    X(ERR_ENCODING, "encoding", REJECT, "the text is not valid UTF-8 or contains a NUL byte")                          \
    X(ERR_LIMIT_BYTES, "limit_bytes", REJECT, "the input or the result is larger than allowed")                        \
    X(ERR_LIMIT_TOKENS, "limit_tokens", REJECT, "the SQL has more tokens than allowed")                                \
    X(ERR_LIMIT_DEPTH, "limit_depth", REJECT, "the input is nested deeper than allowed")                               \
    X(ERR_LIMIT_ROWS, "limit_rows", REJECT, "the result has more rows than allowed")                                   \
    X(ERR_LIMIT_TIME, "limit_time", REJECT, "the statement ran longer than allowed")                                   \
    X(ERR_LIMIT_STEPS, "limit_steps", REJECT, "the statement took more engine steps than allowed")                     \
    X(ERR_LIMIT_MEMORY, "limit_memory", REJECT, "the work needed more memory than allowed")                            \
    X(ERR_LIMIT_COUNT, "limit_count", REJECT, "there are more items than allowed")                                     \
    X(ERR_DB_MISSING, "db_missing", REJECT, "the database does not exist")                                             \
    X(ERR_DB_UNREADABLE, "db_unreadable", REJECT, "the database cannot be opened for reading")                         \
    X(ERR_DB_CORRUPT, "db_corrupt", REJECT, "the file is not a database, or it is damaged")                            \
    X(ERR_DB_EMPTY, "db_empty", REJECT, "the database has no tables")                                                  \
    X(ERR_DB_LOCKED, "db_locked", RETRY, "the database is locked by a writer")                                         \
    X(ERR_SCHEMA, "schema", REJECT, "the schema in the request cannot be read")                                        \
    X(ERR_NO_DATA, "no_data", REJECT, "there is no data: the request has only a schema")                               \
    X(ERR_MALFORMED, "malformed", REJECT, "the message or line does not match its format")                             \
    X(ERR_VERSION, "version", REJECT, "this build does not support the version of the message or file")                \
    X(ERR_DB_UNAVAILABLE, "db_unavailable", RETRY, "the database failed several times; its circuit breaker is open")   \
    X(ERR_TOO_COSTLY, "too_costly", REJECT, "the engine's cost estimate for the statement is over the limit")          \
    X(ERR_REJECTED, "rejected", REJECT, "the task crashed the processes that ran it")                                  \
    X(ERR_DEADLINE, "deadline", REJECT, "the deadline passed before the work was done")                                \
    X(ERR_CANCELLED, "cancelled", REJECT, "the work was cancelled")                                                    \
    X(ERR_UNREACHABLE, "unreachable", RETRY, "a remote service does not answer, or asks to retry later")               \
    X(ERR_REMOTE, "remote", REJECT, "a remote service refused this input")                                             \
    X(ERR_FULL, "full", RETRY, "the queue is full")                                                                    \
    X(ERR_CLOSED, "closed", FATAL, "the transport is closed")                                                          \
    X(ERR_IO, "io", FATAL, "a file cannot be read or written")                                                         \
    X(ERR_CONFIG, "config", FATAL, "the configuration is not valid")                                                   \
    X(ERR_USAGE, "usage", FATAL, "the command line is not valid")                                                      \
    X(ERR_NOMEM, "nomem", FATAL, "out of memory")                                                                      \
    X(ERR_INTERNAL, "internal", FATAL, "internal error in Assay; please report it")

enum err_code {
#define X(code, name, class, text) code,
    ERR_LIST(X)
#undef X
        ERR_COUNT
};

enum { ERR_TEXT_MAX = 400 };

/* Separates the message from the hint in the format string of err_set. */
#define ERR_HINT "\036"

struct err {
    enum err_code code;
    char sqlstate[6];        /* SQLSTATE of a server's error, NUL-terminated; empty for other errors */
    uint16_t hint_at;        /* offset of the hint in `text`; 0 if there is none */
    char text[ERR_TEXT_MAX]; /* "message" or "message; hint", NUL-terminated; empty if `code` is ERR_OK */
};

/* Return the wire name, the general meaning or the class of a code, and the name of a class. A code out of range counts
 * as ERR_INTERNAL, a class out of range as "fatal". Thread: any. */
const char *err_name(enum err_code code);
const char *err_meaning(enum err_code code);
enum err_class err_class(enum err_code code);
const char *err_class_name(enum err_class class);

/* Returns the code with this wire name, or ERR_INTERNAL if no code has it. Thread: any. */
enum err_code err_from_name(const char *name);

/* Fills `err`, clears its sqlstate and returns `code`, so a caller can write `return err_set(err, ERR_X, "...")`. `err`
 * may be NULL. Text longer than ERR_TEXT_MAX is cut between two characters. Thread: any. */
enum err_code err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills `err` with "place: message" and the hint; the message and the hint are those of `inner`. Returns `code`. `err`
 * must not be `inner`. Thread: any. */
enum err_code err_at(struct err *err, enum err_code code, const struct err *inner, const char *place_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the hint, or "" if `err` has none. The text is valid as long as `err`. Thread: any. */
const char *err_hint(const struct err *err);

/* Returns the message, or the meaning of the code if the message is empty. The text is not terminated where the hint
 * begins: *len is its length, for "%.*s". It is valid as long as `err`. Thread: any. */
const char *err_message(const struct err *err, int *len);

/* Returns the offset of ERR_HINT in the formatted text, or SIZE_MAX if `format` does not contain it. Ignores separators
 * inside arguments. Does not consume `args`. Thread: any. */
size_t err_hint_offset(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
