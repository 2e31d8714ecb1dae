/* Compares the columns and tables that the question names with those that the query uses, clause by clause.
 *
 * For each use of a column, the features rate the mentions of the used columns, and count unused columns that fit the
 * words better. The requested outputs are matched with the columns of the answer in both directions. Tables count in
 * three cases: named and not read, read and not named, or read only to join. Finally, the words that no part of the
 * query explains are counted. extract_values and extract_operators must run earlier, because they mark the words that
 * they explain. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const float NAMED = 0.6F, SURE = 0.99F, FAINT = 0.3F, OWN_TABLE = 0.8F;

/* --- columns by their use --- */

/* Counts columns that the words of `mention` name better and that the query does not use. */
static float count_rivals(const struct extraction *ex, const struct question_mention *mention, float score)
{
    float n = 0;
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (m->column < 0 || ex->uses[m->id] || m->score <= (double)score + 0.01) continue;
        n += mention ? extract_overlaps(mention, m->first, m->n_tokens) : m->score > (double)NAMED;
    }
    return n;
}

/* Returns how much better the question names the table of another column that the same words mention. */
static float owner_gap(const struct extraction *ex, const struct used_column *used,
                       const struct question_mention *mention)
{
    const float *tables = ex->question->table_score;
    float own = tables[used->column->table], best = own;
    for (uint32_t i = 0; mention && i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (m->column < 0 || m->score + 0.01 < mention->score || !extract_overlaps(mention, m->first, m->n_tokens))
            continue;
        best = MAX(best, tables[m->table]);
    }
    return best - own;
}

/* Offsets of the features of a use, in the order of feature_list.h. */
enum { LEAST, MEAN, UNMENTIONED, PLACE, RIVALS, OWNER_GAP };

static void set_use(struct extraction *ex, enum column_use use, enum feature_index first)
{
    float *out = ex->out + first, n = 0, sum = 0, least = 2, unmentioned = 0, place = 0, placed = 0, rivals = 0,
          gap = 0;
    for (uint32_t i = 0; i < ex->n_used; i++) {
        const struct used_column *used = &ex->used[i];
        if (used->use != use) continue;
        const struct question_mention *mention = extract_best_mention(ex, used->column);
        n++;
        sum += used->score;
        least = MIN(least, used->score);
        unmentioned += used->score < FAINT;
        rivals = MAX(rivals, count_rivals(ex, mention, used->score));
        gap = MAX(gap, owner_gap(ex, used, mention));
        if (!mention) continue;
        place += (float)mention->first / (float)(ex->question->tokens.n + 1);
        placed++;
    }
    if (n <= 0) return;
    out[LEAST] = least;
    out[MEAN] = sum / n;
    out[UNMENTIONED] = unmentioned;
    if (placed > 0) out[PLACE] = place / placed;
    out[RIVALS] = rivals;
    out[OWNER_GAP] = gap;
}

/* --- the requested outputs --- */

static float phrase_score(const struct extraction *ex, const struct question_output *phrase,
                          const struct schema_column *column)
{
    float best = 0;
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (m->score <= (double)best || !extract_overlaps(m, phrase->first, phrase->n_tokens)) continue;
        bool table = m->column < 0 && phrase->entity && m->table == (int)column->table;
        if (m->id == column->id)
            best = (float)m->score;
        else if (table)
            best = MAX(best, OWN_TABLE * (float)m->score);
    }
    return best;
}

struct outputs {
    const struct schema_column *column[EXTRACT_MAX_OUTPUTS]; /* NULL if computed */
    uint32_t n;
};

static struct outputs read_outputs(const struct extraction *ex)
{
    struct outputs out = {.n = 0};
    for (uint32_t i = 0; ex->answer && i < ex->answer->n_outputs && out.n < EXTRACT_MAX_OUTPUTS; i++) {
        const struct sql_output *output = &ex->answer->outputs[i];
        bool plain = output->table >= 0 && output->column >= 0 && (!output->expr || sql_plain_column(output->expr));
        out.column[out.n++] = plain ? ex->schema->tables[output->table].columns + output->column : NULL;
    }
    return out;
}

