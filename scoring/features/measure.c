/* Measures whether the query computes the requested quantity.
 *
 * Features cover kept rows, roles, parts of dates, ratios, counts and sums, groups, repeats, and join keys. The checks
 * are those of signals/support. The signals of signals/join and signals/structure fire only if such a fact is certain;
 * here the same facts are graded. Many of them depend on the data. */
#include "lib/question/phrase.h"
#include "scoring/features/extract.h"
#include "signals/support/counted.h"
#include "signals/support/grouping.h"
#include "signals/support/kept.h"
#include "signals/support/part.h"
#include "signals/support/quotient.h"
#include "signals/support/role.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

static void set_kept(struct extraction *ex)
{
    static const float ASKED[] = {[VSIG_KEEP_ONLY] = -1,
                                  [VSIG_KEEP_UNSAID] = 0,
                                  [VSIG_KEEP_EACH] = 0.5F,
                                  [VSIG_KEEP_HINTED] = 0.75F,
                                  [VSIG_KEEP_SAID] = 1};
    const struct vsig_kept *kept = vsig_kept_look(ex->subject);
    if (!kept) return;
    bool drops = kept->drop != VSIG_DROP_NOTHING && !kept->anti;
    ex->out[FEATURE_outer_joins] = (float)kept->n_outer;
    ex->out[FEATURE_outer_rows_counted] = kept->drop == VSIG_DROP_COUNTED;
    ex->out[FEATURE_keep_lost] = kept->rows > 0 ? (float)MIN(kept->lost / kept->rows, 1) : 0;
    if (!ex->question) return;
    ex->out[FEATURE_keep_asked] = ASKED[kept->asked];
    ex->out[FEATURE_outer_unasked] = kept->n_outer > 0 && kept->asked <= VSIG_KEEP_UNSAID && !kept->anti;
    if (kept->asked >= VSIG_KEEP_HINTED) ex->out[FEATURE_keep_unmet] = drops;
    if (kept->asked == VSIG_KEEP_ONLY) ex->out[FEATURE_keep_unmet] = kept->n_outer > 0 && !drops && !kept->anti;
}

static void set_roles(struct extraction *ex)
{
    const struct vsig_roles *roles = ex->question ? vsig_roles_look(ex->subject) : NULL;
    if (!roles) return;
    ex->out[FEATURE_role_match] = (float)roles->match;
    ex->out[FEATURE_role_mismatch] = (float)roles->mismatch;
    ex->out[FEATURE_ends_match] = (float)roles->ends_match;
    ex->out[FEATURE_ends_mismatch] = (float)roles->ends_mismatch;
    ex->out[FEATURE_role_words_match] = (float)roles->words_match;
    ex->out[FEATURE_role_words_mismatch] = (float)roles->words_mismatch;
}

static void set_parts(struct extraction *ex)
{
    struct vsig_parts parts;
    vsig_parts_look(ex->subject, &parts);
    ex->out[FEATURE_date_parts] = (float)parts.n;
    ex->out[FEATURE_date_unreadable] = parts.unreadable != NULL;
    if (!ex->question || !parts.n) return;
    ex->out[FEATURE_date_part_match] = (float)parts.match;
    ex->out[FEATURE_date_part_mismatch] = (float)parts.mismatch;
    ex->out[FEATURE_date_group_match] = parts.grouped_match;
    ex->out[FEATURE_date_group_misfit] = parts.grouped_misfit;
}

/* --- ratios --- */

/* Returns 1 if the single result exceeds the whole: a share above 1, or a percentage above 100. Otherwise returns 0.
 * Returns NAN if the result is not a single row. */
static float over_whole(const struct extraction *ex, bool scaled)
{
    const struct db_result *result = vsig_result(ex->subject);
    if (!result || result->n_rows != 1 || !result->n_columns || !result->values) return (float)NAN;
    const struct db_value *value = &result->values[result->n_columns - 1];
    double number = value->type == DB_INT ? (double)value->i : value->type == DB_FLOAT ? value->f : 0;
    return number > (scaled ? 100 : 1);
}

static void set_quotients(struct extraction *ex)
{
    struct vsig_quotients quotients;
    vsig_quotients_look(ex->subject, &quotients);
    ex->out[FEATURE_quotients] = (float)quotients.n;
    if (!ex->question) return;
    ex->out[FEATURE_share_said] = quotients.share_said;
    if (!quotients.n) return;
    ex->out[FEATURE_quotient_upright] = (float)quotients.upright;
    ex->out[FEATURE_quotient_inverted] = (float)quotients.inverted;
    ex->out[FEATURE_quotient_whole] = (float)quotients.whole;
    ex->out[FEATURE_quotient_scaled] = (float)quotients.scaled;
    if (quotients.share_said) ex->out[FEATURE_share_over_whole] = over_whole(ex, quotients.scaled > 0);
}

