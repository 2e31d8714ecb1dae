/* Runs statements in SQLite. sqlite_guard.c contains the authorizer, sqlite_open.c opens files, and sqlite_limits.c
 * sets SQLite's own limits.
 *
 * db.c has checked the length and the encoding. The statement is compiled under the authorizer. It must be the only one
 * in its text, be read-only, return columns, and not be an EXPLAIN. While it runs, four mechanisms limit it: the
 * progress callback (time, steps, cancellation), the watchdog, SQLite's own limits, and the sink (rows, bytes). After
 * any failure the handle is ready for the next statement.
 *
 * The progress callback is called only at jumps of the compiled statement. Between jumps, our replacement functions
 * (sqlite_functions.c) check the clock, and the meter (sqlite_meter.h) makes allocations fail. For all other code, the
 * product of the size of the compiled statement and its longest value is limited. bench/overrun.c measures how far
 * statements still exceed their time.
 */
#include "lib/db/sqlite_int.h"

#include "lib/base/clock.h"
#include "lib/sql/dialect.h"

#include <glib.h>
#include <string.h>

enum {
    PROGRESS_EVERY = 1000,
    STATEMENT_SHARE = 2, /* a statement may use 1/STATEMENT_SHARE of heap_bytes */
    WORK_PER_STEP = 16,  /* bytes that a replacement function processes in the time of one instruction */
};

static void limits_changed(struct db *db)
{
    struct sqlite_db *self = sqlite_of(db);
    if (self->conn) sqlite_apply_limits(self);
}

/* --- one statement's time ---------------------------------------------------------------------------------------- */

/* Adds to the steps. Returns false if the statement must stop, and sets `stopped` to the reason. */
static bool may_go_on(struct sqlite_db *self, int64_t steps)
{
    self->steps += steps;
    if (atomic_load_explicit(&self->cancelled, memory_order_relaxed))
        self->stopped = ERR_CANCELLED;
    else if (self->steps >= self->max_steps)
        self->stopped = ERR_LIMIT_STEPS;
    else if (clock_now_ns() >= self->due_ns)
        self->stopped = self->due_is_deadline ? ERR_DEADLINE : ERR_LIMIT_TIME;
    return self->stopped == ERR_OK;
}

static int on_progress(void *ctx)
{
    return !may_go_on(ctx, PROGRESS_EVERY);
}

static bool on_work(void *ctx, int64_t bytes)
{
    return may_go_on(ctx, bytes / WORK_PER_STEP);
}

static void on_watchdog(void *ctx)
{
    struct sqlite_db *self = ctx;
    atomic_store(&self->meter.late, true);
    sqlite3_interrupt(self->conn);
}

/* Only sets a flag, because the handle's thread may be reopening the connection. */
static void interrupt(struct db *db)
{
    atomic_store(&sqlite_of(db)->cancelled, true);
}

static enum err_code deadline_error(struct err *err)
{
    return err_set(err, ERR_DEADLINE, "the deadline passed before the statement finished");
}

/* Sets the limits on time and steps of the statement. */
static void set_bounds(struct sqlite_db *self)
{
    enum { EVER_S = 1000000000 }; /* 30 years; avoids overflows below */
    const struct db_limits *limits = &self->base.limits;
    self->time_ms = MIN(limits->time_ms, EVER_S * INT64_C(1000));
    self->max_steps = limits->max_steps ? limits->max_steps : INT64_MAX;
    if (!limits->by_steps) return;
    self->max_steps = MIN(self->max_steps, self->time_ms * DB_STEPS_PER_MS);
    self->time_ms = MIN(self->time_ms * DB_AMPLE, EVER_S * INT64_C(1000));
}

