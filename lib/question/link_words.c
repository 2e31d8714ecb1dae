/* Reads the question's side of linking: its content words, and the names of the schema that each word may mean.
 *
 * The words of the question are indexed by stem, by synonym group, and in a word set of the lexicon. Each word of the
 * schema is then looked up once, so the cost is that of reading the schema's names once. A set of words is a mask of 64
 * bits. */
#include "lib/question/link_int.h"

#include "lib/text/lexicon.h"

#include <glib.h>
#include <string.h>

enum { TABLE = 256, MAX_HITS = 24, MAX_LINKED = 4096, MIN_COMPOUND = 6, MAX_MATCHES = 4, COMMON = 5 };

static const float SYNONYM = 0.75F, FAINT_SYNONYM = 0.4F, PART = 0.85F, LIGHT_WORD = 0.35F, OWNER_WORD = 0.3F;
static const float GUESS = 0.7F, MIN_GUESS = 0.25F; /* factor and minimum strength of the lexicon's links */
static const float COMMON_LESS = 0.05F; /* reduction of the weight for each doubling of the word's frequency */

/* Stems of words that may stay unanswered, because they only frame the question or are obvious. */
static const char LIGHT[] =
    " name number id list mani much total amount number valu thing one people person record row tabl databas entri "
    "data "
    "inform detail type kind exist belong have use includ contain relat associ call regist give hold take make made "
    "particip base locat live work get need want curr current respect order sort group ascend descend alphabet highest "
    "lowest largest smallest maximum minimum averag max min sum count more most less least than top first last greater "
    "over under equal between differ distinct uniqu percentag ratio share per also full complet ever time show whose "
    "see look overall altogeth possibl correspond follow mention avail certain specif particular everi singl along "
    "actual exact come go happen appear there way word say said pleas help question answer figur ";

/* The words of the question, prepared for looking up names of the schema. */
struct word_table {
    const char *stems[TABLE];
    uint64_t stem_words[TABLE], part_words[TABLE];
    uint64_t groups[TEXT_MAX_GROUPS];
    uint64_t faint;
    struct text_word_set *set;
};

static uint32_t slot_of(const struct word_table *table, const char *stem)
{
    uint32_t i = g_str_hash(stem) % TABLE;
    while (table->stems[i] && strcmp(table->stems[i], stem) != 0) i = (i + 1) % TABLE;
    return i;
}

static void add_stem(struct word_table *table, const char *stem, uint32_t word, bool part)
{
    uint32_t at = slot_of(table, stem);
    table->stems[at] = stem;
    if (part)
        table->part_words[at] |= 1ULL << word;
    else
        table->stem_words[at] |= 1ULL << word;
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    for (unsigned i = 0; i < n; i++) table->groups[groups[i]] |= 1ULL << word;
}

/* Adds the words that a compound consists of: "birthdate". */
static void add_parts(struct arena *arena, struct word_table *table, const struct text_token *token, uint32_t word)
{
    enum { MAX_PARTS = 2 };
    size_t len = strlen(token->norm);
    if (token->kind != TEXT_WORD || token->is_stop || len < MIN_COMPOUND) return;
    struct text_tokens parts = text_split_identifier(arena, token->norm, len);
    for (uint32_t i = 0; parts.items && parts.n > 1 && i < parts.n && i < MAX_PARTS; i++)
        if (parts.items[i].kind == TEXT_WORD) add_stem(table, parts.items[i].stem, word, true);
}

static bool is_light(const char *stem)
{
    size_t len = strlen(stem);
    if (!len) return true; /* a word without letters or digits */
    for (const char *at = strstr(LIGHT, stem); at; at = strstr(at + 1, stem))
        if (at[-1] == ' ' && at[len] == ' ') return true;
    return false;
}

static int value_at(const struct question *question, uint32_t token)
{
    for (uint32_t i = 0; i < question->n_values; i++)
        if (token >= question->values[i].first && token < question->values[i].first + question->values[i].n_tokens)
            return (int)i;
    return -1;
}

static int cue_at(const struct question *question, uint32_t token)
{
    for (uint32_t i = 0; i < question->n_cues && question->cues[i].first <= token; i++)
        if (token < question->cues[i].first + question->cues[i].n_tokens &&
            question->cues[i].kind != QUESTION_CUE_IDIOM)
            return (int)i;
    return -1;
}

