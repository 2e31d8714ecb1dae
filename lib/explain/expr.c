/* Expressions and conditions in words. One fixed wording an operator; parentheses wherever the reading could differ.
 *
 * Each kind of node has a row in TELL. Nesting is bounded: what lies deeper is quoted from the statement. Chains of one
 * operator (a AND b AND c ...) lean to the left and are as deep as they are long, so they are told in a loop.
 */
#include "lib/explain/teller.h"

#include <string.h>

/* --- operators --- */

/* Loosest first; what is looser than its surroundings, or as loose and not the same operator, gets parentheses. */
enum looseness { LOGIC, CONDITION, ARITHMETIC, TIGHT };

struct wording {
    const char *premise, *prose; /* prose NULL: as the premise */
    enum looseness looseness;
};

static const struct wording BINARY[SQL_OP_COUNT] = {
    [SQL_OP_OR] = {"or", NULL, LOGIC},
    [SQL_OP_AND] = {"and", NULL, LOGIC},
    [SQL_OP_EQ] = {"is equal to", NULL, CONDITION},
    [SQL_OP_NE] = {"is not equal to", NULL, CONDITION},
    [SQL_OP_LT] = {"is less than", NULL, CONDITION},
    [SQL_OP_LE] = {"is less than or equal to", NULL, CONDITION},
    [SQL_OP_GT] = {"is greater than", NULL, CONDITION},
    [SQL_OP_GE] = {"is greater than or equal to", NULL, CONDITION},
    [SQL_OP_IS] = {"is the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_NOT] = {"is not the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_DISTINCT] = {"is not the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_NOT_DISTINCT] = {"is the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_ADD] = {"plus", NULL, ARITHMETIC},
    [SQL_OP_SUB] = {"minus", NULL, ARITHMETIC},
    [SQL_OP_MUL] = {"times", NULL, ARITHMETIC},
    [SQL_OP_DIV] = {"divided by", NULL, ARITHMETIC},
    [SQL_OP_MOD] = {"modulo", "divided (remainder only) by", ARITHMETIC},
    [SQL_OP_POW] = {"to the power of", NULL, ARITHMETIC},
    [SQL_OP_CONCAT] = {"followed by", NULL, ARITHMETIC},
    [SQL_OP_BITAND] = {"bitwise-and", NULL, ARITHMETIC},
    [SQL_OP_BITOR] = {"bitwise-or", NULL, ARITHMETIC},
    [SQL_OP_BITXOR] = {"bitwise-xor", NULL, ARITHMETIC},
    [SQL_OP_SHL] = {"shifted left by", NULL, ARITHMETIC},
    [SQL_OP_SHR] = {"shifted right by", NULL, ARITHMETIC},
    [SQL_OP_REMATCH] = {"matches the regular expression", NULL, CONDITION},
    [SQL_OP_IREMATCH] = {"matches, without regard to case, the regular expression", NULL, CONDITION},
    [SQL_OP_NREMATCH] = {"does not match the regular expression", NULL, CONDITION},
    [SQL_OP_NIREMATCH] = {"does not match, without regard to case, the regular expression", NULL, CONDITION},
    [SQL_OP_ARROW] = {"at JSON path", NULL, ARITHMETIC},
    [SQL_OP_ARROW2] = {"at JSON path (as text)", NULL, ARITHMETIC},
    [SQL_OP_HASH_ARROW] = {"at JSON path list", NULL, ARITHMETIC},
    [SQL_OP_HASH_ARROW2] = {"at JSON path list (as text)", NULL, ARITHMETIC},
    [SQL_OP_CONTAINS] = {"contains", NULL, CONDITION},
    [SQL_OP_CONTAINED] = {"is contained in", NULL, CONDITION},
    [SQL_OP_OVERLAP] = {"overlaps", NULL, CONDITION},
    [SQL_OP_AT_ZONE] = {"at time zone", NULL, ARITHMETIC},
};

