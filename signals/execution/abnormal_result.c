/* abnormal_result: the result has no information. It is empty, or a column is all NULL or all zero (SQLens §A.1,
 * "Abnormal result").
 *
 * Correct zeros and empty results are common, so a vote needs a condition that causes the result. The search drops one
 * condition of the top block at a time and probes whether rows appear. If rows appear, the dropped condition is the
 * cause. The finding is only a note if the query reads an empty table. It is also a note if each condition alone is met
 * by some row and the question states its literals. */
#include "lib/explain/rewrite.h"
#include "signals/support/predicate.h"
#include "signals/support/probe.h"
#include "signals/support/shape.h"

enum { OPT_MAX_PROBE };

static const struct vsig_option OPTIONS[] = {
    [OPT_MAX_PROBE] = {"max_probe", 8, 0, 100, "maximum number of database queries that search for the cause"},
    {NULL, 0, 0, 0, NULL},
};

struct culprit_search {
    struct vsig_subject *subject;
    const struct sql_node *select; /* the SELECT of the top block */
    uint32_t probes, max_probe;
};

static const struct sql_node *top_select(const struct vsig_subject *subject)
{
    const struct sql_node *body = sql_kid(subject->stmt->root, QUERY_BODY);
    while (sql_is(body, SQL_QUERY)) body = sql_kid(body, QUERY_BODY);
    return sql_is(body, SQL_SELECT) ? body : NULL;
}

/* A condition that a rewrite removes. */
struct removal {
    struct arena *arena;
    const struct sql_node *dropped;
};

static struct sql_node *take_out(void *ctx, struct sql_node *node)
{
    const struct removal *removal = ctx;
    return node == removal->dropped ? rewrite_verbatim(removal->arena, "(1 = 1)") : node;
}

/* Returns the WHERE clause with `dropped`, or a single condition, replaced by (1 = 1). Returns "" if `dropped` is NULL
 * and there are several conditions or none. The text equals that of lib/explain/whynot.h, so a probe that both need
 * runs only once. Returns NULL if the arena is full. */
static const char *conditions_without(struct arena *arena, const struct sql_node *where, const struct sql_node *dropped)
{
    const struct sql_node **conjuncts;
    int n = where ? sql_conjuncts(arena, sql_kid(where, 0), &conjuncts) : 0;
    if (n < 0) return NULL;
    struct removal removal = {arena, n == 1 ? conjuncts[0] : dropped};
    if (!removal.dropped) return "";
    struct sql_node *rest = rewrite_map(arena, rewrite_borrow(where), take_out, &removal);
    return rest ? sql_print(arena, rest) : NULL;
}

/* Tests whether the FROM clause has a row that meets the WHERE clause without `dropped`. NULL drops the whole clause.
 * Returns 1 or 0, or -1 if the probe failed or the limit of probes is reached. */
static int rows_without(struct culprit_search *search, const struct sql_node *dropped)
{
    struct vsig_subject *subject = search->subject;
    struct arena *arena = subject->arena;
    const struct sql_node *from = sql_kid(search->select, SELECT_FROM), *where = sql_kid(search->select, SELECT_WHERE);
    if (search->probes++ >= search->max_probe) return -1;
    const char *with = vsig_probe_with(subject, NULL, NULL), *text = sql_print(arena, from);
    const char *rest = conditions_without(arena, where, dropped);
    if (!with || !text || !rest) return -1;
    enum err_code code;
    return vsig_probe_any(subject, arena_printf(arena, "%sSELECT 1 %s%s%s", with, text, *rest ? " " : "", rest), &code);
}

/* True if the question accounts for each predicate of the statement. If some row meets the predicate, the question must
 * state its literals. Otherwise the question must be the cause of the empty predicate. */
static bool nothing_against(struct culprit_search *search)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(search->subject, all);
    for (uint32_t i = 0; i < n; i++) {
        vsig_predicate_look(search->subject, &all[i], &search->probes, search->max_probe);
        if (all[i].live == 0) {
            if (!vsig_question_says_so(search->subject, &all[i])) return false;
            continue;
        }
        for (uint32_t l = 0; l < all[i].n_literals; l++)
            if (!vsig_speaks_of_literal(search->subject, all[i].literals[l])) return false;
    }
    return true;
}

/* Returns the cause of the result in the top block: a condition without which rows appear. Returns the FROM clause if
 * the joins alone give no rows, and sets *is_join. Otherwise returns the WHERE clause, which may be NULL. */
static const struct sql_node *culprit(struct culprit_search *search, bool *is_join)
{
    const struct sql_node *from = sql_kid(search->select, SELECT_FROM), *where = sql_kid(search->select, SELECT_WHERE);
    *is_join = false;
    if (!from) return NULL;
    if (rows_without(search, NULL) == 0) {
        *is_join = true;
        return from;
    }
    const struct sql_node **conjuncts = NULL;
    int n = sql_conjuncts(search->subject->arena, sql_kid(where, 0), &conjuncts);
    for (int i = 0; i < n; i++)
        if (rows_without(search, conjuncts[i]) == 1) return conjuncts[i];
    return where;
}

static bool has_empty_table(const struct vsig_subject *subject)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        if (ref->kind != SQL_REF_TABLE || !ref->source || ref->source->table < 0) continue;
        const struct schema_table *table = &subject->schema->tables[ref->source->table];
        if (table->scannable && table->rows == 0) return true;
    }
    return false;
}

