/* missing_filter: the question states a value of a column with few values, but the query has no condition on the
 * column.
 *
 * An example is "cancelled orders" and SELECT COUNT(*) FROM orders. A word in any case and form counts if it is a value
 * of a text column of a table that the query reads.
 *
 * The finding is an error if the word clearly restricts things, otherwise a note. A word restricts things before a noun
 * ("night shifts"), after "is", as a noun ("commuters", "a film"), or after a preposition ("paid by card").
 *
 * The signal is silent if the query uses the value, or a column that contains it. It is also silent if all rows of a
 * join have the value. It ignores words that name a table or a column, belong to another value, or are defined by the
 * evidence. Another check reports a noun after "how many" that refers to no table, column or value.
 *
 * A table may hold only some rows of another one, such as motor_policy and policy. If the question says "motor
 * policies", the query must use this table, or a value or column with this name. */
#include "lib/question/forms.h"
#include "lib/question/phrase.h"
#include "signals/support/links.h"
#include "signals/support/names.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { MAX_DISTINCT = 200, MIN_LETTERS = 3, MIN_REPEATS = 2 };

static const float LEAST_WEIGHT = 0.5F; /* minimum weight of a word that restricts the answer */

/* A value of a column that the question states. */
struct stated {
    const struct schema_column *column;
    const char *text; /* the stored form of the value */
    uint32_t first, n_tokens;
};

static const struct text_token *token_of(const struct vsig_run *run, uint32_t token)
{
    return &run->subject->analysis->tokens.items[token];
}

/* True for a text column whose values repeat and are not dates. */
static bool is_category(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return stats->texts && !stats->date_texts && !column->unique && !column->pk && stats->distinct > 1 &&
           stats->distinct <= MAX_DISTINCT && stats->distinct * MIN_REPEATS <= stats->rows;
}

/* --- words and values that are not reported --- */

enum likeness { LIKE_SAME, LIKE_SIMILAR }; /* LIKE_SIMILAR also accepts synonyms and abbreviations */

static bool words_have(const struct text_tokens *words, const struct text_token *word, enum likeness least)
{
    for (uint32_t i = 0; i < words->n; i++) {
        if (strcmp(words->items[i].stem, word->stem) == 0) return true;
        if (least == LIKE_SIMILAR && text_word_similarity(words->items[i].norm, word->norm) > 0.7) return true;
    }
    return false;
}

/* True if the word is in the name of a table or column. */
static bool word_names_something(const struct schema_index *schema, const struct text_token *word, enum likeness least)
{
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        if (words_have(&schema->tables[t].words, word, least)) return true;
        for (uint32_t c = 0; c < schema->tables[t].n_columns; c++)
            if (words_have(&schema->tables[t].columns[c].words, word, least)) return true;
    }
    return false;
}

/* True if each of the words is also in the name of a table or column. They may then not be a value. */
static bool names_something(const struct vsig_run *run, const struct stated *stated, enum likeness least)
{
    for (uint32_t i = stated->first; i < stated->first + stated->n_tokens; i++)
        if (!word_names_something(run->subject->schema, token_of(run, i), least)) return false;
    return true;
}

static bool shares_text(const char *text, size_t len, const char *value)
{
    char *one = g_ascii_strdown(text, (gssize)len), *two = g_ascii_strdown(value, -1);
    bool found = strstr(one, two) || (strlen(one) >= MIN_LETTERS && strstr(two, one));
    g_free(one);
    g_free(two);
    return found;
}

/* True if a literal of the query contains the value, or the value contains the literal. */
static bool uses_value(const struct vsig_run *run, const struct stated *stated)
{
    const struct sql_node *root = run->subject->stmt->root;
    const char *said = token_of(run, stated->first)->norm;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (query_literal(n, NULL) == n && n->text && n->text_len &&
            (shares_text(n->text, n->text_len, stated->text) || shares_text(n->text, n->text_len, said)))
            return true;
    return false;
}

