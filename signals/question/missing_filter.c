/* missing_filter: the question states a value of a column with few values, and the query has no condition on the
 * column.
 *
 * An example is "Cancelled orders" and SELECT COUNT(*) FROM orders. A word in any case and form counts if it is a value
 * of a text column of a table that the query reads. A query that uses the value or the column is excused. So is a query
 * if the words name a table or a column, belong to another value, or are defined by the evidence. The noun after "how
 * many" must refer to a table, a column or a value.
 *
 * A table may hold a part of the rows of another one: motor_policy and policy. If the question says "motor policies",
 * the query must use the table, or a value or column of this name. */
#include "lib/question/forms.h"
#include "lib/question/phrase.h"
#include "signals/support/links.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { MAX_DISTINCT = 200, MIN_LETTERS = 3, MIN_REPEATS = 2 };

static const float LEAST_WEIGHT = 0.5F; /* of a word that restricts the answer */

/* A value of a column, as stated in the question. */
struct stated {
    const struct schema_column *column;
    const char *text; /* as stored */
    uint32_t first, n_tokens;
};

static const struct text_token *token_of(const struct vsig_run *run, uint32_t token)
{
    return &run->subject->analysis->tokens.items[token];
}

/* A text column whose values repeat. */
static bool is_category(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return stats->texts && !stats->date_texts && !column->unique && !column->pk && stats->distinct > 1 &&
           stats->distinct <= MAX_DISTINCT && stats->distinct * MIN_REPEATS <= stats->rows;
}

/* --- excuses --- */

static bool words_have_stem(const struct text_tokens *words, const char *stem)
{
    for (uint32_t i = 0; i < words->n; i++)
        if (strcmp(words->items[i].stem, stem) == 0 || text_word_similarity(words->items[i].norm, stem) > 0.7)
            return true;
    return false;
}

/* True if the words also name a table or column, so they need not be a value. */
static bool names_something(const struct vsig_run *run, const struct stated *stated)
{
    const struct schema_index *schema = run->subject->schema;
    const char *stem = token_of(run, stated->first + stated->n_tokens - 1)->stem;
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        if (words_have_stem(&schema->tables[t].words, stem)) return true;
        for (uint32_t c = 0; c < schema->tables[t].n_columns; c++)
            if (words_have_stem(&schema->tables[t].columns[c].words, stem)) return true;
    }
    return false;
}

static bool shares_text(const char *text, size_t len, const char *value)
{
    char *one = g_ascii_strdown(text, (gssize)len), *two = g_ascii_strdown(value, -1);
    bool found = strstr(one, two) || (strlen(one) >= MIN_LETTERS && strstr(two, one));
    g_free(one);
    g_free(two);
    return found;
}

/* True if a literal of the query contains the value or a part of it. */
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

static bool uses_column(const struct vsig_run *run, const struct stated *stated)
{
    const struct vsig_subject *subject = run->subject;
    for (uint32_t i = 0; i < subject->bound->n_refs; i++)
        if (schema_column_of(subject->schema, subject->bound->refs[i]) == stated->column) return true;
    return false;
}

static bool is_in_evidence(const struct question *question, const char *stem)
{
    for (uint32_t i = 0; i < question->evidence.n; i++)
        if (strcmp(question->evidence.items[i].stem, stem) == 0) return true;
    return false;
}

/* True for words of a cue or of a longer value, and for words that are too short to be a value. */
static bool is_other_word(const struct vsig_run *run, const struct stated *stated)
{
    const struct question *question = run->subject->analysis;
    uint32_t end = stated->first + stated->n_tokens;
    const struct text_token *token = token_of(run, stated->first);
    if (stated->n_tokens == 1 && (token->is_stop || token->is_number || strlen(token->norm) < MIN_LETTERS)) return true;
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

/* --- positions --- */

static bool names_read_table(const struct vsig_run *run, uint32_t token)
{
    const struct question *question = run->subject->analysis;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 && m->first == token && m->score > 0.6 && query_reads_table(run->subject, m->table))
            return true;
    }
    return false;
}

