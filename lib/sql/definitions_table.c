/* Reads the items of a table: columns with their constraints, and table constraints. The first word of an item decides
 * its kind. Words that do not matter for the schema are skipped, including their parentheses. */
#include "lib/sql/definitions_reader.h"

#include <string.h>

/* --- keys --------------------------------------------------------------------------------------------------------- */

static bool has_column(struct definitions_reader *r, const struct sql_defined_table *table, const char *name)
{
    const char *key = arena_printf(r->arena, "%s\n%s", table->name, name);
    return key && g_hash_table_contains(r->columns, reader_folded(r, key));
}

static struct sql_defined_key *add_key(struct definitions_reader *r, struct sql_defined_table *table,
                                       enum sql_defined_kind kind, struct sql_defined_name *columns)
{
    struct sql_defined_key *key = arena_new(r->arena, struct sql_defined_key);
    if (!key) return NULL;
    if (++table->n_keys > SQL_MAX_DEFINED_KEYS)
        reader_fail(r, r->at, ERR_LIMIT_COUNT, "table %s has more than %d keys", table->name, SQL_MAX_DEFINED_KEYS);
    *key = (struct sql_defined_key){.kind = kind, .columns = columns, .next = table->keys};
    table->keys = key;
    return key;
}

void reader_check_key(struct definitions_reader *r, const struct sql_defined_table *table,
                      const struct sql_defined_key *key, uint32_t at)
{
    for (const struct sql_defined_name *column = key ? key->columns : NULL; column; column = column->next)
        if (!has_column(r, table, column->name))
            reader_fail(r, at, ERR_UNKNOWN_NAME, "a key of table %s uses the unknown column %s", table->name,
                        column->name);
}

static void add_primary(struct definitions_reader *r, struct sql_defined_table *table, struct sql_defined_name *columns,
                        uint32_t at)
{
    if (table->has_primary) reader_fail(r, at, ERR_SYNTAX, "table %s has a second primary key", table->name);
    table->has_primary = true;
    add_key(r, table, SQL_DEFINED_PRIMARY, columns);
}

void reader_add_unique(struct definitions_reader *r, struct sql_defined_table *table, struct sql_defined_name *columns,
                       uint32_t at)
{
    reader_check_key(r, table, add_key(r, table, SQL_DEFINED_UNIQUE, columns), at);
}

static struct sql_defined_name *one_name(struct definitions_reader *r, const char *name)
{
    struct sql_defined_name *one = arena_new(r->arena, struct sql_defined_name);
    if (one) one->name = name;
    return one;
}

/* Reads table [(columns)] after REFERENCES. The caller skips ON DELETE and similar clauses. */
static void read_reference(struct definitions_reader *r, struct sql_defined_table *table,
                           struct sql_defined_name *columns)
{
    bool plain = true;
    const char *schema = NULL, *name = reader_qualified(r, "the referenced table", &schema);
    struct sql_defined_key *key = add_key(r, table, SQL_DEFINED_REFERENCE, columns);
    if (!key) return;
    key->table = name;
    uint32_t at = r->at, n = 0, m = 0;
    if (reader_is_mark(r, r->at, '(')) key->to = reader_names(r, &plain);
    for (const struct sql_defined_name *column = columns; column; column = column->next) n++;
    for (const struct sql_defined_name *column = key->to; column; column = column->next) m++;
    if (!plain || (key->to && n != m))
        reader_fail(r, at, ERR_SYNTAX, "foreign key of %u columns references %u columns; the numbers must match", n, m);
}

/* --- constraints of a table --------------------------------------------------------------------------------------- */

static void skip_to_comma(struct definitions_reader *r)
{
    while (!reader_at_end(r) && !reader_is_mark(r, r->at, ',') && !reader_is_mark(r, r->at, ')')) reader_skip(r);
}

/* Skips words up to the list of columns, as in UNIQUE KEY name USING BTREE (a). */
static void skip_to_list(struct definitions_reader *r)
{
    while (!reader_at_end(r) && reader_is_word(r, r->at)) r->at++;
}

static void read_key(struct definitions_reader *r, struct sql_defined_table *table, bool primary)
{
    bool plain = true;
    uint32_t at = r->at;
    skip_to_list(r);
    struct sql_defined_name *columns = reader_names(r, &plain);
    if (!plain || !columns) return; /* an index of an expression is not a key of columns */
    if (primary)
        add_primary(r, table, columns, at);
    else
        add_key(r, table, SQL_DEFINED_UNIQUE, columns);
}

