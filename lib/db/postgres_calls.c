/* Collects the names by which a statement could call a function (postgres_calls.h). Calls, types and a.b come from the
 * tree; operators come from the text. Parts that the tree contains as text are searched word by word. For a.b, the
 * sources in FROM are first searched for a column b. In doubt a name is added: an unnecessary name costs one lookup,
 * but a missing one could let a user-defined function run. */
#include "lib/db/postgres_calls.h"

#include <string.h>

enum { MAX_NAMES = 4096, MAX_OPERATOR = 63, MAX_NESTING = 16 };

/* --- lists -------------------------------------------------------------------------------------------------------- */

struct call_collector {
    struct postgres_calls *out;
    const struct sql_node *root;
    const char *sql;
    GPtrArray *sources; /* const struct sql_node *: the sources of all FROMs in the statement */
    GHashTable *seen;   /* names already added: "<list>name" or "<list>name\ntable" */
    bool too_many;
};

/* Returns true if the key is new, and records it. Takes ownership of `key`. */
static bool is_new(struct call_collector *c, char *key)
{
    if (g_hash_table_size(c->seen) >= MAX_NAMES) c->too_many = true;
    return g_hash_table_add(c->seen, key) && !c->too_many;
}

static void add(struct call_collector *c, enum calls_list list, const char *name)
{
    if (is_new(c, g_strdup_printf("%d%s", (int)list, name))) g_ptr_array_add(c->out->lists[list], g_strdup(name));
}

/* Returns the name in lower case unless it is quoted, like the server. Free with g_free. Changes only ASCII letters; in
 * single-byte encodings the server also changes others (all_folded). */
static char *server_name(const char *text, size_t len, char quote)
{
    return quote ? g_strndup(text, len) : g_ascii_strdown(text, (gssize)len);
}

static char *all_folded(const char *text, size_t len)
{
    return g_utf8_validate(text, (gssize)len, NULL) ? g_utf8_strdown(text, (gssize)len) : g_strndup(text, len);
}

bool postgres_same_name(const char *a, size_t a_len, char a_quote, const char *b, size_t b_len, char b_quote)
{
    if (!a || !b) return false;
    char *x = server_name(a, a_len, a_quote), *y = server_name(b, b_len, b_quote);
    bool same = strcmp(x, y) == 0;
    g_free(x);
    g_free(y);
    return same;
}

/* Adds the name as written and in lower case, because the tree does not always show whether it was quoted. */
static void add_name(struct call_collector *c, enum calls_list list, const char *text, size_t len)
{
    char *forms[] = {server_name(text, len, '"'), server_name(text, len, 0), all_folded(text, len)};
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        add(c, list, forms[i]);
        g_free(forms[i]);
    }
}

/* --- texts: operators, words -------------------------------------------------------------------------------------- */

static bool is_operator(char c)
{
    return c && strchr("+-*/<>=~!@#%^&|`?", c);
}

static bool in_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80);
}

/* Adds every part of a run of operator characters, because comments and the server's lexer determine where an operator
 * ends. */
static void add_operators(struct call_collector *c, const char *run, size_t len)
{
    for (size_t from = 0; from < len && !c->too_many; from++)
        for (size_t n = 1; n <= MIN(len - from, MAX_OPERATOR) && !c->too_many; n++) {
            char *part = g_strndup(run + from, n);
            add(c, CALLS_OPERATORS, strcmp(part, "!=") == 0 ? "<>" : part);
            g_free(part);
        }
}

/* Keywords that call operators. The server also looks up these operators by name. */
static const struct {
    const char *word;
    const char *operators[4];
} operator_words[] = {
    {"in", {"=", "<>"}},
    {"using", {"="}},
    {"natural", {"="}},
    {"case", {"="}},
    {"nullif", {"="}},
    {"distinct", {"=", "<>"}},
    {"between", {"<=", ">=", "<", ">"}},
    {"like", {"~~", "!~~"}},
    {"ilike", {"~~*", "!~~*"}},
    {"similar", {"~", "!~"}},
};

static void add_word_operators(struct call_collector *c, const char *word, size_t len)
{
    for (size_t i = 0; i < G_N_ELEMENTS(operator_words); i++) {
        if (!sql_name_is(word, len, operator_words[i].word, strlen(operator_words[i].word))) continue;
        for (size_t k = 0; k < G_N_ELEMENTS(operator_words[i].operators) && operator_words[i].operators[k]; k++)
            add(c, CALLS_OPERATORS, operator_words[i].operators[k]);
    }
}