static enum looseness unary_looseness(const struct sql_node *n)
{
    switch (n->op) {
    case SQL_OP_NOT: return LOGIC;
    case SQL_OP_NEG: return sql_is(n->kids[0], SQL_LITERAL) ? TIGHT : ARITHMETIC;
    case SQL_OP_BITNOT: return ARITHMETIC;
    default: return CONDITION; /* ISNULL, NOTNULL */
    }
}

static enum looseness looseness_of(const struct sql_node *n)
{
    while (n->kind == SQL_UNARY && n->op == SQL_OP_PLUS) n = n->kids[0];
    switch (n->kind) {
    case SQL_BINARY: return BINARY[n->op].premise ? BINARY[n->op].looseness : ARITHMETIC;
    case SQL_UNARY: return unary_looseness(n);
    case SQL_LIKE:
    case SQL_BETWEEN:
    case SQL_IN:
    case SQL_EXISTS:
    case SQL_QUANTIFIED: return CONDITION;
    default: return TIGHT;
    }
}

static bool is_null(const struct sql_node *n)
{
    return sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_NULL;
}

/* An operand of something of that looseness. */
static void say_operand(struct teller *t, struct say *out, const struct sql_node *n, enum looseness around)
{
    bool parens = looseness_of(n) <= around;
    if (parens) say(out, "(");
    say_expr(t, out, n);
    if (parens) say(out, ")");
}

/* Both sides whole numbers by declaration: SQLite drops the fraction. */
static bool is_whole(const struct teller *t, const struct sql_node *n)
{
    const struct sql_node *literal = sql_plain_literal(n);
    if (literal) return literal->kind == SQL_LITERAL && literal->op == SQL_LIT_INT;
    if (sql_is(n, SQL_CALL) && sql_name_is(n->text, n->text_len, "count", 5)) return true;
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(n));
    return column && column->affinity == SCHEMA_INTEGER;
}

static void say_binary_word(struct teller *t, struct say *out, const struct sql_node *n)
{
    const struct wording *w = &BINARY[n->op];
    say(out, " ");
    if (!w->premise) {
        say(out, "[");
        if (n->op == SQL_OP_OTHER && n->text)
            say_bytes(out, n->text, n->text_len, TELL_NAME_BYTES);
        else
            say(out, sql_op_text(n->op));
        say(out, "]");
    } else {
        say(out, out->prose && w->prose ? w->prose : w->premise);
    }
    if (n->op == SQL_OP_DIV && is_whole(t, n->kids[0]) && is_whole(t, n->kids[1])) say(out, " (whole part only)");
    say(out, " ");
}

static bool goes_on(const struct sql_node *n)
{
    const struct sql_node *left = n->kids[0];
    return left->kind == SQL_BINARY && left->op == n->op && looseness_of(n) != CONDITION;
}

static void say_binary(struct teller *t, struct say *out, const struct sql_node *n)
{
    enum looseness around = looseness_of(n);
    if ((n->op == SQL_OP_IS || n->op == SQL_OP_IS_NOT) && is_null(n->kids[1])) {
        say_operand(t, out, n->kids[0], CONDITION);
        say_either(out, n->op == SQL_OP_IS ? " is NULL" : " is not NULL",
                   n->op == SQL_OP_IS ? " is missing (NULL)" : " is not missing (not NULL)");
        return;
    }
    const struct sql_node *first = n;
    while (goes_on(first)) first = first->kids[0];
    say_operand(t, out, first->kids[0], around);
    for (const struct sql_node *m = first;; m = m->parent) {
        say_binary_word(t, out, m);
        say_operand(t, out, m->kids[1], around);
        if (m == n || out->cut) break;
    }
}

/* --- inner queries in place --- */

