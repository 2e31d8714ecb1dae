/* Columns and tables: those that the question names against those that the query uses, clause by clause. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const float NAMED = 0.6F, SURE = 0.99F, FAINT = 0.3F, OWN_TABLE = 0.8F;

/* --- columns by their use --- */

/* Columns that the query leaves aside although the words of `mention` name them better. */
static float count_rivals(const struct look *look, const struct question_mention *mention, float score)
{
    float n = 0;
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (m->column < 0 || look->uses[m->id] || m->score <= (double)score + 0.01) continue;
        n += mention ? look_overlaps(mention, m->first, m->n_tokens) : m->score > (double)NAMED;
    }
    return n;
}

/* How much better the question names the table of another column that the same words mean. */
static float owner_gap(const struct look *look, const struct look_used *used, const struct question_mention *mention)
{
    const float *tables = look->asked->table_score;
    float own = tables[used->column->table], best = own;
    for (uint32_t i = 0; mention && i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (m->column < 0 || m->score + 0.01 < mention->score || !look_overlaps(mention, m->first, m->n_tokens))
            continue;
        best = MAX(best, tables[m->table]);
    }
    return best - own;
}

/* Rows of a use, in the order of feature_list.h. */
enum { LEAST, MEAN, UNMENTIONED, PLACE, RIVALS, OWNER_GAP };

static void set_use(struct look *look, enum look_use use, enum verifier_feature first)
{
    float *out = look->out + first, n = 0, sum = 0, least = 2, unmentioned = 0, place = 0, placed = 0, rivals = 0,
          gap = 0;
    for (uint32_t i = 0; i < look->n_used; i++) {
        const struct look_used *used = &look->used[i];
        if (used->use != use) continue;
        const struct question_mention *mention = look_mention(look, used->column);
        n++;
        sum += used->score;
        least = MIN(least, used->score);
        unmentioned += used->score < FAINT;
        rivals = MAX(rivals, count_rivals(look, mention, used->score));
        gap = MAX(gap, owner_gap(look, used, mention));
        if (!mention) continue;
        place += (float)mention->first / (float)(look->asked->tokens.n + 1);
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

/* --- the asked list --- */

static float phrase_score(const struct look *look, const struct question_asked *phrase,
                          const struct schema_column *column)
{
    float best = 0;
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (m->score <= (double)best || !look_overlaps(m, phrase->first, phrase->n_tokens)) continue;
        bool table = m->column < 0 && phrase->entity && m->table == (int)column->table;
        if (m->id == column->id)
            best = (float)m->score;
        else if (table)
            best = MAX(best, OWN_TABLE * (float)m->score);
    }
    return best;
}

struct outputs {
    const struct schema_column *column[LOOK_MAX_OUTPUTS]; /* NULL: computed */
    uint32_t n;
};

static struct outputs read_outputs(const struct look *look)
{
    struct outputs out = {.n = 0};
    for (uint32_t i = 0; look->answer && i < look->answer->n_outputs && out.n < LOOK_MAX_OUTPUTS; i++) {
        const struct sql_output *output = &look->answer->outputs[i];
        bool plain = output->table >= 0 && output->column >= 0 && (!output->expr || sql_plain_column(output->expr));
        out.column[out.n++] = plain ? look->schema->tables[output->table].columns + output->column : NULL;
    }
    return out;
}

static float met(const struct look *look, const struct question_asked *phrase, const struct schema_column *column)
{
    return column ? phrase_score(look, phrase, column) : phrase->computed ? 1.0F : 0.0F;
}

static void set_asked_met(struct look *look, const struct outputs *outputs)
{
    float least = 2, sum = 0;
    const struct question *asked = look->asked;
    for (uint32_t p = 0; p < asked->n_asked; p++) {
        float best = asked->asked[p].vague ? 1 : 0;
        for (uint32_t i = 0; i < outputs->n; i++) best = MAX(best, met(look, &asked->asked[p], outputs->column[i]));
        least = MIN(least, best);
        sum += best;
    }
    look->out[VERIFIER_asked_least_met] = least;
    look->out[VERIFIER_asked_mean_met] = sum / (float)asked->n_asked;
}

static void set_outputs_met(struct look *look, const struct outputs *outputs)
{
    float least = 2, sum = 0, turned = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < outputs->n; i++) {
        float best = 0;
        uint32_t at = last;
        for (uint32_t p = 0; p < look->asked->n_asked; p++) {
            float score = met(look, &look->asked->asked[p], outputs->column[i]);
            if (score <= best) continue;
            best = score;
            at = p;
        }
        turned += at < last;
        last = at;
        least = MIN(least, best);
        sum += best;
    }
    look->out[VERIFIER_outputs_least_met] = least;
    look->out[VERIFIER_outputs_mean_met] = sum / (float)outputs->n;
    look->out[VERIFIER_outputs_out_of_order] = turned;
}

static void set_asked(struct look *look)
{
    const struct question *asked = look->asked;
    struct outputs outputs = read_outputs(look);
    float computed = 0, entities = 0, vague = 0, keys = 0, computed_outputs = 0;
    for (uint32_t i = 0; i < asked->n_asked; i++) {
        computed += asked->asked[i].computed;
        entities += asked->asked[i].entity;
        vague += asked->asked[i].vague;
    }
    for (uint32_t i = 0; i < outputs.n; i++) {
        computed_outputs += !outputs.column[i];
        keys +=
            outputs.column[i] && (outputs.column[i]->pk || schema_is_foreign_key(look->schema, outputs.column[i]->id));
    }
    float *out = look->out;
    out[VERIFIER_n_asked] = (float)asked->n_asked;
    out[VERIFIER_asked_closed] = asked->asked_closed;
    out[VERIFIER_outputs_over_asked] = (float)outputs.n - (float)asked->n_asked;
    out[VERIFIER_asked_computed] = computed;
    out[VERIFIER_asked_entities] = entities;
    out[VERIFIER_asked_vague] = vague;
    out[VERIFIER_computed_over_asked] = computed_outputs - computed;
    out[VERIFIER_outputs_keys] = keys;
    out[VERIFIER_asks_for_key] = question_has(asked, "id") || question_has(asked, "code");
    if (!asked->n_asked || !outputs.n) return;
    set_asked_met(look, &outputs);
    set_outputs_met(look, &outputs);
}

