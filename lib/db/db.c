/* The public functions of lib/db/db.h. They fill in default limits, check the length and the encoding of a statement,
 * call the gate and look up the result cache. Then they call the engine (db_engine.h). db_engines[] lists the engines;
 * the first one that claims a path opens it. */
#include "lib/db/db.h"
#include "lib/db/db_engine.h"

#include <glib.h>
#include <string.h>

static const struct db_engine *const db_engines[] = {&db_engine_definitions, &db_engine_postgres, &db_engine_mariadb,
                                                     &db_engine_sqlite};

static const struct db_limits DEFAULTS = {
    .time_ms = 3000,
    .max_rows = 100000,
    .max_bytes = 16ULL << 20,
    .value_bytes = 4ULL << 20,
    .sql_bytes = 65536,
    .expr_depth = 400,
    .heap_bytes = 512ULL << 20,
};

static struct db_limits resolve(const struct db_limits *asked)
{
    struct db_limits limits = asked ? *asked : DEFAULTS;
    if (limits.time_ms <= 0) limits.time_ms = DEFAULTS.time_ms;
    if (limits.max_steps < 0) limits.max_steps = 0;
    if (!limits.max_rows) limits.max_rows = DEFAULTS.max_rows;
    if (!limits.max_bytes) limits.max_bytes = DEFAULTS.max_bytes;
    if (!limits.value_bytes) limits.value_bytes = DEFAULTS.value_bytes;
    if (!limits.sql_bytes) limits.sql_bytes = DEFAULTS.sql_bytes;
    if (!limits.expr_depth) limits.expr_depth = DEFAULTS.expr_depth;
    if (!(limits.max_cost > 0)) limits.max_cost = 0;
    if (!limits.heap_bytes) limits.heap_bytes = DEFAULTS.heap_bytes;
    return limits;
}

enum err_code db_open(const char *path, const struct db_limits *limits, struct db **out, struct err *err)
{
    *out = NULL;
    struct db_limits resolved = resolve(limits);
    for (size_t i = 0; i < G_N_ELEMENTS(db_engines); i++)
        if (db_engines[i]->claims(path)) return db_engines[i]->open(path, &resolved, out, err);
    return err_set(err, ERR_DB_MISSING, "no database engine can open '%s'", path);
}

static const struct db_engine *engine_of(const char *path)
{
    for (size_t i = 0; i < G_N_ELEMENTS(db_engines); i++)
        if (db_engines[i]->claims(path)) return db_engines[i];
    return &db_engine_sqlite;
}

char *db_path_shown(const char *path)
{
    return engine_of(path)->shown(path, false);
}

char *db_path_name(const char *path)
{
    return engine_of(path)->shown(path, true);
}

bool db_path_has_secret(const char *path)
{
    const struct db_engine *engine = engine_of(path);
    return engine->has_secret && engine->has_secret(path);
}

char *db_path_with_password(const char *path, const char *password)
{
    const struct db_engine *engine = engine_of(path);
    return engine->with_password ? engine->with_password(path, password) : NULL;
}

bool db_is_file(const char *path)
{
    return engine_of(path)->is_file;
}

bool db_knows_cost(const char *path)
{
    return engine_of(path)->knows_cost;
}

const struct db_dialect *db_dialect(const struct db *db)
{
    return &db->engine->dialect;
}

void db_close(struct db *db)
{
    if (db) db->engine->close(db);
}

void db_set_limits(struct db *db, const struct db_limits *limits)
{
    db->limits = resolve(limits);
    db->engine->limits_changed(db);
}

struct db_limits db_get_limits(const struct db *db)
{
    return db->limits;
}

void db_set_deadline(struct db *db, int64_t deadline_ns)
{
    db->deadline_ns = deadline_ns;
}

int64_t db_get_deadline(const struct db *db)
{
    return db->deadline_ns;
}

void db_set_memo(struct db *db, struct db_memo *memo)
{
    db->memo = memo;
}

void db_set_gate(struct db *db, db_gate_fn *gate, void *ctx)
{
    db->gate = gate;
    db->gate_ctx = ctx;
}

void db_interrupt(struct db *db)
{
    db->engine->interrupt(db);
}

enum err_code db_fingerprint(struct db *db, char out[33], struct err *err)
{
    return db->engine->fingerprint(db, out, err);
}

bool db_tells_changes(const struct db *db)
{
    return db->engine->tells_changes && db->engine->tells_changes(db);
}

/* Checks the length and the encoding of a statement. These rules are the same for all engines. */
static enum err_code check_text(const struct db *db, const char *sql, size_t len, struct err *err)
{
    if (len > db->limits.sql_bytes)
        return err_set(err, ERR_LIMIT_BYTES, "the statement has %zu bytes; the limit is %u", len, db->limits.sql_bytes);
    if (memchr(sql, '\0', len)) return err_set(err, ERR_ENCODING, "the statement contains a NUL byte");
    if (!g_utf8_validate_len(sql, len, NULL)) return err_set(err, ERR_ENCODING, "the statement is not valid UTF-8");
    return ERR_OK;
}

enum err_code db_prepare_check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    int unused;
    if (!offset) offset = &unused;
    *offset = -1;
    enum err_code code = check_text(db, sql, len, err);
    return code ? code : db->engine->check(db, sql, len, offset, err);
}

enum err_code db_candidate_check(struct db *db, const char *sql, size_t len, struct err *err)
{
    enum err_code code = check_text(db, sql, len, err);
    return code || !db->engine->candidate ? code : db->engine->candidate(db, sql, len, err);
}

enum err_code db_query(struct db *db, struct arena *arena, const char *sql, size_t len, const struct db_value *params,
                       uint32_t n_params, uint32_t stop_rows, struct db_result *out, struct err *err)
{
    *out = (struct db_result){0};
    enum err_code code = check_text(db, sql, len, err);
    if (!code && db->gate) code = db->gate(db->gate_ctx, sql, len, err);
    if (code) return code;
    struct db_statement statement = {sql, len, params, n_params, stop_rows};
    if (memo_find(db->memo, &db->limits, &statement, arena, out)) return ERR_OK;
    code = db->engine->query(db, arena, &statement, out, err);
    if (!code) memo_keep(db->memo, &statement, out);
    if (code) *out = (struct db_result){0};
    return code;
}

enum err_code db_scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    return db->engine->scan(db, sql, each, ctx, err);
}
