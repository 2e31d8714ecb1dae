/* Computes features of the links between words of the question and parts of the query (lib/question/link.h).
 *
 * They measure unlinked items: words that no part expresses, and parts that no word requests. For each role of a
 * column, they give the lowest score and the largest lead of a rival. Without links, all features stay NAN. */
#include "scoring/features/extract.h"
#include "signals/support/links.h"

#include <glib.h>
#include <math.h>

static const float FAINT = 0.3F, HELD = 0.5F, HEAVY = 0.5F;

/* --- words --- */

static bool is_held(const struct link_query *links, const struct link_word *word)
{
    const struct question *question = links->question->question;
    return word->value >= 0 && question->values[word->value].n_hits > 0 && !question->values[word->value].is_name;
}

static void set_unanswered(float *out, const struct link_query *links, uint32_t w)
{
    const struct link_word *word = &links->question->words[w];
    out[FEATURE_links_unanswered] += word->weight;
    out[FEATURE_links_unanswered_modifier] += word->modifies ? word->weight : 0;
    out[FEATURE_links_unanswered_named] += word->weight * word->named;
    out[FEATURE_links_unanswered_value] += is_held(links, word) ? word->weight : 0;
    out[FEATURE_links_unanswered_cue] += word->cue >= 0;
    out[FEATURE_links_unanswered_most] = MAX(out[FEATURE_links_unanswered_most], word->weight);
}

/* True if the word names a table that a table of the query references. In "complaints of customers", for example, the
 * key of the complaints represents the customers. */
static bool is_referred(const struct extraction *ex, const struct link_query *links, uint32_t w)
{
    for (uint32_t i = 0; i < ex->schema->n_joins; i++) {
        const struct schema_join *join = &ex->schema->joins[i];
        const struct link_name *name = &links->question->tables[join->to_table];
        if (!ex->reads[join->from_table] || ex->reads[join->to_table]) continue;
        for (uint32_t h = 0; h < name->n; h++)
            if (name->hits[h].word == w && name->hits[h].strength > HELD) return true;
    }
    return false;
}

static void set_referred(struct extraction *ex, const struct link_query *links)
{
    float referred = 0;
    for (uint32_t w = 0; w < links->question->n_words; w++) {
        const struct link_word *word = &links->question->words[w];
        if (word->weight > 0 && links->places[w].part < 0 && is_referred(ex, links, w)) referred += word->weight;
    }
    ex->out[FEATURE_links_unanswered_referred] = referred;
}

static void set_words(float *out, const struct link_query *links)
{
    const struct link_question *question = links->question;
    float total = 0, answered = 0, strength = 0, n = 0;
    for (int i = FEATURE_links_unanswered; i <= FEATURE_links_unanswered_most; i++) out[i] = 0;
    for (uint32_t w = 0; w < question->n_words; w++) {
        const struct link_place *place = &links->places[w];
        float weight = question->words[w].weight;
        if (weight <= 0) continue;
        n++;
        total += weight;
        if (place->part < 0) {
            set_unanswered(out, links, w);
            continue;
        }
        answered += weight;
        strength += weight * place->strength;
    }
    out[FEATURE_links_words] = n;
    if (total > 0) out[FEATURE_links_answered_share] = answered / total;
    if (answered > 0) out[FEATURE_links_strength] = strength / answered;
}

/* --- parts --- */

static bool is_unasked(const struct link_part *part)
{
    return part->said + part->shared < FAINT * part->weight;
}

/* True if the question mentions the condition by its column or by a value that is compared with the column. */
static bool condition_is_asked(const struct link_part *part)
{
    return !is_unasked(part) || part->implied;
}

static void set_part(float *out, const struct link_part *part)
{
    bool unasked = is_unasked(part);
    out[FEATURE_links_unsaid] += MAX(part->weight - part->said - part->shared, 0);
    out[FEATURE_links_shared] += part->shared;
    out[FEATURE_links_unasked_conditions] += part->role == LINK_CONDITION && !condition_is_asked(part);
    out[FEATURE_links_unasked_literals] += part->role == LINK_LITERAL && unasked;
    out[FEATURE_links_literals_shared] += part->role == LINK_LITERAL && part->shared > HELD;
    out[FEATURE_links_unasked_outputs] += part->role == LINK_ANSWER && unasked;
    out[FEATURE_links_unasked_operations] += part->role == LINK_OPERATION && unasked;
    out[FEATURE_links_unasked_tables] += part->role == LINK_TABLE && unasked;
    out[FEATURE_links_rival_words] = MAX(out[FEATURE_links_rival_words], part->rival_words);
}

static void set_parts(float *out, const struct link_query *links)
{
    float weight = 0;
    for (int i = FEATURE_links_slots; i <= FEATURE_links_rival_words; i++) out[i] = 0;
    for (uint32_t i = 0; i < links->n_parts; i++) {
        set_part(out, &links->parts[i]);
        weight += links->parts[i].weight;
    }
    out[FEATURE_links_slots] = weight;
    out[FEATURE_links_unsaid_share] = weight > 0 ? out[FEATURE_links_unsaid] / weight : 0;
}

/* --- columns by role --- */

/* Offsets of the features of a role, in the order of feature_list.h. */
enum { SCORE, NEAR, GAP, FAR_GAP, RIVAL, SAID, ROWS_OF_ROLE };

static void keep(float *out, float value, bool least)
{
    if (isnan(*out) || (least ? value < *out : value > *out)) *out = value;
}

static void set_column(float *all, const struct link_part *part)
{
    float *out = all + FEATURE_links_answer_score + ROWS_OF_ROLE * (size_t)part->role;
    float gap = part->same.score - part->score, far = part->far.score - part->score;
    keep(&out[SCORE], part->score, true);
    keep(&out[NEAR], part->near, true);
    keep(&out[GAP], gap, false);
    keep(&out[FAR_GAP], far, false);
    keep(&out[RIVAL], part->same.score, false);
    keep(&out[SAID], part->weight > 0 ? part->said / part->weight : 0, true);
    keep(&all[FEATURE_links_score], part->score, true);
    keep(&all[FEATURE_links_gap], gap, false);
    keep(&all[FEATURE_links_far_gap], far, false);
}

/* Compares the number of unlinked words with the number of unlinked parts. An unlinked word may be the reason for an
 * unlinked condition. */
static void set_leftovers(float *out, const struct link_query *links)
{
    float words = 0, parts = out[FEATURE_links_unasked_conditions];
    for (uint32_t w = 0; w < links->question->n_words; w++)
        words += links->places[w].part < 0 && links->question->words[w].weight > HEAVY;
    for (uint32_t i = 0; i < links->n_parts; i++) {
        const struct link_part *part = &links->parts[i];
        parts += part->role == LINK_LITERAL && !part->column && is_unasked(part);
    }
    out[FEATURE_links_mismatch] = MAX(words, parts);
    out[FEATURE_links_balance] = words - parts;
}

void extract_links(struct extraction *ex)
{
    const struct link_query *links = vsig_links(ex->subject);
    if (!links) return;
    set_words(ex->out, links);
    set_referred(ex, links);
    set_parts(ex->out, links);
    set_leftovers(ex->out, links);
    for (uint32_t i = 0; i < links->n_parts; i++)
        if (links->parts[i].role < LINK_COLUMN_ROLES) set_column(ex->out, &links->parts[i]);
    ex->out[FEATURE_links_key_score] = links->role_score;
    ex->out[FEATURE_links_key_gap] = links->role_rival - links->role_score;
}
