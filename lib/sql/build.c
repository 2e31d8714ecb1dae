/* The builders that the grammar's actions call. They make nodes of the syntax tree from tokens.
 *
 * A builder never returns NULL: if the arena is full, it returns the parser's spare node and sets p->full. Texts of
 * nodes are decoded here (quotes, escapes), and words that the grammar leaves open (kinds of joins, operators, argument
 * words) are interpreted here. */
#include "lib/sql/build.h"

#include <string.h>

#include <glib.h>

#include "lib/sql/grammar.h"

/* ---- nodes --------------------------------------------------------------------------------------------------- */

static struct sql_node *spare(struct sql_parser *p)
{
    p->full = true;
    p->spare = (struct sql_node){.kind = SQL_ERROR, .kids = p->spare_kids, .n_kids = 0};
    return &p->spare;
}

static struct sql_node *make(struct sql_parser *p, enum sql_kind kind, uint32_t start)
{
    struct sql_node *node = sql_make(p->arena, kind);
    if (!node) return spare(p);
    node->start = start;
    node->end = p->end;
    return node;
}

struct sql_node *sqlb_node(struct sql_parser *p, enum sql_kind kind, uint32_t start, unsigned n,
                           struct sql_node *const *kids)
{
    struct sql_node *node = make(p, kind, start);
    for (unsigned i = 0; i < n; i++)
        if (kids[i]) sql_set_kid(node, i, kids[i]);
    return node;
}

struct sql_node *sqlb_list(struct sql_parser *p, enum sql_kind kind, struct sql_node *first)
{
    struct sql_node *list = make(p, kind, first ? first->start : p->end);
    return first ? sqlb_add(p, list, first) : list;
}

struct sql_node *sqlb_add(struct sql_parser *p, struct sql_node *list, struct sql_node *kid)
{
    if (p->full || !sql_append(p->arena, list, kid)) return spare(p);
    list->end = p->end;
    return list;
}

struct sql_node *sqlb_add_all(struct sql_parser *p, struct sql_node *list, const struct sql_node *kids)
{
    for (uint32_t i = 0; i < kids->n_kids && !p->full; i++) list = sqlb_add(p, list, kids->kids[i]);
    return list;
}