/* Prepares the handle for a statement: limits, guard, meter and watchdog. After ERR_OK the caller must call end(). */
static enum err_code begin(struct sqlite_db *self, bool trusted, int64_t *start_ns, struct err *err)
{
    *start_ns = clock_now_ns();
    int64_t deadline = self->base.deadline_ns;
    if (deadline && *start_ns >= deadline) return deadline_error(err);
    enum err_code code = sqlite_reconnect_if_changed(self, *start_ns, err);
    if (code) return code;
    set_bounds(self);
    self->due_ns = *start_ns + self->time_ms * 1000000;
    self->due_is_deadline = deadline && deadline < self->due_ns;
    if (self->due_is_deadline) self->due_ns = deadline;
    self->steps = 0;
    self->stopped = ERR_OK;
    atomic_store(&self->cancelled, false);
    guard_begin(&self->guard, trusted);
    sqlite3_progress_handler(self->conn, PROGRESS_EVERY, on_progress, self);
    self->meter.used = 0;
    self->meter.cap = (int64_t)(self->base.limits.heap_bytes / STATEMENT_SHARE);
    atomic_store(&self->meter.late, false);
    work_begin(&self->work);
    meter_use(&self->meter);
    watchdog_arm(&self->watch, self->due_ns);
    return ERR_OK;
}

static void end(struct sqlite_db *self)
{
    meter_use(NULL);
    watchdog_disarm(&self->watch);
    sqlite3_limit(self->conn, SQLITE_LIMIT_LENGTH, sqlite_as_int(self->base.limits.value_bytes));
    self->guard.trusted = false;
}

/* --- failures ---------------------------------------------------------------------------------------------------- */

/* Returns the reason of an interrupt. If no callback has set one, the watchdog has interrupted because of the time. */
static enum err_code why_stopped(const struct sqlite_db *self)
{
    if (self->stopped) return self->stopped;
    return self->due_is_deadline ? ERR_DEADLINE : ERR_LIMIT_TIME;
}

static enum err_code stopped_error(const struct sqlite_db *self, struct err *err)
{
    enum err_code code = why_stopped(self);
    switch (code) {
    case ERR_LIMIT_TIME: return err_set(err, code, "the statement was stopped after %lld ms", (long long)self->time_ms);
    case ERR_LIMIT_STEPS:
        return err_set(err, code, "the statement was stopped after %lld engine steps", (long long)self->max_steps);
    case ERR_DEADLINE: return deadline_error(err);
    default: return err_set(err, code, "the statement was cancelled");
    }
}

static enum err_code refused_error(const char *what, struct err *err)
{
    return err_set(err, ERR_REFUSED, "%s is not allowed", what);
}

static bool is_memory(int rc)
{
    return (rc & 0xff) == SQLITE_NOMEM || rc == SQLITE_IOERR_NOMEM;
}

/* True if the watchdog fired. The meter then refuses memory. */
static bool is_late(const struct sqlite_db *self)
{
    return atomic_load(&self->meter.late);
}

/* Reports the failure `rc` of SQLite. Call it before the connection is used again, because the connection owns the
 * message. */
static enum err_code failure(struct sqlite_db *self, int rc, struct err *err)
{
    if ((rc & 0xff) == SQLITE_INTERRUPT || (is_memory(rc) && is_late(self))) return stopped_error(self, err);
    if (self->guard.denied[0]) return refused_error(self->guard.denied, err);
    const char *message = sqlite3_errmsg(self->conn);
    return err_set(err, guard_classify(rc, message), "%s", message);
}

/* --- preparing --------------------------------------------------------------------------------------------------- */

/* Returns the end of the block comment that starts at p. An unterminated comment extends to the end of the text, as in
 * SQLite. */
static const char *skip_block(const char *p, const char *end)
{
    for (p += 2; p + 1 < end; p++)
        if (p[0] == '*' && p[1] == '/') return p + 2;
    return end;
}

/* True if the text contains only white space, semicolons and comments. */
static bool is_blank(const char *p, const char *end)
{
    while (p < end) {
        if (strchr(" \t\n\f\r;", *p)) {
            p++;
        } else if (end - p >= 2 && p[0] == '-' && p[1] == '-') {
            const char *line = memchr(p, '\n', (size_t)(end - p));
            p = line ? line + 1 : end;
        } else if (end - p >= 2 && p[0] == '/' && p[1] == '*') {
            p = skip_block(p, end);
        } else {
            return false;
        }
    }
    return true;
}

