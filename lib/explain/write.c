/* Rules 1 and 3 of provenance (provenance.h): makes a condition of the chosen row, and removes the clauses that
 * collapse rows.
 *
 * Values become NULL-safe, typed conditions in the dialect of the engine. Long values are bound as parameters. A value
 * that cannot become a condition is skipped, and the arm is then not exact. The condition depends on the shape of the
 * arm: it compares all outputs, the keys of a group, or a declared key. An arm with a window function becomes a
 * subquery, because a condition inside it would change the input of the window. */
#include "lib/explain/trace.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- rule 1: values --------------------------------------------------------------------------------------------- */

static struct sql_node *skip(struct arm_work *work)
{
    work->skipped = true;
    return NULL;
}

static const struct db_dialect *dialect_of(const struct arm_work *work)
{
    return db_dialect(work->t->source->db);
}

/* True for SQLite, whose IS compares any two values. Other engines allow IS only with NULL. */
static bool has_plain_is(const struct arm_work *work)
{
    return strcmp(dialect_of(work)->null_safe, "IS") == 0;
}

/* Returns an equality in which NULL equals NULL. */
static struct sql_node *equal(const struct arm_work *work, struct sql_node *left, struct sql_node *right)
{
    enum sql_op op = has_plain_is(work) ? SQL_OP_IS : SQL_OP_IS_NOT_DISTINCT;
    struct sql_node *both = rewrite_binary(work->t->arena, op, left, right);
    if (both && strcmp(dialect_of(work)->null_safe, "<=>") == 0) both->flags |= SQL_F_EQ2;
    return both;
}

/* Binds a value. Returns its parameter, ?n or $n, where n counts from 1. */
static struct sql_node *bind_value(struct arm_work *work, const struct db_value *value)
{
    struct arena *arena = work->t->arena;
    if (!work->params) work->params = arena_new_array(arena, TRACE_MAX_CONDITIONS, struct db_value);
    if (!work->params || work->n_params == TRACE_MAX_CONDITIONS || value->len > TRACE_HUGE_VALUE) return NULL;
    work->params[work->n_params++] = *value;
    return rewrite_verbatim(arena, arena_printf(arena, "%c%u", dialect_of(work)->parameter, work->n_params));
}

/* True for a number with so few digits that each engine reads it back unchanged. */
static bool is_short(double value)
{
    char text[DB_REAL_TEXT];
    return db_real_text(value, text) <= 16 && !strchr(text, 'e');
}

/* Compares a stored float exactly, and others with a tolerance. A computed float may differ in its last bits if another
 * plan adds in another order. A long literal may differ when the engine reads it back. */
static struct sql_node *same_float(struct arm_work *work, struct sql_node *expr, double value)
{
    struct arena *arena = work->t->arena;
    struct db_value exact = {.type = DB_FLOAT, .f = value};
    if (isinf(value) || (expr->kind == SQL_COLUMN && is_short(value)))
        return equal(work, expr, rewrite_verbatim(arena, db_quote_value(arena, &exact)));
    double slack = fmax(fabs(value) * 1e-9, DBL_MIN);
    struct db_value low = {.type = DB_FLOAT, .f = value - slack}, high = {.type = DB_FLOAT, .f = value + slack};
    return REWRITE(arena, BETWEEN, expr, rewrite_verbatim(arena, db_quote_value(arena, &low)),
                   rewrite_verbatim(arena, db_quote_value(arena, &high)));
}

/* True for a condition or a column of booleans, if the engine does not compare booleans with numbers. */
static bool is_boolean(const struct arm_work *work, const struct sql_node *expr)
{
    if (!dialect_of(work)->has_booleans || !expr) return false;
    if (sql_is(expr, SQL_COLUMN) && expr->ref) {
        const struct schema_column *column = schema_column_of(work->t->source->index, expr->ref);
        return column && strncasecmp(column->type, "bool", 4) == 0;
    }
    return sql_is_truth(expr);
}

