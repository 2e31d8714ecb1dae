/* Narrates conditions that consist of a subject and a test: comparisons, LIKE, BETWEEN, IN. */
#include "lib/explain/expr.h"

#include <string.h>

/* Returns the wording of a LIKE pattern without inner wildcards: "containing" for '%x%'. *inside and *len get the text
 * x. Returns NULL for other patterns. */
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

/* Writes the test of a LIKE condition without its subject: " is like '%x%'". */
static void say_like_test(struct narrator *t, struct say *out, const struct sql_node *n)
{
    const char *inside;
    uint32_t len;
    say_verb(out, n->flags & SQL_F_NOT ? PATTERNS[n->op].no : PATTERNS[n->op].yes, say_are(t, out, n->kids[0]));
    say_operand(t, out, n->kids[LIKE_PATTERN], CONDITION);
    bool plain = n->op == SQL_OP_LIKE && !n->kids[LIKE_ESCAPE];
    const char *form = plain ? like_form(n->kids[LIKE_PATTERN], &inside, &len) : NULL;
    if (form) {
        say(out, " (");
        say(out, form);
        say(out, " ");
        say_quoted(out, inside, len, NARRATE_LITERAL_BYTES);
        say(out, ")");
    }
    if (n->kids[LIKE_ESCAPE]) {
        say(out, " with the escape character ");
        say_expr(t, out, n->kids[LIKE_ESCAPE]);
    }
}

static void say_between_test(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_verb(out, n->flags & SQL_F_NOT ? " is not between " : " is between ", say_are(t, out, n->kids[0]));
    say_operand(t, out, n->kids[BETWEEN_LOW], CONDITION);
    say(out, " and ");
    say_operand(t, out, n->kids[BETWEEN_HIGH], CONDITION);
    say(out, n->flags & SQL_F_SYMMETRIC ? " (both included, in either order)" : " (both included)");
}

/* Narrates IN (1, 2). The wording "one of" needs at least two values. */
static void say_in_list(struct narrator *t, struct say *out, const struct sql_node *n, bool are)
{
    const struct sql_node *list = n->kids[IN_RIGHT];
    bool negated = n->flags & SQL_F_NOT;
    if (list->n_kids == 0 && out->prose) {
        say_verb(out, negated ? " is not in an empty list" : " is in an empty list", are);
    } else if (list->n_kids == 1 && out->prose) {
        say_verb(out, negated ? " is not in the list (" : " is in the list (", are);
        say_list(t, out, list);
        say(out, ")");
    } else {
        say_verb(out, negated ? " is none of " : " is one of ", are);
        if (list->n_kids)
            say_list(t, out, list);
        else
            say(out, "nothing (an empty list)");
    }
}

static void say_in_test(struct narrator *t, struct say *out, const struct sql_node *n)
{
    const struct sql_node *right = n->kids[IN_RIGHT];
    bool negated = n->flags & SQL_F_NOT, are = say_are(t, out, n->kids[0]);
    if (sql_is(right, SQL_SUBQUERY)) {
        say_verb(out, negated ? " is not among " : " is among ", are);
        say_values_of(t, out, right->kids[0]);
    } else if (sql_is(right, SQL_LIST)) {
        say_in_list(t, out, n, are);
    } else {
        say_verb(out, negated ? " is not among the values of " : " is among the values of ", are);
        say_sql(t, out, right);
    }
}

static void say_comparison_test(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_operator(t, out, n);
    say_operand(t, out, n->kids[1], CONDITION);
}

/* The narrators of the test alone, by kind of condition. The subject is always the first kid. */
static narrate_fn *const TESTS[SQL_KIND_COUNT] = {
    [SQL_BINARY] = say_comparison_test,
    [SQL_LIKE] = say_like_test,
    [SQL_BETWEEN] = say_between_test,
    [SQL_IN] = say_in_test,
};

void say_subject_and_test(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_operand(t, out, n->kids[0], CONDITION);
    TESTS[n->kind](t, out, n);
}

bool narrate_has_test(const struct sql_node *condition)
{
    return TESTS[condition->kind] && (condition->kind != SQL_BINARY || sql_is_comparison(condition->op));
}

void say_test(struct narrator *t, struct say *out, const struct sql_node *condition)
{
    t->of_value = condition->kids[0]; /* a single value takes "is" in the prose */
    TESTS[condition->kind](t, out, condition);
    t->of_value = NULL;
}