/* Adds all operators in the text. Includes those in strings and comments, because only the server's lexer determines
 * where these end. */
static void add_text_operators(struct call_collector *c, const char *sql, size_t len)
{
    for (size_t i = 0; i < len && !c->too_many;) {
        size_t n = 0;
        bool (*of)(char) = is_operator(sql[i]) ? is_operator : in_word;
        while (i + n < len && of(sql[i + n])) n++;
        if (n && of == is_operator)
            add_operators(c, sql + i, n);
        else if (n)
            add_word_operators(c, sql + i, n);
        i += n ? n : 1;
    }
}

/* Adds all words of a part that the tree contains as text. */
static void add_words(struct call_collector *c, enum calls_list list, const char *text, size_t len)
{
    const char *end = text + len;
    while (text < end) {
        const char *close = *text == '"' ? memchr(text + 1, '"', (size_t)(end - text - 1)) : NULL;
        size_t n = 0;
        while (!close && text + n < end && in_word(text[n])) n++;
        if (close)
            add_name(c, list, text + 1, (size_t)(close - text - 1));
        else if (n)
            add_name(c, list, text, n);
        text = close ? close + 1 : text + (n ? n : 1);
    }
}

/* --- a.b ---------------------------------------------------------------------------------------------------------- */

static bool is_name(const struct sql_node *column, const char *text, size_t len, char quote)
{
    return postgres_same_name(column->text, column->text_len, column->quote, text, len, quote);
}

static bool names_hold(const struct sql_node *names, const struct sql_node *column)
{
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        if (is_name(column, names->kids[i]->text, names->kids[i]->text_len, names->kids[i]->quote)) return true;
    return false;
}

static void add_pair(struct call_collector *c, char *name, const char *table)
{
    if (is_new(c, g_strdup_printf("%d%s\n%s", CALLS_ATTRIBUTES, name, table))) {
        g_ptr_array_add(c->out->lists[CALLS_ATTRIBUTES], g_strdup(name));
        g_ptr_array_add(c->out->lists[CALLS_TABLES], g_strdup(table));
    }
    g_free(name);
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] & 0x80) return false;
    return true;
}

/* Adds b of a.b as a possible function. The server is asked whether `table` has a column b; with "" there is no such
 * table. */
static void add_attribute(struct call_collector *c, const struct sql_node *column, const char *table)
{
    add_pair(c, server_name(column->text, column->text_len, column->quote), table);
    if (!column->quote && !is_ascii(column->text, column->text_len))
        add_pair(c, all_folded(column->text, column->text_len), "");
}

static void append_identifier(GString *out, char *name)
{
    char **parts = g_strsplit(name, "\"", 0);
    char *doubled = g_strjoinv("\"\"", parts);
    g_string_append_printf(out, "%s\"%s\"", out->len ? "." : "", doubled);
    g_free(doubled);
    g_strfreev(parts);
    g_free(name);
}

static void add_attribute_of_table(struct call_collector *c, const struct sql_node *table,
                                   const struct sql_node *column)
{
    GString *path = g_string_new(NULL);
    if (table->text2) append_identifier(path, server_name(table->text2, table->text2_len, c->sql[table->start] == '"'));
    append_identifier(path, server_name(table->text, table->text_len, table->quote));
    add_attribute(c, column, path->str);
    g_string_free(path, TRUE);
}

static void ask_query(struct call_collector *c, const struct sql_node *query, const struct sql_node *column,
                      unsigned depth);

static void ask_table(struct call_collector *c, const struct sql_node *table, const struct sql_node *column,
                      unsigned depth)
{
    if (sql_kid(table, 0)) { /* its columns are renamed; the names of the other columns are unknown */
        if (!names_hold(sql_kid(table, 0), column)) add_attribute(c, column, "");
        return;
    }
    /* A CTE hides a table of the same name. Its scope is not checked, so both are searched. */
    for (const struct sql_node *n = table->text2 ? NULL : c->root; n; n = sql_walk(c->root, n)) {
        if (n->kind != SQL_CTE || !sql_name_is(n->text, n->text_len, table->text, table->text_len)) continue;
        if (names_hold(sql_kid(n, CTE_NAMES), column) || names_hold(sql_kid(n, CTE_ADDED), column)) continue;
        if (sql_kid(n, CTE_NAMES))
            add_attribute(c, column, "");
        else
            ask_query(c, sql_kid(n, CTE_QUERY), column, depth + 1);
    }
    add_attribute_of_table(c, table, column);
}

