/* Features of joins: their keys, their direction, and how often they repeat a row. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>

static bool is_pair(const struct schema_join *join, uint32_t a, uint32_t b)
{
    return join->n_pairs == 1 && ((join->from[0] == a && join->to[0] == b) || (join->from[0] == b && join->to[0] == a));
}

/* Compares how well the question mentions the chosen foreign key and each other key between the same two tables. */
static void compare_choices(struct extraction *ex, const struct schema_column *a, const struct schema_column *b,
                            float *choices, float *own, float *gap)
{
    for (uint32_t i = 0; i < ex->schema->n_joins; i++) {
        const struct schema_join *join = &ex->schema->joins[i];
        bool same_tables = (join->from_table == a->table && join->to_table == b->table) ||
                           (join->from_table == b->table && join->to_table == a->table);
        if (!same_tables || join->n_pairs != 1 || is_pair(join, a->id, b->id)) continue;
        bool from_a = join->from_table == a->table;
        float taken = ex->question ? extract_column_score(ex, from_a ? a : b) : (float)NAN;
        float other = ex->question ? extract_column_score(ex, ex->schema->columns[join->from[0]]) : (float)NAN;
        ++*choices;
        *own = MIN(*own, taken);
        *gap = MAX(*gap, other - taken);
    }
}

static void set_pairs(struct extraction *ex)
{
    float undeclared = 0, choices = 0, own = 2, gap = -2, keyless = 0, texts = 0, n = 0;
    for (uint32_t i = 0; i < ex->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &ex->shape->pairs[i];
        const struct schema_column *a = schema_column_of(ex->schema, pair->left);
        const struct schema_column *b = schema_column_of(ex->schema, pair->right);
        if (!a || !b) continue;
        bool derived = false;
        const struct schema_join *join = schema_join_between(ex->schema, a->id, b->id, &derived);
        n++;
        undeclared += !join && !derived;
        keyless += !a->unique && !b->unique;
        texts += a->affinity == SCHEMA_TEXT && b->affinity == SCHEMA_TEXT;
        compare_choices(ex, a, b, &choices, &own, &gap);
    }
    ex->out[FEATURE_n_joins] = n;
    if (n <= 0) return;
    ex->out[FEATURE_joins_undeclared] = undeclared;
    ex->out[FEATURE_joins_without_key] = keyless;
    ex->out[FEATURE_joins_text] = texts;
    ex->out[FEATURE_joins_with_choice] = choices;
    if (choices <= 0) return;
    ex->out[FEATURE_joins_choice_score] = own;
    ex->out[FEATURE_joins_choice_gap] = gap;
}

/* Counts joins that repeat rows: the result shows one source, and the other source is not shown and may have several
 * rows for each row of the shown one. */
static void set_multiplied(struct extraction *ex)
{
    const struct vsig_block_shape *shape = ex->answer ? &ex->shape->blocks[ex->answer->index] : NULL;
    float many = 0, shown = 0;
    for (uint32_t i = 0; shape && i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        const struct schema_column *left = schema_column_of(ex->schema, pair->left);
        const struct schema_column *right = schema_column_of(ex->schema, pair->right);
        if (!left || !right) continue;
        vsig_sources left_bit = vsig_source_bit(shape->block, pair->left->source);
        vsig_sources right_bit = vsig_source_bit(shape->block, pair->right->source);
        bool from_left = !left->unique && !(shape->shown & left_bit) && (shape->shown & right_bit);
        bool from_right = !right->unique && !(shape->shown & right_bit) && (shape->shown & left_bit);
        many += from_left || from_right;
    }
    if (shape)
        shown = vsig_repeats_matter(shape->block) && !shape->block->grouped && !shape->block->aggregate ? many : 0;
    ex->out[FEATURE_joins_multiply] = many;
    ex->out[FEATURE_joins_multiply_shown] = shown;
}

static void set_alone(struct extraction *ex)
{
    int table = -1;
    bool one = true;
    float read = 0;
    for (uint32_t i = 0; i < ex->n_used; i++) {
        if (ex->used[i].use == USE_JOIN) continue;
        one &= table < 0 || table == (int)ex->used[i].column->table;
        table = (int)ex->used[i].column->table;
    }
    for (uint32_t t = 0; t < ex->schema->n_tables; t++) read += ex->reads[t];
    ex->out[FEATURE_answer_could_do_alone] = one && table >= 0 && read > 1;
}

static bool groups_by(const struct extraction *ex, const struct schema_column *column)
{
    return (ex->uses[column->id] & 1U << USE_GROUP) != 0;
}

static void set_groups(struct extraction *ex)
{
    float keys = 0, others = 0, unshown = 0, ungrouped = 0;
    if (!ex->view.group) return;
    for (uint32_t i = 0; i < ex->n_used; i++) {
        const struct used_column *used = &ex->used[i];
        if (used->use == USE_GROUP) {
            keys += used->column->unique || used->column->pk;
            others += !used->column->unique && !used->column->pk;
            unshown += !(ex->uses[used->column->id] & 1U << USE_ANSWER);
        }
        if (used->use == USE_ANSWER) ungrouped += !groups_by(ex, used->column);
    }
    ex->out[FEATURE_group_is_key] = keys;
    ex->out[FEATURE_group_not_key] = others;
    ex->out[FEATURE_group_unshown] = unshown;
    ex->out[FEATURE_shown_ungrouped] = ungrouped;
}

/* For a query with COUNT, sets how well the question mentions the table of an aggregated column. Sets the best score,
 * or -1 if no column is aggregated. */
static void set_counted(struct extraction *ex)
{
    float best = -1;
    if (!ex->view.aggregate[QUERY_COUNT] || !ex->question) return;
    for (uint32_t i = 0; i < ex->n_used; i++)
        if (ex->used[i].use == USE_ARGUMENT) best = MAX(best, ex->question->table_score[ex->used[i].column->table]);
    ex->out[FEATURE_counts_right_side] = best;
}

void extract_joins(struct extraction *ex)
{
    set_pairs(ex);
    set_multiplied(ex);
    set_alone(ex);
    set_groups(ex);
    set_counted(ex);
}
