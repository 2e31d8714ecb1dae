/* null_operand: NULL in one operand makes the whole output NULL, so the values of the other operands are lost. Another
 * check finds a condition on an interval that drops the rows without an end, because their end is NULL.
 *
 * DESIGN. The signal inspects outputs of the answer that are a concatenation, a sum or a difference. The result of the
 * candidate is the proof: the column must have a NULL there. One operand must be nullable, and another one must always
 * have a value, which is then lost.
 *
 * A concatenation is an error. A sum or a difference is a warning, because NULL may mean that the value is not known
 * yet. For this reason, differences of dates are skipped. Windows are skipped too. Operands that are the same column of
 * two rows are skipped, because the first row has no row before it. */
#include "signals/support/names.h"
#include "signals/support/predicate.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"
#include "signals/support/types.h"

static bool is_text_chain(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) && node->op == SQL_OP_CONCAT;
}

static bool is_sum_chain(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) && (node->op == SQL_OP_ADD || node->op == SQL_OP_SUB);
}

typedef bool chain_fn(const struct sql_node *node);

/* Returns the column that an operand reads, either directly or through SUM. */
static const struct sql_ref *column_of(const struct sql_node *operand)
{
    if (query_aggregate_of(operand) == QUERY_SUM) operand = sql_kid(sql_kid(operand, CALL_ARGS), 0);
    return operand ? sql_plain_column(operand) : NULL;
}

static bool can_be_null(const struct sql_ref *ref, const struct schema_column *column)
{
    if (ref->source && ref->source->nullable) return true;
    return !column->stats.sampled && column->stats.nulls > 0;
}

static bool is_number(const struct schema_column *column)
{
    enum vsig_type type = vsig_type_of_column(column);
    return type == VSIG_TYPE_INT || type == VSIG_TYPE_REAL;
}

/* Returns an operand of a chain that can be NULL, if another operand always has a value. Returns NULL if there is
 * none. */
static const struct sql_node *find_operand(const struct vsig_run *run, const struct sql_node *chain, chain_fn *is_chain,
                                           bool numbers)
{
    const struct sql_node *found = NULL, *next;
    const struct schema_column *lost = NULL, *null = NULL;
    for (const struct sql_node *n = chain; n; n = next) {
        next = is_chain(n) ? sql_walk(chain, n) : sql_walk_over(chain, n);
        const struct sql_ref *ref = is_chain(n) ? NULL : column_of(n);
        const struct schema_column *column = ref ? schema_column_of(run->subject->schema, ref) : NULL;
        if (!column) continue;
        if (numbers && !is_number(column)) return NULL;
        if (can_be_null(ref, column)) {
            found = n;
            null = column;
        } else if (column->not_null || !column->stats.sampled) {
            lost = column;
        }
    }
    return lost && lost != null ? found : NULL;
}

/* Returns the number of rows of the result in which a column is NULL. */
static uint32_t count_nulls(const struct db_result *result, uint32_t column)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < result->n_rows; r++)
        n += result->values[(size_t)r * result->n_columns + column].type == DB_NULL;
    return n;
}

static enum err_code inspect_output(struct vsig_run *run, const struct sql_node *expr, uint32_t column)
{
    bool text = is_text_chain(expr);
    if (!text && !is_sum_chain(expr)) return ERR_OK;
    const struct sql_node *operand = find_operand(run, expr, text ? is_text_chain : is_sum_chain, !text);
    if (!operand) return ERR_OK;
    const struct db_result *result = vsig_result(run->subject);
    if (!result) return run->subject->result_code;
    uint32_t nulls = column < result->n_columns ? count_nulls(result, column) : 0;
    if (!nulls) return ERR_OK;
    const char *name = arena_printf(run->subject->arena, "%.*s", (int)(operand->end - operand->start),
                                    run->subject->sql + operand->start);
    struct vsig_finding *finding = vsig_fire(
        run, text ? VSIG_ERROR : VSIG_WARNING, operand, "%s can be NULL, so the whole %s is NULL in %u of %u rows",
        name ? name : "an operand", text ? "text" : "calculation", nulls, result->n_rows);
    vsig_add_fact(run, finding, "rows", true, "%u of %u", nulls, result->n_rows);
    return ERR_OK;
}

/* --- intervals without an end --- */

/* Words in the names of columns with the start and the end of an interval. */
static const char *const STARTS[] = {"start", "begin", "began", "from",   "since",
                                     "hire",  "join",  "open",  "effect", NULL};
