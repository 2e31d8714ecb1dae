/* Restricts the operations and functions of untrusted SQL in SQLite. The limits on its cost are in sqlite.c.
 *
 * While SQLite compiles a statement, it calls the authorizer for every access, also for those inside views. The
 * authorizer is an allow list, so new operations of later versions of SQLite are refused. It is not sufficient alone.
 * VACUUM INTO and EXPLAIN pass it, so sqlite.c also requires a read-only statement with columns. SQLite reports a
 * table-valued PRAGMA function as the read of a table, so such table names are refused. Virtual tables that show
 * SQLite's internals (dbstat, sqlite_stmt, fts3tokenize) are unregistered.
 */
#include "lib/db/sqlite_guard.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

/* The allowed functions, sorted. Excluded because they have side effects or return pointers: load_extension,
 * fts3_tokenizer, optimize, fts5, rtreecheck, sqlite_log. Excluded because a call takes quadratic time: json_patch.
 * Excluded because no question needs them: sqlite_compileoption_*, sqlite_source_id. */
static const char *const functions[] = {
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "bm25",
    "ceil",
    "ceiling",
    "changes",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "highlight",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_tree",
    "json_type",
    "json_valid",
    "julianday",
    "lag",
    "last_insert_rowid",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "match",
    "matchinfo",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "offsets",
    "percent_rank",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "snippet",
    "soundex",
    "sqlite_version",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "timediff",
    "total",
    "total_changes",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
};

/* Functions that are random, or that read the clock with some arguments. */
static const char *const varying[] = {
    "current_date", "current_time", "current_timestamp", "date", "datetime", "julianday",
    "random",       "randomblob",   "strftime",          "time", "timediff", "unixepoch",
};

/* PRAGMAs that list the schema. They are allowed only in the program's own statements. */
static const char *const listing_pragmas[] = {
    "foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo",
};

/* Modules that are not unregistered: those that schemas use, and the JSON table functions. R-trees are unregistered
 * because they prepare write statements when they are opened. */
static const char *kept_modules[] = {"fts3", "fts4", "fts5", "json_each", "json_tree", NULL};

/* Names of operations, for messages about refused ones. */
static const char *const operations[] = {
    [SQLITE_CREATE_INDEX] = "CREATE INDEX",
    [SQLITE_CREATE_TABLE] = "CREATE TABLE",
    [SQLITE_CREATE_TEMP_INDEX] = "CREATE TEMP INDEX",
    [SQLITE_CREATE_TEMP_TABLE] = "CREATE TEMP TABLE",
    [SQLITE_CREATE_TEMP_TRIGGER] = "CREATE TEMP TRIGGER",
    [SQLITE_CREATE_TEMP_VIEW] = "CREATE TEMP VIEW",
    [SQLITE_CREATE_TRIGGER] = "CREATE TRIGGER",
    [SQLITE_CREATE_VIEW] = "CREATE VIEW",
    [SQLITE_DELETE] = "DELETE",
    [SQLITE_DROP_INDEX] = "DROP INDEX",
    [SQLITE_DROP_TABLE] = "DROP TABLE",
    [SQLITE_DROP_TEMP_INDEX] = "DROP INDEX",
    [SQLITE_DROP_TEMP_TABLE] = "DROP TABLE",
    [SQLITE_DROP_TEMP_TRIGGER] = "DROP TRIGGER",
    [SQLITE_DROP_TEMP_VIEW] = "DROP VIEW",
    [SQLITE_DROP_TRIGGER] = "DROP TRIGGER",
    [SQLITE_DROP_VIEW] = "DROP VIEW",
    [SQLITE_INSERT] = "INSERT",
    [SQLITE_PRAGMA] = "PRAGMA",
    [SQLITE_READ] = "reading",
    [SQLITE_TRANSACTION] = "transaction control",
    [SQLITE_UPDATE] = "UPDATE",
    [SQLITE_ATTACH] = "ATTACH",
    [SQLITE_DETACH] = "DETACH",
    [SQLITE_ALTER_TABLE] = "ALTER TABLE",
    [SQLITE_REINDEX] = "REINDEX",
    [SQLITE_ANALYZE] = "ANALYZE",
    [SQLITE_CREATE_VTABLE] = "CREATE VIRTUAL TABLE",
    [SQLITE_DROP_VTABLE] = "DROP TABLE",
    [SQLITE_FUNCTION] = "function",
    [SQLITE_SAVEPOINT] = "SAVEPOINT",
};

