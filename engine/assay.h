/* libassay: judges candidate SQL of text-to-SQL systems in the calling process.
 *
 *     assay_open → assay_judge or assay_submit, any number of times → assay_close
 *
 * A request is JSON: a question, the name of a database, and candidates. It gets one verdict: the candidate that can be
 * trusted, the probability that it is correct, and the suspect clauses with reasons. docs/formats.md describes both
 * formats, docs/library.md is a guide.
 *
 * Threads. An engine has its own threads. Any number of threads may use one engine at the same time. A verdict may be
 * used by one thread at a time. Callbacks run on one thread of the engine, one after another. The engine's threads
 * block all signals that a handler can wait for, so these signals reach the threads of the program.
 *
 * Ownership. A call copies its arguments before it returns. A `struct assay_verdict *` that a call returns belongs to
 * the caller, who frees it with assay_verdict_free. Text read from a verdict lives as long as the verdict.
 *
 * Errors. A call that can fail returns a class of result and fills the struct assay_error, which may be NULL. A missing
 * database or a statement that cannot run is not an error: the verdict reports it.
 *
 * The library writes nothing to standard output or standard error, handles no signals, does not change the locale and
 * does not exit. It uses GLib, so it may abort if memory runs out.
 *
 * The library changes two settings of SQLite that apply to the whole process. It installs a counting allocator when the
 * library is loaded. It sets a hard heap limit (see sqlite_bytes below) when it opens a database. */
#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#else
#define ASSAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header: 10000 * major + 100 * minor + patch. */
#define ASSAY_VERSION_NUMBER 100

/* Return the version of the loaded library: as text ("0.1.0"), and as a number like ASSAY_VERSION_NUMBER. Thread:
 * any. */
ASSAY_API const char *assay_version(void);
ASSAY_API int assay_version_number(void);

/* --- errors --- */

/* Class of a result: what the caller can do about a failure. */
enum assay_result {
    ASSAY_OK,     /* success */
    ASSAY_RETRY,  /* the same call may succeed later */
    ASSAY_REJECT, /* this input will never succeed; the engine continues */
    ASSAY_FATAL   /* the engine cannot start or cannot continue */
};

struct assay_error {
    enum assay_result result;
    char code[28];  /* name of the error code, such as "malformed" or "full" (list: lib/base/error.h) */
    char text[480]; /* what failed and where, in UTF-8 */
};

/* --- open, close --- */

/* A named database. Zero is the default of each field but name and path. */
struct assay_database {
    const char *name;         /* name in requests */
    const char *path;         /* SQLite file, or connection string of PostgreSQL or MariaDB */
    const char *descriptions; /* directory with TABLE.csv; NULL: database_description beside the database */
    const char *expose;       /* upper limit on the data that a verdict may show: "none", "values" or "rows"; NULL: the
                                 request decides */
    const char *const *deny_columns; /* columns whose values are never shown, in addition to those of a request:
                                        "[schema.]table.column", "column" or "table.*", quoted as in SQL */
    size_t n_deny_columns;
};

/* Options of an engine. Initialize them with assay_options_init, which selects the default of each field. The default
 * is zero. New versions add fields only at the end. */
struct assay_options {
    size_t size, database_size;             /* sizes of the structs in the caller's build; set by assay_options_init */
    const struct assay_database *databases; /* searched before database_root */
    size_t n_databases;
    const char *database_root; /* directory with databases as DB/DB.sqlite or DB.sqlite; may be NULL */
    const char *models;        /* directory of the model files; NULL: $ASSAY_MODELS, else the installed models */
    const char *executor;      /* path of the program `assay`. Statements on SQLite then run in processes of it, and one
                                  that exceeds its time limit is killed 200 ms later. NULL: statements run in this
                                  process. SQLite then checks the clock only at jumps of the statement's program, so a
                                  sort may take 2 s longer */
    const char *defaults;      /* defaults for options that a request does not set: a JSON object with the same keys,
                                  '{"policy": "abstain", "deadline_ms": 5000}'; may be NULL */
    uint32_t threads;          /* worker threads, at most 256; 0: one per processor */
    uint32_t window;           /* maximum number of requests in flight; 0: eight per thread */
    int64_t statement_ms;      /* time limit of one statement in ms; 0: 3,000 */
    uint32_t statement_rows;   /* maximum number of rows of one statement; 0: 100,000 */
    uint64_t statement_bytes;  /* maximum number of result bytes of one statement; 0: 16 MiB */
    uint64_t index_bytes;      /* maximum size of the cache of schema indexes; 0: 96 MiB */
    uint64_t sqlite_bytes;     /* SQLite's memory limit for the whole process; one statement may use half of it. 0: 512
                                  MiB. The last engine that opens a database sets it */
    int show_locations;        /* 1: messages of verdicts name the files, servers and roles of databases that cannot be
                                  used; 0: messages give the name of the database and the meaning of the error code */
};

/* Sets all fields to zero and stores the two sizes. Callers use assay_options_init, which passes the sizes. Thread:
 * any. */
ASSAY_API void assay_options_init_sized(struct assay_options *options, size_t size, size_t database_size);
static inline void assay_options_init(struct assay_options *options)
{
    assay_options_init_sized(options, sizeof(struct assay_options), sizeof(struct assay_database));
}

