/* Narrates one query, clause by clause.
 *
 * The order is fixed: summary and outputs, FROM and joins, conditions, groups, windows, order, limit. Each clause
 * becomes one or more phrases, so a verifier can compare it with the question. A condition that is narrated as a join
 * is no longer narrated as a filter. The arms of a set operation are queries of their own, so its phrase only gives
 * their numbers. */
#include "lib/explain/narrator.h"

#include <string.h>

/* --- outputs --- */

static uint32_t count_items(const struct sql_block *block)
{
    return block ? block->n_outputs : 0;
}

/* Writes "of aggregation type count": the aggregates at the top level of the select list, each kind once. */
static void say_aggregation_types(struct say *out, const struct sql_node *items)
{
    const char *seen[8];
    uint32_t n = 0;
    for (uint32_t i = 0; i < items->n_kids; i++) {
        const char *name = sql_is(items->kids[i], SQL_ITEM) ? narrate_aggregate_name(items->kids[i]->kids[0]) : NULL;
        uint32_t k = 0;
        while (k < n && seen[k] != name) k++;
        if (name && k == n && n < 8) seen[n++] = name;
    }
    if (n == 0) return;
    say(out, n == 1 ? " of aggregation type " : " of aggregation types ");
    for (uint32_t i = 0; i < n; i++) {
        say_comma(out, i, n);
        say(out, seen[i]);
    }
}

static void say_role(struct narrator *t, struct say *out, const struct narrated_query *q)
{
    static const char *const ROLES[] = {
        [NARRATE_TOP] = "",
        [NARRATE_ARM] = " (a part of ",
        [NARRATE_CTE] = " (a table for ",
        [NARRATE_DERIVED] = " (a table for ",
        [NARRATE_VALUE] = " (one value for ",
        [NARRATE_IN] = " (a set of values for ",
        [NARRATE_EXISTS] = " (tested for rows by ",
        [NARRATE_COMPARED] = " (values to compare with for ",
    };
    if (q->role == NARRATE_TOP) return;
    say(out, ROLES[q->role]);
    say_query(out, q->within);
    const struct sql_node *name = q->name;
    if (name && (name->kind == SQL_CTE ? name->text : name->alias)) {
        say(out, ", named ");
        say_bytes(out, name->kind == SQL_CTE ? name->text : name->alias,
                  name->kind == SQL_CTE ? name->text_len : name->alias_len, NARRATE_NAME_BYTES);
    }
    say(out, ")");
    const struct sql_block *block = sql_block_of(t->source->bound, q->node);
    if (block && block->correlated) say(out, ", for each outer row anew,");
}

static bool is_one_row(const struct sql_block *block)
{
    return block->aggregate && !block->grouped && !sql_kid(block->node, SELECT_HAVING);
}

/* Writes a list such as "all columns of port". */
static void say_star(struct narrator *t, struct say *out, const struct sql_node *star)
{
    const struct sql_block *block = sql_block_of(t->source->bound, star);
    say(out, "all columns of ");
    uint32_t told = 0, n = star->text ? 1 : block->n_sources;
    for (uint32_t i = 0; i < block->n_sources && told < NARRATE_MAX_LIST; i++) {
        const struct sql_source *source = &block->sources[i];
        if (star->text && (!source->name || !sql_name_is(source->name, source->name_len, star->text, star->text_len)))
            continue;
        say_comma(out, told++, n);
        say_source_listed(t, out, source);
        const struct schema_table *table =
            source->kind == SQL_SOURCE_TABLE && source->table >= 0 ? &t->index->tables[source->table] : NULL;
        for (uint32_t c = 0; table && c < table->n_columns; c++) narrate_column_used(t, &table->columns[c]);
    }
    if (told == 0) say_sql(t, out, star);
}

static void say_item(struct narrator *t, struct say *out, const struct sql_node *item)
{
    if (item->kind == SQL_STAR)
        say_star(t, out, item);
    else
        say_expr(t, out, item->kids[0]);
}

static void say_distinct(struct narrator *t, struct say *out, const struct sql_node *distinct)
{
    if (!distinct) return;
    if (distinct->n_kids == 0) {
        say(out, ", each different row once");
        return;
    }
    say(out, ", one row for each different ");
    for (uint32_t i = 0; i < distinct->n_kids; i++) {
        say_comma(out, i, distinct->n_kids);
        say_expr_bare(t, out, distinct->kids[i]);
    }
}

