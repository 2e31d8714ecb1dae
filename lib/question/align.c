/* Collects the parts of a meaning that the aspects inspect, and runs the aspects (align.h).
 *
 * Helpers compare terms of the meaning with the words of the question. The links of a part's columns and tables, and
 * its literals, tell which words name the part. The order of two parts is the order of the mean positions of their
 * words. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <string.h>

static const struct {
    const char *name;
    enum align_group group;
    void (*look)(struct aligner *a);
} ASPECTS[ALIGN_ASPECT_COUNT] = {
#define X(aspect, look, group, name) [ALIGN_##aspect] = {name, ALIGN_##group, align_##look},
    ALIGN_ASPECTS(X)
#undef X
};

enum align_group align_group(enum align_aspect aspect)
{
    return ASPECTS[aspect].group;
}

const char *align_aspect_name(enum align_aspect aspect)
{
    return ASPECTS[aspect].name;
}

/* --- items --- */

static struct align_item *add_item(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                                   const struct meaning_term *term)
{
    if (a->out->n == ALIGN_MAX_ITEMS) return NULL;
    struct align_item *item = &a->out->items[a->out->n++];
    *item = (struct align_item){.aspect = aspect};
    if (element) {
        item->first = element->first;
        item->n_tokens = element->n_tokens;
    }
    if (term) {
        item->start = term->start;
        item->end = term->end;
    }
    return item;
}

void align_agree(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                 const struct meaning_term *term)
{
    struct align_item *item = add_item(a, aspect, element, term);
    if (item) item->agrees = true;
}

void align_differ(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                  const struct meaning_term *term, bool certain, const char *says)
{
    struct align_item *item = add_item(a, aspect, element, term);
    if (!item) return;
    item->certain = certain;
    item->says = says;
}

/* --- the question --- */

const struct frame_element *align_asked(const struct aligner *a, enum frame_kind kind)
{
    return frame_find(a->frame, kind);
}

bool align_says(const struct aligner *a, const struct frame_element *element, const char *word)
{
    const struct text_tokens *tokens = &a->question->tokens;
    uint32_t from = element->first ? element->first - 1 : 0,
             end = MIN(element->first + element->n_tokens + 1, tokens->n);
    for (uint32_t i = from; i < end; i++)
        if (text_same(tokens->items[i].norm, word)) return true;
    return false;
}

bool align_says_any(const struct aligner *a, const struct frame_element *element, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (align_says(a, element, words[i])) return true;
    return false;
}

bool align_has_item(const struct alignment *alignment, const struct frame_element *element)
{
    for (uint32_t i = 0; i < alignment->n; i++)
        if (alignment->items[i].n_tokens && alignment->items[i].first == element->first) return true;
    return false;
}

/* --- terms --- */

bool align_is(const struct meaning_term *term, enum meaning_kind kind, const char *name)
{
    return term && term->kind == kind && (!name || (term->name && g_str_equal(term->name, name)));
}

const struct schema_column *align_term_column(const struct schema_index *schema, const struct meaning_term *term)
{
    static const char outer[] = "outer ";
    if (!align_is(term, MEANING_COLUMN, NULL)) return NULL;
    const char *name = term->name;
    while (g_str_has_prefix(name, outer)) name += sizeof outer - 1;
    const char *dot = strrchr(name, '.'), *number = strchr(name, '#');
    if (!dot) return NULL;
    size_t len = number && number < dot ? (size_t)(number - name) : (size_t)(dot - name);
    int table = schema_find_table(schema, name, len);
    int column = table < 0 ? -1 : schema_find_column(schema, table, dot + 1, strlen(dot + 1));
    return column < 0 ? NULL : &schema->tables[table].columns[column];
}

const struct schema_column *align_column(const struct aligner *a, const struct meaning_term *term)
{
    return align_term_column(a->schema, term);
}

bool align_names_thing(const struct aligner *a, const struct schema_column *column)
{
    return column->affinity == SCHEMA_TEXT || schema_is_foreign_key(a->schema, column->id) || column->pk;
}

/* Returns the text of a SQL literal without quotes. *len gets its length. Returns NULL if the arena is full. */
static char *text_of_literal(struct arena *arena, const char *literal, size_t *len)
{
    size_t n = strlen(literal);
    char *out = arena_alloc(arena, n + 1);
    *len = 0;
    for (size_t i = 1; out && i + 1 < n; i++) {
        if (literal[i] == '\'' && literal[i + 1] == '\'' && i + 2 < n) i++;
        out[(*len)++] = literal[i];
    }
    return out;
}

bool align_word_at(const struct aligner *a, const char *text, size_t len, uint32_t *token)
{
    struct text_tokens words = text_tokenize(a->arena, text, len);
    for (uint32_t i = 0; words.items && words.n == 1 && i < a->question->tokens.n; i++) {
        const struct text_token *said = &a->question->tokens.items[i];
        if (!text_same(said->norm, words.items[0].norm) && !text_same(said->stem, words.items[0].stem)) continue;
        *token = i;
        return true;
    }
    return false;
}