struct assay_engine;

/* Opens an engine: copies `options`, loads the models and starts the threads. Opens no database yet. Returns
 * ASSAY_FATAL if an option is invalid ("config"), a model cannot be used, or a thread cannot start. An engine does not
 * survive fork. Thread: any. */
ASSAY_API enum assay_result assay_open(const struct assay_options *options, struct assay_engine **out,
                                       struct assay_error *error);

/* Stops the running work and frees the engine, which takes at most the time limit of one statement. First answers all
 * requests in flight with "cancelled": it calls their callbacks, and makes assay_judge and assay_wait return in other
 * threads. The caller must start no further call on this engine. `engine` may be NULL. Returns ASSAY_REJECT and has no
 * effect if it is called from a callback. Thread: any but the engine's. */
ASSAY_API enum assay_result assay_close(struct assay_engine *engine);

/* --- judge --- */

struct assay_verdict;

/* Judges one request of `len` bytes and waits for its verdict. The option "deadline_ms" of the request limits the time;
 * without it only the limits of each statement apply. Sets *out to NULL on failure. Returns:
 *   ASSAY_REJECT  the request is invalid ("malformed", "encoding", "limit_..."), the call came from a callback
 *                 ("refused"), or the engine was closed meanwhile ("cancelled")
 *   ASSAY_FATAL   the engine cannot continue ("closed")
 * Thread: any but the engine's. */
ASSAY_API enum assay_result assay_judge(struct assay_engine *engine, const char *request, size_t len,
                                        struct assay_verdict **out, struct assay_error *error);

/* Receives the answer to one accepted request: a verdict, which it must free, or NULL and the error. The engine calls
 * it once for each request, on its own thread. Later answers wait until it returns, so it should be short. It may call
 * assay_submit; that call then does not wait. */
typedef void assay_callback(void *context, struct assay_verdict *verdict, const struct assay_error *error);

/* Submits a request and returns without waiting for its verdict. While the window is full, waits up to timeout_ms (0:
 * does not wait; below 0: waits without limit), then returns ASSAY_RETRY ("full"). The callback is called only if the
 * result is ASSAY_OK, possibly before this call returns. Other errors are those of assay_judge. Thread: any. */
ASSAY_API enum assay_result assay_submit(struct assay_engine *engine, const char *request, size_t len,
                                         int64_t timeout_ms, assay_callback *callback, void *context,
                                         struct assay_error *error);

/* Waits up to timeout_ms (below 0: without limit) until no request is in flight and no callback runs. Returns
 * ASSAY_RETRY on timeout, and ASSAY_REJECT if it is called from a callback. Thread: any but the engine's. */
ASSAY_API enum assay_result assay_wait(struct assay_engine *engine, int64_t timeout_ms);

/* --- verdict --- */

enum assay_status {
    ASSAY_STATUS_FAILED,      /* could not be judged: see assay_verdict_reason */
    ASSAY_STATUS_VALIDATED,   /* P(correct) of the chosen candidate reaches the threshold */
    ASSAY_STATUS_REPAIRED,    /* P(correct) of a repair of the best candidate reaches the threshold */
    ASSAY_STATUS_BEST_EFFORT, /* no candidate validated; the answer is the best candidate */
    ASSAY_STATUS_ABSTAINED,   /* no candidate validated; there is no SQL */
    ASSAY_STATUS_ASK          /* no candidate validated; there are questions for the user */
};

/* Returns the status. A newer library may return a value that this header does not list. */
ASSAY_API enum assay_status assay_verdict_status(const struct assay_verdict *verdict);
/* Returns the name of the status as in JSON: "validated", "best_effort" ... */
ASSAY_API const char *assay_verdict_status_name(const struct assay_verdict *verdict);

/* Returns the id of the request, or one that the engine generated if the request had none. */
ASSAY_API const char *assay_verdict_id(const struct assay_verdict *verdict);

/* Return the index of the chosen candidate, counted from 0, and its SQL. Return -1 and NULL if none was chosen. */
ASSAY_API int32_t assay_verdict_chosen(const struct assay_verdict *verdict);
ASSAY_API const char *assay_verdict_sql(const struct assay_verdict *verdict);

/* Return the calibrated probability that the chosen candidate is correct, and the threshold. Return NaN if unknown. */
ASSAY_API double assay_verdict_p_correct(const struct assay_verdict *verdict);
ASSAY_API double assay_verdict_threshold(const struct assay_verdict *verdict);

/* Return the name of an error code ("db_missing", "deadline" ...) and a message. Both are NULL if there was no
 * error. */
ASSAY_API const char *assay_verdict_reason(const struct assay_verdict *verdict);
ASSAY_API const char *assay_verdict_message(const struct assay_verdict *verdict);

/* Returns the whole verdict as one line of JSON, or NULL if out of memory. Its "schema_version" identifies the format
 * (docs/formats.md). The first call creates the text and stores it in the verdict, which no other thread may use
 * meanwhile. */
ASSAY_API const char *assay_verdict_json(struct assay_verdict *verdict);

/* Frees a verdict, which may be NULL. */
ASSAY_API void assay_verdict_free(struct assay_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