/* COUNT(*), COUNT(1). */
static bool counts_rows(const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (call->flags & SQL_F_DISTINCT) return false;
    if (call->flags & SQL_F_STAR) return true;
    const struct sql_node *literal = args->n_kids == 1 ? sql_plain_literal(args->kids[0]) : NULL;
    return literal && !is_null(literal);
}

/* An inner query of one table and one block, with at most a plain WHERE: its SELECT, else NULL. */
static const struct sql_node *simple_select(const struct teller *t, const struct sql_node *query)
{
    const struct sql_node *select = query->kids[QUERY_BODY];
    if (query->kids[QUERY_WITH] || query->kids[QUERY_ORDER] || query->kids[QUERY_LIMIT] || select->kind != SQL_SELECT)
        return NULL;
    const struct sql_block *block = sql_block_of(t->source->bound, select);
    if (!block || block->n_sources != 1 || block->sources[0].kind != SQL_SOURCE_TABLE) return NULL;
    if (select->kids[SELECT_DISTINCT] || select->kids[SELECT_GROUP] || select->kids[SELECT_HAVING] ||
        select->kids[SELECT_WINDOWS])
        return NULL;
    for (const struct sql_node *n = select; n; n = sql_walk(select, n))
        if (n->kind == SQL_QUERY) return NULL;
    return select;
}

static void say_rows_in_place(struct teller *t, struct say *out, const struct sql_node *select, bool plural)
{
    const struct sql_source *source = &sql_block_of(t->source->bound, select)->sources[0];
    const struct sql_node *where = select->kids[SELECT_WHERE];
    if (plural && !where) say(out, "all ");
    (plural ? say_source_plural : say_source)(t, out, source);
    if (!where) return;
    say(out, " where ");
    say_expr(t, out, where->kids[0]);
}

bool say_in_place(struct teller *t, struct say *out, const struct sql_node *query, uint32_t number)
{
    const struct sql_node *select = out->prose ? simple_select(t, query) : NULL;
    if (!select || number >= TELL_MAX_QUERIES) return false;
    const struct sql_node *items = select->kids[SELECT_ITEMS];
    if (items->n_kids != 1 || items->kids[0]->kind != SQL_ITEM) return false;
    const struct sql_node *item = items->kids[0]->kids[0];
    if (!sql_is_aggregate(item) && !sql_plain_column(item)) return false;
    if (sql_is(item, SQL_CALL) && counts_rows(item)) {
        say(out, "the number of ");
    } else {
        say_expr(t, out, item);
        say(out, " of ");
    }
    say_rows_in_place(t, out, select, true);
    t->queries[number].in_place = true;
    return true;
}

/* "there is a sailing where ..." */
static bool say_existing(struct teller *t, struct say *out, const struct sql_node *query, uint32_t number,
                         const char *there_is)
{
    const struct sql_node *select = out->prose ? simple_select(t, query) : NULL;
    if (!select || number >= TELL_MAX_QUERIES || sql_block_of(t->source->bound, select)->aggregate) return false;
    say(out, there_is);
    say_rows_in_place(t, out, select, false);
    t->queries[number].in_place = true;
    return true;
}

static void say_not(struct teller *t, struct say *out, const struct sql_node *x)
{
    if (sql_is(x, SQL_EXISTS)) {
        uint32_t number = tell_query_number(t, x->kids[0], NULL, TELL_EXISTS);
        if (say_existing(t, out, x->kids[0], number, "there is no ")) return;
        say_query(out, number);
        say(out, " gives no row");
        return;
    }
    say(out, "it is not the case that ");
    say_operand(t, out, x, CONDITION);
}

