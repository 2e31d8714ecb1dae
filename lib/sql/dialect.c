/* Two tables of functions, one entry for each kind of node. A function of NOT_SQLITE finds a form that SQLite lacks,
 * the byte at which SQLite's parser stops, and a message. A function of NOT_MARIADB finds a form that MariaDB lacks,
 * its place and a message. */
#include "lib/sql/dialect.h"

#include <string.h>

enum { MOST = 16, NOWHERE = -1 };

/* Returns the offset at which SQLite stops at this node, or NOWHERE if SQLite has the form. `*message` describes the
 * form. */
typedef int64_t lacks_fn(const struct sql_stmt *stmt, const struct sql_node *n, const char **message);

/* ---- places in the text ---------------------------------------------------------------------------------------- */

/* Returns the offset of the next token from `at` on, after blanks and comments. */
static int64_t next_token(const struct sql_stmt *stmt, uint32_t at)
{
    const char *text = stmt->text, *end;
    for (;;) {
        at += (uint32_t)strspn(text + at, " \t\n\v\f\r");
        if (strncmp(text + at, "--", 2) == 0)
            at += (uint32_t)strcspn(text + at, "\n");
        else if (strncmp(text + at, "/*", 2) == 0 && (end = strstr(text + at + 2, "*/")))
            at = (uint32_t)(end + 2 - text);
        else
            return at;
    }
}

static int64_t after(const struct sql_stmt *stmt, const struct sql_node *n)
{
    return n ? next_token(stmt, n->end) : NOWHERE;
}

/* Returns the offset of the token after the word at `at`. */
static int64_t after_word(const struct sql_stmt *stmt, uint32_t at)
{
    while ((stmt->text[at] | 32) >= 'a' && (stmt->text[at] | 32) <= 'z') at++;
    return next_token(stmt, at);
}

/* Returns the offset of the parenthesis that opens before a node. */
static int64_t paren_before(const struct sql_stmt *stmt, const struct sql_node *n)
{
    int64_t at = n->start;
    while (at > 0 && stmt->text[at] != '(') at--;
    return at;
}

/* True if an entry of the select list begins with this node. SQLite may then read the word after its operand as an
 * alias. */
static bool begins_item(const struct sql_node *n)
{
    while (n->parent && n->parent->start == n->start && !(n->flags & SQL_F_PAREN) && n->kind != SQL_ITEM) n = n->parent;
    return n->kind == SQL_ITEM;
}

/* True if an entry of the select list ends with this node. */
static bool ends_item(const struct sql_node *n)
{
    while (n->parent && n->parent->end == n->end && !(n->flags & SQL_F_PAREN) && n->kind != SQL_ITEM) n = n->parent;
    return n->kind == SQL_ITEM;
}

/* Returns the offset at which SQLite stops at a PostgreSQL word. The word is at `at`, after the operand `x`. If SQLite
 * reads the word as an alias, it stops at the token after it. */
static int64_t word_after(const struct sql_stmt *stmt, const struct sql_node *x, int64_t at)
{
    return begins_item(x) ? after_word(stmt, (uint32_t)at) : at;
}

static int64_t say(const char **message, const char *text, int64_t at)
{
    *message = text;
    return at;
}

/* ---- expressions ----------------------------------------------------------------------------------------------- */

static int64_t typed(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *string = sql_kid(n, 0);
    if (!sql_is(string, SQL_LITERAL) || string->op != SQL_LIT_STRING)
        return say(message, "INTERVAL is MariaDB syntax; in SQLite use date(x, '+1 day')", string->start);
    bool alone = !memchr(n->text, ' ', n->text_len) && !n->text2;
    if (ends_item(n) && alone) return NOWHERE; /* SQLite reads a name with an alias */
    return say(message, "a type before a string is PostgreSQL syntax; in SQLite write a date as a plain string",
               begins_item(n) ? after(stmt, string) : string->start);
}

