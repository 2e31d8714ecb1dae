/* Runs statements in PostgreSQL.
 *
 * db.c has checked the length and the encoding of a statement. The gate (postgres_gate.h) checks its contents. The
 * statement then runs in its own READ ONLY transaction, which sets all relevant settings locally:
 *     DECLARE assay NO SCROLL CURSOR FOR <statement>    by the extended protocol
 *     FETCH FORWARD n FROM assay                        row by row
 * ROLLBACK and DISCARD ALL follow. Everything is sent at once (postgres_link.c), so a statement takes one round trip.
 *
 * The cursor has three advantages. After FOR the server's grammar accepts only a SELECT or VALUES, so COPY, SET or a
 * second statement is a syntax error, even for a superuser. The server computes only the n requested rows, so nothing
 * has to be cancelled. The plan is not parallel. The extended protocol also refuses a second statement, and binds
 * parameters.
 *
 * With max_cost, EXPLAIN runs before DECLARE in the same transaction. The client waits for its result, so the statement
 * takes two round trips.
 *
 * Time: the server applies statement_timeout. If it does not react, the client cancels the statement a little later
 * (postgres_link.c). PAST_MS after the limit the client closes the connection and returns. Memory: work_mem, without
 * parallel workers. The role should also have a temp_file_limit, which only a superuser can set (`assay doctor` checks
 * it). Rows and bytes: the limits of the sink, and a count of the received bytes of a row.
 *
 * The fingerprint. Every transaction that writes, in any database of the server, changes the server's snapshot. So if
 * the snapshot is unchanged, nothing has changed; reading it takes one round trip. If it has changed, three sources
 * show whether this database has changed:
 * - the catalogue rows of the schemas that the role may use, whose xmin changes with DDL but not with VACUUM or ANALYZE
 * - the numbers and sizes of the tables' files, which change when a table is truncated or rewritten
 * - the counters of inserted, updated and deleted rows
 *
 * A session reports its counters up to one second late, or ten if it is idle. So the counters are read again until the
 * snapshot has been unchanged for twelve seconds. Until then a schema index may be out of date; statements always see
 * the current data. After a crash the counters start at zero, so the index is rebuilt. Their start time is part of the
 * fingerprint, because they could reach their old values again.
 *
 * In some cases the fingerprint does not cover all changes, and db_tells_changes is false. A standby has no counters,
 * and an update in place may not change a size. Foreign tables contain data of other servers. Views may read tables
 * outside of these schemas.
 */
#include "lib/db/postgres_check.h"
#include "lib/db/postgres_gate.h"
#include "lib/db/postgres_int.h"
#include "lib/db/size_bound.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Condition on pg_namespace: the schemas whose tables the role may name. postgres_listing.c uses the same condition. */
#define SCHEMAS                                                                                                        \
    "nspname !~ '^pg_' AND nspname <> 'information_schema' AND pg_catalog.has_schema_privilege(oid, 'USAGE')"

#define CURSOR "DECLARE assay NO SCROLL CURSOR FOR "

enum {
    CLEAN_MS = 1000,
    PAST_MS = 230, /* ensures that no statement blocks a thread for more than 250 ms past its limit */
    LOCK_MS = 500,
    FINGERPRINT_MS = 10000,
    OLDEST = 130000 /* has hash_mem_multiplier and pg_current_snapshot */
};
static const int64_t STABLE_AFTER_NS = 12 * 1000000000LL, CHECK_INTERVAL_NS = 500 * 1000000LL;

/* --- one statement's frame ---------------------------------------------------------------------------------------- */

/* Settings of the transaction. The text format of values depends on some of them (postgres_value.c); the others are
 * limits. A single SELECT of set_config is not used, because a restricted role may not call it. */
static const char *const settings[] = {
    "SET LOCAL work_mem = '16MB'",
    "SET LOCAL hash_mem_multiplier = 2",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    "SET LOCAL jit = off",
    "SET LOCAL cursor_tuple_fraction = 1",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL DateStyle = ISO",
    "SET LOCAL IntervalStyle = postgres",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL bytea_output = hex",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL xmlbinary = base64",
};

static enum err_code queue_setting(struct postgres_db *self, const char *name, int64_t value, struct err *err)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SET LOCAL %s = %lld", name, (long long)value);
    return link_queue(self, sql, NULL, err);
}

