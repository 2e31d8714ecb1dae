/* Narrates expressions and conditions. Each operator has one fixed wording. Parentheses are written wherever the text
 * could be read in two ways.
 *
 * Each kind of node has a row in TELL. Nesting is limited, and deeper parts are quoted from the statement. A chain of
 * one operator (a AND b AND c ...) nests to the left once for each operand, so a loop narrates it. */
#include "lib/explain/expr.h"

#include <string.h>

/* --- operators --- */

struct wording {
    const char *premise, *prose; /* `prose` NULL means the same as the premise */
    enum looseness looseness;
};

static const struct wording BINARY[SQL_OP_COUNT] = {
    [SQL_OP_OR] = {" or", NULL, LOGIC},
    [SQL_OP_AND] = {" and", NULL, LOGIC},
    [SQL_OP_EQ] = {" is equal to", NULL, CONDITION},
    [SQL_OP_NE] = {" is not equal to", NULL, CONDITION},
    [SQL_OP_LT] = {" is less than", NULL, CONDITION},
    [SQL_OP_LE] = {" is less than or equal to", NULL, CONDITION},
    [SQL_OP_GT] = {" is greater than", NULL, CONDITION},
    [SQL_OP_GE] = {" is greater than or equal to", NULL, CONDITION},
    [SQL_OP_IS] = {" is the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_NOT] = {" is not the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_DISTINCT] = {" is not the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_IS_NOT_DISTINCT] = {" is the same (or also NULL) as", NULL, CONDITION},
    [SQL_OP_ADD] = {" plus", NULL, ARITHMETIC},
    [SQL_OP_SUB] = {" minus", NULL, ARITHMETIC},
    [SQL_OP_MUL] = {" times", NULL, ARITHMETIC},
    [SQL_OP_DIV] = {" divided by", NULL, ARITHMETIC},
    [SQL_OP_MOD] = {" modulo", " divided (remainder only) by", ARITHMETIC},
    [SQL_OP_POW] = {" to the power of", NULL, ARITHMETIC},
    [SQL_OP_CONCAT] = {" followed by", NULL, ARITHMETIC},
    [SQL_OP_BITAND] = {" bitwise-and", NULL, ARITHMETIC},
    [SQL_OP_BITOR] = {" bitwise-or", NULL, ARITHMETIC},
    [SQL_OP_BITXOR] = {" bitwise-xor", NULL, ARITHMETIC},
    [SQL_OP_SHL] = {" shifted left by", NULL, ARITHMETIC},
    [SQL_OP_SHR] = {" shifted right by", NULL, ARITHMETIC},
    [SQL_OP_REMATCH] = {" matches the regular expression", NULL, CONDITION},
    [SQL_OP_IREMATCH] = {" matches, without regard to case, the regular expression", NULL, CONDITION},
    [SQL_OP_NREMATCH] = {" does not match the regular expression", NULL, CONDITION},
    [SQL_OP_NIREMATCH] = {" does not match, without regard to case, the regular expression", NULL, CONDITION},
    [SQL_OP_ARROW] = {" at JSON path", NULL, ARITHMETIC},
    [SQL_OP_ARROW2] = {" at JSON path (as text)", NULL, ARITHMETIC},
    [SQL_OP_HASH_ARROW] = {" at JSON path list", NULL, ARITHMETIC},
    [SQL_OP_HASH_ARROW2] = {" at JSON path list (as text)", NULL, ARITHMETIC},
    [SQL_OP_CONTAINS] = {" contains", NULL, CONDITION},
    [SQL_OP_CONTAINED] = {" is contained in", NULL, CONDITION},
    [SQL_OP_OVERLAP] = {" overlaps", NULL, CONDITION},
    [SQL_OP_AT_ZONE] = {" at time zone", NULL, ARITHMETIC},
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

bool narrate_is_null(const struct sql_node *n)
{
    return sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_NULL;
}

void say_operand(struct narrator *t, struct say *out, const struct sql_node *n, enum looseness around)
{
    bool parens = looseness_of(n) <= around;
    if (parens) say(out, "(");
    say_expr(t, out, n);
    if (parens) say(out, ")");
}

/* True if the value is certainly a whole number, so that SQLite drops the fraction of a quotient. */
static bool is_whole(const struct narrator *t, const struct sql_node *n)
{
    const struct sql_node *literal = sql_plain_literal(n);
    if (literal) return literal->kind == SQL_LITERAL && literal->op == SQL_LIT_INT;
    if (sql_is(n, SQL_CALL) && sql_name_is(n->text, n->text_len, "count", 5)) return true;
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(n));
    return column && column->affinity == SCHEMA_INTEGER;
}

void say_operator(struct narrator *t, struct say *out, const struct sql_node *n)
{
    const struct wording *w = &BINARY[n->op];
    if (!w->premise) {
        say(out, " [");
        if (n->op == SQL_OP_OTHER && n->text)
            say_bytes(out, n->text, n->text_len, NARRATE_NAME_BYTES);
        else
            say(out, sql_op_text(n->op));
        say(out, "]");
    } else {
        say_verb(out, out->prose && w->prose ? w->prose : w->premise, say_are(t, out, n->kids[0]));
    }
    if (n->op == SQL_OP_DIV && is_whole(t, n->kids[0]) && is_whole(t, n->kids[1])) say(out, " (whole part only)");
    say(out, " ");
}

/* Writes the verb, in the plural if `plural`: " is less than" becomes " are less than" after "the points". */
void say_verb(struct say *out, const char *verb, bool plural)
{
    static const char *const VERBS[][2] = {
        {" is ", " are "},         {" does ", " do "},        {" matches", " match"},
        {" contains", " contain"}, {" overlaps", " overlap"},
    };
    for (size_t i = 0; plural && i < sizeof VERBS / sizeof *VERBS; i++)
        if (strncmp(verb, VERBS[i][0], strlen(VERBS[i][0])) == 0) {
            say(out, VERBS[i][1]);
            verb += strlen(VERBS[i][0]);
            break;
        }
    say(out, verb);
}

bool say_are(const struct narrator *t, const struct say *out, const struct sql_node *subject)
{
    return out->prose && subject != t->of_value && narrate_is_plural(t, subject);
}

static bool goes_on(const struct sql_node *n)
{
    const struct sql_node *left = n->kids[0];
    return left->kind == SQL_BINARY && left->op == n->op && looseness_of(n) != CONDITION;
}

static void say_null_test(struct narrator *t, struct say *out, const struct sql_node *subject, bool yes)
{
    say_operand(t, out, subject, CONDITION);
    if (out->prose)
        say_verb(out, yes ? " is missing (NULL)" : " is not missing (not NULL)", say_are(t, out, subject));
    else
        say(out, yes ? " is NULL" : " is not NULL");
}

static void say_binary(struct narrator *t, struct say *out, const struct sql_node *n)
{
    enum looseness around = looseness_of(n);
    if ((n->op == SQL_OP_IS || n->op == SQL_OP_IS_NOT) && narrate_is_null(n->kids[1])) {
        say_null_test(t, out, n->kids[0], n->op == SQL_OP_IS);
        return;
    }
    const struct sql_node *first = n;
    while (goes_on(first)) first = first->kids[0];
    say_operand(t, out, first->kids[0], around);
    for (const struct sql_node *m = first;; m = m->parent) {
        say_operator(t, out, m);
        say_operand(t, out, m->kids[1], around);
        if (m == n || out->cut) break;
    }
}

static void say_not(struct narrator *t, struct say *out, const struct sql_node *x)
{
    if (sql_is(x, SQL_EXISTS)) {
        say_not_exists(t, out, x);
        return;
    }
    say(out, "it is not the case that ");
    say_operand(t, out, x, CONDITION);
}

static void say_unary(struct narrator *t, struct say *out, const struct sql_node *n)
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
    say_null_test(t, out, x, n->op == SQL_OP_ISNULL);
}