static void say_returned(struct narrator *t, struct say *out, const struct sql_node *select)
{
    const struct sql_block *block = sql_block_of(t->source->bound, select);
    const struct sql_node *items = select->kids[SELECT_ITEMS];
    say_query(out, t->query);
    say_role(t, out, &t->queries[t->query]);
    say(out, " returns ");
    if (is_one_row(block)) say(out, "one row: ");
    if (!out->prose) {
        say_counted(out, count_items(block), "column", "columns");
        say_aggregation_types(out, items);
    } else {
        uint32_t n = items->n_kids > NARRATE_MAX_LIST ? NARRATE_MAX_LIST : items->n_kids;
        for (uint32_t i = 0; i < n; i++) {
            say_comma(out, i, n);
            say_item(t, out, items->kids[i]);
        }
        if (n < items->n_kids) say(out, " and more");
    }
    say_distinct(t, out, select->kids[SELECT_DISTINCT]);
}

static void say_given_rows(struct narrator *t, struct say *out, const struct sql_node *values)
{
    say_query(out, t->query);
    say_role(t, out, &t->queries[t->query]);
    say(out, " returns ");
    say_counted(out, values->n_kids, "given row: ", "given rows: ");
    for (uint32_t i = 0; i < values->n_kids && i < 8; i++) {
        if (i) say(out, ", ");
        say_expr(t, out, values->kids[i]);
    }
    if (values->n_kids > 8) say(out, " and more");
}

static enum explain_kind opening(const struct narrator *t)
{
    return t->query == 0 ? EXPLAIN_SUMMARY : EXPLAIN_SUBQUERY;
}

static void narrate_items(struct narrator *t, const struct sql_node *items)
{
    uint32_t column = 1;
    for (uint32_t i = 0; i < items->n_kids && i < NARRATE_MAX_LIST; i++) {
        const struct sql_node *item = items->kids[i];
        narrate_begin(t);
        struct say *out = &t->premise;
        say_within(t, out);
        if (item->kind != SQL_STAR) {
            say(out, "column ");
            say_count(out, column++);
            say(out, " is ");
        } else {
            say(out, "the columns are ");
            column += count_items(sql_block_of(t->source->bound, item));
        }
        say_item(t, out, item);
        narrate_end(t, EXPLAIN_SELECT, item, false);
    }
    if (items->n_kids > NARRATE_MAX_LIST) t->cut = true;
}

/* --- conditions --- */

static void say_kept_row(struct narrator *t, struct say *out, const struct sql_node *condition)
{
    say_within(t, out);
    say_either(out, "rows are kept where ", "only rows where ");
    say_expr(t, out, condition);
    say_either(out, "", " are kept");
}

static void say_kept_group(struct narrator *t, struct say *out, const struct sql_node *condition)
{
    say_within(t, out);
    say_either(out, "groups are kept where ", "only groups where ");
    say_expr(t, out, condition);
    say_either(out, "", " are kept");
}

static void narrate_conditions(struct narrator *t, const struct sql_block *block, const struct sql_node *clause,
                               enum explain_kind kind, narrate_fn *narrate)
{
    const struct sql_node **conditions;
    int n = clause ? sql_conjuncts(t->arena, clause->kids[0], &conditions) : 0;
    if (n < 0) t->full = true;
    for (int i = 0; i < n && !t->full; i++) {
        if (kind == EXPLAIN_FILTER && narrate_is_join(t, block, conditions[i])) continue;
        narrate_phrase(t, kind, conditions[i], narrate);
        narrate_stored_forms(t, conditions[i]);
    }
}

/* --- groups, order, limit --- */

/* Returns the select item that a position refers to: GROUP BY 2 and ORDER BY 2 refer to the second column. Returns any
 * other expression unchanged. */
static const struct sql_node *behind_position(const struct narrator *t, const struct sql_node *expr)
{
    const struct sql_block *block = sql_block_of(t->source->bound, expr);
    if (!block || !sql_is(expr, SQL_LITERAL) || expr->op != SQL_LIT_INT) return expr;
    uint64_t position = 0;
    for (uint32_t i = 0; i < expr->text_len && position < 100000; i++)
        position = position * 10 + (uint64_t)(expr->text[i] - '0');
    if (position == 0 || position > block->n_outputs || !block->outputs[position - 1].expr) return expr;
    return block->outputs[position - 1].expr;
}