bool align_said_at(const struct aligner *a, const struct meaning_term *value, uint32_t *token)
{
    size_t len;
    if (!align_is(value, MEANING_VALUE, NULL) || value->name[0] != '\'') return false;
    char *text = text_of_literal(a->arena, value->name, &len);
    if (!text) return false;
    text[len] = '\0';
    bool said = question_says_text(a->arena, a->question, text, len, token) != QUESTION_FORM_NONE;
    return (said && *token < a->question->tokens.n) || align_word_at(a, text, len, token);
}

static bool is_date_column(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    char *type = g_ascii_strdown(column->type, -1);
    bool named = strstr(type, "date") || strstr(type, "time");
    g_free(type);
    static const char *const periods[] = {"month", "day", "date", "week", "quarter"};
    const char *last = column->words.n ? column->words.items[column->words.n - 1].norm : "";
    for (size_t i = 0; i < G_N_ELEMENTS(periods); i++) named |= text_same(last, periods[i]);
    return named || (stats->texts && stats->date_texts * 2 > stats->texts);
}

bool align_is_date(const struct aligner *a, const struct meaning_term *term)
{
    term = meaning_follow(term, NULL);
    const struct schema_column *column = align_column(a, term);
    if (column) return is_date_column(column);
    if (term->kind == MEANING_PERIOD) return true;
    return term->kind == MEANING_CALL && term->n_parts && align_is_date(a, term->parts[0]);
}

static void note_outer(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    (void)owner;
    *(bool *)self |= meaning_is_outer(term);
}

bool align_is_correlated(const struct meaning *m)
{
    bool outer = false;
    meaning_visit(m, &(struct meaning_visitor){.self = &outer, .term = note_outer});
    return outer;
}

/* --- places --- */

/* The words of the question that name a part, with their weights. */
struct align_place {
    const struct aligner *a;
    bool only_values; /* true if only `tokens` counts, which are the words of literals */
    float words[LINK_MAX_WORDS];
    uint32_t tokens[8], n_tokens;
};

static void add_span(struct align_place *place, uint32_t start, uint32_t end)
{
    const struct link_query *links = place->a->links;
    for (uint32_t i = 0; i < links->n_slots; i++) {
        const struct link_slot *slot = &links->slots[i];
        const struct sql_node *node = links->parts[slot->part].node;
        if (!node || slot->word == LINK_NO_WORD || node->start < start || node->end > end) continue;
        place->words[slot->word] = MAX(place->words[slot->word], slot->strength);
    }
}

static void add_token(struct align_place *place, uint32_t token)
{
    const struct link_question *asked = place->a->links->question;
    for (uint32_t i = 0; i < asked->n_words; i++)
        if (asked->words[i].token == token) place->words[i] = 1;
    if (place->n_tokens < G_N_ELEMENTS(place->tokens)) place->tokens[place->n_tokens++] = token;
}

static void add_leaf(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    (void)owner;
    struct align_place *place = self;
    const struct meaning_term *found = meaning_follow(term, NULL);
    uint32_t token;
    if (found->end && !place->only_values) add_span(place, found->start, found->end);
    if (align_said_at(place->a, found, &token)) add_token(place, token);
}

static void add_relation(void *self, const struct meaning *m)
{
    struct align_place *place = self;
    for (uint32_t i = 0; i < m->n_sources && !place->only_values; i++)
        if (!m->sources[i].relation) add_span(self, m->sources[i].start, m->sources[i].end);
}

/* Collects the words of a term. The term becomes the only output of a relation, so that it can be visited. */
static void place_of_term(struct align_place *place, const struct meaning_term *term)
{
    struct meaning_output output = {.term = (struct meaning_term *)(uintptr_t)meaning_follow(term, NULL)};
    struct meaning alone = {.outputs = &output, .n_outputs = 1};
    meaning_visit(&alone, &(struct meaning_visitor){.self = place, .relation = add_relation, .term = add_leaf});
}

static bool has_token(const struct align_place *place, uint32_t token)
{
    for (uint32_t i = 0; i < place->n_tokens; i++)
        if (place->tokens[i] == token) return true;
    return false;
}

/* Returns the mean position of the literals that only the first place has; -1 if there are none. */
static double mean_literal(const struct align_place *own, const struct align_place *other)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < own->n_tokens; i++) {
        if (has_token(other, own->tokens[i])) continue;
        sum += own->tokens[i];
        n++;
    }
    return n > 0 ? sum / n : -1;
}