static void say_unary(struct teller *t, struct say *out, const struct sql_node *n)
{
    const struct sql_node *x = n->kids[0];
    switch (n->op) {
    case SQL_OP_NOT: say_not(t, out, x); return;
    case SQL_OP_PLUS: say_expr(t, out, x); return;
    case SQL_OP_NEG:
        say(out, sql_is(x, SQL_LITERAL) ? "-" : "minus ");
        say_operand(t, out, x, ARITHMETIC);
        return;
    case SQL_OP_BITNOT:
        say(out, "bitwise-not ");
        say_operand(t, out, x, ARITHMETIC);
        return;
    default: break;
    }
    say_operand(t, out, x, CONDITION);
    say_either(out, n->op == SQL_OP_ISNULL ? " is NULL" : " is not NULL",
               n->op == SQL_OP_ISNULL ? " is missing (NULL)" : " is not missing (not NULL)");
}

/* --- conditions --- */

/* What a LIKE pattern without further wildcards asks for: '%x%' contains x. */
static const char *like_form(const struct sql_node *pattern, const char **inside, uint32_t *len)
{
    pattern = sql_plain_literal(pattern);
    bool is_text = sql_is(pattern, SQL_COLUMN) || (sql_is(pattern, SQL_LITERAL) && pattern->op == SQL_LIT_STRING);
    if (!is_text || pattern->text_len == 0) return NULL;
    const char *text = pattern->text;
    uint32_t n = pattern->text_len;
    bool open_left = text[0] == '%', open_right = n > 1 && text[n - 1] == '%';
    *inside = text + open_left;
    *len = n - open_left - open_right;
    if (*len == 0 || memchr(*inside, '%', *len) || memchr(*inside, '_', *len)) return NULL;
    static const char *const FORMS[2][2] = {{"equal to", "beginning with"}, {"ending with", "containing"}};
    return FORMS[open_left][open_right];
}

static const struct {
    const char *yes, *no;
} PATTERNS[SQL_OP_COUNT] = {
    [SQL_OP_LIKE] = {" is like ", " is not like "},
    [SQL_OP_ILIKE] = {" is like (without regard to case) ", " is not like (without regard to case) "},
    [SQL_OP_GLOB] = {" matches the glob ", " does not match the glob "},
    [SQL_OP_REGEXP] = {" matches the regular expression ", " does not match the regular expression "},
    [SQL_OP_MATCH] = {" matches ", " does not match "},
    [SQL_OP_SIMILAR] = {" is similar to the pattern ", " is not similar to the pattern "},
};

/* Of a condition with a subject, what is said of it: " is like '%x%'". */
static void say_like_test(struct teller *t, struct say *out, const struct sql_node *n)
{
    const char *inside;
    uint32_t len;
    say(out, n->flags & SQL_F_NOT ? PATTERNS[n->op].no : PATTERNS[n->op].yes);
    say_operand(t, out, n->kids[LIKE_PATTERN], CONDITION);
    bool plain = n->op == SQL_OP_LIKE && !n->kids[LIKE_ESCAPE];
    const char *form = plain ? like_form(n->kids[LIKE_PATTERN], &inside, &len) : NULL;
    if (form) {
        say(out, " (");
        say(out, form);
        say(out, " ");
        say_quoted(out, inside, len, TELL_LITERAL_BYTES);
        say(out, ")");
    }
    if (n->kids[LIKE_ESCAPE]) {
        say(out, " with the escape character ");
        say_expr(t, out, n->kids[LIKE_ESCAPE]);
    }
}

static void say_between_test(struct teller *t, struct say *out, const struct sql_node *n)
{
    say(out, n->flags & SQL_F_NOT ? " is not between " : " is between ");
    say_operand(t, out, n->kids[BETWEEN_LOW], CONDITION);
    say(out, " and ");
    say_operand(t, out, n->kids[BETWEEN_HIGH], CONDITION);
    say(out, n->flags & SQL_F_SYMMETRIC ? " (both included, in either order)" : " (both included)");
}

