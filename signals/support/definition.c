/* Checks how a query uses a definition of the evidence.
 *
 * A definition is a condition with a literal, a NULL test of a column, or a formula of two columns. The search walks
 * the statement once and stops at a use that follows the definition. A use with the reversed operator or reversed
 * operands is inverted. Another literal counts as another value only if neither question nor evidence mentions it. The
 * result is "unknown" if the query may express the definition by other columns. */
#include "signals/support/definition.h"
#include "signals/support/predicate.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static bool names(const struct question_side *side, const struct schema_column *column)
{
    for (uint32_t i = 0; column && i < side->n; i++)
        if (side->columns[i] == column->id) return true;
    return false;
}

/* True if the subtree contains a column of this side of the definition. */
static bool holds(const struct vsig_subject *subject, const struct sql_node *root, const struct question_side *side)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (sql_is(n, SQL_COLUMN) && names(side, query_column(subject, n))) return true;
    return false;
}

/* --- a condition with a literal --- */

static bool is_literal(const struct sql_node *node, const struct question_definition *definition)
{
    double number;
    const struct sql_node *literal = query_literal(node, NULL);
    if (!literal) return false;
    if (definition->is_number && query_literal_number(node, &number)) return fabs(number - definition->number) < 1e-9;
    if (!literal->text) return false;
    char *text = g_strndup(literal->text, literal->text_len), *folded = g_utf8_casefold(text, -1);
    char *wanted = g_utf8_casefold(definition->text, -1);
    const char *start = folded;
    size_t len = strlen(folded);
    while (len && *start == '%') start++, len--;
    while (len && start[len - 1] == '%') len--;
    bool same = strlen(wanted) == len && strncmp(start, wanted, len) == 0;
    g_free(wanted);
    g_free(folded);
    g_free(text);
    return same;
}

/* True if the question or the evidence contains the literal. Such a literal is justified. Also true if the node is not
 * a literal with a text. */
static bool is_said(const struct vsig_subject *subject, const struct sql_node *node)
{
    double number;
    const struct sql_node *literal = query_literal(node, NULL);
    const struct question *question = subject->analysis;
    const struct text_tokens *texts[] = {&question->tokens, &question->evidence};
    bool is_number = query_literal_number(node, &number);
    if (!literal || !literal->text) return true;
    for (size_t t = 0; t < G_N_ELEMENTS(texts); t++)
        for (uint32_t i = 0; i < texts[t]->n; i++) {
            const struct text_token *token = &texts[t]->items[i];
            if (is_number && token->is_number && fabs(token->number - number) < 1e-9) return true;
            if (sql_name_is(literal->text, literal->text_len, token->norm, strlen(token->norm))) return true;
        }
    return false;
}

/* True if the two comparisons have opposite directions. Strictness does not matter: < and <= have the same
 * direction. */
static bool is_turned(enum sql_op asked, enum sql_op op)
{
    bool up = asked == SQL_OP_GT || asked == SQL_OP_GE, down = asked == SQL_OP_LT || asked == SQL_OP_LE;
    if (up) return op == SQL_OP_LT || op == SQL_OP_LE;
    if (down) return op == SQL_OP_GT || op == SQL_OP_GE;
    return (asked == SQL_OP_EQ && op == SQL_OP_NE) || (asked == SQL_OP_NE && op == SQL_OP_EQ);
}

/* A comparison of a column with a literal. The operator is valid with the literal on the right. */
struct comparison {
    const struct sql_node *column, *literal;
    enum sql_op op;
};

