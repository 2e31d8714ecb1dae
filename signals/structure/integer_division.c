/* integer_division: a division of whole numbers loses its fraction, although the question asks for a ratio. A part
 * divided by its whole is 0 for nearly all data, so this case is an error. Other divisions are warnings. */
#include "signals/support/names.h"
#include "signals/support/quarter.h"
#include "signals/support/quotient.h"
#include "signals/support/types.h"

#include <strings.h>

static const char *const RATIO_WORDS[] = {"ratio",    "percent",        "percentag", "proport", "share",
                                          "averag",   "mean",           "fraction",  "rate",    "per",
                                          "quotient", "how many times", "divid",     NULL};

static bool is_division(const struct sql_node *node)
{
    return node->kind == SQL_BINARY && node->op == SQL_OP_DIV;
}

static bool is_whole_literal(const struct sql_node *node)
{
    const struct sql_node *literal = sql_plain_literal(node);
    return literal && literal->kind == SQL_LITERAL && literal->op == SQL_LIT_INT;
}

/* True if the query uses the quotient as a whole number. It is cast to an integer, grouped by, used in LIMIT, taken
 * modulo a number, or multiplied again (year / 10 * 10). */
static bool used_as_integer(const struct sql_node *division)
{
    const struct sql_node *parent = division->parent;
    if (!parent) return false;
    if (parent->kind == SQL_CAST) return parent->text_len >= 3 && strncasecmp(parent->text, "int", 3) == 0;
    if (parent->kind == SQL_GROUP || parent->kind == SQL_LIMIT) return true;
    if (parent->kind != SQL_BINARY) return false;
    if (parent->op == SQL_OP_MOD) return true;
    return parent->op == SQL_OP_MUL && is_whole_literal(parent->kids[parent->kids[0] == division ? 1 : 0]) &&
           is_whole_literal(division->kids[1]);
}

/* True for a count of some rows divided by a count of all rows, without a factor such as 100. The result is 0, or 1 if
 * both counts are equal. */
static bool is_nothing(const struct sql_node *division)
{
    return !sql_is(division->kids[0], SQL_BINARY) && vsig_is_share(division);
}

static void look_at(struct vsig_run *run, const struct sql_node *division)
{
    const struct vsig_subject *subject = run->subject;
    if (vsig_type_of(subject, division->kids[0]) != VSIG_TYPE_INT) return;
    if (vsig_type_of(subject, division->kids[1]) != VSIG_TYPE_INT) return;
    if (is_whole_literal(division->kids[0]) && is_whole_literal(division->kids[1])) return;
    if (used_as_integer(division) || vsig_divides_date_part(division)) return;
    if (vsig_quarter_of(subject, division) != VSIG_QUARTER_NONE) return; /* date_part checks quarters */
    if (vsig_question_says(subject, RATIO_WORDS))
        vsig_fire(run, is_nothing(division) ? VSIG_ERROR : VSIG_WARNING, division,
                  "two whole numbers are divided, so the fraction that the question asks for is truncated");
    else
        vsig_note(run, division, "two whole numbers are divided, so the fraction is truncated");
}

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    if (run->subject->schema->divides_exactly) return ERR_OK;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (is_division(n)) look_at(run, n);
    return ERR_OK;
}

const struct vsig_def vsig_integer_division = {
    .id = VSIG_ID_integer_division,
    .name = "integer_division",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence =
        "two integer columns or counts are divided without a cast, and the question asks for a ratio, share or average",
    .description = "Both operands of the division are whole numbers, so the engine truncates the result to a whole "
                   "number: 1 / 2 is 0.",
    .example = "`SELECT COUNT(CASE WHEN country = 'France' THEN 1 END) / COUNT(*) FROM singer` is 0 unless all singers "
               "are from France.",
    .instruction = "Cast one operand to REAL. Or multiply by 1.0 before the division (by 100.0 for percentages).",
    .eval = eval,
};
