/* lost_last_day: a bound is a day without a time, but the values of the column have times of day.
 *
 * "<= '2024-06-30'" includes only midnight of that day, and so does "= '2024-06-30 00:00:00'". For "after 30 June", ">
 * '2024-06-30'" includes the rest of that day; a probe searches for such rows. The column must have values with a time
 * of day, and the bound must have none. */
#include "lib/question/phrase.h"
#include "signals/support/day.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>

enum { DAY = 10, DAY_AND_TIME = 19 }; /* bytes of "2024-06-30" and of "2024-06-30 12:00:00" */

static bool is_day(const char *text, size_t len)
{
    struct question_date date;
    return len == DAY && text[4] == '-' && text[7] == '-' && question_read_date(text, len, true, &date) && date.day > 0;
}

/* True if the value is a date with a time of day other than midnight. */
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

/* Returns the column of `value` if `bound` is a day and the column's values have times of day. Otherwise returns
 * NULL. */
static const struct schema_column *timed_column(const struct vsig_run *run, const struct sql_node *value,
                                                const struct sql_node *bound, struct question_date *day)
{
    const struct schema_column *column = vsig_read_day(bound, day) ? query_column(run->subject, value) : NULL;
    return column && holds_times(column) ? column : NULL;
}

static bool is_negated(const struct sql_node *node)
{
    return sql_is(node->parent, SQL_UNARY) && node->parent->op == SQL_OP_NOT;
}

static void add_column(struct vsig_run *run, struct vsig_finding *finding, const struct schema_column *column)
{
    vsig_add_fact(run, finding, "column", false, "%s.%s", run->subject->schema->tables[column->table].name,
                  column->name);
}

/* Reports a comparison of times with a bound that is a day, unless it is negated. */
static void check_bound(struct vsig_run *run, const struct sql_node *node, const struct sql_node *value,
                        const struct sql_node *bound)
{
    struct question_date day;
    const struct schema_column *column = timed_column(run, value, bound, &day);
    if (!column || is_negated(node)) return; /* the negated condition includes that day */
    bool equal = sql_is(node, SQL_IN) || (sql_is(node, SQL_BINARY) && node->op == SQL_OP_EQ);
    add_column(run,
               vsig_fire(run, VSIG_ERROR, node, "%s",
                         equal ? "the date is the midnight at which the day begins, so rows later on that day are lost"
                               : "the bound is the midnight at which the last day begins, so the rest of that day is "
                                 "lost"),
               column);
}

/* --- after a day -------------------------------------------------------------------------------------------------- */

/* True if the question asks for times after that day. False for "on or after" and "the week after". */
static bool asks_after(const struct vsig_subject *subject, const struct question_date *day)
{
    static const char *const AFTER[] = {"after", "past", "beyond", "following", "than", NULL};
    static const char *const LATER[] = {"later", "latest", NULL};
    static const char *const OTHER[] = {"or",     "and",  "not",   "day",  "days",  "week",     "weeks", "month",
                                        "months", "year", "years", "hour", "hours", "no",       "nor",   "never",
                                        "/",      "from", "weeks", "soon", "time",  "starting", NULL};
    struct vsig_said_day said[VSIG_MAX_SAID_DAYS];
    const struct text_token *tokens = subject->analysis ? subject->analysis->tokens.items : NULL;
    uint32_t n = vsig_said_days(subject, said);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = vsig_token_before_day(subject, &said[i]);
        if (at == UINT32_MAX || !vsig_is_said_day(&said[i], day) || !question_token_is(&tokens[at], AFTER)) continue;
        bool than = strcmp(tokens[at].norm, "than") == 0;
        if (than && (at == 0 || !question_token_is(&tokens[at - 1], LATER))) continue;
        uint32_t before = than ? at - 1 : at;
        if (before == 0 || !question_token_is(&tokens[before - 1], OTHER)) return true;
    }
    return false;
}

/* True if the evidence contains the day. It may then state the bound itself. */
static bool evidence_has(const struct vsig_subject *subject, const struct question_date *day)
{
    const char *text = arena_printf(subject->arena, "%04d-%02d-%02d", day->year, day->month, day->day);
    return subject->evidence && text && strstr(subject->evidence, text);
}

/* True if the query contains the day more than once. Another condition may then exclude it. */
static bool has_day_again(const struct vsig_subject *subject, const struct question_date *day)
{
    uint32_t n = 0;
    for (const struct sql_node *node = subject->stmt->root; node; node = sql_walk(subject->stmt->root, node)) {
        struct question_date other;
        n += sql_is(node, SQL_LITERAL) && vsig_read_day(node, &other) && other.year == day->year &&
             other.month == day->month && other.day == day->day;
    }
    return n > 1;
}

