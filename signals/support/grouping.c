/* Computes facts about the groups of a query, to compare them with the question.
 *
 * There are three facts. Merged groups: the query groups by a column that is not a key, and the statistics show that
 * different things share a group. Split groups: the result repeats the displayed columns, because the groups are finer.
 * One extreme for all: the question asks for an extreme of each group, but the query selects one of all rows. Words
 * after "each", "every", "per" or "by" name the groups that the question means. */
#include "signals/support/grouping.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_ROWS = 512, MAX_SHOWN = 8, EACH_REACH = 4 };

struct look {
    struct vsig_subject *subject;
    const struct vsig_shape *shape;
    const struct sql_block *block;
    struct vsig_grouping *out;
};

/* --- the words after "each" --- */

static const char *const EACH[] = {"for each", "for every", "within each", "within every", "in each",
                                   "in every", "of each",   "of every",    "each",         "every",
                                   "per",      "by",        NULL};

/* Returns how well the words directly after one of EACH name the column, or the table if `column` is NULL. */
static float said_behind_each(const struct question *question, int table, const struct schema_column *column)
{
    struct question_phrase at = {0, 0};
    float best = 0;
    while (question_phrase_find(question, EACH, at.first + at.n_tokens, &at)) {
        uint32_t from = at.first + at.n_tokens;
        for (uint32_t i = 0; i < question->n_mentions; i++) {
            const struct question_mention *m = &question->mentions[i];
            bool same = column ? m->column >= 0 && m->id == column->id : m->column < 0 && m->table == table;
            if (same && m->first >= from && m->first < from + EACH_REACH) best = MAX(best, (float)m->score);
        }
    }
    return best;
}

/* Returns how many things the words after "each" refer to: rows of a table or values of a column. Returns NAN if
 * unknown. */
static double things_behind_each(const struct vsig_subject *subject)
{
    const struct question *question = subject->analysis;
    const struct question_mention *best = NULL;
    struct question_phrase at = {0, 0};
    while (question_phrase_find(question, EACH, at.first + at.n_tokens, &at)) {
        uint32_t from = at.first + at.n_tokens;
        for (uint32_t i = 0; i < question->n_mentions; i++) {
            const struct question_mention *m = &question->mentions[i];
            if (m->first < from || m->first >= from + 2 || m->score < 0.7) continue;
            if (!best || m->score > best->score) best = m;
        }
    }
    if (!best || subject->schema->no_data) return (double)NAN;
    if (best->column < 0) return (double)subject->schema->tables[best->table].rows;
    return (double)subject->schema->columns[best->id]->stats.distinct;
}

/* --- groups that merge things --- */

/* True if the table's own key joins it to another table. The question then probably means its rows as groups. */
static bool is_joined_by_key(const struct look *look, const struct sql_source *source)
{
    const struct vsig_block_shape *home = &look->shape->blocks[look->block->index];
    for (uint32_t i = 0; i < home->n_pairs; i++) {
        const struct sql_ref *ends[2] = {home->pairs[i]->left, home->pairs[i]->right};
        for (unsigned e = 0; e < 2; e++) {
            const struct schema_column *own = schema_column_of(look->subject->schema, ends[e]);
            const struct schema_column *other = schema_column_of(look->subject->schema, ends[1 - e]);
            if (ends[e]->source == source && own && other && own->unique && !other->unique) return true;
        }
    }
    return false;
}

const struct sql_ref *vsig_group_column(const struct sql_block *block, const struct sql_node *key)
{
    double number;
    if (sql_is(key, SQL_LITERAL) && query_literal_number(key, &number) && number >= 1 && number <= block->n_outputs)
        key = block->outputs[(uint32_t)number - 1].expr;
    return key ? vsig_plain_column(key) : NULL;
}

/* True if a grouping column identifies the rows of the table, or one is not a plain column. */
static bool has_key(const struct look *look, const struct sql_node *group, uint32_t table)
{
    for (uint32_t i = 0; i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_group_column(look->block, group->kids[i]);
        const struct schema_column *column = ref ? schema_column_of(look->subject->schema, ref) : NULL;
        if (!column || (column->table == table && column->unique)) return true;
        for (uint32_t j = 0; j < look->subject->schema->n_joins; j++) {
            const struct schema_join *join = &look->subject->schema->joins[j];
            if (join->n_pairs == 1 && join->from[0] == column->id && join->to_table == table) return true;
        }
    }
    return false;
}