static void say_list(struct teller *t, struct say *out, const struct sql_node *list)
{
    uint32_t n = list->n_kids > TELL_MAX_LIST ? TELL_MAX_LIST : list->n_kids;
    for (uint32_t i = 0; i < n; i++) {
        if (i) say(out, ", ");
        say_operand(t, out, list->kids[i], ARITHMETIC);
    }
    if (n == list->n_kids) return;
    t->cut = true;
    say(out, " and ");
    say_count(out, list->n_kids - n);
    say(out, " more");
}

static void say_in_test(struct teller *t, struct say *out, const struct sql_node *n)
{
    const struct sql_node *right = n->kids[IN_RIGHT];
    bool negated = n->flags & SQL_F_NOT;
    if (sql_is(right, SQL_SUBQUERY)) {
        uint32_t number = tell_query_number(t, right->kids[0], NULL, TELL_IN);
        say(out, negated ? " is not among the values of " : " is among the values of ");
        if (!say_in_place(t, out, right->kids[0], number)) say_query(out, number);
    } else if (sql_is(right, SQL_LIST)) {
        say(out, negated ? " is none of " : " is one of ");
        if (right->n_kids)
            say_list(t, out, right);
        else
            say(out, "nothing (an empty list)");
    } else {
        say(out, negated ? " is not among the values of " : " is among the values of ");
        say_sql(t, out, right);
    }
}

static void say_comparison_test(struct teller *t, struct say *out, const struct sql_node *n)
{
    say_binary_word(t, out, n);
    say_operand(t, out, n->kids[1], CONDITION);
}

/* Conditions whose subject, always the first kid, can be told apart from the test. */
static tell_fn *const TESTS[SQL_KIND_COUNT] = {
    [SQL_BINARY] = say_comparison_test,
    [SQL_LIKE] = say_like_test,
    [SQL_BETWEEN] = say_between_test,
    [SQL_IN] = say_in_test,
};

static void say_subject_and_test(struct teller *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], CONDITION);
    TESTS[n->kind](t, out, n);
}

bool tell_has_test(const struct sql_node *condition)
{
    return TESTS[condition->kind] && (condition->kind != SQL_BINARY || sql_is_comparison(condition->op));
}

void say_test(struct teller *t, struct say *out, const struct sql_node *condition)
{
    TESTS[condition->kind](t, out, condition);
}

static void say_exists(struct teller *t, struct say *out, const struct sql_node *n)
{
    uint32_t number = tell_query_number(t, n->kids[0], NULL, TELL_EXISTS);
    if (say_existing(t, out, n->kids[0], number, "there is a ")) return;
    say_query(out, number);
    say(out, " gives at least one row");
}

static void say_quantified(struct teller *t, struct say *out, const struct sql_node *n)
{
    const struct sql_node *right = n->kids[1];
    say_operand(t, out, n->kids[0], CONDITION);
    say_binary_word(t, out, n);
    say(out, n->flags & SQL_F_ALL ? "every value of " : "at least one value of ");
    if (sql_is(right, SQL_SUBQUERY))
        say_query(out, tell_query_number(t, right->kids[0], NULL, TELL_COMPARED));
    else
        say_operand(t, out, right, CONDITION);
}

static void say_subquery(struct teller *t, struct say *out, const struct sql_node *n)
{
    uint32_t number = tell_query_number(t, n->kids[0], NULL, TELL_VALUE);
    if (say_in_place(t, out, n->kids[0], number)) return;
    say(out, "the value of ");
    say_query(out, number);
}

/* --- calls --- */

/* Aggregates: wording before the argument, and what the summary calls them. */
static const struct aggregate {
    const char *name, *premise, *prose;
} AGGREGATES[] = {
    {"count", "the number of not-NULL values of ", "the number of filled values of "},
    {"sum", "the sum of ", "the sum of "},
    {"total", "the sum (0.0 of nothing) of ", "the sum (0.0 of nothing) of "},
    {"avg", "the average of ", "the average of "},
    {"min", "the minimum of ", "the smallest value of "},
    {"max", "the maximum of ", "the largest value of "},
    {"group_concat", "the concatenation of ", "all values, joined to one text, of "},
    {"string_agg", "the concatenation of ", "all values, joined to one text, of "},
};

