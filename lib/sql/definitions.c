/* Reads the statements of a schema's text.
 *
 * A table (`heads`) decides by a statement's first word whether it is read, skipped or refused. A skipped statement is
 * not parsed. The only parts of the text that reach an engine are names, types and the queries of views, which the
 * parser has accepted. Limits are checked before anything is stored. Nested parentheses are counted, without
 * recursion. */
#include "lib/sql/build.h"
#include "lib/sql/definitions_reader.h"
#include "lib/sql/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- failures ----------------------------------------------------------------------------------------------------- */

static void fail(struct definitions_reader *r, uint32_t at, enum err_code code, const char *format, va_list args)
{
    char said[ERR_TEXT_MAX];
    struct sql_diag where = {.start = r->scan.tokens[MIN(at, r->scan.n_tokens)].start};
    if (r->code) return;
    r->code = code;
    vsnprintf(said, sizeof said, format, args);
    sql_diag_locate(r->scan.text, &where);
    err_set(r->err, code, "the schema, line %u, column %u: %s", where.line, where.column, said);
}

void reader_fail(struct definitions_reader *r, uint32_t at, enum err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(r, at, code, format, args);
    va_end(args);
}

const char *reader_folded(struct definitions_reader *r, const char *name)
{
    char *folded = arena_strdup(r->arena, name);
    for (char *c = folded; c && *c; c++) *c = g_ascii_tolower(*c);
    return folded;
}

/* --- tokens ------------------------------------------------------------------------------------------------------- */

static struct sql_token token_at(const struct definitions_reader *r, uint32_t at)
{
    return r->scan.tokens[r->code ? r->scan.n_tokens : MIN(at, r->scan.n_tokens)];
}

bool reader_is(const struct definitions_reader *r, uint32_t at, const char *word)
{
    return sql_token_is(&r->scan, token_at(r, at), word);
}

bool reader_is_mark(const struct definitions_reader *r, uint32_t at, char mark)
{
    struct sql_token token = token_at(r, at);
    return token.len == 1 && r->scan.text[token.start] == mark;
}

bool reader_is_word(const struct definitions_reader *r, uint32_t at)
{
    struct sql_token token = token_at(r, at);
    char c = token.len && token.code != T_ILLEGAL ? r->scan.text[token.start] : '\0';
    return g_ascii_isalpha(c) || c == '_' || c == '"' || c == '`' || (c == '[' && token.len > 1) || (c & 0x80);
}

bool reader_is_number(const struct definitions_reader *r, uint32_t at)
{
    unsigned code = token_at(r, at).code;
    return code == T_INTEGER || code == T_FLOAT;
}

bool reader_at_end(const struct definitions_reader *r)
{
    unsigned code = token_at(r, r->at).code;
    return code == SQL_END_OF_TEXT || code == T_SEMI;
}

bool reader_accept(struct definitions_reader *r, const char *word)
{
    if (!reader_is(r, r->at, word)) return false;
    r->at++;
    return true;
}

bool reader_accept_mark(struct definitions_reader *r, char mark)
{
    if (!reader_is_mark(r, r->at, mark)) return false;
    r->at++;
    return true;
}

void reader_expect(struct definitions_reader *r, const char *word)
{
    if (!reader_accept(r, word)) reader_fail(r, r->at, ERR_SYNTAX, "expected %s", word);
}

void reader_expect_mark(struct definitions_reader *r, char mark)
{
    if (!reader_accept_mark(r, mark)) reader_fail(r, r->at, ERR_SYNTAX, "expected \"%c\"", mark);
}

const char *reader_name(struct definitions_reader *r, const char *what)
{
    struct sql_token token = token_at(r, r->at);
    bool quoted = token.code == T_STRING && r->scan.text[token.start] == '\''; /* SQLite accepts 'name', too */
    if (!reader_is_word(r, r->at) && !quoted) {
        reader_fail(r, r->at, ERR_SYNTAX, "expected %s", what);
        return NULL;
    }
    struct sql_node node = {0};
    sqlb_named(&r->scan, &node, token);
    if (!node.text_len || node.text_len > SQL_MAX_DEFINED_NAME) {
        reader_fail(r, r->at, ERR_LIMIT_BYTES, "%s must have 1 to %d bytes", what, SQL_MAX_DEFINED_NAME);
        return NULL;
    }
    r->at++;
    return arena_strndup(r->arena, node.text, node.text_len);
}

