/* lost_last_day: an upper bound at the last day of a period, or equality with a day, on a column whose values have
 * times of day.
 *
 * "<= '2024-06-30'" keeps only midnight of that day. "= '2024-06-30 00:00:00'" does the same. The data decide: the
 * column must hold values with a time of day, and the bound must not have one. */
#include "signals/support/meaning.h"

#include "lib/question/forms.h"
#include "signals/support/query.h"

#include <string.h>

enum { DAY = 10, DAY_AND_TIME = 19 }; /* bytes of "2024-06-30", and of "2024-06-30 12:00:00" */

static bool is_day(const char *text, size_t len)
{
    struct question_date date;
    return len == DAY && text[4] == '-' && text[7] == '-' && question_read_date(text, len, true, &date) && date.day > 0;
}

/* True if the value has a time of day other than midnight. */
static bool has_time(const struct db_value *value)
{
    if (value->type != DB_TEXT || value->len <= DAY || !is_day(value->text, DAY)) return false;
    for (size_t i = DAY; i < value->len && i < DAY_AND_TIME; i++)
        if (value->text[i] >= '1' && value->text[i] <= '9') return true;
    return false;
}

static bool holds_times(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    bool found = has_time(&stats->min) || has_time(&stats->max);
    for (uint32_t i = 0; i < stats->n_top && !found; i++) found = has_time(&stats->top[i].value);
    return found;
}

/* True for "2024-06-30" and "2024-06-30 00:00:00". */
static bool is_midnight(const struct sql_node *bound)
{
    if (!sql_is(bound, SQL_LITERAL) || bound->op != SQL_LIT_STRING || bound->text_len < DAY) return false;
    for (size_t i = DAY; i < bound->text_len; i++)
        if (!strchr(" T0:.Z", bound->text[i])) return false;
    return is_day(bound->text, DAY);
}

/* Checks a comparison of a value with a bound that is a day. */
static void check_bound(struct vsig_run *run, const struct sql_node *node, const struct sql_node *value,
                        const struct sql_node *bound)
{
    const struct schema_column *column = is_midnight(bound) ? query_column(run->subject, value) : NULL;
    if (sql_is(node->parent, SQL_UNARY) && node->parent->op == SQL_OP_NOT) return; /* the negation keeps that day */
    if (!column || !holds_times(column)) return;
    bool equal = sql_is(node, SQL_IN) || (sql_is(node, SQL_BINARY) && node->op == SQL_OP_EQ);
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, node, "%s",
                  equal ? "the date is the midnight at which the day begins, so rows later on that day are lost"
                        : "the bound is the midnight at which the last day begins, so the rest of that day is lost");
    vsig_add_fact(run, finding, "column", false, "%s.%s", run->subject->schema->tables[column->table].name,
                  column->name);
}

/* IN ('2024-03-01', '2024-03-02') matches two midnights only. */
static void check_list(struct vsig_run *run, const struct sql_node *in)
{
    const struct sql_node *list = sql_kid(in, IN_RIGHT);
    if (sql_is(list, SQL_LIST) && list->n_kids) check_bound(run, in, sql_kid(in, IN_VALUE), list->kids[0]);
}

static enum err_code lost_last_day_eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (sql_is(n, SQL_BETWEEN) && !(n->flags & SQL_F_NOT))
            check_bound(run, n, sql_kid(n, BETWEEN_VALUE), sql_kid(n, BETWEEN_HIGH));
        if (sql_is(n, SQL_IN) && !(n->flags & SQL_F_NOT)) check_list(run, n);
        if (!sql_is(n, SQL_BINARY)) continue;
        if (n->op == SQL_OP_EQ) check_bound(run, n, sql_kid(n, 0), sql_kid(n, 1));
        if (n->op == SQL_OP_EQ) check_bound(run, n, sql_kid(n, 1), sql_kid(n, 0));
        if (n->op == SQL_OP_LE) check_bound(run, n, sql_kid(n, 0), sql_kid(n, 1));
        if (n->op == SQL_OP_GE) check_bound(run, n, sql_kid(n, 1), sql_kid(n, 0));
    }
    return ERR_OK;
}

const struct vsig_def vsig_lost_last_day = {
    .id = VSIG_ID_lost_last_day,
    .name = "lost_last_day",
    .family = VSIG_VALUE,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "a comparison with a day drops rows of that day, because the values have a time of day",
    .description = "A date without a time is the midnight at which the day begins. If the column holds times of day, "
                   "BETWEEN and <= with the last day of a period drop the rest of that day. Equality with a day finds "
                   "its midnight only.",
    .example = "How many orders were placed in June 2024? - SELECT COUNT(*) FROM orders WHERE placed_at BETWEEN "
               "'2024-06-01' AND '2024-06-30'",
    .instruction = "Use < with the first day after the period. For one day, use >= that day and < the next day.",
    .eval = lost_last_day_eval,
};