/* True if the query uses the column, or another text column with the value. */
static bool uses_column(const struct vsig_run *run, const struct stated *stated)
{
    const struct vsig_subject *subject = run->subject;
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct schema_column *column = schema_column_of(subject->schema, subject->bound->refs[i]);
        if (column == stated->column) return true;
        if (column && column->stats.texts &&
            schema_column_has(subject->schema, column, stated->text, strlen(stated->text), false) == 1)
            return true;
    }
    return false;
}

static bool is_in_evidence(const struct question *question, const char *stem)
{
    for (uint32_t i = 0; i < question->evidence.n; i++)
        if (strcmp(question->evidence.items[i].stem, stem) == 0) return true;
    return false;
}

/* True for a word such as "first" in "highest average first", which describes an order of rows. */
static bool places_rows(const struct question *question, uint32_t token)
{
    static const char *const PLACES[] = {"first", "last", "top", "bottom"};
    static const unsigned KINDS = 1U << QUESTION_CUE_EXTREME | 1U << QUESTION_CUE_MAXIMUM | 1U << QUESTION_CUE_MINIMUM |
                                  1U << QUESTION_CUE_FIRST | 1U << QUESTION_CUE_SORT | 1U << QUESTION_CUE_DIRECTION;
    enum { REACH = 4 };
    bool places = false;
    for (size_t i = 0; i < G_N_ELEMENTS(PLACES); i++)
        places |= g_str_equal(question->tokens.items[token].norm, PLACES[i]);
    for (uint32_t i = 0; places && i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (KINDS >> cue->kind & 1U && cue->first <= token && token - cue->first <= REACH) return true;
    }
    return false;
}

/* True for words of a cue, of a longer value or of the evidence, and for words that are too short to be a value. */
static bool is_other_word(const struct vsig_run *run, const struct stated *stated)
{
    const struct question *question = run->subject->analysis;
    uint32_t end = stated->first + stated->n_tokens;
    const struct text_token *token = token_of(run, stated->first);
    if (stated->n_tokens == 1 && (token->is_stop || token->is_number || strlen(token->norm) < MIN_LETTERS)) return true;
    if (places_rows(question, stated->first)) return true;
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (question->cues[i].first < end && question->cues[i].first + question->cues[i].n_tokens > stated->first)
            return true;
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        bool inside = value->first <= stated->first && value->first + value->n_tokens >= end;
        if (inside && value->n_tokens > stated->n_tokens && value->n_hits) return true;
    }
    return is_in_evidence(question, token->stem);
}

/* --- positions in the question --- */

/* True if the word names a table that the query reads. */
static bool names_read_table(const struct vsig_run *run, uint32_t token)
{
    const struct question *question = run->subject->analysis;
    const struct schema_index *schema = run->subject->schema;
    const struct text_token *word = token_of(run, token);
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 && m->first == token && m->score > 0.6 && query_reads_table(run->subject, m->table))
            return true;
    }
    for (uint32_t t = 0; t < schema->n_tables && word->kind == TEXT_WORD && !word->is_stop; t++)
        if (query_reads_table(run->subject, (int)t) && (words_have(&schema->tables[t].words, word, LIKE_SIMILAR) ||
                                                        vsig_abbreviates(schema->tables[t].name, word->norm)))
            return true;
    return false;
}

/* True for a noun that the value may describe. It names a table that the query reads ("cancelled orders"), or is a word
 * of the column's name ("night shifts" and shift_kind). */
static bool is_described(const struct vsig_run *run, const struct stated *stated, uint32_t token)
{
    return names_read_table(run, token) || words_have(&stated->column->words, token_of(run, token), LIKE_SAME);
}

/* True if the value is before a noun that it may describe, with at most one word between: "cancelled orders", "vegan
 * main dishes". */
