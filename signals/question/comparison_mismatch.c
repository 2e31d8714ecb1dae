/* comparison_mismatch: the operator of a comparison contradicts the words of the question, as `< 5` for "more than 5".
 *
 * For the number of each comparison cue, the signal finds the comparisons of the query with this number. If the cue
 * allows none of their operators, the signal marks the first one. A wrong direction is an error. A bound that is
 * wrongly included or excluded is a warning. It is only a note if the column does not have the bound as a value,
 * because the result is then the same. The unused_value signal reports numbers that the query does not compare. */
#include "signals/support/logic.h"
#include "signals/support/names.h"
#include "signals/support/period.h"
#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { OPT_STRICT };

/* Words in names of columns where "more" may mean a lower value: a higher rank is a lower number, and an older person
 * has an earlier date of birth. */
static const char *const TURNED[] = {"rank",     "position", "birth", "dob",   "born",
                                     "birthday", "order",    "rise",  "place", NULL};

static bool is_up(enum sql_op op)
{
    return op == SQL_OP_GT || op == SQL_OP_GE;
}
static bool is_down(enum sql_op op)
{
    return op == SQL_OP_LT || op == SQL_OP_LE;
}

/* True if the operators have the same direction. Strictness does not matter. */
static bool same_way(enum sql_op asked, enum sql_op op)
{
    if (is_up(asked)) return is_up(op);
    if (is_down(asked)) return is_down(op);
    return op == SQL_OP_EQ || op == SQL_OP_IS;
}

static bool admits(const struct question_cue *cue, enum sql_op op)
{
    return cue->loose ? same_way(cue->op, op) : op == cue->op || (cue->op == SQL_OP_EQ && same_way(cue->op, op));
}

/* True if the bound is not a value of the column. Then > and >= select the same rows. */
static bool bound_is_absent(const struct vsig_subject *subject, const struct sql_node *other, const char *number)
{
    const struct schema_column *column = query_column(subject, other);
    return column && schema_column_has(subject->schema, column, number, strlen(number), false) == 0;
}

/* True if the evidence contains the number. It may then redefine the bound. */
static bool evidence_states(const struct question *question, double number)
{
    for (uint32_t i = 0; i < question->evidence.n; i++)
        if (question->evidence.items[i].is_number && fabs(question->evidence.items[i].number - number) < 1e-9)
            return true;
    return false;
}

/* Returns words for the values that the operator selects. */
static const char *in_words(enum sql_op op)
{
    switch (op) {
    case SQL_OP_GT: return "above";
    case SQL_OP_GE: return "at or above";
    case SQL_OP_LT: return "below";
    case SQL_OP_LE: return "at or below";
    case SQL_OP_NE:
    case SQL_OP_IS_NOT: return "other than";
    default: return "equal to";
    }
}

static void report(struct vsig_run *run, const struct question_cue *cue, const struct query_comparison *found,
                   const char *number)
{
    const char *asked = in_words(cue->op), *written = in_words(found->op);
    struct vsig_finding *finding;
    if (same_way(cue->op, found->op)) {
        bool harmless = bound_is_absent(run->subject, found->other, number) || vsig_opt(run, OPT_STRICT) < 0.5;
        finding =
            harmless ? vsig_note(run, found->node,
                                 "the question asks for values %s the bound, but the query selects values %s the bound",
                                 asked, written)
                     : vsig_fire(run, VSIG_WARNING, found->node,
                                 "the question asks for values %s the bound, but the query selects values %s the "
                                 "bound; only rows at the bound differ",
                                 asked, written);
    } else {
        finding = vsig_fire(run, VSIG_ERROR, found->node,
                            "the question asks for values %s the bound, but the query selects values %s the bound",
                            asked, written);
    }
    vsig_add_fact(run, finding, "bound", false, "%s", number);
}