static const struct aggregate *aggregate_of(const struct sql_node *call)
{
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i].name, strlen(AGGREGATES[i].name)))
            return &AGGREGATES[i];
    return NULL;
}

const char *tell_aggregate_name(const struct sql_node *expr)
{
    const struct aggregate *aggregate = sql_is_aggregate(expr) ? aggregate_of(expr) : NULL;
    return aggregate ? aggregate->name : NULL;
}

/* The only source of the block around, for "the number of ports". */
static const struct sql_source *only_source(const struct teller *t, const struct sql_node *n)
{
    const struct sql_block *block = sql_block_of(t->source->bound, n);
    return block && block->n_sources == 1 ? &block->sources[0] : NULL;
}

static void say_number_of_rows(struct teller *t, struct say *out, const struct sql_node *call)
{
    const struct sql_source *source = out->prose ? only_source(t, call) : NULL;
    say(out, "the number of ");
    if (source)
        say_source_plural(t, out, source);
    else
        say(out, "rows");
}

static void say_arguments(struct teller *t, struct say *out, const struct sql_node *args)
{
    for (uint32_t i = 0; args && i < args->n_kids; i++) {
        if (i) say(out, ", ");
        say_operand(t, out, args->kids[i], CONDITION);
    }
}

static void say_different(struct say *out, const struct aggregate *aggregate)
{
    if (strcmp(aggregate->name, "count") == 0) {
        say(out, "the number of different ");
        say_either(out, "not-NULL values of ", "values of ");
        return;
    }
    say_either(out, aggregate->premise, aggregate->prose);
    say(out, "the different values of ");
}

/* Usual functions of one argument: "the length of x". */
static const struct {
    const char *name, *before;
} FUNCTIONS[] = {
    {"length", "the length of "},      {"lower", "the lower case of "},     {"upper", "the upper case of "},
    {"abs", "the absolute value of "}, {"round", "the rounded value of "},  {"typeof", "the type of "},
    {"date", "the date of "},          {"julianday", "the Julian day of "}, {"year", "the year of "},
    {"trim", "the trimmed text of "},
};

static bool say_known_function(struct teller *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (args->n_kids != 1 || call->text2 || args->text) return false;
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (!sql_name_is(call->text, call->text_len, FUNCTIONS[i].name, strlen(FUNCTIONS[i].name))) continue;
        say(out, FUNCTIONS[i].before);
        say_operand(t, out, args->kids[0], ARITHMETIC);
        return true;
    }
    return false;
}

static void say_function(struct teller *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (args->text) { /* f(x FROM y FOR z): which word stands where is in the statement */
        say_sql(t, out, call);
        return;
    }
    if (!(call->flags & (SQL_F_DISTINCT | SQL_F_STAR)) && say_known_function(t, out, call)) return;
    for (uint32_t i = 0; i < call->text_len && i < TELL_NAME_BYTES; i++) {
        char c = call->text[i], lower[2] = {(char)(c >= 'A' && c <= 'Z' ? c | 32 : c), 0};
        say_bytes(out, lower, 1, 1);
    }
    say(out, call->flags & SQL_F_DISTINCT ? "(different " : "(");
    if (call->flags & SQL_F_STAR) say(out, "*");
    say_arguments(t, out, args);
    say(out, ")");
}

static void say_terms(struct teller *t, struct say *out, const struct sql_node *order);

