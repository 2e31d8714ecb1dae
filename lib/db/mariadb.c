/* Runs statements in MariaDB.
 *
 * db.c has checked the length and the encoding of a statement. The gate (mariadb_gate.h) checks its contents. The
 * statement then runs in a session that reads SQL like Assay's parser (mariadb_link.c):
 *     SET max_statement_time, sql_select_limit    only if they differ from the session's values
 *     START TRANSACTION READ ONLY
 *     the statement                               rows are read one by one; the client stores none
 *     ROLLBACK
 * The connection accepts only one statement in a text, and LOAD DATA LOCAL is disabled. Before version 11, EXPLAIN
 * reports no cost and runs subqueries. So a limit on cost is not supported: if there is one, no statement runs.
 *
 * Parameters are inserted into the text as literals. This is safe because in these sessions a quote in a literal is
 * doubled, and no other character is special.
 *
 * Rejected: prepared statements. Their rows have another format, and each new text costs an additional round trip.
 *
 * Time: the server applies max_statement_time. If it does not react, the client stops the statement a little later
 * (mariadb_link.c). PAST_MS after the limit the client closes the connection and returns.
 *
 * Rows: sql_select_limit applies to statements without a LIMIT; the limits of the sink always apply. If a result is too
 * long, the statement is stopped in the server.
 *
 * The fingerprint covers the catalogue, and the time of each table's last change in whole seconds. A table that changed
 * within the last two seconds may change again within the same second. The fingerprint then includes the current time,
 * so it differs once more later, and the schema index is rebuilt. The server forgets the time of a change when it
 * restarts or closes the table, which also costs a rebuild.
 */
#include "lib/db/mariadb_gate.h"
#include "lib/db/mariadb_int.h"
#include "lib/db/size_bound.h"

#include "lib/base/clock.h"
#include "lib/sql/dialect.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    CLEAN_MS = 1000,
    PAST_MS = 230, /* ensures that no statement blocks a thread for more than 250 ms past its limit */
    FINGERPRINT_MS = 10000,
    STEP_MS = 100, /* max_statement_time is a multiple of this, so it is rarely set again */
};
static const int64_t CHECK_INTERVAL_NS = 500 * 1000000LL;

/* --- one statement's frame ---------------------------------------------------------------------------------------- */

static void set_clock(struct mariadb_db *self, int64_t due_ns)
{
    self->due_ns = due_ns;
    self->end_ns = due_ns < INT64_MAX - PAST_MS * 1000000LL ? due_ns + PAST_MS * 1000000LL : INT64_MAX;
}

static enum err_code start_clock(struct mariadb_db *self, int64_t *start_ns, struct err *err)
{
    *start_ns = clock_now_ns();
    int64_t deadline = self->base.deadline_ns, time_ms = self->base.limits.time_ms;
    int64_t due = time_ms < INT64_MAX / 2000000 - *start_ns / 1000000 ? *start_ns + time_ms * 1000000 : INT64_MAX;
    self->due_is_deadline = deadline && deadline < due;
    set_clock(self, self->due_is_deadline ? deadline : due);
    atomic_store(&self->cancelled, false);
    return deadline && *start_ns >= deadline ? mariadb_link_stopped(self, ERR_DEADLINE, err) : ERR_OK;
}

static enum err_code set_bounds(struct mariadb_db *self, uint64_t rows, struct err *err)
{
    int64_t left_ms = CLAMP((self->due_ns - clock_now_ns()) / 1000000, 1, INT_MAX / 2);
    int64_t ms = MIN((left_ms + STEP_MS - 1) / STEP_MS * STEP_MS, MAX(self->base.limits.time_ms, 1));
    if (ms == self->set_ms && rows == self->set_rows) return ERR_OK;
    char sql[128];
    g_snprintf(sql, sizeof sql, "SET SESSION max_statement_time = %lld.%03lld, sql_select_limit = %llu",
               (long long)ms / 1000, (long long)ms % 1000, (unsigned long long)rows);
    enum err_code code = mariadb_link_do(self, sql, err);
    self->set_ms = code ? 0 : ms;
    self->set_rows = rows;
    return code;
}

