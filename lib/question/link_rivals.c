/* Scores the columns of a query at their places in the question, and finds columns that fit these places better.
 *
 * The score of a column at a place is the share of its name that the words of the question say. Each word counts by the
 * strength of its link and by its nearness to the place of the column's role. That place is the requested outputs, the
 * cue of an order, a group or an aggregate, or the words of the literal. A word that is linked to another part counts
 * less. A column scores more if its table's name is near. The used column and its rivals are scored in the same way, so
 * the scores need only be comparable with each other. */
#include "lib/question/link_int.h"

#include <math.h>
#include <string.h>

static const float BASE_PLACE = 0.35F, TAKEN = 0.4F, OWNER_BONUS = 0.15F, SURE = 0.7F, IMPLIED = 0.6F;
enum { OWNER_REACH = 4 };

/* The weight of each word at the place of a part. */
struct place {
    float of[LINK_MAX_WORDS];
};

/* Returns how near a word is to the words of the literals that the column is compared with, 0 to 1. */
static float near_literal(const struct link_maker *maker, const struct link_part *part, uint32_t word)
{
    const struct link_query *out = maker->out;
    float best = 0;
    for (uint32_t s = 0; s < out->n_slots; s++) {
        const struct link_part *other = &out->parts[out->slots[s].part];
        if (other->role != LINK_LITERAL || other->column != part->column || out->slots[s].word == LINK_NO_WORD)
            continue;
        float gap =
            fabsf((float)maker->question->words[out->slots[s].word].token - (float)maker->question->words[word].token);
        best = fmaxf(best, 3 / (3 + fmaxf(gap - 1, 0)));
    }
    return best;
}

static float stand(const struct link_maker *maker, const struct link_part *part, uint32_t word)
{
    float asked = maker->question->asked[word];
    float near = part->cues ? link_near_cue(maker->question, word, part->cues) : 0;
    if (part->role == LINK_ANSWER) return fmaxf(asked, near);
    if (part->role == LINK_CONDITION) return fmaxf(near_literal(maker, part, word), near);
    return near;
}

static void read_place(const struct link_maker *maker, const struct link_part *part, struct place *place)
{
    int self = (int)(part - maker->out->parts);
    for (uint32_t w = 0; w < maker->question->n_words; w++) {
        const struct link_place *at = &maker->out->places[w];
        bool elsewhere = at->taken && at->part != self && at->strength >= SURE && at->kind != LINK_OPERATOR;
        place->of[w] = (BASE_PLACE + (1 - BASE_PLACE) * stand(maker, part, w)) * (elsewhere ? TAKEN : 1);
    }
}

/* Returns the strength with which the question names a table within OWNER_REACH tokens of the word; 0 if it does
 * not. */
static float owner_near(const struct link_maker *maker, uint32_t table, uint32_t word)
{
    const struct link_name *name = &maker->question->tables[table];
    float best = 0;
    for (uint32_t i = 0; i < name->n; i++) {
        float gap =
            fabsf((float)maker->question->words[name->hits[i].word].token - (float)maker->question->words[word].token);
        if (name->hits[i].word != word && gap <= OWNER_REACH) best = fmaxf(best, name->hits[i].strength);
    }
    return best;
}

/* Returns the score of a column at a place. *word gets the word that contributes most, or LINK_NO_WORD. */
static float score(const struct link_maker *maker, const struct schema_column *column, const struct place *place,
                   uint32_t *word)
{
    const struct link_name *name = &maker->question->columns[column->id];
    float weight[LINK_MAX_NAME], found[LINK_MAX_NAME] = {0}, sum = 0, total = 0, most = 0;
    *word = LINK_NO_WORD;
    if (!name->n) return 0;
    uint32_t n = link_weigh(&column->words, &maker->question->schema->tables[column->table].words, weight);
    for (uint32_t i = 0; i < name->n; i++) {
        const struct link_hit *hit = &name->hits[i];
        float worth = hit->strength * place->of[hit->word];
        if (worth > found[hit->slot]) found[hit->slot] = worth;
        if (worth * weight[hit->slot] > most) most = worth * weight[hit->slot], *word = hit->word;
    }
    for (uint32_t i = 0; i < n; i++) sum += weight[i] * found[i], total += weight[i];
    return sum / total + (*word == LINK_NO_WORD ? 0 : OWNER_BONUS * owner_near(maker, column->table, *word));
}

