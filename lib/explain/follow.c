/* Traces the first source row of an arm into derived tables, CTEs, and the subqueries of its conditions.
 *
 * Each traced query becomes arms of its own. For a derived table or CTE, the values of the source row become the chosen
 * row of its query. For a subquery of a condition, the columns of the outer row become constants. For IN, only the
 * subquery rows that equal the value are selected. A scalar subquery first runs alone. The options limit the depth and
 * the number of arms. */
#include "lib/base/clock.h"
#include "lib/explain/trace.h"

#include <string.h>

/* ---- outer rows ------------------------------------------------------------------------------------------------- */

struct filling {
    struct arena *arena;
    const struct outer_row *outer;
};

static const struct db_value *value_of(const struct prov_arm *arm, const struct sql_source *source, int output)
{
    for (uint32_t i = 0; i < arm->n_columns; i++)
        if (arm->columns[i].source == source && arm->columns[i].output == output) return &arm->values[i];
    return NULL;
}

static struct sql_node *fill(void *ctx, struct sql_node *n)
{
    const struct filling *f = ctx;
    const struct sql_ref *ref = n->kind == SQL_COLUMN ? n->ref : NULL;
    if (!ref || !ref->source) return n;
    for (const struct outer_row *at = f->outer; at; at = at->next) {
        if (ref->source->block != at->arm->block) continue;
        const struct db_value *value = value_of(at->arm, ref->source, ref->output);
        bool printable = value && (value->type < DB_TEXT || value->len <= TRACE_HUGE_VALUE);
        return printable ? rewrite_verbatim(f->arena, db_quote_value(f->arena, value)) : n;
    }
    return n;
}

struct sql_node *trace_fill(struct arena *arena, const struct outer_row *outer, struct sql_node *node)
{
    struct filling f = {arena, outer};
    return outer ? rewrite_map(arena, node, fill, &f) : node;
}

/* ---- derived tables and CTEs ------------------------------------------------------------------------------------ */

static bool may_follow(const struct sql_source *source)
{
    if (source->kind != SQL_SOURCE_DERIVED && source->kind != SQL_SOURCE_CTE) return false;
    if (!source->of || !source->of->query) return false;
    const struct sql_node *with = sql_up(source->of->node, SQL_WITH);
    return source->kind == SQL_SOURCE_DERIVED || !with || !(with->flags & SQL_F_RECURSIVE);
}

static bool make_chosen(struct tracer *t, uint32_t n, struct db_value **values, bool **known)
{
    *values = arena_new_array(t->arena, n, struct db_value);
    *known = arena_new_array(t->arena, n, bool);
    return *values && *known;
}

/* Traces the row of the derived table from which the arm's first source row comes. */
static void follow_source(struct tracer *t, struct origin inner, uint32_t at, const struct sql_source *source)
{
    const struct prov_arm *arm = &t->out->arms[at];
    struct db_value *values;
    bool *known, any = false;
    if (!make_chosen(t, source->n_outputs, &values, &known)) return;
    for (uint32_t i = 0; i < arm->n_columns; i++) {
        int output = arm->columns[i].output;
        if (arm->columns[i].source != source || output < 0 || (uint32_t)output >= source->n_outputs) continue;
        values[output] = arm->values[i];
        known[output] = true;
        any |= values[output].type != DB_NULL;
    }
    inner.inside = source;
    inner.query = source->of->query;
    inner.chosen = (struct chosen){values, known, source->n_outputs, 0};
    if (any) trace_query(t, &inner); /* false if all values are NULL: the row is missing in an outer join */
}

/* ---- subqueries of conditions ----------------------------------------------------------------------------------- */

static bool is_scalar(const struct sql_node *n)
{
    if (!sql_is(n, SQL_BINARY) || !sql_is_comparison((enum sql_op)n->op)) return false;
    return sql_is(n->kids[0], SQL_SUBQUERY) != sql_is(n->kids[1], SQL_SUBQUERY);
}