/* Queues the frame: BEGIN and the settings of the transaction. */
static enum err_code queue_frame(struct postgres_db *self, struct err *err)
{
    int64_t left_ms = CLAMP((self->due_ns - clock_now_ns()) / 1000000, 1, INT_MAX / 2);
    enum err_code code = link_queue(self, "BEGIN READ ONLY", NULL, err);
    if (!code) code = queue_setting(self, "statement_timeout", left_ms, err);
    if (!code) code = queue_setting(self, "lock_timeout", MIN(left_ms, LOCK_MS), err);
    if (!code) code = queue_setting(self, "idle_in_transaction_session_timeout", left_ms + 10000, err);
    self->n_frame = 4;
    if (!code && self->misses_clients) {
        code = queue_setting(self, "client_connection_check_interval", 1000, err);
        self->n_frame++;
    }
    for (size_t i = 0; !code && i < G_N_ELEMENTS(settings); i++, self->n_frame++)
        code = link_queue(self, settings[i], NULL, err);
    return code;
}

/* Reads the results of the frame. Returns ERR_DB_UNREADABLE if the server refuses a setting. */
static enum err_code read_frame(struct postgres_db *self, struct err *err)
{
    struct err why = {0};
    enum err_code code = ERR_OK;
    for (unsigned i = 0; !code && i < self->n_frame; i++) code = link_finish(self, &why);
    if (code == ERR_ENGINE)
        return err_set(err, ERR_DB_UNREADABLE, "%s refuses a read-only transaction with limits: %s", self->place,
                       why.text);
    if (code && err) *err = why;
    return code;
}

static enum err_code queue_cleaning(struct postgres_db *self, struct err *err)
{
    enum err_code code = link_queue(self, "ROLLBACK", NULL, err);
    if (!code) code = link_end_section(self, err);
    if (!code) code = link_queue(self, "DISCARD ALL", NULL, err); /* must be the first statement of a section */
    if (!code) code = link_end_section(self, err);
    self->cleaning = code == ERR_OK;
    return code;
}

static enum err_code start_clock(struct postgres_db *self, int64_t *start_ns, struct err *err)
{
    *start_ns = clock_now_ns();
    int64_t deadline = self->base.deadline_ns, time_ms = self->base.limits.time_ms;
    self->due_ns = time_ms < INT64_MAX / 2000000 - *start_ns / 1000000 ? *start_ns + time_ms * 1000000 : INT64_MAX;
    self->due_is_deadline = deadline && deadline < self->due_ns;
    if (self->due_is_deadline) self->due_ns = deadline;
    self->end_ns = self->due_ns < INT64_MAX - PAST_MS * 1000000LL ? self->due_ns + PAST_MS * 1000000LL : INT64_MAX;
    atomic_store(&self->cancelled, false);
    return deadline && *start_ns >= deadline ? link_stopped(self, ERR_DEADLINE, err) : ERR_OK;
}

static enum err_code meet(struct postgres_db *self, struct err *err)
{
    if (self->conn) return ERR_OK;
    enum err_code code = link_open(self, self->due_ns, err);
    if (code) return code;
    int version = PQserverVersion(self->conn);
    if (version >= OLDEST) return ERR_OK;
    link_close(self);
    return err_set(err, ERR_DB_UNREADABLE, "%s is PostgreSQL %d; version %d or newer is required", self->place,
                   version / 10000, OLDEST / 10000);
}

/* Queues the statements of a flight after its frame, and ends their section. */
typedef enum err_code load_fn(struct postgres_db *self, const struct db_statement *statement, struct err *err);

static enum err_code take_off(struct postgres_db *self, load_fn *load, const struct db_statement *statement,
                              struct err *err)
{
    enum err_code code = meet(self, err);
    if (!code) code = queue_frame(self, err);
    if (!code) code = check_queue(self, err);
    if (!code) code = load(self, statement, err);
    if (!code) code = link_fly(self, err);
    if (!code) code = read_frame(self, err);
    return code ? code : check_read(self, err);
}

static void close_frame(struct postgres_db *self, bool stop);

/* Reloads the outdated list of user-defined functions, and sends the flight again. */
static enum err_code take_off_again(struct postgres_db *self, load_fn *load, const struct db_statement *statement,
                                    struct err *err)
{
    int64_t due_ns = self->due_ns, end_ns = self->end_ns;
    close_frame(self, false);
    enum err_code code = check_load(self, err);
    self->due_ns = due_ns;
    self->end_ns = end_ns;
    return code ? code : take_off(self, load, statement, err);
}

/* Sends a flight: the frame, the check and the statements that `load` queues. Reads the results of the frame and the
 * check. If an open connection was lost while idle, reopens it once. */