struct sql_node *sqlb_as(struct sql_parser *p, struct sql_node *list, enum sql_kind kind, uint32_t start)
{
    list->kind = kind & 0xff;
    list->start = start;
    list->end = p->end;
    return list;
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

struct sql_token sqlb_span(const struct sql_parser *p, uint32_t start)
{
    return (struct sql_token){.start = start, .len = (p->end - start) & SQL_TOKEN_LEN_MAX};
}

struct slice {
    const char *text;
    uint32_t len;
};

/* Returns the content of a quoted token, with doubled quotes made single. */
static struct slice unquote(struct sql_parser *p, const char *text, uint32_t len, char quote)
{
    if (!memchr(text, quote, len)) return (struct slice){text, len};
    char *copy = arena_alloc(p->arena, len);
    uint32_t n = 0;
    if (!copy) p->full = true;
    for (uint32_t i = 0; copy && i < len; i++) {
        copy[n++] = text[i];
        if (text[i] == quote) i++;
    }
    return (struct slice){copy, n};
}

static struct slice name_of(struct sql_parser *p, struct sql_token token, char *quote)
{
    const char *text = p->text + token.start;
    *quote = 0;
    if (token.len < 2) return (struct slice){text, token.len};
    char close = *text;
    if (*text == '[')
        close = ']';
    else if (*text != '"' && *text != '`' && *text != '\'')
        return (struct slice){text, token.len};
    *quote = *text;
    return unquote(p, text + 1, token.len - 2, close);
}

struct sql_node *sqlb_named(struct sql_parser *p, struct sql_node *node, struct sql_token name)
{
    struct slice slice = name_of(p, name, &node->quote);
    node->text = slice.text;
    node->text_len = slice.len;
    return node;
}

struct sql_node *sqlb_qualified(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier)
{
    char quote;
    struct slice slice = name_of(p, qualifier, &quote);
    node->text2 = slice.text;
    node->text2_len = slice.len;
    if (node->kind == SQL_COLUMN || node->kind == SQL_STAR) node->alias_quote = quote;
    if (node->kind == SQL_CALL) p->has_qualified_call = true;
    return node;
}

struct sql_node *sqlb_both_named(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier,
                                 struct sql_token name)
{
    return sqlb_qualified(p, sqlb_named(p, node, name), qualifier);
}

struct sql_node *sqlb_worded(struct sql_parser *p, struct sql_node *node, struct sql_token slice)
{
    node->text = p->text + slice.start;
    node->text_len = slice.len;
    return node;
}

struct sql_node *sqlb_worded2(struct sql_parser *p, struct sql_node *node, struct sql_token slice)
{
    node->text2 = p->text + slice.start;
    node->text2_len = slice.len;
    return node;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

struct sql_node *sqlb_query(struct sql_parser *p, struct sql_node *with, struct sql_node *body, struct sql_node *order,
                            struct sql_node *limit)
{
    return NODE(QUERY, with ? with->start : body->start, with, body, order, limit);
}

struct sql_node *sqlb_in_parens(struct sql_parser *p, struct sql_node *query, uint32_t start)
{
    if (query->flags & SQL_F_PAREN) query->flags |= SQL_F_PAREN_TWICE;
    query->flags |= SQL_F_PAREN;
    query->start = start;
    query->end = p->end;
    return query;
}

struct sql_node *sqlb_compound(struct sql_parser *p, struct sql_node *left, uint8_t op, struct sql_node *right)
{
    struct sql_node *node = NODE(COMPOUND, left->start, left, right);
    node->op = op;
    return node;
}

struct sql_node *sqlb_bare(struct sql_node *query)
{
    uint32_t end = 0;
    for (uint32_t i = query->n_kids; i-- > 0;) {
        if (!query->kids[i]) continue;
        query->start = query->kids[i]->start;
        if (query->kids[i]->end > end) end = query->kids[i]->end;
    }
    query->end = end;
    query->flags &= ~(uint32_t)(SQL_F_PAREN | SQL_F_PAREN_TWICE);
    return query;
}

struct sql_node *sqlb_subquery(struct sql_parser *p, struct sql_node *query)
{
    uint32_t start = query->start, end = query->end, twice = query->flags & SQL_F_PAREN_TWICE;
    struct sql_node *node = NODE(SUBQUERY, start, query->flags & SQL_F_PAREN ? sqlb_bare(query) : query);
    node->end = end; /* in `x > ANY (SELECT ...)` the parentheses belong to ANY */
    if (twice) node->flags |= SQL_F_PAREN;
    return node;
}

/* Extends the span of a node to the parentheses directly around it. */
static void widen(const struct sql_parser *p, struct sql_node *node)
{
    uint32_t low = 0, high = p->n_tokens;
    while (low < high) { /* the first token inside */
        uint32_t middle = (low + high) / 2;
        if (p->tokens[middle].start < node->start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0) node->start = p->tokens[low - 1].start;
    while (low < p->n_tokens && p->tokens[low].start < node->end) low++;
    if (low < p->n_tokens) node->end = p->tokens[low].start + 1;
}

/* SQLite reads x IN ((SELECT ...)) as a list of one scalar subquery. */
struct sql_node *sqlb_in_query(struct sql_parser *p, struct sql_node *query)
{
    uint32_t start = query->start;
    bool scalar = query->flags & SQL_F_PAREN_TWICE;
    struct sql_node *subquery = sqlb_subquery(p, query);
    if (!scalar) return subquery;
    subquery->flags &= ~(uint32_t)SQL_F_PAREN;
    subquery->start = query->start;
    subquery->end = query->end;
    widen(p, subquery);
    return sqlb_as(p, sqlb_list(p, SQL_LIST, subquery), SQL_LIST, start);
}

struct sql_node *sqlb_table_query(struct sql_parser *p, struct sql_token keyword, struct sql_node *table)
{
    struct sql_node *star = make(p, SQL_STAR, keyword.start);
    star->end = keyword.start + keyword.len;
    struct sql_node *items = sqlb_list(p, SQL_ITEMS, star);
    items->end = star->end;
    struct sql_node *from = sqlb_list(p, SQL_FROM, table);
    return sqlb_flag(NODE(SELECT, keyword.start, NULL, items, from, NULL, NULL, NULL, NULL), SQL_F_TABLE);
}

struct sql_node *sqlb_names(struct sql_parser *p, unsigned n, const struct sql_token *names)
{
    struct sql_node *list = sqlb_list(p, SQL_NAMES, NULL);
    for (unsigned i = 0; i < n; i++) {
        struct sql_node *name = sqlb_named(p, make(p, SQL_NAME, names[i].start), names[i]);
        name->end = names[i].start + names[i].len;
        list = sqlb_add(p, list, name);
    }
    return list;
}

struct sql_node *sqlb_cte_added(struct sql_parser *p, struct sql_node *cte, struct sql_node *names)
{
    struct sql_node *added = sql_kid(cte, CTE_ADDED);
    uint32_t start = added ? added->start : names->start;
    cte->end = p->end;
    sqlb_worded2(p, cte, sqlb_span(p, start));
    for (uint32_t i = 0; added && i < names->n_kids; i++) added = sqlb_add(p, added, names->kids[i]);
    sql_set_kid(cte, CTE_ADDED, added ? added : names);
    return cte;
}

struct sql_node *sqlb_item(struct sql_parser *p, struct sql_node *expr)
{
    return expr->kind == SQL_STAR && !(expr->flags & SQL_F_PAREN) ? expr : NODE(ITEM, expr->start, expr);
}

/* Makes the literal 1, the count of FETCH FIRST ROW ONLY, which has no number. */
static struct sql_node *one_row(struct sql_parser *p)
{
    struct sql_node *one = make(p, SQL_LITERAL, p->end);
    one->op = SQL_LIT_INT;
    one->text = "1";
    one->text_len = 1;
    return one;
}

void sqlb_fetch(struct sql_parser *p, struct sql_node *limit, struct sql_node *fetch)
{
    struct sql_node *count = sql_kid(fetch, 0);
    limit->flags |= SQL_F_FETCH | fetch->flags;
    sql_set_kid(limit, LIMIT_COUNT, count ? count : one_row(p));
}

/* ---- FROM ---------------------------------------------------------------------------------------------------- */

static void fail(struct sql_parser *p, uint32_t start, uint32_t end, const char *message)
{
    sql_diag_add(p, ERR_SYNTAX, start, end, message);
}

struct join_word {
    const char *word;
    uint8_t op;
    uint32_t flags;
};

static const struct join_word JOIN_WORDS[] = {{"CROSS", SQL_JOIN_CROSS, 0},      {"FULL", SQL_JOIN_FULL_OUTER, 0},
                                              {"INNER", SQL_JOIN_INNER, 0},      {"LEFT", SQL_JOIN_LEFT_OUTER, 0},
                                              {"NATURAL", 0, SQL_F_NATURAL},     {"OUTER", 0, SQL_F_OUTER_KW},
                                              {"RIGHT", SQL_JOIN_RIGHT_OUTER, 0}};

static const struct join_word *join_word(const struct sql_parser *p, struct sql_token token)
{
    for (unsigned k = 0; k < sizeof JOIN_WORDS / sizeof *JOIN_WORDS; k++)
        if (sql_token_is(p, token, JOIN_WORDS[k].word)) return &JOIN_WORDS[k];
    return NULL;
}

/* NATURAL and OUTER qualify a join; the other words name its type, and only one is allowed. */
struct sqlb_op sqlb_join_op(struct sql_parser *p, unsigned n, const struct sql_token *words)
{
    struct sqlb_op join = {0, 0};
    bool clash = false;
    for (unsigned i = 0; i < n; i++) {
        const struct join_word *word = join_word(p, words[i]);
        if (!word) {
            clash = true;
            continue;
        }
        clash |= (word->op && join.op) || (word->flags & join.flags);
        if (word->op) join.op = word->op;
        join.flags |= word->flags;
    }
    if (!join.op) join.op = SQL_JOIN_INNER;
    bool outer = join.op == SQL_JOIN_LEFT_OUTER || join.op == SQL_JOIN_RIGHT_OUTER || join.op == SQL_JOIN_FULL_OUTER;
    if (clash || ((join.flags & SQL_F_OUTER_KW) && !outer)) {
        const struct sql_token *last = &words[n - 1];
        fail(p, words[0].start, last->start + last->len, "unknown kind of join");
    }
    return join;
}

struct sql_node *sqlb_join(struct sql_parser *p, struct sql_node *left, struct sqlb_op op, struct sql_node *right)
{
    struct sql_node *node = NODE(JOIN, left->start, left, right, NULL, NULL);
    node->op = op.op;
    return sqlb_flag(node, op.flags);
}

/* True for a join without a condition. The grammar lets NATURAL and CROSS joins have one; the engines decide whether it
 * is valid. */
static bool is_open(const struct sql_node *node)
{
    return node->kind == SQL_JOIN && !sql_kid(node, JOIN_ON) && !sql_kid(node, JOIN_USING);
}

static void attach(struct sql_node *join, struct sql_node *clause)
{
    sql_set_kid(join, clause->kind == SQL_ON ? JOIN_ON : JOIN_USING, clause);
    join->end = clause->end;
}

/* Nests a JOIN b JOIN c ON x ON y. If the last join has a condition, the nearest join to its left without one takes the
 * new condition. Everything read after the left side of that join becomes its right side. */
static struct sql_node *nest(struct sql_node *joined, struct sql_node *open, struct sql_node *clause)
{
    struct sql_node *above = open->parent, *right = sql_kid(open, JOIN_RIGHT);
    sql_set_kid(above, JOIN_LEFT, right);
    for (struct sql_node *n = above; n != open; n = n == joined ? open : n->parent) n->start = right->start;
    sql_set_kid(open, JOIN_RIGHT, joined);
    open->parent = NULL;
    attach(open, clause);
    return open;
}

static void no_join(struct sql_parser *p, const struct sql_node *clause, const char *message)
{
    if (sql_is(sql_kid(clause, 0), SQL_ERROR)) return;                                 /* reported already */
    fail(p, clause->start, clause->start + (clause->kind == SQL_ON ? 2 : 5), message); /* the length of ON or USING */
}

/* Makes the join of FROM a, b ON x, in which SQLite reads the comma as a join. The JOIN has no left side until
 * sqlb_comma sets it. */
static struct sql_node *join_without_left(struct sql_parser *p, struct sql_node *right, struct sql_node *clause)
{
    struct sql_node *node = NODE(JOIN, right->start, NULL, right, NULL, NULL);
    node->op = SQL_JOIN_INNER;
    attach(node, clause);
    return node;
}

struct sql_node *sqlb_join_on(struct sql_parser *p, struct sql_node *joined, struct sql_node *clause)
{
    if (p->full) return spare(p);
    if (joined->kind != SQL_JOIN) return join_without_left(p, joined, clause);
    struct sql_node *open = joined;
    while (sql_is(open, SQL_JOIN) && !is_open(open)) open = sql_kid(open, JOIN_LEFT);
    if (open == joined)
        attach(joined, clause);
    else if (sql_is(open, SQL_JOIN))
        return nest(joined, open, clause);
    else
        no_join(p, clause, "no join is left for this condition: each earlier join already has one");
    return joined;
}

static struct sql_node *innermost_left(struct sql_node *joined)
{
    while (sql_is(joined, SQL_JOIN) && sql_kid(joined, JOIN_LEFT)) joined = sql_kid(joined, JOIN_LEFT);
    return joined;
}

struct sql_node *sqlb_comma(struct sql_parser *p, struct sql_node *tables, struct sql_node *joined)
{
    struct sql_node *first = innermost_left(joined);
    if (p->full || first->kind != SQL_JOIN || tables->n_kids == 0) return sqlb_add(p, tables, joined);
    struct sql_node *left = tables->kids[--tables->n_kids];
    sql_set_kid(first, JOIN_LEFT, left);
    for (struct sql_node *n = first;; n = n->parent) {
        n->start = left->start;
        if (n == joined) break;
    }
    return sqlb_add(p, tables, joined);
}

/* Reports a condition on the first table, which has nothing to join with. The table stays, without the condition. */
static void check_first(struct sql_parser *p, struct sql_node *tables)
{
    struct sql_node *first = tables->n_kids ? innermost_left(tables->kids[0]) : NULL;
    if (!sql_is(first, SQL_JOIN)) return;
    const struct sql_node *clause = sql_kid(first, JOIN_ON) ? sql_kid(first, JOIN_ON) : sql_kid(first, JOIN_USING);
    if (!clause) return;
    no_join(p, clause, "join condition without a JOIN");
    sql_replace(first, sql_kid(first, JOIN_RIGHT));
}

struct sql_node *sqlb_from(struct sql_parser *p, struct sql_node *tables, uint32_t start)
{
    check_first(p, tables);
    return sqlb_as(p, tables, SQL_FROM, start);
}

/* Joins two entries of a FROM list in parentheses, where a comma is a CROSS JOIN. As in SQLite, it groups from the left
 * like other joins. */
static struct sql_node *cross(struct sql_parser *p, struct sql_node *left, struct sql_node *joined)
{
    struct sql_node *first = innermost_left(joined), *above = first == joined ? NULL : first->parent;
    struct sql_node *join = sqlb_join(p, left, (struct sqlb_op){SQL_JOIN_CROSS, 0}, first);
    join->end = first->end;
    if (!above) return join;
    sql_set_kid(above, JOIN_LEFT, join);
    for (struct sql_node *n = above;; n = n->parent) {
        n->start = left->start;
        if (n == joined) return joined;
    }
}

struct sql_node *sqlb_from_paren(struct sql_parser *p, struct sql_node *tables, uint32_t start)
{
    if (p->full) return spare(p);
    check_first(p, tables);
    struct sql_node *all = tables->kids[0];
    for (uint32_t i = 1; i < tables->n_kids && !p->full; i++) all = cross(p, all, tables->kids[i]);
    return NODE(FROM_PAREN, start, all);
}

/* Returns the slot of a table reference that holds its column names, or -1. */
static int names_slot(const struct sql_node *table)
{
    switch (table->kind) {
    case SQL_TABLE: return 0;
    case SQL_DERIVED: return DERIVED_NAMES;
    case SQL_FROM_CALL: return FROM_CALL_NAMES;
    default: return -1;
    }
}

struct sql_node *sqlb_alias(struct sql_parser *p, struct sql_node *table, struct sql_token name, bool as,
                            struct sql_node *names)
{
    struct slice slice = name_of(p, name, &table->alias_quote);
    table->alias = slice.text;
    table->alias_len = slice.len;
    table->end = p->end;
    if (as) table->flags |= SQL_F_AS;
    if (names && names_slot(table) >= 0)
        sql_set_kid(table, (unsigned)names_slot(table), names);
    else if (names)
        fail(p, names->start, names->end, "a join in parentheses can have an alias but no column names");
    return table;
}

struct sql_node *sqlb_columns(struct sql_parser *p, struct sql_node *table, struct sql_node *names)
{
    table->end = p->end;
    if (table->kind == SQL_FROM_CALL)
        sql_set_kid(table, FROM_CALL_NAMES, names);
    else
        fail(p, names->start, names->end, "column names without an alias are only allowed after a function");
    return table;
}

struct sql_node *sqlb_using_alias(struct sql_parser *p, struct sql_node *using, struct sql_token name)
{
    struct slice slice = name_of(p, name, &using->alias_quote);
    using->alias = slice.text;
    using->alias_len = slice.len;
    using->flags |= SQL_F_AS;
    return using;
}

struct sql_node *sqlb_table_suffix(struct sql_parser *p, struct sql_node *table, uint32_t start)
{
    if (table->kind != SQL_TABLE) {
        fail(p, start, p->end, "this is only allowed after a table name");
        return table;
    }
    table->end = p->end;
    if (table->text3) return table; /* this is PARTITION; a hint after it has no effect on the result */
    table->text3 = p->text + start;
    table->text3_len = p->end - start;
    return table;
}

struct sql_node *sqlb_json_table(struct sql_parser *p, struct sql_token name, struct sql_node *x, struct sql_node *path,
                                 struct sql_node *columns)
{
    struct sql_node *args = sqlb_add(p, sqlb_list(p, SQL_ARGS, x), path);
    args->end = path->end;
    struct sql_token written = {.start = columns->start, .len = (columns->end - columns->start) & SQL_TOKEN_LEN_MAX};
    return sqlb_worded(p, NODE(FROM_CALL, name.start, sqlb_call(p, name, args), columns), written);
}

/* ---- expressions --------------------------------------------------------------------------------------------- */

struct sql_node *sqlb_paren(struct sql_parser *p, struct sql_node *expr, uint32_t start)
{
    expr->flags |= SQL_F_PAREN;
    expr->start = start;
    expr->end = p->end;
    return expr;
}

struct sql_node *sqlb_column(struct sql_parser *p, unsigned n, const struct sql_token *names)
{
    if (n == 1 && names[0].code == T_STRING) return sqlb_literal(p, names[0]);
    struct sql_node *node = sqlb_named(p, make(p, SQL_COLUMN, names[0].start), names[n - 1]);
    node->end = names[n - 1].start + names[n - 1].len; /* a string may be read before the parser knows it as a name */
    if (n > 1) sqlb_qualified(p, node, names[n - 2]);
    if (n > 2) {
        char quote;
        struct slice schema = name_of(p, names[0], &quote);
        node->text3 = schema.text;
        node->text3_len = schema.len;
    }
    return node;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes one escape of an E'' string, after its backslash. Returns the number of bytes read. An escape that would make
 * a NUL or broken UTF-8 stays as written. */
static uint32_t unescape(const char *at, uint32_t len, char *out)
{
    static const char FROM[] = "bfnrt", TO[] = "\b\f\n\r\t";
    const char *plain = strchr(FROM, *at);
    *out = plain && *at ? TO[plain - FROM] : *at;
    if (*at == 'x' && len > 2 && hex(at[1]) > 0 && hex(at[1]) < 8 && hex(at[2]) >= 0) {
        *out = (char)(hex(at[1]) * 16 + hex(at[2]));
        return 3;
    }
    return 1;
}

static struct slice escaped(struct sql_parser *p, const char *text, uint32_t len)
{
    char *copy = arena_alloc(p->arena, len);
    uint32_t n = 0;
    if (!copy) p->full = true;
    for (uint32_t i = 0; copy && i < len;) {
        if (text[i] == '\\' && i + 1 < len)
            i += 1 + unescape(text + i + 1, len - i - 1, &copy[n++]);
        else if (text[i] == '\'' && i + 1 < len)
            copy[n++] = '\'', i += 2;
        else
            copy[n++] = text[i++];
    }
    return (struct slice){copy, copy ? n : 0};
}

static uint32_t hex_value(const char *at, uint32_t digits)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < digits; i++) value = value * 16 + (uint32_t)(hex(at[i]) & 15);
    return value;
}

/* Decodes \0061 or \+000061. Returns the number of bytes at `at` and sets the character; 0 if there is no escape. */
static uint32_t code_point(const char *at, uint32_t len, uint32_t *c)
{
    uint32_t sign = len > 1 && at[1] == '+', digits = sign ? 6 : 4;
    if (len < 1 + sign + digits) return 0;
    for (uint32_t i = 0; i < digits; i++)
        if (hex(at[1 + sign + i]) < 0) return 0;
    *c = hex_value(at + 1 + sign, digits);
    return *c > 0 && *c < 0x110000 && (*c < 0xd800 || *c > 0xdfff) ? 1 + sign + digits : 0;
}

/* Decodes the content of U&'d\0061t'. No character is longer in UTF-8 than its escape, so the copy fits. */
static struct slice unicode_value(struct sql_parser *p, const char *text, uint32_t len)
{
    struct slice plain = unquote(p, text, len, '\'');
    char *copy = arena_alloc(p->arena, plain.len);
    uint32_t n = 0;
    if (!copy) p->full = true;
    for (uint32_t i = 0; copy && plain.text && i < plain.len;) {
        uint32_t c, escape = plain.text[i] == '\\' ? code_point(plain.text + i, plain.len - i, &c) : 0;
        if (escape)
            n += (uint32_t)g_unichar_to_utf8(c, copy + n);
        else
            copy[n++] = plain.text[i];
        i += escape ? escape : plain.text[i] == '\\' && i + 1 < plain.len && plain.text[i + 1] == '\\' ? 2 : 1;
    }
    return (struct slice){copy, copy ? n : 0};
}

/* Returns the value of 'x', E'x', U&'x' or $tag$x$tag$. */
static struct slice string_value(struct sql_parser *p, struct sql_token token, char *quote)
{
    const char *text = p->text + token.start;
    *quote = *text;
    if (*text == '\'') return unquote(p, text + 1, token.len - 2, '\'');
    if ((*text | 32) == 'u') {
        *quote = 'E';
        return unicode_value(p, text + 3, token.len - 4);
    }
    if (*text != '$') {
        *quote = 'E';
        return escaped(p, text + 2, token.len - 3);
    }
    uint32_t tag = (uint32_t)(strchr(text + 1, '$') - text) + 1;
    return (struct slice){text + tag, token.len - 2 * tag};
}

static const uint8_t LITERALS[256] = {
    [T_BITS] = SQL_LIT_BITS,     [T_INTEGER] = SQL_LIT_INT, [T_FLOAT] = SQL_LIT_FLOAT,
    [T_STRING] = SQL_LIT_STRING, [T_BLOB] = SQL_LIT_BLOB,   [T_NULL] = SQL_LIT_NULL,
    [T_TRUE] = SQL_LIT_TRUE,     [T_FALSE] = SQL_LIT_FALSE, [T_NOW] = SQL_LIT_CURRENT};

struct sql_node *sqlb_literal(struct sql_parser *p, struct sql_token token)
{
    struct sql_node *node = make(p, SQL_LITERAL, token.start);
    struct slice value = {p->text + token.start, token.len};
    node->end = token.start + token.len;
    node->op = LITERALS[token.code];
    if (node->op == SQL_LIT_STRING) value = string_value(p, token, &node->quote);
    if (node->op == SQL_LIT_BLOB) value = (struct slice){value.text + 2, value.len - 3};
    node->text = value.text;
    node->text_len = value.len;
    return node;
}

struct sql_node *sqlb_param(struct sql_parser *p, struct sql_token token)
{
    p->n_params++;
    return sqlb_worded(p, make(p, SQL_PARAM, token.start), token);
}

struct sql_node *sqlb_unary(struct sql_parser *p, uint32_t start, enum sql_op op, struct sql_node *x)
{
    struct sql_node *node = NODE(UNARY, start, x);
    node->op = op & 0xff;
    return node;
}

struct sql_node *sqlb_prefix(struct sql_parser *p, struct sql_token op, struct sql_node *x)
{
    return sqlb_worded(p, sqlb_unary(p, op.start, SQL_OP_OTHER, x), op);
}

static const uint8_t BINARY_OPS[256] = {
    [T_AND] = SQL_OP_AND,     [T_OR] = SQL_OP_OR,      [T_EQ] = SQL_OP_EQ,         [T_NE] = SQL_OP_NE,
    [T_LT] = SQL_OP_LT,       [T_LE] = SQL_OP_LE,      [T_GT] = SQL_OP_GT,         [T_GE] = SQL_OP_GE,
    [T_PLUS] = SQL_OP_ADD,    [T_MINUS] = SQL_OP_SUB,  [T_STAR] = SQL_OP_MUL,      [T_SLASH] = SQL_OP_DIV,
    [T_REM] = SQL_OP_MOD,     [T_CARET] = SQL_OP_POW,  [T_CONCAT] = SQL_OP_CONCAT, [T_BITAND] = SQL_OP_BITAND,
    [T_BITOR] = SQL_OP_BITOR, [T_LSHIFT] = SQL_OP_SHL, [T_RSHIFT] = SQL_OP_SHR,    [T_AT_ZONE] = SQL_OP_AT_ZONE,
    [T_ARROW] = SQL_OP_ARROW};

/* Returns the constant of a PostgreSQL operator, or SQL_OP_OTHER if it has none. */
static uint8_t named_oper(const struct sql_parser *p, struct sql_token token)
{
    static const enum sql_op NAMED[] = {SQL_OP_REMATCH,    SQL_OP_IREMATCH,    SQL_OP_NREMATCH, SQL_OP_NIREMATCH,
                                        SQL_OP_HASH_ARROW, SQL_OP_HASH_ARROW2, SQL_OP_CONTAINS, SQL_OP_CONTAINED,
                                        SQL_OP_OVERLAP,    SQL_OP_BITXOR};
    for (unsigned k = 0; k < sizeof NAMED / sizeof *NAMED; k++)
        if (sql_token_is(p, token, sql_op_text(NAMED[k]))) return NAMED[k] & 0xff;
    return SQL_OP_OTHER;
}

/* Returns the constant of the symbol in OPERATOR(pg_catalog.+), or SQL_OP_OTHER if it has none. */
static uint8_t built_in_oper(const char *text, size_t len)
{
    if (len == 2 && memcmp(text, "!=", 2) == 0) return SQL_OP_NE;
    for (unsigned op = SQL_OP_EQ; op <= SQL_OP_OVERLAP; op++) {
        const char *known = sql_op_text((enum sql_op)op);
        bool symbol = !g_ascii_isalpha(*known) && op != SQL_OP_NEG && op != SQL_OP_PLUS && op != SQL_OP_BITNOT;
        if (symbol && strlen(known) == len && memcmp(text, known, len) == 0) return op & 0xff;
    }
    return SQL_OP_OTHER;
}

static bool is_qualified_oper(const struct sql_parser *p, struct sql_token token)
{
    return token.len > 8 && sql_name_is(p->text + token.start, 8, "OPERATOR", 8);
}

/* Returns the operator of OPERATOR(pg_catalog.+), which is +. In another schema, or without one, the symbol may have
 * another meaning: SQL_OP_OTHER. */
static uint8_t qualified_oper(const struct sql_parser *p, struct sql_token token)
{
    static const char SYMBOLS[] = "+-*/<>=~!@#%^&|?", OURS[] = "pg_catalog.";
    const char *text = p->text + token.start, *end = text + token.len - 1, *open = memchr(text, '(', token.len);
    while (end > open && g_ascii_isspace(end[-1])) end--;
    const char *symbol = end;
    while (symbol > open && strchr(SYMBOLS, symbol[-1])) symbol--;
    const char *schema = open + 1;
    while (schema < symbol && g_ascii_isspace(*schema)) schema++;
    size_t len = (size_t)(symbol - schema), ours = strlen(OURS);
    return sql_name_is(schema, len, OURS, ours) ? built_in_oper(symbol, (size_t)(end - symbol)) : SQL_OP_OTHER;
}

static uint8_t token_op(const struct sql_parser *p, struct sql_token token)
{
    if (token.code == T_OPER && is_qualified_oper(p, token)) return qualified_oper(p, token);
    if (token.code == T_OPER) return named_oper(p, token);
    if (token.code == T_ARROW && token.len == 3) return SQL_OP_ARROW2;
    if (token.code == T_EQ && token.len == 3) return SQL_OP_IS_NOT_DISTINCT;                  /* <=> */
    if ((token.code == T_SLASH || token.code == T_OR) && token.len == 3) return SQL_OP_OTHER; /* DIV, XOR */
    return BINARY_OPS[token.code];
}

struct sqlb_op sqlb_op_of(const struct sql_parser *p, struct sql_token token)
{
    uint8_t op = token_op(p, token);
    bool flag = op != SQL_OP_OTHER && token.code == T_OPER && is_qualified_oper(p, token);
    return (struct sqlb_op){op, flag ? SQL_F_OPERATOR : 0U};
}

/* True for == instead of =, != instead of <>, and <=> instead of IS NOT DISTINCT FROM. */
static bool is_other_spelling(const struct sql_parser *p, struct sql_token op)
{
    return (op.code == T_EQ && op.len >= 2) || (op.code == T_NE && p->text[op.start] == '!');
}

struct sql_node *sqlb_binary(struct sql_parser *p, struct sql_node *left, struct sql_token op, struct sql_node *right)
{
    struct sql_node *node = NODE(BINARY, left->start, left, right);
    struct sqlb_op known = sqlb_op_of(p, op);
    node->op = known.op;
    node->flags |= known.flags;
    if (node->op == SQL_OP_OTHER) sqlb_worded(p, node, op);
    if (is_other_spelling(p, op)) node->flags |= SQL_F_EQ2;
    return node;
}

struct sql_node *sqlb_is(struct sql_parser *p, struct sql_node *left, enum sql_op op, struct sql_node *right)
{
    struct sql_node *node = NODE(BINARY, left->start, left, right);
    node->op = op & 0xff;
    return node;
}

struct sqlb_op sqlb_like_op(const struct sql_parser *p, struct sql_token word, uint32_t flags)
{
    static const enum sql_op LIKES[] = {SQL_OP_LIKE, SQL_OP_ILIKE, SQL_OP_GLOB, SQL_OP_REGEXP, SQL_OP_MATCH};
    for (unsigned k = 0; k < sizeof LIKES / sizeof *LIKES; k++)
        if (sql_token_is(p, word, sql_op_text(LIKES[k]))) return (struct sqlb_op){LIKES[k] & 0xff, flags};
    if (sql_token_is(p, word, "RLIKE")) return (struct sqlb_op){SQL_OP_REGEXP & 0xff, flags};
    return (struct sqlb_op){SQL_OP_SIMILAR, flags};
}

struct sql_node *sqlb_like(struct sql_parser *p, struct sql_node *value, struct sqlb_op op, struct sql_node *pattern,
                           struct sql_node *escape)
{
    struct sql_node *node = NODE(LIKE, value->start, value, pattern, escape);
    node->op = op.op;
    return sqlb_flag(node, op.flags);
}

struct sql_node *sqlb_quantified(struct sql_parser *p, struct sql_node *left, struct sqlb_op op, struct sql_token which,
                                 struct sql_node *right)
{
    struct sql_node *node = NODE(QUANTIFIED, left->start, left, right);
    node->op = op.op;
    return sqlb_flag(node, op.flags | (sql_token_is(p, which, "ALL") ? SQL_F_ALL : 0U));
}

struct sql_node *sqlb_case(struct sql_parser *p, uint32_t start, struct sql_node *operand, struct sql_node *whens,
                           struct sql_node *otherwise)
{
    sql_set_kid(whens, CASE_OPERAND, operand);
    sql_set_kid(whens, CASE_ELSE, otherwise);
    return sqlb_as(p, whens, SQL_CASE, start);
}

struct sql_node *sqlb_partitioned(struct sql_parser *p, uint32_t start, struct sql_node *exprs, struct sql_node *order,
                                  struct sql_node *frame)
{
    uint32_t end = exprs->end;
    struct sql_node *partition = sqlb_as(p, exprs, SQL_PARTITION, start);
    partition->end = end;
    return NODE(WINDOW, start, partition, order, frame);
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

struct sql_node *sqlb_args(struct sql_parser *p, struct sql_node *list, uint32_t flags, struct sql_node *order)
{
    uint32_t start = list->start;
    const struct sql_node *last = list->n_kids ? list->kids[list->n_kids - 1] : NULL;
    list->kind = SQL_ARGS;
    list->end = order && last ? last->end : p->end;
    return sqlb_flag(NODE(CALL, start, list, order, NULL, NULL), flags);
}

struct sql_node *sqlb_separated(struct sql_parser *p, struct sql_node *list, struct sql_token separator, uint32_t flags,
                                struct sql_node *order)
{
    struct sql_node *call = sqlb_args(p, sqlb_add(p, list, sqlb_literal(p, separator)), flags, order);
    struct sql_node *args = sql_kid(call, CALL_ARGS);
    if (args) args->text = SQL_SEPARATOR, args->text_len = (uint32_t)strlen(SQL_SEPARATOR), args->end = p->end;
    return call;
}

struct sql_node *sqlb_call(struct sql_parser *p, struct sql_token name, struct sql_node *args)
{
    struct sql_node *call = args->kind == SQL_ARGS ? NODE(CALL, name.start, args, NULL, NULL, NULL) : args;
    call->start = name.start;
    call->end = p->end;
    return sqlb_named(p, call, name);
}

struct sql_node *sqlb_call_add(struct sql_parser *p, struct sql_node *call, unsigned slot, struct sql_node *kid)
{
    sql_set_kid(call, slot, kid);
    call->end = p->end;
    return call;
}

struct sql_node *sqlb_word_arg(struct sql_parser *p, struct sql_node *args, struct sql_node *x,
                               const struct sql_token *word)
{
    if (!args) args = sqlb_list(p, SQL_ARGS, NULL);
    if (x && args->n_kids == 0 && !args->text)
        args->start = x->start;
    else if (!x && !args->text && word)
        args->start = word->start;
    const char *sep = args->text ? " " : "";
    char *text =
        arena_printf(p->arena, "%.*s%s%s%s%.*s", (int)args->text_len, args->text ? args->text : "", sep, x ? "?" : "",
                     x && word ? " " : "", word ? (int)word->len : 0, word ? p->text + word->start : "");
    if (!text) return spare(p);
    args->text = text;
    args->text_len = (uint32_t)strlen(text);
    return x ? sqlb_add(p, args, x) : args;
}

/* Sets args->text to the words between the arguments: "?, ?) AGAINST (? IN BOOLEAN MODE". The printer adds the outer
 * parentheses. */
struct sql_node *sqlb_against(struct sql_parser *p, struct sql_token name, struct sql_node *columns, struct sql_node *x,
                              struct sql_token mode)
{
    char *marks = arena_alloc(p->arena, 3 * (size_t)columns->n_kids + 1);
    if (!marks) return spare(p);
    for (uint32_t i = 0; i < columns->n_kids; i++) memcpy(marks + 3 * (size_t)i, "?, ", 3);
    marks[columns->n_kids ? 3 * (size_t)columns->n_kids - 2 : 0] = '\0';
    struct sql_node *args = sqlb_as(p, sqlb_add(p, columns, x), SQL_ARGS, columns->start);
    args->end = x->end;
    args->text =
        arena_printf(p->arena, "%s) AGAINST (?%s%.*s", marks, mode.len ? " " : "", (int)mode.len, p->text + mode.start);
    if (!args->text) return spare(p);
    args->text_len = (uint32_t)strlen(args->text);
    return sqlb_call(p, name, args);
}

struct sql_node *sqlb_error(struct sql_parser *p, struct sql_token bad)
{
    struct sql_node *node = make(p, SQL_ERROR, bad.start);
    node->end = bad.start + bad.len;
    node->text = p->text + bad.start;
    node->text_len = bad.len;
    return node;
}

struct sql_node *sqlb_broken(struct sql_parser *p, enum sql_kind kind, uint32_t start, struct sql_token bad)
{
    return sqlb_as(p, sqlb_list(p, kind, sqlb_error(p, bad)), kind, start);
}