static bool precedes_noun(const struct vsig_run *run, const struct stated *stated)
{
    enum { ADJECTIVES = 1 };
    const struct text_tokens *tokens = &run->subject->analysis->tokens;
    uint32_t next = stated->first + stated->n_tokens, end = MIN(next + 1 + ADJECTIVES, tokens->n);
    for (uint32_t i = next; i < end && tokens->items[i].kind == TEXT_WORD && !tokens->items[i].is_stop; i++)
        if (is_described(run, stated, i)) return true;
    return false;
}

/* True if the value is after a form of "be" or a similar word: "orders that are cancelled". */
static bool follows_be(const struct vsig_run *run, const struct stated *stated)
{
    static const char *const BE[] = {"is", "are", "was", "were", "still", "currently", "not"};
    for (size_t i = 0; stated->first && i < G_N_ELEMENTS(BE); i++)
        if (g_str_equal(token_of(run, stated->first - 1)->norm, BE[i])) return true;
    return false;
}

/* True for words of units and measures, which are not things, such as "day" in "how many days". */
static bool is_measure_word(const char *value)
{
    static const char *const WORDS[] = {"day",   "night",   "week",   "month", "quarter", "year",
                                        "hour",  "minute",  "second", "piece", "unit",    "time",
                                        "total", "average", "point",  "rate",  "number"};
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (g_ascii_strcasecmp(value, WORDS[i]) == 0) return true;
    return false;
}

static bool is_plural(const struct vsig_run *run, const struct stated *stated)
{
    const struct text_token *last = token_of(run, stated->first + stated->n_tokens - 1);
    size_t stored = strlen(stated->text);
    if (!stored || g_ascii_tolower(stated->text[stored - 1]) == 's') return false;
    return last->kind == TEXT_WORD && g_str_has_suffix(last->norm, "s");
}

/* True for a value after an article and before the end of the phrase: "a film", "any film". */
static bool has_article(const struct vsig_run *run, const struct stated *stated)
{
    static const char *const ARTICLES[] = {"a", "an", "any", "no"};
    const struct text_tokens *tokens = &run->subject->analysis->tokens;
    uint32_t next = stated->first + stated->n_tokens;
    bool article = false;
    for (size_t i = 0; stated->first && i < G_N_ELEMENTS(ARTICLES); i++)
        article |= g_str_equal(tokens->items[stated->first - 1].norm, ARTICLES[i]);
    return article && (next == tokens->n || tokens->items[next].kind == TEXT_PUNCT || tokens->items[next].is_stop);
}

/* True if the value is used as a noun for the things that have it: "commuters" or "a commuter" for 'commuter'. */
static bool is_thing(const struct vsig_run *run, const struct stated *stated)
{
    return (is_plural(run, stated) || has_article(run, stated)) && !is_measure_word(stated->text);
}

/* True if the value is after a participle and a preposition: "paid by card", "booked via the website". False for
 * participles that order or group: "sorted by card". */
