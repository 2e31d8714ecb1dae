/* Links a query (link.h): finds edges between words and slots, applies the best assignment, and then links the rest.
 *
 * A word or slot without a partner may share a slot or word that is already paired. This happens with repeated names,
 * values of several words, and text of the evidence. Operations and cues are paired many to many. */
#include "lib/question/link_int.h"

#include "lib/text/lexicon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PREFIX = 4 };

static const float SURE = 0.7F, FAR_PLACE = 0.6F, NEAR_PLACE = 0.4F, PREFIX = 0.8F, CODE = 0.6F, RELATED = 0.8F;

static const char *const kinds[LINK_KIND_COUNT] = {
#define X(kind, name) name,
    LINK_KINDS(X)
#undef X
};

static const char *const roles[LINK_ROLE_COUNT] = {
#define X(role, name) name,
    LINK_ROLES(X)
#undef X
};

const char *link_kind_name(enum link_kind kind)
{
    return kind < LINK_KIND_COUNT ? kinds[kind] : kinds[LINK_NONE];
}

const char *link_role_name(enum link_role role)
{
    return role < LINK_ROLE_COUNT ? roles[role] : "";
}

/* --- edges --- */

struct edges {
    struct link_edge items[LINK_MAX_EDGES];
    uint32_t n;
};

static const struct text_token *token_of(const struct link_maker *maker, uint32_t word)
{
    return &maker->question->question->tokens.items[maker->question->words[word].token];
}

/* Returns how near a word is to the place in the question that requests the part's role, 0 to 1. */
static float place_of(const struct link_maker *maker, const struct link_part *part, uint32_t word)
{
    float near = part->cues ? link_near_cue(maker->question, word, part->cues) : 0;
    float asked = maker->question->asked[word];
    if (part->role == LINK_ANSWER) return asked > near ? asked : near;
    if (part->role == LINK_CONDITION) return 1 - asked;
    return near;
}

static void add_edge(const struct link_maker *maker, struct edges *edges, uint32_t word, uint32_t slot,
                     enum link_kind kind, float strength)
{
    const struct link_slot *to = &maker->out->slots[slot];
    float place = place_of(maker, &maker->out->parts[to->part], word);
    if (edges->n == LINK_MAX_EDGES) return;
    edges->items[edges->n++] =
        (struct link_edge){.word = (uint8_t)word,
                           .slot = (uint8_t)slot,
                           .kind = (uint8_t)kind,
                           .strength = strength,
                           .gain = strength * (0.5F + 0.5F * to->weight) * (FAR_PLACE + NEAR_PLACE * place)};
}

static void name_edges(const struct link_maker *maker, const struct link_part *part, const struct link_name *name,
                       struct edges *edges)
{
    for (uint32_t i = 0; i < name->n; i++)
        if (name->hits[i].slot < part->n_slots)
            add_edge(maker, edges, name->hits[i].word, part->first_slot + name->hits[i].slot,
                     (enum link_kind)name->hits[i].kind, name->hits[i].strength);
}

/* True if the literal is the initial letter of the word: F of female, Y of yes. */
static bool is_code_of(const struct text_token *literal, const struct text_token *word)
{
    return literal->kind == TEXT_WORD && word->kind == TEXT_WORD && !literal->norm[1] && word->norm[1] &&
           literal->norm[0] == word->norm[0];
}

static float literal_match(const struct text_token *literal, const struct text_token *word, enum link_kind *kind)
{
    *kind = LINK_VALUE;
    if (literal->is_number && word->is_number) return fabs(literal->number - word->number) < 1e-9 ? 1 : 0;
    if (strcmp(literal->stem, word->stem) == 0 || strcmp(literal->norm, word->norm) == 0) return 1;
    if (word->kind == TEXT_QUOTED) return strstr(word->norm, literal->norm) ? 1 : 0;
    size_t shared = 0;
    while (literal->norm[shared] && literal->norm[shared] == word->norm[shared]) shared++;
    if (shared >= MIN_PREFIX && (!literal->norm[shared] || !word->norm[shared])) return PREFIX;
    *kind = LINK_CODE;
    return is_code_of(literal, word) ? CODE : 0;
}

/* True if the word belongs to a number of the question that equals the literal: "ten thousand". */
static bool is_same_number(const struct link_maker *maker, const struct text_token *literal, uint32_t word)
{
    int at = maker->question->words[word].value;
    const struct question_value *value = at < 0 ? NULL : &maker->question->question->values[at];
    return literal->is_number && value && value->kind == QUESTION_VALUE_NUMBER &&
           (fabs(value->number - literal->number) < 1e-9 * fabs(literal->number) + 1e-12 ||
            fabs(value->scaled - literal->number) < 1e-9 * fabs(literal->number) + 1e-12);
}

/* True if the column does not hold the text that it is compared with. No words are linked to such a literal. */
static bool is_absent(const struct link_maker *maker, const struct link_part *part)
{
    const struct sql_node *test = part->node->parent;
    bool equal =
        (sql_is(test, SQL_BINARY) && (test->op == SQL_OP_EQ || test->op == SQL_OP_NE)) || sql_is(test, SQL_LIST);
    bool text = part->node->op == SQL_LIT_STRING || sql_is(part->node, SQL_COLUMN);
    return part->column && equal && text &&
           schema_column_has(maker->question->schema, part->column, part->text, strlen(part->text), false) == 0;
}