/* --- possible rivals --- */

static bool measures(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return column->affinity != SCHEMA_TEXT || stats->numeric_texts + stats->date_texts > stats->texts / 2;
}

static bool holds_literals(const struct link_maker *maker, const struct link_part *part,
                           const struct schema_column *rival)
{
    const struct link_query *out = maker->out;
    for (uint32_t i = 0; i < out->n_parts; i++) {
        const struct link_part *literal = &out->parts[i];
        if (literal->role != LINK_LITERAL || literal->column != part->column) continue;
        bool number = sql_is(literal->node, SQL_LITERAL) && literal->node->op != SQL_LIT_STRING;
        if (number && !measures(rival)) return false;
        if (!number &&
            schema_column_has(maker->question->schema, rival, literal->text, strlen(literal->text), false) == 0)
            return false;
    }
    return true;
}

static bool may_stand(const struct link_maker *maker, const struct link_part *part, const struct schema_column *rival)
{
    if (part->role == LINK_ORDER || part->role == LINK_ARGUMENT) return measures(rival) || !measures(part->column);
    return part->role != LINK_CONDITION || holds_literals(maker, part, rival);
}

/* Returns the weight of the unanswered words that the rival's name would answer. */
static float unanswered(const struct link_maker *maker, const struct schema_column *rival, const struct place *place)
{
    const struct link_name *name = &maker->question->columns[rival->id];
    float sum = 0;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < name->n; i++) {
        const struct link_hit *hit = &name->hits[i];
        if (hit->word >= LINK_MAX_WORDS || seen >> hit->word & 1 || maker->out->places[hit->word].part >= 0) continue;
        seen |= 1ULL << hit->word;
        sum += maker->question->words[hit->word].weight * hit->strength * place->of[hit->word];
    }
    return sum;
}

/* True if a condition on the column already answers the words that name it. In "athletes from Peru", for example,
 * "from" does not request the country as an answer. */
static bool is_answered_by_condition(const struct link_maker *maker, const struct schema_column *column)
{
    for (uint32_t i = 0; i < maker->out->n_parts; i++) {
        const struct link_part *part = &maker->out->parts[i];
        if (part->role == LINK_CONDITION && part->implied && part->column == column) return true;
    }
    return false;
}

/* True for words such as "how many", "count" and "amount", which request an aggregate rather than name a column. */
static bool asks_for_amount(const struct link_question *question, uint32_t word)
{
    int cue = question->words[word].cue;
    if (cue < 0) return false;
    enum question_cue_kind kind = question->question->cues[cue].kind;
    return kind == QUESTION_CUE_COUNT || kind == QUESTION_CUE_QUANTITY;
}

static bool names_table(const struct link_question *question, uint32_t table, uint32_t word)
{
    const struct link_name *name = &question->tables[table];
    for (uint32_t i = 0; i < name->n; i++)
        if (name->hits[i].word == word && name->hits[i].kind == LINK_NAME) return true;
    return false;
}

static bool is_named(const struct link_question *question, const struct schema_column *column)
{
    const struct link_name *name = &question->columns[column->id];
    for (uint32_t i = 0; i < name->n; i++) {
        const struct link_hit *hit = &name->hits[i];
        bool guessed = hit->kind == LINK_DERIVED && hit->strength < SURE;
        if (!guessed && !asks_for_amount(question, hit->word) && !names_table(question, column->table, hit->word))
            return true;
    }
    return false;
}

static void find_rivals(struct link_maker *maker, struct link_part *part)
{
    const struct link_question *question = maker->question;
    struct place place;
    uint32_t word;
    read_place(maker, part, &place);
    part->score = fmaxf(score(maker, part->column, &place, &word), part->held ? IMPLIED : 0);
    if (word != LINK_NO_WORD) part->near = stand(maker, part, word);
    for (uint32_t i = 0; i < question->n_linked; i++) {
        const struct schema_column *rival = question->schema->columns[question->linked[i]];
        if (rival == part->column || ((unsigned)maker->uses[rival->id] >> part->role & 1U)) continue;
        if (part->role == LINK_ANSWER && is_answered_by_condition(maker, rival)) continue;
        struct link_rival *best = maker->reads[rival->table] ? &part->same : &part->far;
        float mine = score(maker, rival, &place, &word);
        float words = maker->reads[rival->table] ? unanswered(maker, rival, &place) : 0;
        if ((mine <= best->score && words <= part->rival_words) || !may_stand(maker, part, rival)) continue;
        part->rival_words = fmaxf(part->rival_words, words);
        if (mine > best->score) *best = (struct link_rival){.column = rival, .score = mine};
    }
    for (int i = 0; i < 2; i++) {
        struct link_rival *best = i ? &part->far : &part->same;
        if (!best->column) continue;
        best->named = is_named(question, best->column);
        best->used = maker->uses[best->column->id] != 0;
    }
}