const char *reader_qualified(struct definitions_reader *r, const char *what, const char **schema)
{
    const char *name = reader_name(r, what);
    *schema = NULL;
    while (name && reader_accept_mark(r, '.')) {
        *schema = name;
        name = reader_name(r, what);
        r->out->is_sqlite = false;
    }
    return name;
}

void reader_skip(struct definitions_reader *r)
{
    uint32_t from = r->at, depth = 0;
    do {
        if (token_at(r, r->at).code == T_ILLEGAL)
            reader_fail(r, r->at, ERR_SYNTAX, "unexpected character, possibly an unterminated quote or bracket");
        if (reader_is_mark(r, r->at, '(')) depth++;
        if (reader_is_mark(r, r->at, ')')) depth--;
        if (token_at(r, r->at).code == SQL_END_OF_TEXT) {
            reader_fail(r, from, ERR_SYNTAX, "unterminated parenthesis");
            return;
        }
        r->at++;
    } while (depth && depth != UINT32_MAX);
}

/* Reads one entry of a list, such as a(10), a DESC or a COLLATE x. Returns the column, or NULL if the entry is an
 * expression. */
static const char *read_listed(struct definitions_reader *r)
{
    const char *name = reader_is_word(r, r->at) && !reader_is_mark(r, r->at + 1, '.') ? reader_name(r, "a name") : NULL;
    if (name && reader_is_mark(r, r->at, '(') && !reader_is_number(r, r->at + 1)) name = NULL; /* as in lower(a) */
    while (!reader_at_end(r) && !reader_is_mark(r, r->at, ',') && !reader_is_mark(r, r->at, ')')) {
        bool goes_on = reader_is_word(r, r->at) || reader_is_mark(r, r->at, '(');
        if (!goes_on) name = NULL;
        reader_skip(r);
    }
    return name;
}

struct sql_defined_name *reader_names(struct definitions_reader *r, bool *plain)
{
    struct sql_defined_name *first = NULL, **last = &first;
    *plain = true;
    reader_expect_mark(r, '(');
    do {
        struct sql_defined_name *one = arena_new(r->arena, struct sql_defined_name);
        if (!one) break;
        one->name = read_listed(r);
        *plain = *plain && one->name;
        *last = one;
        last = &one->next;
    } while (!r->code && reader_accept_mark(r, ','));
    reader_expect_mark(r, ')');
    return *plain && !r->code ? first : NULL;
}

static void skip_statement(struct definitions_reader *r)
{
    while (!reader_at_end(r)) reader_skip(r);
}