static bool follows_participle(const struct vsig_run *run, const struct stated *stated)
{
    static const char *const PREPOSITIONS[] = {"by", "via", "through", "in", "on", "at", "with", "from", "over"};
    static const char *const PARTICIPLES[] = {"paid",  "made", "sold",  "bought", "sent",
                                              "taken", "done", "given", "held"};
    static const char *const SORTS[] = {"ordered", "sorted",  "grouped", "ranked", "listed",   "divided",
                                        "broken",  "counted", "summed",  "based",  "averaged", "arranged"};
    uint32_t at = stated->first;
    if (at && g_str_equal(token_of(run, at - 1)->norm, "the")) at--;
    if (at < 2) return false;
    bool preposition = false, participle = g_str_has_suffix(token_of(run, at - 2)->norm, "ed");
    for (size_t i = 0; i < G_N_ELEMENTS(PREPOSITIONS); i++)
        preposition |= g_str_equal(token_of(run, at - 1)->norm, PREPOSITIONS[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(PARTICIPLES); i++)
        participle |= g_str_equal(token_of(run, at - 2)->norm, PARTICIPLES[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(SORTS); i++) participle &= !g_str_equal(token_of(run, at - 2)->norm, SORTS[i]);
    return preposition && participle;
}

/* True if the position of the words shows that they restrict things, and do not name a table or a column. */
static bool restricts_rows(const struct vsig_run *run, const struct stated *stated)
{
    if (precedes_noun(run, stated)) return true;
    if (names_something(run, stated, LIKE_SIMILAR)) return false;
    return follows_be(run, stated) || is_thing(run, stated) || follows_participle(run, stated);
}

/* True if the question includes the value on purpose, so it restricts nothing: "void ones count too", "abandoned
 * matches included". */
static bool is_included(const struct vsig_run *run, const struct stated *stated)
{
    static const char *const WORDS[] = {"included", "include", "includes", "including", "too",
                                        "also",     "count",   "counts",   "even",      "whether"};
    enum { REACH = 3 };
    const struct question *question = run->subject->analysis;
    uint32_t from = stated->first > REACH ? stated->first - REACH : 0,
             end = MIN(stated->first + stated->n_tokens + REACH, question->tokens.n);
    for (uint32_t i = from; i < end; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(WORDS); w++)
            if (g_str_equal(question->tokens.items[i].norm, WORDS[w])) return true;
    return false;
}

/* --- joins that imply the value --- */

/* Returns the only FROM item that reads the table, if its block also has other items. Returns NULL otherwise. */
static const struct sql_source *joined_source(const struct vsig_subject *subject, int table)
{
    const struct sql_source *found = NULL;
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++) {
        const struct sql_block *block = subject->bound->blocks[b];
        for (uint32_t s = 0; s < block->n_sources; s++) {
            if (block->sources[s].table != table) continue;
            if (found || block->n_sources < 2) return NULL;
            found = &block->sources[s];
        }
    }
    return found;
}

/* Returns a probe for a joined row with another value in the column. */
static const char *other_value_probe(struct vsig_subject *subject, const struct sql_source *source,
                                     const struct stated *stated)
{
    struct arena *arena = subject->arena;
    const struct sql_node *select = source->block->node, *where = sql_kid(select, SELECT_WHERE);
    const struct db_value value = {.type = DB_TEXT, .text = stated->text, .len = strlen(stated->text)};
    const char *with = vsig_probe_with(subject, NULL, NULL), *from = sql_print(arena, sql_kid(select, SELECT_FROM)),
               *kept = where ? sql_print(arena, sql_kid(where, 0)) : "1 = 1",
               *name = db_quote_name(arena, source->name, source->name_len),
               *column = db_quote_name(arena, stated->column->name, strlen(stated->column->name)),
               *text = db_quote_value(arena, &value);
    if (!with || !from || !kept || !name || !column || !text) return NULL;
    return arena_printf(arena, "%sSELECT 1 %s WHERE (%s) AND (%s.%s <> %s OR %s.%s IS NULL) LIMIT 1", with, from, kept,
                        name, column, text, name, column);
}

/* True if all joined rows have the value. If only students are enrolled, "students" needs no condition. */
static bool is_implied_by_join(const struct vsig_run *run, const struct stated *stated)
{
    struct vsig_subject *subject = run->subject;
    const struct sql_source *source = joined_source(subject, (int)stated->column->table);
    enum err_code code;
    if (!subject->db || !source || !source->name || !sql_is(source->block->node, SQL_SELECT)) return false;
    if (vsig_is_correlated(subject, source->block->node)) return false;
    return vsig_probe_any(subject, other_value_probe(subject, source, stated), &code) == 0;
}

/* Returns the words of the value as the question has them, without quotes. */
static const char *said_words(const struct vsig_run *run, const struct stated *stated)
{
    const struct text_token *first = token_of(run, stated->first),
                            *last = token_of(run, stated->first + stated->n_tokens - 1);
    if (first->kind == TEXT_QUOTED) return first->norm;
    return arena_strndup(run->subject->arena, run->subject->analysis->text + first->start, last->end - first->start);
}

static void check_value(struct vsig_run *run, const struct stated *stated)
{
    if (is_included(run, stated)) return;
    if (uses_value(run, stated) || uses_column(run, stated)) return;
    bool restricts = restricts_rows(run, stated);
    if (names_something(run, stated, restricts ? LIKE_SAME : LIKE_SIMILAR)) return;
    if (restricts && is_implied_by_join(run, stated)) return;
    const struct sql_block *answer = query_answer_block(run->subject);
    const char *table = run->subject->schema->tables[stated->column->table].name;
    const struct sql_node *at = answer ? answer->node : run->subject->stmt->root;
    const char *said = said_words(run, stated);
    static const char text[] =
        "the question says \"%s\", which is a value of %s.%s, but the query has no condition on it";
    if (!said) return;
    struct vsig_finding *finding = restricts ? vsig_fire(run, VSIG_ERROR, at, text, said, table, stated->column->name)
                                             : vsig_note(run, at, text, said, table, stated->column->name);
    vsig_add_fact(run, finding, "missing condition", true, "%s.%s = '%s'", table, stated->column->name, stated->text);
}

static bool has_value(const struct stated *list, uint32_t n, const char *text)
{
    for (uint32_t i = 0; i < n; i++)
        if (g_str_equal(list[i].text, text)) return true;
    return false;
}

static void check_column(struct vsig_run *run, const struct schema_column *column)
{
    const struct question *question = run->subject->analysis;
    struct stated stated[QUESTION_MAX_SAID];
    uint32_t n, n_stated = 0;
    const struct question_said *said = question_values_of(question, run->subject->schema, column, &n);
    for (uint32_t i = 0; said && i < n; i++) {
        struct stated one = {column, said[i].stored, said[i].first, said[i].n_tokens};
        if (said[i].form < QUESTION_FORM_WORD || is_other_word(run, &one)) continue;
        if (!has_value(stated, n_stated, one.text)) stated[n_stated++] = one;
    }
    /* the question names all values: "web, phone and mail together" */
    if (n_stated > 1 && n_stated >= column->stats.distinct) return;
    for (uint32_t i = 0; i < n_stated && run->verdict->n_findings < 2; i++) check_value(run, &stated[i]);
}

/* --- a counted thing that the database does not have --- */

/* True if the word or its stem is a value of any column, in any case. */
static bool is_held(const struct vsig_run *run, const struct text_token *token)
{
    struct schema_hit hit;
    return schema_values_with(run->subject->schema, token->norm, strlen(token->norm), &hit, 1) ||
           schema_values_with(run->subject->schema, token->stem, strlen(token->stem), &hit, 1);
}

/* True if the name of a table or column begins like the word, which it may abbreviate: inst for "institutions". */
static bool is_begun_by_name(const struct vsig_run *run, const struct text_token *token)
{
    enum { BEGINNING = 4 /* letters */ };
    const struct schema_index *schema = run->subject->schema;
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        if (!g_ascii_strncasecmp(schema->tables[t].name, token->norm, BEGINNING)) return true;
        for (uint32_t c = 0; c < schema->tables[t].n_columns; c++)
            if (!g_ascii_strncasecmp(schema->tables[t].columns[c].name, token->norm, BEGINNING)) return true;
    }
    return false;
}