static void say_over(struct teller *t, struct say *out, const struct sql_node *window)
{
    const struct sql_node *partition = window->kids[WINDOW_PARTITION], *order = window->kids[WINDOW_ORDER];
    if (!partition && !order && !window->kids[WINDOW_FRAME] && !window->text2) {
        say(out, " over all rows");
        return;
    }
    say(out, " over the rows");
    if (window->text2) {
        say(out, " of the window ");
        say_bytes(out, window->text2, window->text2_len, TELL_NAME_BYTES);
    }
    if (partition) {
        say(out, " with the same ");
        for (uint32_t i = 0; i < partition->n_kids; i++) {
            say_comma(out, i, partition->n_kids);
            say_operand(t, out, partition->kids[i], CONDITION);
        }
    }
    if (order) {
        say(out, " in the order of ");
        say_terms(t, out, order);
    }
    if (window->kids[WINDOW_FRAME]) {
        say(out, ", frame ");
        say_sql(t, out, window->kids[WINDOW_FRAME]);
    }
}

static void say_terms(struct teller *t, struct say *out, const struct sql_node *order)
{
    for (uint32_t i = 0; i < order->n_kids; i++) {
        const struct sql_node *term = order->kids[i];
        say_comma(out, i, order->n_kids);
        say_expr(t, out, term->kids[0]);
        say(out, term->op == SQL_DESC ? " descending" : " ascending");
    }
}

static void say_call_tail(struct teller *t, struct say *out, const struct sql_node *call)
{
    if (call->kids[CALL_ORDER]) {
        say(out, ", taken in the order of ");
        say_terms(t, out, call->kids[CALL_ORDER]);
    }
    if (call->kids[CALL_FILTER]) {
        say(out, ", only of rows where ");
        say_operand(t, out, call->kids[CALL_FILTER]->kids[0], CONDITION);
    }
    if (call->kids[CALL_WINDOW]) say_over(t, out, call->kids[CALL_WINDOW]);
}

/* COUNT of a column that is never NULL, over one table: people call that the number of its rows. */
static bool counts_filled(const struct teller *t, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    const struct sql_source *source = only_source(t, call);
    if ((call->flags & SQL_F_DISTINCT) || args->n_kids != 1 || !source || source->kind != SQL_SOURCE_TABLE)
        return false;
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(args->kids[0]));
    return column && column->not_null;
}

static void say_call(struct teller *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    const struct aggregate *aggregate = call->text2 || args->text ? NULL : aggregate_of(call);
    bool is_count = aggregate && strcmp(aggregate->name, "count") == 0;
    bool tail = call->kids[CALL_ORDER] || call->kids[CALL_FILTER] || call->kids[CALL_WINDOW];
    if (tail) say(out, "(");
    if (is_count && (counts_rows(call) || (out->prose && counts_filled(t, call)))) {
        say_number_of_rows(t, out, call);
    } else if (!aggregate || args->n_kids == 0 || (args->n_kids > 1 && aggregate->name[0] == 'm')) {
        say_function(t, out, call);
    } else {
        if (call->flags & SQL_F_DISTINCT)
            say_different(out, aggregate);
        else
            say_either(out, aggregate->premise, aggregate->prose);
        say_operand(t, out, args->kids[0], ARITHMETIC);
        for (uint32_t i = 1; i < args->n_kids; i++) {
            say(out, " separated by ");
            say_operand(t, out, args->kids[i], ARITHMETIC);
        }
    }
    say_call_tail(t, out, call);
    if (tail) say(out, ")");
}

/* --- values, columns, and the rest --- */

static void say_literal(struct teller *t, struct say *out, const struct sql_node *n)
{
    (void)t;
    if (n->text_len > TELL_LITERAL_BYTES) t->cut = true;
    switch (n->op) {
    case SQL_LIT_NULL: say(out, "NULL"); return;
    case SQL_LIT_TRUE: say(out, "TRUE"); return;
    case SQL_LIT_FALSE: say(out, "FALSE"); return;
    case SQL_LIT_STRING: say_quoted(out, n->text, n->text_len, TELL_LITERAL_BYTES); return;
    case SQL_LIT_BLOB: say(out, "the blob "); break;
    default: break;
    }
    say_bytes(out, n->text, n->text_len, TELL_LITERAL_BYTES);
}