static void ask_source(struct call_collector *c, const struct sql_node *source, const struct sql_node *column,
                       unsigned depth)
{
    /* The column names of a function without a column list are unknown, so b of a.b is always added. For example, g.g
     * of generate_series(1, 2) AS g is a column. But g.g of json_array_elements('[1]') AS g means g(g). */
    const struct sql_node *names = source->kind == SQL_DERIVED     ? sql_kid(source, DERIVED_NAMES)
                                   : source->kind == SQL_FROM_CALL ? sql_kid(source, FROM_CALL_NAMES)
                                                                   : NULL;
    if (source->kind == SQL_TABLE)
        ask_table(c, source, column, depth);
    else if (source->kind == SQL_DERIVED && !names)
        ask_query(c, sql_kid(source, DERIVED_QUERY), column, depth + 1);
    else if (!names_hold(names, column))
        add_attribute(c, column, "");
}

static bool item_is(const struct sql_node *item, const struct sql_node *column)
{
    if (item->kind != SQL_ITEM) return false;
    if (item->text) return is_name(column, item->text, item->text_len, item->quote);
    const struct sql_node *x = sql_kid(item, 0);
    if (!sql_is(x, SQL_COLUMN) && !sql_is(x, SQL_CALL)) return false;
    return is_name(column, x->text, x->text_len, x->quote);
}

/* Returns the source of a SELECT * with only one source, otherwise NULL. */
static const struct sql_node *star_source(const struct sql_node *select)
{
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS), *from = sql_kid(select, SELECT_FROM);
    bool star = select->flags & SQL_F_TABLE;
    for (uint32_t i = 0; items && i < items->n_kids; i++) star |= items->kids[i]->kind == SQL_STAR;
    const struct sql_node *source = star && from && from->n_kids == 1 ? from->kids[0] : NULL;
    return source && source->kind != SQL_JOIN && source->kind != SQL_FROM_PAREN ? source : NULL;
}

static void ask_select(struct call_collector *c, const struct sql_node *select, const struct sql_node *column,
                       unsigned depth)
{
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS), *source = star_source(select);
    for (uint32_t i = 0; items && i < items->n_kids; i++)
        if (item_is(items->kids[i], column)) return;
    if (source)
        ask_source(c, source, column, depth + 1);
    else
        add_attribute(c, column, "");
}

/* True if the column is one of column1, column2, ..., up to the width of a row: these are the columns of VALUES. */
static bool values_hold(const struct sql_node *values, const struct sql_node *column)
{
    static const char prefix[] = "column";
    enum { MAX_DIGITS = 9 };
    const struct sql_node *row = sql_kid(values, 0);
    char *name = server_name(column->text, column->text_len, column->quote);
    const char *digits = g_str_has_prefix(name, prefix) ? name + strlen(prefix) : "";
    size_t n = strspn(digits, "0123456789");
    bool is_number = n > 0 && n <= MAX_DIGITS && !digits[n] && digits[0] != '0';
    bool holds = is_number && row && g_ascii_strtoull(digits, NULL, 10) <= row->n_kids;
    g_free(name);
    return holds;
}

/* Adds b of a.b unless it is a column of this query. The first SELECT of a query names its columns. */
static void ask_query(struct call_collector *c, const struct sql_node *query, const struct sql_node *column,
                      unsigned depth)
{
    const struct sql_node *body = query;
    while (sql_is(body, SQL_QUERY) || sql_is(body, SQL_COMPOUND))
        body = sql_kid(body, body->kind == SQL_QUERY ? QUERY_BODY : 0);
    if (sql_is(body, SQL_SELECT) && depth < MAX_NESTING)
        ask_select(c, body, column, depth);
    else if (!sql_is(body, SQL_VALUES) || !values_hold(body, column))
        add_attribute(c, column, "");
}