static int64_t cast(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *x = sql_kid(n, 0);
    if (!(n->flags & SQL_F_COLON) && (stmt->text[n->start] | 32) == 'b')
        return say(message, "BINARY x is MariaDB syntax; in SQLite use x COLLATE BINARY", x->start);
    bool name = sql_is(x, SQL_PARAM) && *x->text == '$'; /* SQLite reads $1::int as one parameter */
    if (!(n->flags & SQL_F_COLON) || name) return NOWHERE;
    return say(message, "x::type is PostgreSQL syntax; in SQLite use CAST(x AS type)", after(stmt, sql_kid(n, 0)));
}

/* Finds ANY and ALL. SQLite stops at ALL. It reads ANY as a function, and stops at a query as its argument. */
static int64_t quantified(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t op = after(stmt, sql_kid(n, 0)), word = op;
    while (word < n->end && (stmt->text[word] | 32) != 'a' && (stmt->text[word] | 32) != 's') word++;
    bool query = sql_is(sql_kid(n, 1), SQL_SUBQUERY);
    if (!(n->flags & SQL_F_ALL) && !query) return NOWHERE;
    return say(message, "SQLite does not support ANY or ALL of a query; use EXISTS, IN, or MIN and MAX",
               n->flags & SQL_F_ALL ? word : sql_kid(n, 1)->start);
}

static int64_t like(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t at = after(stmt, sql_kid(n, LIKE_VALUE));
    if (n->flags & SQL_F_NOT) at = after_word(stmt, (uint32_t)at);
    bool rlike = n->op == SQL_OP_REGEXP && (stmt->text[at + 1] | 32) == 'l';
    if (n->op != SQL_OP_ILIKE && n->op != SQL_OP_SIMILAR && !rlike) return NOWHERE;
    if (!(n->flags & SQL_F_NOT)) at = word_after(stmt, sql_kid(n, LIKE_VALUE), at);
    return say(message,
               rlike                   ? "RLIKE is MariaDB syntax; in SQLite use LIKE or GLOB"
               : n->op == SQL_OP_ILIKE ? "ILIKE is PostgreSQL syntax; in SQLite use LIKE, which ignores case"
                                       : "SIMILAR TO is PostgreSQL syntax; in SQLite use LIKE or GLOB",
               at);
}

/* Returns the length of the prefix that SQLite reads as one of its own operators before it stops: < of <@, & of &&. */
static uint32_t own_part(const char *op)
{
    static const char *const OWN[] = {"<<", ">>", "<=", ">=", "<>", "<", ">", "&", "|", "*", "%", "=", "-"};
    for (unsigned k = 0; k < sizeof OWN / sizeof *OWN; k++)
        if (strncmp(op, OWN[k], strlen(OWN[k])) == 0) return (uint32_t)strlen(OWN[k]);
    return 0;
}

static bool is_foreign_op(unsigned op)
{
    return op == SQL_OP_POW || op == SQL_OP_BITXOR || op == SQL_OP_OTHER ||
           (op >= SQL_OP_REMATCH && op <= SQL_OP_NIREMATCH) || (op >= SQL_OP_HASH_ARROW && op <= SQL_OP_AT_ZONE);
}

static int64_t binary(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t at = after(stmt, sql_kid(n, 0));
    bool word = (stmt->text[at] | 32) >= 'a' && (stmt->text[at] | 32) <= 'z';
    bool spaceship = n->op == SQL_OP_IS_NOT_DISTINCT && n->flags & SQL_F_EQ2;
    bool foreign = is_foreign_op(n->op) || n->flags & SQL_F_OPERATOR;
    if (!foreign && !spaceship && !(word && n->op == SQL_OP_MOD)) return NOWHERE;
    at = word ? word_after(stmt, sql_kid(n, 0), at) : at + own_part(stmt->text + at);
    return say(message, "SQLite does not support this operator", at);
}

static int64_t unary(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->op == SQL_OP_NOT && stmt->text[n->start] == '!')
        return say(message, "! is MariaDB syntax; in SQLite use NOT", n->start);
    if (n->op == SQL_OP_VARIADIC) return say(message, "VARIADIC is PostgreSQL syntax", sql_kid(n, 0)->start);
    return n->op == SQL_OP_OTHER ? say(message, "SQLite does not support this operator", n->start) : NOWHERE;
}

