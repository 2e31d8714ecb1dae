/* fan_out: a one-to-many join repeats rows of the requested entity, or of the entity whose values are summed.
 *
 * Keys determine whether a join can repeat rows (signals/support/keys.h). A probe determines whether it does. The probe
 * has the FROM and WHERE clauses of the candidate and groups by the key of the entity. One group with more than one row
 * is enough. The probe is skipped if the result of the candidate shows that no row repeats. */
#include "signals/support/counted.h"
#include "signals/support/keys.h"
#include "signals/support/names.h"
#include "signals/support/query.h"

#include <stdlib.h>
#include <string.h>

static const char *const PER_CHILD[] = {"each", "every", "per", "along with", "together with", "all the", NULL};

/* Returns the FROM items that may have several rows for one row of `entity`, which may be NULL. With `with_groups`,
 * only rows of the same group count. Sets *failed if the arena is full. */
static vsig_sources multipliers(struct vsig_run *run, const struct vsig_block_shape *shape,
                                const struct sql_source *entity, bool with_groups, bool *failed)
{
    struct vsig_keys *keys = vsig_keys_new(run->subject, shape, true);
    *failed = !keys;
    if (!keys) return 0;
    const struct sql_node *group = with_groups ? sql_kid(shape->block->node, SELECT_GROUP) : NULL;
    for (uint32_t i = 0; group && i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_plain_column(group->kids[i]);
        if (ref) vsig_keys_add_column(keys, ref);
    }
    if (entity) vsig_keys_add_source(keys, entity);
    vsig_keys_close(keys);
    return vsig_all_sources(shape->block) & ~vsig_keys_whole(keys);
}

/* --- the probe --- */

static const char *slice(struct vsig_run *run, const struct sql_node *node)
{
    if (!node) return "";
    const char *text = arena_strndup(run->subject->arena, run->subject->sql + node->start, node->end - node->start);
    return text ? text : "";
}

static bool add_key(struct vsig_run *run, const struct sql_source *entity, char **list)
{
    struct arena *arena = run->subject->arena;
    const struct schema_table *table = &run->subject->schema->tables[entity->table];
    const char *name = db_quote_name(arena, entity->name, entity->name_len);
    if (!name) return false;
    if (table->n_pk == 0) {
        const char *row_id = db_dialect(run->subject->db)->row_id;
        *list = row_id ? arena_printf(arena, "%s, %s.%s", *list, name, row_id) : NULL;
        return *list && !table->is_view;
    }
    for (uint32_t i = 0; *list && i < table->n_columns; i++) {
        if (!table->columns[i].pk) continue;
        const char *column = db_quote_name(arena, table->columns[i].name, strlen(table->columns[i].name));
        *list = column ? arena_printf(arena, "%s, %s.%s", *list, name, column) : NULL;
    }
    return *list != NULL;
}

/* Returns SELECT 1 FROM ... WHERE ... GROUP BY <groups>, <key of the entity> HAVING COUNT(*) > 1 LIMIT 1. Returns NULL
 * if the probe cannot be built. */
static const char *make_probe(struct vsig_run *run, const struct sql_block *block, const struct sql_source *entity,
                              bool with_groups)
{
    const struct sql_node *group = with_groups ? sql_kid(block->node, SELECT_GROUP) : NULL;
    char *list = arena_strdup(run->subject->arena, "1");
    for (uint32_t i = 0; list && group && i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_plain_column(group->kids[i]);
        if (!ref || ref->node->ref->kind == SQL_REF_ALIAS) return NULL;
        list = arena_printf(run->subject->arena, "%s, %s", list, slice(run, group->kids[i]));
    }
    if (!list || !add_key(run, entity, &list)) return NULL;
    const char *from = slice(run, sql_kid(block->node, SELECT_FROM)),
               *where = slice(run, sql_kid(block->node, SELECT_WHERE));
    const char *keys = list + strlen("1, "); /* skip "1", because GROUP BY 1 would refer to the first item */
    return arena_printf(run->subject->arena, "SELECT 1 %s %s GROUP BY %s HAVING COUNT(*) > 1 LIMIT 1", from, where,
                        keys);
}

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

static enum answer really_repeats(struct vsig_run *run, const struct sql_block *block, const struct sql_source *entity,
                                  bool with_groups, enum err_code *code)
{
    const char *probe = make_probe(run, block, entity, with_groups);
    if (!probe) return ANSWER_UNKNOWN;
    struct db_result result;
    *code = db_query(run->subject->db, run->subject->arena, probe, strlen(probe), NULL, 0, 1, &result, NULL);
    if (*code == ERR_ENGINE) { /* the probe does not fit this query */
        *code = ERR_OK;
        return ANSWER_UNKNOWN;
    }
    if (*code != ERR_OK) return ANSWER_UNKNOWN;
    return result.n_rows > 0 ? ANSWER_YES : ANSWER_NO;
}