/* --- values, columns, and the other nodes --- */

void say_list(struct narrator *t, struct say *out, const struct sql_node *list)
{
    uint32_t n = list->n_kids > NARRATE_MAX_LIST ? NARRATE_MAX_LIST : list->n_kids;
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

static void say_literal(struct narrator *t, struct say *out, const struct sql_node *n)
{
    (void)t;
    if (n->text_len > NARRATE_LITERAL_BYTES) t->cut = true;
    switch (n->op) {
    case SQL_LIT_NULL: say(out, "NULL"); return;
    case SQL_LIT_TRUE: say(out, "TRUE"); return;
    case SQL_LIT_FALSE: say(out, "FALSE"); return;
    case SQL_LIT_STRING: say_quoted(out, n->text, n->text_len, NARRATE_LITERAL_BYTES); return;
    case SQL_LIT_BLOB: say(out, "the blob "); break;
    default: break;
    }
    say_bytes(out, n->text, n->text_len, NARRATE_LITERAL_BYTES);
}

static void say_column_node(struct narrator *t, struct say *out, const struct sql_node *n)
{
    const struct sql_ref *ref = n->ref;
    if (ref && ref->kind == SQL_REF_ALIAS && ref->expr) {
        say_expr(t, out, ref->expr);
    } else if (ref && ref->kind == SQL_REF_STRING) {
        say_quoted(out, n->text, n->text_len, NARRATE_LITERAL_BYTES);
    } else if (ref && ref->source && (ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID)) {
        say_ref(t, out, ref);
    } else {
        say_sql(t, out, n);
    }
}

static void say_when(struct narrator *t, struct say *out, const struct sql_node *n, const struct sql_node *operand)
{
    say(out, "if ");
    if (operand) {
        say_operand(t, out, operand, CONDITION);
        say_verb(out, " is equal to ", say_are(t, out, operand));
    }
    say_operand(t, out, n->kids[WHEN_CONDITION], operand ? CONDITION : LOGIC);
    say(out, " then ");
    say_operand(t, out, n->kids[WHEN_RESULT], CONDITION);
}

static void say_case(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say(out, "[");
    for (uint32_t i = CASE_FIRST_WHEN; i < n->n_kids && i < NARRATE_MAX_LIST; i++) {
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

static void say_cast(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], ARITHMETIC);
    say(out, " as ");
    say_bytes(out, n->text, n->text_len, NARRATE_NAME_BYTES);
}

static void say_collate(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], ARITHMETIC);
    say(out, " (compared by ");
    say_bytes(out, n->text, n->text_len, NARRATE_NAME_BYTES);
    say(out, ")");
}