/* True for function words that may distinguish two columns: from, to, by, who, when. */
static bool may_name(const struct text_token *token)
{
    const uint16_t *groups;
    return token->kind == TEXT_WORD && text_synonym_groups(token->stem, &groups) > 0;
}

/* Returns the number of a word in the lexicon. A superlative or comparative that the lexicon lacks gets the number of
 * its base: "pricey" for "priciest". */
static uint32_t meaning_of(const struct text_token *token)
{
    static const struct {
        const char *end, *instead;
    } ENDS[] = {{"iest", "y"}, {"iest", "ey"}, {"est", ""}, {"est", "e"}, {"ier", "y"}, {"ier", "ey"}};
    enum { MAX_BYTES = 32 };
    char base[MAX_BYTES];
    size_t len = strlen(token->norm);
    if (token->kind != TEXT_WORD || token->word != TEXT_NO_WORD || len >= MAX_BYTES) return token->word;
    for (size_t i = 0; i < G_N_ELEMENTS(ENDS); i++) {
        if (!g_str_has_suffix(token->norm, ENDS[i].end)) continue;
        g_snprintf(base, sizeof base, "%.*s%s", (int)(len - strlen(ENDS[i].end)), token->norm, ENDS[i].instead);
        uint32_t word = text_lexicon_word(base);
        if (word != TEXT_NO_WORD) return word;
    }
    return TEXT_NO_WORD;
}

/* Returns the weight of a word that is unanswered: 1 for a rare word, less for a common one. */
static float rarity(uint32_t meaning)
{
    int above = text_lexicon_info(meaning).commonness - COMMON;
    return above > 0 ? 1 - COMMON_LESS * (float)above : 1;
}

static void read_words(struct link_question *out)
{
    const struct question *question = out->question;
    for (uint32_t i = 0; i < question->tokens.n && out->n_words < LINK_MAX_WORDS; i++) {
        const struct text_token *token = &question->tokens.items[i];
        if (token->kind == TEXT_PUNCT) continue;
        int cue = cue_at(question, i), value = value_at(question, i);
        bool faint = token->is_stop && value < 0;
        if (faint && cue < 0 && !may_name(token)) continue;
        struct link_word *word = &out->words[out->n_words++];
        bool light = cue >= 0 || is_light(token->stem);
        uint32_t meaning = meaning_of(token);
        *word = (struct link_word){.token = i, .value = value, .cue = cue, .meaning = meaning};
        word->weight = faint ? 0 : value >= 0 ? 1 : light ? LIGHT_WORD : rarity(meaning);
    }
}

/* Returns the number in the lexicon of the phrase of `n` words at a token: "look after", "in charge of". */
static uint32_t phrase_at(const struct text_tokens *tokens, uint32_t first, uint32_t n)
{
    enum { MAX_BYTES = 64 };
    char key[MAX_BYTES];
    size_t used = 0;
    for (uint32_t i = first; i < first + n; i++) {
        const struct text_token *token = &tokens->items[i];
        size_t len = strlen(token->stem);
        if (token->kind != TEXT_WORD || used + len + 2 > sizeof key) return TEXT_NO_WORD;
        if (used) key[used++] = ' ';
        memcpy(key + used, token->stem, len);
        used += len;
    }
    key[used] = '\0';
    return text_lexicon_stem(key);
}

/* Adds the phrases of the question to the word set. The tag of a phrase is its first content word. */
static void put_phrases(struct word_table *table, const struct link_question *out)
{
    enum { SHORTEST = 2, LONGEST = 3 };
    const struct text_tokens *tokens = &out->question->tokens;
    uint32_t w = 0;
    for (uint32_t first = 0; first < tokens->n; first++) {
        while (w < out->n_words && (out->words[w].token < first || out->words[w].weight <= 0)) w++;
        for (uint32_t n = SHORTEST; n <= LONGEST && first + n <= tokens->n; n++) {
            if (w == out->n_words || out->words[w].token >= first + n) continue;
            uint32_t phrase = phrase_at(tokens, first, n);
            if (phrase != TEXT_NO_WORD) text_word_set_put(table->set, phrase, w);
        }
    }
}