static enum err_code open_frame(struct postgres_db *self, load_fn *load, const struct db_statement *statement,
                                struct err *err)
{
    bool fresh = !self->conn;
    enum err_code code = take_off(self, load, statement, err);
    if (code == ERR_UNREACHABLE && !fresh) {
        link_close(self); /* the server may have sent a last message, so the connection still counts as open */
        code = take_off(self, load, statement, err);
    }
    return code == ERR_REFUSED && self->stale ? take_off_again(self, load, statement, err) : code;
}

/* Ends the transaction, and closes the connection if that fails. With `stop`, first stops a statement that still runs.
 */
static void close_frame(struct postgres_db *self, bool stop)
{
    if (stop && link_is_running(self)) link_stop(self);
    if (!self->conn) return;
    atomic_store(&self->cancelled, false); /* the clean-up must not be cancelled */
    self->due_ns = clock_now_ns() + CLEAN_MS * 1000000LL;
    enum err_code code = link_settle(self, NULL);
    /* If the flight had no clean-up, sends it now. */
    bool open = !code && PQtransactionStatus(self->conn) != PQTRANS_IDLE;
    if (open) code = queue_cleaning(self, NULL);
    if (open && !code) code = link_fly(self, NULL);
    if (open && !code) code = link_settle(self, NULL);
    if (self->conn && (code || self->unclean)) link_close(self);
}

/* --- the statement ------------------------------------------------------------------------------------------------ */

/* Converts a position of the server to a byte offset in `sql`. `position` is a character number, from 1, in a text that
 * consists of `prefix` bytes and `sql`. Returns -1 if it is not in `sql`. */
static int offset_of(const struct postgres_db *self, const char *position, size_t prefix, const char *sql, size_t len)
{
    gint64 at = position ? g_ascii_strtoll(position, NULL, 10) - 1 - (gint64)prefix : -1;
    if (at < 0) return -1;
    if (self->positions_in_bytes) return at <= (gint64)len ? (int)at : -1;
    const char *p = sql, *end = sql + len;
    while (at-- > 0 && p < end) p = g_utf8_next_char(p);
    return p <= end ? (int)(p - sql) : -1;
}

/* Reads the cost from a text such as [{"Plan": {..., "Total Cost": 12.5, ...}}]. Returns a negative number if there is
 * none. */
static double total_cost(const char *text)
{
    json_t *root = text ? json_loads(text, 0, NULL) : NULL;
    json_t *cost = json_object_get(json_object_get(json_array_get(root, 0), "Plan"), "Total Cost");
    double value = json_is_number(cost) ? json_number_value(cost) : -1;
    json_decref(root);
    return value;
}

static enum err_code queue_cost(struct postgres_db *self, const struct db_statement *statement, struct err *err)
{
    char *sql = g_strdup_printf("EXPLAIN (FORMAT JSON) %.*s", (int)statement->len, statement->sql);
    enum err_code code = link_queue(self, sql, statement, err);
    g_free(sql);
    return code ? code : link_end_section(self, err);
}

/* INVARIANT costed: with max_cost, a statement runs only if the server's estimate is at most max_cost. Without an
 * estimate it does not run. The estimate runs only the planner. */
static enum err_code read_cost(struct postgres_db *self, struct err *err)
{
    double most = self->base.limits.max_cost, cost = -1;
    PGresult *result = NULL;
    enum err_code code = link_next(self, &result, err);
    if (code) return code;
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        code = link_failure(self, result, err);
    else if (PQntuples(result) > 0)
        cost = total_cost(PQgetvalue(result, 0, 0));
    PQclear(result);
    enum err_code ended = link_settle(self, code ? NULL : err);
    if (code || ended) return code ? code : ended;
    if (cost < 0) return err_set(err, ERR_TOO_COSTLY, "the server returned no cost estimate for the statement");
    if (cost <= most) return ERR_OK;
    return err_set(err, ERR_TOO_COSTLY, "the server estimates the cost of the statement at %.0f; the limit is %.0f",
                   cost, most);
}

/* Queues the statement, the FETCH and the clean-up. Fetches stop_rows rows, or all rows if that is 0. */
static enum err_code queue_run(struct postgres_db *self, const struct db_statement *statement, struct err *err)
{
    char *sql = g_strdup_printf(CURSOR "%.*s", (int)statement->len, statement->sql), fetch[64] = "FETCH ALL FROM assay";
    uint32_t n = statement->stop_rows;
    if (n) snprintf(fetch, sizeof fetch, "FETCH FORWARD %u FROM assay", n);
    enum err_code code = link_queue(self, sql, statement, err);
    if (!code) code = link_queue(self, fetch, NULL, err);
    if (!code) code = link_end_section(self, err);
    g_free(sql);
    return code ? code : queue_cleaning(self, err);
}

