/* empty_predicate: on its own, a comparison of a column with a literal selects no row of the column's table (SQLens
 * §A.1, "Empty predicate"). */
#include "lib/question/forms.h"
#include "signals/support/names.h"
#include "signals/support/predicate.h"
#include "signals/support/sibling.h"

enum { OPT_MAX_PROBE };

static const struct vsig_option OPTIONS[] = {
    [OPT_MAX_PROBE] =
        {"max_probe", 8, 0, 100,
         "maximum number of database queries per candidate; conditions that the statistics decide need no query"},
    {NULL, 0, 0, 0, NULL},
};

/* True if the predicate is negated. The whole condition can then be true although no row meets the predicate. */
static bool is_negated(const struct sql_node *node)
{
    if (node->flags & SQL_F_NOT) return true;
    for (const struct sql_node *up = node->parent; up && up->kind != SQL_SELECT; up = up->parent)
        if (up->kind == SQL_UNARY && up->op == SQL_OP_NOT) return true;
    return false;
}

/* True for a node in a query whose rows are subtracted: the right arm of EXCEPT, or a NOT IN or NOT EXISTS subquery. */
static bool is_subtracted(const struct vsig_subject *subject, const struct sql_node *node)
{
    for (const struct sql_block *b = sql_block_of(subject->bound, node); b; b = b->parent)
        if (b->right_arm_of_except) return true;
    const struct sql_node *in = sql_up(node, SQL_IN);
    const struct sql_node *exists = sql_up(node, SQL_EXISTS);
    return (in && in != node && (in->flags & SQL_F_NOT)) || (exists && is_negated(exists));
}

/* Returns the OR or CASE around the node, or NULL. Another branch of it may be true. */
static const struct sql_node *choice_around(const struct sql_node *node)
{
    for (const struct sql_node *up = node->parent; up && up->kind != SQL_SELECT; up = up->parent)
        if ((up->kind == SQL_BINARY && up->op == SQL_OP_OR) || up->kind == SQL_CASE) return up;
    return NULL;
}

/* True if some row may meet a branch of the OR or CASE. A condition that is not in `all` counts as met. */
static bool has_live_branch(const struct sql_node *choice, const struct vsig_predicate *all, uint32_t n)
{
    if (choice->kind == SQL_CASE) return true;
    uint32_t dead = 0, below = 0;
    for (const struct sql_node *node = choice; node; node = sql_walk(choice, node))
        if (node->kind == SQL_LIKE || node->kind == SQL_BETWEEN || node->kind == SQL_IN || node->kind == SQL_EXISTS ||
            (node->kind == SQL_BINARY &&
             (sql_is_comparison(node->op) || node->op == SQL_OP_IS || node->op == SQL_OP_IS_NOT)))
            below++;
    for (uint32_t i = 0; i < n; i++)
        for (const struct sql_node *up = all[i].node; up; up = up->parent)
            if (up == choice) dead += all[i].live == 0;
    return dead < below;
}

/* True for an anti-join: IS NULL on the optional side of an outer join selects the rows without a partner. */
static bool is_anti_join(const struct vsig_predicate *predicate)
{
    bool negated;
    return vsig_is_null_test(predicate->node, &negated) && !negated && predicate->ref->source->nullable;
}

/* Adds facts: the column, its nearest values, and other columns that contain the literal. */
static void add_data(struct vsig_run *run, struct vsig_finding *finding, const struct vsig_predicate *predicate)
{
    const struct vsig_subject *subject = run->subject;
    vsig_add_fact(run, finding, "column", false, "%s", vsig_column_name(subject, predicate->ref));
    if (predicate->n_literals == 0 || !predicate->literals[0]->text) return;
    const struct sql_node *literal = predicate->literals[0];
    const char *near[3];
    uint32_t n = schema_nearest_values(subject->arena, subject->schema, predicate->column, literal->text,
                                       literal->text_len, near, 3);
    for (uint32_t i = 0; i < n; i++) vsig_add_fact(run, finding, "nearest", true, "%s", near[i]);
    enum question_form form;
    const char *text = literal->text;
    size_t len = literal->text_len;
    while (len && *text == '%') text++, len--;
    while (len && text[len - 1] == '%') len--;
    const char *stored =
        question_stored_form(subject->arena, subject->analysis, subject->schema, predicate->column, text, len, &form);
    if (stored) vsig_add_fact(run, finding, "the data says", true, "%s", stored);
    struct schema_hit hits[4];
    n = schema_values_with(subject->schema, literal->text, literal->text_len, hits, 4);
    for (uint32_t i = 0; i < n; i++) {
        const struct schema_column *column = subject->schema->columns[hits[i].column];
        if (column == predicate->column) continue;
        vsig_add_fact(run, finding, "found_in", false, "%s.%s", subject->schema->tables[column->table].name,
                      column->name);
        const char *code = stored ? NULL : vsig_sibling_of(run->subject, predicate->column, column, hits[i].form);
        if (code) vsig_add_fact(run, finding, "the data says", true, "%s", code);
    }
}

static void report(struct vsig_run *run, const struct vsig_predicate *all, uint32_t n,
                   const struct vsig_predicate *dead)
{
    const struct vsig_subject *subject = run->subject;
    const char *column = vsig_column_name(subject, dead->ref);
    const struct sql_node *choice = choice_around(dead->node);
    const char *excuse = NULL;
    if (is_anti_join(dead)) return;
    if (dead->column->stats.rows == 0 && !dead->column->stats.sampled)
        excuse = "the table is empty";
    else if (is_negated(dead->node))
        excuse = "the condition is negated";
    else if (is_subtracted(subject, dead->node))
        excuse = "the query uses this condition only to exclude rows";
    else if (choice && has_live_branch(choice, all, n))
        excuse = "another branch of the OR can match";
    else if (vsig_question_says_so(subject, dead))
        excuse = "the question states the condition";
    struct vsig_finding *finding =
        excuse ? vsig_note(run, dead->node, "no row matches this condition on %s; %s", column, excuse)
               : vsig_fire(run, VSIG_ERROR, dead->node, "no row matches this condition on %s", column);
    add_data(run, finding, dead);
}

static enum err_code eval(struct vsig_run *run)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(run->subject, all), probes = 0;
    enum err_code unknown = ERR_OK;
    for (uint32_t i = 0; i < n; i++) {
        vsig_predicate_look(run->subject, &all[i], &probes, (uint32_t)vsig_opt(run, OPT_MAX_PROBE));
        if (all[i].live < 0) unknown = all[i].code;
    }
    for (uint32_t i = 0; i < n; i++)
        if (all[i].live == 0) report(run, all, n, &all[i]);
    return run->verdict->state == VSIG_FIRED ? ERR_OK : unknown;
}

const struct vsig_def vsig_empty_predicate = {
    .id = VSIG_ID_empty_predicate,
    .name = "empty_predicate",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "on its own, a comparison of a column with a literal matches no row of the column's table",
    .description = "A condition of the query matches no row. The data spells the value differently, another column "
                   "contains the value, or the comparison is wrong.",
    .example = "`WHERE city = 'N.Y.'` matches nothing if the column contains 'New York'.",
    .instruction = "Use the value as the data spells it, or the column that contains the value. The finding lists the "
                   "nearest values.",
    .options = OPTIONS,
    .eval = eval,
};