/* Returns the strength of the lexicon's relation between the word and a literal: France for "French", F for "women". */
static float related(const struct link_maker *maker, uint32_t meaning, uint32_t word, enum link_kind *kind)
{
    const unsigned wanted = 1U << TEXT_RELATION_SYNONYM | 1U << TEXT_RELATION_DERIVED | 1U << TEXT_RELATION_DEMONYM |
                            1U << TEXT_RELATION_CODE | 1U << TEXT_RELATION_IS_A;
    const struct link_word *said = &maker->question->words[word];
    if (meaning == TEXT_NO_WORD || said->meaning == TEXT_NO_WORD || said->weight <= 0) return 0;
    struct text_relation relation = text_lexicon_relate(said->meaning, meaning);
    *kind = link_kind_of(relation.kind);
    return wanted >> relation.kind & 1U ? RELATED * relation.strength : 0;
}

static void literal_edges(const struct link_maker *maker, const struct link_part *part, struct edges *edges)
{
    if (is_absent(maker, part)) return;
    for (uint32_t s = part->first_slot; s < part->first_slot + part->n_slots; s++) {
        const struct text_token *literal = maker->literal_words[s];
        uint32_t meaning = literal ? literal->word : TEXT_NO_WORD;
        for (uint32_t w = 0; literal && w < maker->question->n_words; w++) {
            enum link_kind kind;
            float strength = literal_match(literal, token_of(maker, w), &kind);
            if (is_same_number(maker, literal, w)) strength = 1, kind = LINK_VALUE;
            if (strength < RELATED) strength = fmaxf(strength, related(maker, meaning, w, &kind));
            if (strength > 0) add_edge(maker, edges, w, s, kind, strength);
        }
    }
}

static void find_edges(const struct link_maker *maker, struct edges *edges)
{
    for (uint32_t i = 0; i < maker->out->n_parts; i++) {
        const struct link_part *part = &maker->out->parts[i];
        if (part->role < LINK_COLUMN_ROLES)
            name_edges(maker, part, &maker->question->columns[part->column->id], edges);
        else if (part->role == LINK_TABLE)
            name_edges(maker, part, &maker->question->tables[part->table], edges);
        else if (part->role == LINK_LITERAL)
            literal_edges(maker, part, edges);
    }
}

/* --- assignment and leftovers --- */

static void take_edges(struct link_maker *maker, const struct edges *edges, const int best[LINK_MAX_WORDS])
{
    struct link_query *out = maker->out;
    for (uint32_t w = 0; w < LINK_MAX_WORDS; w++) {
        out->places[w] = (struct link_place){.part = -1};
        if (best[w] < 0) continue;
        const struct link_edge *edge = &edges->items[best[w]];
        struct link_slot *slot = &out->slots[edge->slot];
        struct link_part *part = &out->parts[slot->part];
        slot->word = (uint8_t)w;
        slot->kind = edge->kind;
        slot->strength = edge->strength;
        part->said += slot->weight * edge->strength;
        out->places[w] = (struct link_place){slot->part, true, (enum link_kind)edge->kind, edge->strength};
    }
}

/* Applies the edges that the assignment left out. A slot without a word shares the word of another slot. A word without
 * a slot shares a slot. */
static void share_edges(struct link_maker *maker, const struct edges *edges)
{
    struct link_query *out = maker->out;
    for (uint32_t e = 0; e < edges->n; e++) {
        const struct link_edge *edge = &edges->items[e];
        struct link_slot *slot = &out->slots[edge->slot];
        struct link_place *place = &out->places[edge->word];
        if (slot->word == LINK_NO_WORD && edge->strength > slot->strength) {
            out->parts[slot->part].shared += slot->weight * (edge->strength - slot->strength);
            slot->strength = edge->strength;
            slot->kind = edge->kind;
        }
        if (!place->taken && edge->strength > place->strength)
            *place = (struct link_place){slot->part, false, (enum link_kind)edge->kind, edge->strength};
    }
}

/* Pairs operations with cues, many to many. For example, "oldest" requests both an order and a limit. */
static void pair_operations(struct link_maker *maker)
{
    struct link_query *out = maker->out;
    const struct link_question *question = maker->question;
    for (uint32_t w = 0; w < question->n_words; w++) {
        int cue = question->words[w].cue;
        for (uint32_t i = 0; cue >= 0 && i < out->n_parts; i++) {
            struct link_part *part = &out->parts[i];
            if (part->role != LINK_OPERATION || !(part->cues >> question->question->cues[cue].kind & 1U)) continue;
            struct link_slot *slot = &out->slots[part->first_slot];
            part->said = part->weight;
            *slot = (struct link_slot){
                .part = slot->part, .weight = slot->weight, .word = (uint8_t)w, .kind = LINK_OPERATOR, .strength = 1};
            if (out->places[w].part < 0) out->places[w] = (struct link_place){(int)i, true, LINK_OPERATOR, 1};
        }
    }
}

