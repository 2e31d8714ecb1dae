/* The engine for schemas without data. It creates an empty SQLite database in memory from a text of DDL.
 *
 * lib/sql/definitions.h parses the text. The CREATE statements that run here are generated from its result, so no
 * default, CHECK or trigger of the text reaches SQLite. Only the queries of views are copied. They have passed the
 * parser, are one statement each, and read a limited number of tables. Then the guard of all SQLite handles is
 * installed.
 *
 * The handle lists its catalogue and prepares statements like other handles. db_query always returns ERR_NO_DATA, so no
 * check can take the empty tables for real data. If the DDL is that of another engine, db_prepare_check returns
 * ERR_NO_DATA too, because SQLite's errors would be meaningless.
 *
 * Rejected:
 * - a file for each schema: files would have to be written, found again and removed
 * - building the schema index from the DDL directly: there would be two index builders
 * - running the DDL unchanged under an authorizer: CHECKs would run, and SQLite cannot parse the DDL of other engines
 */
#include "lib/db/sqlite_int.h"
#include "lib/sql/definitions.h"
#include "lib/sql/dialect.h"

#include <glib.h>
#include <string.h>

enum { READING_BYTES = 64 << 20 };

struct definitions_db {
    struct sqlite_db sqlite; /* must be the first member */
    char fingerprint[33];
    bool is_sqlite;
};