/* True for "cancelled orders" and "orders that are cancelled". */
static bool restricts_rows(const struct vsig_run *run, const struct stated *stated)
{
    static const char *const BE[] = {"is", "are", "was", "were", "still", "currently", "not"};
    const struct question *question = run->subject->analysis;
    uint32_t next = stated->first + stated->n_tokens;
    if (next < question->tokens.n && names_read_table(run, next)) return true;
    for (size_t i = 0; stated->first && i < G_N_ELEMENTS(BE); i++)
        if (g_str_equal(question->tokens.items[stated->first - 1].norm, BE[i])) return true;
    return false;
}

/* True for "void ones count too" or "abandoned matches included": the value restricts nothing. */
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

static void check_value(struct vsig_run *run, const struct stated *stated)
{
    if (is_included(run, stated)) return;
    if (is_other_word(run, stated) || uses_value(run, stated) || uses_column(run, stated)) return;
    if (names_something(run, stated)) return;
    const struct sql_block *answer = query_answer_block(run->subject);
    const char *table = run->subject->schema->tables[stated->column->table].name;
    const struct sql_node *at = answer ? answer->node : run->subject->stmt->root;
    static const char text[] = "the question states a value of %s.%s, but the query has no condition on it";
    struct vsig_finding *finding = restricts_rows(run, stated)
                                       ? vsig_fire(run, VSIG_ERROR, at, text, table, stated->column->name)
                                       : vsig_note(run, at, text, table, stated->column->name);
    vsig_add_fact(run, finding, "missing condition", true, "%s.%s = '%s'", table, stated->column->name, stated->text);
}

static void check_column(struct vsig_run *run, const struct schema_column *column)
{
    const struct question *question = run->subject->analysis;
    uint32_t n;
    const struct question_said *said = question_values_of(question, run->subject->schema, column, &n);
    if (said && n > 1 && n >= column->stats.distinct) return; /* all values: "web, phone and mail together" */
    for (uint32_t i = 0; said && i < n && run->verdict->n_findings < 2; i++)
        if (said[i].form >= QUESTION_FORM_WORD)
            check_value(run, &(struct stated){column, said[i].stored, said[i].first, said[i].n_tokens});
}

/* --- a thing that is missing from the database --- */

/* True if the word is a value of any column, in any case. */
static bool is_held(const struct vsig_run *run, const struct text_token *token)
{
    struct schema_hit hit;
    return schema_values_with(run->subject->schema, token->norm, strlen(token->norm), &hit, 1) ||
           schema_values_with(run->subject->schema, token->stem, strlen(token->stem), &hit, 1);
}

/* True if a name may abbreviate the word, such as inst for "institutions". */
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

/* Reports "How many unicorns": the noun after "how many" names no table, column or value, and neither does a word of
 * similar meaning. No other word of the question may name one. */
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

/* --- a table of a part of the rows --- */

/* Returns the column that is the whole primary key of the table, or NULL. */
static const struct schema_column *only_key(const struct schema_table *table)
{
    for (uint32_t i = 0; i < table->n_columns && table->n_pk == 1; i++)
        if (table->columns[i].pk) return &table->columns[i];
    return NULL;
}

/* True if each row of `part` is a row of `whole` too: the keys have one name, or one refers to the other. */
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

/* Returns the only word that the name of `part` adds to the name of `whole`: "motor" of motor_policy. NULL if
 * the names are not of this form. */
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

/* True if the token is the word, also in full: "electric" for elec. */
static bool is_word(const struct text_token *token, const struct text_token *word)
{
    enum { LEAST = 4 };
    return strcmp(token->stem, word->stem) == 0 ||
           (strlen(word->norm) >= LEAST && g_str_has_prefix(token->norm, word->norm));
}

/* True if the token names the table, in full or abbreviated: "policies" for pol. */
static bool names_table(const struct text_token *token, const struct schema_table *table)
{
    for (uint32_t i = 0; i < table->words.n; i++) {
        const struct text_token *word = &table->words.items[i];
        bool begins = strlen(word->norm) >= MIN_LETTERS && g_str_has_prefix(token->norm, word->norm);
        if (begins || strcmp(word->stem, token->stem) == 0) return true;
    }
    return false;
}

/* True if the word is directly before a name of the table: "motor policies". */
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

/* True if a literal, a column or a table of the query has the word in it. */
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

/* True if the question names several parts: "motor and home policies" may be all of them. */
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

/* Reports "motor policies" if the query reads policy, but not motor_policy, which has some of its rows. */
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
