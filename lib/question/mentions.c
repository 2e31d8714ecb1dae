/* Finds the columns and tables that the words of a text name.
 *
 * The stems of the text go into a hash table, and their synonym groups into an array. Each word of the schema is then
 * looked up once. So the cost is that of reading the schema's names, whatever the length of the text. A name is
 * mentioned where enough of its words are close together. Its score is the share of the name's weight that these words
 * have.
 *
 * The lexicon finds more words, but they are less certain. Mentions with a word from the lexicon go into a separate
 * list of weak mentions. In the other list, they would satisfy signals that need certain mentions. An example is a
 * signal that asks whether the question explains a word. */
#include "lib/question/read.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum {
    NO_TOKEN = UINT32_MAX,
    MAX_HITS = 32,
    MAX_WORDS = 16,
    MAX_GAP = 4,
    MAX_COLUMNS = 20000,
    MAX_MATCHES = 4,
    MAX_RELATED = 256
};

static const float SYNONYM = 0.75F, STOP_SYNONYM = 0.5F, MIN_SCORE = 0.3F;
/* factor of the lexicon's links; minimum strength of such a link */
static const float LEXICON = 0.7F, MIN_LEXICON = 0.3F;
static const float NAMED = 0.95F; /* minimum score of a completely mentioned name */
static const unsigned LEXICON_KINDS = 1U << TEXT_RELATION_SYNONYM | 1U << TEXT_RELATION_DERIVED |
                                      1U << TEXT_RELATION_ATTRIBUTE | 1U << TEXT_RELATION_DEMONYM |
                                      1U << TEXT_RELATION_IS_A | 1U << TEXT_RELATION_HAS_KIND;
static const float OWNER_WEIGHT = 0.3F; /* weight of a number, a stop word, or a word of the owner's name */

/* A word of the text, or a word that a word of the text abbreviates or contains ("surname": last, name). */
struct mention_entry {
    const char *stem;
    uint32_t token, next; /* `next` is the next entry with the same stem; in `links`, with the same group */
};

/* The words of a text, prepared for lookups. */
struct word_map {
    const struct text_tokens *tokens;
    uint32_t *slots, mask; /* hash table: stem → first entry */
    struct mention_entry *entries, *links;
    uint32_t n_entries, n_links, room;
    uint32_t group_head[TEXT_MAX_GROUPS]; /* group → first link */
    struct text_word_set *set;            /* set of the content words; NULL if the lexicon is not used */
};

static uint32_t *slot_of(const struct word_map *map, const char *stem)
{
    for (uint32_t i = g_str_hash(stem);; i++) {
        uint32_t *slot = &map->slots[i & map->mask];
        if (*slot == NO_TOKEN || strcmp(map->entries[*slot].stem, stem) == 0) return slot;
    }
}

static void add_word(struct word_map *map, const char *stem, uint32_t token)
{
    if (map->n_entries == map->room) return;
    uint32_t *slot = slot_of(map, stem);
    map->entries[map->n_entries] = (struct mention_entry){stem, token, *slot};
    *slot = map->n_entries++;
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    for (unsigned i = 0; i < n; i++) {
        map->links[map->n_links] = (struct mention_entry){stem, token, map->group_head[groups[i]]};
        map->group_head[groups[i]] = map->n_links++;
    }
}

static bool is_content(const struct text_token *token)
{
    return token->kind == TEXT_WORD || token->kind == TEXT_NUMBER;
}

static bool is_related(const struct text_token *token)
{
    return token->kind == TEXT_WORD && !token->is_stop && !token->is_number;
}

/* Adds the words that the token's word contains or abbreviates. They belong to the same token. */
static bool add_parts(struct arena *arena, struct word_map *map, uint32_t token)
{
    const struct text_token *t = &map->tokens->items[token];
    if (t->kind != TEXT_WORD || t->is_stop || map->n_entries + 4 > map->room) return true;
    size_t len = strlen(t->norm);
    struct text_tokens parts = text_split_identifier(arena, t->norm, len);
    if (parts.n == 1 && len > 4 && t->norm[len - 1] == 's') parts = text_split_identifier(arena, t->norm, len - 1);
    if (!parts.items) return false;
    for (uint32_t i = 0; i < parts.n && i < 4; i++)
        if (parts.items[i].kind == TEXT_WORD && strcmp(parts.items[i].stem, t->stem) != 0)
            add_word(map, parts.items[i].stem, token);
    return true;
}