static bool read_comparison(const struct sql_node *n, struct comparison *out)
{
    if (sql_is(n, SQL_LIKE)) {
        *out = (struct comparison){sql_kid(n, LIKE_VALUE), sql_kid(n, LIKE_PATTERN),
                                   n->flags & SQL_F_NOT ? SQL_OP_NE : SQL_OP_EQ};
        return query_literal(out->literal, NULL) != NULL;
    }
    if (!sql_is(n, SQL_BINARY) || !sql_is_comparison(n->op)) return false;
    *out = (struct comparison){sql_kid(n, 0), sql_kid(n, 1), n->op};
    if (query_literal(out->column, NULL)) *out = (struct comparison){sql_kid(n, 1), sql_kid(n, 0), sql_op_swap(n->op)};
    return query_literal(out->literal, NULL) != NULL;
}

static void look_in(const struct vsig_subject *subject, const struct question_definition *definition,
                    const struct sql_node *n, struct definition_use *use)
{
    const struct sql_node *right = sql_kid(n, IN_RIGHT);
    if (!holds(subject, sql_kid(n, IN_VALUE), &definition->left)) return;
    *use = (struct definition_use){DEFINITION_UNKNOWN, n};
    for (uint32_t i = 0; sql_is(right, SQL_LIST) && i < right->n_kids; i++)
        if (is_literal(right->kids[i], definition)) use->how = DEFINITION_KEPT;
}

/* True if some definition of the evidence uses the column of the comparison. */
static bool is_defined(const struct vsig_subject *subject, const struct comparison *found)
{
    const struct question *question = subject->analysis;
    for (uint32_t i = 0; i < question->n_definitions; i++)
        if (holds(subject, found->column, &question->definitions[i].left)) return true;
    return false;
}

/* True if the query has a comparison that no definition covers. This comparison may express the definition by another
 * column: a code where the evidence has the name, or a column of another table where the evidence has the key. */
static bool may_stand_elsewhere(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        struct comparison found;
        if (read_comparison(n, &found) && !is_defined(subject, &found)) return true;
    }
    return false;
}

static struct definition_use look_condition(const struct vsig_subject *subject,
                                            const struct question_definition *definition)
{
    const struct sql_node *root = subject->stmt->root;
    struct definition_use use = {DEFINITION_IGNORED, NULL};
    for (const struct sql_node *n = root; n && use.how != DEFINITION_KEPT; n = sql_walk(root, n)) {
        struct comparison found;
        if (sql_is(n, SQL_BETWEEN) && holds(subject, n, &definition->left)) use.how = DEFINITION_KEPT;
        if (sql_is(n, SQL_IN)) look_in(subject, definition, n, &use);
        if (!read_comparison(n, &found) || !holds(subject, found.column, &definition->left)) continue;
        bool same = is_literal(found.literal, definition);
        if (same && is_turned((enum sql_op)definition->op, found.op) && !query_is_excluded(n))
            use = (struct definition_use){DEFINITION_INVERTED, n};
        else if (same)
            use = (struct definition_use){DEFINITION_KEPT, n};
        else if (use.how == DEFINITION_IGNORED)
            use = (struct definition_use){is_said(subject, found.literal) ? DEFINITION_UNKNOWN : DEFINITION_OTHER_VALUE,
                                          found.literal};
    }
    if (use.how == DEFINITION_IGNORED && may_stand_elsewhere(subject)) use.how = DEFINITION_UNKNOWN;
    return use;
}

/* --- NULL tests of a column --- */

/* Returns -1 for a test that the column is NULL, 1 for a test that it is not NULL, and 0 for any other node. */
static int null_test(const struct vsig_subject *subject, const struct sql_node *n, const struct question_side *side)
{
    bool negated;
    if (!vsig_is_null_test(n, &negated) || !holds(subject, sql_kid(n, 0), side)) return 0;
    int test = negated ? 1 : -1;
    return query_is_excluded(n) ? -test : test;
}

/* True for a comparison of the column, or a COUNT of it. Both imply that the column has a value. */
static bool needs_value(const struct vsig_subject *subject, const struct sql_node *n, const struct question_side *side)
{
    bool tested = (sql_is(n, SQL_BINARY) && sql_is_comparison(n->op)) || sql_is(n, SQL_BETWEEN) || sql_is(n, SQL_IN) ||
                  query_aggregate_of(n) == QUERY_COUNT;
    return tested && holds(subject, n, side);
}