static float phrase_match(const struct extraction *ex, const struct question_output *phrase,
                          const struct schema_column *column)
{
    return column ? phrase_score(ex, phrase, column) : phrase->computed ? 1.0F : 0.0F;
}

static void set_requested_match(struct extraction *ex, const struct outputs *outputs)
{
    float least = 2, sum = 0;
    const struct question *question = ex->question;
    for (uint32_t p = 0; p < question->n_outputs; p++) {
        float best = question->outputs[p].vague ? 1 : 0;
        for (uint32_t i = 0; i < outputs->n; i++)
            best = MAX(best, phrase_match(ex, &question->outputs[p], outputs->column[i]));
        least = MIN(least, best);
        sum += best;
    }
    ex->out[FEATURE_asked_least_met] = least;
    ex->out[FEATURE_asked_mean_met] = sum / (float)question->n_outputs;
}

static void set_outputs_match(struct extraction *ex, const struct outputs *outputs)
{
    float least = 2, sum = 0, turned = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < outputs->n; i++) {
        float best = 0;
        uint32_t at = last;
        for (uint32_t p = 0; p < ex->question->n_outputs; p++) {
            float score = phrase_match(ex, &ex->question->outputs[p], outputs->column[i]);
            if (score <= best) continue;
            best = score;
            at = p;
        }
        turned += at < last;
        last = at;
        least = MIN(least, best);
        sum += best;
    }
    ex->out[FEATURE_outputs_least_met] = least;
    ex->out[FEATURE_outputs_mean_met] = sum / (float)outputs->n;
    ex->out[FEATURE_outputs_out_of_order] = turned;
}

static void set_requested(struct extraction *ex)
{
    const struct question *question = ex->question;
    struct outputs outputs = read_outputs(ex);
    float computed = 0, entities = 0, vague = 0, keys = 0, computed_outputs = 0;
    for (uint32_t i = 0; i < question->n_outputs; i++) {
        computed += question->outputs[i].computed;
        entities += question->outputs[i].entity;
        vague += question->outputs[i].vague;
    }
    for (uint32_t i = 0; i < outputs.n; i++) {
        computed_outputs += !outputs.column[i];
        keys +=
            outputs.column[i] && (outputs.column[i]->pk || schema_is_foreign_key(ex->schema, outputs.column[i]->id));
    }
    float *out = ex->out;
    out[FEATURE_n_asked] = (float)question->n_outputs;
    out[FEATURE_asked_closed] = question->outputs_closed;
    out[FEATURE_outputs_over_asked] = (float)outputs.n - (float)question->n_outputs;
    out[FEATURE_asked_computed] = computed;
    out[FEATURE_asked_entities] = entities;
    out[FEATURE_asked_vague] = vague;
    out[FEATURE_computed_over_asked] = computed_outputs - computed;
    out[FEATURE_outputs_keys] = keys;
    out[FEATURE_asks_for_key] = question_has(question, "id") || question_has(question, "code");
    if (!question->n_outputs || !outputs.n) return;
    set_requested_match(ex, &outputs);
    set_outputs_match(ex, &outputs);
}

/* --- tables --- */

static void set_tables_read(struct extraction *ex)
{
    const float *score = ex->question->table_score;
    float n = 0, least = 2, unmentioned = 0, named = 0, named_score = 0;
    for (uint32_t t = 0; t < ex->schema->n_tables; t++) {
        if (ex->reads[t]) {
            n++;
            least = MIN(least, score[t]);
            unmentioned += score[t] < NAMED;
        } else {
            named += score[t] >= SURE;
            named_score = MAX(named_score, score[t]);
        }
    }
    ex->out[FEATURE_tables_read] = n;
    if (n > 0) ex->out[FEATURE_tables_read_least_score] = least;
    ex->out[FEATURE_tables_read_unmentioned] = unmentioned;
    ex->out[FEATURE_tables_named_unread] = named;
    ex->out[FEATURE_tables_named_unread_score] = named_score;
}