/* True for the result of a window function, such as ROW_NUMBER() OVER (...) AS n in WHERE n = 1. */
static bool is_place(const struct sql_node *other)
{
    const struct sql_ref *ref = sql_plain_column(other);
    const struct sql_node *expr = ref ? ref->expr : NULL;
    return sql_is(expr, SQL_CALL) && sql_kid(expr, CALL_WINDOW);
}

/* True for a comparison in a CASE with several WHENs. For "below 50, 50 to 399, 400 and more", each WHEN has one
 * bound. */
static bool is_class(const struct sql_node *node)
{
    for (const struct sql_node *n = node; n; n = n->parent)
        if (sql_is(n, SQL_CASE) && n->n_kids > CASE_FIRST_WHEN + 1) return true;
    return false;
}

/* True if the expression, or the one behind a column of a derived table, has an aggregate. */
static bool is_aggregated(const struct sql_node *expr)
{
    const struct sql_ref *ref = sql_plain_column(expr);
    return query_has_aggregate(ref && ref->expr ? ref->expr : expr);
}

/* True if the comparison probably has the number for another reason. It may test a row number or a class, or the number
 * may be the year of "over 2024". An equality with a small number may also test a flag or a key. */
static bool is_by_chance(const struct vsig_run *run, const struct question_cue *cue, const struct question_value *value,
                         const struct query_comparison *found)
{
    enum { SMALL = 3, FIRST_YEAR = 1900, LAST_YEAR = 2100 };
    bool equal = found->op == SQL_OP_EQ || found->op == SQL_OP_IS;
    bool small = fabs(value->number) <= SMALL, year = value->number >= FIRST_YEAR && value->number <= LAST_YEAR;
    if (is_place(found->other) || is_class(found->node)) return true;
    if (!equal || cue->op == SQL_OP_EQ) return false;
    if (year && cue->number >= 0 && strcmp(run->subject->analysis->tokens.items[cue->first].norm, "over") == 0)
        return true;
    return small && !is_aggregated(found->other);
}

/* Compares the number with the cue `as`. Returns true if it added a finding. */
static bool check_number(struct vsig_run *run, const struct question_cue *as, int index)
{
    const struct question_value *value = &run->subject->analysis->values[index];
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    uint32_t n = query_compared_with_value(run->subject, value, found);
    if (!n || evidence_states(run->subject->analysis, value->number)) return false;
    const struct query_comparison *worst = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (is_by_chance(run, as, value, &found[i])) continue;
        if (found[i].excluded || admits(as, found[i].op) ||
            query_name_has(query_column(run->subject, found[i].other), TURNED))
            return false;
        if (!worst || same_way(as->op, found[i].op)) worst = &found[i];
    }
    if (worst) report(run, as, worst, value->text);
    return worst != NULL;
}

/* True if the query compares the number by equality. "From 2003 to 2004" may be two equalities, one for each year. */
static bool is_equality(const struct vsig_run *run, int index)
{
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    uint32_t n = query_compared_with_value(run->subject, &run->subject->analysis->values[index], found);
    return n > 0 && found[0].op == SQL_OP_EQ;
}

static void check_between(struct vsig_run *run, const struct question_cue *cue)
{
    struct question_cue low = *cue, high = *cue;
    if (cue->number < 0 || cue->number2 < 0) return;
    if (is_equality(run, cue->number) && is_equality(run, cue->number2)) return;
    low.op = cue->op == SQL_OP_GT ? SQL_OP_GT : SQL_OP_GE;
    high.op = cue->op == SQL_OP_GT ? SQL_OP_LT : SQL_OP_LE;
    low.loose = high.loose = cue->op == SQL_OP_NONE;
    if (!check_number(run, &low, cue->number)) check_number(run, &high, cue->number2);
}

static bool near_negation(const struct question *question, const struct question_cue *cue)
{
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (question->cues[i].kind == QUESTION_CUE_NOT && question->cues[i].first < cue->first) return true;
    return false;
}

