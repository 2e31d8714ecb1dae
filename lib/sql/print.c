/* The printer: converts a tree to SQL that parses to an equal tree.
 *
 * Parentheses of the original are printed again. More are added if a rewrite has put an operator of lower precedence
 * under one of higher precedence. Names keep their quotes; a name that a rewrite introduced is quoted if needed. A
 * table has one function for each kind of node. */
#include "lib/sql/sql.h"

#include <string.h>

struct out {
    struct arena *arena;
    char *text;
    size_t len, cap;
    bool full;
};

/* ---- output ---------------------------------------------------------------------------------------------------- */

static bool room(struct out *o, size_t more)
{
    if (o->full) return false;
    if (o->len + more < o->cap) return true;
    size_t cap = o->cap ? o->cap * 2 : 256;
    while (cap <= o->len + more) cap *= 2;
    char *text = arena_alloc(o->arena, cap);
    if (!text) {
        o->full = true;
        return false;
    }
    if (o->len) memcpy(text, o->text, o->len);
    o->text = text;
    o->cap = cap;
    return true;
}

static void put_n(struct out *o, const char *text, size_t len)
{
    if (!text || !len || !room(o, len + 1)) return;
    if ((*text == '-' || *text == '~') && o->len && o->text[o->len - 1] == *text)
        o->text[o->len++] = ' '; /* two minus signs would be a comment, and two tildes one operator */
    memcpy(o->text + o->len, text, len);
    o->len += len;
}

static void put(struct out *o, const char *text)
{
    put_n(o, text, strlen(text));
}