static int64_t array(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *query = n->flags & SQL_F_SUBQUERY ? sql_kid(sql_kid(n, 0), 0) : NULL;
    /* SQLite reads ARRAY [x] as a name with an alias */
    if (n->flags & SQL_F_NESTED || (!query && ends_item(n))) return NOWHERE;
    return say(message, "SQLite does not support arrays", query ? query->start : after_word(stmt, n->start));
}

static int64_t subscript(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (begins_item(n)) return ends_item(n) ? NOWHERE : say(message, "SQLite does not support arrays", after(stmt, n));
    return say(message, "SQLite does not support arrays", after(stmt, sql_kid(n, 0)));
}

static int64_t field(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    return say(message, "a field of a value is PostgreSQL syntax; SQLite has only columns", after(stmt, sql_kid(n, 0)));
}

static int64_t star(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    if (n->text2) return say(message, "SQLite does not allow a schema before t.*", n->end - 1);
    if (sql_is(n->parent, SQL_ITEMS)) return NOWHERE;
    return say(message, "SQLite allows t.* only in the select list; use count(*) to count rows", n->end - 1);
}

static int64_t between(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    if (!(n->flags & SQL_F_SYMMETRIC)) return NOWHERE;
    return say(message, "BETWEEN SYMMETRIC is PostgreSQL syntax", sql_kid(n, BETWEEN_LOW)->start);
}

static int64_t collate(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const char *dot = n->text2 ? strchr(stmt->text + sql_kid(n, 0)->end, '.') : NULL;
    return dot ? say(message, "SQLite does not allow a schema before a collation", dot - stmt->text) : NOWHERE;
}

static int64_t extract(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t open = after_word(stmt, n->start);
    return say(message, "EXTRACT is PostgreSQL syntax; in SQLite use strftime('%Y', x)",
               after_word(stmt, (uint32_t)next_token(stmt, (uint32_t)open + 1)));
}

static int64_t literal(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    bool prefixed = n->op == SQL_LIT_BITS || (n->op == SQL_LIT_STRING && n->quote == 'E');
    bool dollars = n->op == SQL_LIT_STRING && n->quote == '$';
    if (!prefixed && !dollars) return NOWHERE;
    const char *quote = strchr(stmt->text + n->start, '\'');
    return say(message, "strings and bits of this form are PostgreSQL syntax; in SQLite write 'text' and x'00'",
               prefixed && quote && n->op == SQL_LIT_STRING ? quote - stmt->text : n->start);
}

/* Finds words between arguments, as in f(x FROM y FOR z). POSITION(x IN y) is allowed: SQLite reads an IN. */
static int64_t args(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    bool search = n->text && strstr(n->text, ") AGAINST ("); /* call() reports it */
    if (!n->text || search || strncmp(n->text, "? IN", 4) == 0) return NOWHERE;
    if (strcmp(n->text, SQL_SEPARATOR) == 0) {
        const struct sql_node *order = sql_kid(n->parent, CALL_ORDER);
        return say(message, "SEPARATOR is MariaDB syntax; in SQLite use group_concat(x, ',')",
                   after(stmt, order ? order : n->kids[n->n_kids - 2]));
    }
    return say(message, "words between arguments are PostgreSQL syntax; in SQLite use commas",
               *n->text == '?' ? after(stmt, sql_kid(n, 0)) : after_word(stmt, n->start));
}

static bool rows_from(const struct sql_node *call)
{
    return sql_is(sql_kid(sql_kid(call, CALL_ARGS), 0), SQL_FROM_CALL);
}

/* Returns the offset after a node's name. If the text of the node was copied, returns the end of the node. */
static uint32_t name_end(const struct sql_stmt *stmt, const struct sql_node *n)
{
    const char *end = n->text + n->text_len, *text = stmt->text;
    if (end < text || end > text + stmt->len) return n->end;
    return (uint32_t)(end - text) + (n->quote ? 1 : 0);
}

