/* Every failure has a code, a class and a text.
 *
 * The class tells the caller how to react; only worker/dispatch.c and coordinator/ act on it:
 * - ok: nothing failed
 * - retry: the same call may succeed later (a lock, a full queue)
 * - reject: this input will never succeed; all other work continues
 * - fatal: the process cannot continue with its configuration or its memory
 *
 * Convention of all rooms: a function that can fail returns an err_code (ERR_OK is 0). If it takes a `struct err *`, it
 * sets the message and the hint there. `err` may be NULL.
 *
 * The message is one short line: the failure and its place. The hint gives advice. Both are written in one format, with
 * ERR_HINT between them:
 *     err_set(err, ERR_CONFIG, "%s is not a directory" ERR_HINT "create it, or set --db-root", path)
 * `text` holds both as "message; hint" for places with one string (the wire format, logs). The command line prints the
 * hint on a separate line; JSON has a member for it.
 */
#ifndef ASSAY_LIB_BASE_ERROR_H
#define ASSAY_LIB_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum err_class { ERR_CLASS_OK, ERR_CLASS_RETRY, ERR_CLASS_REJECT, ERR_CLASS_FATAL };

/* code, name on the wire and in verdicts, class, meaning */
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

/* Separates the message from the hint in a format of err_set. */
#define ERR_HINT "\036"

struct err {
    enum err_code code;
    char sqlstate[6];        /* SQLSTATE of a server's error, NUL-terminated; empty for other errors */
    uint16_t hint_at;        /* offset of the hint in `text`; 0 if there is none */
    char text[ERR_TEXT_MAX]; /* "message" or "message; hint", NUL-terminated; empty when code is ERR_OK */
};

/* Wire name, class and general meaning of a code. Any value is safe. Thread: any. */
const char *err_name(enum err_code code);
const char *err_meaning(enum err_code code);
enum err_class err_class(enum err_code code);
const char *err_class_name(enum err_class class);

/* The code with this wire name, or ERR_INTERNAL if there is none. Thread: any. */
enum err_code err_from_name(const char *name);

/* Fills `err` (may be NULL; sqlstate becomes empty) and returns `code`, so that a caller writes `return err_set(err,
 * ERR_X, "...")`. Cuts text past ERR_TEXT_MAX at a UTF-8 boundary. Thread: any. */
enum err_code err_set(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets `err` to the error `inner` at a place: "place: message", with the hint of `inner`. Returns `code`. Thread: any.
 */
enum err_code err_at(struct err *err, enum err_code code, const struct err *inner, const char *place_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the hint, which lives in `err`, or "" if there is none. Thread: any. */
const char *err_hint(const struct err *err);

/* Returns the message without the hint, or the meaning of the code if it is empty, and sets *len for "%.*s". Lives in
 * `err`, or forever. Thread: any. */
const char *err_message(const struct err *err, int *len);

/* Returns the offset of ERR_HINT in the formatted text, or SIZE_MAX if `format` does not hold it. A separator inside of
 * an argument does not count. Does not consume `args`. Thread: any. */
size_t err_hint_offset(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