static enum err_code set_up(struct mariadb_db *self, uint64_t rows, struct err *err)
{
    enum err_code code = mariadb_link_open(self, self->due_ns, err);
    if (!code) code = set_bounds(self, rows, err);
    return code ? code : mariadb_link_do(self, "START TRANSACTION READ ONLY", err);
}

/* Sets up the session and the transaction. If an open connection was lost while idle, reopens it once. Returns
 * ERR_DB_UNREADABLE if the server refuses a setting. */
static enum err_code open_frame(struct mariadb_db *self, uint64_t rows, struct err *err)
{
    struct err why = {0};
    bool fresh = !self->conn;
    enum err_code code = set_up(self, rows, &why);
    if (code == ERR_UNREACHABLE && !fresh) code = set_up(self, rows, &why);
    if (code == ERR_ENGINE)
        return err_set(err, ERR_DB_UNREADABLE, "%s refuses a read-only transaction with limits: %s", self->place,
                       why.text);
    if (code && err) *err = why;
    return code;
}

/* Ends the transaction. Closes the connection if that fails. */
static void close_frame(struct mariadb_db *self)
{
    mariadb_link_settle(self);
    atomic_store(&self->cancelled, false); /* the clean-up must not be cancelled */
    set_clock(self, clock_now_ns() + CLEAN_MS * 1000000LL);
    if (self->conn && mariadb_link_do(self, "ROLLBACK", NULL) != ERR_OK) mariadb_link_close(self);
    mariadb_link_settle(self);
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

static void put_bytes(GString *out, const struct db_value *value)
{
    g_string_append(out, "x'");
    for (size_t i = 0; i < value->len; i++) g_string_append_printf(out, "%02x", (unsigned char)value->text[i]);
    g_string_append_c(out, '\'');
}

static void put_text(GString *out, const struct db_value *value)
{
    if (!g_utf8_validate_len(value->text, value->len, NULL) || memchr(value->text, '\0', value->len)) {
        put_bytes(out, value);
        return;
    }
    g_string_append_c(out, '\'');
    for (size_t i = 0; i < value->len; i++) {
        if (value->text[i] == '\'') g_string_append_c(out, '\'');
        g_string_append_c(out, value->text[i]);
    }
    g_string_append_c(out, '\'');
}

/* Appends a double. Without an exponent the literal would be a decimal. */
static void put_real(GString *out, double real)
{
    char text[DB_REAL_TEXT];
    if (!isfinite(real)) {
        g_string_append(out, isnan(real) ? "NULL" : real > 0 ? "1.7976931348623157e308" : "-1.7976931348623157e308");
        return;
    }
    g_string_append_len(out, text, (gssize)db_real_text(real, text));
    if (!strchr(out->str + out->len - strlen(text), 'e')) g_string_append(out, "e0");
}

static void put_literal(GString *out, const struct db_value *value)
{
    switch (value->type) {
    case DB_NULL: g_string_append(out, "NULL"); break;
    case DB_INT: g_string_append_printf(out, "%lld", (long long)value->i); break;
    case DB_FLOAT: put_real(out, value->f); break;
    case DB_TEXT: put_text(out, value); break;
    case DB_BLOB: put_bytes(out, value); break;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct mariadb_place *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static struct mariadb_edits edits_new(void)
{
    return (struct mariadb_edits){g_array_new(FALSE, FALSE, sizeof(struct mariadb_place)),
                                  g_array_new(FALSE, FALSE, sizeof(struct size_count))};
}

static void edits_free(struct mariadb_edits *edits)
{
    g_array_free(edits->places, TRUE);
    g_array_free(edits->counts, TRUE);
}

/* Appends the statement to `out`, with each parameter replaced by a literal. */
static enum err_code fill_in(const struct db_statement *statement, GArray *places, GString *out, struct err *err)
{
    size_t at = 0;
    g_array_sort(places, by_start);
    for (guint i = 0; i < places->len; i++) {
        const struct mariadb_place *place = &g_array_index(places, struct mariadb_place, i);
        if (place->number >= statement->n_params)
            return err_set(err, ERR_ENGINE, "parameter %u has no value", place->number + 1);
        g_string_append_len(out, statement->sql + at, (gssize)(place->start - at));
        g_string_append_c(out, '('); /* a negative value in 1-?1 would begin a comment */
        put_literal(out, &statement->params[place->number]);
        g_string_append_c(out, ')');
        at = place->end;
    }
    g_string_append_len(out, statement->sql + at, (gssize)(statement->len - at));
    return ERR_OK;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static enum err_code read_row(const struct mariadb_db *self, MYSQL_RES *result, MYSQL_ROW from, struct db_value *row,
                              uint32_t n, struct err *err)
{
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    const unsigned long *lengths = mysql_fetch_lengths(result);
    uint64_t most = self->base.limits.value_bytes;
    for (uint32_t i = 0; i < n; i++) {
        row[i] = mariadb_value(&fields[i], from[i], lengths[i]);
        bool text = row[i].type == DB_TEXT || row[i].type == DB_BLOB;
        if (text && row[i].len > most)
            return err_set(err, ERR_LIMIT_BYTES, "a value has more than %llu bytes", (unsigned long long)most);
    }
    return ERR_OK;
}

static enum err_code memory_error(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the result exceeds its memory limit");
}

static enum err_code no_rows(struct err *err)
{
    return err_set(err, ERR_REFUSED, "the statement is not a query");
}

/* --- db_query ----------------------------------------------------------------------------------------------------- */

static enum err_code name_columns(MYSQL_RES *result, struct arena *arena, struct db_result *out, struct err *err)
{
    uint32_t n = mysql_num_fields(result);
    const MYSQL_FIELD *fields = mysql_fetch_fields(result);
    const char **names = arena_new_array(arena, n, const char *);
    for (uint32_t i = 0; names && i < n; i++) {
        names[i] = arena_strdup(arena, fields[i].name);
        if (!names[i]) names = NULL;
    }
    out->columns = names;
    out->n_columns = n;
    return names ? ERR_OK : memory_error(err);
}

static enum err_code collect(struct mariadb_db *self, MYSQL_RES *result, struct sink *sink, uint32_t stop_rows,
                             struct err *err)
{
    for (;;) {
        MYSQL_ROW from;
        if (stop_rows && sink->n_rows == stop_rows) return ERR_OK;
        enum err_code code = mariadb_link_row(self, result, &from, err);
        if (code || !from) return code;
        struct db_value *values = sink_next(sink);
        if (!values) return memory_error(err);
        code = read_row(self, result, from, values, sink->n_columns, err);
        if (!code) code = sink_take(sink, err);
        if (code) return code;
    }
}

static enum err_code take_result(struct mariadb_db *self, MYSQL_RES *result, struct arena *arena, uint32_t stop_rows,
                                 struct db_result *out, struct err *err)
{
    struct sink sink;
    enum err_code code = name_columns(result, arena, out, err);
    if (!code) code = sink_init(&sink, arena, &self->base.limits, &self->buffer, out->n_columns, err);
    if (code) return code;
    code = collect(self, result, &sink, stop_rows, err);
    if (!code) out->truncated = stop_rows && sink.n_rows == stop_rows;
    if (!code) code = sink_finish(&sink, out, err);
    sink_buffer_trim(&self->buffer, true);
    return code;
}

static enum err_code run_text(struct mariadb_db *self, const GString *sql, struct arena *arena, uint32_t stop_rows,
                              struct db_result *out, struct err *err)
{
    int64_t start = clock_now_ns();
    MYSQL_RES *result = NULL;
    enum err_code code = open_frame(self, stop_rows ? stop_rows : self->base.limits.max_rows + 1ULL, err);
    if (!code) code = mariadb_link_ask(self, sql->str, sql->len, &result, err);
    if (!code && !result) code = no_rows(err);
    out->prepare_ns = clock_now_ns() - start;
    if (!code) code = take_result(self, result, arena, stop_rows, out, err);
    mariadb_link_end(self, result);
    out->ns = clock_now_ns() - start;
    close_frame(self);
    return code;
}

/* --- db_prepare_check --------------------------------------------------------------------------------------------- */

/* Returns the byte offset of a syntax error, from the server's message "near '<rest of the statement>' at line 1".
 * Returns -1 if the message has no such part. */
static int offset_of(const char *text, const char *sql, size_t len)
{
    const char *near = strstr(text, "syntax to use near '"), *end = near ? g_strrstr(near, "' at line ") : NULL;
    if (!end) return -1;
    near += strlen("syntax to use near '");
    size_t n = (size_t)(end - near);
    for (size_t at = len - MIN(n, len) + 1; at-- > 0;)
        if (memcmp(sql + at, near, n) == 0 && (n == len - at || n >= 60)) return (int)at;
    return -1;
}

static enum err_code ask_server(struct mariadb_db *self, const char *sql, size_t len, int *offset, struct err *err)
{
    struct err why = {0};
    enum err_code code = open_frame(self, self->base.limits.max_rows + 1ULL, &why);
    if (!code) code = mariadb_link_prepare(self, sql, len, &why);
    close_frame(self);
    if (code == ERR_ENGINE && offset) *offset = offset_of(why.text, sql, len);
    if (code && err) *err = why;
    return code;
}

/* Handles a statement that the gate could not parse. Lets the server prepare it to get the error message, and never
 * runs it. Does not send it unless `askable`, because a word before a parenthesis might be a user-defined function. */
static enum err_code ask_why(struct mariadb_db *self, const char *sql, size_t len, bool askable, int *offset,
                             struct err *err)
{
    struct err why = err ? *err : (struct err){0};
    enum err_code code = askable ? ask_server(self, sql, len, offset, err) : ERR_OK;
    if (code) return code;
    return err_set(err, ERR_REFUSED,
                   askable ? "the server accepts the statement, but Assay cannot parse it: %s"
                           : "Assay cannot parse the statement: %s",
                   why.text);
}

static enum err_code check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    struct mariadb_db *self = mariadb_of(db);
    int64_t start;
    bool askable = false;
    struct err why = {0};
    enum err_code code = start_clock(self, &start, err);
    if (code) return code;
    struct mariadb_edits edits = edits_new();
    code = mariadb_gate(sql, len, &db->limits, self->address->database, &edits, &askable, &why);
    edits_free(&edits);
    if (code && err) *err = why;
    if (code == ERR_SYNTAX) return ask_why(self, sql, len, askable, offset, err ? err : &why);
    return code ? code : ask_server(self, sql, len, offset, err);
}

/* Returns the text with its counts capped, and adjusts the positions of the parameters. */
static GString *cap_counts(const struct db_statement *statement, struct mariadb_edits *edits)
{
    GString *sql = size_counts_apply(&size_engine_mariadb, statement->sql, statement->len, edits->counts);
    for (guint i = 0; i < edits->places->len; i++) {
        struct mariadb_place *place = &g_array_index(edits->places, struct mariadb_place, i);
        place->start = size_counts_shift(&size_engine_mariadb, edits->counts, place->start);
        place->end = size_counts_shift(&size_engine_mariadb, edits->counts, place->end - 1) + 1;
    }
    return sql;
}

static enum err_code run_filled(struct mariadb_db *self, struct arena *arena, const struct db_statement *statement,
                                struct mariadb_edits *edits, struct db_result *out, struct err *err)
{
    GString *capped = cap_counts(statement, edits), *sql = g_string_new(NULL);
    struct db_statement text = *statement;
    text.sql = capped->str;
    text.len = capped->len;
    enum err_code code = fill_in(&text, edits->places, sql, err);
    if (!code) code = run_text(self, sql, arena, statement->stop_rows, out, err);
    g_string_free(capped, TRUE);
    g_string_free(sql, TRUE);
    return code;
}

static enum err_code query(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err)
{
    struct mariadb_db *self = mariadb_of(db);
    int64_t start;
    bool askable = false;
    struct err why = {0};
    enum err_code code = start_clock(self, &start, err);
    if (!code && db->limits.max_cost > 0)
        code = err_set(err, ERR_TOO_COSTLY, "MariaDB does not estimate the cost of a statement");
    if (code) return code;
    struct mariadb_edits edits = edits_new();
    code = mariadb_gate(statement->sql, statement->len, &db->limits, self->address->database, &edits, &askable, &why);
    if (code && err) *err = why;
    if (code == ERR_SYNTAX)
        code = ask_why(self, statement->sql, statement->len, askable, NULL, err ? err : &why);
    else if (!code)
        code = run_filled(self, arena, statement, &edits, out, err);
    edits_free(&edits);
    return code;
}

/* Refuses a candidate that other sessions of the server would interpret differently. */
static enum err_code candidate(struct db *db, const char *sql, size_t len, struct err *err)
{
    struct mariadb_db *self = mariadb_of(db);
    return mariadb_gate_portable(sql, len, self->modes, err);
}

/* --- db_scan ------------------------------------------------------------------------------------------------------ */

static enum err_code scan_rows(struct mariadb_db *self, MYSQL_RES *result, db_row_fn *each, void *ctx, struct err *err)
{
    uint32_t n = mysql_num_fields(result);
    struct db_value *row = g_new(struct db_value, n + 1);
    enum err_code code = ERR_OK;
    for (bool go_on = true; !code && go_on;) {
        MYSQL_ROW from;
        code = mariadb_link_row(self, result, &from, err);
        if (code || !from) break;
        code = read_row(self, result, from, row, n, err);
        if (!code) go_on = each(ctx, row, n);
    }
    g_free(row);
    return code;
}

static enum err_code scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    struct mariadb_db *self = mariadb_of(db);
    int64_t start;
    MYSQL_RES *result = NULL;
    enum err_code code = start_clock(self, &start, err);
    if (code) return code;
    code = open_frame(self, UINT64_MAX, err);
    if (!code) code = mariadb_link_ask(self, sql, strlen(sql), &result, err);
    if (!code && !result) code = no_rows(err);
    if (!code) code = scan_rows(self, result, each, ctx, err);
    mariadb_link_end(self, result);
    close_frame(self);
    return code;
}

/* --- db_fingerprint ----------------------------------------------------------------------------------------------- */

static const char state_sql[] =
    "SELECT CONCAT_WS(':', 't', table_name, table_type, engine, create_time, update_time, auto_increment, "
    "table_comment)"
    " AS part FROM information_schema.tables WHERE table_schema = DATABASE()"
    " UNION ALL SELECT CONCAT_WS(':', 'c', table_name, column_name, ordinal_position, column_type, is_nullable, "
    "column_key,"
    " generation_expression, column_comment) FROM information_schema.columns WHERE table_schema = DATABASE()"
    " UNION ALL SELECT CONCAT_WS(':', 'i', table_name, index_name, seq_in_index, column_name, non_unique)"
    " FROM information_schema.statistics WHERE table_schema = DATABASE()"
    " UNION ALL SELECT CONCAT_WS(':', 'k', table_name, constraint_name, column_name, referenced_table_name,"
    " referenced_column_name) FROM information_schema.key_column_usage WHERE table_schema = DATABASE()"
    " UNION ALL SELECT CONCAT_WS(':', 'v', table_name, MD5(view_definition)) FROM information_schema.views"
    " WHERE table_schema = DATABASE()"
    " UNION ALL SELECT CONCAT_WS(':', 'm', CURRENT_USER(), DATABASE())"
    " UNION ALL SELECT CONCAT('now:', NOW()) FROM (SELECT MAX(update_time) AS last FROM information_schema.tables"
    " WHERE table_schema = DATABASE()) AS u WHERE u.last >= NOW() - INTERVAL 2 SECOND ORDER BY part";

static bool hash_part(void *ctx, const struct db_value *row, uint32_t n)
{
    static const char end = '\n';
    XXH3_state_t *state = ctx;
    if (n == 1 && (row->type == DB_TEXT || row->type == DB_BLOB)) XXH3_128bits_update(state, row->text, row->len);
    XXH3_128bits_update(state, &end, 1);
    return true;
}

static enum err_code look(struct mariadb_db *self, struct err *err)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state) return err_set(err, ERR_NOMEM, "out of memory for a fingerprint");
    XXH3_128bits_reset(state);
    enum err_code code = scan(&self->base, state_sql, hash_part, state, err);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    if (code) return code;
    g_snprintf(self->print, sizeof self->print, "%016llx%016llx", (unsigned long long)hash.high64,
               (unsigned long long)hash.low64);
    self->checked_ns = clock_now_ns();
    return ERR_OK;
}