/* Returns a condition that is true if `expr` has the value. `of` computes the value and so determines its type. */
static struct sql_node *same_value(struct arm_work *work, struct sql_node *expr, const struct sql_node *of,
                                   const struct db_value *value)
{
    struct arena *arena = work->t->arena;
    if (value->type == DB_INT && is_boolean(work, of))
        return equal(work, expr, rewrite_verbatim(arena, value->i ? "TRUE" : "FALSE"));
    if (value->type == DB_FLOAT) return same_float(work, expr, value->f);
    bool bytes = value->type == DB_TEXT || value->type == DB_BLOB;
    struct sql_node *literal = bytes && value->len > TRACE_LONG_VALUE
                                   ? bind_value(work, value)
                                   : rewrite_verbatim(arena, db_quote_value(arena, value));
    if (!literal) return skip(work);
    const char *collation = work->way == TRACE_EXACT ? dialect_of(work)->exact_collation : NULL;
    if (collation && has_plain_is(work)) { /* in SQLite, +column has no affinity */
        expr = REWRITE(arena, UNARY, expr);
        if (expr) expr->op = SQL_OP_PLUS;
    }
    if (collation && (has_plain_is(work) || value->type == DB_TEXT)) {
        literal = REWRITE(arena, COLLATE, literal);
        if (literal) literal->text = collation, literal->text_len = (uint32_t)strlen(collation);
    }
    return equal(work, expr, literal);
}

static bool is_variable(const struct sql_node *n)
{
    return n->kind == SQL_COLUMN || n->kind == SQL_QUERY || n->kind == SQL_CALL;
}

static bool is_unstable(const struct sql_node *n)
{
    return rewrite_is_window(n) || rewrite_is_random(n);
}

struct sql_node *trace_condition(struct arm_work *work, struct sql_node *expr, const struct db_value *value)
{
    if (!expr) return skip(work);
    if (expr->kind == SQL_COLUMN) return same_value(work, expr, expr, value);
    if (!rewrite_any(expr, is_variable)) return NULL; /* a constant does not distinguish rows */
    if (rewrite_any(expr, is_unstable)) return skip(work);
    return same_value(work, expr, expr, value);
}

static bool is_known(const struct arm_work *work, uint32_t i)
{
    return i < work->chosen->n && (!work->chosen->known || work->chosen->known[i]);
}

static uint32_t n_outputs(const struct arm_work *work)
{
    uint32_t n = work->arm->block->n_outputs, most = work->chosen->n;
    n = n < most ? n : most;
    return n < TRACE_MAX_CONDITIONS ? n : TRACE_MAX_CONDITIONS;
}

typedef bool output_test(const struct arm_work *work, uint32_t i);

/* Returns the conditions on all outputs that pass the test and have a known value, joined by AND. */
static struct sql_node *row_condition(struct arm_work *work, output_test *test)
{
    struct sql_node *all = NULL;
    uint32_t n = n_outputs(work);
    if (n < work->arm->block->n_outputs) work->skipped = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_known(work, i)) {
            work->skipped = true;
            continue;
        }
        if (test && !test(work, i)) continue;
        struct sql_node *condition = trace_condition(work, work->outputs[i].expr, &work->chosen->values[i]);
        all = rewrite_and(work->t->arena, all, condition);
    }
    return all;
}

/* --- selection of outputs ----------------------------------------------------------------------------------------- */

static bool is_column(const struct arm_work *work, uint32_t i)
{
    return work->outputs[i].source != NULL;
}

static bool is_aggregate_call(const struct sql_node *n)
{
    return sql_is_aggregate(n);
}

static bool has_aggregate(const struct arm_work *work, uint32_t i)
{
    return work->outputs[i].expr && rewrite_any(work->outputs[i].expr, is_aggregate_call);
}

static bool is_windowed(const struct arm_work *work, uint32_t i)
{
    return work->outputs[i].expr && rewrite_any(work->outputs[i].expr, rewrite_is_window);
}

static bool is_not_windowed(const struct arm_work *work, uint32_t i)
{
    return !is_windowed(work, i);
}

static bool any_output(const struct arm_work *work, output_test *test)
{
    for (uint32_t i = 0; i < n_outputs(work); i++)
        if (test(work, i)) return true;
    return false;
}

/* --- parts of the arm --------------------------------------------------------------------------------------------- */

static struct sql_node *from_of(struct arm_work *work)
{
    struct sql_node *from = sql_kid(work->arm->select, SELECT_FROM), *expanded = trace_expand(work, from);
    if (expanded != from || !rewrite_any(from, rewrite_is_derived)) return expanded;
    return rewrite_slice(work->t->arena, work->t->source->stmt, from);
}