/* True if the question has the number more than once ("above 5 or below 5"). The query may then compare it in either
 * direction. */
static bool number_is_shared(const struct question *question, const struct question_cue *cue)
{
    double number = question->values[cue->number].number;
    uint32_t uses = 0;
    for (uint32_t i = 0; i < question->n_values; i++)
        if (question->values[i].kind == QUESTION_VALUE_NUMBER && fabs(question->values[i].number - number) < 1e-9)
            uses++;
    return uses > 1;
}

static bool holds_numbers(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return stats->ints || stats->reals || stats->numeric_texts || !(stats->texts || stats->blobs);
}

/* True if the word after a number of the question is a word of the column's name, such as a unit: "1000 euros" and
 * amt_eur. */
static bool is_unit_of(const struct question *question, const struct schema_column *column)
{
    enum { SHORTEST = 3 };
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        uint32_t unit = value->first + value->n_tokens;
        if (value->kind != QUESTION_VALUE_NUMBER || unit >= question->tokens.n) continue;
        for (uint32_t w = 0; w < column->words.n; w++)
            if (strlen(column->words.items[w].norm) >= SHORTEST &&
                g_str_has_prefix(question->tokens.items[unit].norm, column->words.items[w].norm))
                return true;
    }
    return false;
}

/* True for a comparison with a number that fits only the used column. Either the wanted column has no numbers, or the
 * unit in the question is that of the used column. */
static bool is_only_number(const struct vsig_subject *subject, const struct query_odd *odd)
{
    double number;
    const struct sql_node *node = odd->node->parent;
    bool compares = sql_is(node, SQL_BINARY) || sql_is(node, SQL_BETWEEN);
    if (!compares ||
        !(query_literal_number(sql_kid(node, 1), &number) || query_literal_number(sql_kid(node, 0), &number)))
        return false;
    return holds_numbers(odd->used) && (!holds_numbers(odd->wanted) || is_unit_of(subject->analysis, odd->used));
}

static void check_column(struct vsig_run *run)
{
    struct query_odd odd;
    bool found = query_odd_column(run->subject, SQL_CLAUSE_WHERE, &odd) ||
                 query_odd_column(run->subject, SQL_CLAUSE_HAVING, &odd);
    if (found && !is_only_number(run->subject, &odd))
        vsig_fire(run, VSIG_ERROR, odd.node, "the question refers to %s, but the query compares %s", odd.wanted->name,
                  odd.used->name);
}

/* Reports a comparison of a key by size, such as student_id > 8 for "over 8 participants". The question must not
 * mention ids. */
static void check_keys(struct vsig_run *run)
{
    static const char *const IDS[] = {"id", "ids", "key", "number", "no", "code", "ssn", NULL};
    struct vsig_logic logic;
    vsig_logic_look(run->subject, &logic);
    if (!logic.key_sized || run->subject->analysis->evidence.n) return;
    for (const char *const *word = IDS; *word; word++)
        if (question_has(run->subject->analysis, *word)) return;
    vsig_fire(run, VSIG_ERROR, logic.key_sized,
              "the query compares a key with < or >, but the question does not mention the key");
}

/* Reports a period's bound in the wrong direction, such as start >= '2024-03-15' for "in force on 15 March". */
static void check_period(struct vsig_run *run)
{
    struct vsig_period_slip slip;
    if (run->subject->evidence || !vsig_period_slip_find(run->subject, &slip)) return;
    vsig_fire(run, VSIG_ERROR, slip.at,
              slip.start
                  ? "the question asks for what holds on a day, so %s must be on or before that day, but the query "
                    "selects later starts"
                  : "the question asks for what holds on a day, so %s must be on or after that day, but the query "
                    "selects earlier ends",
              slip.column->name);
}

/* --- planned and actual ------------------------------------------------------------------------------------------- */