static const struct message_class {
    const char *part;
    enum err_code code;
} message_classes[] = {
    {"may not be modified", ERR_REFUSED},
    {"unsafe use of", ERR_REFUSED}, /* a view uses a function or table that views must not use */
    {"Expression tree is too large", ERR_LIMIT_DEPTH},
    {"parser stack overflow", ERR_LIMIT_DEPTH},
    {"too many levels of trigger recursion", ERR_LIMIT_DEPTH},
    {"too many terms in", ERR_LIMIT_COUNT},
    {"too many columns", ERR_LIMIT_COUNT},
    {"too many FROM clause terms", ERR_LIMIT_COUNT},
    {"too many references to", ERR_LIMIT_COUNT},
    {"too many SQL variables", ERR_LIMIT_COUNT},
    {"variable number must be between", ERR_LIMIT_COUNT},
    {"too many arguments on", ERR_LIMIT_COUNT},
    {"tables in a join", ERR_LIMIT_COUNT},
    {"pattern too complex", ERR_LIMIT_BYTES},
    {"string or blob too big", ERR_LIMIT_BYTES},
};

static bool in_list(const char *const *list, size_t n, const char *name)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = g_ascii_strcasecmp(name, list[middle]);
        if (order == 0) return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return g_ascii_strncasecmp(name, prefix, strlen(prefix)) == 0;
}

/* True for tables that describe SQLite or the schema instead of holding data. */
static bool is_inner_table(const char *name)
{
    return has_prefix(name, "sqlite_") || has_prefix(name, "pragma_");
}

static int deny(struct guard *guard, int op, const char *what)
{
    const char *operation = op > 0 && (size_t)op < G_N_ELEMENTS(operations) ? operations[op] : NULL;
    snprintf(guard->denied, sizeof guard->denied, "%s%s%s", operation ? operation : "this kind of statement",
             what ? " " : "", what ? what : "");
    return SQLITE_DENY;
}

/* True for the accesses with which SQLite declares a virtual table (json_each, FTS). It compiles an UPDATE of
 * sqlite_master that never runs, and calls the authorizer for it. A candidate's own text may use the same accesses,
 * which is harmless: the connection cannot write the schema, and only row numbers can be read. */
static bool is_table_declaration(int op, const char *a, const char *b)
{
    if (!a || g_ascii_strcasecmp(a, "sqlite_master") != 0) return false;
    return op == SQLITE_UPDATE || (op == SQLITE_READ && b && strcmp(b, "ROWID") == 0);
}

static int authorize(void *ctx, int op, const char *a, const char *b, const char *schema, const char *inside)
{
    (void)schema;
    struct guard *guard = ctx;
    bool trusted = guard->trusted && !inside; /* the SQL of a view is never trusted */
    if (is_table_declaration(op, a, b)) return SQLITE_OK;
    switch (op) {
    case SQLITE_SELECT: guard->is_query = true; return SQLITE_OK;
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_READ:
        if (!a || trusted || !is_inner_table(a)) return SQLITE_OK;
        return deny(guard, op, a);
    case SQLITE_FUNCTION:
        if (!b || !in_list(functions, G_N_ELEMENTS(functions), b)) return deny(guard, op, b);
        guard->varies |= in_list(varying, G_N_ELEMENTS(varying), b);
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        if (a && g_ascii_strcasecmp(a, "data_version") == 0) return SQLITE_OK; /* used by FTS5 during queries */
        if (trusted && a && in_list(listing_pragmas, G_N_ELEMENTS(listing_pragmas), a)) return SQLITE_OK;
        return deny(guard, op, a);
    default: return deny(guard, op, NULL);
    }
}

static const struct {
    int option, value;
} settings[] = {
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 1}, /* databases need views; the authorizer also checks the queries of views */
};

/* temp_store keeps temporary data in memory, so SQLite creates no file. The memory counts against the heap limit. */
static const char pragmas[] = "PRAGMA cell_size_check = 1; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
                              "PRAGMA query_only = 1;";

int guard_install(sqlite3 *conn, struct guard *guard, struct work *work)
{
    *guard = (struct guard){0};
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        int now;
        int rc = sqlite3_db_config(conn, settings[i].option, settings[i].value, &now);
        if (rc != SQLITE_OK) return rc;
        if (now != settings[i].value) return SQLITE_MISUSE;
    }
    int rc = sqlite3_exec(conn, pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_drop_modules(conn, kept_modules);
    if (rc == SQLITE_OK) rc = guard_add_functions(conn, work);
    if (rc == SQLITE_OK) rc = sqlite3_set_authorizer(conn, authorize, guard);
    return rc;
}

void guard_begin(struct guard *guard, bool trusted)
{
    guard->trusted = trusted;
    guard->is_query = guard->varies = false;
    guard->denied[0] = '\0';
}

enum err_code guard_classify(int rc, const char *message)
{
    if (rc == SQLITE_IOERR_NOMEM) return ERR_LIMIT_MEMORY;
    switch (rc & 0xff) {
    case SQLITE_TOOBIG: return ERR_LIMIT_BYTES;
    case SQLITE_NOMEM:
    case SQLITE_FULL: return ERR_LIMIT_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ERR_DB_LOCKED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ERR_DB_CORRUPT;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
    case SQLITE_READONLY: return ERR_DB_UNREADABLE;
    default: break;
    }
    for (size_t i = 0; message && i < G_N_ELEMENTS(message_classes); i++)
        if (strstr(message, message_classes[i].part)) return message_classes[i].code;
    return ERR_ENGINE;
}