/* Called for each candidate, but queries the server at most twice a second. */
static enum err_code fingerprint(struct db *db, char out[33], struct err *err)
{
    struct mariadb_db *self = mariadb_of(db);
    struct db_limits usual = db->limits;
    enum err_code code = ERR_OK;
    db->limits.time_ms = FINGERPRINT_MS;
    if (!self->print[0] || clock_now_ns() - self->checked_ns >= CHECK_INTERVAL_NS) code = look(self, err);
    db->limits = usual;
    if (!code) memcpy(out, self->print, sizeof self->print);
    return code;
}

/* --- the engine's other slots ------------------------------------------------------------------------------------- */

/* Only sets a flag. The waiting thread checks it every SLICE_MS and stops the statement. */
static void interrupt(struct db *db)
{
    atomic_store(&mariadb_of(db)->cancelled, true);
}

/* The age is not needed, because the server never reuses a session number. */
static void append_running(GString *sql, int64_t id, int64_t age_ms)
{
    (void)age_ms;
    g_string_append_printf(sql, "id = %lld", (long long)id);
}

static void limits_changed(struct db *db)
{
    (void)db; /* each statement reads the limits itself */
}

static void close_handle(struct db *db)
{
    struct mariadb_db *self = mariadb_of(db);
    mariadb_link_close(self);
    sink_buffer_trim(&self->buffer, false);
    mariadb_address_free(self->address);
    g_free(self->path);
    g_free(self->place);
    g_free(self);
}