static int64_t call(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *order = sql_kid(n, CALL_ORDER);
    if (n->flags & SQL_F_WITHIN) return say(message, "WITHIN GROUP is PostgreSQL syntax", paren_before(stmt, order));
    if (n->text2)
        return say(message, "SQLite does not allow a schema before a function", next_token(stmt, name_end(stmt, n)));
    if (sql_name_is(n->text, n->text_len, "MATCH", 5) && sql_kid(n, CALL_ARGS)->text)
        return say(message, "MATCH ... AGAINST is MariaDB syntax; in SQLite use x MATCH 'words'", n->start);
    bool words = sql_name_is(n->text, n->text_len, "GROUPING SETS", 13) || rows_from(n);
    return words ? say(message, "ROWS FROM and GROUPING SETS are PostgreSQL syntax", after_word(stmt, n->start))
                 : NOWHERE;
}

/* ---- clauses --------------------------------------------------------------------------------------------------- */

static int64_t query(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    const struct sql_node *order = sql_kid(n, QUERY_ORDER), *limit = sql_kid(n, QUERY_LIMIT);
    if (sql_is(sql_kid(n, QUERY_BODY), SQL_VALUES) && (order || limit))
        return say(message, "SQLite does not allow ORDER BY or LIMIT after VALUES",
                   order ? order->start : limit->start);
    bool arm = sql_is(n->parent, SQL_COMPOUND) || sql_is(n->parent, SQL_QUERY) || !n->parent;
    if (!arm || !(n->flags & SQL_F_PAREN)) return NOWHERE;
    return say(message, "SQLite does not allow parentheses around the SELECTs of a set operation", n->start);
}

static int64_t compound(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->op != SQL_INTERSECT_ALL && n->op != SQL_EXCEPT_ALL) return NOWHERE;
    return say(message, "INTERSECT ALL and EXCEPT ALL are PostgreSQL syntax",
               after_word(stmt, (uint32_t)after(stmt, sql_kid(n, 0))));
}

/* True for a SELECT without columns: SELECT FROM t. */
static bool has_no_items(const struct sql_node *n)
{
    const struct sql_node *items = sql_kid(n, SELECT_ITEMS);
    return items && !items->n_kids && sql_kid(n, SELECT_FROM);
}

static int64_t select_(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (has_no_items(n)) return say(message, "a SELECT without columns", sql_kid(n, SELECT_FROM)->start);
    (void)stmt;
    return n->flags & SQL_F_TABLE
               ? say(message, "TABLE t is PostgreSQL syntax; in SQLite use SELECT * FROM t", n->start)
               : NOWHERE;
}

static int64_t group(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *last = n->n_kids ? n->kids[n->n_kids - 1] : NULL;
    return n->flags & SQL_F_ROLLUP ? say(message, "WITH ROLLUP is MariaDB syntax", after(stmt, last)) : NOWHERE;
}

static int64_t distinct(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    return n->n_kids ? say(message, "DISTINCT ON is PostgreSQL syntax", after_word(stmt, n->start)) : NOWHERE;
}

static int64_t table(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->text3 && (*n->text3 | 32) == 't') {
        int64_t at = n->text3 - stmt->text;
        return say(message, "TABLESAMPLE is PostgreSQL syntax", n->alias ? at : after_word(stmt, (uint32_t)at));
    }
    bool indexed = n->text3 && (sql_name_is(n->text3, 7, "INDEXED", 7) || (*n->text3 | 32) == 'n');
    int64_t behind = next_token(stmt, name_end(stmt, n));
    if (n->text3 && !indexed)
        return say(message, "a hint or PARTITION after a table is MariaDB syntax", n->text3 - stmt->text);
    if (n->flags & SQL_F_STAR) return say(message, "SQLite does not support table inheritance", behind);
    if (!(n->flags & SQL_F_ONLY) || !n->alias) return NOWHERE; /* SQLite reads ONLY t as a table with an alias */
    return say(message, "SQLite does not support table inheritance", behind);
}