static void say_grouping(struct narrator *t, struct say *out, const struct sql_node *group)
{
    say_within(t, out);
    say_either(out, "rows are grouped by ", "rows are put into groups by ");
    uint32_t n = group->n_kids > NARRATE_MAX_LIST ? NARRATE_MAX_LIST : group->n_kids;
    for (uint32_t i = 0; i < n; i++) {
        say_comma(out, i, n);
        say_expr(t, out, behind_position(t, group->kids[i]));
    }
}

/* True if the expression is certainly a number. The prose says "the largest" only of numbers. */
static bool is_number(const struct narrator *t, const struct sql_node *expr)
{
    const struct sql_ref *ref = sql_is(expr, SQL_COLUMN) ? expr->ref : NULL;
    if (ref && ref->kind == SQL_REF_ALIAS && ref->expr) expr = ref->expr;
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(expr));
    if (column) return column->affinity != SCHEMA_TEXT && column->affinity != SCHEMA_BLOB;
    static const char *const NUMBERS[] = {"count", "sum", "total", "avg"};
    const char *aggregate = narrate_aggregate_name(expr);
    for (size_t i = 0; aggregate && i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (strcmp(aggregate, NUMBERS[i]) == 0) return true;
    return false;
}

static void say_ordering(struct narrator *t, struct say *out, const struct sql_node *order)
{
    static const char *const DOWN[] = {", in descending order", ", largest first"}, *const UP[] = {
                                                                                        ", in ascending order",
                                                                                        ", smallest first"};
    say_within(t, out);
    say_either(out, "rows are ordered by ", "rows are sorted by ");
    uint32_t n = order->n_kids > NARRATE_MAX_LIST ? NARRATE_MAX_LIST : order->n_kids;
    for (uint32_t i = 0; i < n; i++) {
        const struct sql_node *term = order->kids[i];
        if (i) say(out, ", then by ");
        const struct sql_node *by = behind_position(t, term->kids[0]);
        bool down = term->op == SQL_DESC, largest = is_number(t, by);
        say_expr(t, out, by);
        say_either(out, down ? " descending" : " ascending", down ? DOWN[largest] : UP[largest]);
        if (term->flags & SQL_F_NULLS_FIRST) say(out, " (NULLs first)");
        if (term->flags & SQL_F_NULLS_LAST) say(out, " (NULLs last)");
    }
}

static bool is_digit(const struct sql_node *n, char digit)
{
    return sql_is(n, SQL_LITERAL) && n->text_len == 1 && n->text[0] == digit;
}

static void say_operand_in_brackets(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say(out, "(");
    say_expr(t, out, n);
    say(out, ")");
}

static void say_offset(struct narrator *t, struct say *out, const struct sql_node *offset)
{
    bool one = out->prose && is_digit(offset, '1');
    if (out->prose && !sql_plain_literal(offset)) {
        say(out, "as many rows are skipped as the value of ");
        say_operand_in_brackets(t, out, offset);
        say(out, ", then ");
        return;
    }
    say(out, "the first ");
    if (!one) say_expr(t, out, offset);
    say(out, one ? "row is skipped, then " : " rows are skipped, then ");
}

static void say_limit_count(struct narrator *t, struct say *out, const struct sql_node *count)
{
    if (!count) {
        say(out, "all remaining rows are kept");
    } else if (is_digit(count, '0')) {
        say_either(out, "only the first 0 rows are kept", "no row is kept");
    } else if (is_digit(count, '1')) {
        say(out, "only the first row is kept");
    } else if (out->prose && sql_is(count, SQL_UNARY) && count->op == SQL_OP_NEG &&
               sql_is(count->kids[0], SQL_LITERAL)) {
        say(out, "all rows are kept");
    } else if (out->prose && !sql_plain_literal(count)) {
        say(out, "only as many rows are kept as the value of ");
        say_operand_in_brackets(t, out, count);
    } else {
        say(out, "only the first ");
        say_expr(t, out, count);
        say(out, " rows are kept");
    }
}

static void say_limit(struct narrator *t, struct say *out, const struct sql_node *limit)
{
    const struct sql_node *query = t->queries[t->query].node, *offset = limit->kids[LIMIT_OFFSET];
    const struct sql_block *block = sql_block_of(t->source->bound, limit);
    say_within(t, out);
    if (offset) say_offset(t, out, offset);
    say_limit_count(t, out, limit->kids[LIMIT_COUNT]);
    if (limit->flags & SQL_F_WITH_TIES) say(out, " with all that tie with the last");
    if (!sql_kid(query, QUERY_ORDER) && !(block && !block->arm && is_one_row(block)))
        say_either(out, ", though nothing orders them, so which ones is not determined",
                   ", though nothing orders the rows, so which come first is not determined");
}