/* Returns the query inside IN, EXISTS or a comparison. Returns NULL if it has no rows to show. */
static const struct sql_node *query_of(const struct sql_node *n)
{
    if (sql_is(n, SQL_EXISTS)) return sql_kid(n, 0);
    if (sql_is(n, SQL_IN)) return n->flags & SQL_F_NOT ? NULL : sql_kid(n->kids[IN_RIGHT], 0);
    if (!is_scalar(n)) return NULL;
    return sql_kid(n->kids[sql_is(n->kids[0], SQL_SUBQUERY) ? 0 : 1], 0);
}

/* Sets the chosen value for x IN (...): the subquery row must equal x. */
static void know_in(const struct prov_arm *arm, const struct sql_node *in, struct chosen *chosen,
                    struct db_value *values, bool *known)
{
    const struct sql_ref *ref = sql_plain_column(in->kids[IN_VALUE]);
    const struct db_value *value = ref && ref->source ? value_of(arm, ref->source, ref->output) : NULL;
    if (!value || chosen->n != 1) return;
    values[0] = *value;
    known[0] = true;
}

/* Runs a scalar subquery alone, and returns its value for the outer row. */
static const struct db_value *run_scalar(struct tracer *t, const struct origin *inner)
{
    struct arena *arena = t->arena;
    struct sql_node *query = trace_fill(arena, inner->outer, rewrite_borrow(inner->query));
    struct sql_node *all = query ? REWRITE(arena, QUERY, rewrite_with(arena, t->source->stmt, inner->query),
                                           query->kids[QUERY_BODY], query->kids[QUERY_ORDER], query->kids[QUERY_LIMIT])
                                 : NULL;
    const char *sql = all && !arena->failed ? sql_print(arena, all) : NULL;
    struct db_result result;
    if (!sql) return NULL;
    t->out->statements++;
    int64_t start = clock_now_ns();
    enum err_code code = db_query(t->source->db, arena, sql, strlen(sql), NULL, 0, 1, &result, NULL);
    t->out->sql_ns += clock_now_ns() - start;
    return !code && result.n_rows && result.n_columns == 1 ? result.values : NULL;
}

static void follow_condition(struct tracer *t, struct origin inner, uint32_t at, const struct sql_node *condition)
{
    const struct sql_node *query = query_of(condition);
    const struct sql_node *body = sql_kid(query, QUERY_BODY);
    while (sql_is(body, SQL_COMPOUND)) body = body->kids[0];
    const struct sql_block *block = sql_is(body, SQL_SELECT) ? sql_block_of(t->source->bound, body) : NULL;
    struct db_value *values;
    bool *known;
    if (!block || !make_chosen(t, block->n_outputs, &values, &known)) return;
    inner.query = query;
    inner.condition = condition;
    inner.chosen = (struct chosen){values, known, block->n_outputs, 0};
    if (sql_is(condition, SQL_IN)) know_in(&t->out->arms[at], condition, &inner.chosen, values, known);
    if (is_scalar(condition)) {
        inner.value = run_scalar(t, &inner);
        if (!inner.value || block->n_outputs != 1) return;
        values[0] = *inner.value;
        known[0] = true;
        inner.chosen.copies = 1;
    }
    trace_query(t, &inner);
}

void trace_follow(struct tracer *t, const struct origin *origin, uint32_t at)
{
    const struct prov_arm *arm = &t->out->arms[at];
    struct outer_row *row = arena_new(t->arena, struct outer_row);
    if (!row) return;
    *row = (struct outer_row){arm, origin->outer};
    struct origin inner = {.parent = (int32_t)at, .depth = origin->depth + 1, .outer = row};
    for (uint32_t i = 0; i < arm->block->n_sources && t->out->n_arms < t->cap_arms; i++)
        if (may_follow(&arm->block->sources[i])) follow_source(t, inner, at, &arm->block->sources[i]);
    const struct sql_node **conjuncts, *where = sql_kid(arm->select, SELECT_WHERE);
    int n = where && !t->options.no_conditions ? sql_conjuncts(t->arena, where, &conjuncts) : 0;
    for (int i = 0; i < n && t->out->n_arms < t->cap_arms && !t->arena->failed; i++)
        if (query_of(conjuncts[i])) follow_condition(t, inner, at, conjuncts[i]);
}