static const char *const ENDS[] = {"end",  "to",     "until", "till", "thru",  "expir", "expiri",
                                   "left", "termin", "close", "stop", "leave", "quit",  NULL};

/* True if some part of the query tests the column for NULL, or has it in a call or CASE that may replace NULL. */
static bool handles_null(const struct vsig_subject *subject, const struct schema_column *column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        bool negated;
        if (schema_column_of(subject->schema, ref) != column) continue;
        for (const struct sql_node *n = ref->node; n->parent; n = n->parent)
            if (sql_is(n->parent, SQL_CALL) || sql_is(n->parent, SQL_CASE) || vsig_is_null_test(n->parent, &negated))
                return true;
    }
    return false;
}

/* Returns the column that the comparison requires to be above a value, or below it if `to` is false. For `to`, this is
 * the end of an interval. Returns NULL for other comparisons. */
static const struct schema_column *bound_column(const struct vsig_subject *subject, const struct sql_node *node,
                                                bool to)
{
    if (sql_is(node, SQL_BETWEEN)) return query_column(subject, node->kids[to ? BETWEEN_HIGH : BETWEEN_LOW]);
    if (!sql_is(node, SQL_BINARY) || !sql_is_comparison((enum sql_op)node->op)) return NULL;
    for (int side = 0; side < 2; side++) {
        bool up = node->op == SQL_OP_GT || node->op == SQL_OP_GE, down = node->op == SQL_OP_LT || node->op == SQL_OP_LE;
        if (side ? !(to ? down : up) : !(to ? up : down)) continue;
        const struct schema_column *column = query_column(subject, node->kids[side]);
        if (column && !query_column(subject, node->kids[1 - side])) return column;
        if (column && query_column(subject, node->kids[1 - side])->table != column->table) return column;
    }
    return NULL;
}

/* Returns the comparison that requires the start of a table's interval to be before a value, or NULL. */
static const struct sql_node *start_of(const struct vsig_subject *subject, uint32_t table)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct schema_column *column = bound_column(subject, n, false);
        if (column && column->table == table && query_name_has(column, STARTS)) return n;
    }
    return NULL;
}

/* Reports conditions that drop intervals without an end. `day BETWEEN valid_from AND valid_to` is not true for rows
 * that are still valid and have no valid_to. */
static void check_open_ends(struct vsig_run *run)
{
    static const char *const ENDED[] = {"an end", "end date", "end day", "expiry date", "closing date", "ended", NULL};
    const struct vsig_subject *subject = run->subject;
    const struct sql_node *root = subject->stmt->root;
    if (vsig_question_says(subject, ENDED)) return;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct schema_column *column = bound_column(subject, n, true);
        if (!column || column->stats.sampled || !column->stats.nulls || !query_name_has(column, ENDS)) continue;
        if (!start_of(subject, column->table) || handles_null(subject, column)) continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_ERROR, n,
                      "%s is NULL where the interval has no end yet, and the condition drops these rows", column->name);
        vsig_add_fact(run, finding, "rows without an end", true, "%llu", (unsigned long long)column->stats.nulls);
        return;
    }
}

static enum err_code null_operand_eval(struct vsig_run *run)
{
    const struct sql_block *top = run->subject->bound->top;
    enum err_code code = ERR_OK;
    if (!top || vsig_question_says_null(run->subject)) return ERR_OK;
    check_open_ends(run);
    for (uint32_t i = 0; i < top->n_outputs && code == ERR_OK; i++)
        if (top->outputs[i].expr) code = inspect_output(run, top->outputs[i].expr, i);
    return code;
}

const struct vsig_def vsig_null_operand = {
    .id = VSIG_ID_null_operand,
    .name = "null_operand",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "an output is NULL because one of its operands is NULL, or a condition drops intervals without an end",
    .description =
        "A concatenation, a sum or a difference is NULL if one operand is NULL. The values of the other "
        "operands are lost. A condition such as day BETWEEN valid_from AND valid_to is not true of rows that "
        "have no end yet.",
    .example = "`SELECT first_name || ' ' || middle_name || ' ' || last_name FROM singer` returns NULL for a singer "
               "without a middle name.",
    .instruction = "Replace the missing operand: `COALESCE(operand, '')` in a text, `COALESCE(operand, 0)` in a sum. "
                   "For intervals, add OR valid_to IS NULL.",
    .eval = null_operand_eval,
};
