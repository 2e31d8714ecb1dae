/* The interface of an engine behind lib/db/db.h: one row of db_engines[] in db.c. A new engine fills this table, and
 * its `dialect`, from files of its own; nothing outside of lib/db knows its name.
 *
 * The wrappers in db.c have resolved the limits: only max_steps and max_cost may be 0. Every slot is required unless
 * its comment says otherwise. The handle embeds `struct db` as its first member.
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
    uint32_t stop_rows; /* 0 sets no bound */
};

struct db_engine {
    struct db_dialect dialect;
    bool is_file;    /* db_is_file */
    bool knows_cost; /* db_knows_cost */
    /* True if `path` is one of this engine. The first engine that returns true opens it. */
    bool (*claims)(const char *path);
    /* db_path_shown, db_path_name */
    char *(*shown)(const char *path, bool name_only);
    /* db_path_has_secret, db_path_with_password; NULL if paths hold no secrets */
    bool (*has_secret)(const char *path);
    char *(*with_password)(const char *path, const char *password);
    enum err_code (*open)(const char *path, const struct db_limits *limits, struct db **out, struct err *err);
    void (*close)(struct db *db);
    void (*limits_changed)(struct db *db);
    void (*interrupt)(struct db *db); /* thread: any */
    enum err_code (*fingerprint)(struct db *db, char out[33], struct err *err);
    bool (*tells_changes)(const struct db *db); /* db_tells_changes; NULL if false for every handle */
    enum err_code (*check)(struct db *db, const char *sql, size_t len, int *offset, struct err *err);
    /* db_candidate_check; NULL if all sessions read a statement alike */
    enum err_code (*candidate)(struct db *db, const char *sql, size_t len, struct err *err);
    enum err_code (*query)(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err);
    enum err_code (*scan)(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err);
    /* Appends a condition for the query `running_from`, which lists sessions. It selects the session `id` while it runs
     * a statement that began more than `age_ms` ago. NULL if statements end with the process. */
    void (*append_running)(GString *sql, int64_t id, int64_t age_ms);
    const char *running_from;
};

struct db {
    const struct db_engine *engine;
    struct db_limits limits; /* resolved: only max_steps and max_cost may be 0 */
    int64_t deadline_ns;     /* 0 if there is none */
    struct db_memo *memo;    /* NULL disables the result cache */
    db_gate_fn *gate;        /* NULL if there is none */
    void *gate_ctx;
};

/* abandoned.c. Records that the session `id` of the server still runs a statement that was abandoned now. Thread: any.
 */
void abandoned_note(const char *path, int64_t id);

/* memo.c: look up and store a result. `memo` may be NULL. memo_find copies the result into the arena. */
bool memo_find(const struct db_memo *memo, const struct db_limits *limits, const struct db_statement *statement,
               struct arena *arena, struct db_result *out);
void memo_keep(struct db_memo *memo, const struct db_statement *statement, const struct db_result *result);

extern const struct db_engine db_engine_sqlite, db_engine_postgres, db_engine_mariadb, db_engine_definitions;
extern const struct db_listing sqlite_listing, postgres_listing, mariadb_listing;
extern const struct db_checkup postgres_checkups[], mariadb_checkups[]; /* end with a row without a name */

#endif