static void say_column_node(struct teller *t, struct say *out, const struct sql_node *n)
{
    const struct sql_ref *ref = n->ref;
    if (ref && ref->kind == SQL_REF_ALIAS && ref->expr) {
        say_expr(t, out, ref->expr);
    } else if (ref && ref->kind == SQL_REF_STRING) {
        say_quoted(out, n->text, n->text_len, TELL_LITERAL_BYTES);
    } else if (ref && ref->source && (ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID)) {
        say_ref(t, out, ref);
    } else {
        say_sql(t, out, n);
    }
}

static void say_when(struct teller *t, struct say *out, const struct sql_node *n, const struct sql_node *operand)
{
    say(out, "if ");
    if (operand) {
        say_operand(t, out, operand, CONDITION);
        say(out, " is equal to ");
    }
    say_operand(t, out, n->kids[WHEN_CONDITION], operand ? CONDITION : LOGIC);
    say(out, " then ");
    say_operand(t, out, n->kids[WHEN_RESULT], CONDITION);
}

static void say_case(struct teller *t, struct say *out, const struct sql_node *n)
{
    say(out, "[");
    for (uint32_t i = CASE_FIRST_WHEN; i < n->n_kids && i < TELL_MAX_LIST; i++) {
        if (i > CASE_FIRST_WHEN) say(out, ", ");
        say_when(t, out, n->kids[i], n->kids[CASE_OPERAND]);
    }
    say(out, ", otherwise ");
    if (n->kids[CASE_ELSE])
        say_operand(t, out, n->kids[CASE_ELSE], CONDITION);
    else
        say(out, "NULL");
    say(out, "]");
}

static void say_cast(struct teller *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], ARITHMETIC);
    say(out, " as ");
    say_bytes(out, n->text, n->text_len, TELL_NAME_BYTES);
}

static void say_collate(struct teller *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], ARITHMETIC);
    say(out, " (compared by ");
    say_bytes(out, n->text, n->text_len, TELL_NAME_BYTES);
    say(out, ")");
}

static void say_extract(struct teller *t, struct say *out, const struct sql_node *n)
{
    say(out, "the ");
    say_bytes(out, n->text, n->text_len, TELL_NAME_BYTES);
    say(out, " of ");
    say_operand(t, out, n->kids[0], ARITHMETIC);
}

static void say_row(struct teller *t, struct say *out, const struct sql_node *n)
{
    say(out, "(");
    say_list(t, out, n);
    say(out, ")");
}

static tell_fn *const TELL[SQL_KIND_COUNT] = {
    [SQL_BINARY] = say_binary,
    [SQL_UNARY] = say_unary,
    [SQL_LIKE] = say_subject_and_test,
    [SQL_BETWEEN] = say_subject_and_test,
    [SQL_IN] = say_subject_and_test,
    [SQL_EXISTS] = say_exists,
    [SQL_QUANTIFIED] = say_quantified,
    [SQL_SUBQUERY] = say_subquery,
    [SQL_CALL] = say_call,
    [SQL_LITERAL] = say_literal,
    [SQL_COLUMN] = say_column_node,
    [SQL_CASE] = say_case,
    [SQL_CAST] = say_cast,
    [SQL_COLLATE] = say_collate,
    [SQL_EXTRACT] = say_extract,
    [SQL_ROW] = say_row,
    [SQL_LIST] = say_row,
};

void say_expr(struct teller *t, struct say *out, const struct sql_node *expr)
{
    if (t->nesting >= TELL_MAX_NESTING || !TELL[expr->kind]) {
        if (TELL[expr->kind]) tell_missing(t, "Some expressions are nested too deep to be told in words.");
        say_sql(t, out, expr);
        return;
    }
    t->nesting++;
    TELL[expr->kind](t, out, expr);
    t->nesting--;
}