/* --- repeated rows --- */

/* True if the block has at least two FROM items, and none is a CTE or of unknown kind. The probe cannot read a CTE. */
static bool can_probe(const struct sql_block *block)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].kind == SQL_SOURCE_CTE || block->sources[i].kind == SQL_SOURCE_UNKNOWN) return false;
    return block->n_sources >= 2;
}

static const struct sql_source *first_of(const struct sql_block *block, vsig_sources set)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (set & vsig_source_bit(block, &block->sources[i])) return &block->sources[i];
    return NULL;
}

static vsig_sources ordered_by(const struct sql_block *block)
{
    const struct sql_node *order = sql_kid(block->query, QUERY_ORDER);
    return order ? vsig_sources_in(block, order, NULL) : 0;
}

static void report(struct vsig_run *run, const struct sql_block *block, const struct sql_node *at,
                   const struct sql_source *entity, vsig_sources many, bool summed)
{
    const char *one = vsig_source_name(run->subject, entity);
    const char *other = vsig_source_name(run->subject, first_of(block, many));
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_WARNING, at, "rows of %s are %s, but the join with %s repeats these rows", one,
                  summed ? "aggregated" : "requested", other);
    vsig_add_clause(run, finding, first_of(block, many)->node);
    vsig_add_fact(run, finding, "repeated", false, "%s", one);
    vsig_add_fact(run, finding, "by", false, "%s", other);
}

enum { MAX_COMPARED = 4096 }; /* maximum number of compared rows */

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct db_result *result = ctx;
    const struct db_value *x = result->values + (size_t) * (const uint32_t *)a * result->n_columns;
    const struct db_value *y = result->values + (size_t) * (const uint32_t *)b * result->n_columns;
    int order = 0;
    for (uint32_t i = 0; i < result->n_columns && !order; i++) order = db_value_compare(&x[i], &y[i]);
    return order;
}

static bool all_differ(struct arena *arena, const struct db_result *result)
{
    uint32_t *rows = arena_new_array(arena, result->n_rows, uint32_t);
    if (!rows) return false;
    for (uint32_t i = 0; i < result->n_rows; i++) rows[i] = i;
    qsort_r(rows, result->n_rows, sizeof *rows, compare_rows, (void *)(uintptr_t)result);
    for (uint32_t i = 1; i < result->n_rows; i++)
        if (compare_rows(&rows[i - 1], &rows[i], (void *)(uintptr_t)result) == 0) return false;
    return true;
}

/* True if the result has no equal rows, for a block that is the whole candidate and returns only columns. Repeated rows
 * of the entity would then be equal rows of the result. This check is cheap, because the execution signals need the
 * result anyway. */
static bool result_has_no_repeats(struct vsig_run *run, const struct sql_block *block)
{
    if (sql_kid(run->subject->stmt->root, QUERY_BODY) != block->node) return false;
    for (uint32_t i = 0; i < block->n_outputs; i++)
        if (block->outputs[i].expr && !vsig_plain_column(block->outputs[i].expr)) return false;
    const struct db_result *result = vsig_result(run->subject);
    return result && result->n_rows <= MAX_COMPARED && all_differ(run->subject->arena, result);
}

static enum err_code look_at_rows(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (block->aggregate || block->grouped || !vsig_repeats_matter(block) || block->correlated ||
        sql_kid(block->query, QUERY_LIMIT))
        return ERR_OK;
    const struct sql_source *entity = NULL;
    vsig_sources many = 0;
    for (uint32_t i = 0; i < block->n_sources && !entity; i++) {
        const struct sql_source *source = &block->sources[i];
        bool failed, shown = (shape->shown & vsig_source_bit(block, source)) != 0;
        if (!shown || source->kind != SQL_SOURCE_TABLE || source->table < 0) continue;
        many = multipliers(run, shape, source, false, &failed);
        if (failed) return ERR_LIMIT_MEMORY;
        if (many && !(many & shape->shown)) entity = source;
    }
    if (!entity || (many & ordered_by(block)) || vsig_question_says(run->subject, PER_CHILD)) return ERR_OK;
    if (result_has_no_repeats(run, block)) return ERR_OK;
    enum err_code code = ERR_OK;
    if (really_repeats(run, block, entity, false, &code) == ANSWER_YES)
        report(run, block, sql_kid(block->node, SELECT_ITEMS), entity, many, false);
    return code;
}

/* --- repeated rows in aggregates --- */