/* Extends the link of a word to all words of the same value or cue. */
static void spread(struct link_maker *maker)
{
    struct link_query *out = maker->out;
    const struct link_question *question = maker->question;
    for (uint32_t w = 0; w < question->n_words; w++) {
        const struct link_word *word = &question->words[w];
        for (uint32_t v = 0; out->places[w].part < 0 && v < question->n_words; v++) {
            const struct link_word *other = &question->words[v];
            const struct link_place *place = &out->places[v];
            bool value = word->value >= 0 && word->value == other->value && place->kind >= LINK_CODE;
            bool cue = word->cue >= 0 && word->cue == other->cue && place->kind == LINK_OPERATOR;
            if (place->part >= 0 && place->taken && (value || cue))
                out->places[w] = (struct link_place){place->part, false, place->kind, place->strength};
        }
    }
}

static bool in_evidence(const struct link_maker *maker, const struct text_token *literal)
{
    const struct text_tokens *evidence = &maker->question->question->evidence;
    for (uint32_t i = 0; i < evidence->n; i++) {
        enum link_kind kind;
        if (literal_match(literal, &evidence->items[i], &kind) >= PREFIX) return true;
    }
    return false;
}

/* Marks the slots that the evidence answers: columns that it names, and literals that it contains. */
static void hear_evidence(struct link_maker *maker)
{
    struct link_query *out = maker->out;
    const struct question *question = maker->question->question;
    for (uint32_t s = 0; question->evidence.n && s < out->n_slots; s++) {
        struct link_slot *slot = &out->slots[s];
        struct link_part *part = &out->parts[slot->part];
        bool column = part->role < LINK_COLUMN_ROLES && question->evidence_score[part->column->id] > SURE;
        bool told = column || (maker->literal_words[s] && in_evidence(maker, maker->literal_words[s]));
        if (!told || slot->strength >= SURE) continue;
        part->shared += slot->weight * (1 - slot->strength);
        slot->strength = 1;
        slot->kind = LINK_TOLD;
    }
}

/* True if a literal alone may identify its column: it is a text, or an integer that may be a year. Other numbers fit
 * any column. */
static bool tells_column(const struct link_part *literal)
{
    enum { FIRST_YEAR = 1500, LAST_YEAR = 2100 };
    if (literal->node->op == SQL_LIT_FLOAT) return false;
    if (literal->node->op != SQL_LIT_INT) return true;
    long number = strtol(literal->text, NULL, 10);
    return number >= FIRST_YEAR && number <= LAST_YEAR;
}

/* Marks conditions whose column is implied by a literal that the question says. */
static void find_implied(struct link_maker *maker)
{
    struct link_query *out = maker->out;
    for (uint32_t i = 0; i < out->n_parts; i++) {
        const struct link_part *literal = &out->parts[i];
        if (literal->role != LINK_LITERAL || !literal->column ||
            literal->said + literal->shared < SURE * literal->weight)
            continue;
        for (uint32_t p = 0; p < out->n_parts; p++) {
            struct link_part *part = &out->parts[p];
            if (part->role != LINK_CONDITION || part->column != literal->column) continue;
            part->implied = true;
            part->held |= tells_column(literal);
        }
    }
}

bool link_pair(struct link_maker *maker)
{
    int best[LINK_MAX_WORDS];
    struct edges *edges = arena_alloc(maker->arena, sizeof *edges);
    if (!edges) return false;
    edges->n = 0;
    find_edges(maker, edges);
    if (!link_assign(maker->arena, edges->items, edges->n, best)) return false;
    take_edges(maker, edges, best);
    share_edges(maker, edges);
    pair_operations(maker);
    spread(maker);
    hear_evidence(maker);
    find_implied(maker);
    return true;
}

const struct link_query *link_make(struct arena *arena, const struct link_question *question,
                                   const struct sql_bound *bound, const struct sql_join_pair *pairs, uint32_t n_pairs)
{
    struct link_maker *maker = arena_new(arena, struct link_maker);
    if (!question || !maker) return NULL;
    *maker =
        (struct link_maker){.arena = arena, .question = question, .bound = bound, .pairs = pairs, .n_pairs = n_pairs};
    maker->out = arena_new(arena, struct link_query);
    maker->reads = arena_array(arena, question->schema->n_tables + 1, sizeof *maker->reads);
    maker->uses = arena_array(arena, question->schema->n_columns + 1, sizeof *maker->uses);
    if (!maker->out || !maker->reads || !maker->uses) return NULL;
    maker->out->question = question;
    /* not cleared, because it is seldom full */
    maker->out->parts = arena_alloc(arena, LINK_MAX_PARTS * sizeof *maker->out->parts);
    maker->out->slots = arena_alloc(arena, LINK_MAX_SLOTS * sizeof *maker->out->slots);
    if (!maker->out->parts || !maker->out->slots) return NULL;
    link_collect(maker);
    if (!link_pair(maker)) return NULL;
    link_rivals(maker);
    return maker->out;
}