/* Returns 1 if the column has a time on that day that meets the bound, 0 if it has none, and -1 if unknown. *code gets
 * the error of a failed probe. */
static int has_rows_that_day(struct vsig_run *run, const struct schema_column *column, const struct question_date *day,
                             const char *op, enum err_code *code)
{
    struct vsig_subject *subject = run->subject;
    const char *table = schema_quote_table(subject->arena, &subject->schema->tables[column->table]);
    const char *name = db_quote_name(subject->arena, column->name, strlen(column->name));
    const char *next = vsig_next_day(subject->arena, day);
    if (!subject->db || !table || !name || !next) return -1;
    return vsig_probe_any(subject,
                          arena_printf(subject->arena,
                                       "SELECT 1 FROM %s WHERE %s %s '%04d-%02d-%02d' AND %s < '%s' LIMIT 1", table,
                                       name, op, day->year, day->month, day->day, name, next),
                          code);
}

/* Reports a lower bound that is a day, if the question asks for times after that day. */
static enum err_code check_after(struct vsig_run *run, const struct sql_node *node, const struct sql_node *value,
                                 const struct sql_node *bound, bool strict)
{
    struct question_date day;
    enum err_code code = ERR_OK;
    const struct schema_column *column = timed_column(run, value, bound, &day);
    if (!column || !asks_after(run->subject, &day) || evidence_has(run->subject, &day)) return ERR_OK;
    if (has_day_again(run->subject, &day)) return ERR_OK;
    int kept = has_rows_that_day(run, column, &day, strict ? ">" : ">=", &code);
    if (kept == 0 || code != ERR_OK) return code;
    add_column(run,
               vsig_fire(run, kept == 1 && strict ? VSIG_ERROR : VSIG_WARNING, node,
                         "the question asks for times after that day, but the bound is the midnight at which the day "
                         "begins, so rows of that day are counted"),
               column);
    return ERR_OK;
}

/* Checks the comparison `value op bound` as an upper and as a lower bound. A negation turns one into the other. */
static enum err_code check_comparison(struct vsig_run *run, const struct sql_node *node, const struct sql_node *value,
                                      const struct sql_node *bound, enum sql_op op)
{
    bool negated = is_negated(node);
    if (op == SQL_OP_EQ || op == SQL_OP_LE) check_bound(run, node, value, bound);
    if (op == (negated ? SQL_OP_LE : SQL_OP_GT)) return check_after(run, node, value, bound, true);
    if (op == (negated ? SQL_OP_LT : SQL_OP_GE)) return check_after(run, node, value, bound, false);
    return ERR_OK;
}

/* Checks a list of days in IN. IN ('2024-03-01', '2024-03-02') matches only two midnights. */
static void check_list(struct vsig_run *run, const struct sql_node *in)
{
    const struct sql_node *list = sql_kid(in, IN_RIGHT);
    if (sql_is(list, SQL_LIST) && list->n_kids) check_bound(run, in, sql_kid(in, IN_VALUE), list->kids[0]);
}

static enum err_code lost_last_day_eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    enum err_code failed = ERR_OK;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (sql_is(n, SQL_BETWEEN) && !(n->flags & SQL_F_NOT))
            check_bound(run, n, sql_kid(n, BETWEEN_VALUE), sql_kid(n, BETWEEN_HIGH));
        if (sql_is(n, SQL_IN) && !(n->flags & SQL_F_NOT)) check_list(run, n);
        if (!sql_is(n, SQL_BINARY) || !sql_is_comparison(n->op)) continue;
        enum err_code code = check_comparison(run, n, sql_kid(n, 0), sql_kid(n, 1), (enum sql_op)n->op);
        if (code == ERR_OK)
            code = check_comparison(run, n, sql_kid(n, 1), sql_kid(n, 0), sql_op_swap((enum sql_op)n->op));
        if (code != ERR_OK) failed = code;
    }
    return run->verdict->state == VSIG_FIRED ? ERR_OK : failed;
}

const struct vsig_def vsig_lost_last_day = {
    .id = VSIG_ID_lost_last_day,
    .name = "lost_last_day",
    .family = VSIG_VALUE,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "a comparison with a day drops rows of that day, or counts them for \"after\" it, because the values "
                "have a time of day",
    .description = "A date without a time is the midnight at which the day begins. If the column holds times of day, "
                   "BETWEEN and <= with the last day of a period drop the rest of that day. Equality with a day finds "
                   "its midnight only. For times after a day, > counts the rest of that day.",
    .example = "How many orders were placed in June 2024? - SELECT COUNT(*) FROM orders WHERE placed_at BETWEEN "
               "'2024-06-01' AND '2024-06-30'",
    .instruction = "Use < with the first day after the period. For one day, use >= that day and < the next day. "
                   "For times after a day, use >= the next day.",
    .eval = lost_last_day_eval,
};