static struct word_map *map_words(struct arena *arena, const struct text_tokens *tokens, uint32_t n)
{
    struct word_map *map = arena_alloc(arena, sizeof *map);
    uint32_t size = 16;
    while (size < n * 4) size *= 2;
    if (!map) return NULL;
    *map = (struct word_map){.tokens = tokens, .mask = size - 1, .room = n * 2 + 4};
    map->slots = arena_alloc(arena, size * sizeof *map->slots);
    map->entries = arena_alloc(arena, map->room * sizeof *map->entries);
    map->links = arena_alloc(arena, (size_t)map->room * 6 * sizeof *map->links);
    if (!map->slots || !map->entries || !map->links) return NULL;
    memset(map->slots, 0xFF, size * sizeof *map->slots);
    memset(map->group_head, 0xFF, sizeof map->group_head);
    for (uint32_t i = n; i-- > 0;) { /* in reverse, so that each chain is in the order of the text */
        if (!is_content(&tokens->items[i])) continue;
        add_word(map, tokens->items[i].stem, i);
        if (!add_parts(arena, map, i)) return NULL;
    }
    return map;
}

/* A token at which the text has a word of a name. */
struct word_hit {
    uint32_t token;
    uint8_t word, kind; /* index in the name; enum text_relation_kind */
    bool by_lexicon;    /* true if only the lexicon relates the words */
    float strength;
};

struct hit_list {
    struct word_hit items[MAX_HITS];
    uint32_t n;
};

static void add_hit(struct hit_list *hits, struct word_hit hit)
{
    if (hits->n < MAX_HITS) hits->items[hits->n++] = hit;
}

/* Adds the hits that the lexicon finds, except at tokens that are already hits for this word. */
static void find_related(const struct word_map *map, uint32_t word_id, uint32_t word, struct hit_list *hits)
{
    struct text_word_match matches[MAX_MATCHES];
    unsigned n = text_word_set_find(map->set, word_id, LEXICON_KINDS, matches, MAX_MATCHES);
    for (unsigned i = 0; i < n && matches[i].relation.strength >= MIN_LEXICON; i++) {
        uint32_t h = 0;
        while (h < hits->n && (hits->items[h].token != matches[i].tag || hits->items[h].word != word)) h++;
        if (h == hits->n)
            add_hit(hits, (struct word_hit){matches[i].tag, (uint8_t)word, (uint8_t)matches[i].relation.kind, true,
                                            LEXICON * matches[i].relation.strength});
    }
}

static void find_word(const struct word_map *map, const char *stem, uint32_t word, struct hit_list *hits)
{
    bool found = false;
    for (uint32_t e = *slot_of(map, stem); e != NO_TOKEN; e = map->entries[e].next, found = true)
        add_hit(hits, (struct word_hit){map->entries[e].token, (uint8_t)word, TEXT_RELATION_SAME, false, 1});
    if (found) return;
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    for (unsigned i = 0; i < n; i++)
        for (uint32_t l = map->group_head[groups[i]]; l != NO_TOKEN; l = map->links[l].next)
            add_hit(hits, (struct word_hit){map->links[l].token, (uint8_t)word, TEXT_RELATION_SYNONYM, false,
                                            map->tokens->items[map->links[l].token].is_stop ? STOP_SYNONYM : SYNONYM});
}

static int by_token(const void *a, const void *b)
{
    const struct word_hit *x = a, *y = b;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    return x->strength > y->strength ? -1 : x->strength < y->strength;
}

/* A name of the schema, with the weight of each word. */
struct name {
    const struct text_tokens *words;
    uint32_t n;
    float weight[MAX_WORDS], total;
};

static bool has_word(const struct text_tokens *tokens, const char *stem)
{
    for (uint32_t i = 0; tokens && i < tokens->n; i++)
        if (strcmp(tokens->items[i].stem, stem) == 0) return true;
    return false;
}

static void weigh(struct name *name, const struct text_tokens *words, const struct text_tokens *owner)
{
    *name = (struct name){.words = words, .n = words->n < MAX_WORDS ? words->n : MAX_WORDS};
    for (uint32_t i = 0; i < name->n; i++) {
        const struct text_token *word = &words->items[i];
        bool light = word->kind == TEXT_NUMBER || word->is_stop || has_word(owner, word->stem);
        name->weight[i] = light && name->n > 1 ? OWNER_WEIGHT : 1;
        name->total += name->weight[i];
    }
}

/* Makes a mention of the run of hits that begins at *at, and moves *at past the run. Returns true if the mention has a
 * word from the lexicon. */
