/* The syntax tree of one SQL statement.
 *
 * DESIGN. One node type represents every construct. A node has a kind, an operator or sub-kind, up to three texts, and
 * children. Kinds with a fixed shape use named slots (SELECT_WHERE, JOIN_ON, ...); an absent slot is NULL. List kinds
 * have any number of children, none of them NULL. Code that walks, prints, compares, rewrites or mutates trees
 * therefore needs no switch over a hundred struct types. A new construct is a row in SQL_KINDS, not a new file. The
 * price is less checking by the compiler. In its place, sql_check_tree checks trees in every test against one table
 * (kind → slots).
 *
 * Every node carries the byte span [start, end) of its source text. The span of a clause node covers the keyword and
 * everything that the clause governs. The span of a parenthesised expression includes the parentheses, and the node has
 * SQL_F_PAREN. Nodes made by a rewrite have start == end == 0.
 *
 * Ownership: nodes, texts and child arrays live in the arena given to sql_parse and die with it. Texts may point into
 * the statement's own text. They are not NUL-terminated: use (text, text_len). */
#ifndef ASSAY_LIB_SQL_AST_H
#define ASSAY_LIB_SQL_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* kind, name in dumps, number of slots (-1: a list), children and texts
 *
 * Statement level
 *    QUERY     [WITH?, body, ORDER?, LIMIT?]; body is SELECT, VALUES, COMPOUND or a parenthesised QUERY
 *    WITH      list of CTE; SQL_F_RECURSIVE
 *    CTE       [NAMES?, QUERY, NAMES?] text = name; SQL_F_MATERIALIZED / SQL_F_NOT_MATERIALIZED; the last NAMES are the
 *              columns that SEARCH and CYCLE add, and text2 is these clauses as written
 *    COMPOUND  [left, right] op = SQL_UNION ...; left-associative, so left may be a COMPOUND
 *    SELECT    [DISTINCT?, ITEMS, FROM?, WHERE?, GROUP?, HAVING?, WINDOWS?]; SQL_F_TABLE: written TABLE t for
 *              SELECT * FROM t
 *    VALUES    list of ROW
 *    DISTINCT  list: the expressions of DISTINCT ON, else empty (SELECT ALL has no node)
 *    ITEMS     list of ITEM and STAR
 *    ITEM      [expression] text = alias, if any; SQL_F_AS when AS was written
 *    STAR      text = table qualifier, if any (t.*); text2 = schema; in PostgreSQL, t.* is also an expression
 *    FROM      list of table references, as separated by commas
 *    JOIN      [left, right, ON?, USING?] op = SQL_JOIN_INNER ...; SQL_F_NATURAL; ON is the ON clause node
 *    ON        [expression]
 *    USING     list of NAME; alias = name of the joined columns' row, if any
 *    TABLE     [NAMES?] column aliases; text = name, text2 = schema, alias; text3 = a suffix as written: INDEXED BY i
 *              after the alias, or PARTITION (p) before it; SQL_F_ONLY (ONLY t), SQL_F_STAR (t *)
 *    DERIVED   [QUERY, NAMES?] alias; SQL_F_LATERAL
 *    FROM_CALL [CALL, NAMES?] a table function; alias; SQL_F_LATERAL. ROWS FROM (f(x), g(y)) is a CALL of that name
 *              whose arguments are FROM_CALLs. text = COLUMNS (...) of JSON_TABLE as written; NAMES are these columns
 *    FROM_PAREN [table reference] a parenthesised join; alias
 *    WHERE, HAVING [expression];  GROUP list of expressions;  ORDER list of TERM
 *    TERM      [expression] op = SQL_ASC / SQL_DESC / 0 as written; SQL_F_NULLS_FIRST / _LAST; text = operator after
 *              USING
 *    LIMIT     [count?, offset?] SQL_F_COMMA (LIMIT offset, count), SQL_F_FETCH, SQL_F_WITH_TIES;
 *              LIMIT ALL has no count
 *    WINDOWS   list of WINDOW (text = name) for the WINDOW clause
 *    WINDOW    [PARTITION?, ORDER?, FRAME?] text2 = base window; OVER name has only text2, and SQL_F_NAMED
 *    PARTITION list of expressions;  FRAME text = the frame as written, from ROWS/RANGE/GROUPS on
 *    NAMES     list of NAME (text = the identifier, text2 = its type in a column definition list)
 * Expressions
 *    COLUMN    text = column, text2 = table qualifier, text3 = schema; quote = quote character used for the column
 *    LITERAL   op = SQL_LIT_*; text = value decoded (quotes and doubling removed, number as written, blob as hex)
 *    TYPED     [LITERAL] text = type (DATE '2020-01-01', INTERVAL '1 day'), text2 = fields (INTERVAL '1' DAY); in
 *              MariaDB's INTERVAL x DAY the kid is any expression
 *    PARAM     text = as written ($1, ?, :name)
 *    UNARY     [x] op = SQL_OP_NOT, SQL_OP_NEG, SQL_OP_PLUS, SQL_OP_BITNOT; also postfix SQL_OP_ISNULL / NOTNULL;
 *              SQL_OP_VARIADIC before the last argument of a call
 *    BINARY    [left, right] op = SQL_OP_*, also for IS, IS NOT, IS [NOT] DISTINCT FROM; text = an SQL_OP_OTHER
 *    LIKE      [value, pattern, escape?] op = SQL_OP_LIKE, ILIKE, GLOB, REGEXP, MATCH, SIMILAR; SQL_F_NOT
 *    BETWEEN   [x, low, high] SQL_F_NOT, SQL_F_SYMMETRIC
 *    IN        [x, right] SQL_F_NOT; right is LIST, SUBQUERY, or TABLE (SQLite's x IN t)
 *    EXISTS    [QUERY]     (NOT EXISTS is UNARY NOT over it)
 *    SUBQUERY  [QUERY]     scalar, or the right side of IN and of QUANTIFIED
 *    QUANTIFIED [left, right] op = comparison; SQL_F_ALL or, without it, ANY; right is SUBQUERY or an array;
 *              text as in BINARY
 *    CASE      list-like: [operand?, else?, WHEN...]
 *    WHEN      [condition, result]
 *    CAST      [x] text = type as written; SQL_F_COLON when x::type
 *    CALL      [ARGS, ORDER?, FILTER?, WINDOW?] text = name, text2 = schema; SQL_F_DISTINCT; SQL_F_STAR for count(*),
 *              whose ARGS are empty; SQL_F_WITHIN; GROUPING SETS ((a), ()) is a CALL, too
 *    ARGS      list of expressions; text = the words between them, if any: "BOTH ? FROM ?" or, for MATCH (a) AGAINST
 *              (b), "?) AGAINST (?"; SQL_SEPARATOR if the last argument is GROUP_CONCAT's SEPARATOR, after the ORDER
 *    FILTER    [expression] FILTER (WHERE ...)
 *    EXTRACT   [x] text = field
 *    COLLATE   [x] text = collation, text2 = schema
 *    ROW       list: (a, b) as a row value, and the rows of VALUES
 *    LIST      list: the right side of IN (a, b)
 *    ARRAY     list: ARRAY[...]; SQL_F_SUBQUERY: ARRAY(SELECT ...)
 *    SUBSCRIPT [x, index?, to?] SQL_F_SLICE: with a colon, [1:2], [:2], [1:], [:]; without it, only index is present
 *    FIELD     [x] text = name: (x).name; SQL_F_STAR: (x).*
 *    ERROR     [] the tokens in its span, which recovery skipped
 */
#define SQL_KINDS(X)                                                                                                   \
    X(QUERY, "query", 4) X(WITH, "with", -1) X(CTE, "cte", 3) X(COMPOUND, "compound", 2) X(SELECT, "select", 7)        \
    X(VALUES, "values", -1) X(DISTINCT, "distinct", -1) X(ITEMS, "items", -1) X(ITEM, "item", 1) X(STAR, "star", 0)    \
    X(FROM, "from", -1) X(JOIN, "join", 4) X(ON, "on", 1) X(USING, "using", -1) X(TABLE, "table", 1)                   \
    X(DERIVED, "derived", 2) X(FROM_CALL, "from_call", 2) X(FROM_PAREN, "from_paren", 1) X(WHERE, "where", 1)          \
    X(GROUP, "group", -1) X(HAVING, "having", 1) X(ORDER, "order", -1) X(TERM, "term", 1) X(LIMIT, "limit", 2)         \
    X(WINDOWS, "windows", -1) X(WINDOW, "window", 3) X(PARTITION, "partition", -1) X(FRAME, "frame", 0)                \
    X(NAMES, "names", -1) X(NAME, "name", 0) X(COLUMN, "column", 0) X(LITERAL, "literal", 0) X(TYPED, "typed", 1)      \
    X(PARAM, "param", 0) X(UNARY, "unary", 1) X(BINARY, "binary", 2) X(LIKE, "like", 3) X(BETWEEN, "between", 3)       \
    X(IN, "in", 2) X(EXISTS, "exists", 1) X(SUBQUERY, "subquery", 1) X(QUANTIFIED, "quantified", 2)                    \
    X(CASE, "case", -1) X(WHEN, "when", 2) X(CAST, "cast", 1) X(CALL, "call", 4) X(ARGS, "args", -1)                   \
    X(FILTER, "filter", 1) X(EXTRACT, "extract", 1) X(COLLATE, "collate", 1) X(ROW, "row", -1) X(LIST, "list", -1)     \
    X(ARRAY, "array", -1) X(SUBSCRIPT, "subscript", 3) X(FIELD, "field", 1) X(ERROR, "error", 0)
/* clang-format on */

enum sql_kind {
#define X(kind, name, slots) SQL_##kind,
    SQL_KINDS(X)
#undef X
        SQL_KIND_COUNT
};

enum { QUERY_WITH, QUERY_BODY, QUERY_ORDER, QUERY_LIMIT };
enum { CTE_NAMES, CTE_QUERY, CTE_ADDED };
enum { SELECT_DISTINCT, SELECT_ITEMS, SELECT_FROM, SELECT_WHERE, SELECT_GROUP, SELECT_HAVING, SELECT_WINDOWS };
enum { JOIN_LEFT, JOIN_RIGHT, JOIN_ON, JOIN_USING };
enum { DERIVED_QUERY, DERIVED_NAMES };
enum { FROM_CALL_CALL, FROM_CALL_NAMES };
enum { LIMIT_COUNT, LIMIT_OFFSET };
enum { WINDOW_PARTITION, WINDOW_ORDER, WINDOW_FRAME };
enum { LIKE_VALUE, LIKE_PATTERN, LIKE_ESCAPE };
enum { BETWEEN_VALUE, BETWEEN_LOW, BETWEEN_HIGH };
enum { IN_VALUE, IN_RIGHT };
enum { CASE_OPERAND, CASE_ELSE, CASE_FIRST_WHEN };
enum { WHEN_CONDITION, WHEN_RESULT };
enum { CALL_ARGS, CALL_ORDER, CALL_FILTER, CALL_WINDOW };

/* Values of `op`, for the kinds that have one. The texts are the printer's output. */
/* clang-format off */
#define SQL_OPS(X)                                                                                                     \
    X(OP_NONE, "") X(OP_OR, "OR") X(OP_AND, "AND") X(OP_NOT, "NOT") X(OP_EQ, "=") X(OP_NE, "<>") X(OP_LT, "<")         \
    X(OP_LE, "<=") X(OP_GT, ">") X(OP_GE, ">=") X(OP_IS, "IS") X(OP_IS_NOT, "IS NOT")                                  \
    X(OP_IS_DISTINCT, "IS DISTINCT FROM") X(OP_IS_NOT_DISTINCT, "IS NOT DISTINCT FROM") X(OP_ISNULL, "ISNULL")         \
    X(OP_NOTNULL, "NOTNULL") X(OP_ADD, "+") X(OP_SUB, "-") X(OP_MUL, "*") X(OP_DIV, "/") X(OP_MOD, "%")                \
    X(OP_POW, "^") X(OP_CONCAT, "||") X(OP_BITAND, "&") X(OP_BITOR, "|") X(OP_BITXOR, "#") X(OP_SHL, "<<")             \
    X(OP_SHR, ">>") X(OP_NEG, "-") X(OP_PLUS, "+") X(OP_BITNOT, "~") X(OP_LIKE, "LIKE") X(OP_ILIKE, "ILIKE")           \
    X(OP_GLOB, "GLOB") X(OP_REGEXP, "REGEXP") X(OP_MATCH, "MATCH") X(OP_SIMILAR, "SIMILAR TO") X(OP_REMATCH, "~")      \
    X(OP_IREMATCH, "~*") X(OP_NREMATCH, "!~") X(OP_NIREMATCH, "!~*") X(OP_ARROW, "->") X(OP_ARROW2, "->>")             \
    X(OP_HASH_ARROW, "#>") X(OP_HASH_ARROW2, "#>>") X(OP_CONTAINS, "@>") X(OP_CONTAINED, "<@") X(OP_OVERLAP, "&&")     \
    X(OP_AT_ZONE, "AT TIME ZONE") X(OP_VARIADIC, "VARIADIC") X(OP_OTHER, "?op?")                                       \
    X(UNION, "UNION") X(UNION_ALL, "UNION ALL") X(INTERSECT, "INTERSECT") X(INTERSECT_ALL, "INTERSECT ALL")            \
    X(EXCEPT, "EXCEPT") X(EXCEPT_ALL, "EXCEPT ALL") X(JOIN_INNER, "JOIN") X(JOIN_CROSS, "CROSS JOIN")                  \
    X(JOIN_LEFT_OUTER, "LEFT JOIN") X(JOIN_RIGHT_OUTER, "RIGHT JOIN") X(JOIN_FULL_OUTER, "FULL JOIN") X(ASC, "ASC")    \
    X(DESC, "DESC") X(LIT_NULL, "NULL") X(LIT_TRUE, "TRUE") X(LIT_FALSE, "FALSE") X(LIT_INT, "int")                    \
    X(LIT_FLOAT, "float") X(LIT_STRING, "string") X(LIT_BLOB, "blob") X(LIT_CURRENT, "current") X(LIT_BITS, "bits")
/* clang-format on */

#define SQL_SEPARATOR "SEPARATOR"

/* OP_OTHER is any other PostgreSQL operator, or MariaDB's DIV and XOR; its text is in node->text.
 * LIT_CURRENT is CURRENT_DATE and similar keywords.
 * LIT_BITS is B'0101', or X'1FF' with an odd number of digits, as written. */
enum sql_op {
#define X(op, text) SQL_##op,
    SQL_OPS(X)
#undef X
        SQL_OP_COUNT
};

enum sql_flag {
    SQL_F_NOT = 1U << 0,
    SQL_F_DISTINCT = 1U << 1,
    SQL_F_STAR = 1U << 2,
    SQL_F_ALL = 1U << 3, /* QUANTIFIED: ALL rather than ANY */
    SQL_F_NATURAL = 1U << 4,
    SQL_F_LATERAL = 1U << 5,
    SQL_F_RECURSIVE = 1U << 6,
    SQL_F_MATERIALIZED = 1U << 7,
    SQL_F_NOT_MATERIALIZED = 1U << 8,
    SQL_F_NULLS_FIRST = 1U << 9,
    SQL_F_NULLS_LAST = 1U << 10,
    SQL_F_COMMA = 1U << 11, /* LIMIT a, b */
    SQL_F_FETCH = 1U << 12,
    SQL_F_WITH_TIES = 1U << 13,
    SQL_F_SYMMETRIC = 1U << 14,
    SQL_F_COLON = 1U << 15, /* CAST written as :: */
    SQL_F_PAREN = 1U << 16, /* written in its own parentheses */
    SQL_F_AS = 1U << 17,
    SQL_F_NAMED = 1U << 18,       /* OVER w */
    SQL_F_OUTER_KW = 1U << 19,    /* JOIN: OUTER was written */
    SQL_F_EQ2 = 1U << 20,         /* written ==, != or <=> instead of =, <> or IS NOT DISTINCT FROM */
    SQL_F_SUBQUERY = 1U << 21,    /* ARRAY(SELECT ...): the only kid is a SUBQUERY */
    SQL_F_WITHIN = 1U << 22,      /* CALL: the ORDER is inside WITHIN GROUP (...) */
    SQL_F_ORDINALITY = 1U << 23,  /* CALL in FROM_CALL: WITH ORDINALITY */
    SQL_F_NESTED = 1U << 24,      /* ARRAY written [...] inside another ARRAY[...] */
    SQL_F_PAREN_TWICE = 1U << 25, /* QUERY: enclosed in at least two pairs of parentheses */
    SQL_F_TABLE = 1U << 26,       /* SELECT written TABLE t */
    SQL_F_ONLY = 1U << 27,        /* TABLE: ONLY t */
    SQL_F_SLICE = 1U << 28,       /* SUBSCRIPT with a colon */
    SQL_F_ROLLUP = 1U << 29,      /* GROUP BY ... WITH ROLLUP */
    SQL_F_OPERATOR = 1U << 30,    /* BINARY, QUANTIFIED: written OPERATOR(pg_catalog.+), which has the precedence of
                                   * OP_OTHER */
};

struct sql_ref; /* bind.h: the meaning of a COLUMN, STAR or TABLE */

struct sql_node {
    uint8_t kind;        /* enum sql_kind */
    uint8_t op;          /* enum sql_op */
    char quote;          /* COLUMN, TABLE, NAME, ITEM alias: '"', '`', '[' or 0; LITERAL string: '\'' or '$' or 'E' */
    char alias_quote;    /* quote character of the alias; for COLUMN and STAR, of text2 */
    uint32_t flags;      /* enum sql_flag */
    uint32_t start, end; /* bytes in the statement's text */
    uint32_t n_kids, cap_kids;
    uint32_t text_len, text2_len, text3_len, alias_len;
    const char *text, *text2, *text3, *alias; /* NULL when absent */
    struct sql_node **kids;
    struct sql_node *parent;   /* NULL at the root */
    const struct sql_ref *ref; /* set by sql_bind on COLUMN, TABLE and STAR; NULL before */
    uint32_t id;               /* preorder number within the statement, from 0 */
    uint32_t slot;             /* this node is parent->kids[slot] */
    /* The clause that contains this node: its nearest ancestor, or itself, that is a WINDOW or a kid of a QUERY, SELECT
     * or VALUES. NULL if there is none. It is set together with the id, because a search would climb through long
     * expressions. */
    const struct sql_node *clause;
};

/* Returns the child in a slot, or NULL. `n` may be NULL, so calls can be chained: sql_kid(sql_kid(q, QUERY_BODY),
 * SELECT_FROM). */
static inline struct sql_node *sql_kid(const struct sql_node *n, unsigned slot)
{
    return n && slot < n->n_kids ? n->kids[slot] : NULL;
}

static inline bool sql_is(const struct sql_node *n, enum sql_kind kind)
{
    return n && n->kind == kind;
}

/* Return the name of a kind ("column"), the text of an operator ("AND", "LEFT JOIN"), and a kind's number of slots (-1
 * for a list). Thread: any. */
const char *sql_kind_name(enum sql_kind kind);
const char *sql_op_text(enum sql_op op);
int sql_kind_slots(enum sql_kind kind);

/* Compares identifiers without case (ASCII), as both engines do for unquoted ones. Thread: any. */
bool sql_name_is(const char *a, size_t a_len, const char *b, size_t b_len);

/* Returns the node after `n` in preorder inside the subtree of `top`, or NULL at the end. Start with n = top. */
struct sql_node *sql_walk(const struct sql_node *top, const struct sql_node *n);
/* Returns the next node in preorder that is not below `n`, or NULL at the end. */
struct sql_node *sql_walk_over(const struct sql_node *top, const struct sql_node *n);

/* Sets the id and the clause of a node. The parent must have both already. */
void sql_number(struct sql_node *node, uint32_t id);

/* Returns the index of a node among its parent's kids: kid->slot, unless an edit moved entries. Returns 0 for a
 * root. */
uint32_t sql_slot(const struct sql_node *kid);

/* Returns the nearest ancestor-or-self of that kind, or NULL. */
struct sql_node *sql_up(const struct sql_node *n, enum sql_kind kind);

/* True for the comparison operators =, <>, <, <=, >, >=. */
bool sql_is_comparison(enum sql_op op);
/* True for an expression whose kind yields true, false or NULL: a comparison, IS NULL, IN, LIKE, BETWEEN, EXISTS, NOT,
 * AND, OR. `expr` may be NULL. */
bool sql_is_truth(const struct sql_node *expr);
/* True for a GROUP BY key that makes several groupings: GROUPING SETS (...), ROLLUP (...), CUBE (...). */
bool sql_is_grouping_call(const struct sql_node *key);
/* sql_op_swap returns the operator for swapped operands: a < b equals b > a. sql_op_negate returns the negated
 * operator: NOT (a < b) equals a >= b, apart from NULL. Both return SQL_OP_NONE if there is none. */
enum sql_op sql_op_swap(enum sql_op op);
enum sql_op sql_op_negate(enum sql_op op);

#endif