static void say_extract(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say(out, "the ");
    say_bytes(out, n->text, n->text_len, NARRATE_NAME_BYTES);
    say(out, " of ");
    say_operand(t, out, n->kids[0], ARITHMETIC);
}

static void say_row(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say(out, "(");
    say_list(t, out, n);
    say(out, ")");
}

static narrate_fn *const NARRATE[SQL_KIND_COUNT] = {
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

void say_expr(struct narrator *t, struct say *out, const struct sql_node *expr)
{
    if (t->nesting >= NARRATE_MAX_NESTING || !NARRATE[expr->kind]) {
        if (NARRATE[expr->kind]) narrate_missing(t, "Some expressions are nested too deep to be told in words.");
        say_sql(t, out, expr);
        return;
    }
    t->nesting++;
    NARRATE[expr->kind](t, out, expr);
    t->nesting--;
}

void say_expr_bare(struct narrator *t, struct say *out, const struct sql_node *expr)
{
    static const char ARTICLE[] = "the ";
    size_t at = out->len;
    say_expr(t, out, expr);
    size_t len = strlen(ARTICLE);
    if (!out->prose || out->len < at + len || memcmp(out->text + at, ARTICLE, len) != 0) return;
    memmove(out->text + at, out->text + at + len, out->len - at - len + 1);
    out->len -= len;
}