/* Reads the results of DECLARE and the first result of FETCH. Sets *row to the latter, which is a row or the end. On an
 * error *row is NULL. */
static enum err_code read_first(struct postgres_db *self, PGresult **row, struct err *err)
{
    enum err_code code = link_finish(self, err);
    if (code) return code;
    PQsetSingleRowMode(self->conn);
    return link_next(self, row, err);
}

/* Sends the statement and reads all results before its own. With max_cost, first checks the cost. */
static enum err_code open_statement(struct postgres_db *self, const struct db_statement *statement, struct err *err)
{
    if (!(self->base.limits.max_cost > 0)) return open_frame(self, queue_run, statement, err);
    enum err_code code = open_frame(self, queue_cost, statement, err);
    if (!code) code = read_cost(self, err);
    if (!code) code = check_queue(self, err);
    if (!code) code = queue_run(self, statement, err);
    if (!code) code = link_fly(self, err);
    return code ? code : check_read(self, err);
}

static enum err_code too_long(const struct postgres_db *self, struct err *err)
{
    return err_set(err, ERR_LIMIT_BYTES, "a value has more than %llu bytes",
                   (unsigned long long)self->base.limits.value_bytes);
}

static enum err_code read_row(const struct postgres_db *self, PGresult *from, struct db_value *row, uint32_t n,
                              struct err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        row[i] = postgres_value(from, (int)i);
        bool text = row[i].type == DB_TEXT || row[i].type == DB_BLOB;
        if (text && row[i].len > self->base.limits.value_bytes) return too_long(self, err);
    }
    return ERR_OK;
}

/* Reports an error of the server, which ends the statement. */
static enum err_code failed(struct postgres_db *self, const PGresult *result, struct err *err)
{
    enum err_code code = link_failure(self, result, err);
    link_finish(self, NULL);
    return code;
}

/* A callback for rows. It sets *stop if it needs no more rows. */
struct taker {
    enum err_code (*each)(void *ctx, PGresult *row, bool *stop, struct err *err);
    void *ctx;
};

static enum err_code take_rows(struct postgres_db *self, PGresult *row, const struct taker *taker, bool *stopped,
                               struct err *err)
{
    enum err_code code = ERR_OK;
    *stopped = false;
    while (row && !code && !*stopped) {
        ExecStatusType status = PQresultStatus(row);
        if (status == PGRES_SINGLE_TUPLE)
            code = taker->each(taker->ctx, row, stopped, err);
        else if (status != PGRES_TUPLES_OK)
            code = failed(self, row, err);
        PQclear(row);
        row = NULL;
        if (!code && !*stopped) code = link_next(self, &row, err);
    }
    PQclear(row);
    return code;
}

/* --- db_query ----------------------------------------------------------------------------------------------------- */

struct collecting {
    struct postgres_db *self;
    struct sink *sink;
};

static enum err_code memory_error(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the result exceeds its memory limit");
}

static enum err_code collect(void *ctx, PGresult *row, bool *stop, struct err *err)
{
    struct collecting *c = ctx;
    (void)stop;
    struct db_value *values = sink_next(c->sink);
    if (!values) return memory_error(err);
    enum err_code code = read_row(c->self, row, values, c->sink->n_columns, err);
    return code ? code : sink_take(c->sink, err);
}

static enum err_code name_columns(const PGresult *row, struct arena *arena, struct db_result *out, struct err *err)
{
    uint32_t n = (uint32_t)PQnfields(row);
    const char **names = arena_new_array(arena, n, const char *);
    for (uint32_t i = 0; names && i < n; i++) {
        names[i] = arena_strdup(arena, PQfname(row, (int)i));
        if (!names[i]) names = NULL;
    }
    out->columns = names;
    out->n_columns = n;
    return names ? ERR_OK : memory_error(err);
}

/* Collects the rows. `row` is the first result; it is freed here. */
static enum err_code run(struct postgres_db *self, PGresult *row, struct arena *arena, uint32_t stop_rows,
                         struct db_result *out, struct err *err)
{
    struct sink sink;
    enum err_code code = ERR_OK;
    ExecStatusType status = PQresultStatus(row);
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK) code = failed(self, row, err);
    if (!code) code = name_columns(row, arena, out, err);
    if (!code) code = sink_init(&sink, arena, &self->base.limits, &self->buffer, out->n_columns, err);
    if (code) {
        PQclear(row);
        return code;
    }
    struct collecting collecting = {self, &sink};
    bool stopped;
    code = take_rows(self, row, &(struct taker){collect, &collecting}, &stopped, err);
    if (!code) out->truncated = stop_rows && sink.n_rows == stop_rows;
    if (!code) code = sink_finish(&sink, out, err);
    sink_buffer_trim(&self->buffer, true);
    return code;
}