/* --- tables --- */

static void set_tables_read(struct look *look)
{
    const float *score = look->asked->table_score;
    float n = 0, least = 2, unmentioned = 0, named = 0, named_score = 0;
    for (uint32_t t = 0; t < look->schema->n_tables; t++) {
        if (look->reads[t]) {
            n++;
            least = MIN(least, score[t]);
            unmentioned += score[t] < NAMED;
        } else {
            named += score[t] >= SURE;
            named_score = MAX(named_score, score[t]);
        }
    }
    look->out[VERIFIER_tables_read] = n;
    if (n > 0) look->out[VERIFIER_tables_read_least_score] = least;
    look->out[VERIFIER_tables_read_unmentioned] = unmentioned;
    look->out[VERIFIER_tables_named_unread] = named;
    look->out[VERIFIER_tables_named_unread_score] = named_score;
}

/* FROM items that the query uses for nothing but joining. */
static void set_idle(struct look *look)
{
    float idle = 0, unmentioned = 0;
    for (uint32_t b = 0; b < look->subject->bound->n_blocks; b++) {
        const struct vsig_block_shape *shape = &look->shape->blocks[b];
        for (uint32_t i = 0; i < shape->block->n_sources && i < VSIG_MAX_SOURCES; i++) {
            const struct sql_source *source = &shape->block->sources[i];
            if (source->table < 0 || shape->used & vsig_source_bit(shape->block, source)) continue;
            if (shape->block->n_sources < 2) continue;
            idle++;
            unmentioned += look->asked->table_score[source->table] < NAMED;
        }
    }
    look->out[VERIFIER_tables_idle] = idle;
    look->out[VERIFIER_tables_idle_unmentioned] = unmentioned;
}

static bool read_column_overlaps(const struct look *look, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        bool used = m->column >= 0 ? look->uses[m->id] != 0 : look->reads[m->table];
        if (used && m->score + 0.2 >= mention->score && look_overlaps(m, mention->first, mention->n_tokens))
            return true;
    }
    return false;
}

/* Columns that the question names and the query has no use for, where nothing that it uses answers for those words. */
static void set_unused(struct look *look)
{
    float unused = 0, exact = 0, elsewhere = 0;
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (m->column < 0 || m->score < (double)NAMED || look->uses[m->id] || read_column_overlaps(look, m)) continue;
        unused++;
        exact += m->exact && m->score >= (double)SURE;
        elsewhere += !look->reads[m->table];
    }
    look->out[VERIFIER_columns_named_unused] = unused;
    look->out[VERIFIER_columns_named_unused_exact] = exact;
    look->out[VERIFIER_columns_named_elsewhere] = elsewhere;
}

/* --- words --- */

static void explain_names(struct look *look)
{
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        bool used = m->column >= 0 ? look->uses[m->id] != 0 : look->reads[m->table];
        if (used && m->score > 0.5) look_explain(look, m->first, m->n_tokens);
    }
}

/* The best mention of anything that covers the token. */
static float linked(const struct look *look, uint32_t token)
{
    float best = 0;
    for (uint32_t i = 0; i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (look_overlaps(m, token, 1)) best = MAX(best, (float)m->score);
    }
    return best;
}

static void set_words(struct look *look)
{
    const struct text_tokens *tokens = &look->asked->tokens;
    float n = 0, unexplained = 0, linkable = 0, weight = 0;
    for (uint32_t i = 0; i < tokens->n; i++) {
        if (tokens->items[i].is_stop || tokens->items[i].kind == TEXT_PUNCT) continue;
        n++;
        if (look->explained[i]) continue;
        float score = linked(look, i);
        unexplained++;
        linkable += score > 0.7F;
        weight += score;
    }
    if (n > 0) look->out[VERIFIER_words_explained] = 1 - unexplained / n;
    look->out[VERIFIER_words_unexplained] = unexplained;
    look->out[VERIFIER_words_unexplained_linked] = linkable;
    look->out[VERIFIER_words_unexplained_weight] = weight;
}

/* The share of words in the names of used columns that the question says. */
static void set_names_said(struct look *look)
{
    float n = 0, said = 0;
    for (uint32_t i = 0; i < look->n_used; i++) {
        const struct text_tokens *words = &look->used[i].column->words;
        if (look->used[i].use == LOOK_JOIN) continue;
        for (uint32_t w = 0; w < words->n; w++) {
            n++;
            said += question_has(look->asked, words->items[w].stem);
        }
    }
    if (n > 0) look->out[VERIFIER_names_said] = said / n;
}

void look_schema(struct look *look)
{
    if (!look->asked) return;
    set_use(look, LOOK_ANSWER, VERIFIER_answer_least_score);
    set_use(look, LOOK_CONDITION, VERIFIER_condition_least_score);
    set_use(look, LOOK_GROUP, VERIFIER_group_least_score);
    set_use(look, LOOK_ORDER, VERIFIER_order_least_score);
    set_use(look, LOOK_ARGUMENT, VERIFIER_argument_least_score);
    set_asked(look);
    set_tables_read(look);
    set_idle(look);
    set_unused(look);
    explain_names(look);
    set_words(look);
    set_names_said(look);
}