static struct definition_use look_null(const struct vsig_subject *subject, const struct question_definition *definition)
{
    const struct sql_node *root = subject->stmt->root;
    struct definition_use use = {DEFINITION_IGNORED, NULL};
    int wanted = definition->op == SQL_OP_EQ ? -1 : 1;
    for (const struct sql_node *n = root; n && use.how != DEFINITION_KEPT; n = sql_walk(root, n)) {
        int test = null_test(subject, n, &definition->left);
        if (test == wanted || (wanted > 0 && needs_value(subject, n, &definition->left)))
            use = (struct definition_use){DEFINITION_KEPT, n};
        else if (test)
            use = (struct definition_use){DEFINITION_INVERTED, n};
    }
    if (use.how == DEFINITION_IGNORED && holds(subject, root, &definition->left)) use.how = DEFINITION_UNKNOWN;
    return use;
}

/* --- a quotient or a difference --- */

static bool is_arithmetic(enum sql_op op)
{
    return op == SQL_OP_DIV || op == SQL_OP_SUB || op == SQL_OP_ADD || op == SQL_OP_MUL;
}

static bool holds_column(const struct vsig_subject *subject, const struct sql_node *root)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (sql_is(n, SQL_COLUMN) && query_column(subject, n)) return true;
    return false;
}

/* True if one operand is as defined, and the other operand has another column instead of the defined one. */
static bool is_replaced(const struct vsig_subject *subject, const struct question_definition *definition,
                        const struct sql_node *left, const struct sql_node *right)
{
    bool has_left = holds(subject, left, &definition->left), has_right = holds(subject, right, &definition->right);
    if (sql_is(left->parent, SQL_BINARY) && left->parent->op != definition->op) return false;
    return (has_left && !has_right && holds_column(subject, right)) ||
           (has_right && !has_left && holds_column(subject, left));
}

static struct definition_use look_formula(const struct vsig_subject *subject,
                                          const struct question_definition *definition)
{
    const struct sql_node *root = subject->stmt->root;
    struct definition_use use = {DEFINITION_IGNORED, NULL};
    if (definition->left.n && definition->left.columns[0] == definition->right.columns[0])
        return (struct definition_use){DEFINITION_UNKNOWN, NULL};
    for (const struct sql_node *n = root; n && use.how != DEFINITION_KEPT; n = sql_walk(root, n)) {
        const struct sql_node *left = sql_kid(n, 0), *right = sql_kid(n, 1);
        if (!sql_is(n, SQL_BINARY) || !is_arithmetic((enum sql_op)n->op)) continue;
        bool as_is = holds(subject, left, &definition->left) && holds(subject, right, &definition->right);
        bool turned = holds(subject, left, &definition->right) && holds(subject, right, &definition->left);
        bool same_op = n->op == definition->op;
        if (as_is && same_op)
            use = (struct definition_use){DEFINITION_KEPT, n};
        else if (turned || as_is)
            use = (struct definition_use){DEFINITION_INVERTED, n};
        else if (use.how == DEFINITION_IGNORED)
            use = (struct definition_use){
                is_replaced(subject, definition, left, right) ? DEFINITION_OTHER_VALUE : DEFINITION_UNKNOWN, n};
    }
    return use;
}

struct definition_use definition_look(const struct vsig_subject *subject, const struct question_definition *definition)
{
    struct definition_use use = definition->is_null ? look_null(subject, definition)
                                : definition->text  ? look_condition(subject, definition)
                                                    : look_formula(subject, definition);
    const struct sql_block *answer = query_answer_block(subject);
    if (!use.node) use.node = answer ? sql_kid(answer->node, SELECT_ITEMS) : subject->stmt->root;
    return use;
}