/* Finds names of columns, and their types, after the alias of a table. */
static int64_t names(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *of = n->parent;
    if (sql_is(of, SQL_FROM_CALL) && of->text) return NOWHERE; /* JSON_TABLE */
    if (!sql_is(of, SQL_TABLE) && !sql_is(of, SQL_DERIVED) && !sql_is(of, SQL_FROM_CALL)) return NOWHERE;
    return say(message, "column names after an alias are PostgreSQL syntax; in SQLite use WITH t(a, b) AS (...)",
               paren_before(stmt, n));
}

static int64_t using(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (!n->alias) return NOWHERE;
    int64_t close = after(stmt, n->kids[n->n_kids - 1]);
    return say(message, "an alias of a join is PostgreSQL syntax", next_token(stmt, (uint32_t)close + 1));
}

static int64_t from_call(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *call = sql_kid(n, FROM_CALL_CALL);
    if (n->text) return say(message, "JSON_TABLE is MariaDB syntax; in SQLite use json_each(x)", n->text - stmt->text);
    if (!(n->flags & SQL_F_LATERAL) || rows_from(call)) return NOWHERE;
    return say(message, "LATERAL is PostgreSQL syntax", next_token(stmt, name_end(stmt, call)));
}

static int64_t derived(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    bool lateral = n->flags & SQL_F_LATERAL;
    return lateral ? say(message, "LATERAL is PostgreSQL syntax", sql_kid(n, DERIVED_QUERY)->start) : NOWHERE;
}

static int64_t limit(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->flags & SQL_F_FETCH) return say(message, "FETCH FIRST is PostgreSQL syntax; in SQLite use LIMIT", n->start);
    if (sql_kid(n, LIMIT_COUNT)) return NOWHERE;
    return say(message, "LIMIT needs a number in SQLite; use -1 for no limit", after_word(stmt, n->start));
}

static int64_t term(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    return n->text ? say(message, "ORDER BY x USING is PostgreSQL syntax", after(stmt, sql_kid(n, 0))) : NOWHERE;
}

static int64_t cte(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    const struct sql_node *added = sql_kid(n, CTE_ADDED);
    return added ? say(message, "SEARCH and CYCLE are PostgreSQL syntax", added->start) : NOWHERE;
}

/* ---- MariaDB ---------------------------------------------------------------------------------------------------- */

static int64_t maria_cast(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->flags & SQL_F_COLON)
        return say(message, "x::type is PostgreSQL syntax; in MariaDB use CAST(x AS type)", after(stmt, sql_kid(n, 0)));
    static const char *const types[][2] = {
        {"TEXT", "CAST(x AS TEXT) is not MariaDB syntax; use CAST(x AS CHAR)"},
        {"VARCHAR", "CAST(x AS VARCHAR) is not MariaDB syntax; use CAST(x AS CHAR)"},
        {"REAL", "CAST(x AS REAL) is not MariaDB syntax; use CAST(x AS DOUBLE)"},
        {"NUMERIC", "CAST(x AS NUMERIC) is not MariaDB syntax; use CAST(x AS DECIMAL)"},
        {"BIGINT", "CAST(x AS BIGINT) is not MariaDB syntax; use CAST(x AS SIGNED)"}};
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++) {
        size_t len = strlen(types[k][0]);
        if (n->text_len < len || !sql_name_is(n->text, len, types[k][0], len)) continue;
        return say(message, types[k][1], n->start);
    }
    return NOWHERE;
}

static int64_t maria_like(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t at = after(stmt, sql_kid(n, LIKE_VALUE));
    if (n->op == SQL_OP_ILIKE)
        return say(message, "ILIKE is PostgreSQL syntax; in MariaDB use LIKE, which follows the collation", at);
    if (n->op == SQL_OP_SIMILAR) return say(message, "SIMILAR TO is PostgreSQL syntax; in MariaDB use REGEXP", at);
    return n->op == SQL_OP_GLOB ? say(message, "GLOB is SQLite syntax; in MariaDB use LIKE or REGEXP", at) : NOWHERE;
}