/* True if the block joins only along declared or derived keys. If these keys have no values in common, the data are the
 * cause and not the query. */
static bool joins_by_keys(struct vsig_subject *subject, const struct sql_node *select)
{
    const struct vsig_shape *shape = vsig_shape(subject);
    const struct sql_block *block = shape ? sql_block_of(subject->bound, sql_kid(select, SELECT_FROM)) : NULL;
    if (!block || block->node != select) return false;
    const struct vsig_block_shape *own = &shape->blocks[block->index];
    for (uint32_t i = 0; i < own->n_pairs; i++) {
        const struct schema_column *a = schema_column_of(subject->schema, own->pairs[i]->left);
        const struct schema_column *b = schema_column_of(subject->schema, own->pairs[i]->right);
        bool derived = false;
        const struct schema_join *join = a && b ? schema_join_between(subject->schema, a->id, b->id, &derived) : NULL;
        if (!derived && !(join && join->declared)) return false;
    }
    return own->n_pairs > 0;
}

static void report(struct vsig_run *run, const char *what)
{
    struct vsig_subject *subject = run->subject;
    struct culprit_search search = {
        .subject = subject, .select = top_select(subject), .max_probe = (uint32_t)vsig_opt(run, OPT_MAX_PROBE)};
    bool is_join = false;
    const struct sql_node *root = subject->stmt->root;
    const struct sql_node *guilty = search.select ? culprit(&search, &is_join) : NULL;
    if (has_empty_table(subject)) {
        vsig_note(run, guilty ? guilty : root, "%s; the query reads an empty table", what);
    } else if (is_join && joins_by_keys(subject, search.select)) {
        vsig_note(run, guilty, "%s; the keys of the joined tables have no values in common", what);
    } else if (is_join) {
        vsig_fire(run, VSIG_ERROR, guilty, "%s; no rows of the joined tables match", what);
    } else if (nothing_against(&search)) {
        vsig_note(run, guilty ? guilty : root, "%s, but the question states every condition of the query", what);
    } else {
        vsig_fire(run, VSIG_WARNING, guilty ? guilty : root,
                  sql_is(guilty, SQL_WHERE) || !guilty ? "%s" : "%s; without this condition, rows would match", what);
    }
}

enum column_look { COLUMN_MIXED, COLUMN_NULL, COLUMN_ZERO };

static enum column_look look_at_column(const struct db_result *result, uint32_t column)
{
    bool all_null = true, all_zero = true;
    for (uint32_t row = 0; row < result->n_rows && (all_null || all_zero); row++) {
        const struct db_value *value = &result->values[(size_t)row * result->n_columns + column];
        if (value->type != DB_NULL) all_null = false;
        bool zero = (value->type == DB_INT && value->i == 0) || (value->type == DB_FLOAT && value->f == 0.0);
        if (!zero) all_zero = false;
    }
    return all_null ? COLUMN_NULL : all_zero ? COLUMN_ZERO : COLUMN_MIXED;
}

/* Returns 1 if the table's column itself is all NULL or all zero, so the query is not the cause. Returns 0 if it has
 * other values, and -1 if it has no statistics. */
static int column_is_like_that(const struct vsig_subject *subject, uint32_t column, enum column_look look)
{
    const struct sql_block *block = subject->bound->n_blocks ? subject->bound->blocks[0] : NULL;
    if (!block || column >= block->n_outputs || block->outputs[column].table < 0) return 0;
    const struct schema_table *table = &subject->schema->tables[block->outputs[column].table];
    if (!table->scannable) return -1;
    const struct schema_column *base = &table->columns[block->outputs[column].column];
    uint64_t rows = base->stats.rows;
    return look == COLUMN_NULL ? base->stats.nulls == rows : base->stats.zeros == rows;
}

static enum err_code eval(struct vsig_run *run)
{
    const struct db_result *result = vsig_result(run->subject);
    if (!result) return run->subject->result_code;
    if (result->n_rows == 0) {
        report(run, "the result is empty");
        return ERR_OK;
    }
    for (uint32_t c = 0; c < result->n_columns; c++) {
        enum column_look look = look_at_column(result, c);
        if (look == COLUMN_MIXED) continue;
        int like_that = column_is_like_that(run->subject, c, look);
        if (like_that < 0) {
            vsig_unavailable(run, "the index has no statistics");
            break;
        }
        if (like_that) {
            vsig_note(run, run->subject->stmt->root,
                      "a column of the result is all %s, and so is the column of the table",
                      look == COLUMN_NULL ? "NULL" : "zero");
            continue;
        }
        report(run, look == COLUMN_NULL ? "a column of the result is all NULL" : "a column of the result is all zero");
        break;
    }
    return ERR_OK;
}

const struct vsig_def vsig_abnormal_result = {
    .id = VSIG_ID_abnormal_result,
    .name = "abnormal_result",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB | VSIG_NEEDS_RESULT,
    .sentence = "the result is empty, or one of its columns is all NULL or all zero",
    .description = "The query runs, but its result contains no information. The finding marks the condition or join "
                   "that causes this.",
    .example = "How many clients are women? - SELECT COUNT(*) FROM clients WHERE gender = 'Female'. The column "
               "contains F and M, so the count is 0.",
    .instruction = "Check the value, column and operator of the marked condition, or check the marked join.",
    .options = OPTIONS,
    .eval = eval,
};