/* Words for planned and for actual values, as stems. Two columns form a pair if their names differ only in such a word:
 * PlannedPickup and ActualPickup. */
static const char *const PLANS[2][12] = {
    {"plan", "schedul", "expect", "estim", "promis", "forecast", NULL},
    {"actual", "real", NULL},
};

static int plan_side(const struct schema_column *column)
{
    bool planned = query_name_has(column, PLANS[0]), actual = query_name_has(column, PLANS[1]);
    return planned == actual ? -1 : actual;
}

/* True if the names differ in exactly one word. */
static bool are_twins(const struct schema_column *a, const struct schema_column *b)
{
    uint32_t differ = 0;
    if (a->words.n != b->words.n || a->affinity != b->affinity) return false;
    for (uint32_t i = 0; i < a->words.n; i++) differ += strcmp(a->words.items[i].stem, b->words.items[i].stem) != 0;
    return differ == 1;
}

/* Returns the planned column for an actual one, or the reverse. Returns NULL if there is none, or another column could
 * be meant. */
static const struct schema_column *twin_of(const struct vsig_subject *subject, const struct schema_column *column)
{
    const struct schema_table *table = &subject->schema->tables[column->table];
    const struct schema_column *twin = NULL;
    int side = plan_side(column);
    for (uint32_t i = 0; side >= 0 && i < table->n_columns; i++) {
        if (plan_side(&table->columns[i]) != 1 - side) continue;
        if (twin || !are_twins(column, &table->columns[i])) return NULL;
        twin = &table->columns[i];
    }
    return twin;
}

/* Reports a condition on an actual date for "planned to be picked up in March", and the reverse. Ignores questions with
 * "than": in "more than expected" the word means something else. */
static void check_plan(struct vsig_run *run)
{
    const struct vsig_subject *subject = run->subject;
    const struct sql_node *root = subject->stmt->root;
    bool planned = vsig_question_says(subject, PLANS[0]), actual = vsig_question_says(subject, PLANS[1]);
    if (planned == actual || subject->evidence || query_uses_name(subject, PLANS[actual])) return;
    if (question_has(subject->analysis, "than")) return;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct schema_column *column = n->kind == SQL_COLUMN ? query_column(subject, n) : NULL;
        const struct schema_column *twin = column && plan_side(column) == planned ? twin_of(subject, column) : NULL;
        if (!twin || sql_clause_of(n) != SQL_CLAUSE_WHERE) continue;
        vsig_fire(run, VSIG_ERROR, n, "the question refers to %s, but the query compares %s", twin->name, column->name);
        return;
    }
}

static enum err_code comparison_mismatch_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    if (query_foreign(run)) return ERR_OK;
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->number < 0 || cue->weak || near_negation(question, cue) || number_is_shared(question, cue)) continue;
        if (cue->kind == QUESTION_CUE_BETWEEN)
            check_between(run, cue);
        else if (cue->kind == QUESTION_CUE_COMPARE)
            check_number(run, cue, cue->number);
    }
    check_column(run);
    check_period(run);
    if (run->verdict->state != VSIG_FIRED) check_plan(run);
    if (run->verdict->state != VSIG_FIRED) check_keys(run);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_STRICT] = {"strict", 1, 0, 1,
                    "report a warning, not a note, if only rows at the bound differ (`>` instead of `>=`)"},
    {NULL},
};

const struct vsig_def vsig_comparison_mismatch = {
    .id = VSIG_ID_comparison_mismatch,
    .name = "comparison_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the operator of a comparison does not match the words of the question",
    .description = "The question states a bound in words (more than, at least, before, between ...). The query "
                   "compares with the same number, but with an operator of a different meaning.",
    .example = "Which rooms cost more than 100? - SELECT name FROM room WHERE price < 100",
    .instruction =
        "Use the operator that the words of the question ask for, and check whether the bound itself is included.",
    .options = OPTIONS,
    .eval = comparison_mismatch_eval,
};
