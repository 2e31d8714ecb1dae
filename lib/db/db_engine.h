/* The interface of a database engine. Each engine defines a struct db_engine in its own files, and is a row of
 * db_engines[] in db.c. No file outside of lib/db refers to an engine by name.
 *
 * The functions of db.c fill in the default limits, so only max_steps and max_cost may be 0 here. Every member is
 * required unless its comment says otherwise. An engine's handle has `struct db` as its first member.
 */
#ifndef ASSAY_LIB_DB_DB_ENGINE_H
#define ASSAY_LIB_DB_DB_ENGINE_H

#include "lib/db/db.h"
#include "lib/db/db_checkup.h"
#include "lib/db/db_listing.h"

#include <glib.h>

struct db_statement {
    const char *sql;
    size_t len;
    const struct db_value *params;
    uint32_t n_params;
    uint32_t stop_rows; /* 0 sets no limit */
};

struct db_engine {
    struct db_dialect dialect;
    bool is_file;    /* the result of db_is_file */
    bool knows_cost; /* the result of db_knows_cost */
    /* Returns true if this engine can open `path`. The first engine that returns true opens it. */
    bool (*claims)(const char *path);
    /* Implements db_path_shown, and db_path_name if `name_only`. */
    char *(*shown)(const char *path, bool name_only);
    /* Implement db_path_has_secret and db_path_with_password. NULL if paths contain no secrets. */
    bool (*has_secret)(const char *path);
    char *(*with_password)(const char *path, const char *password);
    enum err_code (*open)(const char *path, const struct db_limits *limits, struct db **out, struct err *err);
    void (*close)(struct db *db);
    void (*limits_changed)(struct db *db);
    void (*interrupt)(struct db *db); /* thread: any */
    enum err_code (*fingerprint)(struct db *db, char out[33], struct err *err);
    bool (*tells_changes)(const struct db *db); /* implements db_tells_changes; NULL if always false */
    enum err_code (*check)(struct db *db, const char *sql, size_t len, int *offset, struct err *err);
    /* Implements db_candidate_check. NULL if all sessions interpret a statement in the same way. */
    enum err_code (*candidate)(struct db *db, const char *sql, size_t len, struct err *err);
    enum err_code (*query)(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err);
    enum err_code (*scan)(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err);
    /* Appends a condition to the query `running_from`, which lists the sessions of the server. The condition selects
     * the session `id` if its current statement began more than `age_ms` ago. NULL if statements end with the process.
     */
    void (*append_running)(GString *sql, int64_t id, int64_t age_ms);
    const char *running_from;
};

struct db {
    const struct db_engine *engine;
    struct db_limits limits; /* with defaults filled in: only max_steps and max_cost may be 0 */
    int64_t deadline_ns;     /* 0 if there is none */
    struct db_memo *memo;    /* NULL disables the result cache */
    db_gate_fn *gate;        /* NULL if there is none */
    void *gate_ctx;
};

/* Implemented in abandoned.c. Records that the server still runs the current statement of the session `id`, whose
 * connection is closed now. Thread: any. */
void abandoned_note(const char *path, int64_t id);

/* Implemented in memo.c. Look up and store a result. `memo` may be NULL. memo_find copies the result into the arena.
 * memo_keep ignores results that must not be cached. */
bool memo_find(const struct db_memo *memo, const struct db_limits *limits, const struct db_statement *statement,
               struct arena *arena, struct db_result *out);
void memo_keep(struct db_memo *memo, const struct db_statement *statement, const struct db_result *result);

extern const struct db_engine db_engine_sqlite, db_engine_postgres, db_engine_mariadb, db_engine_definitions;
extern const struct db_listing sqlite_listing, postgres_listing, mariadb_listing;
extern const struct db_checkup postgres_checkups[], mariadb_checkups[]; /* a row without a name ends a list */

#endif