/* Handles a statement that the gate could not parse. Lets the server parse it to get the error message, and never runs
 * it. */
static enum err_code ask_why(struct postgres_db *self, const char *sql, size_t len, int *offset, struct err *err);

/* Runs a statement that has passed the gate. */
static enum err_code run_statement(struct postgres_db *self, struct arena *arena, const struct db_statement *statement,
                                   struct db_result *out, struct err *err)
{
    int64_t start = clock_now_ns();
    struct db_statement capped = *statement;
    PGresult *row = NULL;
    if (!capped.stop_rows) capped.stop_rows = (uint32_t)MIN(self->base.limits.max_rows + 1ULL, UINT32_MAX);
    enum err_code code = open_statement(self, &capped, err);
    if (!code) code = read_first(self, &row, err);
    out->prepare_ns = clock_now_ns() - start;
    if (!code) code = run(self, row, arena, statement->stop_rows, out, err);
    out->ns = clock_now_ns() - start;
    close_frame(self, code != ERR_OK);
    return code;
}

/* Runs a statement with its counts capped. Frees the contents of `calls`. */
static enum err_code run_capped(struct postgres_db *self, struct arena *arena, const struct db_statement *statement,
                                struct postgres_calls *calls, GArray *counts, struct db_result *out, struct err *err)
{
    GString *sql = size_counts_apply(&size_engine_postgres, statement->sql, statement->len, counts);
    struct db_statement capped = *statement;
    capped.sql = sql->str;
    capped.len = sql->len;
    self->calls = calls;
    enum err_code code = run_statement(self, arena, &capped, out, err);
    self->calls = NULL;
    postgres_calls_clear(calls);
    g_string_free(sql, TRUE);
    return code;
}

static enum err_code query(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err)
{
    struct postgres_db *self = postgres_of(db);
    struct postgres_calls calls;
    int64_t start;
    enum err_code code = start_clock(self, &start, err);
    if (code) return code;
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(struct size_count));
    code = postgres_gate(statement->sql, statement->len, &self->base.limits, &calls, counts, err);
    if (code == ERR_SYNTAX)
        code = ask_why(self, statement->sql, statement->len, NULL, err);
    else if (!code)
        code = run_capped(self, arena, statement, &calls, counts, out, err);
    g_array_free(counts, TRUE);
    return code;
}

/* --- db_prepare_check --------------------------------------------------------------------------------------------- */

/* Queues only the parsing of a statement: the server resolves names and types, and runs nothing. */
static enum err_code queue_parse(struct postgres_db *self, const struct db_statement *statement, struct err *err)
{
    char *text = g_strndup(statement->sql, statement->len);
    enum err_code code = link_queue_parse(self, text, err);
    if (!code) code = link_end_section(self, err);
    g_free(text);
    return code ? code : queue_cleaning(self, err);
}

static enum err_code read_parse(struct postgres_db *self, const char *sql, size_t len, int *offset, struct err *err)
{
    PGresult *result = NULL;
    enum err_code code = link_next(self, &result, err);
    if (!code && result && PQresultStatus(result) != PGRES_COMMAND_OK) {
        code = link_failure(self, result, err);
        if (offset && code == ERR_ENGINE)
            *offset = offset_of(self, PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION), 0, sql, len);
    }
    PQclear(result);
    return code;
}

static enum err_code ask_server(struct postgres_db *self, const char *sql, size_t len, struct postgres_calls *calls,
                                int *offset, struct err *err)
{
    struct db_statement statement = {.sql = sql, .len = len};
    self->calls = calls;
    enum err_code code = open_frame(self, queue_parse, &statement, err);
    if (!code) code = read_parse(self, sql, len, offset, err);
    close_frame(self, code != ERR_OK);
    self->calls = NULL;
    postgres_calls_clear(calls);
    return code;
}

/* While the server parses literals of rows and arrays, it runs the checks of their domains. So all words of the
 * statement are looked up first. Names with escapes or doubled quotes cannot be looked up, so statements with them are
 * not sent. */