/* Checks that the statement is a query and the only statement. The authorizer has already checked the objects that it
 * uses. */
static enum err_code check_kind(const struct sqlite_db *self, sqlite3_stmt *stmt, const char *tail, const char *end,
                                struct err *err)
{
    bool query = self->guard.is_query || self->guard.trusted; /* the program's own statements may be PRAGMAs */
    if (!stmt) return err_set(err, ERR_ENGINE, "the text contains no statement");
    if (sqlite3_stmt_isexplain(stmt)) return refused_error("EXPLAIN", err);
    if (!query || sqlite3_column_count(stmt) == 0 || !sqlite3_stmt_readonly(stmt))
        return refused_error("a statement that is not a query", err);
    if (!is_blank(tail, end)) return refused_error("more than one statement", err);
    return ERR_OK;
}

static enum err_code prepare(struct sqlite_db *self, const char *sql, size_t len, bool keep, sqlite3_stmt **out,
                             struct err *err)
{
    const char *tail = NULL;
    *out = NULL;
    int rc = sqlite3_prepare_v3(self->conn, sql, sqlite_as_int(len), keep ? SQLITE_PREPARE_PERSISTENT : 0, out, &tail);
    enum err_code code = rc == SQLITE_OK ? ERR_OK : failure(self, rc, err);
    if (!code) code = check_kind(self, *out, tail, sql + len, err);
    if (code) {
        sqlite3_finalize(*out);
        *out = NULL;
    }
    return code;
}

static enum err_code checkout(struct sqlite_db *self, const struct db_statement *statement, sqlite3_stmt **out,
                              struct err *err)
{
    if (statement->n_params == 0) return prepare(self, statement->sql, statement->len, false, out, err);
    *out = sqlite_find_probe(self, statement->sql, statement->len);
    if (*out) return ERR_OK;
    enum err_code code = prepare(self, statement->sql, statement->len, true, out, err);
    if (!code) sqlite_keep_probe(self, statement->sql, statement->len, *out);
    return code;
}

static void give_back(const struct db_statement *statement, sqlite3_stmt *stmt)
{
    if (statement->n_params == 0) {
        sqlite3_finalize(stmt);
        return;
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
}

/* Binds a parameter. The value must stay valid until the statement is reset. */
static int bind_one(sqlite3_stmt *stmt, int at, const struct db_value *value)
{
    switch (value->type) {
    case DB_INT: return sqlite3_bind_int64(stmt, at, value->i);
    case DB_FLOAT: return sqlite3_bind_double(stmt, at, value->f);
    case DB_TEXT: return sqlite3_bind_text64(stmt, at, value->text, value->len, SQLITE_STATIC, SQLITE_UTF8);
    case DB_BLOB: return sqlite3_bind_blob64(stmt, at, value->text, value->len, SQLITE_STATIC);
    case DB_NULL: break;
    }
    return sqlite3_bind_null(stmt, at);
}

static enum err_code bind_all(struct sqlite_db *self, sqlite3_stmt *stmt, const struct db_statement *statement,
                              struct err *err)
{
    for (uint32_t i = 0; i < statement->n_params; i++) {
        int rc = bind_one(stmt, (int)i + 1, &statement->params[i]);
        if (rc != SQLITE_OK) return failure(self, rc, err);
    }
    return ERR_OK;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Reads column `i` of the current row. SQLite owns the text until the next step. Returns false if memory is exhausted.
 */
static bool fetch(sqlite3_stmt *stmt, int i, struct db_value *out)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER: *out = (struct db_value){.type = DB_INT, .i = sqlite3_column_int64(stmt, i)}; return true;
    case SQLITE_FLOAT: *out = (struct db_value){.type = DB_FLOAT, .f = sqlite3_column_double(stmt, i)}; return true;
    case SQLITE_NULL: *out = (struct db_value){.type = DB_NULL}; return true;
    case SQLITE_TEXT:
        *out = (struct db_value){.type = DB_TEXT, .text = (const char *)sqlite3_column_text(stmt, i)};
        break;
    default: *out = (struct db_value){.type = DB_BLOB, .text = sqlite3_column_blob(stmt, i)}; break;
    }
    out->len = (size_t)sqlite3_column_bytes(stmt, i);
    if (!out->text && out->len == 0 && out->type == DB_BLOB) out->text = "";
    return out->text != NULL;
}