static void look_at_merged(struct look *look, const struct sql_node *group)
{
    for (uint32_t i = 0; i < group->n_kids; i++) {
        const struct sql_ref *ref = vsig_group_column(look->block, group->kids[i]);
        const struct schema_column *column = ref ? schema_column_of(look->subject->schema, ref) : NULL;
        if (!ref || !column || !ref->source || column->unique || column->stats.sampled) continue;
        if (has_key(look, group, column->table) || !is_joined_by_key(look, ref->source)) continue;
        double rows = (double)look->subject->schema->tables[column->table].rows,
               groups = (double)column->stats.distinct + (column->stats.nulls > 0);
        if (rows <= groups) continue;
        look->out->merged = (float)((rows - groups) / rows);
        look->out->merged_at = group->kids[i];
        look->out->merged_by = column;
        if (!look->subject->analysis) continue;
        look->out->merged_said = said_behind_each(look->subject->analysis, -1, column) >= 0.5F;
        look->out->merged_asked =
            said_behind_each(look->subject->analysis, (int)column->table, NULL) > 0.9F && !look->out->merged_said;
    }
}

/* --- groups finer than the displayed columns --- */

struct rows {
    const struct db_result *result;
    const uint32_t *columns;
    uint32_t n_columns;
};

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct rows *rows = ctx;
    const struct db_value *x = rows->result->values + (size_t) * (const uint32_t *)a * rows->result->n_columns;
    const struct db_value *y = rows->result->values + (size_t) * (const uint32_t *)b * rows->result->n_columns;
    int order = 0;
    for (uint32_t i = 0; i < rows->n_columns && !order; i++)
        order = db_value_compare(&x[rows->columns[i]], &y[rows->columns[i]]);
    return order;
}

static float repeated(struct arena *arena, struct rows *rows)
{
    uint32_t n = MIN(rows->result->n_rows, MAX_ROWS), same = 0;
    uint32_t *order = arena_new_array(arena, n + 1, uint32_t);
    if (!order) return (float)NAN;
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, compare_rows, rows);
    for (uint32_t i = 1; i < n; i++) same += compare_rows(&order[i - 1], &order[i], rows) == 0;
    return n ? (float)same / (float)n : 0;
}

static void look_at_split(struct look *look, const struct sql_node *group)
{
    uint32_t columns[MAX_SHOWN], n = 0;
    const struct sql_block *block = look->block;
    if (block->query != look->subject->stmt->root) return;
    for (uint32_t i = 0; i < block->n_outputs && n < MAX_SHOWN; i++)
        if (block->outputs[i].expr && vsig_plain_column(block->outputs[i].expr)) columns[n++] = i;
    const struct db_result *result = n ? vsig_result(look->subject) : NULL;
    if (!result || !result->values || result->n_columns != block->n_outputs) return;
    struct rows rows = {result, columns, n};
    look->out->split = repeated(look->subject->arena, &rows);
    if (look->out->split > 0) look->out->split_at = group;
}

/* --- an extreme in each group --- */

static bool asks_extreme_of_each(const struct question *question)
{
    static const char *const OF_EACH[] = {"for each", "for every", "within each", "within every", "in each", "in every",
                                          "of each",  "of every",  "per",         "each",         "every",   NULL};
    static const unsigned extremes =
        1U << QUESTION_CUE_EXTREME | 1U << QUESTION_CUE_MAXIMUM | 1U << QUESTION_CUE_MINIMUM | 1U << QUESTION_CUE_FIRST;
    struct question_phrase at;
    return question_cue_any(question, extremes) && question_phrase_find(question, OF_EACH, 0, &at);
}