static bool note_some(void *ctx, const struct db_value *row, uint32_t n)
{
    *(bool *)ctx = n == 1 && row[0].i != 0;
    return false;
}

static enum err_code check_tables(struct mariadb_db *self, struct err *err)
{
    bool some = false;
    enum err_code code =
        scan(&self->base, "SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE())",
             note_some, &some, err);
    return !code && !some ? err_set(err, ERR_DB_EMPTY, "%s has no tables that the account can read", self->place)
                          : code;
}

static enum err_code open_handle(const char *path, const struct db_limits *limits, struct db **out, struct err *err)
{
    struct mariadb_address *address = mariadb_address_parse(path);
    if (!address)
        return err_set(
            err, ERR_DB_MISSING,
            "the URL of the MariaDB database is malformed" ERR_HINT
            "write mariadb://user@host:port/database?ssl_ca=FILE, and @ / : in a password as %%40 %%2F %%3A");
    struct mariadb_db *self = g_new0(struct mariadb_db, 1);
    self->base = (struct db){.engine = &db_engine_mariadb, .limits = *limits};
    self->address = address;
    self->path = g_strdup(path);
    self->place = mariadb_address_shown(path, false);
    self->due_ns = self->end_ns = INT64_MAX;
    enum err_code code = check_tables(self, err);
    if (code)
        close_handle(&self->base);
    else
        *out = &self->base;
    return code;
}

const struct db_engine db_engine_mariadb = {
    .dialect = {.null_safe = "<=>",
                .parameter = '?',
                .exact_collation = "utf8mb4_nopad_bin",
                .text_type = "CHAR",
                .real_type = "DOUBLE",
                .nulls_are_least = true,
                .casts_any_text = true,
                .quotes_names = true,
                .divides_exactly = true,
                .listing = &mariadb_listing,
                .checkups = mariadb_checkups,
                .lacks = sql_not_mariadb},
    .claims = mariadb_address_claims,
    .shown = mariadb_address_shown,
    .has_secret = mariadb_address_has_secret,
    .with_password = mariadb_address_with_password,
    .open = open_handle,
    .close = close_handle,
    .limits_changed = limits_changed,
    .interrupt = interrupt,
    .fingerprint = fingerprint,
    .check = check,
    .candidate = candidate,
    .query = query,
    .scan = scan,
    .append_running = append_running,
    .running_from = "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE command <> 'Sleep' AND (",
};