static enum err_code ask_why(struct postgres_db *self, const char *sql, size_t len, int *offset, struct err *err)
{
    struct err why = err ? *err : (struct err){0};
    struct postgres_calls calls = {0};
    bool hidden = memmem(sql, len, "\"\"", 2) || memmem(sql, len, "&\"", 2);
    if (hidden) return err_set(err, ERR_REFUSED, "Assay cannot parse the statement: %s", why.text);
    enum err_code code = postgres_calls_of_text(sql, len, &calls, err);
    if (code)
        postgres_calls_clear(&calls);
    else
        code = ask_server(self, sql, len, &calls, offset, err);
    return code
               ? code
               : err_set(err, ERR_REFUSED, "the server accepts the statement, but Assay cannot parse it: %s", why.text);
}

static enum err_code check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    struct postgres_db *self = postgres_of(db);
    struct postgres_calls calls;
    int64_t start;
    enum err_code code = start_clock(self, &start, err);
    if (code) return code;
    code = postgres_gate(sql, len, &self->base.limits, &calls, NULL, err);
    if (code == ERR_SYNTAX) return ask_why(self, sql, len, offset, err);
    return code ? code : ask_server(self, sql, len, &calls, offset, err);
}

/* --- db_scan ------------------------------------------------------------------------------------------------------ */

struct scanning {
    struct postgres_db *self;
    db_row_fn *each;
    void *ctx;
    struct db_value *row;
    uint32_t n;
};

static enum err_code scan_row(void *ctx, PGresult *from, bool *stop, struct err *err)
{
    struct scanning *s = ctx;
    if (!s->row) {
        s->n = (uint32_t)PQnfields(from);
        s->row = g_new(struct db_value, s->n + 1);
    }
    enum err_code code = read_row(s->self, from, s->row, s->n, err);
    if (!code) *stop = !s->each(s->ctx, s->row, s->n);
    return code;
}

static enum err_code scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    struct postgres_db *self = postgres_of(db);
    struct db_statement statement = {.sql = sql, .len = strlen(sql)};
    int64_t start;
    enum err_code code = start_clock(self, &start, err);
    if (code) return code;
    struct scanning scanning = {self, each, ctx, NULL, 0};
    PGresult *row = NULL;
    bool stopped = false;
    code = open_frame(self, queue_run, &statement, err);
    if (!code) code = read_first(self, &row, err);
    if (!code) code = take_rows(self, row, &(struct taker){scan_row, &scanning}, &stopped, err);
    g_free(scanning.row);
    close_frame(self, code || stopped);
    return code;
}

/* --- db_fingerprint ----------------------------------------------------------------------------------------------- */

static const char snapshot_sql[] = "SELECT pg_catalog.pg_current_snapshot()::text";

/* Reads everything that changes with the schema or the data (see the top of this file). Includes inheritance in all
 * schemas, because an inherited column may belong to a table that the role may not name. */
static const char state_sql[] =
    "WITH spaces AS (SELECT oid, xmin, nspname FROM pg_catalog.pg_namespace WHERE " SCHEMAS "),"
    " tables AS (SELECT oid, xmin, relname, relkind, relfilenode FROM pg_catalog.pg_class WHERE relkind IN"
    " ('r','p','v','m','f') AND relnamespace IN (SELECT oid FROM spaces)),"
    " parts AS ("
    " SELECT 't' || t.oid || ':' || t.xmin || ':' || t.relname || ':' || t.relfilenode || ':' ||"
    " coalesce(CASE WHEN t.relkind IN ('r','m') THEN pg_catalog.pg_relation_size(t.oid) END, 0) || ':' ||"
    " pg_catalog.pg_stat_get_tuples_inserted(t.oid) || ':' || pg_catalog.pg_stat_get_tuples_updated(t.oid) || ':' ||"
    " pg_catalog.pg_stat_get_tuples_deleted(t.oid) AS part FROM tables t"
    " UNION ALL SELECT 's' || oid || ':' || xmin || ':' || nspname FROM spaces"
    " UNION ALL SELECT 'a' || attrelid || ':' || attnum || ':' || xmin FROM pg_catalog.pg_attribute"
    " WHERE attnum > 0 AND attrelid IN (SELECT oid FROM tables)"
    " UNION ALL SELECT 'c' || oid || ':' || xmin FROM pg_catalog.pg_constraint WHERE conrelid IN (SELECT oid FROM "
    "tables)"
    " UNION ALL SELECT 'i' || indexrelid || ':' || xmin FROM pg_catalog.pg_index WHERE indrelid IN (SELECT oid FROM "
    "tables)"
    " UNION ALL SELECT 'v' || oid || ':' || xmin FROM pg_catalog.pg_rewrite WHERE ev_class IN (SELECT oid FROM tables)"
    " UNION ALL SELECT 'h' || i.inhrelid || ':' || i.inhparent || ':' || i.xmin || ':' || c.xmin || ':' || p.xmin"
    " FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid AND c.relkind IN ('r','p','f')"
    " JOIN pg_catalog.pg_class p ON p.oid = i.inhparent"
    " UNION ALL SELECT 'd' || objoid || ':' || objsubid || ':' || xmin FROM pg_catalog.pg_description"
    " WHERE classoid = 'pg_catalog.pg_class'::regclass AND objoid IN (SELECT oid FROM tables))"
    " SELECT pg_catalog.md5(current_database() || ':' || current_user || ':' || current_schemas(false)::text || ':' ||"
    " coalesce((SELECT pg_catalog.pg_stat_get_db_stat_reset_time(oid) FROM pg_catalog.pg_database"
    " WHERE datname = current_database())::text, '') || ':' ||"
    " coalesce(pg_catalog.string_agg(part, ',' ORDER BY part COLLATE \"C\"), '')), "
    " pg_catalog.pg_is_in_recovery() OR EXISTS (SELECT FROM tables WHERE relkind = 'f') OR EXISTS ("
    " SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid"
    " WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass"
    " AND r.ev_class IN (SELECT oid FROM tables) AND d.refobjid NOT IN (SELECT oid FROM tables)) FROM parts";