/* True if any word of the question names a table, a column or a value. */
static bool names_anything(const struct link_question *asked)
{
    for (uint32_t i = 0; i < asked->n_words; i++) {
        const struct link_word *word = &asked->words[i];
        if (word->cue < 0 && (word->named > 0 || word->value >= 0)) return true;
    }
    return false;
}

/* Reports "how many unicorns" if the noun and its synonyms name no table, column or value. No other word of the
 * question may name one either. */
static void check_thing(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    const struct link_query *links = vsig_links(run->subject);
    if (!links || names_anything(links->question)) return;
    for (uint32_t i = 0; i < links->question->n_words; i++) {
        const struct link_word *word = &links->question->words[i];
        const struct text_token *token = token_of(run, word->token);
        if (word->named > 0 || word->value >= 0 || word->cue >= 0 || word->weight < LEAST_WEIGHT || !word->token)
            continue;
        bool counted = false;
        for (uint32_t c = 0; c < question->n_cues; c++)
            counted |= question->cues[c].kind == QUESTION_CUE_COUNT &&
                       question->cues[c].first + question->cues[c].n_tokens == word->token;
        if (!counted || question->evidence.n || is_held(run, token) || is_begun_by_name(run, token)) continue;
        const struct sql_block *answer = query_answer_block(run->subject);
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_WARNING, answer ? answer->node : run->subject->stmt->root,
                      "the question counts things that no name or value of the database stands for");
        vsig_add_fact(run, finding, "word", false, "%s", token->norm);
        return;
    }
}

