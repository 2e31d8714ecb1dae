/* libassay: judges candidate SQL of text-to-SQL systems, in the calling process.
 *
 *     assay_open → assay_judge or assay_submit, as often as wanted → assay_close
 *
 * A request is JSON: a question, a database by its name, and candidates. It gets one verdict: which candidate may be
 * trusted, how sure that is, which clauses are suspect and why. Both formats: docs/formats.md. A guide:
 * docs/library.md.
 *
 * Threads. An engine has threads of its own and may be used by any number of threads at once. A verdict belongs to one
 * thread at a time. Callbacks run on one thread of the engine, one after another. All signals that a handler could be
 * waiting for are blocked on the engine's threads, so that they reach the program's own.
 *
 * Ownership. What is passed in is copied before a call returns. What comes out as `struct assay_verdict *` is the
 * caller's, to be freed with assay_verdict_free; text that is read from it lives as long as it does.
 *
 * Errors. A call that can fail returns its class, and says what failed in a struct assay_error where one is given (may
 * be NULL). A database that is missing or a statement that cannot run is no error: the verdict says so.
 *
 * The library writes nothing to standard output or standard error, handles no signal, does not change the locale and
 * does not exit. Out of memory it may abort, as GLib does, which it uses.
 *
 * Two settings of SQLite are the process's, not a connection's, and the library makes both: an allocator that counts,
 * when the library is loaded, and a hard heap limit (see sqlite_bytes below) when it opens a database. */
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

/* Of this header: 10000 * major + 100 * minor + patch. */
#define ASSAY_VERSION_NUMBER 100

/* Of the library that runs: "0.1.0", and as a number. Thread: any. */
ASSAY_API const char *assay_version(void);
ASSAY_API int assay_version_number(void);

/* --- errors --- */

/* What may be done about a failure. */
enum assay_result {
    ASSAY_OK,     /* nothing failed */
    ASSAY_RETRY,  /* the same call may succeed later */
    ASSAY_REJECT, /* this input will never succeed; everything else goes on */
    ASSAY_FATAL   /* the engine cannot start, or cannot go on */
};

struct assay_error {
    enum assay_result result;
    char code[28];  /* name of the error code (lib/base/error.h has the list): "malformed", "full" ... */
    char text[480]; /* a sentence: what failed, where; UTF-8 */
};

/* --- open, close --- */

/* A database by name. Zero is the default of all but name and path. */
struct assay_database {
    const char *name;         /* as requests name it */
    const char *path;         /* a file of SQLite, or a connection string of PostgreSQL or MariaDB */
    const char *descriptions; /* folder with TABLE.csv; NULL: database_description beside the database */
    const char *expose;       /* the most of its data that a verdict may show, whatever a request asks for: "none",
                                 "values", "rows"; NULL: what the request asks for */
    const char *const *deny_columns; /* whose values are never shown, beside a request's own: "[schema.]table.column",
                                        "column" or "table.*", quoted as in SQL */
    size_t n_deny_columns;
};

/* Start with assay_options_init; then zero is the default of each field. Fields are only ever added at the end. */
struct assay_options {
    size_t size, database_size; /* of the structs that the caller was compiled with; set by assay_options_init */
    const struct assay_database *databases; /* looked at first */
    size_t n_databases;
    const char *database_root; /* folder with databases as DB/DB.sqlite or DB.sqlite; NULL: none */
    const char *models;        /* folder of the model files; NULL: $ASSAY_MODELS, else the installed ones */
    const char *executor;     /* path of the program `assay`, in whose processes statements on SQLite then run: one that
                                  overruns its limit is ended 200 ms later. NULL: in this process, where SQLite looks at
                                  the clock only where a statement's program jumps: a sort may take 2 s more */
    const char *defaults;     /* for what a request leaves open: a JSON object with the keys that a request has as
                                  options, '{"policy": "abstain", "deadline_ms": 5000}'; NULL: none */
    uint32_t threads;         /* that judge, at most 256; 0: one a processor */
    uint32_t window;          /* requests out at a time; 0: eight a thread */
    int64_t statement_ms;     /* for one statement; 0: 3,000 */
    uint32_t statement_rows;  /* fetched from one statement at most; 0: 100,000 */
    uint64_t statement_bytes; /* fetched from one statement at most; 0: 16 MiB */
    uint64_t index_bytes;     /* of schema indexes that are kept between requests; 0: 96 MiB */
    uint64_t sqlite_bytes;    /* SQLite's memory of the whole process, of which a statement may take half; 0: 512 MiB.
                                  The last engine that opens a database sets it */
    int show_locations;       /* 1: messages of verdicts name the files, servers and roles of databases that cannot be
                                  used; 0: they name the database and say what its code means */
};

/* Zeros, and the two sizes. Call assay_options_init, which knows them. Thread: any. */
ASSAY_API void assay_options_init_sized(struct assay_options *options, size_t size, size_t database_size);
static inline void assay_options_init(struct assay_options *options)
{
    assay_options_init_sized(options, sizeof(struct assay_options), sizeof(struct assay_database));
}