/* --- counts and sums --- */

static void set_counted(struct extraction *ex)
{
    struct vsig_counted_things things;
    vsig_counted_look(ex->subject, &things);
    ex->out[FEATURE_counts_amounts] = things.amounts != NULL;
    if (!ex->question) return;
    if (ex->view.answer[QUERY_SUM]) ex->out[FEATURE_sums_things] = things.asked;
    if (!things.rows) return;
    ex->out[FEATURE_number_held] = things.held != NULL;
    ex->out[FEATURE_counted_asked] = things.asked;
    ex->out[FEATURE_counted_score] = things.counted;
}

/* True if, according to keys alone, a join may have several rows for one row of the source. */
static bool is_multiplied(const struct extraction *ex, const struct sql_source *source)
{
    if (!source || !source->block) return false;
    const struct vsig_block_shape *home = &ex->shape->blocks[source->block->index];
    for (uint32_t i = 0; i < home->n_pairs; i++) {
        const struct sql_ref *left = home->pairs[i]->left, *right = home->pairs[i]->right;
        const struct schema_column *a = schema_column_of(ex->schema, left), *b = schema_column_of(ex->schema, right);
        if (!a || !b) continue;
        if ((left->source == source && !b->unique) || (right->source == source && !a->unique)) return true;
    }
    return false;
}

/* Returns the share of the values that repeat another one. A COUNT without DISTINCT counts these repeatedly. */
static float repeats_of(const struct schema_column *column)
{
    double filled = (double)column->stats.rows - (double)column->stats.nulls;
    return filled > 0 ? (float)(1 - (double)column->stats.distinct / filled) : 0;
}

static void set_aggregate(struct extraction *ex, const struct sql_node *call, enum query_aggregate aggregate)
{
    const struct sql_node *argument = sql_kid(sql_kid(call, CALL_ARGS), 0);
    const struct sql_ref *ref = argument ? sql_plain_column(argument) : NULL;
    const struct schema_column *column = query_column(ex->subject, argument);
    if (!ref || !column || call->flags & SQL_F_DISTINCT) return;
    bool adds = aggregate == QUERY_SUM || aggregate == QUERY_AVG;
    if (adds) {
        ex->out[FEATURE_sums_multiplied] += is_multiplied(ex, ref->source);
        ex->out[FEATURE_sums_amounts] += vsig_holds_amounts(ex->subject, column);
        ex->out[FEATURE_sums_keys] += column->pk || schema_is_foreign_key(ex->schema, column->id);
    } else if (aggregate == QUERY_COUNT) {
        bool multiplied = is_multiplied(ex, ref->source);
        ex->out[FEATURE_counts_multiplied] += multiplied;
        float repeats = multiplied && column->unique ? 1 : repeats_of(column);
        if (!(ex->out[FEATURE_count_repeats] >= repeats)) ex->out[FEATURE_count_repeats] = repeats;
    }
}

static void set_aggregates(struct extraction *ex)
{
    static const enum feature_index rows[] = {FEATURE_sums_multiplied, FEATURE_sums_amounts, FEATURE_sums_keys,
                                              FEATURE_counts_multiplied};
    const struct sql_node *root = ex->subject->stmt->root;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) ex->out[rows[i]] = 0;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        enum query_aggregate aggregate = query_aggregate_of(n);
        if (aggregate != QUERY_AGGREGATES) set_aggregate(ex, n, aggregate);
    }
}

/* --- groups --- */

static void set_grouping(struct extraction *ex)
{
    struct vsig_grouping grouping;
    if (!vsig_grouping_look(ex->subject, true, &grouping)) return;
    if (ex->view.group) ex->out[FEATURE_group_merged] = grouping.merged;
    ex->out[FEATURE_group_split] = grouping.split;
    if (!ex->question) return;
    if (ex->view.group) ex->out[FEATURE_group_merged_asked] = grouping.merged_asked;
    ex->out[FEATURE_group_key_score] = grouping.key_score;
    if (grouping.each_extreme) {
        ex->out[FEATURE_each_extreme_met] = grouping.per_group;
        ex->out[FEATURE_extreme_for_all] = grouping.for_all != NULL;
    }
    const struct db_result *result = vsig_result(ex->subject);
    if (result && !isnan(grouping.each_things))
        ex->out[FEATURE_rows_over_each] = logf((1 + (float)result->n_rows) / (1 + (float)grouping.each_things));
}