static void skip_nothing(struct definitions_reader *r)
{
    (void)r;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void accept_if_not_exists(struct definitions_reader *r)
{
    if (!reader_is(r, r->at, "IF")) return;
    r->at++;
    reader_accept(r, "NOT");
    reader_expect(r, "EXISTS");
}

/* Checks that the name is unused. SQLite and this program reserve the prefixes in `taken`. */
static void check_name(struct definitions_reader *r, uint32_t at, const char *name)
{
    static const char *const taken[] = {"sqlite_", "pragma_"};
    const char *folded = name ? reader_folded(r, name) : NULL;
    if (!folded) return;
    if (g_hash_table_contains(r->tables, folded) || g_hash_table_contains(r->views, folded))
        reader_fail(r, at, ERR_SYNTAX, "%s is defined twice; names must be unique across the schema", name);
    for (unsigned i = 0; i < G_N_ELEMENTS(taken); i++)
        if (g_str_has_prefix(folded, taken[i]))
            reader_fail(r, at, ERR_REFUSED, "names that start with %s are reserved", taken[i]);
}

static void note_schema(struct definitions_reader *r, const char *schema)
{
    const char *folded = schema ? reader_folded(r, schema) : NULL;
    if (folded) g_hash_table_add(r->schemas, (gpointer)folded);
}

/* Skips options such as ENGINE=InnoDB, WITHOUT ROWID and PARTITION BY (...). Stops at the end of the statement, or at a
 * CREATE or GO, which may follow without a semicolon. */
static void skip_table_options(struct definitions_reader *r)
{
    while (!reader_at_end(r) && !reader_is(r, r->at, "CREATE") && !reader_is(r, r->at, "GO")) {
        if (reader_is(r, r->at, "INHERITS"))
            reader_fail(r, r->at, ERR_SYNTAX, "INHERITS is not supported; write the inherited columns out");
        if (reader_is(r, r->at, "ENGINE")) r->out->is_sqlite = false;
        reader_skip(r);
    }
}

static void read_table(struct definitions_reader *r)
{
    accept_if_not_exists(r);
    uint32_t at = r->at;
    struct sql_defined_table *table = arena_new(r->arena, struct sql_defined_table);
    if (!table) return;
    table->name = reader_qualified(r, "a table name", &table->schema);
    if (reader_is(r, r->at, "PARTITION")) { /* a part of an existing table */
        skip_statement(r);
        return;
    }
    if (reader_is(r, r->at, "AS") || reader_is(r, r->at, "SELECT"))
        reader_fail(r, r->at, ERR_REFUSED, "CREATE TABLE from a query is not supported; write its columns out");
    check_name(r, at, table->name);
    if (r->out->n_tables == SQL_MAX_DEFINED_TABLES)
        reader_fail(r, at, ERR_LIMIT_COUNT, "more than %d tables", SQL_MAX_DEFINED_TABLES);
    if (r->code) return;
    reader_table_items(r, table);
    skip_table_options(r);
    note_schema(r, table->schema);
    const char *folded = reader_folded(r, table->name);
    if (r->code || !folded) return;
    g_hash_table_insert(r->tables, (gpointer)folded, table);
    *r->last_table = table;
    r->last_table = &table->next;
    r->out->n_tables++;
}

/* Reads the name of a table that was defined before. */
static struct sql_defined_table *read_known_table(struct definitions_reader *r)
{
    uint32_t at = r->at;
    const char *schema, *name = reader_qualified(r, "a table name", &schema);
    const char *folded = name ? reader_folded(r, name) : NULL;
    struct sql_defined_table *table = folded ? g_hash_table_lookup(r->tables, folded) : NULL;
    if (name && !table) reader_fail(r, at, ERR_UNKNOWN_NAME, "table %s is not defined before this statement", name);
    return table;
}

/* Reads [UNIQUE] INDEX [name] ON table [USING method] (columns) [WHERE ...]. A unique index on columns of all rows
 * becomes a key. */
static void read_index(struct definitions_reader *r)
{
    bool plain = false;
    while (!reader_at_end(r) && !reader_is(r, r->at, "ON")) reader_skip(r);
    reader_expect(r, "ON");
    reader_accept(r, "ONLY");
    struct sql_defined_table *table = read_known_table(r);
    if (reader_accept(r, "USING")) reader_skip(r);
    uint32_t at = r->at;
    struct sql_defined_name *columns = reader_names(r, &plain);
    bool whole = true;
    for (; !reader_at_end(r); reader_skip(r)) whole = whole && !reader_is(r, r->at, "WHERE");
    if (table && r->unique && plain && columns && whole) reader_add_unique(r, table, columns, at);
}

/* Reads ADD [COLUMN] ... and ADD [CONSTRAINT name] .... Other alterations are skipped, except those that would
 * invalidate the columns read: they are refused. */
static void read_alter(struct definitions_reader *r)
{
    static const char *const changes[] = {"DROP", "RENAME", "CHANGE"};
    if (!reader_accept(r, "TABLE")) {
        skip_statement(r);
        return;
    }
    r->out->is_sqlite = false;
    accept_if_not_exists(r);
    reader_accept(r, "ONLY");
    struct sql_defined_table *table = read_known_table(r);
    while (table && !reader_at_end(r)) {
        for (unsigned i = 0; i < G_N_ELEMENTS(changes); i++)
            if (reader_is(r, r->at, changes[i]) && !reader_is(r, r->at + 1, "DEFAULT"))
                reader_fail(r, r->at, ERR_REFUSED,
                            "%s is not supported in ALTER TABLE; define the table in its final form", changes[i]);
        if (reader_accept(r, "ADD")) {
            reader_accept(r, "COLUMN");
            accept_if_not_exists(r);
            reader_table_item(r, table);
            reader_check_key(r, table, table->keys, r->at);
        }
        while (!reader_at_end(r) && !reader_is_mark(r, r->at, ',')) reader_skip(r);
        reader_accept_mark(r, ',');
    }
}

/* --- views -------------------------------------------------------------------------------------------------------- */

/* Returns the index after a view's query. A suffix WITH [NO] DATA or WITH [LOCAL] CHECK OPTION is not part of it. */
static uint32_t end_of_query(const struct definitions_reader *r)
{
    uint32_t end = r->at;
    bool data = reader_is(r, end - 1, "DATA"), option = reader_is(r, end - 1, "OPTION");
    for (uint32_t i = end > 4 ? end - 4 : 0; (data || option) && i < end; i++)
        if (reader_is(r, i, "WITH")) return i;
    return end;
}

/* True if token `at` is a qualifier that names the schema of a table or view defined here. Such qualifiers are dropped,
 * because there is only one database. */
static bool is_known_schema(struct definitions_reader *r, uint32_t at)
{
    struct sql_node node = {0};
    if (!reader_is_word(r, at) || !reader_is_mark(r, at + 1, '.')) return false;
    sqlb_named(&r->scan, &node, token_at(r, at));
    const char *name = arena_strndup(r->arena, node.text, node.text_len),
               *folded = name ? reader_folded(r, name) : NULL;
    return folded && g_hash_table_contains(r->schemas, folded) && !g_hash_table_contains(r->tables, folded);
}

/* Counts the tables that the query reads, directly and through earlier views. */
static uint32_t count_reads(struct definitions_reader *r, uint32_t from, uint32_t end)
{
    uint32_t reads = 0;
    for (uint32_t i = from; i < end && reads <= SQL_MAX_VIEW_READS; i++) {
        struct sql_node node = {0};
        if (!reader_is_word(r, i) || reader_is_mark(r, i + 1, '.')) continue; /* a column's qualifier reads nothing */
        sqlb_named(&r->scan, &node, token_at(r, i));
        const char *name = arena_strndup(r->arena, node.text, node.text_len);
        const char *folded = name ? reader_folded(r, name) : "";
        if (g_hash_table_contains(r->tables, folded)) reads++;
        reads += GPOINTER_TO_UINT(g_hash_table_lookup(r->views, folded));
    }
    return reads;
}

static const char *query_text(struct definitions_reader *r, uint32_t from, uint32_t end)
{
    GString *out = g_string_new(NULL);
    for (uint32_t i = from; i < end; i++) {
        if (is_known_schema(r, i)) {
            i++; /* skips the dot, too */
            continue;
        }
        struct sql_token token = r->scan.tokens[i], next = r->scan.tokens[i + 1];
        bool apart = i + 1 < end && token.start + token.len < next.start;
        g_string_append_printf(out, "%.*s%s", (int)token.len, r->scan.text + token.start, apart ? " " : "");
    }
    const char *text = arena_strndup(r->arena, out->str, out->len);
    g_string_free(out, TRUE);
    return text;
}

static void check_query(struct definitions_reader *r, uint32_t at, const struct sql_defined_view *view)
{
    struct sql_stmt *stmt = NULL;
    enum err_code code = view->query ? sql_parse(r->arena, view->query, strlen(view->query), NULL, &stmt) : ERR_OK;
    if (code)
        reader_fail(r, at, code, "cannot parse the query of view %s, so leave the view out: %s", view->name,
                    stmt && stmt->diags ? stmt->diags->message : err_meaning(code));
}

static void read_view(struct definitions_reader *r)
{
    accept_if_not_exists(r);
    uint32_t at = r->at;
    bool plain = true;
    struct sql_defined_view *view = arena_new(r->arena, struct sql_defined_view);
    if (!view) return;
    view->name = reader_qualified(r, "a view name", &view->schema);
    check_name(r, at, view->name);
    if (reader_is_mark(r, r->at, '(')) view->columns = reader_names(r, &plain);
    while (!reader_at_end(r) && !reader_is(r, r->at, "AS")) reader_skip(r);
    reader_expect(r, "AS");
    uint32_t from = r->at;
    skip_statement(r);
    if (r->code) return;
    uint32_t end = end_of_query(r), reads = count_reads(r, from, end) + 1;
    if (reads > SQL_MAX_VIEW_READS || ++r->out->n_views > SQL_MAX_DEFINED_VIEWS)
        reader_fail(r, at, ERR_LIMIT_COUNT, "views read more than %d tables, or there are more than %d views",
                    SQL_MAX_VIEW_READS, SQL_MAX_DEFINED_VIEWS);
    view->query = query_text(r, from, end);
    check_query(r, from, view);
    note_schema(r, view->schema);
    const char *folded = reader_folded(r, view->name);
    if (r->code || !folded) return;
    g_hash_table_insert(r->views, (gpointer)folded, GUINT_TO_POINTER(reads));
    *r->last_view = view;
    r->last_view = &view->next;
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static void refuse(struct definitions_reader *r, uint32_t at)
{
    struct sql_token token = token_at(r, at);
    bool word = reader_is_word(r, at) && g_ascii_isalpha(r->scan.text[token.start]);
    reader_fail(
        r, at, ERR_REFUSED,
        "%.*s is not supported; remove it, or use only CREATE TABLE, CREATE INDEX, CREATE VIEW and ALTER TABLE ... "
        "ADD",
        word ? (int)MIN(token.len, 40) : 14, word ? r->scan.text + token.start : "this statement");
}

static void refuse_last(struct definitions_reader *r)
{
    refuse(r, r->at - 1);
}

/* The first word of a statement, and the function that reads the rest of it. */
struct head {
    const char *word;
    void (*read)(struct definitions_reader *r);
};

static bool read_as(struct definitions_reader *r, const struct head *heads, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!reader_accept(r, heads[i].word)) continue;
        heads[i].read(r);
        return true;
    }
    return false;
}