static int64_t maria_binary(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    int64_t at = after(stmt, sql_kid(n, 0));
    bool schema = n->flags & SQL_F_OPERATOR || (n->op == SQL_OP_OTHER && n->text_len > 8 && (*n->text | 32) == 'o');
    if (schema) return say(message, "OPERATOR(...) is PostgreSQL syntax; in MariaDB write the operator alone", at);
    bool distinct = n->op == SQL_OP_IS_DISTINCT || (n->op == SQL_OP_IS_NOT_DISTINCT && !(n->flags & SQL_F_EQ2));
    if (distinct) return say(message, "IS DISTINCT FROM is PostgreSQL syntax; in MariaDB use NOT a <=> b", at);
    if (n->op == SQL_OP_IS || n->op == SQL_OP_IS_NOT) {
        const struct sql_node *right = sql_kid(n, 1);
        bool truth = sql_is(right, SQL_LITERAL) && right->op >= SQL_LIT_NULL && right->op <= SQL_LIT_FALSE;
        return truth ? NOWHERE : say(message, "IS between two values is SQLite syntax; in MariaDB use a <=> b", at);
    }
    if (n->op == SQL_OP_EQ && n->flags & SQL_F_EQ2) return say(message, "== is SQLite syntax; in MariaDB use =", at);
    if (n->op == SQL_OP_ARROW || n->op == SQL_OP_ARROW2)
        return say(message, "MariaDB does not support ->; use JSON_EXTRACT or JSON_VALUE", at);
    bool regexp = n->op >= SQL_OP_REMATCH && n->op <= SQL_OP_NIREMATCH;
    return regexp ? say(message, "~ is PostgreSQL syntax; in MariaDB use REGEXP", at) : NOWHERE;
}

static int64_t maria_unary(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->op != SQL_OP_ISNULL && n->op != SQL_OP_NOTNULL) return NOWHERE;
    int64_t at = after(stmt, sql_kid(n, 0));
    return say(message, "MariaDB does not support x ISNULL and x NOTNULL; use x IS NULL and x IS NOT NULL", at);
}

static int64_t maria_call(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    const struct sql_node *filter = sql_kid(n, CALL_FILTER);
    (void)stmt;
    return filter ? say(message, "FILTER is not MariaDB syntax; use SUM(CASE WHEN ... THEN ... END)", filter->start)
                  : NOWHERE;
}

static int64_t maria_term(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    bool nulls = n->flags & (SQL_F_NULLS_FIRST | SQL_F_NULLS_LAST);
    return nulls ? say(message, "NULLS FIRST and LAST are not MariaDB syntax; ORDER BY x IS NULL, x puts them last",
                       n->start)
                 : NOWHERE;
}

static int64_t maria_join(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    if (n->op != SQL_JOIN_FULL_OUTER) return NOWHERE;
    return say(message, "MariaDB does not support FULL JOIN; use a LEFT JOIN UNION a RIGHT JOIN",
               after(stmt, sql_kid(n, 0)));
}

static int64_t maria_limit(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    return sql_kid(n, LIMIT_COUNT) ? NOWHERE : say(message, "OFFSET needs a LIMIT before it in MariaDB", n->start);
}

static int64_t maria_distinct(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    return n->n_kids ? say(message, "DISTINCT ON is PostgreSQL syntax", n->start) : NOWHERE;
}

static int64_t maria_array(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    return say(message, "MariaDB does not support arrays", n->start);
}

static int64_t maria_derived(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    if (n->flags & SQL_F_LATERAL) return say(message, "LATERAL is PostgreSQL syntax", n->start);
    return n->alias ? NOWHERE : say(message, "a subquery in FROM needs an alias in MariaDB", n->start);
}