/* --- repeats --- */

static const char *const ONCE[] = {
    "different",     "distinct",      "unique",     "individual",    "various",         "once",
    "a single time", "no duplicates", "no repeats", "no repetition", "without repeats", "without repeating",
    "duplicat",      "deduplicated",  NULL};

static void set_distinct(struct extraction *ex)
{
    struct question_phrase at;
    if (!ex->question) return;
    bool said = question_phrase_find(ex->question, ONCE, 0, &at);
    bool done = ex->view.distinct || ex->view.group || ex->view.compound[QUERY_UNION] ||
                ex->view.compound[QUERY_INTERSECT] || ex->view.compound[QUERY_EXCEPT];
    float repeats = fmaxf(ex->out[FEATURE_count_repeats], ex->out[FEATURE_repeated_rows]);
    ex->out[FEATURE_distinct_said] = said;
    ex->out[FEATURE_distinct_done] = done;
    ex->out[FEATURE_distinct_unmet] = said && !done && repeats > 0;
}

/* --- join keys --- */

/* Returns the share of the most frequent values of `from` that `to` contains. Returns NAN if unknown. */
static float share_met(const struct extraction *ex, const struct schema_column *from, const struct schema_column *to)
{
    uint32_t met = 0, n = 0;
    for (uint32_t i = 0; i < from->stats.n_top; i++) {
        const struct db_value *value = &from->stats.top[i].value;
        char text[32];
        int len = value->type == DB_INT ? snprintf(text, sizeof text, "%lld", (long long)value->i) : 0;
        if (value->type != DB_INT && value->type != DB_TEXT) continue;
        int has = value->type == DB_INT ? schema_column_has(ex->schema, to, text, (size_t)len, true)
                                        : schema_column_has(ex->schema, to, value->text, value->len, true);
        n += has >= 0;
        met += has == 1;
    }
    return n ? (float)met / (float)n : (float)NAN;
}

/* True if both columns reference the same key, but one table also references the other directly. The join is then a
 * detour. */
static bool is_sibling(const struct extraction *ex, const struct schema_column *a, const struct schema_column *b)
{
    bool derived = false;
    (void)schema_join_between(ex->schema, a->id, b->id, &derived);
    if (!derived || a->table == b->table) return false;
    for (uint32_t i = 0; i < ex->schema->n_joins; i++) {
        const struct schema_join *join = &ex->schema->joins[i];
        if (join->n_pairs == 1 && ((join->from[0] == a->id && join->to_table == b->table) ||
                                   (join->from[0] == b->id && join->to_table == a->table)))
            return true;
    }
    return false;
}

/* True if a table is joined with itself and no condition excludes the pairs of a row with itself. */
static bool pairs_with_itself(const struct extraction *ex, const struct sql_join_pair *pair)
{
    const struct sql_block *block = pair->block;
    if (!block || pair->left->source == pair->right->source) return false;
    const struct vsig_block_shape *home = &ex->shape->blocks[block->index];
    for (uint32_t i = 0; i < home->n_conditions; i++) {
        const struct sql_node *node = home->conditions[i].node;
        bool differs = sql_is(node, SQL_BINARY) && (node->op == SQL_OP_NE || node->op == SQL_OP_LT ||
                                                    node->op == SQL_OP_GT || node->op == SQL_OP_IS_NOT);
        if (differs && __builtin_popcountll(home->conditions[i].sources) > 1) return false;
    }
    return true;
}

static void set_keys(struct extraction *ex)
{
    float siblings = 0, selves = 0;
    if (!ex->shape->n_pairs) return;
    for (uint32_t i = 0; i < ex->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &ex->shape->pairs[i];
        const struct schema_column *a = schema_column_of(ex->schema, pair->left);
        const struct schema_column *b = schema_column_of(ex->schema, pair->right);
        if (!a || !b) continue;
        siblings += is_sibling(ex, a, b);
        selves += a == b && !a->unique && pairs_with_itself(ex, pair);
        float met = a == b ? 1 : a->unique ? share_met(ex, b, a) : share_met(ex, a, b);
        float *out = &ex->out[FEATURE_joins_met_least];
        if (!isnan(met) && !(*out <= met)) *out = met;
    }
    ex->out[FEATURE_joins_sibling] = siblings;
    ex->out[FEATURE_self_pairs] = selves;
}

void extract_measure(struct extraction *ex)
{
    set_kept(ex);
    set_roles(ex);
    set_parts(ex);
    set_quotients(ex);
    set_counted(ex);
    set_aggregates(ex);
    set_grouping(ex);
    set_distinct(ex);
    set_keys(ex);
}