static void fill_table(struct arena *arena, struct word_table *table, const struct link_question *out)
{
    for (uint32_t w = 0; w < out->n_words; w++) {
        const struct text_token *token = &out->question->tokens.items[out->words[w].token];
        if (token->is_stop) table->faint |= 1ULL << w;
        add_stem(table, token->stem, w, false);
        if (!token->is_stop) text_word_set_put(table->set, out->words[w].meaning, w);
        add_parts(arena, table, token, w);
    }
    put_phrases(table, out);
}

/* --- names --- */

struct hit_buffer {
    struct link_hit items[MAX_HITS];
    uint32_t n;
};

static void add_hits(struct hit_buffer *hits, uint64_t words, uint32_t slot, enum link_kind kind, float strength)
{
    for (; words && hits->n < MAX_HITS; words &= words - 1)
        hits->items[hits->n++] =
            (struct link_hit){(uint8_t)__builtin_ctzll(words), (uint8_t)slot, (uint8_t)kind, strength};
}

enum link_kind link_kind_of(enum text_relation_kind relation)
{
    static const enum link_kind kinds[TEXT_RELATION_KINDS] = {
        [TEXT_RELATION_SAME] = LINK_NAME,       [TEXT_RELATION_SYNONYM] = LINK_SYNONYM,
        [TEXT_RELATION_DERIVED] = LINK_DERIVED, [TEXT_RELATION_ATTRIBUTE] = LINK_ATTRIBUTE,
        [TEXT_RELATION_DEMONYM] = LINK_DERIVED, [TEXT_RELATION_CODE] = LINK_CODE,
        [TEXT_RELATION_IS_A] = LINK_IS_A,       [TEXT_RELATION_HAS_KIND] = LINK_IS_A};
    return relation < TEXT_RELATION_KINDS ? kinds[relation] : LINK_NONE;
}

/* Adds hits for a word of a name from the lexicon. Words in `known` are excluded, because they have a more certain
 * link. */
static void guess_word(const struct word_table *table, uint32_t word, uint32_t slot, uint64_t known,
                       struct hit_buffer *hits)
{
    const unsigned wanted = 1U << TEXT_RELATION_SYNONYM | 1U << TEXT_RELATION_DERIVED | 1U << TEXT_RELATION_ATTRIBUTE |
                            1U << TEXT_RELATION_IS_A | 1U << TEXT_RELATION_HAS_KIND;
    struct text_word_match matches[MAX_MATCHES];
    unsigned n = text_word_set_find(table->set, word, wanted, matches, MAX_MATCHES);
    for (unsigned i = 0; i < n; i++)
        if (!(known >> matches[i].tag & 1U) && matches[i].relation.strength >= MIN_GUESS)
            add_hits(hits, 1ULL << matches[i].tag, slot, link_kind_of(matches[i].relation.kind),
                     GUESS * matches[i].relation.strength);
}

static void find_word(const struct word_table *table, const struct text_token *token, uint32_t slot,
                      struct hit_buffer *hits)
{
    const char *stem = token->stem;
    uint32_t at = slot_of(table, stem);
    uint64_t exact = table->stem_words[at], part = table->part_words[at] & ~exact, near = 0;
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    for (unsigned i = 0; i < n; i++) near |= table->groups[groups[i]];
    near &= ~(exact | part);
    add_hits(hits, exact, slot, LINK_NAME, 1);
    add_hits(hits, part, slot, LINK_NAME, PART);
    add_hits(hits, near & ~table->faint, slot, LINK_SYNONYM, SYNONYM);
    add_hits(hits, near & table->faint, slot, LINK_SYNONYM, FAINT_SYNONYM);
    guess_word(table, token->word, slot, exact | part | near, hits);
}

static bool find_name(struct arena *arena, const struct word_table *table, const struct text_tokens *words,
                      struct link_question *out, struct link_name *name)
{
    struct hit_buffer hits = {.n = 0};
    for (uint32_t i = 0; i < words->n && i < LINK_MAX_NAME; i++) find_word(table, &words->items[i], i, &hits);
    if (!hits.n) return true;
    struct link_hit *kept = arena_array(arena, hits.n, sizeof *kept);
    if (!kept) return false;
    memcpy(kept, hits.items, hits.n * sizeof *kept);
    *name = (struct link_name){kept, hits.n};
    for (uint32_t i = 0; i < hits.n; i++) {
        float *best = &out->words[hits.items[i].word].named;
        if (hits.items[i].strength > *best) *best = hits.items[i].strength;
    }
    return true;
}