static struct definitions_db *definitions_of(struct db *db)
{
    return (struct definitions_db *)db;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void put_name(GString *out, const char *name)
{
    g_string_append_c(out, '"');
    for (const char *c = name; *c; c++) {
        if (*c == '"') g_string_append_c(out, '"');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
}

static void put_names(GString *out, const struct sql_defined_name *names)
{
    g_string_append(out, " (");
    for (const struct sql_defined_name *name = names; name; name = name->next) {
        put_name(out, name->name);
        if (name->next) g_string_append(out, ", ");
    }
    g_string_append_c(out, ')');
}

static void put_key(GString *out, const struct sql_defined_key *key)
{
    static const char *const words[] = {[SQL_DEFINED_PRIMARY] = "PRIMARY KEY",
                                        [SQL_DEFINED_UNIQUE] = "UNIQUE",
                                        [SQL_DEFINED_REFERENCE] = "FOREIGN KEY"};
    g_string_append_printf(out, ", %s", words[key->kind]);
    put_names(out, key->columns);
    if (key->kind != SQL_DEFINED_REFERENCE) return;
    g_string_append(out, " REFERENCES ");
    put_name(out, key->table);
    if (key->to) put_names(out, key->to);
}

static void put_table(GString *out, const struct sql_defined_table *table)
{
    g_string_assign(out, "CREATE TABLE ");
    put_name(out, table->name);
    g_string_append(out, " (");
    for (const struct sql_defined_column *column = table->columns; column; column = column->next) {
        put_name(out, column->name);
        g_string_append_c(out, ' ');
        if (*column->type) put_name(out, column->type);
        g_string_append_printf(out, "%s%s", column->not_null ? " NOT NULL" : "", column->next ? ", " : "");
    }
    for (const struct sql_defined_key *key = table->keys; key; key = key->next) put_key(out, key);
    g_string_append_c(out, ')');
}

static void put_view(GString *out, const struct sql_defined_view *view)
{
    g_string_assign(out, "CREATE VIEW ");
    put_name(out, view->name);
    if (view->columns) put_names(out, view->columns);
    g_string_append_printf(out, " AS %s", view->query);
}

/* --- making ------------------------------------------------------------------------------------------------------- */

/* Runs one statement. Fails if SQLite finds more than one in the text. */
static int run_one(sqlite3 *conn, const GString *sql)
{
    const char *tail = NULL;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(conn, sql->str, sqlite_as_int(sql->len), &stmt, &tail);
    if (rc == SQLITE_OK && tail && *tail) rc = SQLITE_MISUSE;
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static enum err_code making_error(sqlite3 *conn, const char *what, const char *name, struct err *err)
{
    return err_set(err, ERR_SYNTAX, "cannot create the schema's %s %s: %s", what, name, sqlite3_errmsg(conn));
}

/* A table that maps each table to its schema. Only the program's own statements may read a table with this prefix
 * (sqlite_guard.c). */
static const char schemas_table[] = "CREATE TABLE pragma_schemas (name, schema)";

static int note_schema(sqlite3 *conn, const char *name, const char *schema)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(conn, "INSERT INTO pragma_schemas VALUES (?1, ?2)", -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 2, schema, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static enum err_code make_all(sqlite3 *conn, const struct sql_definitions *definitions, GString *sql, struct err *err)
{
    if (sqlite3_exec(conn, "BEGIN", NULL, NULL, NULL) || sqlite3_exec(conn, schemas_table, NULL, NULL, NULL))
        return making_error(conn, "list of", "tables", err);
    for (const struct sql_defined_table *table = definitions->tables; table; table = table->next) {
        put_table(sql, table);
        int rc = run_one(conn, sql);
        if (rc == SQLITE_OK && table->schema) rc = note_schema(conn, table->name, table->schema);
        if (rc != SQLITE_OK) return making_error(conn, "table", table->name, err);
    }
    for (const struct sql_defined_view *view = definitions->views; view; view = view->next) {
        put_view(sql, view);
        int rc = run_one(conn, sql);
        if (rc == SQLITE_OK && view->schema) rc = note_schema(conn, view->name, view->schema);
        if (rc != SQLITE_OK) return making_error(conn, "view", view->name, err);
    }
    return sqlite3_exec(conn, "COMMIT", NULL, NULL, NULL) ? making_error(conn, "list of", "tables", err) : ERR_OK;
}

/* --- the engine's slots ------------------------------------------------------------------------------------------- */

static bool claims(const char *path)
{
    return g_str_has_prefix(path, DB_SCHEMA_PREFIX);
}

static char *shown(const char *path, bool name_only)
{
    (void)path;
    return g_strdup(name_only ? "schema" : "the schema");
}

static void close_handle(struct db *db)
{
    db_engine_sqlite.close(db);
}

static void limits_changed(struct db *db)
{
    db_engine_sqlite.limits_changed(db);
}

static void interrupt(struct db *db)
{
    db_engine_sqlite.interrupt(db);
}

static enum err_code scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    return db_engine_sqlite.scan(db, sql, each, ctx, err);
}

static enum err_code no_data(struct err *err)
{
    return err_set(err, ERR_NO_DATA, "%s", err_meaning(ERR_NO_DATA));
}

static enum err_code check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    return definitions_of(db)->is_sqlite ? db_engine_sqlite.check(db, sql, len, offset, err) : no_data(err);
}

static enum err_code query(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err)
{
    (void)db, (void)arena, (void)statement, (void)out;
    return no_data(err);
}

static enum err_code fingerprint(struct db *db, char out[33], struct err *err)
{
    (void)err;
    memcpy(out, definitions_of(db)->fingerprint, 33);
    return ERR_OK;
}

void db_schema_digest(const char *text, size_t len, char out[33])
{
    char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, len);
    memcpy(out, digest, 32);
    out[32] = '\0';
    g_free(digest);
}

static enum err_code open_memory(struct sqlite_db *self, struct err *err)
{
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(":memory:", &self->conn, flags, NULL) == SQLITE_OK) return ERR_OK;
    return err_set(err, ERR_NOMEM, "out of memory for a schema");
}

static enum err_code fill(struct definitions_db *self, const char *text, struct err *err)
{
    struct arena arena;
    struct sql_definitions *definitions;
    GString *sql = g_string_new(NULL);
    arena_init(&arena, READING_BYTES);
    enum err_code code = sql_read_definitions(&arena, text, strlen(text), &definitions, err);
    if (!code) code = make_all(self->sqlite.conn, definitions, sql, err);
    if (!code) self->is_sqlite = definitions->is_sqlite;
    arena_free(&arena);
    g_string_free(sql, TRUE);
    return code;
}