/* --- joins: the choice among several keys to the same table --- */

static bool leads_to(const struct schema_index *schema, const struct schema_column *from, uint32_t to_table)
{
    for (uint32_t j = 0; j < schema->n_joins; j++) {
        const struct schema_join *join = &schema->joins[j];
        if (join->n_pairs == 1 && join->from[0] == from->id && join->to_table == to_table) return true;
    }
    return false;
}

/* True for columns such as start_station_id and end_station_id. All their words except one are equal, and an equal word
 * other than "id" and "code" is among them. */
static bool are_twins(const struct schema_column *a, const struct schema_column *b)
{
    uint32_t other = 0, same = 0;
    if (a->pk || b->pk || a->words.n < 2 || a->words.n != b->words.n) return false;
    for (uint32_t i = 0; i < a->words.n; i++) {
        const char *stem = a->words.items[i].stem;
        bool equal = strcmp(stem, b->words.items[i].stem) == 0;
        other += equal ? 0 : 1;
        same += equal && strcmp(stem, "id") != 0 && strcmp(stem, "code") != 0 ? 1 : 0;
    }
    return other == 1 && same > 0;
}

/* Weighs each word by how near it is to the words linked to the table that the key references. */
static void read_key_place(const struct link_maker *maker, uint32_t to_table, struct place *place)
{
    const struct link_query *out = maker->out;
    const struct link_word *words = maker->question->words;
    for (uint32_t w = 0; w < maker->question->n_words; w++) {
        float near = 0;
        for (uint32_t s = 0; s < out->n_slots; s++) {
            if (out->slots[s].word == LINK_NO_WORD || out->parts[out->slots[s].part].table != (int)to_table) continue;
            float gap = fabsf((float)words[out->slots[s].word].token - (float)words[w].token);
            near = fmaxf(near, 3 / (3 + fmaxf(gap - 1, 0)));
        }
        place->of[w] = BASE_PLACE + (1 - BASE_PLACE) * near;
    }
}

static void compare_keys(struct link_maker *maker, const struct schema_column *key, const struct schema_column *to,
                         const struct sql_node *node)
{
    const struct schema_table *table = &maker->question->schema->tables[key->table];
    struct place place;
    const struct schema_column *better = NULL;
    uint32_t word;
    float best = -1, own = 0;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const struct schema_column *other = &table->columns[c];
        if (other == key || maker->uses[other->id]) continue;
        if (!are_twins(key, other) &&
            !(leads_to(maker->question->schema, key, to->table) && leads_to(maker->question->schema, other, to->table)))
            continue;
        if (best < 0) {
            read_key_place(maker, to->table, &place);
            own = score(maker, key, &place, &word);
        }
        float mine = score(maker, other, &place, &word);
        if (mine > best) best = mine, better = other;
    }
    if (best < 0 || best - own <= maker->out->role_rival - maker->out->role_score) return; /* false for NAN */
    maker->out->role_score = own;
    maker->out->role_rival = best;
    maker->out->role_key = key;
    maker->out->role_better = better;
    maker->out->role_node = node;
}

static void find_role(struct link_maker *maker)
{
    const struct schema_index *schema = maker->question->schema;
    maker->out->role_score = maker->out->role_rival = NAN;
    for (uint32_t i = 0; i < maker->n_pairs; i++) {
        const struct schema_column *left = schema_column_of(schema, maker->pairs[i].left);
        const struct schema_column *right = schema_column_of(schema, maker->pairs[i].right);
        if (!left || !right) continue;
        compare_keys(maker, left, right, maker->pairs[i].node);
        compare_keys(maker, right, left, maker->pairs[i].node);
    }
}

void link_rivals(struct link_maker *maker)
{
    for (uint32_t i = 0; i < maker->out->n_parts; i++)
        if (maker->out->parts[i].role < LINK_COLUMN_ROLES) find_rivals(maker, &maker->out->parts[i]);
    find_role(maker);
}