/* The result of state_sql. */
struct state {
    char *print;
    bool hides_changes; /* some changes do not change `print` (db_tells_changes) */
};

static bool copy_state(void *ctx, const struct db_value *row, uint32_t n)
{
    struct state *out = ctx;
    if (n != 2 || row[0].type != DB_TEXT) return false;
    out->print = g_strndup(row[0].text, row[0].len);
    out->hides_changes = row[1].type != DB_INT || row[1].i;
    return false;
}

/* Reads the snapshot. Sends no frame, because this is done for each candidate and must be fast. */
static enum err_code ask_snapshot(struct postgres_db *self, char **out, struct err *err)
{
    PGresult *result = NULL;
    enum err_code code = link_queue(self, snapshot_sql, NULL, err);
    if (!code) code = link_end_section(self, err);
    if (!code) code = link_fly(self, err);
    if (!code) code = link_next(self, &result, err);
    if (!code && PQresultStatus(result) != PGRES_TUPLES_OK) code = link_failure(self, result, err);
    if (!code) *out = g_strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    if (self->conn && link_settle(self, NULL) != ERR_OK) link_close(self);
    return code;
}

static enum err_code current_snapshot(struct postgres_db *self, char **out, struct err *err)
{
    bool fresh = !self->conn;
    enum err_code code = meet(self, err);
    if (!code) code = ask_snapshot(self, out, err);
    if (code == ERR_UNREACHABLE && !fresh && !self->conn) {
        code = meet(self, err);
        if (!code) code = ask_snapshot(self, out, err);
    }
    return code;
}

/* True if the fingerprint must be computed again: the snapshot has changed, or counters of earlier changes may still
 * arrive. */
static bool must_look(struct postgres_db *self, const char *snapshot, int64_t now_ns)
{
    if (!self->snapshot || strcmp(snapshot, self->snapshot) != 0) {
        g_free(self->snapshot);
        self->snapshot = g_strdup(snapshot);
        self->stable_ns = now_ns + STABLE_AFTER_NS;
        return true;
    }
    return self->checked_ns < self->stable_ns && now_ns - self->checked_ns >= CHECK_INTERVAL_NS;
}

static enum err_code look(struct postgres_db *self, int64_t now_ns, struct err *err)
{
    struct state state = {NULL, true};
    enum err_code code = scan(&self->base, state_sql, copy_state, &state, err);
    self->counts_changes = !code && !state.hides_changes;
    if (!code && state.print && strlen(state.print) == 32)
        memcpy(self->print, state.print, sizeof self->print);
    else if (!code)
        code = err_set(err, ERR_INTERNAL, "the server returned no fingerprint");
    if (code) g_clear_pointer(&self->snapshot, g_free);
    self->checked_ns = now_ns;
    g_free(state.print);
    return code;
}

static enum err_code fingerprint(struct db *db, char out[33], struct err *err)
{
    struct postgres_db *self = postgres_of(db);
    struct db_limits usual = db->limits;
    db->limits.time_ms = FINGERPRINT_MS;
    int64_t start;
    char *snapshot = NULL;
    enum err_code code = start_clock(self, &start, err);
    if (!code) code = current_snapshot(self, &snapshot, err);
    if (!code && must_look(self, snapshot, start)) code = look(self, start, err);
    if (!code) memcpy(out, self->print, sizeof self->print);
    g_free(snapshot);
    db->limits = usual;
    return code;
}