struct assay_engine;

/* Loads the models and starts the threads; opens no database yet. ASSAY_FATAL: an option is not valid ("config"), a
 * model cannot be used, no threads. `options` is copied. An engine does not survive fork. Thread: any. */
ASSAY_API enum assay_result assay_open(const struct assay_options *options, struct assay_engine **out,
                                       struct assay_error *error);

/* Stops what still runs and frees the engine; takes a statement's time at most. Requests that are out are answered
 * first: their callbacks are called, and other threads' assay_judge and assay_wait return, with "cancelled". No call
 * may begin on this engine any more. NULL is fine. ASSAY_REJECT: called from a callback, which nothing comes of.
 * Thread: any but the engine's. */
ASSAY_API enum assay_result assay_close(struct assay_engine *engine);

/* --- judge --- */

struct assay_verdict;

/* Judge one request of `len` bytes and wait for its verdict. The request's option "deadline_ms" bounds how long it
 * takes; without one only the limits of each statement do. ASSAY_REJECT: "malformed", "encoding", "limit_..." (no
 * valid request), "refused" (called from a callback), "cancelled" (closed meanwhile). ASSAY_FATAL: "closed", the
 * engine cannot go on. *out is NULL then. Thread: any but the engine's. */
ASSAY_API enum assay_result assay_judge(struct assay_engine *engine, const char *request, size_t len,
                                        struct assay_verdict **out, struct assay_error *error);

/* Called once for each request that was taken, on the engine's own thread: with a verdict, which it owns, or with NULL
 * and the error. All later answers wait until it returns, so it should be short. It may call assay_submit, which does
 * not wait then. */
typedef void assay_callback(void *context, struct assay_verdict *verdict, const struct assay_error *error);

/* Hand over a request and return. Waits up to timeout_ms (0: does not, below 0: for ever) while as many are out as the
 * window allows: ASSAY_RETRY, "full". On any result but ASSAY_OK the callback is not called; it may be called before
 * this returns. Errors as of assay_judge. Thread: any. */
ASSAY_API enum assay_result assay_submit(struct assay_engine *engine, const char *request, size_t len,
                                         int64_t timeout_ms, assay_callback *callback, void *context,
                                         struct assay_error *error);

/* Wait up to timeout_ms (below 0: for ever) until no request is out and no callback runs. ASSAY_RETRY: some still are.
 * ASSAY_REJECT: called from a callback. Thread: any but the engine's. */
ASSAY_API enum assay_result assay_wait(struct assay_engine *engine, int64_t timeout_ms);

/* --- verdict --- */

enum assay_status {
    ASSAY_STATUS_FAILED,      /* could not be judged: assay_verdict_reason */
    ASSAY_STATUS_VALIDATED,   /* P(correct) of the chosen candidate reaches the threshold */
    ASSAY_STATUS_REPAIRED,    /* the same of a query near the best candidate, which is the answer */
    ASSAY_STATUS_BEST_EFFORT, /* nothing validated: the best candidate */
    ASSAY_STATUS_ABSTAINED,   /* nothing validated: no SQL */
    ASSAY_STATUS_ASK          /* nothing validated: questions for the user */
};

/* A value that is not in this list may come from a newer library. */
ASSAY_API enum assay_status assay_verdict_status(const struct assay_verdict *verdict);
/* "validated", "best_effort" ...: as in JSON. */
ASSAY_API const char *assay_verdict_status_name(const struct assay_verdict *verdict);

/* Of the request, or one that the engine made up where it had none. */
ASSAY_API const char *assay_verdict_id(const struct assay_verdict *verdict);

/* Index of the chosen candidate, from 0, and its SQL; -1 and NULL: none was chosen. */
ASSAY_API int32_t assay_verdict_chosen(const struct assay_verdict *verdict);
ASSAY_API const char *assay_verdict_sql(const struct assay_verdict *verdict);

/* Calibrated probability that the chosen one is right, and what it had to reach. NaN: not known. */
ASSAY_API double assay_verdict_p_correct(const struct assay_verdict *verdict);
ASSAY_API double assay_verdict_threshold(const struct assay_verdict *verdict);

/* The name of an error code ("db_missing", "deadline" ...) and a sentence; NULL: there is none. */
ASSAY_API const char *assay_verdict_reason(const struct assay_verdict *verdict);
ASSAY_API const char *assay_verdict_message(const struct assay_verdict *verdict);

/* Everything, as one line of JSON; its "schema_version" says which format (docs/formats.md). Written at the first call
 * and kept in the verdict, which must not be used by another thread meanwhile. NULL: no memory. */
ASSAY_API const char *assay_verdict_json(struct assay_verdict *verdict);

/* NULL is fine. */
ASSAY_API void assay_verdict_free(struct assay_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