static void read_foreign_key(struct definitions_reader *r, struct sql_defined_table *table)
{
    bool plain = true;
    skip_to_list(r);
    uint32_t at = r->at;
    struct sql_defined_name *columns = reader_names(r, &plain);
    if (!plain) reader_fail(r, at, ERR_SYNTAX, "a foreign key must list columns, not expressions");
    reader_expect(r, "REFERENCES");
    read_reference(r, table, columns);
}

/* True for MySQL's syntax of an index: KEY idx (a), INDEX (a), FULLTEXT KEY idx (a). A column may also be named key;
 * the parentheses of its type contain a number. */
static bool is_index(const struct definitions_reader *r)
{
    static const char *const words[] = {"KEY", "INDEX", "FULLTEXT", "SPATIAL"};
    uint32_t at = r->at + 1;
    bool found = false;
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) found |= reader_is(r, r->at, words[i]);
    if (!found) return false;
    for (unsigned i = 0; i < 4 && reader_is_word(r, at); i++) at++;
    return reader_is_mark(r, at, '(') && reader_is_word(r, at + 1);
}

/* Reads a constraint of the table, or an index. Returns false if the item is a column. */
static bool read_constraint(struct definitions_reader *r, struct sql_defined_table *table)
{
    if (reader_accept(r, "CONSTRAINT")) {
        bool named = !(reader_is(r, r->at, "PRIMARY") || reader_is(r, r->at, "UNIQUE") ||
                       reader_is(r, r->at, "FOREIGN") || reader_is(r, r->at, "CHECK"));
        if (named) reader_name(r, "a constraint name");
    }
    bool key = reader_is(r, r->at + 1, "KEY");
    if (reader_is(r, r->at, "PRIMARY") && key) {
        r->at += 2;
        read_key(r, table, true);
    } else if (reader_is(r, r->at, "FOREIGN") && key) {
        r->at += 2;
        read_foreign_key(r, table);
    } else if (reader_accept(r, "UNIQUE")) {
        read_key(r, table, false);
    } else if (is_index(r)) {
        r->out->is_sqlite = false;
    } else if (reader_is(r, r->at, "LIKE") && reader_is_word(r, r->at + 1)) {
        reader_fail(r, r->at, ERR_SYNTAX, "LIKE is not supported; write the columns of the other table out");
    } else if (!(reader_is(r, r->at, "CHECK") && reader_is_mark(r, r->at + 1, '(')) &&
               !reader_is(r, r->at, "EXCLUDE")) {
        return false;
    }
    skip_to_comma(r);
    return true;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* True for the first word of a constraint, which ends a column's type. */
static bool ends_type(const struct definitions_reader *r)
{
    static const char *const words[] = {
        "CONSTRAINT",     "PRIMARY",       "NOT",        "NULL",      "UNIQUE",  "CHECK",
        "DEFAULT",        "COLLATE",       "REFERENCES", "GENERATED", "AS",      "COMMENT",
        "AUTO_INCREMENT", "AUTOINCREMENT", "ON",         "IDENTITY",  "CHARSET", "KEY"};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (reader_is(r, r->at, words[i])) return true;
    return reader_is(r, r->at, "CHARACTER") && reader_is(r, r->at + 1, "SET");
}

/* Returns the text of the tokens [from, r->at), with single spaces. */
static const char *text_between(struct definitions_reader *r, uint32_t from)
{
    GString *out = g_string_new(NULL);
    for (uint32_t i = from; i < r->at; i++) {
        struct sql_token token = r->scan.tokens[i];
        bool apart = i > from && r->scan.tokens[i - 1].start + r->scan.tokens[i - 1].len < token.start;
        g_string_append_printf(out, "%s%.*s", apart ? " " : "", (int)token.len, r->scan.text + token.start);
    }
    const char *text = arena_strndup(r->arena, out->str, MIN(out->len, (gsize)SQL_MAX_DEFINED_NAME));
    g_string_free(out, TRUE);
    return text;
}

/* Reads a type, such as varchar(20), double precision, timestamp with time zone, public.mood or integer[]. */
static const char *read_type(struct definitions_reader *r)
{
    static const char *const foreign[] = {"SERIAL", "BIGSERIAL", "SMALLSERIAL", "ENUM",  "JSONB",    "BYTEA",
                                          "UUID",   "UNSIGNED",  "TIMESTAMPTZ", "INET",  "LONGTEXT", "MEDIUMTEXT",
                                          "CITEXT", "VARYING",   "ZONE",        "MONEY", "TSVECTOR"};
    uint32_t from = r->at;
    while (!reader_at_end(r) && !ends_type(r)) {
        bool goes_on = reader_is_word(r, r->at) ||
                       (r->at > from &&
                        (reader_is_mark(r, r->at, '(') || reader_is_mark(r, r->at, '.') ||
                         reader_is_mark(r, r->at, '[') || reader_is_mark(r, r->at, ']') || reader_is_number(r, r->at)));
        if (!goes_on) break;
        for (unsigned i = 0; i < G_N_ELEMENTS(foreign); i++)
            if (reader_is(r, r->at, foreign[i])) r->out->is_sqlite = false;
        if (reader_is_mark(r, r->at, '[') || reader_is_mark(r, r->at, '.')) r->out->is_sqlite = false;
        reader_skip(r);
    }
    return text_between(r, from);
}

static void add_column(struct definitions_reader *r, struct sql_defined_table *table, struct sql_defined_column *column,
                       uint32_t at)
{
    struct sql_defined_column **last = &table->columns;
    if (has_column(r, table, column->name))
        reader_fail(r, at, ERR_SYNTAX, "table %s has two columns named %s", table->name, column->name);
    if (table->n_columns == SQL_MAX_DEFINED_COLUMNS)
        reader_fail(r, at, ERR_LIMIT_COUNT, "table %s has more than %d columns", table->name, SQL_MAX_DEFINED_COLUMNS);
    const char *key = arena_printf(r->arena, "%s\n%s", table->name, column->name);
    const char *folded = key ? reader_folded(r, key) : NULL;
    if (folded) g_hash_table_add(r->columns, (gpointer)folded);
    if (table->last) last = &table->last->next;
    *last = table->last = column;
    table->n_columns++;
}

/* Reads one constraint of the column, or skips one word. */
static void read_column_constraint(struct definitions_reader *r, struct sql_defined_table *table,
                                   struct sql_defined_column *column)
{
    uint32_t at = r->at;
    if (reader_accept(r, "CONSTRAINT")) {
        reader_name(r, "a constraint name");
    } else if (reader_is(r, at, "NOT") && reader_is(r, at + 1, "NULL")) {
        r->at += 2;
        column->not_null = true;
    } else if (reader_is(r, at, "PRIMARY") && reader_is(r, at + 1, "KEY")) {
        r->at += 2;
        add_primary(r, table, one_name(r, column->name), at);
    } else if (reader_accept(r, "UNIQUE")) {
        add_key(r, table, SQL_DEFINED_UNIQUE, one_name(r, column->name));
    } else if (reader_accept(r, "REFERENCES")) {
        read_reference(r, table, one_name(r, column->name));
    } else {
        if (reader_is(r, at, "AUTO_INCREMENT") || reader_is(r, at, "COMMENT") || reader_is(r, at, "IDENTITY"))
            r->out->is_sqlite = false;
        reader_skip(r);
    }
}

static void read_column(struct definitions_reader *r, struct sql_defined_table *table)
{
    uint32_t at = r->at;
    struct sql_defined_column *column = arena_new(r->arena, struct sql_defined_column);
    const char *name = reader_name(r, "a column name");
    if (!column || !name) return;
    column->name = name;
    column->type = read_type(r);
    add_column(r, table, column, at);
    while (!reader_at_end(r) && !reader_is_mark(r, r->at, ',') && !reader_is_mark(r, r->at, ')'))
        read_column_constraint(r, table, column);
}

void reader_table_item(struct definitions_reader *r, struct sql_defined_table *table)
{
    uint32_t at = r->at;
    if (!read_constraint(r, table)) read_column(r, table);
    if (r->at == at) reader_fail(r, at, ERR_SYNTAX, "expected a column or a constraint of table %s", table->name);
}

void reader_table_items(struct definitions_reader *r, struct sql_defined_table *table)
{
    uint32_t at = r->at;
    reader_expect_mark(r, '(');
    do {
        if (reader_is_mark(r, r->at, ')')) break; /* after an extra comma */
        reader_table_item(r, table);
    } while (!r->code && reader_accept_mark(r, ','));
    reader_expect_mark(r, ')');
    if (!r->code && !table->n_columns) reader_fail(r, at, ERR_SYNTAX, "table %s has no columns", table->name);
    for (const struct sql_defined_key *key = table->keys; key; key = key->next) reader_check_key(r, table, key, at);
}