/* Counts FROM items that the query uses only to join. */
static void set_idle(struct extraction *ex)
{
    float idle = 0, unmentioned = 0;
    for (uint32_t b = 0; b < ex->subject->bound->n_blocks; b++) {
        const struct vsig_block_shape *shape = &ex->shape->blocks[b];
        for (uint32_t i = 0; i < shape->block->n_sources && i < VSIG_MAX_SOURCES; i++) {
            const struct sql_source *source = &shape->block->sources[i];
            if (source->table < 0 || shape->used & vsig_source_bit(shape->block, source)) continue;
            if (shape->block->n_sources < 2) continue;
            idle++;
            unmentioned += ex->question->table_score[source->table] < NAMED;
        }
    }
    ex->out[FEATURE_tables_idle] = idle;
    ex->out[FEATURE_tables_idle_unmentioned] = unmentioned;
}

static bool read_column_overlaps(const struct extraction *ex, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        bool used = m->column >= 0 ? ex->uses[m->id] != 0 : ex->reads[m->table];
        if (used && m->score + 0.2 >= mention->score && extract_overlaps(m, mention->first, mention->n_tokens))
            return true;
    }
    return false;
}

/* Counts columns that the question names and the query does not use. A column does not count if the name of a used
 * column explains the same words. */
static void set_unused(struct extraction *ex)
{
    float unused = 0, exact = 0, elsewhere = 0;
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (m->column < 0 || m->score < (double)NAMED || ex->uses[m->id] || read_column_overlaps(ex, m)) continue;
        unused++;
        exact += m->exact && m->score >= (double)SURE;
        elsewhere += !ex->reads[m->table];
    }
    ex->out[FEATURE_columns_named_unused] = unused;
    ex->out[FEATURE_columns_named_unused_exact] = exact;
    ex->out[FEATURE_columns_named_elsewhere] = elsewhere;
}

/* --- words --- */

static void explain_names(struct extraction *ex)
{
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        bool used = m->column >= 0 ? ex->uses[m->id] != 0 : ex->reads[m->table];
        if (used && m->score > 0.5) extract_mark_explained(ex, m->first, m->n_tokens);
    }
}

/* Returns the highest score of a mention that covers the token. */
static float best_mention_score(const struct extraction *ex, uint32_t token)
{
    float best = 0;
    for (uint32_t i = 0; i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (extract_overlaps(m, token, 1)) best = MAX(best, (float)m->score);
    }
    return best;
}

static void set_words(struct extraction *ex)
{
    const struct text_tokens *tokens = &ex->question->tokens;
    float n = 0, unexplained = 0, linkable = 0, weight = 0;
    for (uint32_t i = 0; i < tokens->n; i++) {
        if (tokens->items[i].is_stop || tokens->items[i].kind == TEXT_PUNCT) continue;
        n++;
        if (ex->explained[i]) continue;
        float score = best_mention_score(ex, i);
        unexplained++;
        linkable += score > 0.7F;
        weight += score;
    }
    if (n > 0) ex->out[FEATURE_words_explained] = 1 - unexplained / n;
    ex->out[FEATURE_words_unexplained] = unexplained;
    ex->out[FEATURE_words_unexplained_linked] = linkable;
    ex->out[FEATURE_words_unexplained_weight] = weight;
}

/* Sets the share of words in the names of used columns that the question contains. */
static void set_names_said(struct extraction *ex)
{
    float n = 0, said = 0;
    for (uint32_t i = 0; i < ex->n_used; i++) {
        const struct text_tokens *words = &ex->used[i].column->words;
        if (ex->used[i].use == USE_JOIN) continue;
        for (uint32_t w = 0; w < words->n; w++) {
            n++;
            said += question_has(ex->question, words->items[w].stem);
        }
    }
    if (n > 0) ex->out[FEATURE_names_said] = said / n;
}

void extract_schema(struct extraction *ex)
{
    if (!ex->question) return;
    set_use(ex, USE_ANSWER, FEATURE_answer_least_score);
    set_use(ex, USE_CONDITION, FEATURE_condition_least_score);
    set_use(ex, USE_GROUP, FEATURE_group_least_score);
    set_use(ex, USE_ORDER, FEATURE_order_least_score);
    set_use(ex, USE_ARGUMENT, FEATURE_argument_least_score);
    set_requested(ex);
    set_tables_read(ex);
    set_idle(ex);
    set_unused(ex);
    explain_names(ex);
    set_words(ex);
    set_names_said(ex);
}
