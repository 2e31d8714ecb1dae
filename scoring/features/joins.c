/* Joins: along which keys, in which direction, and how often they repeat a row. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>

static bool is_pair(const struct schema_join *join, uint32_t a, uint32_t b)
{
    return join->n_pairs == 1 && ((join->from[0] == a && join->to[0] == b) || (join->from[0] == b && join->to[0] == a));
}

/* Two foreign keys lead from one table to the other: has the question words for the one that was taken? */
static void look_at_choice(struct look *look, const struct schema_column *a, const struct schema_column *b,
                           float *choices, float *own, float *gap)
{
    for (uint32_t i = 0; i < look->schema->n_joins; i++) {
        const struct schema_join *join = &look->schema->joins[i];
        bool same_tables = (join->from_table == a->table && join->to_table == b->table) ||
                           (join->from_table == b->table && join->to_table == a->table);
        if (!same_tables || join->n_pairs != 1 || is_pair(join, a->id, b->id)) continue;
        bool from_a = join->from_table == a->table;
        float taken = look->asked ? look_score(look, from_a ? a : b) : (float)NAN;
        float other = look->asked ? look_score(look, look->schema->columns[join->from[0]]) : (float)NAN;
        ++*choices;
        *own = MIN(*own, taken);
        *gap = MAX(*gap, other - taken);
    }
}

static void set_pairs(struct look *look)
{
    float undeclared = 0, choices = 0, own = 2, gap = -2, keyless = 0, texts = 0, n = 0;
    for (uint32_t i = 0; i < look->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &look->shape->pairs[i];
        const struct schema_column *a = schema_column_of(look->schema, pair->left);
        const struct schema_column *b = schema_column_of(look->schema, pair->right);
        if (!a || !b) continue;
        bool derived = false;
        const struct schema_join *join = schema_join_between(look->schema, a->id, b->id, &derived);
        n++;
        undeclared += !join && !derived;
        keyless += !a->unique && !b->unique;
        texts += a->affinity == SCHEMA_TEXT && b->affinity == SCHEMA_TEXT;
        look_at_choice(look, a, b, &choices, &own, &gap);
    }
    look->out[VERIFIER_n_joins] = n;
    if (n <= 0) return;
    look->out[VERIFIER_joins_undeclared] = undeclared;
    look->out[VERIFIER_joins_without_key] = keyless;
    look->out[VERIFIER_joins_text] = texts;
    look->out[VERIFIER_joins_with_choice] = choices;
    if (choices <= 0) return;
    look->out[VERIFIER_joins_choice_score] = own;
    look->out[VERIFIER_joins_choice_gap] = gap;
}

/* Sources of the answer that hold several rows for one of a source that is shown, and are not shown themselves. */
static void set_multiplied(struct look *look)
{
    const struct vsig_block_shape *shape = look->answer ? &look->shape->blocks[look->answer->index] : NULL;
    float many = 0, shown = 0;
    for (uint32_t i = 0; shape && i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        const struct schema_column *left = schema_column_of(look->schema, pair->left);
        const struct schema_column *right = schema_column_of(look->schema, pair->right);
        if (!left || !right) continue;
        vsig_sources left_bit = vsig_source_bit(shape->block, pair->left->source);
        vsig_sources right_bit = vsig_source_bit(shape->block, pair->right->source);
        bool from_left = !left->unique && !(shape->shown & left_bit) && (shape->shown & right_bit);
        bool from_right = !right->unique && !(shape->shown & right_bit) && (shape->shown & left_bit);
        many += from_left || from_right;
    }
    if (shape)
        shown = vsig_repeats_matter(shape->block) && !shape->block->grouped && !shape->block->aggregate ? many : 0;
    look->out[VERIFIER_joins_multiply] = many;
    look->out[VERIFIER_joins_multiply_shown] = shown;
}

static void set_alone(struct look *look)
{
    int table = -1;
    bool one = true;
    float read = 0;
    for (uint32_t i = 0; i < look->n_used; i++) {
        if (look->used[i].use == LOOK_JOIN) continue;
        one &= table < 0 || table == (int)look->used[i].column->table;
        table = (int)look->used[i].column->table;
    }
    for (uint32_t t = 0; t < look->schema->n_tables; t++) read += look->reads[t];
    look->out[VERIFIER_answer_could_do_alone] = one && table >= 0 && read > 1;
}

static bool groups_by(const struct look *look, const struct schema_column *column)
{
    return (look->uses[column->id] & 1U << LOOK_GROUP) != 0;
}

static void set_groups(struct look *look)
{
    float keys = 0, others = 0, unshown = 0, ungrouped = 0;
    if (!look->view.group) return;
    for (uint32_t i = 0; i < look->n_used; i++) {
        const struct look_used *used = &look->used[i];
        if (used->use == LOOK_GROUP) {
            keys += used->column->unique || used->column->pk;
            others += !used->column->unique && !used->column->pk;
            unshown += !(look->uses[used->column->id] & 1U << LOOK_ANSWER);
        }
        if (used->use == LOOK_ANSWER) ungrouped += !groups_by(look, used->column);
    }
    look->out[VERIFIER_group_is_key] = keys;
    look->out[VERIFIER_group_not_key] = others;
    look->out[VERIFIER_group_unshown] = unshown;
    look->out[VERIFIER_shown_ungrouped] = ungrouped;
}

/* Does the question name the table whose rows are counted? */
static void set_counted(struct look *look)
{
    float best = -1;
    if (!look->view.aggregate[QUERY_COUNT] || !look->asked) return;
    for (uint32_t i = 0; i < look->n_used; i++)
        if (look->used[i].use == LOOK_ARGUMENT) best = MAX(best, look->asked->table_score[look->used[i].column->table]);
    look->out[VERIFIER_counts_right_side] = best;
}

void look_joins(struct look *look)
{
    set_pairs(look);
    set_multiplied(look);
    set_alone(look);
    set_groups(look);
    set_counted(look);
}