/* Reads CREATE, then words like OR REPLACE, TEMPORARY, UNIQUE, MATERIALIZED, ALGORITHM=MERGE, then the object. */
static void read_create(struct definitions_reader *r)
{
    static const struct head things[] = {
        {"TABLE", read_table},      {"INDEX", read_index},        {"VIEW", read_view},
        {"SCHEMA", skip_statement}, {"DATABASE", skip_statement}, {"TYPE", skip_statement},
        {"DOMAIN", skip_statement}, {"SEQUENCE", skip_statement}, {"EXTENSION", skip_statement},
        {"ROLE", skip_statement},   {"VIRTUAL", refuse_last},     {"TRIGGER", refuse_last},
        {"FUNCTION", refuse_last},  {"PROCEDURE", refuse_last},   {"EVENT", refuse_last},
        {"RULE", refuse_last},
    };
    uint32_t first = r->at;
    for (r->unique = false; !reader_at_end(r); reader_skip(r)) {
        r->unique |= reader_is(r, r->at, "UNIQUE");
        if (read_as(r, things, G_N_ELEMENTS(things))) return;
    }
    refuse(r, first);
}

/* Skips DROP TABLE IF EXISTS, which dumps have before each table. */
static void read_drop(struct definitions_reader *r)
{
    uint32_t at = r->at - 1;
    reader_skip(r);
    if (!reader_accept(r, "IF") || !reader_accept(r, "EXISTS")) {
        refuse(r, at);
        return;
    }
    const char *schema, *name = reader_qualified(r, "a name", &schema), *folded = name ? reader_folded(r, name) : NULL;
    if (folded && (g_hash_table_contains(r->tables, folded) || g_hash_table_contains(r->views, folded)))
        reader_fail(r, at, ERR_REFUSED, "DROP of %s, which is defined above; define only the final tables and views",
                    name);
    skip_statement(r);
}