static bool fetch_row(sqlite3_stmt *stmt, struct db_value *row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!fetch(stmt, (int)i, &row[i])) return false;
    return true;
}

static enum err_code memory_error(const struct sqlite_db *self, struct err *err)
{
    if (is_late(self)) return stopped_error(self, err);
    return err_set(err, ERR_LIMIT_MEMORY, "SQLite exceeded its memory limit");
}

/* Collects the rows. `rc` is the result of the first step, which the caller has made. */
static enum err_code collect(struct sqlite_db *self, sqlite3_stmt *stmt, int rc, struct sink *sink, uint32_t stop_rows,
                             bool *truncated, struct err *err)
{
    for (; rc != SQLITE_DONE; rc = sqlite3_step(stmt)) {
        if (rc != SQLITE_ROW) return failure(self, rc, err);
        struct db_value *row = sink_next(sink);
        if (!row || !fetch_row(stmt, row, sink->n_columns)) return memory_error(self, err);
        enum err_code code = sink_take(sink, err);
        if (code) return code;
        if (stop_rows && sink->n_rows == stop_rows) {
            *truncated = true; /* does not compute the next row, which may take long */
            return ERR_OK;
        }
        /* The progress callback is rarely called if rows are cheap, so the clock is also checked here. */
        if (sink->n_rows % 1024 == 0 && clock_now_ns() >= self->due_ns) return stopped_error(self, err);
    }
    /* A collation that stopped early (compare_nocase) cannot report an error, so the result may be wrong. */
    return self->work.over ? stopped_error(self, err) : ERR_OK;
}

static enum err_code name_columns(const struct sqlite_db *self, sqlite3_stmt *stmt, struct arena *arena,
                                  struct db_result *out, struct err *err)
{
    uint32_t n = (uint32_t)sqlite3_column_count(stmt);
    const char **names = arena_new_array(arena, n, const char *);
    for (uint32_t i = 0; names && i < n; i++) {
        const char *name = sqlite3_column_name(stmt, (int)i);
        names[i] = name ? arena_strdup(arena, name) : NULL;
        if (!names[i]) names = NULL;
    }
    out->columns = names;
    out->n_columns = n;
    return names ? ERR_OK : memory_error(self, err);
}

static enum err_code run(struct sqlite_db *self, struct arena *arena, sqlite3_stmt *stmt,
                         const struct db_statement *statement, struct db_result *out, struct err *err)
{
    struct sink sink;
    sqlite_bound_values(self, stmt);
    enum err_code code = bind_all(self, stmt, statement, err);
    if (code) return code;
    int rc = sqlite3_step(stmt); /* must come first: it may recompile the statement, with other columns */
    code = name_columns(self, stmt, arena, out, err);
    if (!code) code = sink_init(&sink, arena, &self->base.limits, &self->buffer, out->n_columns, err);
    if (!code) code = collect(self, stmt, rc, &sink, statement->stop_rows, &out->truncated, err);
    if (!code) code = sink_finish(&sink, out, err);
    out->steps = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, true);
    sink_buffer_trim(&self->buffer, true);
    return code;
}

/* --- the engine's slots ------------------------------------------------------------------------------------------ */

static enum err_code query(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err)
{
    struct sqlite_db *self = sqlite_of(db);
    int64_t start;
    enum err_code code = begin(self, false, &start, err);
    if (code) return code;
    sqlite3_stmt *stmt;
    code = checkout(self, statement, &stmt, err);
    if (!code) {
        out->prepare_ns = clock_now_ns() - start;
        code = run(self, arena, stmt, statement, out, err);
        out->varies = self->guard.varies;
        give_back(statement, stmt);
    }
    end(self);
    out->ns = clock_now_ns() - start;
    return code;
}