static bool take_run(const struct name *name, const struct hit_list *hits, uint32_t *at,
                     struct question_mention *mention)
{
    float found[MAX_WORDS] = {0}, sum = 0, least = 2;
    uint32_t i = *at, last = hits->items[i].token;
    bool by_lexicon = false;
    mention->first = last;
    for (; i < hits->n && hits->items[i].token - last <= MAX_GAP; i++) {
        const struct word_hit *hit = &hits->items[i];
        if (hit->strength > found[hit->word]) {
            if (found[hit->word] > 0 && hit->token != last) break; /* a repeated word begins another mention */
            sum += (hit->strength - found[hit->word]) * name->weight[hit->word];
            found[hit->word] = hit->strength;
            last = hit->token;
            by_lexicon |= hit->by_lexicon;
            if (hit->strength < least) mention->kind = (enum text_relation_kind)hit->kind;
            if (hit->strength < least) least = hit->strength;
        } else if (hit->token != last) {
            break;
        }
    }
    *at = i;
    mention->exact = mention->kind == TEXT_RELATION_SAME;
    mention->score = sum / name->total;
    mention->n_tokens = last - mention->first + 1;
    return by_lexicon;
}

struct mention_sink {
    struct question_mention *items;
    uint32_t n, room;
};

/* Collects the mentions of a name that its hits make. If `weak`, collects only those with a word from the lexicon;
 * otherwise only the others. `sink` may be NULL. Returns the best score. */
static float take_all(const struct name *name, struct hit_list *hits, struct question_mention like, bool weak,
                      struct mention_sink *sink)
{
    float best = 0;
    if (hits->n > 1) qsort(hits->items, hits->n, sizeof hits->items[0], by_token);
    for (uint32_t at = 0; at < hits->n;) {
        if (take_run(name, hits, &at, &like) != weak) continue;
        if (weak && like.score < MIN_SCORE) continue;
        best = (float)like.score > best ? (float)like.score : best;
        if (sink && like.score >= MIN_SCORE && sink->n < sink->room) sink->items[sink->n++] = like;
    }
    return best;
}

/* The result for a name: its best score. Mentions are added to the sinks, which ignore them if they are full. */
struct name_found {
    float score;
    struct mention_sink mentions, weak;
};

static void find_name(const struct word_map *map, const struct text_tokens *words, const struct text_tokens *owner,
                      struct question_mention like, struct name_found *found)
{
    struct name name;
    struct hit_list hits = {.n = 0};
    uint32_t n = words->n < MAX_WORDS ? words->n : MAX_WORDS;
    found->score = 0;
    for (uint32_t i = 0; i < n; i++) find_word(map, words->items[i].stem, i, &hits);
    uint32_t certain = hits.n;
    if (n) weigh(&name, words, owner);
    if (certain) found->score = take_all(&name, &hits, like, false, &found->mentions);
    for (uint32_t i = 0; map->set && i < n; i++) find_related(map, words->items[i].word, i, &hits);
    if (hits.n > certain) take_all(&name, &hits, like, true, &found->weak);
}

static int by_place(const void *a, const void *b)
{
    const struct question_mention *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->score > y->score || x->score < y->score) return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Scores by table number and by column id. A member is NULL if these scores are not needed. */
struct schema_scores {
    float *tables, *columns;
};

static void score_schema(const struct schema_index *schema, const struct word_map *map,
                         const struct schema_scores *scores, struct name_found *found)
{
    for (uint32_t t = 0; scores->tables && t < schema->n_tables; t++) {
        const struct schema_table *table = &schema->tables[t];
        struct question_mention like = {.table = (int)t, .column = -1, .id = UINT32_MAX};
        find_name(map, &table->words, NULL, like, found);
        scores->tables[t] = found->score;
    }
    for (uint32_t c = 0; c < schema->n_columns && c < MAX_COLUMNS; c++) {
        const struct schema_column *column = schema->columns[c];
        struct question_mention like = {.table = (int)column->table, .column = (int)column->index, .id = column->id};
        find_name(map, &column->words, &schema->tables[column->table].words, like, found);
        scores->columns[c] = found->score;
    }
}

static bool read_evidence(struct reader *reader)
{
    struct question *out = reader->out;
    if (!out->evidence.n) return true;
    float *columns = arena_new_array(reader->arena, reader->schema->n_columns + 1, float);
    const struct word_map *map = map_words(reader->arena, &out->evidence, out->evidence.n);
    if (!columns || !map) return false;
    score_schema(reader->schema, map, &(struct schema_scores){.columns = columns}, &(struct name_found){0});
    out->evidence_score = columns;
    return true;
}

