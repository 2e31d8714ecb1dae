/* Which columns and tables the words of a text name.
 *
 * The text's stems go into one hash table, the groups of synonyms they stand in into an array; then each word of the
 * schema is looked up once. So the cost is that of reading the schema's names, whatever the length of the text. A
 * name is mentioned where enough of its words stand close together: its score is the weight of the words found there.
 */
#include "lib/question/read.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { NO_TOKEN = UINT32_MAX, MAX_HITS = 32, MAX_WORDS = 16, MAX_GAP = 4, MAX_COLUMNS = 20000 };

static const float SYNONYM = 0.75F, STOP_SYNONYM = 0.5F, MIN_SCORE = 0.3F;
static const float OWNER_WEIGHT = 0.3F; /* "student" in student.student_name says little beside the table's name */

/* A word of the text, or one that it is short for ("surname": last, name). */
struct mention_entry {
    const char *stem;
    uint32_t token, next; /* next: with the same stem; for a group: of the same group */
};

/* The words of a text, ready to be looked up. */
struct word_map {
    const struct text_tokens *tokens;
    uint32_t *slots, mask; /* stem → first entry */
    struct mention_entry *entries, *links;
    uint32_t n_entries, n_links, room;
    uint32_t group_head[TEXT_MAX_GROUPS]; /* group → first link */
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

/* The words that a word is made of or short for, where it is. */
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
    for (uint32_t i = n; i-- > 0;) { /* backwards, so that chains run forwards */
        if (!is_content(&tokens->items[i])) continue;
        add_word(map, tokens->items[i].stem, i);
        if (!add_parts(arena, map, i)) return NULL;
    }
    return map;
}

/* A word of a name found at a token. */
struct word_hit {
    uint32_t token;
    uint8_t word;
    float strength;
};

struct hit_list {
    struct word_hit items[MAX_HITS];
    uint32_t n;
};

static void add_hit(struct hit_list *hits, uint32_t token, uint32_t word, float strength)
{
    if (hits->n < MAX_HITS) hits->items[hits->n++] = (struct word_hit){token, (uint8_t)word, strength};
}

static void find_word(const struct word_map *map, const char *stem, uint32_t word, struct hit_list *hits)
{
    bool found = false;
    for (uint32_t e = *slot_of(map, stem); e != NO_TOKEN; e = map->entries[e].next, found = true)
        add_hit(hits, map->entries[e].token, word, 1);
    if (found) return;
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    for (unsigned i = 0; i < n; i++)
        for (uint32_t l = map->group_head[groups[i]]; l != NO_TOKEN; l = map->links[l].next)
            add_hit(hits, map->links[l].token, word,
                    map->tokens->items[map->links[l].token].is_stop ? STOP_SYNONYM : SYNONYM);
}

static int by_token(const void *a, const void *b)
{
    const struct word_hit *x = a, *y = b;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    return x->strength > y->strength ? -1 : x->strength < y->strength;
}

/* A name of the schema, with what each of its words weighs. */
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

/* Take the run of hits that starts at *at as a mention. Moves *at past it. */
static void take_run(const struct name *name, const struct hit_list *hits, uint32_t *at,
                     struct question_mention *mention)
{
    float found[MAX_WORDS] = {0}, sum = 0;
    uint32_t i = *at, last = hits->items[i].token;
    mention->first = last;
    mention->exact = true;
    for (; i < hits->n && hits->items[i].token - last <= MAX_GAP; i++) {
        const struct word_hit *hit = &hits->items[i];
        if (hit->strength > found[hit->word]) {
            if (found[hit->word] > 0 && hit->token != last) break; /* the same word again: another mention */
            sum += (hit->strength - found[hit->word]) * name->weight[hit->word];
            found[hit->word] = hit->strength;
            last = hit->token;
            mention->exact &= hit->strength > SYNONYM;
        } else if (hit->token != last) {
            break;
        }
    }
    *at = i;
    mention->score = sum / name->total;
    mention->n_tokens = last - mention->first + 1;
}

struct mention_sink {
    struct question_mention *items;
    uint32_t n;
};

/* All mentions of one name; returns the best score. */
static float find_name(const struct word_map *map, const struct text_tokens *words, const struct text_tokens *owner,
                       struct question_mention like, struct mention_sink *sink)
{
    struct name name;
    struct hit_list hits = {.n = 0};
    if (!words->n) return 0;
    for (uint32_t i = 0; i < words->n && i < MAX_WORDS; i++) find_word(map, words->items[i].stem, i, &hits);
    if (!hits.n) return 0;
    weigh(&name, words, owner);
    if (hits.n > 1) qsort(hits.items, hits.n, sizeof hits.items[0], by_token);
    float best = 0;
    for (uint32_t at = 0; at < hits.n;) {
        take_run(&name, &hits, &at, &like);
        best = (float)like.score > best ? (float)like.score : best;
        if (sink && like.score >= MIN_SCORE && sink->n < READ_MAX_MENTIONS) sink->items[sink->n++] = like;
    }
    return best;
}

static int by_place(const void *a, const void *b)
{
    const struct question_mention *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->score > y->score || x->score < y->score) return x->score > y->score ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void score_schema(const struct schema_index *schema, const struct word_map *map, float *columns, float *tables,
                         struct mention_sink *sink)
{
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        const struct schema_table *table = &schema->tables[t];
        struct question_mention like = {.table = (int)t, .column = -1, .id = UINT32_MAX};
        if (tables) tables[t] = find_name(map, &table->words, NULL, like, sink);
    }
    for (uint32_t c = 0; c < schema->n_columns && c < MAX_COLUMNS; c++) {
        const struct schema_column *column = schema->columns[c];
        struct question_mention like = {.table = (int)column->table, .column = (int)column->index, .id = column->id};
        columns[c] = find_name(map, &column->words, &schema->tables[column->table].words, like, sink);
    }
}

static bool read_evidence(struct reader *reader)
{
    struct question *out = reader->out;
    if (!out->evidence.n) return true;
    float *columns = arena_new_array(reader->arena, reader->schema->n_columns + 1, float);
    const struct word_map *map = map_words(reader->arena, &out->evidence, out->evidence.n);
    if (!columns || !map) return false;
    score_schema(reader->schema, map, columns, NULL, NULL);
    out->evidence_score = columns;
    return true;
}

bool read_mentions(struct reader *reader)
{
    struct question *out = reader->out;
    const struct schema_index *schema = reader->schema;
    float *columns = arena_new_array(reader->arena, schema->n_columns + 1, float);
    float *tables = arena_new_array(reader->arena, schema->n_tables + 1, float);
    const struct word_map *map = map_words(reader->arena, &out->tokens, out->tokens.n);
    struct mention_sink sink = {arena_new_array(reader->arena, READ_MAX_MENTIONS, struct question_mention), 0};
    if (!columns || !tables || !map || !sink.items) return false;
    score_schema(schema, map, columns, tables, &sink);
    if (sink.n > 1) qsort(sink.items, sink.n, sizeof *sink.items, by_place);
    out->mentions = sink.items;
    out->n_mentions = sink.n;
    out->column_score = columns;
    out->table_score = tables;
    return read_evidence(reader);
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