/* Returns the subquery in a comparison such as `x = (SELECT MAX(x) ...)`, or NULL. */
static const struct sql_node *extreme_of(const struct sql_node *node)
{
    for (unsigned i = 0; sql_is(node, SQL_BINARY) && sql_is_comparison(node->op) && i < 2; i++) {
        const struct sql_node *select = sql_kid(sql_kid(sql_kid(node, i), 0), QUERY_BODY);
        if (!sql_is(sql_kid(node, i), SQL_SUBQUERY) || !sql_is(select, SQL_SELECT)) continue;
        enum query_aggregate aggregate = query_aggregate_of(sql_kid(sql_kid(sql_kid(select, SELECT_ITEMS), 0), 0));
        if (aggregate == QUERY_MAX || aggregate == QUERY_MIN) return select;
    }
    return NULL;
}

/* Updates key_score with how well the words after "each" name the columns that correlate the subquery. */
static void score_correlation(struct look *look, const struct sql_block *inner)
{
    for (uint32_t i = 0; i < look->subject->bound->n_refs; i++) {
        const struct sql_ref *ref = look->subject->bound->refs[i];
        const struct schema_column *column = schema_column_of(look->subject->schema, ref);
        if (!column || ref->block != inner || !ref->levels) continue;
        float score = MAX(said_behind_each(look->subject->analysis, -1, column),
                          said_behind_each(look->subject->analysis, (int)column->table, NULL) * 0.7F);
        if (!(look->out->key_score >= score)) look->out->key_score = score;
    }
}

static void look_at_extremes(struct look *look)
{
    struct query_view view;
    query_look(look->subject, &view);
    const struct question *question = look->subject->analysis;
    look->out->each_extreme = question && asks_extreme_of_each(question);
    look->out->per_group = view.group || view.window;
    if (!question) return;
    const struct sql_node *root = look->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct sql_node *select = extreme_of(n);
        const struct sql_block *inner = select ? sql_block_of(look->subject->bound, select) : NULL;
        if (!inner) continue;
        if (inner->correlated) {
            look->out->per_group = true;
            score_correlation(look, inner);
        } else if (!look->out->for_all) {
            look->out->for_all = n;
        }
    }
    const struct sql_node *one = view.limit && view.order && look->block->n_outputs > 1 ? view.limit : NULL;
    double count;
    if (!look->out->for_all && one && query_literal_number(sql_kid(one, LIMIT_COUNT), &count) && count < 1.5)
        look->out->for_all = one;
    const struct sql_node *group = sql_kid(look->block->node, SELECT_GROUP);
    for (uint32_t i = 0; group && i < group->n_kids; i++) {
        const struct schema_column *column = query_column(look->subject, group->kids[i]);
        float score = column ? MAX(said_behind_each(question, -1, column),
                                   said_behind_each(question, (int)column->table, NULL) * 0.7F)
                             : (float)NAN;
        if (!(look->out->key_score >= score)) look->out->key_score = score;
    }
}

bool vsig_merged_look(struct vsig_subject *subject, const struct sql_block *block, struct vsig_grouping *grouping)
{
    *grouping = (struct vsig_grouping){.split = (float)NAN, .key_score = (float)NAN, .each_things = (double)NAN};
    struct look look = {subject, vsig_shape(subject), block, grouping};
    const struct sql_node *group = sql_is(block->node, SQL_SELECT) ? sql_kid(block->node, SELECT_GROUP) : NULL;
    if (look.shape && group && !look.shape->blocks[block->index].too_large) look_at_merged(&look, group);
    return look.shape != NULL;
}

bool vsig_grouping_look(struct vsig_subject *subject, bool with_result, struct vsig_grouping *grouping)
{
    *grouping = (struct vsig_grouping){.split = (float)NAN, .key_score = (float)NAN, .each_things = (double)NAN};
    struct look look = {subject, vsig_shape(subject), query_answer_block(subject), grouping};
    if (!look.shape) return false;
    if (subject->analysis) grouping->each_things = things_behind_each(subject);
    if (!look.block) return true;
    const struct sql_node *group = sql_kid(look.block->node, SELECT_GROUP);
    if (group && !look.block->arm) {
        look_at_merged(&look, group);
        if (with_result) look_at_split(&look, group);
    }
    look_at_extremes(&look);
    return true;
}