static enum err_code set_up(struct definitions_db *self, const char *text, struct err *err)
{
    struct sqlite_db *sqlite = &self->sqlite;
    enum err_code code = open_memory(sqlite, err);
    if (!code) code = fill(self, text, err);
    if (code) return code;
    if (guard_install(sqlite->conn, &sqlite->guard, &sqlite->work) != SQLITE_OK)
        return err_set(err, ERR_NOMEM, "out of memory for a schema");
    sqlite_apply_limits(sqlite);
    return sqlite_watch(sqlite) ? ERR_OK : err_set(err, ERR_NOMEM, "cannot start the watchdog thread");
}

static enum err_code open_handle(const char *path, const struct db_limits *limits, struct db **out, struct err *err)
{
    struct definitions_db *self = g_new0(struct definitions_db, 1);
    const char *text = path + strlen(DB_SCHEMA_PREFIX);
    sqlite_init(&self->sqlite, &db_engine_definitions, limits);
    db_schema_digest(text, strlen(text), self->fingerprint);
    enum err_code code = set_up(self, text, err);
    if (code)
        sqlite_disconnect(&self->sqlite), g_free(self);
    else
        *out = &self->sqlite.base;
    return code;
}

/* --- its catalogue ------------------------------------------------------------------------------------------------ */

/* Returns the affinity of a type. Handles types of other engines that SQLite's rules would classify wrongly. */
static enum db_affinity affinity(const char *type)
{
    static const struct {
        const char *word;
        enum db_affinity affinity;
    } others[] = {
        {"serial", DB_AFFINITY_INTEGER}, {"bigserial", DB_AFFINITY_INTEGER}, {"smallserial", DB_AFFINITY_INTEGER},
        {"enum", DB_AFFINITY_TEXT},      {"set", DB_AFFINITY_TEXT},          {"interval", DB_AFFINITY_TEXT},
        {"string", DB_AFFINITY_TEXT},    {"uuid", DB_AFFINITY_TEXT},         {"json", DB_AFFINITY_TEXT},
        {"jsonb", DB_AFFINITY_TEXT},     {"xml", DB_AFFINITY_TEXT},          {"bytea", DB_AFFINITY_BLOB},
        {"point", DB_AFFINITY_BLOB},     {"multipoint", DB_AFFINITY_BLOB},
    };
    size_t len = strcspn(type, " (");
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (strlen(others[i].word) == len && g_ascii_strncasecmp(type, others[i].word, len) == 0)
            return others[i].affinity;
    return sqlite_listing.affinity(type);
}

/* The schema of a table. NULL if no table has a schema; otherwise '' for a table without one. */
#define SCHEMA_OF                                                                                                      \
    "(SELECT coalesce((SELECT schema FROM pragma_schemas AS s WHERE s.name = m.name), '') FROM pragma_schemas LIMIT "  \
    "1)"

static const struct db_listing listing = {
    .tables = "SELECT name, type, sql, NULL, 0, " SCHEMA_OF ", 0, 0"
              " FROM sqlite_master AS m WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
              " AND name NOT LIKE 'pragma\\_%' ESCAPE '\\' ORDER BY rowid",
    .columns = {"PRAGMA table_xinfo(", ")"},
    .indexes = {"PRAGMA index_list(", ")"},
    .index = {"PRAGMA index_info(", ")"},
    .foreign_keys = {"PRAGMA foreign_key_list(", ")"},
    .affinity = affinity,
};

const struct db_engine db_engine_definitions = {
    .dialect = {.null_safe = "IS",
                .row_id = "rowid",
                .parameter = '?',
                .exact_collation = "BINARY",
                .text_type = "TEXT",
                .real_type = "REAL",
                .nulls_are_least = true,
                .casts_any_text = true,
                .no_data = true,
                .listing = &listing,
                .lacks = sql_not_sqlite},
    .claims = claims,
    .shown = shown,
    .open = open_handle,
    .close = close_handle,
    .limits_changed = limits_changed,
    .interrupt = interrupt,
    .fingerprint = fingerprint,
    .check = check,
    .query = query,
    .scan = scan,
};