static void read_statement(struct definitions_reader *r)
{
    static const struct head heads[] = {
        {"CREATE", read_create},   {"ALTER", read_alter},      {"DROP", read_drop},       {"COMMENT", skip_statement},
        {"SET", skip_statement},   {"USE", skip_statement},    {"GO", skip_nothing},      {"BEGIN", skip_statement},
        {"START", skip_statement}, {"COMMIT", skip_statement}, {"GRANT", skip_statement}, {"REVOKE", skip_statement},
        {"LOCK", skip_statement},  {"UNLOCK", skip_statement},
    };
    /* pg_dump sets the search path with this call. */
    bool setting =
        reader_is(r, r->at, "SELECT") && reader_is(r, r->at + 1, "PG_CATALOG") && reader_is(r, r->at + 3, "SET_CONFIG");
    if (setting)
        skip_statement(r);
    else if (!read_as(r, heads, G_N_ELEMENTS(heads)))
        refuse(r, r->at);
}

static void read_statements(struct definitions_reader *r)
{
    while (!r->code && token_at(r, r->at).code != SQL_END_OF_TEXT) {
        if (reader_accept_mark(r, ';')) continue;
        read_statement(r);
    }
    if (!r->code && !r->out->n_tables)
        r->code = err_set(r->err, ERR_DB_EMPTY, "the schema defines no table" ERR_HINT "write CREATE TABLE statements");
}