/* --- set operations --- */

enum { MAX_ARMS = 24 };

static const struct {
    const char *before, *after;
} SETS[SQL_OP_COUNT] = {
    [SQL_UNION] = {" and adds the rows of ", " (each different row once)"},
    [SQL_UNION_ALL] = {" and adds the rows of ", " (repeats are kept)"},
    [SQL_INTERSECT] = {" and keeps only those that are also in ", " (each different row once)"},
    [SQL_INTERSECT_ALL] = {" and keeps only those that are also in ", " (repeats are kept)"},
    [SQL_EXCEPT] = {" and removes the rows of ", " (each different row once)"},
    [SQL_EXCEPT_ALL] = {" and removes the rows of ", " (one for one)"},
};

static void say_arm(struct narrator *t, struct say *out, const struct sql_node *arm)
{
    say_query(out, narrate_query_number(t, arm, NULL, NARRATE_ARM));
}

/* Narrates a chain of set operations from left to right. The parser nests the chain to the left. */
static void say_combination(struct narrator *t, struct say *out, const struct sql_node *body)
{
    const struct sql_node *first = body;
    uint32_t arms = 1;
    while (first->kind == SQL_COMPOUND) first = first->kids[0], arms++;
    say_query(out, t->query);
    say_role(t, out, &t->queries[t->query]);
    say(out, " takes the rows of ");
    say_arm(t, out, first);
    const struct sql_node *at = first;
    for (uint32_t i = 1; i < arms && i < MAX_ARMS; i++) {
        at = at->parent;
        say(out, i > 1 ? ", then" : SETS[at->op].before);
        if (i > 1) say(out, SETS[at->op].before + strlen(" and"));
        say_arm(t, out, at->kids[1]);
        say(out, SETS[at->op].after);
    }
    if (arms > MAX_ARMS) t->cut = true;
}

/* --- a query --- */

/* Narrates named windows, because calls refer to them by name. */
static void say_windows(struct narrator *t, struct say *out, const struct sql_node *windows)
{
    say_within(t, out);
    say(out, "the windows are ");
    say_sql(t, out, windows);
}

static void narrate_select(struct narrator *t, const struct sql_node *select)
{
    const struct sql_block *block = sql_block_of(t->source->bound, select);
    if (!block) return;
    narrate_phrase(t, opening(t), select, say_returned);
    narrate_items(t, select->kids[SELECT_ITEMS]);
    narrate_from(t, block);
    narrate_conditions(t, block, select->kids[SELECT_WHERE], EXPLAIN_FILTER, say_kept_row);
    if (select->kids[SELECT_GROUP]) narrate_phrase(t, EXPLAIN_GROUP, select->kids[SELECT_GROUP], say_grouping);
    narrate_conditions(t, block, select->kids[SELECT_HAVING], EXPLAIN_HAVING, say_kept_group);
    if (select->kids[SELECT_WINDOWS]) narrate_phrase(t, EXPLAIN_SELECT, select->kids[SELECT_WINDOWS], say_windows);
}

static void narrate_body(struct narrator *t, const struct sql_node *body)
{
    switch (body->kind) {
    case SQL_SELECT: narrate_select(t, body); return;
    case SQL_VALUES: narrate_phrase(t, opening(t), body, say_given_rows); return;
    default: narrate_phrase(t, EXPLAIN_SET, body, say_combination); return;
    }
}

void narrate_query(struct narrator *t)
{
    const struct sql_node *node = t->queries[t->query].node;
    if (node->kind != SQL_QUERY) {
        narrate_body(t, node);
        return;
    }
    const struct sql_node *with = node->kids[QUERY_WITH];
    for (uint32_t i = 0; with && i < with->n_kids; i++)
        narrate_query_number(t, with->kids[i]->kids[CTE_QUERY], with->kids[i], NARRATE_CTE);
    narrate_body(t, node->kids[QUERY_BODY]);
    if (node->kids[QUERY_ORDER]) narrate_phrase(t, EXPLAIN_ORDER, node->kids[QUERY_ORDER], say_ordering);
    if (node->kids[QUERY_LIMIT]) narrate_phrase(t, EXPLAIN_LIMIT, node->kids[QUERY_LIMIT], say_limit);
}