/* Adds the words of the text to the word set, if the lexicon may relate them to others. Returns false if the arena is
 * full. */
static bool map_related(struct arena *arena, struct word_map *map)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < map->tokens->n; i++) n += is_related(&map->tokens->items[i]);
    map->set = text_word_set_new(arena, n < MAX_RELATED ? n : MAX_RELATED);
    for (uint32_t i = 0; map->set && i < map->tokens->n; i++)
        if (is_related(&map->tokens->items[i])) text_word_set_put(map->set, map->tokens->items[i].word, i);
    return map->set != NULL;
}

static struct mention_sink sink_new(struct arena *arena, uint32_t room)
{
    return (struct mention_sink){arena_alloc(arena, room * sizeof(struct question_mention)), 0, room};
}

/* Keeps only the weak mentions that have a word outside of all completely mentioned names. So "events" is the table of
 * that name, not a kind of meeting. Returns false if the arena is full. */
static bool keep_weak(struct reader *reader, const struct mention_sink *weak)
{
    struct question *out = reader->out;
    float *scores = arena_new_array(reader->arena, reader->schema->n_columns + 1, float);
    bool *named = arena_new_array(reader->arena, out->tokens.n + 1, bool);
    if (!scores || !named) return false;
    for (uint32_t i = 0; i < out->n_mentions; i++)
        for (uint32_t t = 0; out->mentions[i].score >= NAMED && t < out->mentions[i].n_tokens; t++)
            named[out->mentions[i].first + t] = true;
    for (uint32_t i = 0; i < weak->n && out->n_weak < READ_MAX_WEAK; i++) {
        const struct question_mention *m = &weak->items[i];
        uint32_t t = m->first;
        while (t < m->first + m->n_tokens && (named[t] || !is_related(&out->tokens.items[t]))) t++;
        if (t == m->first + m->n_tokens) continue;
        weak->items[out->n_weak++] = *m;
        if (m->column >= 0 && (float)m->score > scores[m->id]) scores[m->id] = (float)m->score;
    }
    out->weak = weak->items;
    out->weak_score = scores;
    return true;
}

/* Adds a mention for each of the team's terms that stands for a column. */
static void add_terms(struct reader *reader, const struct schema_scores *scores, struct mention_sink *sink)
{
    for (uint32_t i = 0; i < reader->out->n_terms && sink->n < sink->room; i++) {
        const struct question_term *term = &reader->out->terms[i];
        uint32_t id = term->term->column;
        if (id >= reader->schema->n_columns) continue;
        const struct schema_column *column = reader->schema->columns[id];
        scores->columns[id] = 1;
        sink->items[sink->n++] = (struct question_mention){.table = (int)column->table,
                                                           .column = (int)column->index,
                                                           .id = id,
                                                           .score = 1,
                                                           .exact = true,
                                                           .kind = TEXT_RELATION_SAME,
                                                           .first = term->first,
                                                           .n_tokens = term->n_tokens};
    }
}

bool read_mentions(struct reader *reader)
{
    struct question *out = reader->out;
    struct arena *arena = reader->arena;
    const struct schema_index *schema = reader->schema;
    struct schema_scores scores = {arena_new_array(arena, schema->n_tables + 1, float),
                                   arena_new_array(arena, schema->n_columns + 1, float)};
    struct word_map *map = map_words(arena, &out->tokens, out->tokens.n);
    struct name_found found = {.mentions = sink_new(arena, READ_MAX_MENTIONS),
                               .weak = sink_new(arena, 2 * READ_MAX_WEAK)};
    if (!scores.tables || !scores.columns || !map || !map_related(arena, map) || !found.mentions.items ||
        !found.weak.items)
        return false;
    score_schema(schema, map, &scores, &found);
    add_terms(reader, &scores, &found.mentions);
    qsort(found.mentions.items, found.mentions.n, sizeof *found.mentions.items, by_place);
    qsort(found.weak.items, found.weak.n, sizeof *found.weak.items, by_place);
    out->mentions = found.mentions.items;
    out->n_mentions = found.mentions.n;
    out->column_score = scores.columns;
    out->table_score = scores.tables;
    return keep_weak(reader, &found.weak) && read_evidence(reader);
}

const struct question_mention *read_mention_at(const struct question *question, uint32_t token, bool want_column)
{
    const struct question_mention *best = NULL;
    for (uint32_t i = 0; i < question->n_mentions && question->mentions[i].first <= token; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->first + m->n_tokens <= token || (m->column >= 0) != want_column) continue;
        if (!best || m->score > best->score) best = m;
    }
    return best;
}