static bool tells_changes(const struct db *db)
{
    return ((const struct postgres_db *)db)->counts_changes;
}

/* --- the engine's other slots ------------------------------------------------------------------------------------- */

/* True for a URL of PostgreSQL, or for a text "keyword=value ..." that starts with a known keyword of libpq. */
static bool claims(const char *path)
{
    static const char *const keywords[] = {"host",    "hostaddr", "port",    "dbname",   "user",
                                           "service", "passfile", "sslmode", "password", "application_name"};
    if (g_str_has_prefix(path, "postgresql://") || g_str_has_prefix(path, "postgres://")) return true;
    path += strspn(path, " ");
    size_t len = strspn(path, "abcdefghijklmnopqrstuvwxyz_"), gap = strspn(path + len, " ");
    for (size_t i = 0; path[len + gap] == '=' && i < G_N_ELEMENTS(keywords); i++)
        if (strlen(keywords[i]) == len && memcmp(path, keywords[i], len) == 0) return true;
    return false;
}

/* Only sets a flag. The waiting thread checks it every SLICE_MS and cancels the statement. */
static void interrupt(struct db *db)
{
    atomic_store(&postgres_of(db)->cancelled, true);
}

static void append_running(GString *sql, int64_t id, int64_t age_ms)
{
    g_string_append_printf(sql, "pid = %lld AND query_start <= pg_catalog.clock_timestamp() - interval '%lld ms'",
                           (long long)id, (long long)age_ms);
}

static void limits_changed(struct db *db)
{
    (void)db; /* each statement reads the limits itself */
}

static void close_handle(struct db *db)
{
    struct postgres_db *self = postgres_of(db);
    link_close(self);
    check_forget(self);
    sink_buffer_trim(&self->buffer, false);
    g_free(self->dsn);
    g_free(self->place);
    g_free(self->snapshot);
    g_free(self);
}

static bool note_some(void *ctx, const struct db_value *row, uint32_t n)
{
    *(bool *)ctx = n == 1 && row[0].i != 0;
    return false;
}

static enum err_code check_tables(struct postgres_db *self, struct err *err)
{
    bool some = false;
    enum err_code code =
        scan(&self->base,
             "SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE relkind IN ('r','p','v','m','f') AND relnamespace IN"
             " (SELECT oid FROM pg_catalog.pg_namespace WHERE " SCHEMAS "))",
             note_some, &some, err);
    return !code && !some
               ? err_set(err, ERR_DB_EMPTY, "%s has no tables in the schemas that the role can use", self->place)
               : code;
}

static enum err_code open_handle(const char *path, const struct db_limits *limits, struct db **out, struct err *err)
{
    enum err_code code = libpq_open(err);
    if (code) return code;
    if (!link_is_plain(path))
        return err_set(err, ERR_DB_MISSING,
                       "the connection string of the PostgreSQL database is malformed" ERR_HINT
                       "in a URL, write @ / : in a password as %%40 %%2F %%3A");
    struct postgres_db *self = g_new0(struct postgres_db, 1);
    self->base = (struct db){.engine = &db_engine_postgres, .limits = *limits};
    self->dsn = g_strdup(path);
    self->place = link_place(path, false);
    self->due_ns = self->end_ns = INT64_MAX;
    code = check_tables(self, err);
    if (code)
        close_handle(&self->base);
    else
        *out = &self->base;
    return code;
}

const struct db_engine db_engine_postgres = {
    .dialect = {.null_safe = "IS NOT DISTINCT FROM",
                .row_id = "ctid",
                .parameter = '$',
                .text_type = "TEXT",
                .real_type = "REAL",
                .has_booleans = true,
                .alias_is_row = true,
                .listing = &postgres_listing,
                .checkups = postgres_checkups},
    .knows_cost = true,
    .claims = claims,
    .shown = link_place,
    .has_secret = link_has_secret,
    .with_password = link_with_password,
    .open = open_handle,
    .close = close_handle,
    .limits_changed = limits_changed,
    .interrupt = interrupt,
    .fingerprint = fingerprint,
    .tells_changes = tells_changes,
    .check = check,
    .query = query,
    .scan = scan,
    .append_running = append_running,
    .running_from = "SELECT pid::bigint FROM pg_catalog.pg_stat_activity WHERE state = 'active' AND (",
};