/* Returns the mean position of the words that only the first place has; -1 if there are none. */
static double mean_token(const struct align_place *own, const struct align_place *other)
{
    if (own->only_values) return mean_literal(own, other);
    const struct link_question *asked = own->a->links->question;
    double sum = 0, weight = 0;
    for (uint32_t i = 0; i < asked->n_words; i++) {
        double rest = own->words[i] - other->words[i];
        if (rest <= 0.1) continue;
        sum += rest * asked->words[i].token;
        weight += rest;
    }
    return weight > 0 ? sum / weight : -1;
}

/* Words of the excluded side must follow the negation, and words of the other side must precede it. A verb of the
 * excluded side may come directly before the negation: "created no ticket". */
static const double VERB_REACH = 1.5; /* tokens */

static int compare_with_negation(const struct align_place *kept, const struct align_place *left_out, uint32_t negation)
{
    double one = mean_token(kept, left_out), two = mean_token(left_out, kept);
    if (one < 0 || two < 0) return 0;
    double border = negation - VERB_REACH;
    if (one < border && two >= border) return 1;
    return one >= border && two < border ? -1 : 0;
}

static int compare_places(const struct align_place *first, const struct align_place *second)
{
    double one = mean_token(first, second), two = mean_token(second, first);
    if (one < 0 || two < 0 || one == two) return 0;
    return one < two ? 1 : -1;
}

static int order_by(const struct aligner *a, const struct meaning_term *first, const struct meaning_term *second,
                    bool only_values)
{
    struct align_place one = {.a = a, .only_values = only_values}, two = {.a = a, .only_values = only_values};
    place_of_term(&one, first);
    place_of_term(&two, second);
    return compare_places(&one, &two);
}

/* Compares the literals first, because the question may name a column that both parts use twice, once for each part. */
int align_order_of_terms(const struct aligner *a, const struct meaning_term *first, const struct meaning_term *second)
{
    if (!a->links) return 0;
    int order = order_by(a, first, second, true);
    return order ? order : order_by(a, first, second, false);
}

int align_order_around(const struct aligner *a, const struct meaning *first, const struct meaning *second,
                       uint32_t negation)
{
    struct align_place one = {.a = a}, two = {.a = a};
    if (!a->links) return 0;
    meaning_visit(first, &(struct meaning_visitor){.self = &one, .relation = add_relation, .term = add_leaf});
    meaning_visit(second, &(struct meaning_visitor){.self = &two, .relation = add_relation, .term = add_leaf});
    return compare_with_negation(&one, &two, negation);
}

/* --- parts --- */

static void add_part(struct align_parts *parts, const struct meaning *owner, const struct meaning_term *term)
{
    for (uint32_t i = 0; i < parts->n; i++)
        if (parts->items[i].term == term) return;
    if (parts->n < ALIGN_MAX_PARTS) parts->items[parts->n++] = (struct align_part){term, owner};
}

static bool is_comparison(const struct meaning_term *term)
{
    return term->kind == MEANING_OPERATION && term->n_parts == 2 && (term->name[0] == '<' || term->name[0] == '>') &&
           !g_str_equal(term->name, "<>");
}

static void sort_term(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    struct aligner *a = self;
    struct align_parts *parts = term->kind == MEANING_WINDOW             ? &a->windows
                                : term->kind == MEANING_RATIO            ? &a->ratios
                                : term->kind == MEANING_MEASURE          ? &a->measures
                                : align_is(term, MEANING_OPERATION, "-") ? &a->minuses
                                : align_is(term, MEANING_OPERATION, "/") ? &a->divisions
                                : meaning_is_subquery(term)              ? &a->queries
                                : term->kind == MEANING_CASE             ? &a->cases
                                : is_comparison(term)                    ? &a->comparisons
                                                                         : NULL;
    if (parts) add_part(parts, owner, term);
}

static void add_relations(struct aligner *a, const struct meaning *m)
{
    if (!m || a->n_relations == ALIGN_MAX_PARTS) return;
    a->relations[a->n_relations++] = m;
    for (uint32_t i = 0; i < m->n_sources; i++) add_relations(a, m->sources[i].relation);
    for (uint32_t i = 0; i < m->n_sides; i++) add_relations(a, m->sides[i]);
}

const struct alignment *align_make(struct arena *arena, const struct question *question,
                                   const struct schema_index *schema, const struct meaning *meaning,
                                   const struct link_query *links)
{
    struct alignment *out = arena_new(arena, struct alignment);
    if (!out || !question->frame || !meaning) return out;
    struct aligner a = {.arena = arena,
                        .question = question,
                        .frame = question->frame,
                        .schema = schema,
                        .meaning = meaning,
                        .links = links,
                        .out = out};
    add_relations(&a, meaning);
    meaning_visit(meaning, &(struct meaning_visitor){.self = &a, .term = sort_term});
    for (unsigned i = 0; i < ALIGN_ASPECT_COUNT; i++) ASPECTS[i].look(&a);
    return out;
}