static bool is_sum_like(const struct sql_node *call)
{
    static const char *const NAMES[] = {"sum", "avg", "count", "total"};
    if (!sql_is_aggregate(call) || (call->flags & (SQL_F_DISTINCT | SQL_F_STAR))) return false;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (sql_name_is(call->text, call->text_len, NAMES[i], strlen(NAMES[i]))) return true;
    return false;
}

/* True for other forms of a conditional count: SUM(a = 'x'), COUNT(IF(a = 'x', 1, NULL)), AVG(CAST(a = 'x' AS
 * INTEGER)). */
static bool counts_truth(const struct sql_node *call)
{
    const struct sql_node *operand = sql_kid(sql_kid(call, CALL_ARGS), 0), *args = sql_kid(operand, CALL_ARGS);
    if (sql_is(operand, SQL_CAST)) operand = sql_kid(operand, 0);
    if (sql_is_truth(operand)) return true;
    bool chooses = sql_is(operand, SQL_CALL) && args && args->n_kids > 1 &&
                   (sql_name_is(operand->text, operand->text_len, "if", 2) ||
                    sql_name_is(operand->text, operand->text_len, "iif", 3));
    for (uint32_t i = 1; chooses && i < args->n_kids; i++) chooses = sql_is(args->kids[i], SQL_LITERAL);
    return chooses;
}

/* True for a conditional count of the joined rows, not of the entity's rows. "How many repairs were done in Linz"
 * counts repairs, although the condition is on the garage's town. */
static bool counts_the_many(const struct vsig_run *run, const struct sql_node *call, const struct sql_source *entity)
{
    struct vsig_counted_things things;
    if (!query_is_conditional_count(call) && !counts_truth(call)) return false;
    vsig_counted_look(run->subject, &things);
    return things.asked_table != entity->table;
}

static enum err_code look_at_aggregate(struct vsig_run *run, const struct vsig_block_shape *shape,
                                       const struct sql_node *call)
{
    const struct sql_block *block = shape->block;
    vsig_sources of = vsig_sources_in(block, sql_kid(call, CALL_ARGS), NULL);
    if (of == 0 || (of & (of - 1))) return ERR_OK;
    const struct sql_source *entity = first_of(block, of);
    if (entity->kind != SQL_SOURCE_TABLE || entity->table < 0) return ERR_OK;
    bool failed;
    vsig_sources loose = multipliers(run, shape, NULL, true, &failed);
    if (failed) return ERR_LIMIT_MEMORY;
    bool counts = sql_name_is(call->text, call->text_len, "count", 5),
         averages = sql_name_is(call->text, call->text_len, "avg", 3);
    /* one row in each group: COUNT is meant to count the other rows */
    if (!(loose & of) && (counts || averages)) return ERR_OK;
    vsig_sources many = multipliers(run, shape, entity, true, &failed);
    if (failed) return ERR_LIMIT_MEMORY;
    if (!many || counts_the_many(run, call, entity)) return ERR_OK;
    enum err_code code = ERR_OK;
    if (really_repeats(run, block, entity, true, &code) == ANSWER_YES) report(run, block, call, entity, many, true);
    return code;
}

static enum err_code look_at_aggregates(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (!block->aggregate || block->correlated || !sql_is(block->node, SQL_SELECT)) return ERR_OK;
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (const struct sql_node *n = items; n; n = sql_walk(items, n)) {
        if (n->kind != SQL_CALL || !is_sum_like(n) || sql_block_of(run->subject->bound, n) != block) continue;
        enum err_code code = look_at_aggregate(run, shape, n);
        if (code != ERR_OK) return code;
    }
    return ERR_OK;
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    if (!can_probe(shape->block)) return ERR_OK;
    if (shape->too_large) return ERR_LIMIT_COUNT;
    enum err_code code = look_at_rows(run, shape);
    return code ? code : look_at_aggregates(run, shape);
}

static enum err_code eval(struct vsig_run *run)
{
    return vsig_each_block(run, look_at);
}

const struct vsig_def vsig_fan_out = {
    .id = VSIG_ID_fan_out,
    .name = "fan_out",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "a one-to-many join repeats rows that are requested, summed, counted or averaged",
    .description = "The query joins a table that has several rows for each requested row. The requested rows are then "
                   "returned, summed, counted or averaged more than once.",
    .example = "`SELECT T1.name FROM singer AS T1 JOIN award AS T2 ON T1.singer_id = T2.singer_id` lists a singer once "
               "per award.",
    .instruction = "If the other table only filters, use DISTINCT, EXISTS or IN. Otherwise aggregate before joining, "
                   "or use COUNT(DISTINCT key).",
    .eval = eval,
};