/* --- a table with some rows of another table --- */

/* Returns the column that is the whole primary key of the table, or NULL. */
static const struct schema_column *only_key(const struct schema_table *table)
{
    for (uint32_t i = 0; i < table->n_columns && table->n_pk == 1; i++)
        if (table->columns[i].pk) return &table->columns[i];
    return NULL;
}

/* True if each row of `part` is also a row of `whole`: their keys have the same name, or one refers to the other.
 * `part` must have fewer rows. */
static bool shares_key(const struct schema_index *schema, const struct schema_table *part,
                       const struct schema_table *whole)
{
    const struct schema_column *a = only_key(part), *b = only_key(whole);
    if (!a || !b || part->rows == 0 || part->rows >= whole->rows) return false;
    for (uint32_t i = 0; i < schema->n_joins; i++)
        if (schema->joins[i].n_pairs == 1 && schema->joins[i].from[0] == a->id && schema->joins[i].to[0] == b->id)
            return true;
    return sql_name_is(a->name, strlen(a->name), b->name, strlen(b->name)) && b->stats.distinct >= a->stats.distinct;
}

static bool has_stem(const struct text_tokens *words, const char *stem)
{
    for (uint32_t i = 0; i < words->n; i++)
        if (strcmp(words->items[i].stem, stem) == 0) return true;
    return false;
}

/* Returns the only word that the name of `part` adds to the name of `whole`: "motor" for motor_policy and policy.
 * Returns NULL if the name adds no word or several. */
static const struct text_token *added_word(const struct schema_table *part, const struct schema_table *whole)
{
    static const char *const GENERIC[] = {"detail", "info", "data", "ext", "extens", "extra", "attribut", "sub", NULL};
    const struct text_token *added = NULL;
    for (uint32_t i = 0; i < part->words.n; i++) {
        const struct text_token *word = &part->words.items[i];
        if (has_stem(&whole->words, word->stem) || question_token_is(word, GENERIC)) continue;
        if (added) return NULL;
        added = word;
    }
    return added && strlen(added->norm) >= MIN_LETTERS && !added->is_number ? added : NULL;
}

/* True if the token is the word, or the word abbreviates it: elec for "electric". */
static bool is_word(const struct text_token *token, const struct text_token *word)
{
    enum { LEAST = 4 };
    return strcmp(token->stem, word->stem) == 0 ||
           (strlen(word->norm) >= LEAST && g_str_has_prefix(token->norm, word->norm));
}

/* True if the token is a word of the table's name, or such a word abbreviates it: pol for "policies". */
static bool names_table(const struct text_token *token, const struct schema_table *table)
{
    for (uint32_t i = 0; i < table->words.n; i++) {
        const struct text_token *word = &table->words.items[i];
        bool begins = strlen(word->norm) >= MIN_LETTERS && g_str_has_prefix(token->norm, word->norm);
        if (begins || strcmp(word->stem, token->stem) == 0) return true;
    }
    return false;
}

/* True if the question has the word directly before a name of the table: "motor policies". */
static bool is_said_before(const struct question *question, const struct text_token *word,
                           const struct schema_table *whole)
{
    const struct text_token *said = question->tokens.items;
    for (uint32_t i = 0; i + 1 < question->tokens.n; i++)
        if (is_word(&said[i], word) && names_table(&said[i + 1], whole)) return true;
    return false;
}