static enum err_code check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    struct sqlite_db *self = sqlite_of(db);
    int64_t start;
    enum err_code code = begin(self, false, &start, err);
    if (code) return code;
    sqlite3_stmt *stmt;
    code = prepare(self, sql, len, false, &stmt, err);
    if (code == ERR_ENGINE || code == ERR_LIMIT_DEPTH || code == ERR_LIMIT_COUNT)
        *offset = sqlite3_error_offset(self->conn);
    sqlite3_finalize(stmt);
    end(self);
    return code;
}

static enum err_code scan_rows(struct sqlite_db *self, sqlite3_stmt *stmt, db_row_fn *each, void *ctx, struct err *err)
{
    uint32_t n = (uint32_t)sqlite3_column_count(stmt);
    struct db_value *row = g_new(struct db_value, n);
    enum err_code code = ERR_OK;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (!fetch_row(stmt, row, n)) {
            code = memory_error(self, err);
            break;
        }
        if (!each(ctx, row, n)) break;
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) code = failure(self, rc, err);
    g_free(row);
    return code;
}

static enum err_code scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    struct sqlite_db *self = sqlite_of(db);
    int64_t start;
    enum err_code code = begin(self, true, &start, err);
    if (code) return code;
    sqlite3_stmt *stmt;
    code = prepare(self, sql, strlen(sql), false, &stmt, err);
    if (!code) {
        code = scan_rows(self, stmt, each, ctx, err);
        sqlite3_finalize(stmt);
    }
    end(self);
    return code;
}

/* Accepts every path that is not a URL. The other engines are asked first. */
static bool claims(const char *path)
{
    return strstr(path, "://") == NULL;
}

static char *shown(const char *path, bool name_only)
{
    if (!name_only) return g_strdup(path);
    char *base = g_path_get_basename(path), *dot = strrchr(base, '.');
    if (dot && dot != base) *dot = '\0';
    return base;
}

static void close_handle(struct db *db)
{
    struct sqlite_db *self = sqlite_of(db);
    watchdog_remove(&self->watch); /* before disconnecting, because the watchdog uses the connection */
    sqlite_disconnect(self);
    sink_buffer_trim(&self->buffer, false);
    g_free(self->path);
    g_free(self);
}

void sqlite_init(struct sqlite_db *self, const struct db_engine *engine, const struct db_limits *limits)
{
    self->base = (struct db){.engine = engine, .limits = *limits};
    self->due_ns = INT64_MAX;
    self->work = (struct work){.look = on_work, .ctx = self};
}

bool sqlite_watch(struct sqlite_db *self)
{
    return watchdog_add(&self->watch, on_watchdog, self);
}

static enum err_code open_handle(const char *path, const struct db_limits *limits, struct db **out, struct err *err)
{
    struct sqlite_db *self = g_new0(struct sqlite_db, 1);
    sqlite_init(self, &db_engine_sqlite, limits);
    self->path = g_strdup(path);
    enum err_code code = sqlite_connect(self, err);
    if (!code && !sqlite_watch(self)) {
        code = err_set(err, ERR_NOMEM, "cannot start the watchdog thread");
        sqlite_disconnect(self);
    }
    if (code) {
        g_free(self->path);
        g_free(self);
        return code;
    }
    *out = &self->base;
    return ERR_OK;
}

static bool tells_changes(const struct db *db)
{
    (void)db;
    return true;
}

const char *db_engine_version(void)
{
    return sqlite3_libversion();
}

const struct db_engine db_engine_sqlite = {
    .dialect = {.null_safe = "IS",
                .row_id = "rowid",
                .parameter = '?',
                .exact_collation = "BINARY",
                .text_type = "TEXT",
                .real_type = "REAL",
                .nulls_are_least = true,
                .casts_any_text = true,
                .listing = &sqlite_listing,
                .lacks = sql_not_sqlite},
    .is_file = true,
    .claims = claims,
    .shown = shown,
    .open = open_handle,
    .close = close_handle,
    .limits_changed = limits_changed,
    .interrupt = interrupt,
    .fingerprint = sqlite_fingerprint,
    .tells_changes = tells_changes,
    .check = check,
    .query = query,
    .scan = scan,
};