static bool goes_by(const struct sql_node *source, const struct sql_node *column)
{
    const char *name = source->alias;
    size_t len = source->alias_len;
    const struct sql_node *named = source->kind == SQL_FROM_CALL ? sql_kid(source, FROM_CALL_CALL) : source;
    if (!name && named && (named->kind == SQL_TABLE || named->kind == SQL_CALL)) {
        name = named->text;
        len = named->text_len;
    }
    return name && sql_name_is(name, len, column->text2, column->text2_len);
}

/* Adds b of a.b unless it is a column of every source named a in the whole statement. */
static void ask_column(struct call_collector *c, const struct sql_node *column)
{
    bool found = false;
    for (guint i = 0; i < c->sources->len && !c->too_many; i++) {
        const struct sql_node *source = c->sources->pdata[i];
        if (!goes_by(source, column)) continue;
        found = true;
        if (source->kind != SQL_USING || !names_hold(source, column)) ask_source(c, source, column, 0);
    }
    if (!found) add_attribute(c, column, "");
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

static void collect_call(struct call_collector *c, const struct sql_node *call)
{
    static const char ours[] = "pg_catalog";
    bool built_in = call->text2 && call->text2_len == strlen(ours) && memcmp(call->text2, ours, strlen(ours)) == 0;
    add_name(c, built_in ? CALLS_IN_CATALOG : CALLS_NAMES, call->text, call->text_len);
}

static void collect_node(struct call_collector *c, const struct sql_node *n)
{
    switch ((enum sql_kind)n->kind) {
    case SQL_CALL: collect_call(c, n); break;
    case SQL_COLUMN:
        if (n->text2) ask_column(c, n);
        break;
    case SQL_CAST:
    case SQL_TYPED:
        c->out->casts = true;
        add_words(c, CALLS_TYPES, n->text, n->text_len);
        break;
    case SQL_FRAME:
        c->out->casts = true;
        add_words(c, CALLS_TYPES, n->text, n->text_len);
        add_words(c, CALLS_NAMES, n->text, n->text_len);
        break;
    case SQL_NAME:
        if (n->text2) add_words(c, CALLS_TYPES, n->text2, n->text2_len);
        break;
    default: break;
    }
}

static bool is_source(const struct sql_node *n)
{
    return n->kind == SQL_TABLE || n->kind == SQL_DERIVED || n->kind == SQL_FROM_CALL || n->kind == SQL_FROM_PAREN ||
           (n->kind == SQL_USING && n->alias);
}

static void begin(struct call_collector *c, struct postgres_calls *out)
{
    for (unsigned i = 0; i < CALLS_LISTS; i++) out->lists[i] = g_ptr_array_new_with_free_func(g_free);
    c->out = out;
    c->sources = g_ptr_array_new();
    c->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static enum err_code end(struct call_collector *c, struct err *err)
{
    g_ptr_array_free(c->sources, TRUE);
    g_hash_table_destroy(c->seen);
    return c->too_many ? err_set(err, ERR_LIMIT_COUNT, "the statement has more than %d distinct names", MAX_NAMES)
                       : ERR_OK;
}

enum err_code postgres_calls_of(const struct sql_stmt *stmt, struct postgres_calls *out, struct err *err)
{
    struct call_collector c = {.root = stmt->root, .sql = stmt->text};
    begin(&c, out);
    add_text_operators(&c, stmt->text, stmt->len);
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (is_source(n)) g_ptr_array_add(c.sources, (gpointer)n);
    for (const struct sql_node *n = stmt->root; n && !c.too_many; n = sql_walk(stmt->root, n)) collect_node(&c, n);
    return end(&c, err);
}

enum err_code postgres_calls_of_text(const char *sql, size_t len, struct postgres_calls *out, struct err *err)
{
    struct call_collector c = {.sql = sql};
    begin(&c, out);
    out->casts = true;
    add_text_operators(&c, sql, len);
    add_words(&c, CALLS_NAMES, sql, len);
    add_words(&c, CALLS_TYPES, sql, len);
    return end(&c, err);
}

void postgres_calls_clear(struct postgres_calls *calls)
{
    for (unsigned i = 0; i < CALLS_LISTS; i++)
        if (calls->lists[i]) g_ptr_array_free(calls->lists[i], TRUE);
    memset(calls, 0, sizeof *calls);
}