static struct sql_node *where_of(struct arm_work *work)
{
    return trace_expand(work, sql_kid(sql_kid(work->arm->select, SELECT_WHERE), 0));
}

static struct sql_node *having_of(struct arm_work *work)
{
    return trace_expand(work, sql_kid(sql_kid(work->arm->select, SELECT_HAVING), 0));
}

static struct sql_node *optional(struct arm_work *work, enum sql_kind kind, struct sql_node *expr)
{
    return expr ? rewrite_node(work->t->arena, kind, &expr, 1) : NULL;
}

static struct sql_node *items_of(struct arm_work *work)
{
    struct arena *arena = work->t->arena;
    struct sql_node **items = arena_new_array(arena, work->n_columns + 1, struct sql_node *);
    if (!items) return NULL;
    for (uint32_t i = 0; i < work->n_columns; i++)
        items[i] = rewrite_item(arena, work->projected[i], work->columns[i].label);
    uint32_t n = work->n_columns;
    if (!n) items[n++] = rewrite_item(arena, rewrite_verbatim(arena, "1"), "row"); /* for count(*) without a key */
    return rewrite_node(arena, SQL_ITEMS, items, n);
}

static struct sql_node *order_terms(struct arm_work *work)
{
    const struct sql_node *order = work->alone ? sql_kid(work->query, QUERY_ORDER) : NULL;
    if (!order) return NULL;
    struct arena *arena = work->t->arena;
    struct sql_node **terms = arena_new_array(arena, order->n_kids, struct sql_node *);
    for (uint32_t i = 0; terms && i < order->n_kids; i++) {
        const struct sql_node *term = order->kids[i];
        struct sql_node *expr = trace_expand(work, sql_kid(term, 0));
        terms[i] = rewrite_node(arena, SQL_TERM, &expr, 1);
        if (!terms[i]) return NULL;
        terms[i]->op = term->op;
        terms[i]->flags = term->flags;
    }
    return terms ? rewrite_node(arena, SQL_ORDER, terms, order->n_kids) : NULL;
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

/* Returns a condition that tests whether the aggregates of an arm of a set operation give the chosen row. The result is
 * the same for each source row. */
static struct sql_node *whole_condition(struct arm_work *work)
{
    struct arena *arena = work->t->arena;
    if (work->arm->set_op == SQL_OP_NONE) return NULL;
    struct sql_node *same = row_condition(work, NULL);
    if (!same) return NULL;
    struct sql_node *items = REWRITE(arena, ITEMS, REWRITE(arena, ITEM, same));
    struct sql_node *select =
        REWRITE(arena, SELECT, NULL, items, from_of(work), optional(work, SQL_WHERE, where_of(work)), NULL,
                optional(work, SQL_HAVING, having_of(work)));
    return REWRITE(arena, SUBQUERY, REWRITE(arena, QUERY, NULL, select));
}

static bool gives(const struct arm_output *output, const struct sql_node *key)
{
    const struct sql_ref *ref = sql_plain_column(key);
    if (ref && ref->source && output->source) return ref->source == output->source && ref->output == output->column;
    return output->expr && key && sql_equal(output->expr, key);
}

/* Returns the number of the output that is this key, or -1. */
static int output_of_key(const struct arm_work *work, const struct sql_node *key)
{
    for (uint32_t i = 0; i < n_outputs(work); i++)
        if (is_known(work, i) && gives(&work->outputs[i], key)) return (int)i;
    return -1;
}

/* Returns the subquery (SELECT keys ... LIMIT 1). It gives the keys of the first group, in the requested order, that
 * has the values of the chosen row. In a set operation there may be no such group. A column 1 besides the keys then
 * distinguishes a missing group from NULL keys. */
static struct sql_node *find_group(struct arm_work *work, struct sql_node **keys, uint32_t n, uint32_t n_group)
{
    struct arena *arena = work->t->arena;
    struct sql_node **items = arena_new_array(arena, n, struct sql_node *);
    for (uint32_t i = 0; items && i < n; i++) items[i] = rewrite_node(arena, SQL_ITEM, &keys[i], 1);
    if (!items) return NULL;
    output_test *test = work->way == TRACE_LOOSE ? has_aggregate : is_not_windowed;
    struct sql_node *having = rewrite_and(arena, having_of(work), row_condition(work, test));
    struct sql_node *select =
        REWRITE(arena, SELECT, NULL, rewrite_node(arena, SQL_ITEMS, items, n), from_of(work),
                optional(work, SQL_WHERE, where_of(work)), rewrite_node(arena, SQL_GROUP, keys, n_group),
                optional(work, SQL_HAVING, having));
    struct sql_node *one = REWRITE(arena, LIMIT, rewrite_count(arena, 1));
    return REWRITE(arena, SUBQUERY, REWRITE(arena, QUERY, NULL, select, order_terms(work), one));
}

static bool has_grouping_call(const struct sql_node *group)
{
    if (group->flags & SQL_F_ROLLUP) return true;
    for (uint32_t i = 0; i < group->n_kids; i++)
        if (sql_is_grouping_call(group->kids[i])) return true;
    return false;
}

/* Returns the condition for GROUPING SETS, ROLLUP and CUBE. A key that is NULL in the row matches all values of the
 * key. */
static struct sql_node *sets_condition(struct arm_work *work, const struct sql_node *group)
{
    struct sql_node *all = NULL;
    for (uint32_t i = 0; i < n_outputs(work); i++) {
        const struct arm_output *output = &work->outputs[i];
        const struct db_value *value = is_known(work, i) && output->source ? &work->chosen->values[i] : NULL;
        bool key = false;
        for (const struct sql_node *n = group; n && value && !key; n = sql_walk(group, n))
            key = n->kind == SQL_COLUMN && gives(output, n);
        if (!key || value->type == DB_NULL) continue;
        all = rewrite_and(work->t->arena, all, trace_condition(work, output->expr, value));
    }
    return all;
}

static struct sql_node *group_condition(struct arm_work *work)
{
    struct arena *arena = work->t->arena;
    const struct sql_node *group = sql_kid(work->arm->select, SELECT_GROUP);
    if (has_grouping_call(group)) return sets_condition(work, group);
    struct sql_node **keys = arena_new_array(arena, group->n_kids + 1, struct sql_node *), *all = NULL;
    if (!keys) return NULL;
    bool told = work->arm->set_op == SQL_OP_NONE; /* else another arm may have the row, so all outputs count */
    for (uint32_t i = 0; i < group->n_kids; i++) {
        keys[i] = trace_expand(work, group->kids[i]);
        told = told && output_of_key(work, keys[i]) >= 0;
    }
    if (!told) {
        uint32_t n = group->n_kids;
        if (work->arm->set_op != SQL_OP_NONE) keys[n++] = rewrite_count(arena, 1);
        struct sql_node *left = n == 1 ? keys[0] : rewrite_node(arena, SQL_ROW, keys, n);
        /* PostgreSQL compares a row with a subquery only by =, so groups of NULL are not found there. */
        struct sql_node *right = find_group(work, keys, n, group->n_kids);
        bool row = n > 1 && !has_plain_is(work);
        return row ? rewrite_binary(arena, SQL_OP_EQ, left, right) : equal(work, left, right);
    }
    enum trace_way way = work->way;
    work->way = TRACE_STRICT; /* groups follow the collation */
    for (uint32_t i = 0; i < group->n_kids; i++) {
        const struct db_value *value = &work->chosen->values[output_of_key(work, keys[i])];
        all = rewrite_and(arena, all, trace_condition(work, keys[i], value));
    }
    work->way = way;
    return all;
}

/* True for a column of a declared key, unless an earlier output is the same column. */
static bool is_key_column(const struct arm_work *work, uint32_t i)
{
    const struct arm_output *output = &work->outputs[i];
    bool table = output->expr && output->source && output->source->kind == SQL_SOURCE_TABLE && output->column >= 0;
    if (!table || !is_known(work, i) || work->chosen->values[i].type == DB_NULL) return false;
    if (!work->t->source->index->tables[output->source->table].columns[output->column].pk) return false;
    for (uint32_t j = 0; j < i; j++)
        if (work->outputs[j].source == output->source && work->outputs[j].column == output->column) return false;
    return true;
}

/* True if the outputs include a declared key of each table, which identifies the row. */
static bool has_all_keys(const struct arm_work *work)
{
    const struct sql_block *block = work->arm->block;
    uint32_t wanted = 0, found = 0;
    for (uint32_t i = 0; i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        if (source->kind != SQL_SOURCE_TABLE || source->nullable) return false;
        uint32_t n_pk = work->t->source->index->tables[source->table].n_pk;
        if (!n_pk) return false;
        wanted += n_pk;
    }
    for (uint32_t i = 0; i < n_outputs(work); i++) found += is_key_column(work, i);
    return found == wanted;
}

static struct sql_node *plain_condition(struct arm_work *work)
{
    if (work->way == TRACE_LOOSE) return row_condition(work, is_column);
    bool mine = work->arm->set_op == SQL_OP_NONE; /* in a set operation, the key may identify another row */
    bool by_key = mine && work->arm->shape == PROV_SHAPE_PLAIN && has_all_keys(work);
    return row_condition(work, by_key ? is_key_column : NULL);
}

/* ---- order of the source rows ----------------------------------------------------------------------------------- */

/* Returns the expression whose value one row of the group has: x of min(x) or max(x), or a column that is neither
 * aggregated nor a key of the group. Returns NULL for other outputs. */
static struct sql_node *witness_expression(const struct arm_work *work, uint32_t i)
{
    struct sql_node *expr = work->outputs[i].expr;
    if (work->outputs[i].source) return expr;
    if (!sql_is(expr, SQL_CALL) || !sql_is_aggregate(expr) || expr->text_len != 3) return NULL;
    bool extreme = sql_name_is(expr->text, 3, "min", 3) || sql_name_is(expr->text, 3, "max", 3);
    return extreme ? sql_kid(sql_kid(expr, CALL_ARGS), 0) : NULL;
}

bool trace_is_key(struct arm_work *work, const struct arm_output *output)
{
    const struct sql_node *group = sql_kid(work->arm->select, SELECT_GROUP);
    for (uint32_t i = 0; group && i < group->n_kids; i++)
        if (gives(output, trace_expand(work, group->kids[i]))) return true;
    return false;
}

/* Returns an order in which the row with the explained extreme is the first: ORDER BY (x IS 9) DESC. */
static struct sql_node *witness_order(struct arm_work *work)
{
    struct arena *arena = work->t->arena;
    struct sql_node *sum = NULL;
    for (uint32_t i = 0; i < n_outputs(work); i++) {
        struct sql_node *expr = is_known(work, i) ? witness_expression(work, i) : NULL;
        if (!expr || work->chosen->values[i].type == DB_NULL || trace_is_key(work, &work->outputs[i])) continue;
        struct sql_node *same = trace_condition(work, expr, &work->chosen->values[i]);
        if (same && sum && dialect_of(work)->has_booleans) break; /* booleans cannot be added; the first one orders */
        if (same) sum = sum ? rewrite_binary(arena, SQL_OP_ADD, sum, same) : same;
    }
    if (!sum) return NULL;
    struct sql_node *term = REWRITE(arena, TERM, sum);
    if (term) term->op = SQL_DESC;
    return REWRITE(arena, ORDER, term);
}

/* ---- the statement ---------------------------------------------------------------------------------------------- */

static bool is_per_row(const struct arm_work *work)
{
    return work->arm->shape == PROV_SHAPE_PLAIN || work->arm->shape == PROV_SHAPE_MERGED;
}

/* Adds each known output of the arm to the inner items, as "o1" and so on. Returns the conditions on them for the outer
 * query. */
static struct sql_node *outer_condition(struct arm_work *work, struct sql_node *items)
{
    struct arena *arena = work->t->arena;
    struct sql_node *all = NULL;
    for (uint32_t i = 0; i < n_outputs(work); i++) {
        const char *name = arena_printf(arena, "o%u", i + 1);
        if (!name || !is_known(work, i) || !work->outputs[i].expr) continue;
        if (work->way == TRACE_LOOSE && is_windowed(work, i)) { /* row_number() of ties depends on the plan */
            work->skipped = true;
            continue;
        }
        if (!sql_append(arena, items, rewrite_item(arena, work->outputs[i].expr, name))) return NULL;
        struct sql_node *column = rewrite_column(arena, NULL, 0, name, strlen(name));
        if (column)
            all = rewrite_and(arena, all, same_value(work, column, work->outputs[i].expr, &work->chosen->values[i]));
    }
    return all;
}

/* Turns the arm into a subquery, with the conditions outside of it. A condition inside would change the input of a
 * window function, and WHERE must not contain a window function. */
static struct sql_node *wrap_windows(struct arm_work *work, struct sql_node *inner)
{
    struct arena *arena = work->t->arena;
    struct sql_node *items = inner ? inner->kids[SELECT_ITEMS] : NULL;
    struct sql_node **outer = arena_new_array(arena, work->n_columns + 1, struct sql_node *);
    if (!items || !outer) return NULL;
    uint32_t n = 0;
    for (; n < work->n_columns; n++) {
        const char *label = work->columns[n].label;
        outer[n] = rewrite_item(arena, rewrite_column(arena, NULL, 0, label, strlen(label)), label);
    }
    if (!n) outer[n++] = rewrite_item(arena, rewrite_verbatim(arena, "1"), "row");
    struct sql_node *condition = outer_condition(work, items);
    struct sql_node *derived = REWRITE(arena, DERIVED, REWRITE(arena, QUERY, NULL, inner));
    if (derived) {
        derived->alias = PROV_ALIAS;
        derived->alias_len = sizeof PROV_ALIAS - 1;
    }
    struct sql_node *from = REWRITE(arena, FROM, derived);
    return REWRITE(arena, SELECT, NULL, rewrite_node(arena, SQL_ITEMS, outer, n), from,
                   optional(work, SQL_WHERE, condition));
}

static struct sql_node *condition_of(struct arm_work *work)
{
    switch (work->arm->shape) {
    case PROV_SHAPE_WHOLE: return whole_condition(work);
    case PROV_SHAPE_GROUP: return group_condition(work);
    case PROV_SHAPE_PLAIN:
    case PROV_SHAPE_MERGED: break;
    }
    return plain_condition(work);
}

/* Writes the SELECT of rule 3, without aggregates, GROUP BY, HAVING and DISTINCT. Its items are those of rule 2. */
static struct sql_node *write_select(struct arm_work *work, bool windows)
{
    struct arena *arena = work->t->arena;
    struct sql_node *where = rewrite_and(arena, where_of(work), windows ? NULL : condition_of(work));
    struct sql_node *select =
        REWRITE(arena, SELECT, NULL, items_of(work), from_of(work), optional(work, SQL_WHERE, where), NULL, NULL,
                windows ? sql_kid(work->arm->select, SELECT_WINDOWS) : NULL);
    return windows ? wrap_windows(work, select) : select;
}

/* True if LIMIT may have admitted only some of several equal rows. The arm then has as many source rows as the result
 * has copies. */
static bool is_limited(const struct arm_work *work)
{
    return work->alone && work->arm->shape == PROV_SHAPE_PLAIN && sql_kid(work->query, QUERY_LIMIT);
}

static uint32_t row_limit(const struct arm_work *work)
{
    uint32_t most = work->t->options.max_rows + 1, copies = work->chosen->copies;
    bool offset = sql_kid(sql_kid(work->query, QUERY_LIMIT), LIMIT_OFFSET);
    return is_limited(work) && copies && !offset && copies < most ? copies : most;
}

void trace_write(struct arm_work *work)
{
    struct arena *arena = work->t->arena;
    struct prov_arm *arm = work->arm;
    work->skipped = false;
    work->n_params = 0;
    bool windows = is_per_row(work) && any_output(work, is_windowed);
    struct sql_node *query = REWRITE(arena, QUERY, rewrite_with(arena, work->t->source->stmt, arm->select->parent),
                                     write_select(work, windows));
    arm->exact =
        !work->skipped ||
        sql_is(arm->condition,
               SQL_EXISTS); /* any row suffices for EXISTS, and an order that SQL cannot express keeps exactness */
    struct sql_node *order = !is_per_row(work) ? witness_order(work) : NULL;
    if (is_limited(work) && !windows) order = order_terms(work);
    arm->all_sql = query && !arena->failed ? sql_print(arena, query) : NULL;
    const char *tail = order && !arena->failed ? sql_print(arena, order) : "";
    if (!arm->all_sql || !tail) return;
    arm->sql = arena_printf(arena, "%s%s%s LIMIT %u", arm->all_sql, *tail ? " " : "", tail, row_limit(work));
    arm->params = work->params;
    arm->n_params = work->n_params;
}