static void put_quoted(struct out *o, const char *text, size_t len, char open, char close)
{
    put_n(o, &open, 1);
    for (size_t i = 0; i < len; i++) {
        if (!room(o, 2)) return;
        o->text[o->len++] = text[i];
        if (text[i] == close) o->text[o->len++] = close;
    }
    if (room(o, 1)) o->text[o->len++] = close;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* Words that no rule of the grammar takes as a name, by their first letter. */
enum { LETTERS = 26, MOST_OF_ONE = 7 };
static const char *const RESERVED[LETTERS][MOST_OF_ONE + 1] = {
    ['a' - 'a'] = {"ADD", "ALL", "ALTER", "AND", "AS", "AUTOINCREMENT"},
    ['b' - 'a'] = {"BETWEEN"},
    ['c' - 'a'] = {"CASE", "CHECK", "COLLATE", "COMMIT", "CONSTRAINT", "CREATE"},
    ['d' - 'a'] = {"DEFAULT", "DEFERRABLE", "DELETE", "DISTINCT", "DROP"},
    ['e' - 'a'] = {"ELSE", "ESCAPE", "EXCEPT", "EXISTS"},
    ['f' - 'a'] = {"FOREIGN", "FROM"},
    ['g' - 'a'] = {"GROUP"},
    ['h' - 'a'] = {"HAVING"},
    ['i' - 'a'] = {"IN", "INDEX", "INSERT", "INTERSECT", "INTO", "IS", "ISNULL"},
    ['j' - 'a'] = {"JOIN"},
    ['l' - 'a'] = {"LIMIT"},
    ['n' - 'a'] = {"NOT", "NOTHING", "NOTNULL", "NULL"},
    ['o' - 'a'] = {"ON", "OR", "ORDER"},
    ['p' - 'a'] = {"PRIMARY"},
    ['r' - 'a'] = {"REFERENCES", "RETURNING"},
    ['s' - 'a'] = {"SELECT", "SET"},
    ['t' - 'a'] = {"TABLE", "THEN", "TO", "TRANSACTION"},
    ['u' - 'a'] = {"UNION", "UNIQUE", "UPDATE", "USING"},
    ['v' - 'a'] = {"VALUES"},
    ['w' - 'a'] = {"WHEN", "WHERE"},
};

static bool is_reserved(const char *text, size_t len)
{
    unsigned letter = (unsigned)(*text | 32) - 'a';
    for (const char *const *word = letter < LETTERS ? RESERVED[letter] : NULL; word && *word; word++)
        if (sql_name_is(text, len, *word, strlen(*word))) return true;
    return false;
}

static bool is_inside(unsigned char c)
{
    return c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool is_plain(const char *text, size_t len)
{
    if (!len || (*text >= '0' && *text <= '9')) return false;
    for (size_t i = 0; i < len; i++)
        if (!is_inside((unsigned char)text[i]) && !(text[i] == '$' && i)) return false;
    return !is_reserved(text, len);
}

static void put_name(struct out *o, const char *text, size_t len, char quote)
{
    if (!text) return;
    if (!quote && is_plain(text, len))
        put_n(o, text, len);
    else if (quote == '[' && !memchr(text, ']', len))
        put_quoted(o, text, len, '[', ']');
    else if (quote == '`' || quote == '\'')
        put_quoted(o, text, len, quote, quote);
    else
        put_quoted(o, text, len, '"', '"');
}

/* Prints text2.text, with the quotes of the original. */
static void put_qualified(struct out *o, const struct sql_node *n, char qualifier_quote)
{
    put_name(o, n->text2, n->text2_len, qualifier_quote);
    if (n->text2) put(o, ".");
    put_name(o, n->text, n->text_len, n->quote);
}

/* ---- strength of operators -------------------------------------------------------------------------------------- */

enum {
    WEAKEST,
    OF_OR,
    OF_AND,
    OF_NOT,
    OF_EQUALITY,
    OF_ORDER,
    OF_OPERATOR,
    OF_SUM,
    OF_PRODUCT,
    OF_POWER,
    OF_CONCAT,
    OF_ZONE,
    OF_COLLATE,
    OF_SIGN,
    OF_CAST,
    STRONGEST
};

static const unsigned char OP_STRENGTH[SQL_OP_COUNT] = {
    [SQL_OP_OR] = OF_OR,
    [SQL_OP_AND] = OF_AND,
    [SQL_OP_NOT] = OF_NOT,
    [SQL_OP_EQ] = OF_EQUALITY,
    [SQL_OP_NE] = OF_EQUALITY,
    [SQL_OP_IS] = OF_EQUALITY,
    [SQL_OP_IS_NOT] = OF_EQUALITY,
    [SQL_OP_IS_DISTINCT] = OF_EQUALITY,
    [SQL_OP_IS_NOT_DISTINCT] = OF_EQUALITY,
    [SQL_OP_ISNULL] = OF_EQUALITY,
    [SQL_OP_NOTNULL] = OF_EQUALITY,
    [SQL_OP_LT] = OF_ORDER,
    [SQL_OP_LE] = OF_ORDER,
    [SQL_OP_GT] = OF_ORDER,
    [SQL_OP_GE] = OF_ORDER,
    [SQL_OP_ADD] = OF_SUM,
    [SQL_OP_SUB] = OF_SUM,
    [SQL_OP_MUL] = OF_PRODUCT,
    [SQL_OP_DIV] = OF_PRODUCT,
    [SQL_OP_MOD] = OF_PRODUCT,
    [SQL_OP_POW] = OF_POWER,
    [SQL_OP_CONCAT] = OF_CONCAT,
    [SQL_OP_ARROW] = OF_CONCAT,
    [SQL_OP_ARROW2] = OF_CONCAT,
    [SQL_OP_NEG] = OF_SIGN,
    [SQL_OP_PLUS] = OF_SIGN,
    [SQL_OP_BITNOT] = OF_SIGN,
    [SQL_OP_AT_ZONE] = OF_ZONE,
};

static const unsigned char KIND_STRENGTH[SQL_KIND_COUNT] = {[SQL_LIKE] = OF_EQUALITY,
                                                            [SQL_BETWEEN] = OF_EQUALITY,
                                                            [SQL_IN] = OF_EQUALITY,
                                                            [SQL_QUANTIFIED] = OF_EQUALITY,
                                                            [SQL_COLLATE] = OF_COLLATE};

/* Returns the strength of an OP_OTHER operator, which may be a word of MariaDB. */
static unsigned strength_of_word(const struct sql_node *n)
{
    if (sql_name_is(n->text, n->text_len, "XOR", 3)) return OF_OR;
    return sql_name_is(n->text, n->text_len, "DIV", 3) ? OF_PRODUCT : OF_OPERATOR;
}

static unsigned strength(const struct sql_node *n)
{
    if (n->flags & SQL_F_OPERATOR) return OF_OPERATOR;
    if (n->kind == SQL_BINARY) return OP_STRENGTH[n->op] ? OP_STRENGTH[n->op] : strength_of_word(n);
    if (n->kind == SQL_UNARY) return n->op == SQL_OP_OTHER ? OF_SIGN : OP_STRENGTH[n->op];
    if (n->kind == SQL_CAST && (n->flags & SQL_F_COLON)) return OF_CAST;
    if (n->kind == SQL_SUBSCRIPT) return OF_CAST;
    if (n->kind == SQL_LITERAL && n->text_len && *n->text == '-' && n->op != SQL_LIT_STRING) return OF_SIGN;
    return KIND_STRENGTH[n->kind] ? KIND_STRENGTH[n->kind] : STRONGEST;
}

static void print(struct out *o, const struct sql_node *n);

static void in_parens(struct out *o, const struct sql_node *n)
{
    put(o, "(");
    print(o, n);
    put(o, ")");
}

/* Prints an operand that must bind at least as tightly as `least`. */
static void operand(struct out *o, const struct sql_node *n, unsigned least)
{
    bool add = n && !(n->flags & SQL_F_PAREN) && strength(n) < least;
    if (add)
        in_parens(o, n);
    else
        print(o, n);
}

/* ---- lists and clauses ----------------------------------------------------------------------------------------- */

static void entries(struct out *o, const struct sql_node *list, uint32_t from, const char *between)
{
    for (uint32_t i = from; list && i < list->n_kids; i++) {
        if (i > from) put(o, between);
        print(o, list->kids[i]);
    }
}

static void clause(struct out *o, const char *keyword, const struct sql_node *n)
{
    put(o, keyword);
    entries(o, n, 0, ", ");
}

static void optional(struct out *o, const char *before, const struct sql_node *n)
{
    if (!n) return;
    put(o, before);
    print(o, n);
}

static void list_in_parens(struct out *o, const struct sql_node *n)
{
    put(o, "(");
    entries(o, n, 0, ", ");
    put(o, ")");
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

static void print_query(struct out *o, const struct sql_node *n)
{
    const struct sql_node *with = sql_kid(n, QUERY_WITH);
    if (with) print(o, with), put(o, " ");
    print(o, sql_kid(n, QUERY_BODY));
    optional(o, " ", sql_kid(n, QUERY_ORDER));
    optional(o, " ", sql_kid(n, QUERY_LIMIT));
}

static void print_with(struct out *o, const struct sql_node *n)
{
    clause(o, n->flags & SQL_F_RECURSIVE ? "WITH RECURSIVE " : "WITH ", n);
}

static void print_cte(struct out *o, const struct sql_node *n)
{
    put_name(o, n->text, n->text_len, n->quote);
    optional(o, " ", sql_kid(n, CTE_NAMES));
    put(o, " AS ");
    if (n->flags & SQL_F_MATERIALIZED) put(o, "MATERIALIZED ");
    if (n->flags & SQL_F_NOT_MATERIALIZED) put(o, "NOT MATERIALIZED ");
    in_parens(o, sql_kid(n, CTE_QUERY));
    if (n->text2) put(o, " ");
    put_n(o, n->text2, n->text2_len);
}

/* Prints an arm. An arm that is not a plain SELECT needs parentheses, except a set operation on the left. */
static void arm(struct out *o, const struct sql_node *n, bool left)
{
    bool add = n && !(n->flags & SQL_F_PAREN) && (n->kind == SQL_QUERY || (n->kind == SQL_COMPOUND && !left));
    if (add)
        in_parens(o, n);
    else
        print(o, n);
}

static void print_compound(struct out *o, const struct sql_node *n)
{
    arm(o, sql_kid(n, 0), true);
    put(o, " "), put(o, sql_op_text(n->op)), put(o, " ");
    arm(o, sql_kid(n, 1), false);
}

/* True if the query can still be printed as TABLE t, after any rewrites. */
static bool is_table_query(const struct sql_node *n)
{
    const struct sql_node *items = sql_kid(n, SELECT_ITEMS), *from = sql_kid(n, SELECT_FROM);
    if (!(n->flags & SQL_F_TABLE) || !items || !from || items->n_kids != 1 || from->n_kids != 1) return false;
    for (unsigned slot = 0; slot <= SELECT_WINDOWS; slot++)
        if (slot != SELECT_ITEMS && slot != SELECT_FROM && sql_kid(n, slot)) return false;
    const struct sql_node *star = items->kids[0], *table = from->kids[0];
    return star->kind == SQL_STAR && !star->text && table->kind == SQL_TABLE && !table->alias && !table->text3;
}

static void print_select(struct out *o, const struct sql_node *n)
{
    if (is_table_query(n)) {
        put(o, "TABLE ");
        print(o, sql_kid(sql_kid(n, SELECT_FROM), 0));
        return;
    }
    put(o, "SELECT ");
    print(o, sql_kid(n, SELECT_DISTINCT));
    print(o, sql_kid(n, SELECT_ITEMS));
    for (unsigned slot = SELECT_FROM; slot <= SELECT_WINDOWS; slot++) optional(o, " ", sql_kid(n, slot));
}

static void print_distinct(struct out *o, const struct sql_node *n)
{
    put(o, "DISTINCT ");
    if (!n->n_kids) return;
    put(o, "ON ");
    list_in_parens(o, n);
    put(o, " ");
}

static void print_item(struct out *o, const struct sql_node *n)
{
    /* PostgreSQL reads box '(1,1)' as a typed literal, so AS is left out */
    bool bare = n->quote == '\'' && !(n->flags & SQL_F_AS);
    print(o, sql_kid(n, 0));
    if (n->text) put(o, bare ? " " : " AS ");
    put_name(o, n->text, n->text_len, n->quote);
}

static void print_star(struct out *o, const struct sql_node *n)
{
    put_name(o, n->text2, n->text2_len, n->alias_quote);
    if (n->text2) put(o, ".");
    put_name(o, n->text, n->text_len, n->quote);
    put(o, n->text ? ".*" : "*");
}

static void print_values(struct out *o, const struct sql_node *n)
{
    clause(o, "VALUES ", n);
}

/* ---- FROM ------------------------------------------------------------------------------------------------------ */

static void print_from(struct out *o, const struct sql_node *n)
{
    clause(o, "FROM ", n);
}

static bool has_condition(const struct sql_node *join)
{
    return sql_kid(join, JOIN_ON) || sql_kid(join, JOIN_USING);
}

static void print_join(struct out *o, const struct sql_node *n)
{
    const struct sql_node *right = sql_kid(n, JOIN_RIGHT);
    print(o, sql_kid(n, JOIN_LEFT));
    put(o, n->flags & SQL_F_NATURAL ? " NATURAL " : " "), put(o, sql_op_text(n->op)), put(o, " ");
    /* a JOIN b JOIN c ON ... ON ... parses as nested only if each join has its condition */
    if (sql_is(right, SQL_JOIN) && !(has_condition(right) && has_condition(n)))
        in_parens(o, right);
    else
        print(o, right);
    optional(o, " ", sql_kid(n, JOIN_ON));
    optional(o, " ", sql_kid(n, JOIN_USING));
}

static void print_on(struct out *o, const struct sql_node *n)
{
    clause(o, "ON ", n);
}

static void put_alias(struct out *o, const struct sql_node *n, const struct sql_node *names)
{
    if (!n->alias) return;
    put(o, " AS ");
    put_name(o, n->alias, n->alias_len, n->alias_quote);
    print(o, names);
}

static void print_using(struct out *o, const struct sql_node *n)
{
    put(o, "USING ");
    list_in_parens(o, n);
    put_alias(o, n, NULL);
}

/* True for a table named lateral. Before a word, the parser reads that name as the keyword. */
static bool is_lateral(const struct sql_node *n)
{
    return !n->text2 && !n->quote && sql_name_is(n->text, n->text_len, "LATERAL", strlen("LATERAL"));
}

static void print_table(struct out *o, const struct sql_node *n)
{
    if (n->flags & SQL_F_ONLY) put(o, "ONLY ");
    if (is_lateral(n))
        put_name(o, n->text, n->text_len, '"');
    else
        put_qualified(o, n, 0);
    if (n->flags & SQL_F_STAR) put(o, " *");
    bool partition = n->text3 && (*n->text3 | 32) == 'p';
    if (partition) put(o, " "), put_n(o, n->text3, n->text3_len);
    put_alias(o, n, sql_kid(n, 0));
    if (!n->text3 || partition) return;
    put(o, " ");
    put_n(o, n->text3, n->text3_len);
}

static void print_derived(struct out *o, const struct sql_node *n)
{
    if (n->flags & SQL_F_LATERAL) put(o, "LATERAL ");
    in_parens(o, sql_kid(n, DERIVED_QUERY));
    put_alias(o, n, sql_kid(n, DERIVED_NAMES));
}

/* Prints JSON_TABLE(x, path COLUMNS (...)), with the columns as written. */
static void print_json_table(struct out *o, const struct sql_node *n)
{
    const struct sql_node *call = sql_kid(n, FROM_CALL_CALL);
    put_n(o, call->text, call->text_len);
    put(o, "(");
    print(o, sql_kid(call, CALL_ARGS));
    put(o, " ");
    put_n(o, n->text, n->text_len);
    put(o, ")");
    put_alias(o, n, NULL);
}

static void print_from_call(struct out *o, const struct sql_node *n)
{
    if (n->text) {
        print_json_table(o, n);
        return;
    }
    if (n->flags & SQL_F_LATERAL) put(o, "LATERAL ");
    print(o, sql_kid(n, FROM_CALL_CALL));
    put_alias(o, n, sql_kid(n, FROM_CALL_NAMES));
    if (!n->alias) optional(o, " AS ", sql_kid(n, FROM_CALL_NAMES));
}

static void print_from_paren(struct out *o, const struct sql_node *n)
{
    in_parens(o, sql_kid(n, 0));
    put_alias(o, n, NULL);
}

/* ---- clauses --------------------------------------------------------------------------------------------------- */

static void print_where(struct out *o, const struct sql_node *n)
{
    clause(o, "WHERE ", n);
}
static void print_group(struct out *o, const struct sql_node *n)
{
    clause(o, "GROUP BY ", n);
    if (n->flags & SQL_F_ROLLUP) put(o, " WITH ROLLUP");
}
static void print_having(struct out *o, const struct sql_node *n)
{
    clause(o, "HAVING ", n);
}
static void print_order(struct out *o, const struct sql_node *n)
{
    clause(o, "ORDER BY ", n);
}
static void print_windows(struct out *o, const struct sql_node *n)
{
    clause(o, "WINDOW ", n);
}
static void print_partition(struct out *o, const struct sql_node *n)
{
    clause(o, "PARTITION BY ", n);
}
static void print_list(struct out *o, const struct sql_node *n)
{
    clause(o, "", n);
}
static void print_text(struct out *o, const struct sql_node *n)
{
    put_n(o, n->text, n->text_len);
}

static void print_term(struct out *o, const struct sql_node *n)
{
    print(o, sql_kid(n, 0));
    if (n->text) put(o, " USING ");
    put_n(o, n->text, n->text_len);
    if (n->op) put(o, n->op == SQL_DESC ? " DESC" : " ASC");
    if (n->flags & SQL_F_NULLS_FIRST) put(o, " NULLS FIRST");
    if (n->flags & SQL_F_NULLS_LAST) put(o, " NULLS LAST");
}

static void print_fetch(struct out *o, const struct sql_node *count, const struct sql_node *offset, bool ties)
{
    optional(o, "OFFSET ", offset);
    if (offset) put(o, " ROWS ");
    put(o, "FETCH FIRST ");
    print(o, count);
    put(o, ties ? " ROWS WITH TIES" : " ROWS ONLY");
}

static void print_limit(struct out *o, const struct sql_node *n)
{
    const struct sql_node *count = sql_kid(n, LIMIT_COUNT), *offset = sql_kid(n, LIMIT_OFFSET);
    if (n->flags & (SQL_F_FETCH | SQL_F_WITH_TIES) && count) {
        print_fetch(o, count, offset, n->flags & SQL_F_WITH_TIES);
    } else if (n->flags & SQL_F_COMMA && count && offset) {
        optional(o, "LIMIT ", offset);
        optional(o, ", ", count);
    } else {
        if (!count && !offset) put(o, "LIMIT ALL");
        optional(o, "LIMIT ", count);
        optional(o, count ? " OFFSET " : "OFFSET ", offset);
    }
}

/* Prints name AS (base ...) in a WINDOW clause. After OVER, prints a name or (base ...). */
static void print_window(struct out *o, const struct sql_node *n)
{
    if (n->flags & SQL_F_NAMED) {
        put_name(o, n->text2, n->text2_len, 0);
        return;
    }
    put_name(o, n->text, n->text_len, n->quote);
    put(o, n->text ? " AS (" : "(");
    put_name(o, n->text2, n->text2_len, 0);
    const char *space = n->text2 ? " " : "";
    for (unsigned slot = WINDOW_PARTITION; slot <= WINDOW_FRAME; slot++) {
        optional(o, space, sql_kid(n, slot));
        if (sql_kid(n, slot)) space = " ";
    }
    put(o, ")");
}

static void print_name(struct out *o, const struct sql_node *n)
{
    put_name(o, n->text, n->text_len, n->quote);
    if (n->text2) put(o, " ");
    put_n(o, n->text2, n->text2_len);
}

/* ---- expressions ----------------------------------------------------------------------------------------------- */

static void print_column(struct out *o, const struct sql_node *n)
{
    put_name(o, n->text3, n->text3_len, 0);
    if (n->text3) put(o, ".");
    put_qualified(o, n, n->alias_quote);
}

static void print_literal(struct out *o, const struct sql_node *n)
{
    if (n->op == SQL_LIT_STRING)
        put_quoted(o, n->text, n->text_len, '\'', '\'');
    else if (n->op == SQL_LIT_BLOB)
        put(o, "x"), put_quoted(o, n->text, n->text_len, '\'', '\'');
    else if (n->text)
        put_n(o, n->text, n->text_len);
    else
        put(o, sql_op_text(n->op));
}

static void print_typed(struct out *o, const struct sql_node *n)
{
    put_n(o, n->text, n->text_len);
    optional(o, " ", sql_kid(n, 0));
    if (n->text2) put(o, " ");
    put_n(o, n->text2, n->text2_len);
}

static void put_op(struct out *o, const struct sql_node *n)
{
    if (n->op == SQL_OP_OTHER)
        put_n(o, n->text, n->text_len);
    else if (n->flags & SQL_F_OPERATOR)
        put(o, "OPERATOR(pg_catalog."), put(o, sql_op_text(n->op)), put(o, ")");
    else if (n->flags & SQL_F_EQ2)
        put(o, n->op == SQL_OP_EQ ? "==" : n->op == SQL_OP_NE ? "!=" : "<=>");
    else
        put(o, sql_op_text(n->op));
}

static void print_unary(struct out *o, const struct sql_node *n)
{
    if (n->op == SQL_OP_ISNULL || n->op == SQL_OP_NOTNULL) {
        operand(o, sql_kid(n, 0), OF_EQUALITY);
        put(o, " "), put_op(o, n);
        return;
    }
    put_op(o, n);
    if (n->op == SQL_OP_NOT || n->op == SQL_OP_OTHER || n->op == SQL_OP_VARIADIC) put(o, " ");
    operand(o, sql_kid(n, 0), strength(n));
}

/* Prints a binary operation. Operators group from left to right, so a right operand of equal strength gets
 * parentheses. */
static void print_binary(struct out *o, const struct sql_node *n)
{
    operand(o, sql_kid(n, 0), strength(n));
    put(o, " "), put_op(o, n), put(o, " ");
    operand(o, sql_kid(n, 1), strength(n) + 1);
}

static void put_not(struct out *o, const struct sql_node *n)
{
    put(o, n->flags & SQL_F_NOT ? " NOT " : " ");
}

static void print_like(struct out *o, const struct sql_node *n)
{
    operand(o, sql_kid(n, LIKE_VALUE), OF_EQUALITY);
    put_not(o, n), put(o, sql_op_text(n->op)), put(o, " ");
    operand(o, sql_kid(n, LIKE_PATTERN), OF_ORDER);
    if (!sql_kid(n, LIKE_ESCAPE)) return;
    put(o, " ESCAPE ");
    operand(o, sql_kid(n, LIKE_ESCAPE), OF_OPERATOR);
}

static void print_between(struct out *o, const struct sql_node *n)
{
    operand(o, sql_kid(n, BETWEEN_VALUE), OF_EQUALITY);
    put_not(o, n), put(o, n->flags & SQL_F_SYMMETRIC ? "BETWEEN SYMMETRIC " : "BETWEEN ");
    operand(o, sql_kid(n, BETWEEN_LOW), OF_ORDER);
    put(o, " AND ");
    operand(o, sql_kid(n, BETWEEN_HIGH), OF_ORDER);
}

static void print_in(struct out *o, const struct sql_node *n)
{
    operand(o, sql_kid(n, IN_VALUE), OF_EQUALITY);
    put_not(o, n), put(o, "IN ");
    print(o, sql_kid(n, IN_RIGHT));
}

static void print_exists(struct out *o, const struct sql_node *n)
{
    put(o, "EXISTS ");
    in_parens(o, sql_kid(n, 0));
}

static void print_subquery(struct out *o, const struct sql_node *n)
{
    in_parens(o, sql_kid(n, 0));
}

static void print_quantified(struct out *o, const struct sql_node *n)
{
    const struct sql_node *right = sql_kid(n, 1);
    operand(o, sql_kid(n, 0), OF_EQUALITY);
    put_not(o, n), put_op(o, n), put(o, n->flags & SQL_F_ALL ? " ALL " : " ANY ");
    if (sql_is(right, SQL_SUBQUERY))
        print(o, right);
    else
        in_parens(o, right);
}

static void print_case(struct out *o, const struct sql_node *n)
{
    put(o, "CASE");
    optional(o, " ", sql_kid(n, CASE_OPERAND));
    put(o, " ");
    entries(o, n, CASE_FIRST_WHEN, " ");
    optional(o, " ELSE ", sql_kid(n, CASE_ELSE));
    put(o, " END");
}

static void print_when(struct out *o, const struct sql_node *n)
{
    optional(o, "WHEN ", sql_kid(n, WHEN_CONDITION));
    optional(o, " THEN ", sql_kid(n, WHEN_RESULT));
}

static void print_cast(struct out *o, const struct sql_node *n)
{
    bool colon = n->flags & SQL_F_COLON;
    if (!colon) put(o, "CAST(");
    operand(o, sql_kid(n, 0), colon ? OF_CAST : WEAKEST);
    put(o, colon ? "::" : " AS ");
    put_n(o, n->text, n->text_len);
    if (!colon) put(o, ")");
}

/* Prints arguments that words separate, from a text such as "BOTH ? FROM ?": each ? is the next argument. */
static void put_worded(struct out *o, const struct sql_node *args)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < args->text_len; i++) {
        if (args->text[i] == '?')
            print(o, sql_kid(args, next++));
        else
            put_n(o, args->text + i, 1);
    }
}

static void print_args(struct out *o, const struct sql_node *n)
{
    if (n->text)
        put_worded(o, n);
    else
        entries(o, n, 0, ", ");
}

static bool has_separator(const struct sql_node *args)
{
    return args && args->n_kids && args->text && strcmp(args->text, SQL_SEPARATOR) == 0;
}

/* Prints the arguments of GROUP_CONCAT: a, b ORDER BY c SEPARATOR ', '. */
static void put_separated(struct out *o, const struct sql_node *call)
{
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    for (uint32_t i = 0; i + 1 < args->n_kids; i++) {
        if (i) put(o, ", ");
        print(o, args->kids[i]);
    }
    optional(o, " ", sql_kid(call, CALL_ORDER));
    optional(o, " SEPARATOR ", args->kids[args->n_kids - 1]);
}

static void put_arguments(struct out *o, const struct sql_node *n)
{
    bool within = n->flags & SQL_F_WITHIN;
    put(o, "(");
    if (n->flags & SQL_F_DISTINCT) put(o, "DISTINCT ");
    if (n->flags & SQL_F_STAR) put(o, "*");
    if (has_separator(sql_kid(n, CALL_ARGS))) {
        put_separated(o, n);
    } else {
        print(o, sql_kid(n, CALL_ARGS));
        if (!within) optional(o, " ", sql_kid(n, CALL_ORDER));
    }
    put(o, ")");
    if (!within) return;
    put(o, " WITHIN GROUP ");
    in_parens(o, sql_kid(n, CALL_ORDER));
}

static void print_call(struct out *o, const struct sql_node *n)
{
    if (n->quote || n->text2)
        put_qualified(o, n, 0);
    else
        put_n(o, n->text, n->text_len); /* a keyword that can be called, such as LEFT, needs no quotes */
    put_arguments(o, n);
    optional(o, " ", sql_kid(n, CALL_FILTER));
    optional(o, " OVER ", sql_kid(n, CALL_WINDOW));
    if (n->flags & SQL_F_ORDINALITY) put(o, " WITH ORDINALITY");
}

static void print_filter(struct out *o, const struct sql_node *n)
{
    clause(o, "FILTER (WHERE ", n);
    put(o, ")");
}

static void print_extract(struct out *o, const struct sql_node *n)
{
    put(o, "EXTRACT(");
    put_name(o, n->text, n->text_len, n->quote);
    optional(o, " FROM ", sql_kid(n, 0));
    put(o, ")");
}

static void print_collate(struct out *o, const struct sql_node *n)
{
    operand(o, sql_kid(n, 0), OF_COLLATE);
    put(o, " COLLATE ");
    put_qualified(o, n, 0);
}

static void print_array(struct out *o, const struct sql_node *n)
{
    bool nested = n->flags & SQL_F_NESTED && sql_is(n->parent, SQL_ARRAY);
    if (!nested) put(o, "ARRAY");
    if (!(n->flags & SQL_F_SUBQUERY)) put(o, "[");
    entries(o, n, 0, ", ");
    if (!(n->flags & SQL_F_SUBQUERY)) put(o, "]");
}

static void print_subscript(struct out *o, const struct sql_node *n)
{
    static const bool BARE[SQL_KIND_COUNT] = {[SQL_COLUMN] = true, [SQL_CALL] = true, [SQL_SUBSCRIPT] = true,
                                              [SQL_ARRAY] = true,  [SQL_CAST] = true, [SQL_PARAM] = true};
    const struct sql_node *x = sql_kid(n, 0);
    if (!x || BARE[x->kind] || x->flags & SQL_F_PAREN)
        print(o, x);
    else
        in_parens(o, x);
    put(o, "[");
    print(o, sql_kid(n, 1));
    if (n->flags & SQL_F_SLICE) put(o, ":");
    print(o, sql_kid(n, 2));
    put(o, "]");
}

static void print_field(struct out *o, const struct sql_node *n)
{
    static const bool BARE[SQL_KIND_COUNT] = {[SQL_SUBSCRIPT] = true, [SQL_FIELD] = true, [SQL_SUBQUERY] = true};
    const struct sql_node *x = sql_kid(n, 0);
    if (!x || BARE[x->kind] || x->flags & SQL_F_PAREN)
        print(o, x);
    else
        in_parens(o, x);
    put(o, ".");
    if (n->flags & SQL_F_STAR)
        put(o, "*");
    else
        put_name(o, n->text, n->text_len, n->quote);
}

/* ---- the table of printers ------------------------------------------------------------------------------------- */

static void (*const PRINT[SQL_KIND_COUNT])(struct out *, const struct sql_node *) = {
    [SQL_QUERY] = print_query,
    [SQL_WITH] = print_with,
    [SQL_CTE] = print_cte,
    [SQL_COMPOUND] = print_compound,
    [SQL_SELECT] = print_select,
    [SQL_VALUES] = print_values,
    [SQL_DISTINCT] = print_distinct,
    [SQL_ITEMS] = print_list,
    [SQL_ITEM] = print_item,
    [SQL_STAR] = print_star,
    [SQL_FROM] = print_from,
    [SQL_JOIN] = print_join,
    [SQL_ON] = print_on,
    [SQL_USING] = print_using,
    [SQL_TABLE] = print_table,
    [SQL_DERIVED] = print_derived,
    [SQL_FROM_CALL] = print_from_call,
    [SQL_FROM_PAREN] = print_from_paren,
    [SQL_WHERE] = print_where,
    [SQL_GROUP] = print_group,
    [SQL_HAVING] = print_having,
    [SQL_ORDER] = print_order,
    [SQL_TERM] = print_term,
    [SQL_LIMIT] = print_limit,
    [SQL_WINDOWS] = print_windows,
    [SQL_WINDOW] = print_window,
    [SQL_PARTITION] = print_partition,
    [SQL_FRAME] = print_text,
    [SQL_NAMES] = list_in_parens,
    [SQL_NAME] = print_name,
    [SQL_COLUMN] = print_column,
    [SQL_LITERAL] = print_literal,
    [SQL_TYPED] = print_typed,
    [SQL_PARAM] = print_text,
    [SQL_UNARY] = print_unary,
    [SQL_BINARY] = print_binary,
    [SQL_LIKE] = print_like,
    [SQL_BETWEEN] = print_between,
    [SQL_IN] = print_in,
    [SQL_EXISTS] = print_exists,
    [SQL_SUBQUERY] = print_subquery,
    [SQL_QUANTIFIED] = print_quantified,
    [SQL_CASE] = print_case,
    [SQL_WHEN] = print_when,
    [SQL_CAST] = print_cast,
    [SQL_CALL] = print_call,
    [SQL_ARGS] = print_args,
    [SQL_FILTER] = print_filter,
    [SQL_EXTRACT] = print_extract,
    [SQL_COLLATE] = print_collate,
    [SQL_ROW] = list_in_parens,
    [SQL_LIST] = list_in_parens,
    [SQL_ARRAY] = print_array,
    [SQL_SUBSCRIPT] = print_subscript,
    [SQL_FIELD] = print_field,
    [SQL_ERROR] = print_text,
};

static void print(struct out *o, const struct sql_node *n)
{
    if (!n || o->full) return;
    if (n->flags & SQL_F_PAREN) put(o, "(");
    PRINT[n->kind](o, n);
    if (n->flags & SQL_F_PAREN) put(o, ")");
}

char *sql_print(struct arena *arena, const struct sql_node *node)
{
    struct out o = {.arena = arena};
    print(&o, node);
    if (!room(&o, 1)) return NULL;
    o.text[o.len] = '\0';
    return o.text;
}

char *sql_print_name(struct arena *arena, const char *name)
{
    struct out o = {.arena = arena};
    put_name(&o, name, strlen(name), 0);
    if (!room(&o, 1)) return NULL;
    o.text[o.len] = '\0';
    return o.text;
}

/* ---- quotes in a sentence -------------------------------------------------------------------------------------- */

const char *sql_quote_mark(const char *text, size_t len)
{
    static const char *const MARKS[] = {"`", "\"", "|"};
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        if (!memchr(text, *MARKS[i], len)) return MARKS[i];
    return MARKS[0];
}