static bool contains_word(const char *text, size_t len, const char *word)
{
    char *lower = text ? g_ascii_strdown(text, (gssize)len) : NULL;
    bool found = lower && strstr(lower, word);
    g_free(lower);
    return found;
}

/* True if a literal, a column or a table of the query contains the word. */
static bool stands_for_word(const struct vsig_subject *subject, const struct text_token *word)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool named = n->kind == SQL_LITERAL || n->kind == SQL_COLUMN || n->kind == SQL_TABLE;
        if (named &&
            (contains_word(n->text, n->text_len, word->norm) || contains_word(n->text, n->text_len, word->stem)))
            return true;
    }
    return false;
}

/* True if the question names several parts of the table. "Motor and home policies" may be all policies. */
static bool names_several_parts(const struct vsig_subject *subject, const struct schema_table *whole)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < subject->schema->n_tables; t++) {
        const struct schema_table *part = &subject->schema->tables[t];
        bool shares = part != whole && shares_key(subject->schema, part, whole);
        const struct text_token *word = shares ? added_word(part, whole) : NULL;
        bool said = false;
        for (uint32_t i = 0; word && i < subject->analysis->tokens.n && !said; i++)
            said = is_word(&subject->analysis->tokens.items[i], word);
        n += said;
    }
    return n > 1;
}

/* Reports a query that reads policy for "motor policies", but not motor_policy, which has only the motor policies. */
static void check_part(struct vsig_run *run, const struct schema_table *whole, const struct schema_table *part)
{
    const struct vsig_subject *subject = run->subject;
    const struct text_token *word = added_word(part, whole);
    if (!word || !shares_key(subject->schema, part, whole) || !is_said_before(subject->analysis, word, whole)) return;
    if (stands_for_word(subject, word) || names_several_parts(subject, whole) ||
        is_in_evidence(subject->analysis, word->stem))
        return;
    const struct sql_block *answer = query_answer_block(run->subject);
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, answer ? answer->node : subject->stmt->root,
                  "the question asks only for the rows of %s that are in %s, but the query reads all of %s",
                  whole->name, part->name, whole->name);
    vsig_add_fact(run, finding, "missing table", false, "%s", part->name);
}

static void check_parts(struct vsig_run *run)
{
    const struct schema_index *schema = run->subject->schema;
    for (uint32_t w = 0; w < schema->n_tables; w++) {
        if (!query_reads_table(run->subject, (int)w)) continue;
        for (uint32_t p = 0; p < schema->n_tables && run->verdict->n_findings < 2; p++)
            if (p != w && !query_reads_table(run->subject, (int)p))
                check_part(run, &schema->tables[w], &schema->tables[p]);
    }
}

static enum err_code missing_filter_eval(struct vsig_run *run)
{
    const struct schema_index *schema = run->subject->schema;
    if (query_foreign(run)) return ERR_OK;
    check_thing(run);
    check_parts(run);
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        if (!query_reads_table(run->subject, (int)t)) continue;
        for (uint32_t c = 0; c < schema->tables[t].n_columns; c++)
            if (is_category(&schema->tables[t].columns[c])) check_column(run, &schema->tables[t].columns[c]);
    }
    return ERR_OK;
}

const struct vsig_def vsig_missing_filter = {
    .id = VSIG_ID_missing_filter,
    .name = "missing_filter",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "the question states a value that a column holds, but the query has no condition on that column",
    .description =
        "A word of the question, in any case and form, is a value of a column of few values. The query reads the "
        "table, but it has no condition on the column, and no literal with the value. Or the word is the name of a "
        "table that holds some rows of the table that is read.",
    .example = "How many cancelled orders are there? - SELECT COUNT(*) FROM orders",
    .instruction = "Add the missing condition.",
    .eval = missing_filter_eval,
};