static enum err_code check_text(const char *text, size_t len, struct err *err)
{
    const char *end = text;
    if (len > SQL_MAX_DEFINITIONS_BYTES)
        return err_set(err, ERR_LIMIT_BYTES, "the schema is longer than %d KiB", SQL_MAX_DEFINITIONS_BYTES / 1024);
    if (g_utf8_validate_len(text, len, &end)) return ERR_OK;
    return err_set(err, ERR_ENCODING, "the schema %s, at byte %zu", *end ? "is not valid UTF-8" : "contains a NUL",
                   (size_t)(end - text) + 1);
}

static enum err_code scan(struct definitions_reader *r, const char *text, size_t len)
{
    r->scan = (struct sql_parser){.arena = r->arena,
                                  .limits = {.max_tokens = SQL_MAX_DEFINITIONS_BYTES, .max_diags = 1},
                                  .text = arena_strndup(r->arena, text, len),
                                  .len = (uint32_t)len,
                                  .stmt = arena_new(r->arena, struct sql_stmt)};
    r->out = arena_new(r->arena, struct sql_definitions);
    if (!r->scan.text || !r->scan.stmt || !r->out) return ERR_LIMIT_MEMORY;
    r->out->is_sqlite = true;
    r->last_table = &r->out->tables;
    r->last_view = &r->out->views;
    return sql_scan(&r->scan);
}

enum err_code sql_read_definitions(struct arena *arena, const char *text, size_t len, struct sql_definitions **out,
                                   struct err *err)
{
    struct err own = {0};
    struct definitions_reader r = {.arena = arena, .err = err ? err : &own};
    *out = NULL;
    enum err_code code = check_text(text, len, r.err);
    if (code) return code;
    code = scan(&r, text, len);
    r.tables = g_hash_table_new(g_str_hash, g_str_equal);
    r.views = g_hash_table_new(g_str_hash, g_str_equal);
    r.columns = g_hash_table_new(g_str_hash, g_str_equal);
    r.schemas = g_hash_table_new(g_str_hash, g_str_equal);
    if (!code) read_statements(&r);
    g_hash_table_destroy(r.tables);
    g_hash_table_destroy(r.views);
    g_hash_table_destroy(r.columns);
    g_hash_table_destroy(r.schemas);
    if (!code) code = r.code;
    if (arena->failed || code == ERR_LIMIT_MEMORY)
        return err_set(r.err, ERR_LIMIT_MEMORY, "the schema exceeds its memory limit");
    *out = code ? NULL : r.out;
    return code;
}