static int64_t maria_select(const struct sql_stmt *stmt, const struct sql_node *n, const char **message)
{
    (void)stmt;
    return has_no_items(n) ? say(message, "a SELECT without columns", sql_kid(n, SELECT_FROM)->start) : NOWHERE;
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

static lacks_fn *const NOT_SQLITE[SQL_KIND_COUNT] = {
    [SQL_TYPED] = typed,       [SQL_CAST] = cast,           [SQL_QUANTIFIED] = quantified,
    [SQL_LIKE] = like,         [SQL_BINARY] = binary,       [SQL_UNARY] = unary,
    [SQL_ARRAY] = array,       [SQL_SUBSCRIPT] = subscript, [SQL_FIELD] = field,
    [SQL_STAR] = star,         [SQL_EXTRACT] = extract,     [SQL_LITERAL] = literal,
    [SQL_ARGS] = args,         [SQL_CALL] = call,           [SQL_QUERY] = query,
    [SQL_COMPOUND] = compound, [SQL_SELECT] = select_,      [SQL_DISTINCT] = distinct,
    [SQL_TABLE] = table,       [SQL_DERIVED] = derived,     [SQL_LIMIT] = limit,
    [SQL_NAMES] = names,       [SQL_USING] = using,         [SQL_FROM_CALL] = from_call,
    [SQL_BETWEEN] = between,   [SQL_COLLATE] = collate,     [SQL_TERM] = term,
    [SQL_CTE] = cte,           [SQL_GROUP] = group,
};

static lacks_fn *const NOT_MARIADB[SQL_KIND_COUNT] = {
    [SQL_CAST] = maria_cast,     [SQL_LIKE] = maria_like,       [SQL_BINARY] = maria_binary,
    [SQL_UNARY] = maria_unary,   [SQL_CALL] = maria_call,       [SQL_TERM] = maria_term,
    [SQL_JOIN] = maria_join,     [SQL_LIMIT] = maria_limit,     [SQL_DISTINCT] = maria_distinct,
    [SQL_ARRAY] = maria_array,   [SQL_SUBSCRIPT] = maria_array, [SQL_DERIVED] = maria_derived,
    [SQL_SELECT] = maria_select,
};

/* Returns the end of the token at `at`: a word, or one character. */
static uint32_t token_end(const struct sql_stmt *stmt, uint32_t at)
{
    uint32_t end = at;
    while (end < stmt->len && (stmt->text[end] | 32) >= 'a' && (stmt->text[end] | 32) <= 'z') end++;
    return end > at || at >= stmt->len ? end : at + 1;
}

/* The forms found, in order of the text; only these become diagnostics. */
struct found {
    struct place {
        uint32_t start;
        const char *message;
    } places[MOST + 1];
    uint32_t n;
};

static void note(struct found *found, uint32_t start, const char *message)
{
    uint32_t at = found->n;
    for (; at > 0 && found->places[at - 1].start > start; at--) found->places[at] = found->places[at - 1];
    found->places[at] = (struct place){start, message};
    if (found->n < MOST) found->n++;
}

static struct sql_diag *as_diags(struct arena *arena, const struct sql_stmt *stmt, const struct found *found)
{
    struct sql_diag *list = NULL;
    for (uint32_t i = found->n; i-- > 0;) {
        struct sql_diag *diag = arena_new(arena, struct sql_diag);
        if (!diag) return NULL;
        const struct place *place = &found->places[i];
        *diag = (struct sql_diag){.code = ERR_SYNTAX, .start = place->start, .message = place->message, .next = list};
        diag->end = token_end(stmt, diag->start);
        sql_diag_locate(stmt->text, diag);
        list = diag;
    }
    return list;
}

static struct sql_diag *lacking(struct arena *arena, const struct sql_stmt *stmt, lacks_fn *const *lacks)
{
    struct found found = {.n = 0};
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) {
        const char *message = NULL;
        int64_t at = lacks[n->kind] ? lacks[n->kind](stmt, n, &message) : NOWHERE;
        if (at >= 0 && at <= (int64_t)stmt->len) note(&found, (uint32_t)at, message);
    }
    return as_diags(arena, stmt, &found);
}

struct sql_diag *sql_not_sqlite(struct arena *arena, const struct sql_stmt *stmt)
{
    return lacking(arena, stmt, NOT_SQLITE);
}

struct sql_diag *sql_not_mariadb(struct arena *arena, const struct sql_stmt *stmt)
{
    return lacking(arena, stmt, NOT_MARIADB);
}