static bool read_names(struct arena *arena, const struct word_table *table, struct link_question *out)
{
    const struct schema_index *schema = out->schema;
    struct link_name *tables = arena_array(arena, schema->n_tables + 1, sizeof *tables);
    struct link_name *columns = arena_array(arena, schema->n_columns + 1, sizeof *columns);
    uint16_t *linked = arena_array(arena, MIN(schema->n_columns, MAX_LINKED) + 1, sizeof *linked);
    if (!tables || !columns || !linked) return false;
    for (uint32_t t = 0; t < schema->n_tables; t++)
        if (!find_name(arena, table, &schema->tables[t].words, out, &tables[t])) return false;
    for (uint32_t c = 0; c < schema->n_columns && c < MAX_LINKED; c++) {
        if (!find_name(arena, table, &schema->columns[c]->words, out, &columns[c])) return false;
        if (columns[c].n) linked[out->n_linked++] = (uint16_t)c;
    }
    out->tables = tables;
    out->columns = columns;
    out->linked = linked;
    return true;
}

uint32_t link_weigh(const struct text_tokens *words, const struct text_tokens *owner, float weight[LINK_MAX_NAME])
{
    uint32_t n = words->n < LINK_MAX_NAME ? words->n : LINK_MAX_NAME;
    for (uint32_t i = 0; i < n; i++) {
        const struct text_token *word = &words->items[i];
        bool light = word->kind == TEXT_NUMBER || word->is_stop;
        for (uint32_t k = 0; owner && !light && k < owner->n; k++)
            light = strcmp(owner->items[k].stem, word->stem) == 0;
        weight[i] = light && n > 1 ? OWNER_WORD : 1;
    }
    return n;
}

/* --- places --- */

float link_near_cue(const struct link_question *question, uint32_t word, unsigned kinds)
{
    const struct question *q = question->question;
    uint32_t token = question->words[word].token, best = UINT32_MAX;
    for (uint32_t i = 0; i < q->n_cues; i++) {
        const struct question_cue *cue = &q->cues[i];
        uint32_t end = cue->first + cue->n_tokens;
        if (!(kinds >> cue->kind & 1U)) continue;
        uint32_t gap = token < cue->first ? cue->first - token + 1 : token >= end ? token - end + 1 : 0;
        if (gap < best) best = gap; /* one more before the cue, because words for a cue usually follow it */
    }
    return best == UINT32_MAX ? 0 : 3 / (3 + (float)(best ? best - 1 : 0));
}

static bool names_thing(const struct link_question *out, uint32_t word)
{
    for (uint32_t t = 0; t < out->schema->n_tables; t++)
        for (uint32_t i = 0; i < out->tables[t].n; i++)
            if (out->tables[t].hits[i].word == word && out->tables[t].hits[i].strength >= SYNONYM) return true;
    return false;
}

static void find_places(struct link_question *out)
{
    const struct question *question = out->question;
    for (uint32_t w = 0; w < out->n_words; w++) {
        uint32_t token = out->words[w].token;
        for (uint32_t i = 0; i < question->n_outputs; i++)
            if (token >= question->outputs[i].first &&
                token < question->outputs[i].first + question->outputs[i].n_tokens)
                out->asked[w] = 1;
        bool before = w + 1 < out->n_words && out->words[w + 1].token == token + 1 && out->words[w + 1].weight > 0;
        out->words[w].modifies = before && out->words[w].weight > 0 && names_thing(out, w + 1);
    }
}

const struct link_question *link_read(struct arena *arena, const struct schema_index *schema,
                                      const struct question *question)
{
    struct link_question *out = arena_new(arena, struct link_question);
    struct word_table *table = arena_new(arena, struct word_table);
    if (!out || !table || !(table->set = text_word_set_new(arena, LINK_MAX_WORDS))) return NULL;
    out->schema = schema;
    out->question = question;
    read_words(out);
    fill_table(arena, table, out);
    if (!read_names(arena, table, out)) return NULL;
    find_places(out);
    return out;
}
